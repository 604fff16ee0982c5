// SPDX-License-Identifier: Apache-2.0
#include "user/live/names.h"

#define DNS_CLASS_IN 1
#define DNS_TYPE_A 1
#define DNS_TYPE_AAAA 28
#define DNS_CACHE_FLUSH 0x8000u /* the top bit of a class in multicast DNS: RFC 6762 10.2, 5.4 */

struct name_address {
	uint8_t address[16];
	struct dns_name name;
};

struct question_key {
	uint16_t type;
	uint8_t wire[DNS_NAME_BYTES];
};

int names_init(struct names *n, uint32_t questions, uint32_t addresses, const uint64_t secret[2])
{
	*n = (struct names){ .questions = NULL };
	n->questions = calloc(questions, sizeof(*n->questions));
	n->addresses = calloc(addresses, sizeof(*n->addresses));
	if (!n->questions || !n->addresses || lru_init(&n->by_question, questions, secret) ||
	    lru_init(&n->by_address, addresses, secret)) {
		names_done(n);
		return -ENOMEM;
	}
	return 0;
}

void names_done(struct names *n)
{
	lru_done(&n->by_question);
	lru_done(&n->by_address);
	free(n->questions);
	free(n->addresses);
	n->questions = NULL;
	n->addresses = NULL;
}

static void lower_case(struct dns_name *name)
{
	/* a length byte is at most 63, below every letter */
	for (uint32_t i = 0; i < name->len; i++)
		if (name->wire[i] >= 'A' && name->wire[i] <= 'Z')
			name->wire[i] |= 0x20;
}

static bool same_name(const struct dns_name *a, const struct dns_name *b)
{
	return a->len == b->len && !memcmp(a->wire, b->wire, a->len);
}

/* ---- questions ---- */

static uint64_t question_hash(const struct names *n, const struct dns_name *name, uint16_t type)
{
	struct question_key key = { .type = type };

	memcpy(key.wire, name->wire, name->len);
	return lru_hash(&n->by_question, &key, offsetof(struct question_key, wire) + name->len);
}

static struct name_question *get_question(struct names *n, const struct dns_name *name,
					  uint16_t type, uint64_t time_ns)
{
	uint64_t hash = question_hash(n, name, type);
	struct name_question *q;
	bool evicted;
	uint32_t i;

	for (i = lru_first(&n->by_question, hash); i != LRU_NONE;
	     i = lru_next(&n->by_question, i)) {
		q = &n->questions[i];
		if (q->type != type || !same_name(&q->name, name))
			continue;
		lru_touch(&n->by_question, i);
		q->first_ns = MIN(q->first_ns, time_ns);
		q->last_ns = MAX(q->last_ns, time_ns);
		return q;
	}
	i = lru_take(&n->by_question, hash, &evicted);
	n->stats.questions_evicted += evicted;
	q = &n->questions[i];
	*q = (struct name_question){ .name = *name,
				     .type = type,
				     .rcode = NAMES_NO_ANSWER,
				     .first_ns = time_ns,
				     .last_ns = time_ns };
	return q;
}

static void add_address(struct name_question *q, const uint8_t address[16])
{
	size_t kept = MIN(q->addresses_n, (uint64_t)NAMES_ADDRESSES_MAX);

	for (size_t i = 0; i < kept; i++)
		if (!memcmp(q->addresses[i], address, 16))
			return;
	memcpy(q->addresses[q->addresses_n++ % NAMES_ADDRESSES_MAX], address, 16);
}

/* ---- addresses ---- */

static uint32_t find_address(const struct names *n, uint64_t hash, const uint8_t address[16])
{
	uint32_t i = lru_first(&n->by_address, hash);

	while (i != LRU_NONE && memcmp(n->addresses[i].address, address, 16) != 0)
		i = lru_next(&n->by_address, i);
	return i;
}

static void name_address(struct names *n, const uint8_t address[16], const struct dns_name *name)
{
	uint64_t hash = lru_hash(&n->by_address, address, 16);
	uint32_t i = find_address(n, hash, address);
	bool evicted = false;

	if (i == LRU_NONE)
		i = lru_take(&n->by_address, hash, &evicted);
	else
		lru_touch(&n->by_address, i);
	n->stats.addresses_evicted += evicted;
	memcpy(n->addresses[i].address, address, 16);
	n->addresses[i].name = *name;
}

const struct dns_name *names_find(const struct names *n, const uint8_t address[16])
{
	uint32_t i = find_address(n, lru_hash(&n->by_address, address, 16), address);

	return i == LRU_NONE ? NULL : &n->addresses[i].name;
}

/* ---- messages ---- */

/* An address record's address; false: it is another kind of record. */
static bool read_address(const struct dns_reader *r, const struct dns_entry *e, uint8_t ret[16])
{
	const uint8_t *data = r->data + e->rdata_pos;

	if ((e->class & ~DNS_CACHE_FLUSH) != DNS_CLASS_IN)
		return false;
	if (e->type == DNS_TYPE_AAAA && e->rdata_len == 16) {
		memcpy(ret, data, 16);
		return true;
	}
	if (e->type != DNS_TYPE_A || e->rdata_len != 4)
		return false;
	memset(ret, 0, 10);
	ret[10] = ret[11] = 0xff;
	memcpy(ret + 12, data, 4);
	return true;
}

/* What a message says as a whole. */
struct message {
	bool response;
	uint16_t rcode;
	uint64_t time_ns;
	/* its first question, which its answers are about */
	bool has_about;
	struct dns_name about;
	uint16_t about_type;
};

static void take_question(struct names *n, struct message *m, const struct dns_entry *e)
{
	struct name_question *q = get_question(n, &e->name, e->type, m->time_ns);

	if (m->response) {
		q->answered++;
		q->rcode = m->rcode;
	} else {
		q->asked++;
	}
	if (m->has_about)
		return;
	m->has_about = true;
	m->about = e->name;
	m->about_type = e->type;
}

/* The end of a chain of CNAMEs, too, belongs to the name that was asked for. Multicast DNS answers
 * without repeating the question. */
static void take_answer(struct names *n, const struct message *m, const struct dns_reader *r,
			const struct dns_entry *e)
{
	uint8_t address[16];

	if (!m->response || e->section != DNS_ANSWER || !read_address(r, e, address))
		return;
	if (m->has_about)
		add_address(get_question(n, &m->about, m->about_type, m->time_ns), address);
	name_address(n, address, m->has_about ? &m->about : &e->name);
}

void names_push(struct names *n, const uint8_t *data, size_t len, uint64_t time_ns)
{
	struct message m = { .time_ns = time_ns };
	struct dns_reader r;
	struct dns_entry e;
	int more = dns_open(&r, data, len);

	n->stats.messages++;
	if (more < 0) {
		n->stats.malformed++;
		return;
	}
	m.response = r.flags & DNS_FLAG_RESPONSE;
	m.rcode = r.flags & 15;
	while ((more = dns_next(&r, &e)) > 0) {
		lower_case(&e.name);
		if (e.section == DNS_QUESTION)
			take_question(n, &m, &e);
		else
			take_answer(n, &m, &r, &e);
	}
	n->stats.malformed += more < 0;
}

uint32_t names_count(const struct names *n)
{
	return n->by_question.used;
}

const struct name_question *names_row(const struct names *n, uint32_t i)
{
	return &n->questions[i];
}
