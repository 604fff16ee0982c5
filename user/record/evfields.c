// SPDX-License-Identifier: Apache-2.0
#include "user/record/evfields.h"

#include "user/record/hooks.h"

/* ---- names of enumerators ---- */

#define HOOK_NAME(number, text) [SNT_HOOK_##number] = text,
static const char *const hook_names[SNT_HOOK_MAX] = { [SNT_HOOK_NONE] = "none",
						      RECORD_HOOKS(HOOK_NAME) };

static const char *const arm_names[ARM_MAX] = {
	[ARM_NONE] = "none",	   [ARM_BASELINE_FIRST] = "baseline-first",
	[ARM_ON] = "on",	   [ARM_OFF] = "off",
	[ARM_ON2] = "on2",	   [ARM_BASELINE_LAST] = "baseline-last",
	[ARM_ALLOWED] = "allowed",
};

static const char *const role_names[ROLE_MAX] = {
	[ROLE_TARGET] = "target", [ROLE_ESCAPES] = "escapes", [ROLE_CONTAINS] = "contains",
	[ROLE_NEVER] = "never",	  [ROLE_DEAF] = "deaf",
};

static const char *const channel_names[CHANNEL_MAX] = {
	[CHANNEL_NONE] = "none",       [CHANNEL_TCP] = "tcp",
	[CHANNEL_UDP] = "udp",	       [CHANNEL_DNS_UDP] = "dns-udp",
	[CHANNEL_DNS_TCP] = "dns-tcp", [CHANNEL_RESOLVER] = "resolver",
	[CHANNEL_PROXY] = "proxy",     [CHANNEL_ICMP] = "icmp",
	[CHANNEL_PACKET] = "packet",   [CHANNEL_UNIX] = "unix",
	[CHANNEL_SECRET] = "secret",
};

static const char *const dest_names[DEST_MAX] = {
	[DEST_FAR] = "far-side",
	[DEST_METADATA] = "metadata",
	[DEST_METADATA_ECS] = "metadata-ecs",
	[DEST_METADATA6] = "metadata-ipv6",
	[DEST_METADATA_HOP] = "metadata-hop",
	[DEST_RESOLVER] = "resolver",
	[DEST_LOOPBACK] = "loopback",
	[DEST_SIBLING] = "sibling",
	[DEST_UNIX_PATH] = "unix-path",
	[DEST_UNIX_ABSTRACT] = "unix-abstract",
	[DEST_NONE] = "none",
};

static const char *const owner_names[OWNER_MAX] = {
	[OWNER_UNKNOWN] = "unknown", [OWNER_INTERFACE] = "interface", [OWNER_NETNS] = "netns",
	[OWNER_SLOT] = "slot",	     [OWNER_CGROUP] = "cgroup",	      [OWNER_MARK] = "mark",
	[OWNER_SOCKET] = "socket",
};

static const char *const far_names[FAR_MAX] = { [FAR_ANSWERS] = "answers", [FAR_DEAF] = "deaf" };

#define NAMES(array)                                                                               \
	{                                                                                          \
		.name = (array), .n = ARRAY_SIZE(array)                                            \
	}
const struct field_names evfields_hooks = NAMES(hook_names);
const struct field_names evfields_arms = NAMES(arm_names);
const struct field_names evfields_roles = NAMES(role_names);
const struct field_names evfields_channels = NAMES(channel_names);
static const struct field_names dests = NAMES(dest_names);
static const struct field_names owners = NAMES(owner_names);
static const struct field_names far_sides = NAMES(far_names);

const char *field_name(const struct field_names *names, uint32_t v)
{
	return v < names->n && names->name[v] ? names->name[v] : "unknown";
}

/* ---- rows ----
 * Each macro also checks that the member has the type which the kind reads and writes.
 */
#define MEMBER(f) (((struct ev *)NULL)->f)
#define SIZE_IF(condition, f) (sizeof(MEMBER(f)) + 0 * sizeof(char[(condition) ? 1 : -1]))
#define IS(f, t) __builtin_types_compatible_p(__typeof__(MEMBER(f)), t)
#define ROW(key_, kind_, f, condition, ...)                                                        \
	{                                                                                          \
		.key = (key_), .key_len = sizeof(key_) - 1,                                        \
		.token = ",\"" key_ "\":", .token_len = sizeof(",\"" key_ "\":") - 1,              \
		.first = (key_)[0], .kind = (kind_), .offset = offsetof(struct ev, f),             \
		.size = SIZE_IF(condition, f), __VA_ARGS__                                         \
	}

