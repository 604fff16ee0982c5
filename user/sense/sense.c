// SPDX-License-Identifier: Apache-2.0
/* Open, configure, load, stop, free. */
#include <linux/membarrier.h>
#include <openssl/evp.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

#include "user/sense/sense_priv.h"

#include "sentinel.skel.h"

#define WORLD_RING_BYTES (16u << 20)
#define PACKET_RING_BYTES (16u << 20)
#define LIFE_RING_BYTES (4u << 20)
#define WAKE_BYTES_MAX (1u << 20) /* or half a ring where that is less */

/* The first thing that libbpf complained about in an attempt, for the diagnosis. Loading is one
 * thread's at a time. */
static _Thread_local char libbpf_said[256];
static _Thread_local char libbpf_refused[32]; /* program that did not load */

static int libbpf_listen(enum libbpf_print_level level, const char *fmt, va_list ap)
	printf_like(2, 0);
static int libbpf_listen(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	char line[256];
	const char *name;

	if (level != LIBBPF_WARN)
		return 0;
	(void)vsnprintf(line, sizeof(line), fmt, ap);
	line[strcspn(line, "\n")] = '\0';
	name = strstr(line, "prog '");
	if (name && strstr(line, "failed to load")) {
		name += strlen("prog '");
		(void)snprintf(libbpf_refused, sizeof(libbpf_refused), "%.*s",
			       (int)strcspn(name, "'"), name);
	}
	if (!*libbpf_said) /* what comes after says less */
		(void)str_copy(libbpf_said, sizeof(libbpf_said), line);
	return 0;
}

bool feature_is_off(const char *name)
{
	const char *list = getenv("SENTINEL_FEATURES_OFF");
	size_t n = strlen(name);

	while (list && *list) {
		size_t len = strcspn(list, ",");

		if (len == n && !strncmp(list, name, n))
			return true;
		list += len + (list[len] == ',');
	}
	return false;
}

static bool ring_size_ok(uint32_t bytes)
{
	return bytes >= (uint32_t)sysconf(_SC_PAGESIZE) && !(bytes & (bytes - 1));
}

static int opts_check(const struct sense_opts *o, struct diag *d)
{
	const uint32_t sizes[] = { o->world_ring_bytes, o->packet_ring_bytes, o->life_ring_bytes };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		if (sizes[i] && !ring_size_ok(sizes[i]))
			return diag_set(d, -EINVAL, "", 0, 0,
					"ring size %u is no power of two of at least a page",
					sizes[i]);
	if (o->snapshot > SNT_PKT_DATA_LARGE)
		return diag_set(d, -EINVAL, "", 0, 0, "snapshot %u is more than %u bytes",
				o->snapshot, SNT_PKT_DATA_LARGE);
	return 0;
}

static int configure_ring(struct sense *s, uint32_t ring, struct bpf_map *map, uint32_t bytes,
			  uint32_t otherwise)
{
	bytes = bytes ? bytes : otherwise;
	s->skel->rodata->snt_wake_bytes[ring] = MIN(bytes / 2, WAKE_BYTES_MAX);
	return bpf_map__set_max_entries(map, bytes);
}

static int configure(struct sense *s, const struct sense_opts *o)
{
	struct sentinel *k = s->skel;
	int r;

	if (o->snapshot)
		k->rodata->snt_snapshot = o->snapshot;
	k->rodata->snt_run_cgroup = o->run_cgroup_id;
	k->rodata->snt_run_level = o->run_cgroup_level;
	k->rodata->snt_known_marks = o->known_marks_only;
	kernel_btf_reasons(s->btf, k->rodata->snt_reasons, sizeof(k->rodata->snt_reasons));
	r = configure_ring(s, SNT_RING_WORLD, k->maps.rb_world, o->world_ring_bytes,
			   WORLD_RING_BYTES);
	if (!r)
		r = configure_ring(s, SNT_RING_PACKET, k->maps.rb_packet, o->packet_ring_bytes,
				   PACKET_RING_BYTES);
	if (!r)
		r = configure_ring(s, SNT_RING_LIFE, k->maps.rb_life, o->life_ring_bytes,
				   LIFE_RING_BYTES);
	return r;
}

