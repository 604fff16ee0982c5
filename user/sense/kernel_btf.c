// SPDX-License-Identifier: Apache-2.0
#include "user/sense/kernel_btf.h"

#include <bpf/btf.h>

#define DROP_REASON_PREFIX "SKB_DROP_REASON_"

struct kernel_btf {
	struct btf *btf;
	const struct btf_type *drop_reason; /* enum skb_drop_reason; NULL before 5.17 */
};

int kernel_btf_new(struct kernel_btf **ret)
{
	struct kernel_btf *k = calloc(1, sizeof(*k));
	int id;

	if (!k)
		return -ENOMEM;
	k->btf = btf__load_vmlinux_btf();
	if (!k->btf) {
		int err = -errno;

		free(k);
		return err;
	}
	id = btf__find_by_name_kind(k->btf, "skb_drop_reason", BTF_KIND_ENUM);
	if (id > 0)
		k->drop_reason = btf__type_by_id(k->btf, (uint32_t)id);
	*ret = k;
	return 0;
}

void kernel_btf_free(struct kernel_btf *k)
{
	if (k)
		btf__free(k->btf);
	free(k);
}

int kernel_btf_id(const struct kernel_btf *k, const char *name, uint32_t kind)
{
	int id = btf__find_by_name_kind(k->btf, name, kind);

	return id > 0 ? id : -ENOENT;
}

/* A tracepoint is a typedef btf_trace_NAME of a pointer to a function whose first argument is the
 * probe's own data. */
int kernel_btf_tracepoint(const struct kernel_btf *k, const char *name)
{
	const struct btf_type *t;
	char typedef_name[96];
	int id, r;

	r = str_format(typedef_name, sizeof(typedef_name), "btf_trace_%s", name);
	if (r < 0)
		return r;
	id = kernel_btf_id(k, typedef_name, BTF_KIND_TYPEDEF);
	if (id < 0)
		return id;
	t = btf__type_by_id(k->btf, (uint32_t)id);
	t = t ? btf__type_by_id(k->btf, t->type) : NULL;
	if (!t || !btf_is_ptr(t))
		return -ENOENT;
	t = btf__type_by_id(k->btf, t->type);
	return t && btf_is_func_proto(t) && btf_vlen(t) ? btf_vlen(t) - 1 : -ENOENT;
}

static const char *reason_text(const struct kernel_btf *k, const struct btf_enum *e)
{
	const char *name = btf__name_by_offset(k->btf, e->name_off);
	size_t prefix = sizeof(DROP_REASON_PREFIX) - 1;

	if (!name)
		return NULL;
	return strncmp(name, DROP_REASON_PREFIX, prefix) ? name : name + prefix;
}

const char *kernel_btf_drop_reason(const struct kernel_btf *k, uint32_t reason)
{
	const struct btf_enum *e;

	if (!k->drop_reason)
		return NULL;
	e = btf_enum(k->drop_reason);
	for (uint32_t i = 0; i < btf_vlen(k->drop_reason); i++)
		if ((uint32_t)e[i].val == reason)
			return reason_text(k, &e[i]);
	return NULL;
}

/* Measured in normal life (hooks.md answer b): queues purged at close, segments that TCP does not
 * need, copies that a listening packet socket did not take. A trailing * matches the rest. */
static const struct {
	const char *name;
	enum reason_worth worth;
} reasons[] = {
	{ "SKB_NOT_DROPPED_YET", REASON_DULL },
	{ "SKB_CONSUMED", REASON_DULL },
	{ "NOT_SPECIFIED", REASON_UNNAMED },
	{ "NO_SOCKET", REASON_DULL },
	{ "SOCKET_CLOSE", REASON_DULL },
	{ "SOCKET_FILTER", REASON_DULL },
	{ "SOCKET_RCVBUFF", REASON_DULL },
	{ "SOCKET_BACKLOG", REASON_DULL },
	{ "UNIX_*", REASON_DULL },
	{ "OTHERHOST", REASON_DULL },
	{ "UDP_CSUM", REASON_DULL },
	{ "ICMP_CSUM", REASON_DULL },
	{ "TCP_*", REASON_DULL },
	{ "QUEUE_PURGE", REASON_DULL },
	{ "PACKET_SOCK_ERROR", REASON_DULL },
	{ "SKB_UCOPY_FAULT", REASON_DULL },
};

static enum reason_worth reason_worth(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++) {
		const char *star = strchr(reasons[i].name, '*');
		size_t n = star ? (size_t)(star - reasons[i].name) : strlen(name) + 1;

		if (!strncmp(name, reasons[i].name, n))
			return reasons[i].worth;
	}
	return REASON_TELLS;
}

void kernel_btf_reasons(const struct kernel_btf *k, uint8_t *worth, uint32_t n)
{
	const struct btf_enum *e;

	memset(worth, REASON_TELLS, n);
	if (!k->drop_reason)
		return;
	e = btf_enum(k->drop_reason);
	for (uint32_t i = 0; i < btf_vlen(k->drop_reason); i++) {
		const char *name = reason_text(k, &e[i]);

		if (name && (uint32_t)e[i].val < n)
			worth[e[i].val] = (uint8_t)reason_worth(name);
	}
}
