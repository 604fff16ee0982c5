// SPDX-License-Identifier: Apache-2.0
#include "user/decode/dns.h"

#define DNS_POINTER 0xc0 /* RFC 1035 4.1.4: the two high bits of a length byte */

static uint16_t be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static uint32_t be32(const uint8_t *p)
{
	return (uint32_t)be16(p) << 16 | be16(p + 2);
}

/* RFC 1035 4.1.1: id, flags, and the number of entries of each section, 2 bytes each. */
int dns_open(struct dns_reader *r, const uint8_t *data, size_t len)
{
	if (len < DNS_HEADER_BYTES)
		return -EBADMSG;
	*r = (struct dns_reader){
		.data = data,
		.len = len,
		.pos = DNS_HEADER_BYTES,
		.id = be16(data),
		.flags = be16(data + 2),
	};
	for (size_t i = 0; i < DNS_SECTIONS; i++)
		r->left[i] = be16(data + 4 + 2 * i);
	return 0;
}

/* A label at pos, its length byte included; the root's is 0. Number of bytes, or -EBADMSG. */
static int add_label(struct dns_name *name, const uint8_t *data, size_t len, size_t pos)
{
	size_t n = (size_t)data[pos] + 1;

	if (n > DNS_LABEL_BYTES + 1 || n > len - pos || n > DNS_NAME_BYTES - name->len)
		return -EBADMSG;
	memcpy(name->wire + name->len, data + pos, n);
	name->len += (uint32_t)n;
	name->labels += n > 1;
	return (int)n;
}

/* Each pointer must lead before the place where the part that holds it began, so every jump goes
 * further back, and the walk ends. One into the header is odd, but servers follow it: refusing it
 * would hide the name. */
int dns_name_read(const uint8_t *data, size_t len, size_t *pos, struct dns_name *ret)
{
	struct dns_name name = { 0 };
	size_t at = *pos, part = *pos, end = 0;
	int n;

	for (;;) {
		if (at >= len)
			return -EBADMSG;
		if ((data[at] & DNS_POINTER) == DNS_POINTER) {
			if (len - at < 2)
				return -EBADMSG;
			end = end ? end : at + 2;
			at = be16(data + at) & 0x3fff;
			if (at >= part)
				return -EBADMSG;
			part = at;
			continue;
		}
		n = add_label(&name, data, len, at);
		if (n < 0)
			return n;
		at += (size_t)n;
		if (n == 1) /* the root */
			break;
	}
	*pos = end ? end : at;
	*ret = name;
	return 0;
}

static int read_question(struct dns_reader *r, struct dns_entry *e)
{
	const uint8_t *p = r->data + r->pos;

	if (r->len - r->pos < 4)
		return -EBADMSG;
	e->type = be16(p);
	e->class = be16(p + 2);
	e->rdata_pos = r->pos + 4;
	r->pos += 4;
	return 1;
}

/* RFC 1035 4.1.3: type, class, TTL (4 bytes), length of the data, data. */
static int read_record(struct dns_reader *r, struct dns_entry *e)
{
	const uint8_t *p = r->data + r->pos;

	if (r->len - r->pos < 10)
		return -EBADMSG;
	e->type = be16(p);
	e->class = be16(p + 2);
	e->ttl = be32(p + 4);
	e->rdata_len = be16(p + 8);
	e->rdata_pos = r->pos + 10;
	if (e->rdata_len > r->len - e->rdata_pos)
		return -EBADMSG;
	r->pos = e->rdata_pos + e->rdata_len;
	return 1;
}

static int read_entry(struct dns_reader *r, enum dns_section section, struct dns_entry *ret)
{
	struct dns_entry e = { .section = section };
	int err = dns_name_read(r->data, r->len, &r->pos, &e.name);

	if (!err)
		err = section == DNS_QUESTION ? read_question(r, &e) : read_record(r, &e);
	if (err > 0)
		*ret = e;
	return err;
}

int dns_next(struct dns_reader *r, struct dns_entry *ret)
{
	int err;

	for (size_t i = 0; i < DNS_SECTIONS; i++) {
		if (!r->left[i])
			continue;
		r->left[i]--;
		err = read_entry(r, (enum dns_section)i, ret);
		if (err < 0)
			memset(r->left, 0, sizeof(r->left));
		return err;
	}
	return 0;
}

static bool is_plain(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '_';
}

static char *put_byte(char *out, uint8_t c)
{
	if (is_plain(c)) {
		*out++ = (char)c;
	} else if (c == '.' || c == '\\') {
		*out++ = '\\';
		*out++ = (char)c;
	} else {
		*out++ = '\\';
		*out++ = (char)('0' + c / 100);
		*out++ = (char)('0' + c / 10 % 10);
		*out++ = (char)('0' + c % 10);
	}
	return out;
}

const char *dns_name_text(const struct dns_name *name, char out[DNS_TEXT_MAX])
{
	const uint8_t *p = name->wire;
	char *to = out;

	if (!name->labels)
		*to++ = '.';
	for (uint32_t n = 0; n < name->labels; n++) {
		uint8_t len = *p++;

		if (n)
			*to++ = '.';
		for (uint8_t i = 0; i < len; i++)
			to = put_byte(to, *p++);
	}
	*to = '\0';
	return out;
}

uint32_t dns_name_join(const struct dns_name *name, uint8_t out[DNS_NAME_BYTES])
{
	const uint8_t *p = name->wire;
	uint32_t len = 0;

	for (uint32_t n = 0; n < name->labels; n++) {
		memcpy(out + len, p + 1, p[0]);
		len += p[0];
		p += p[0] + 1;
	}
	return len;
}
