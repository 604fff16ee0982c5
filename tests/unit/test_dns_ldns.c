// SPDX-License-Identifier: Apache-2.0
/*
 * Our DNS parser against ldns, over random and broken messages: a name is the same bytes to both,
 * or no name to either. Where they differ on purpose: a pointer that goes forwards is refused by us
 * (RFC 1035 4.1.4), one to offset 0 or the 66th of a chain by ldns; and ldns reads what is in a
 * record, which we leave alone.
 */
#if __has_include(<ldns/ldns.h>)
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <ldns/ldns.h>

#include "tests/unit/random.h"
#include "user/decode/dns.h"

#define NAMES 300000
#define MESSAGES 200000
#define BUFFER 600

/* ---- names ---- */

/* A name part: labels of any length, ended by the root, by a pointer to anywhere, or by nothing. */
static size_t random_part(uint8_t *buffer, size_t at, uint32_t longest)
{
	const size_t start = at;

	for (uint32_t labels = random_below(8); labels; labels--) {
		uint32_t len = 1 + random_below(longest);

		if (at + 1 + len + 2 > BUFFER)
			break;
		buffer[at++] = (uint8_t)len;
		while (len--)
			buffer[at++] = (uint8_t)random_below(256);
	}
	if (random_below(3)) {
		uint32_t to = random_below(8) ? random_below(start + 1) : random_below(BUFFER);

		buffer[at++] = (uint8_t)(0xc0 | to >> 8);
		buffer[at++] = (uint8_t)to;
	} else {
		buffer[at++] = random_below(20) ? 0 : (uint8_t)random_below(256);
	}
	return at;
}

/* Fills the buffer with parts; answers where one of them starts. */
static size_t random_names(uint8_t buffer[BUFFER])
{
	const uint32_t longest = random_below(4) ? 6 : 63;
	size_t at = 0, start = 0;

	while (at + 2 < BUFFER) {
		if (random_below(4))
			start = at;
		at = random_part(buffer, at, longest);
	}
	while (at < BUFFER)
		buffer[at++] = 0;
	return start;
}

/* Whether a name holds what the two judge apart: see above. */
static bool is_matter_of_taste(const uint8_t *data, size_t len, size_t at)
{
	size_t part = at, pointers = 0, bytes = 0;

	while (at + 1 < len && data[at] && bytes <= DNS_NAME_BYTES) {
		size_t to = (data[at] & 0x3fu) << 8 | data[at + 1];

		if (data[at] < 0xc0) {
			bytes += data[at] + 1u;
			at += data[at] + 1u;
			continue;
		}
		if (to >= part || !to || ++pointers > LDNS_MAX_POINTERS)
			return true;
		part = at = to;
	}
	return false;
}

static void test_names(void **state unused_arg)
{
	unsigned int both = 0, neither = 0;

	for (unsigned int i = 0; i < NAMES; i++) {
		uint8_t buffer[BUFFER];
		struct dns_name ours;
		size_t start = random_names(buffer), our_end, their_end;
		size_t len = random_below(4) ? BUFFER : start + 1 + random_below(BUFFER - start);
		ldns_rdf *theirs = NULL;
		bool accepted;

		if (!random_below(4))
			start = random_below(len);
		our_end = their_end = start;
		if (is_matter_of_taste(buffer, len, start))
			continue;
		accepted = !dns_name_read(buffer, len, &our_end, &ours);
		assert_int_equal(ldns_wire2dname(&theirs, buffer, len, &their_end) ==
					 LDNS_STATUS_OK,
				 accepted);
		if (accepted) {
			assert_int_equal(our_end, their_end);
			assert_int_equal(ours.len, ldns_rdf_size(theirs));
			assert_memory_equal(ours.wire, ldns_rdf_data(theirs), ours.len);
			assert_int_equal(ours.labels, ldns_dname_label_count(theirs));
			ldns_rdf_deep_free(theirs);
			both++;
		} else {
			neither++;
		}
	}
	print_message("%u names read alike, %u refused alike\n", both, neither);
	assert_true(both > NAMES / 10 && neither > NAMES / 100);
}

/* ---- messages ---- */

static ldns_rr *record(const char *text)
{
	ldns_rr *rr = NULL;

	assert_int_equal(ldns_rr_new_frm_str(&rr, text, 3600, NULL, NULL), LDNS_STATUS_OK);
	return rr;
}

