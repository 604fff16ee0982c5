// SPDX-License-Identifier: Apache-2.0
/*
 * What refuses a call, in front of a command: refuses WAY COMMAND...
 *
 *   seccomp         connect() and the sends with an address get EPERM from a filter
 *   seccomp-socket  so does socket() for IPv4 and IPv6
 *   landlock        no TCP connection (landlock(7), ABI 4)
 *   cg-connect, cg-connect4, cg-sendmsg, cg-sock, cg-skb, cg-skb-silent
 *                   a BPF program on the cgroup of the command, that denies at this hook; silent:
 *                   the sender is told that all went well
 *   tcx-egress=LINK, tcx-ingress=LINK
 *                   a BPF program on the link that drops every IP packet; it stays on the link
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <linux/audit.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static void fail(const char *what)
{
	fprintf(stderr, "refuses: %s: %s\n", what, strerror(errno));
	exit(126);
}

/* ---- seccomp ---- */

static void add_filter(struct sock_filter *code, size_t n)
{
	struct sock_fprog program = { .len = (unsigned short)n, .filter = code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		fail("seccomp");
}

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define IF_EQ(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, value)

/* UNIX sockets stay: a session may need them for its own ends. */
static void seccomp_socket(void)
{
	struct sock_filter code[] = {
		LOAD(nr),
		IF_EQ(SYS_socket, 0, 3),
		LOAD(args[0]),
		IF_EQ(AF_INET, 2, 0),
		IF_EQ(AF_INET6, 1, 0),
		RETURN(SECCOMP_RET_ALLOW),
		RETURN(SECCOMP_RET_ERRNO | EPERM),
	};

	add_filter(code, sizeof(code) / sizeof(code[0]));
}

static void seccomp_calls(void)
{
	struct sock_filter code[] = {
		LOAD(nr),
		IF_EQ(SYS_connect, 4, 0),
		IF_EQ(SYS_sendto, 3, 0),
		IF_EQ(SYS_sendmsg, 2, 0),
		IF_EQ(SYS_sendmmsg, 1, 0),
		RETURN(SECCOMP_RET_ALLOW),
		RETURN(SECCOMP_RET_ERRNO | EPERM),
	};

	add_filter(code, sizeof(code) / sizeof(code[0]));
}

/* ---- Landlock: include/uapi/linux/landlock.h, of a kernel newer than the headers here may be ----
 */

#define LANDLOCK_NET_CONNECT_TCP (1ull << 1)

static void landlock(void)
{
	const uint64_t handled[] = { 0, LANDLOCK_NET_CONNECT_TCP }; /* file system, network */
	long fd = syscall(444, handled, sizeof(handled), 0);	    /* landlock_create_ruleset */

	if (fd < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(446, fd, 0))
		fail("landlock");
	close((int)fd);
}

/* ---- a program on a cgroup ---- */

static int load_code(enum bpf_prog_type type, enum bpf_attach_type attach,
		     const struct bpf_insn *code, uint32_t n)
{
	char log[1024] = "";
	union bpf_attr attr;
	long fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = type;
	attr.expected_attach_type = attach;
	attr.insns = (uintptr_t)code;
	attr.insn_cnt = n;
	attr.license = (uintptr_t) "GPL";
	attr.log_buf = (uintptr_t)log;
	attr.log_size = sizeof(log);
	attr.log_level = 1;
	fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	if (fd < 0)
		fail(log[0] ? log : "loading a program");
	return (int)fd;
}

/* A program that answers the same to everything. */
static int load_program(enum bpf_prog_type type, enum bpf_attach_type attach, int answer)
{
	const struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = answer },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return load_code(type, attach, code, sizeof(code) / sizeof(code[0]));
}

/* The folder of this process's cgroup v2. */
static int open_cgroup(void)
{
	char line[PATH_MAX], mount[PATH_MAX] = "", path[2 * PATH_MAX];
	FILE *f = fopen("/proc/self/mounts", "re");
	int fd;

	while (f && fgets(line, sizeof(line), f) && !mount[0])
		if (strstr(line, " cgroup2 ") && sscanf(line, "%*s %4095s", mount) != 1)
			mount[0] = '\0';
	if (f)
		fclose(f);
	f = fopen("/proc/self/cgroup", "re");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "0::", 3))
			snprintf(path, sizeof(path), "%s%.*s", mount, (int)strcspn(line + 3, "\n"),
				 line + 3);
	if (f)
		fclose(f);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (!mount[0] || fd < 0)
		fail("its cgroup");
	return fd;
}