/* Decides which programs this kernel gets. refused: names that did not load before. */
static int choose_programs(struct sense *s, char refused[][32], size_t refused_n)
{
	for (size_t i = 0; i < programs_n; i++) {
		const struct program *p = &programs[i];
		struct host_hook *h = &s->host[p->hook];
		struct bpf_program *prog = bpf_object__find_program_by_name(s->skel->obj, p->name);
		int r = prog ? program_wanted(p, s->btf) : -ENOENT;

		for (size_t n = 0; n < refused_n; n++)
			if (!strcmp(refused[n], p->name))
				r = -EACCES;
		if (prog && bpf_program__set_autoload(prog, !r))
			return -EINVAL;
		if (prog && p->attach_type &&
		    bpf_program__set_expected_attach_type(prog, p->attach_type))
			return -EINVAL;
		if (!r)
			*h = (struct host_hook){ .program = p, .prog = prog };
		else if (!h->prog)
			h->error = r;
	}
	return 0;
}

static const char *remedy(int err)
{
	switch (err) {
	case -EPERM:
		return "run it as root, or with CAP_BPF, CAP_PERFMON, CAP_NET_ADMIN and "
		       "CAP_SYS_ADMIN";
	case -ENOENT:
	case -ESRCH:
		return "the kernel needs CONFIG_DEBUG_INFO_BTF and CONFIG_BPF_SYSCALL";
	case -ENOMEM:
		return "make the rings smaller, or raise RLIMIT_MEMLOCK";
	default:
		return "see 'sentinel doctor' for what this kernel can do";
	}
}

static int refuse(struct diag *d, int err)
{
	char said[512];

	return diag_set(d, err, "", 0, 0, "the kernel refuses the observer (%s%s%s): %s",
			strerror(-err), *libbpf_said ? "; " : "",
			escape_text(said, sizeof(said), libbpf_said, strlen(libbpf_said)),
			remedy(err));
}

static bool is_optional(const char *name)
{
	for (size_t i = 0; i < programs_n; i++)
		if (!strcmp(programs[i].name, name))
			return !sense_hook_needed(programs[i].hook);
	return false;
}

/* A program that only adds evidence and does not load here is left out; then all is tried again. */
static int load(struct sense *s, const struct sense_opts *o)
{
	char refused[SNT_HOOK_MAX][32];
	size_t refused_n = 0;
	int r;

	for (;;) {
		memset(s->host, 0, sizeof(s->host));
		s->skel = sentinel__open();
		if (!s->skel)
			return -errno;
		r = configure(s, o);
		if (!r)
			r = choose_programs(s, refused, refused_n);
		if (r)
			return r;
		libbpf_refused[0] = '\0';
		libbpf_said[0] = '\0';
		r = sentinel__load(s->skel);
		if (!r || refused_n == SNT_HOOK_MAX || !is_optional(libbpf_refused))
			return r;
		memcpy(refused[refused_n++], libbpf_refused, sizeof(refused[0]));
		sentinel__destroy(s->skel);
		s->skel = NULL;
	}
}

static int digest_object(struct sense *s)
{
	size_t size;
	const void *elf = sentinel__elf_bytes(&size);
	unsigned int len = sizeof(s->digest);

	return EVP_Digest(elf, size, s->digest, &len, EVP_sha256(), NULL) == 1 ? 0 : -EIO;
}

static int open_ring(struct sense *s, uint32_t ring, struct bpf_map *map)
{
	/* Edge-triggered: what is in the ring already wakes nobody, only the kernel's call does. */
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET, .data.u32 = ring };
	int fd = bpf_map__fd(map);

	if (epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &ev))
		return -errno;
	return ring_init(&s->rings[ring], fd, bpf_map__max_entries(map));
}

static int open_rings(struct sense *s)
{
	int r;

	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll_fd < 0)
		return -errno;
	r = open_ring(s, SNT_RING_WORLD, s->skel->maps.rb_world);
	if (!r)
		r = open_ring(s, SNT_RING_PACKET, s->skel->maps.rb_packet);
	if (!r)
		r = open_ring(s, SNT_RING_LIFE, s->skel->maps.rb_life);
	return r;
}

/* What unreachable, prohibiting and black-hole routes call: they name no reason, as of 6.18. The
 * start first: a function of no bytes holds no address. */
static void find_callers(struct sense *s)
{
	static const char *const callers[] = { "ip_error", "ip6_pkt_drop", "dst_discard_out",
					       "ip6_pkt_discard", "ip6_pkt_prohibit" };
	size_t n = 0;

	_Static_assert(ARRAY_SIZE(callers) <= ARRAY_SIZE(s->skel->bss->snt_caller_start),
		       "SNT_CALLERS_MAX");
	for (size_t i = 0; i < ARRAY_SIZE(callers); i++) {
		uint64_t start, end;

		if (!symbols_range(s->symbols, callers[i], &start, &end))
			continue;
		__atomic_store_n(&s->skel->bss->snt_caller_start[n], start, __ATOMIC_RELEASE);
		__atomic_store_n(&s->skel->bss->snt_caller_bytes[n++], end - start,
				 __ATOMIC_RELEASE);
	}
}

