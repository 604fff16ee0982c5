// SPDX-License-Identifier: Apache-2.0
/* The hooks that the machine has once: the root-cgroup set and tracing. */
#include <bpf/bpf.h>
#include <sys/stat.h>

#include "user/sense/sense_priv.h"

static int attach(struct sense *s, const struct program *p, int cgroup_root_fd)
{
	struct host_hook *h = &s->host[p->hook];

	if (h->program != p) /* not chosen on this kernel */
		return h->error;
	h->link = p->kind == ATTACH_CGROUP ? bpf_program__attach_cgroup(h->prog, cgroup_root_fd)
					   : bpf_program__attach(h->prog);
	h->error = h->link ? 0 : -errno;
	return h->error;
}

int sense_attach_host(struct sense *s, int cgroup_root_fd, struct diag *d)
{
	struct stat st;

	if (fstat(cgroup_root_fd, &st))
		return diag_set(d, -errno, "", 0, 0, "the root of cgroup v2 can't be read: %s",
				strerror(errno));
	s->root_cgroup_id = st.st_ino; /* kernfs: the inode number is the id, on 64 bits */
	for (size_t i = 0; i < programs_n; i++) {
		const struct program *p = &programs[i];
		int r;

		if (p->kind == ATTACH_DEVICE || s->host[p->hook].link)
			continue;
		r = attach(s, p, cgroup_root_fd);
		if (r && sense_hook_needed(p->hook))
			return diag_set(d, r, "", 0, 0, "hook '%s' can't be attached: %s",
					hook_name(p->hook), strerror(-r));
	}
	return 0;
}

bool host_state(const struct sense *s, uint32_t hook, char detail[64])
{
	const struct host_hook *h = &s->host[hook];
	struct bpf_link_info info = { 0 };
	uint32_t len = sizeof(info);
	int r;

	if (!h->link) {
		(void)str_copy(detail, 64, h->error ? strerror(-h->error) : "not attached");
		return false;
	}
	r = bpf_obj_get_info_by_fd(bpf_link__fd(h->link), &info, &len);
	if (!r && h->program->kind == ATTACH_CGROUP && info.cgroup.cgroup_id != s->root_cgroup_id)
		r = -ENOLINK; /* detached: the kernel answers cgroup 0 */
	(void)str_copy(detail, 64, r ? strerror(-r) : "link");
	return !r;
}