/* It goes with the cgroup. */
static void deny_at(int cgroup, enum bpf_prog_type type, enum bpf_attach_type attach, int answer)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.target_fd = (uint32_t)cgroup;
	attr.attach_bpf_fd = (uint32_t)load_program(type, attach, answer);
	attr.attach_type = attach;
	attr.attach_flags = BPF_F_ALLOW_MULTI;
	if (syscall(SYS_bpf, BPF_PROG_ATTACH, &attr, sizeof(attr)))
		fail("attaching a program");
}

/* ---- a program on a link ---- */

#define TCX_INGRESS 46 /* enum bpf_attach_type, newer than the headers here may be */
#define TCX_EGRESS 47

/* Drops IPv4 and IPv6; ARP and whatever else a link needs goes on. */
static bool drop_on_link(const char *way)
{
	const struct bpf_insn code[] = {
		{ .code = BPF_LDX | BPF_W | BPF_MEM,
		  .dst_reg = BPF_REG_2,
		  .src_reg = BPF_REG_1,
		  .off = offsetof(struct __sk_buff, protocol) },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 2 }, /* shot */
		{ .code = BPF_JMP | BPF_JEQ | BPF_K,
		  .dst_reg = BPF_REG_2,
		  .off = 2,
		  .imm = htons(0x0800) },
		{ .code = BPF_JMP | BPF_JEQ | BPF_K,
		  .dst_reg = BPF_REG_2,
		  .off = 1,
		  .imm = htons(0x86dd) },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = -1 }, /* next */
		{ .code = BPF_JMP | BPF_EXIT },
	};
	const char *link = strchr(way, '=');
	union bpf_attr attr;

	if (!link || (strncmp(way, "tcx-egress=", 11) && strncmp(way, "tcx-ingress=", 12)))
		return false;
	memset(&attr, 0, sizeof(attr));
	attr.target_fd = if_nametoindex(link + 1);
	attr.attach_bpf_fd = (uint32_t)load_code(BPF_PROG_TYPE_SCHED_CLS, 0, code,
						 sizeof(code) / sizeof(code[0]));
	attr.attach_type = way[4] == 'e' ? TCX_EGRESS : TCX_INGRESS;
	if (!attr.target_fd || syscall(SYS_bpf, BPF_PROG_ATTACH, &attr, sizeof(attr)))
		fail("attaching a program to a link");
	return true;
}

static bool deny(const char *way)
{
	static const struct {
		const char *way;
		enum bpf_prog_type type;
		enum bpf_attach_type attach;
		int answer;
	} ways[] = {
		{ "cg-connect", BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_INET4_CONNECT, 0 },
		{ "cg-connect", BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_INET6_CONNECT, 0 },
		{ "cg-connect4", BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_INET4_CONNECT, 0 },
		{ "cg-sendmsg", BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_UDP4_SENDMSG, 0 },
		{ "cg-sock", BPF_PROG_TYPE_CGROUP_SOCK, BPF_CGROUP_INET_SOCK_CREATE, 0 },
		{ "cg-skb", BPF_PROG_TYPE_CGROUP_SKB, BPF_CGROUP_INET_EGRESS, 0 },
		{ "cg-skb-silent", BPF_PROG_TYPE_CGROUP_SKB, BPF_CGROUP_INET_EGRESS, 2 },
	};
	bool any = false;
	int cgroup = -1;

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (strcmp(ways[i].way, way) != 0)
			continue;
		if (cgroup < 0)
			cgroup = open_cgroup();
		deny_at(cgroup, ways[i].type, ways[i].attach, ways[i].answer);
		any = true;
	}
	if (cgroup >= 0)
		close(cgroup);
	return any;
}

int main(int argc, char **argv)
{
	const char *way = argc > 2 ? argv[1] : "";

	if (!strcmp(way, "seccomp"))
		seccomp_calls();
	else if (!strcmp(way, "seccomp-socket"))
		seccomp_socket();
	else if (!strcmp(way, "landlock"))
		landlock();
	else if (!drop_on_link(way) && !deny(way)) {
		fprintf(stderr, "refuses: no way '%s'\n", way);
		return 126;
	}
	execvp(argv[2], argv + 2);
	fail(argv[2]);
}