void symbols_ready(struct sense *s)
{
	if (!s->symbols || __atomic_load_n(&s->symbols_read, __ATOMIC_ACQUIRE))
		return;
	symbols_wait(s->symbols);
	find_callers(s);
	__atomic_store_n(&s->symbols_read, true, __ATOMIC_RELEASE);
}

static int sense_open(struct sense *s, const struct sense_opts *o, struct diag *d)
{
	int r = kernel_btf_new(&s->btf);

	if (r)
		return refuse(d, r);
	r = load(s, o);
	if (r)
		return refuse(d, r);
	r = open_rings(s);
	if (!r)
		r = digest_object(s);
	if (r)
		return diag_set(d, r, "", 0, 0, "the rings can't be read: %s", strerror(-r));
	s->symbols = symbols_new(); /* only names: done without where it fails */
	s->skel->bss->snt_gate = 1;
	return 0;
}

int sense_new(struct sense **ret, const struct sense_opts *o, struct diag *d)
{
	struct sense *s;
	int r = opts_check(o, d);

	if (r)
		return r;
	s = calloc(1, sizeof(*s));
	if (!s)
		return diag_set(d, -ENOMEM, "", 0, 0, "out of memory");
	s->epoll_fd = -1;
	s->no_tcx = feature_is_off("tcx");
	libbpf_said[0] = '\0';
	(void)libbpf_set_print(libbpf_listen);
	r = sense_open(s, o, d);
	if (r) {
		sense_free(s);
		return r;
	}
	*ret = s;
	return 0;
}

void sense_free(struct sense *s)
{
	if (!s)
		return;
	for (uint32_t lane = 0; lane < SNT_SLOT_MAX; lane++)
		sense_detach_lane(s, lane);
	for (uint32_t hook = 0; hook < SNT_HOOK_MAX; hook++)
		bpf_link__destroy(s->host[hook].link);
	for (uint32_t ring = 0; ring < SNT_RING_MAX; ring++)
		ring_done(&s->rings[ring]);
	if (s->epoll_fd >= 0)
		(void)close(s->epoll_fd);
	if (s->skel)
		sentinel__destroy(s->skel);
	symbols_free(s->symbols);
	kernel_btf_free(s->btf);
	free(s);
}

/* A program that was past the gate may still be emitting on another CPU. Programs run in RCU
 * read-side sections, and this barrier waits for all of those to end. */
static void wait_for_programs(void)
{
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		(void)usleep(50000);
}

void sense_stop(struct sense *s)
{
	__atomic_store_n(&s->skel->bss->snt_gate, 0, __ATOMIC_SEQ_CST);
	wait_for_programs();
}

int sense_wait(struct sense *s, int timeout_ms)
{
	struct epoll_event ev[SNT_RING_MAX];

	return epoll_wait(s->epoll_fd, ev, SNT_RING_MAX, timeout_ms) < 0 ? -errno : 0;
}

int sense_drain(struct sense *s, sense_sink_fn sink, void *arg)
{
	int n = ring_drain(&s->rings[SNT_RING_LIFE], sink, arg);

	n += ring_drain(&s->rings[SNT_RING_PACKET], sink, arg);
	n += ring_drain(&s->rings[SNT_RING_WORLD], sink, arg);
	return n;
}

void sense_digest(const struct sense *s, uint8_t ret[32])
{
	memcpy(ret, s->digest, sizeof(s->digest));
}

const char *sense_drop_reason(const struct sense *s, uint32_t reason)
{
	return kernel_btf_drop_reason(s->btf, reason);
}

bool sense_symbol(const struct sense *s, uint64_t addr, char ret[64])
{
	return __atomic_load_n(&s->symbols_read, __ATOMIC_ACQUIRE) &&
	       symbols_find(s->symbols, addr, ret);
}

int sense_map(const struct sense *s, const char *name)
{
	return bpf_object__find_map_fd_by_name(s->skel->obj, name);
}

int hook_prog_fd(const struct sense *s, uint32_t hook)
{
	const struct host_hook *h = &s->host[hook];

	if (!h->prog)
		return h->error ? h->error : -ENOENT;
	return bpf_program__fd(h->prog);
}