#define U32(key, f) ROW(key, FIELD_U32, f, IS(f, uint32_t))
#define I32(key, f) ROW(key, FIELD_I32, f, IS(f, int32_t))
#define U64(key, f) ROW(key, FIELD_U64, f, IS(f, uint64_t) || IS(f, __u64))
#define I64(key, f) ROW(key, FIELD_I64, f, IS(f, int64_t))
#define BOOL(key, f) ROW(key, FIELD_BOOL, f, IS(f, bool))
#define ENUM(key, f, names_) ROW(key, FIELD_ENUM, f, sizeof(MEMBER(f)) == 4, .names = &(names_))
#define TEXT(key, f) ROW(key, FIELD_TEXT, f, IS(f, char[]) && sizeof(MEMBER(f)) <= FIELD_TEXT_MAX)
#define HEX(key, f) ROW(key, FIELD_HEX, f, IS(f, uint8_t[]))
#define BYTES(key, f, len)                                                                         \
	ROW(key, FIELD_BYTES, f, IS(f, uint8_t[]) && IS(len, uint32_t),                            \
	    .len_offset = offsetof(struct ev, len))
#define ADDR(key, f) ROW(key, FIELD_ADDR, f, IS(f, uint8_t[16]))

#define TASK(prefix, f)                                                                            \
	U32(prefix ".pid", f.pid), U32(prefix ".thread.id", f.tid),                                \
		U64(prefix ".start_ns", f.start_ns), TEXT(prefix ".name", f.name)
#define NAMESPACES(prefix, f)                                                                      \
	U32(prefix ".mnt", f.mnt), U32(prefix ".net", f.net), U32(prefix ".pid", f.pid),           \
		U32(prefix ".user", f.user), U32(prefix ".uts", f.uts), U32(prefix ".ipc", f.ipc), \
		U32(prefix ".cgroup", f.cgroup)
#define SOCKET(f)                                                                                  \
	U64("socket.cookie", f.cookie), U32("socket.family", f.family),                            \
		U32("socket.type", f.type), U32("socket.protocol", f.protocol)