/* What ldns itself writes, with its compression. The caller frees *ret. */
static size_t write_message(uint8_t **ret)
{
	static const char *const answers[] = {
		"www.sentinel.test. 60 IN CNAME cdn.sentinel.test.",
		"cdn.sentinel.test. 5 IN A 203.0.113.9",
		"cdn.sentinel.test. 5 IN AAAA 2001:db8:113::9",
		"cdn.sentinel.test. 0 IN TXT \"0123456789abcdef\" \"more\"",
	};
	ldns_pkt *pkt = NULL;
	size_t len;

	assert_int_equal(ldns_pkt_query_new_frm_str(&pkt, "www.sentinel.test.", LDNS_RR_TYPE_A,
						    LDNS_RR_CLASS_IN, LDNS_RD),
			 LDNS_STATUS_OK);
	ldns_pkt_set_qr(pkt, true);
	for (size_t i = 0; i < ARRAY_SIZE(answers); i++)
		(void)ldns_pkt_push_rr(pkt, LDNS_SECTION_ANSWER, record(answers[i]));
	(void)ldns_pkt_push_rr(pkt, LDNS_SECTION_AUTHORITY,
			       record("sentinel.test. 60 IN NS ns.sentinel.test."));
	(void)ldns_pkt_push_rr(pkt, LDNS_SECTION_ADDITIONAL,
			       record("ns.sentinel.test. 60 IN A 203.0.113.53"));
	assert_int_equal(ldns_pkt2wire(ret, pkt, &len), LDNS_STATUS_OK);
	ldns_pkt_free(pkt);
	return len;
}

static void assert_same_header(const uint8_t *data, const struct dns_reader *r)
{
	assert_int_equal(r->id, LDNS_ID_WIRE(data));
	assert_int_equal(!!(r->flags & DNS_FLAG_RESPONSE), !!LDNS_QR_WIRE(data));
	assert_int_equal(!!(r->flags & DNS_FLAG_TRUNCATED), !!LDNS_TC_WIRE(data));
	assert_int_equal(r->left[DNS_QUESTION], LDNS_QDCOUNT(data));
	assert_int_equal(r->left[DNS_ANSWER], LDNS_ANCOUNT(data));
	assert_int_equal(r->left[DNS_AUTHORITY], LDNS_NSCOUNT(data));
	assert_int_equal(r->left[DNS_ADDITIONAL], LDNS_ARCOUNT(data));
}

static void assert_same_entry(const struct dns_entry *e, const ldns_rr *rr)
{
	const ldns_rdf *owner = ldns_rr_owner(rr);

	assert_int_equal(e->name.len, ldns_rdf_size(owner));
	assert_memory_equal(e->name.wire, ldns_rdf_data(owner), e->name.len);
	assert_int_equal(e->type, ldns_rr_get_type(rr));
	assert_int_equal(e->class, ldns_rr_get_class(rr));
	if (e->section != DNS_QUESTION)
		assert_int_equal(e->ttl, ldns_rr_ttl(rr));
}

static bool has_more(const struct dns_reader *r)
{
	for (size_t i = 0; i < DNS_SECTIONS; i++)
		if (r->left[i])
			return true;
	return false;
}

/* What comes next in the message, read by both from the same place. Whether to go on: ldns does not
 * compare a record's length with what it read there, and so may end elsewhere. */
static bool compare_entry(struct dns_reader *r, const uint8_t *data, size_t len,
			  unsigned int *ret_alike)
{
	const bool question = r->left[DNS_QUESTION];
	const bool taste = is_matter_of_taste(data, len, r->pos);
	size_t their_end = r->pos;
	ldns_rr *rr = NULL;
	struct dns_entry e;
	ldns_status status = ldns_wire2rr(&rr, data, len, &their_end,
					  question ? LDNS_SECTION_QUESTION : LDNS_SECTION_ANSWER);
	const int ours = dns_next(r, &e);
	bool same_end = their_end == r->pos;

	if (status == LDNS_STATUS_OK) {
		if (!taste)
			assert_int_equal(ours, 1);
		if (ours == 1) {
			assert_same_entry(&e, rr);
			++*ret_alike;
		}
		ldns_rr_free(rr);
		return ours == 1 && same_end;
	}
	if (ours == 1 && !taste)
		assert_false(question); /* of a record, ldns may dislike what is in it */
	return ours == 1;
}

static void test_messages(void **state unused_arg)
{
	unsigned int alike = 0, whole_messages = 0;
	uint8_t *whole;
	const size_t whole_len = write_message(&whole);

	for (unsigned int i = 0; i < MESSAGES; i++) {
		size_t len = random_below(8) ? whole_len : random_below(whole_len + 1);
		struct dns_reader r;
		uint8_t data[512];

		memcpy(data, whole, len);
		for (uint32_t n = random_below(4); n && len; n--)
			data[random_below(len)] = (uint8_t)random_below(256);
		assert_int_equal(dns_open(&r, data, len), len < LDNS_HEADER_SIZE ? -EBADMSG : 0);
		if (len < LDNS_HEADER_SIZE)
			continue;
		assert_same_header(data, &r);
		while (has_more(&r) && compare_entry(&r, data, len, &alike))
			;
		whole_messages += r.pos == whole_len;
	}
	free(whole);
	print_message("%u entries read alike, %u messages to their end\n", alike, whole_messages);
	assert_true(alike > MESSAGES && whole_messages > MESSAGES / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
#include <stdio.h>

int main(void)
{
	puts("libldns-dev is not installed: scripts/deps.sh");
	return 77;
}
#endif
