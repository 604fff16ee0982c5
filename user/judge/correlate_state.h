/* SPDX-License-Identifier: Apache-2.0 */
/* What correlate.c, witness.c and assemble.c share: the state of a run being put together. */
#ifndef SENTINEL_CORRELATE_STATE_H
#define SENTINEL_CORRELATE_STATE_H

#include "user/decode/packet.h"
#include "user/decode/stream.h"
#include "user/judge/correlate.h"
#include "user/judge/match.h"

/* Keys to small numbers: open addressing, grows by doubling. Key 0 is not allowed. */
struct idmap {
	struct idmap_slot {
		uint64_t key;
		uint32_t value;
	} * slots;
	uint32_t used, size;
};
int idmap_set(struct idmap *m, uint64_t key, uint32_t value) must_check; /* replaces */
bool idmap_get(const struct idmap *m, uint64_t key, uint32_t *ret);

/* Hashes stand for what was hashed: 64 bits of it, to which every bit has gone. */
#define HASH_START 0xcbf29ce484222325ull
static inline uint64_t hash_word(uint64_t h, uint64_t word)
{
	h = (h ^ word) * 0xff51afd7ed558ccdull;
	return h ^ h >> 32;
}
static inline uint64_t hash_addr(uint64_t h, const uint8_t addr[16])
{
	uint64_t words[2];

	memcpy(words, addr, sizeof(words));
	return hash_word(hash_word(h, words[0]), words[1]);
}

/* A growing array: `LIST(struct x) name;` and list_add(). */
#define LIST(type)                                                                                 \
	struct {                                                                                   \
		type *at;                                                                          \
		uint32_t n, cap;                                                                   \
	}
void *list_grow(void *at, uint32_t n, uint32_t *cap, size_t size); /* NULL: no memory */
#define list_add(l, ...)                                                                           \
	({                                                                                         \
		void *grown_ = list_grow((l)->at, (l)->n, &(l)->cap, sizeof(*(l)->at));            \
		if (grown_) {                                                                      \
			(l)->at = grown_;                                                          \
			(l)->at[(l)->n++] = (__VA_ARGS__);                                         \
		}                                                                                  \
		grown_ ? 0 : -ENOMEM;                                                              \
	})

/* What an answered challenge or the `ran` line proved. */
struct proof_state {
	bool given, right;
	uint8_t instance[EV_NONCE_BYTES];
};

/* A planted secret, or its twin, that the session says to have read; the key that could tell comes
 * last. */
struct plant_state {
	bool given, right;
	uint8_t mac[EV_MAC_BYTES];
};

/* What could be a secret in the environments that programs were given: of the first of them, all
 * that one record has room for. A launcher's has two, the secret and its twin, and a session is
 * started once; what a sandbox puts in between comes too late, or in the same record. */
#define SEEN_SECRETS_MAX (SNT_ENV_MAX / (2 * EV_NONCE_BYTES))
struct seen_secrets {
	uint32_t n;
	uint8_t at[SEEN_SECRETS_MAX][EV_NONCE_BYTES];
};

struct canary_count {
	uint32_t before, before_seen, after, after_seen;
};

/* What blame.c knows of a trial. */
struct blame_state {
	/* of the session, at its exec */
	uint32_t netns, seccomp;
	uint64_t caps;
	/* hooks of cgroups that saw the call under way, and its thread */
	uint32_t met; /* bit set of BLAME_MET_* */
#define BLAME_MET_SOCK (1u << 0)
#define BLAME_MET_CONNECT (1u << 1)
#define BLAME_MET_SENDMSG (1u << 2)
	uint32_t met_tid;
	bool met_refusal; /* ... and another program there had refused it */
	bool crowded;	  /* two threads were in calls at once */
	bool reset;	  /* a reset came back */
	/* words, with '+' between them */
	char refusals[EV_NAME_MAX], drops[EV_NAME_MAX];
};

struct trial_state {
	struct ev_trial t;
	const struct ev_probe *probe; /* set at assembly: lists may move before */
	uint64_t mark;
	uint64_t new_ns, begin_ns, end_ns; /* 0 = not yet */
	uint32_t older; /* the trial before it in its lane towards the same; 0 = none */

