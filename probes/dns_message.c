// SPDX-License-Identifier: Apache-2.0
#include "probes/dns_message.h"

#include "probes/attempt.h"

/* RFC 1035 4.1.1 */
#define HEADER_BYTES 12
#define FLAG_QR 0x8000
#define FLAG_RD 0x0100
#define RCODE_MASK 0x000f
#define TYPE_TXT 16
#define CLASS_IN 1
#define LABEL_MAX 63

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static size_t put16(uint8_t *p, unsigned int v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
	return 2;
}

/* "a.b.c" as labels, with the root's empty one. Our own names only: each label fits. */
static size_t put_name(uint8_t *out, const char *name)
{
	size_t o = 0;

	for (const char *dot; *name; name = dot + (*dot == '.')) {
		dot = strchrnul(name, '.');
		out[o++] = (uint8_t)(dot - name);
		memcpy(out + o, name, (size_t)(dot - name));
		o += (size_t)(dot - name);
	}
	out[o++] = 0;
	return o;
}

size_t dns_question(const struct probe_attempt *a, uint16_t id, uint8_t out[DNS_QUESTION_MAX])
{
	char name[256];
	size_t n = HEADER_BYTES;

	(void)str_format(name, sizeof(name), "%s.%s.%s", a->token, a->manifest->p.name,
			 a->name && a->name[0] ? a->name : PROBE_ZONE);
	memset(out, 0, HEADER_BYTES);
	(void)put16(out, id);
	(void)put16(out + 2, FLAG_RD);
	(void)put16(out + 4, 1); /* one question */
	n += put_name(out + n, name);
	n += put16(out + n, TYPE_TXT);
	n += put16(out + n, CLASS_IN);
	return n;
}

/* Where what follows the name at off starts; 0 where the name runs out of the message. */
static size_t skip_name(const uint8_t *msg, size_t len, size_t off)
{
	while (off < len) {
		uint8_t label = msg[off];

		if (!label)
			return off + 1;
		if (label > LABEL_MAX) /* a pointer ends a name (RFC 1035 4.1.4) */
			return (label & 0xc0) == 0xc0 ? off + 2 : 0;
		off += 1u + label;
	}
	return 0;
}

static bool find_txt(struct probe_outcome *o, const uint8_t *msg, size_t len)
{
	unsigned int questions = get16(msg + 4), answers = get16(msg + 6);
	size_t off = HEADER_BYTES;

	for (; questions; questions--) {
		off = skip_name(msg, len, off);
		if (!off || len - MIN(off, len) < 4)
			return false;
		off += 4;
	}
	for (; answers; answers--) {
		size_t data_len;

		off = skip_name(msg, len, off);
		if (!off || len - MIN(off, len) < 10)
			return false;
		data_len = get16(msg + off + 8);
		if (len - off - 10 < data_len)
			return false;
		if (get16(msg + off) == TYPE_TXT && data_len && msg[off + 10] == data_len - 1 &&
		    outcome_answer_hex(o, msg + off + 11, data_len - 1))
			return true;
		off += 10 + data_len;
	}
	return false;
}

bool dns_settles(struct probe_outcome *o, const uint8_t *msg, size_t len, uint16_t id)
{
	unsigned int flags;

	if (len < HEADER_BYTES || get16(msg) != id)
		return false;
	flags = get16(msg + 2);
	if (!(flags & FLAG_QR))
		return false;
	if (flags & RCODE_MASK)
		(void)str_format(o->view, sizeof(o->view), "rcode-%u", flags & RCODE_MASK);
	else if (!find_txt(o, msg, len))
		outcome_word(o, "no-data");
	return true;
}
