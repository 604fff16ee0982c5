// SPDX-License-Identifier: Apache-2.0
/* DNS messages: every name that is accepted is within its limits, and reads back as itself. */
#include "user/decode/dns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_name(const struct dns_name *name)
{
	uint8_t joined[DNS_NAME_BYTES];
	char text[DNS_TEXT_MAX];
	struct dns_name again;
	size_t pos = 0;

	if (name->len < 1 || name->len > DNS_NAME_BYTES || name->wire[name->len - 1] != 0)
		abort();
	if (dns_name_read(name->wire, name->len, &pos, &again) < 0 || pos != name->len ||
	    memcmp(&again, name, sizeof(again)) != 0)
		abort();
	if (strlen(dns_name_text(name, text)) >= DNS_TEXT_MAX)
		abort();
	if (dns_name_join(name, joined) + name->labels + 1 != name->len)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dns_reader r;
	struct dns_entry e;

	if (dns_open(&r, data, size) < 0)
		return 0;
	while (dns_next(&r, &e) > 0) {
		check_name(&e.name);
		if (r.pos > size || e.rdata_pos + e.rdata_len > size)
			abort();
	}
	if (dns_next(&r, &e) != 0) /* the end stays the end, after an error too */
		abort();
	return 0;
}
