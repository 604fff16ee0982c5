// SPDX-License-Identifier: Apache-2.0
#include "probes/collector/zone.h"

#include "user/rig/rig.h"

/* RFC 1035 4.1.1:  id | QR opcode AA TC RD RA Z rcode | qd | an | ns | ar, 16 bits each */
#define HEADER_BYTES 12
#define FLAG_QR 0x8000
#define FLAG_AA 0x0400
#define FLAG_RD 0x0100
#define OPCODE_MASK 0x7800
#define RCODE_NOERROR 0
#define RCODE_FORMERR 1
#define RCODE_NOTIMP 4
#define RCODE_REFUSED 5
#define TYPE_A 1
#define TYPE_SOA 6
#define TYPE_TXT 16
#define CLASS_IN 1
#define LABEL_MAX 63
#define NAME_MAX_BYTES 255
#define TOKEN_HEX (2 * MAC_NONCE_BYTES)
#define POINTER 0xc000

static const uint8_t zone_name[] = "\x08sentinel\x04test"; /* its NUL is the root */

struct question {
	size_t end;  /* first byte behind it in the message */
	size_t zone; /* where the zone's name starts in the message; 0 = not in the zone */
	size_t host; /* where the label right before that starts; 0 = there is none */
	unsigned int type, class;
};

struct out {
	uint8_t *p;
	size_t len;
};

static unsigned int get16(const uint8_t *p)
{
	return (unsigned int)p[0] << 8 | p[1];
}

static void put16(struct out *o, unsigned int v)
{
	o->p[o->len++] = (uint8_t)(v >> 8);
	o->p[o->len++] = (uint8_t)v;
}

static void put32(struct out *o, uint32_t v)
{
	put16(o, v >> 16);
	put16(o, v & 0xffff);
}

static void put(struct out *o, const void *data, size_t len)
{
	memcpy(o->p + o->len, data, len);
	o->len += len;
}