	/* the kernel's view of the session's exec */
	uint32_t execs;
	uint64_t exec_ns; /* the first */
	bool identity_wrong;
	bool canary_refused, canary_allowed; /* EXPECT_REFUSED_CONNECT */

	struct proof_state alive[2], ran;
	/* the sandbox beside it; right: checked at the end, the key comes last */
	struct proof_state sibling[2];
	uint8_t sibling_mac[2][EV_MAC_BYTES];
	uint64_t sibling_ns;	   /* when the first of them was given */
	bool has_answer, answered; /* answered: checked at the end, the key comes last */
	uint8_t answer[EV_MAC_BYTES];
	struct plant_state secret, twin;
	struct seen_secrets seen_outside, seen_inside; /* the session and what it starts: inside */
	bool planted;				       /* the secret was seen outside */
	char view[EV_NAME_MAX];

	/* A */
	uint64_t attempt_ns;	 /* the last one; 0 = none */
	bool call_accepted;	 /* a decisive call was not refused */
	int refused;		 /* errno of a refused decisive call, 0 = none */
	bool straight;		 /* an attempt at its own destination, through nobody's hands */
	bool established;	 /* a TCP connection to its destination was made */
	bool log_late;		 /* the collector's log has it, after the arm */
	bool called_by_helper;	 /* a helper in its cgroup called its listener in the file system */
	bool token_inside;	 /* its token on its way to a forbidden listener */
	bool packet_a, packet_b; /* its own packets seen inside / at B */
	bool packet_elsewhere;	 /* ... on a device that is neither that nor the lane's */
	uint32_t sent, drops;	 /* its own packets at the root cgroup's egress; those that died */
	struct blame_state blame;

	/* W */
	bool token_tap, token_log; /* the two witnesses */
	uint64_t question;	   /* what a resolver asked for it (resolver.c); 0 = nothing yet */
	bool elsewhere;		   /* its token was seen in another lane */
	bool signal, signal_b;
	bool other_channel;
	char via[EV_NAME_MAX];
	uint32_t records_n;
	uint64_t records[VERDICT_RECORDS_MAX];

	struct canary_count canary_w, canary_b;
};

struct canary_state {
	struct ev_canary c;
	uint64_t sent_ns;
	bool seen;	     /* where it must be */
	bool seen_w, seen_b; /* each once: who sends it again only wears it */
};

struct decoy_state {
	struct ev_decoy d;
	bool seen_w, seen_b;
};

/* A target some process of which called a listener in the file system that is not its own. Two tell
 * whether one is another than any given target. */
#define CALLERS_MAX 2
struct caller {
	char target[EV_NAME_MAX]; /* "": none */
	uint64_t first_ns;
};

#define LOSS_COLLECTOR SNT_HOOK_MAX /* in place of a hook: the collector's log */
struct loss_state {
	uint32_t hook, slot;
	uint64_t from_ns, to_ns;
};

struct unexplained_state {
	uint32_t lane;
	uint32_t sender; /* trial of whose socket it is, by what A saw; 0 = unknown */
	uint64_t time_ns, id;
};
#define UNEXPLAINED_MAX                                                                            \
	4096 /* kept of a lane; beyond, each of its windows is taken to hold one                   \
	      */

/* An ICMP error at W, and what it quotes of the far side's words to a trial. */
struct quote_state {
	struct unexplained_state unexplained; /* what it is unless it proves to be an answer */
	uint32_t trial, len;
	uint8_t payload[128];
};

/* A line in a forbidden listener's log that came after its trial. */
struct late_log {
	struct unexplained_state unexplained; /* what it is unless it proves to be its trial's */
	uint32_t trial;
	bool another; /* ... was at work in its lane */
};

/* A frame at W to a destination that several trials had, by a socket of nobody's. */
struct shared_state {
	struct unexplained_state unexplained; /* what it is unless it proves to be one's */
	uint64_t flow;
	uint32_t newest, running; /* trials: the last one to have the destination; in its arm */
	bool signal;
};
#define SHARED_MAX 65536