#define COUNT(number, name)                                                                        \
	U64("total." name ".seen", run_end.total[SNT_HOOK_##number].seen),                         \
		U64("total." name ".delivered", run_end.total[SNT_HOOK_##number].delivered),       \
		U64("total." name ".ring_full", run_end.total[SNT_HOOK_##number].ring_full),       \
		U64("total." name ".oversized", run_end.total[SNT_HOOK_##number].oversized),       \
		U64("total." name ".map_full", run_end.total[SNT_HOOK_##number].map_full),         \
		U64("total." name ".filtered", run_end.total[SNT_HOOK_##number].filtered),         \
		U64("total." name ".recursion", run_end.recursion[SNT_HOOK_##number]),

/* ---- of every record ---- */

static const struct field common[] = {
	U64("id", id),
	U64("t", time_ns),
	ENUM("hook", hook, evfields_hooks),
	U32("slot", slot),
	U32("flags", flags),
	U32("cpu", cpu),
	U64("cpu_seq", cpu_seq),
	U64("cgroup.id", cgroup_id),
	U64("netns.cookie", netns_cookie),
	U64("mark", mark),
	U32("lane", lane),
	U32("trial", trial),
	ENUM("owner", owner, owners),
};

/* ---- from the kernel ---- */

static const struct field exec[] = {
	TASK("process", exec.task),
	TASK("process.parent", exec.parent),
	NAMESPACES("namespace", exec.ns),
	U64("process.executable.inode", exec.exe_ino),
	U32("process.executable.device", exec.exe_dev),
	U64("process.parent.executable.inode", exec.parent_exe_ino),
	U32("process.parent.executable.device", exec.parent_exe_dev),
	U32("user.id", exec.uid),
	U32("group.id", exec.gid),
	U32("process.seccomp", exec.seccomp),
	U32("process.no_new_privs", exec.no_new_privs),
	U64("process.capabilities.effective", exec.cap_effective),
	U64("process.capabilities.permitted", exec.cap_permitted),
	BOOL("session", exec.session),
	HEX("nonce", exec.nonce),
	TEXT("process.command_line", exec.argv),
};

static const struct field forked[] = {
	TASK("process", fork.child),
	TASK("process.parent", fork.parent),
};

static const struct field exited[] = {
	TASK("process", exit.task),
	U32("process.exit_code", exit.code),
};

static const struct field sock[] = {
	TASK("process", sock.task),
	SOCKET(sock),
	BOOL("created", sock.created),
};

static const struct field addr[] = {
	TASK("process", addr.task),	     SOCKET(addr),
	ADDR("destination.ip", addr.daddr),  U32("destination.port", addr.dport),
	TEXT("destination.path", addr.path), U32("retval", addr.retval),
};

static const struct field call[] = {
	TASK("process", call.task),	     U32("syscall.number", call.nr),
	TEXT("syscall.name", call.name),     I32("syscall.fd", call.fd),
	I64("syscall.return", call.ret),     U64("syscall.arg1", call.arg1),
	U64("syscall.arg2", call.arg2),	     U32("socket.family", call.family),
	ADDR("destination.ip", call.daddr),  U32("destination.port", call.dport),
	U32("data.bytes", call.data_len),    BYTES("data.head", call.data, call.data_cap),
	TEXT("destination.path", call.path),
};

static const struct field sent[] = {
	TASK("process", send.task),
	SOCKET(send),
	ADDR("source.ip", send.saddr),
	U32("source.port", send.sport),
	ADDR("destination.ip", send.daddr),
	U32("destination.port", send.dport),
	I32("return", send.ret),
};

static const struct field state[] = {
	TASK("process", state.owner),	      U64("socket.cookie", state.cookie),
	U32("tcp.old_state", state.oldstate), U32("tcp.new_state", state.newstate),
	ADDR("source.ip", state.saddr),	      U32("source.port", state.sport),
	ADDR("destination.ip", state.daddr),  U32("destination.port", state.dport),
};

static const struct field drop[] = {
	TASK("process", drop.owner),
	U64("socket.cookie", drop.cookie),
	U32("drop.reason", drop.reason),
	TEXT("drop.reason_name", drop.reason_name),
	U64("drop.location", drop.location),
	TEXT("drop.location_name", drop.location_name),
	U32("interface.id", drop.ifindex),
	U32("namespace.net", drop.netns),
	U32("packet.protocol", drop.eth_proto),
	U32("packet.bytes", drop.len),
	BYTES("packet.head", drop.head, drop.head_len),
};

static const struct field packet[] = {
	TASK("process", packet.owner),
	U64("socket.cookie", packet.cookie),
	U32("interface.id", packet.ifindex),
	BOOL("outbound", packet.outbound),
	U32("packet.protocol", packet.eth_proto),
	U32("packet.link_bytes", packet.l2_len),
	U32("packet.bytes", packet.len),
	U32("packet.captured", packet.data_len),
	U32("packet.gso_segments", packet.gso_segs),
	U32("packet.gso_size", packet.gso_size),
};

static const struct field opt[] = {
	TASK("process", opt.task),	  U64("socket.cookie", opt.cookie),
	U32("socket.family", opt.family), I32("option.level", opt.level),
	I32("option.name", opt.optname),
};

static const struct field uring[] = {
	TASK("process", uring.task),
	I32("return", uring.res),
	U32("uring.opcode", uring.opcode),
};

static const struct field env[] = {
	TASK("process", env.task),
	U32("process.env_bytes", env.env_bytes),
	BYTES("process.env_vars", env.env, env.env_len),
};

/* ---- from the daemon ---- */

static const struct field run_begin[] = {
	TEXT("run", run_begin.run),
	TEXT("observer.version", run_begin.version),
	TEXT("host.os.kernel", run_begin.kernel),
	U64("realtime_ns", run_begin.realtime_ns),
	U64("boottime_ns", run_begin.boottime_ns),
	HEX("observer.bpf_sha256", run_begin.bpf_digest),
	U32("lanes", run_begin.lanes),
	U32("repeat", run_begin.repeat),
	TEXT("sabotage", run_begin.sabotage),
};

static const struct field target[] = {
	TEXT("target", target.name),
	ENUM("role", target.role, evfields_roles),
	U32("expect", target.expect),
	U32("expect.uid", target.expect_uid),
	U32("expect.no_new_privs", target.expect_nnp),
	U32("expect.seccomp", target.expect_seccomp),
	BOOL("inferred", target.inferred),
	BOOL("has_on2", target.has_on2),
	U32("settle_ms", target.settle_ms),
	U32("steady_ms", target.steady_ms),
	TEXT("version", target.version),
	TEXT("about", target.about),
	HEX("sha256", target.digest),
};

static const struct field program[] = {
	TEXT("target", program.target),
	TEXT("file.path", program.path),
	U64("file.size", program.size),
	HEX("file.hash.sha256", program.digest),
};

static const struct field probe[] = {
	TEXT("probe", probe.name),
	TEXT("threat.technique.id", probe.attack),
	ENUM("channel", probe.channel, evfields_channels),
	ENUM("destination.kind", probe.dest, dests),
	U32("destination.family", probe.family),
	U32("socket.family", probe.socket_family),
	U32("window_ms", probe.window_ms),
	U64("capabilities", probe.caps),
	BOOL("answers", probe.answers),
	BOOL("forbidden", probe.forbidden),
	TEXT("step", probe.step),
	BOOL("planted_env", probe.planted_env),
	BOOL("planted_beside", probe.planted_beside),
	BOOL("builtin", probe.builtin),
};

static const struct field cell[] = {
	TEXT("target", cell.target),	       TEXT("probe", cell.probe),
	BOOL("claimed", cell.claimed),	       BOOL("has_off", cell.has_off),
	BOOL("has_allowed", cell.has_allowed), TEXT("claim.source", cell.source),
	TEXT("claim.quote", cell.quote),
};

static const struct field lane[] = {
	U32("lane.number", lane_made.lane),
	U32("lane.epoch", lane_made.epoch),
	U32("world.interface.id", lane_made.world_ifindex),
	U32("boundary.interface.id", lane_made.boundary_ifindex),
	U32("box.interface.id", lane_made.box_ifindex),
	NAMESPACES("box.namespace", lane_made.box),
	NAMESPACES("host.namespace", lane_made.host),
	NAMESPACES("world.namespace", lane_made.world),
	U64("box.cookie", lane_made.box_cookie),
	U64("host.cookie", lane_made.host_cookie),
	U64("world.cookie", lane_made.world_cookie),
};

static const struct field trial[] = {
	U32("trial.id", trial_new.id),
	TEXT("target", trial_new.target),
	TEXT("probe", trial_new.probe),
	ENUM("arm", trial_new.arm, evfields_arms),
	ENUM("far_side", trial_new.far, far_sides),
	U32("repeat", trial_new.repeat),
	U32("lane.number", trial_new.lane),
	U32("lane.epoch", trial_new.epoch),
	U32("user.id", trial_new.uid),
	BOOL("closed", trial_new.closed),
	HEX("nonce", trial_new.nonce),
	HEX("token", trial_new.token),
	HEX("challenge1", trial_new.challenge1),
	HEX("challenge2", trial_new.challenge2),
	ENUM("destination.kind", trial_new.dest, dests),
	ADDR("destination.ip", trial_new.daddr),
	U32("destination.port", trial_new.dport),
	TEXT("destination.path", trial_new.path),
	U64("capabilities", trial_new.caps),
	U32("wait_ms", trial_new.wait_ms),
	U64("trial.cgroup.id", trial_new.cgroup_id),
	NAMESPACES("outside.namespace", trial_new.outside),
};

static const struct field arm_begin[] = {
	U32("trial.id", arm_begin.trial),
	U32("process.pid", arm_begin.pid),
};

static const struct field arm_end[] = {
	U32("trial.id", arm_end.trial),
	I32("status", arm_end.status),
	BOOL("killed", arm_end.killed),
	TEXT("detail", arm_end.detail),
};

static const struct field answer[] = {
	U32("trial.id", answer.trial),
	U32("which", answer.which),
	HEX("instance", answer.instance),
	HEX("mac", answer.mac),
};

static const struct field proof[] = {
	U32("trial.id", proof.trial),
	HEX("instance", proof.instance),
	HEX("mac", proof.mac),
	BOOL("has_answer", proof.has_answer),
	HEX("answer", proof.answer),
	TEXT("probe_view", proof.view),
	BOOL("has_secret", proof.has_secret),
	HEX("secret", proof.secret),
	BOOL("has_twin", proof.has_twin),
	HEX("twin", proof.twin),
};

static const struct field received[] = {
	U32("lane.number", received.lane),
	U32("lane.epoch", received.epoch),
	U32("network.iana_number", received.protocol),
	ADDR("source.ip", received.saddr),
	U32("source.port", received.sport),
	ADDR("destination.ip", received.daddr),
	U32("destination.port", received.dport),
	TEXT("destination.path", received.path),
	BOOL("forbidden", received.forbidden),
	BOOL("answered", received.answered),
	BYTES("data", received.data, received.data_len),
};

static const struct field attach[] = {
	ENUM("attach.hook", attach.hook, evfields_hooks),
	U32("lane.number", attach.lane),
	U32("lane.epoch", attach.epoch),
	BOOL("attached", attach.attached),
	BOOL("needed", attach.needed),
	BOOL("final", attach.final),
	TEXT("detail", attach.detail),
};

static const struct field canary[] = {
	U32("lane.number", canary.lane),
	U32("lane.epoch", canary.epoch),
	ENUM("canary.hook", canary.hook, evfields_hooks),
	U32("trial.id", canary.trial),
	HEX("token", canary.token),
};

static const struct field decoy[] = {
	U32("lane.number", decoy.lane), U32("lane.epoch", decoy.epoch),
	U32("trial.id", decoy.trial),	BOOL("one_bit", decoy.one_bit),
	HEX("token", decoy.token),
};

static const struct field loss[] = {
	ENUM("loss.hook", loss.hook, evfields_hooks),
	U32("loss.slot", loss.slot),
	U64("from_ns", loss.from_ns),
	U64("ring_full", loss.ring_full),
	U64("oversized", loss.oversized),
	U64("map_full", loss.map_full),
	U64("recursion", loss.recursion),
};

static const struct field gap[] = {
	TEXT("stage", gap.stage),
	U64("count", gap.count),
	U64("from_ns", gap.from_ns),
};

static const struct field run_end[] = { BOOL("aborted", run_end.aborted), HEX("key", run_end.key),
					U64("realtime_ns", run_end.realtime_ns),
					U64("boottime_ns", run_end.boottime_ns),
					COUNT(NONE, "none") RECORD_HOOKS(COUNT) };

static const struct field seal[] = {
	U64("offset", seal.offset),
	HEX("sha256", seal.sha256),
};

#define FIELDS(name, array)                                                                        \
	{                                                                                          \
		.type = (name), .fields = (array), .n = ARRAY_SIZE(array)                          \
	}

const struct field_table evfields_common = FIELDS(NULL, common);

const struct field_table evfields_of[EV_TYPE_MAX] = {
	[EV_EXEC] = FIELDS("exec", exec),
	[EV_FORK] = FIELDS("fork", forked),
	[EV_EXIT] = FIELDS("exit", exited),
	[EV_SOCK] = FIELDS("socket", sock),
	[EV_ADDR] = FIELDS("address", addr),
	[EV_CALL] = FIELDS("call", call),
	[EV_SEND] = FIELDS("send", sent),
	[EV_STATE] = FIELDS("state", state),
	[EV_DROP] = FIELDS("drop", drop),
	[EV_PACKET] = FIELDS("packet", packet),
	[EV_OPT] = FIELDS("option", opt),
	[EV_URING] = FIELDS("uring", uring),
	[EV_ENV] = FIELDS("environment", env),
	[EV_RUN_BEGIN] = FIELDS("run.begin", run_begin),
	[EV_TARGET] = FIELDS("target", target),
	[EV_PROBE] = FIELDS("probe", probe),
	[EV_CELL] = FIELDS("cell", cell),
	[EV_LANE] = FIELDS("lane", lane),
	[EV_TRIAL] = FIELDS("trial", trial),
	[EV_ARM_BEGIN] = FIELDS("arm.begin", arm_begin),
	[EV_ARM_END] = FIELDS("arm.end", arm_end),
	[EV_ANSWER] = FIELDS("answer", answer),
	[EV_PROOF] = FIELDS("proof", proof),
	[EV_RECEIVED] = FIELDS("received", received),
	[EV_ATTACH] = FIELDS("attach", attach),
	[EV_CANARY] = FIELDS("canary", canary),
	[EV_DECOY] = FIELDS("decoy", decoy),
	[EV_LOSS] = FIELDS("loss", loss),
	[EV_RUN_END] = FIELDS("run.end", run_end),
	[EV_SEAL] = FIELDS("seal", seal),
	[EV_GAP] = FIELDS("gap", gap),
	[EV_PROGRAM] = FIELDS("program", program),
};

_Static_assert(ARRAY_SIZE(common) + ARRAY_SIZE(run_end) <= FIELDS_MAX, "FIELDS_MAX");
_Static_assert(sizeof(struct ev) <= UINT16_MAX, "offsets are 16 bits");