static uint8_t lower(uint8_t c)
{
	return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

/* Case doesn't matter (RFC 4343), and length bytes are below 'A'. */
static bool is_zone(const uint8_t *name, size_t len)
{
	if (len != sizeof(zone_name))
		return false;
	for (size_t i = 0; i < len; i++)
		if (lower(name[i]) != zone_name[i])
			return false;
	return true;
}

/* The one question, right behind the header: a pointer has nothing to point to there. */
static bool parse_question(const uint8_t *msg, size_t len, struct question *ret)
{
	size_t off = HEADER_BYTES;

	while (off < len && msg[off]) {
		if (msg[off] > LABEL_MAX)
			return false;
		off += 1u + msg[off];
	}
	if (off >= len || len - off < 5 || off + 1 - HEADER_BYTES > NAME_MAX_BYTES)
		return false;
	ret->end = off + 5;
	ret->type = get16(msg + off + 1);
	ret->class = get16(msg + off + 3);
	ret->zone = 0;
	ret->host = 0;
	for (size_t at = HEADER_BYTES, before = 0; at < off; before = at, at += 1u + msg[at])
		if (is_zone(msg + at, off + 1 - at)) {
			ret->zone = at;
			ret->host = before;
		}
	return true;
}

static bool first_label_token(const uint8_t *msg, const struct question *q,
			      uint8_t ret[MAC_NONCE_BYTES])
{
	char hex[TOKEN_HEX + 1];

	if (q->zone <= HEADER_BYTES || msg[HEADER_BYTES] != TOKEN_HEX)
		return false;
	memcpy(hex, msg + HEADER_BYTES + 1, TOKEN_HEX);
	hex[TOKEN_HEX] = '\0';
	return hex_decode(ret, MAC_NONCE_BYTES, hex) == 0;
}

/* An address of the far side, as the label right before the zone says it: 203-0-113-7, in its one
 * spelling and below one more label, or "allowed", itself and all below it. */
static bool address_of(const uint8_t *msg, const struct question *q, uint8_t ret[16])
{
	size_t len = q->host ? msg[q->host] : 0;
	char text[ADDR_TEXT_MAX], canonical[ADDR_TEXT_MAX];
	uint8_t all[16];

	if (!len || len >= sizeof(text))
		return false;
	for (size_t i = 0; i < len; i++) {
		uint8_t c = lower(msg[q->host + 1 + i]);

		if (c == '.' || !c)
			return false;
		text[i] = c == '-' ? '.' : (char)c;
	}
	text[len] = '\0';
	if (!strcmp(text, "allowed"))
		return parse_addr(RIG_ALLOWED4, ret) == 0;
	if (parse_addr(text, ret) || parse_addr(RIG_FAR4, all) ||
	    strcmp(addr_text(ret, canonical), text) != 0)
		return false;
	/* RIG_FAR4_ALL_PREFIX bits of an address that is mapped */
	return !memcmp(ret, all, 12 + RIG_FAR4_ALL_PREFIX / 8) &&
	       q->host == HEADER_BYTES + 1u + msg[HEADER_BYTES];
}

static void put_header(struct out *o, const uint8_t *msg, unsigned int rcode,
		       unsigned int questions)
{
	unsigned int flags = get16(msg + 2) & (OPCODE_MASK | FLAG_RD);

	put16(o, get16(msg));
	put16(o, FLAG_QR | flags | (rcode == RCODE_NOERROR ? FLAG_AA : 0) | rcode);
	put16(o, questions);
	put16(o, 0); /* answers and authorities: counted when put */
	put16(o, 0);
	put16(o, 0);
}

#define COUNT_ANSWERS 6
#define COUNT_AUTHORITIES 8

/* Time to live 0: every token is asked once, and nothing may be answered from a cache. */
static void put_record(struct out *o, size_t count_off, size_t name, unsigned int type,
		       size_t data_len)
{
	o->p[count_off + 1]++;
	put16(o, POINTER | (unsigned int)name);
	put16(o, type);
	put16(o, CLASS_IN);
	put32(o, 0);
	put16(o, (unsigned int)data_len);
}

static void put_txt(struct out *o, const uint8_t key[MAC_BYTES],
		    const uint8_t token[MAC_NONCE_BYTES])
{
	uint8_t mac[MAC_BYTES], length = 2 * MAC_BYTES;
	char hex[2 * MAC_BYTES + 1];

	mac_answer(key, token, mac);
	hex_encode(hex, mac, sizeof(mac));
	put_record(o, COUNT_ANSWERS, HEADER_BYTES, TYPE_TXT, 1u + length);
	put(o, &length, 1);
	put(o, hex, length);
}

static void put_a(struct out *o, const uint8_t addr[16])
{
	put_record(o, COUNT_ANSWERS, HEADER_BYTES, TYPE_A, 4);
	put(o, addr + 12, 4);
}

static void put_soa(struct out *o, size_t count_off, size_t zone)
{
	static const uint8_t server[] = { 2, 'n', 's' };
	static const uint8_t mailbox[] = { 4, 'r', 'o', 'o', 't' };

	put_record(o, count_off, zone, TYPE_SOA, sizeof(server) + 2 + sizeof(mailbox) + 2 + 20);
	put(o, server, sizeof(server));
	put16(o, POINTER | (unsigned int)zone);
	put(o, mailbox, sizeof(mailbox));
	put16(o, POINTER | (unsigned int)zone);
	put32(o, 1);	 /* serial */
	put32(o, 3600);	 /* refresh */
	put32(o, 600);	 /* retry */
	put32(o, 86400); /* expire */
	put32(o, 0);	 /* negative answers are not cached either */
}

static size_t refuse(const uint8_t *msg, unsigned int rcode, uint8_t *buf)
{
	struct out o = { .p = buf };

	put_header(&o, msg, rcode, 0);
	return o.len;
}

size_t zone_respond(const uint8_t key[MAC_BYTES], const uint8_t *msg, size_t len,
		    uint8_t out[ZONE_RESPONSE_MAX], bool *ret_answered)
{
	struct out o = { .p = out };
	uint8_t token[MAC_NONCE_BYTES], addr[16];
	struct question q;

	*ret_answered = false;
	if (len < HEADER_BYTES || get16(msg + 2) & FLAG_QR)
		return 0;
	if (get16(msg + 2) & OPCODE_MASK)
		return refuse(msg, RCODE_NOTIMP, out);
	if (get16(msg + 4) != 1 || !parse_question(msg, len, &q))
		return refuse(msg, RCODE_FORMERR, out);
	if (!q.zone || q.class != CLASS_IN)
		return refuse(msg, RCODE_REFUSED, out);

	put_header(&o, msg, RCODE_NOERROR, 1);
	put(&o, msg + HEADER_BYTES, q.end - HEADER_BYTES);
	if (q.type == TYPE_TXT && first_label_token(msg, &q, token)) {
		put_txt(&o, key, token);
		*ret_answered = true;
	} else if (q.type == TYPE_A && address_of(msg, &q, addr)) {
		put_a(&o, addr);
	} else if (q.type == TYPE_SOA && q.zone == HEADER_BYTES) {
		put_soa(&o, COUNT_ANSWERS, q.zone);
	} else {
		put_soa(&o, COUNT_AUTHORITIES, q.zone);
	}
	return o.len;
}