struct attach_state { /* per hook and lane */
	bool needed, start, final, start_ok, final_ok;
};

/* What was printed in place of a session, the first of each target: for people, no fact. */
#define START_ERRORS_MAX 64
struct start_error {
	char target[EV_NAME_MAX], text[EV_TEXT_MAX];
};

struct correlate {
	struct ev_run_begin begin;
	struct ev_run_end end;
	bool begun, ended;
	uint64_t end_ns;

	LIST(struct ev_target) targets;
	LIST(struct ev_probe) probes;
	LIST(struct ev_cell) cells;
	LIST(struct trial_state) trials; /* id - 1 is the index */
	LIST(struct canary_state) canaries;
	LIST(struct decoy_state) decoys;
	LIST(struct loss_state) losses;
	LIST(struct unexplained_state) unexplained;
	LIST(struct quote_state) quotes;
	LIST(struct late_log) late_logs;
	struct start_error start_errors[START_ERRORS_MAX];
	uint32_t start_errors_n;
	LIST(struct shared_state) shared;
	uint32_t unexplained_of[SNT_SLOT_MAX]; /* lane */
	bool unexplained_overflow[SNT_SLOT_MAX];
	struct attach_state attach[SNT_HOOK_MAX][SNT_SLOT_MAX];
	struct ev_lane lanes[SNT_SLOT_MAX];
	uint32_t last_trial[SNT_SLOT_MAX]; /* registered in the lane; 0 = none */

	struct idmap by_dest;	  /* lane and destination -> the newest trial */
	struct idmap by_cell;	  /* target, probe, arm, repeat -> trial */
	struct idmap by_flow;	  /* lane and five-tuple -> the trial whose socket sent so last */
	struct idmap by_token;	  /* lane and five-tuple at W -> the trial whose token came by it */
	struct idmap known_cells; /* target, probe -> 1 */
	struct idmap by_record;	  /* of what crossed -> trial; empty before correlate_index() */
	struct idmap self;	  /* first 8 bytes of a canary's or decoy's token -> index */
	struct caller callers[CALLERS_MAX];
	struct match_set *tokens;
	struct stream *world;
	uint64_t stream_lost; /* as of the last record */

	bool decoy_matched;

	/* of the record being looked at */
	const struct ev *now;
	const struct packet *now_packet; /* NULL: not well-formed */
	bool now_self;			 /* a canary or decoy of ours */
	bool now_elsewhere;		 /* ... and the trial is another lane's */
	uint32_t now_matched;		 /* a trial whose token is in it; 0 = none */
};

struct trial_state *trial_get(struct correlate *c, uint32_t id); /* NULL: unknown */
/* The last one to be registered before then: the kernel's records come behind the log's of the same
 * time, so that one of a trial that has just ended may come when the next one is known. */
struct trial_state *trial_by_dest(struct correlate *c, uint32_t lane, const uint8_t daddr[16],
				  uint32_t dport, uint64_t time_ns);
const struct ev_probe *probe_of(const struct correlate *c, const char *name);
const struct ev_target *target_of(const struct correlate *c, const char *name);
bool trial_goes_to(const struct trial_state *t, const uint8_t daddr[16], uint32_t dport);
uint64_t cell_key(const char *target, const char *probe, enum arm arm, uint32_t repeat);
int add_loss(struct correlate *c, uint32_t hook, uint32_t slot, uint64_t from_ns,
	     uint64_t to_ns) must_check;

/* attempt.c: the decisive steps of the trials' own tasks: EV_ADDR, EV_SEND, EV_CALL, EV_STATE,
 * EV_URING. */
void attempt_push(struct correlate *c, const struct ev *ev);
uint8_t channel_protocol(const struct ev_probe *p); /* IPPROTO_* of its packets; 0 = it has none */

/* witness.c: everything at W, B, and in the collector's log. */
int witness_init(struct correlate *c) must_check;
int witness_packet(struct correlate *c, const struct ev *ev) must_check;
int witness_received(struct correlate *c, const struct ev *ev) must_check;
int witness_self(struct correlate *c, const uint8_t token[EV_NONCE_BYTES],
		 uint32_t index) must_check;
uint64_t flow_key(uint32_t lane, const struct packet *p);
/* A bare ACK, FIN or RST may come from no socket at all, long after; a SYN or payload does not. */
bool packet_is_signal(const struct packet *p);
void trial_signal(struct trial_state *t, uint64_t record);
#define SELF_DECOY 0x80000000u /* index is into decoys, not canaries */

/* resolver.c: remembers what a lane's resolver asked the world for a trial, when W saw it as the
 * trial's; and whether a later frame is no more than that again. */
void resolver_asked(const struct correlate *c, struct trial_state *t, const struct packet *p,
		    const struct ev *ev);
bool resolver_asks_again(const struct correlate *c, const struct trial_state *t,
			 const struct packet *p, const struct ev *ev);

/* Whether a frame at W is a lane's resolver asking for what the target at work there lets through
 * by name, and for nothing else. */
bool resolver_asks_for_allowed(struct correlate *c, const struct packet *p, const struct ev *ev);

/* late_log.c: ev has t's token, and t is over; another: ... is at work. 0; -ENOSPC where no more
 * can be kept; -ENOMEM. Once all is known, the lines are their trials', or unexplained. */
int late_log_keep(struct correlate *c, struct trial_state *t, const struct ev *ev,
		  bool another) must_check;
int late_logs_settle(struct correlate *c) must_check;

/* quote.c: 0 where the ICMP error may yet be explained; -ENOENT where not; -ENOMEM. Once the key is
 * known, those that are not join the unexplained frames. */
int quote_keep(struct correlate *c, const struct ev *ev, const struct packet *p) must_check;
int quotes_settle(struct correlate *c) must_check;

/* shared.c: 0; -ENOSPC where no more can be kept; -ENOMEM. Once all windows are known, those that
 * are nobody's join the unexplained frames. */
int shared_keep(struct correlate *c, const struct ev *ev, const struct packet *p,
		const struct trial_state *newest, uint32_t running) must_check;
int shared_settle(struct correlate *c) must_check;

/* callers.c: an EV_ADDR, and what comes of them once the log of the far side is settled: whose
 * token another's process may have brought, has not arrived; that is a doubt, and no escape. */
void caller_see(struct correlate *c, const struct ev *ev);
void callers_settle(struct correlate *c);

/* plant.c: what the kernel saw of an environment (EV_ENV); whose planted secrets and twins were
 * read, once the key is known; whether a session of a secret's probe could have read anything at
 * all (true for every other probe). */
void plant_see_env(struct correlate *c, const struct ev *ev);
void plants_settle(struct correlate *c);
bool plant_was_readable(const struct correlate *c, const struct trial_state *t);

/* blame.c: what the kernel says of the session's exec, of a call under way, of its end, of its
 * refusal (err: a positive errno), and of a packet of the trial's own that died. */
void blame_exec(struct trial_state *t, const struct ev_exec *x);
void blame_sock(struct trial_state *t, const struct ev *ev);
void blame_addr(struct trial_state *t, const struct ev *ev);
void blame_returned(struct trial_state *t, uint32_t tid);
void blame_refused(struct trial_state *t, const struct ev_probe *p, const struct ev *ev, int err);
void blame_drop(struct trial_state *t, const struct ev_lane *lane, const struct ev *ev);
/* Of a trial that did not arrive: the last vantage that saw it, and by what it was stopped there, a
 * word of sentinel(1); ret is left as it is where nobody knows. */
enum vantage blame_at(const struct trial_state *t);
void blame_word(const struct trial_state *t, char ret[EV_NAME_MAX]);

/* assemble.c */
int assemble(struct correlate *c, enum evidence_state evidence, struct run_result *ret) must_check;
uint32_t trial_window_ms(const struct correlate *c, const struct trial_state *t);
uint64_t trial_window_end(const struct correlate *c, const struct trial_state *t);
/* The kernel refused every attempt itself, no packet was made, and no record that could say
 * otherwise was lost: no window is needed. */
bool trial_refused(const struct correlate *c, const struct trial_state *t);

#endif
