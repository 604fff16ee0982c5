/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A probe is a manifest (data: what it is, what counts as its attempt, how it is answered) and one
 * function that makes the attempt. It never decides anything.
 *
 * The manifests are code-free, so that the daemon and the client link manifest.c alone; the
 * functions live in one file each and exist only in the sentinel-probe program.
 */
#ifndef SENTINEL_PROBE_H
#define SENTINEL_PROBE_H

#include "user/base/mac.h"
#include "user/base/util.h"
#include "user/decode/ev.h"

#define PROBE_FAMILIES_MAX 4

/* Where a token travels in a name, it is TOKEN.PROBE.ZONE; the far side answers with the digits of
 * its proof as a TXT record. As text: mac.h. */
#define PROBE_ZONE "sentinel.test"

struct probe_manifest {
	struct ev_probe p;
	const char *families[PROBE_FAMILIES_MAX]; /* "@tcp", ...; NULL after the last */
	uint32_t port;	   /* of the far side, unless the caller says another */
	const char *about; /* one line for people */
	/* A user's: what the session starts in place of a function (own_words.h), the program that
	 * is its session, and what a sandbox must show for both; NULL: ours */
	char *const *own;
	const char *session_exe, *bind;
};

/* All built-in manifests, in the order in which they are listed and run. Static data. */
const struct probe_manifest *probe_manifests(size_t *ret_n);

/* By id; NULL where there is none of that name. */
const struct probe_manifest *probe_manifest_find(const char *name);

/* Whether "@family" is one of ours. A user's probe can have others. */
bool probe_family_known(const char *family);

/* Whether a target's "@family" names this probe. */
bool probe_has_family(const struct probe_manifest *m, const char *family);

/* ---- what a probe's function gets and gives; used inside sentinel-probe only ---- */

struct probe_attempt {
	const struct probe_manifest *manifest;
	uint8_t to[16]; /* IPv4 as v4-mapped */
	uint16_t port;
	const char *path; /* AF_UNIX; '@' for an abstract name's leading NUL */
	/* Who is asked for, where the probe asks for a name: the domain of a RESOLVER's question,
	 * the host of a PROXY's request. "": what they ask for by themselves. */
	const char *name;
	/* Of a secret: the launcher's home, and where the twin is (a path, or the twin itself); "":
	 * unknown. nonce: which planted texts are this trial's (user/base/planted.h). */
	const char *home, *twin;
	const uint8_t *nonce;
	uint64_t deadline_ns;		     /* CLOCK_MONOTONIC: no call is waited for beyond it */
	char token[2 * MAC_NONCE_BYTES + 1]; /* lower-case hexadecimal */
};

/*
 * The probe's own view. "answered", "sent" (it left this process, no answer came), "timeout" (no
 * connection in time), or the errno name of the first call that failed. What came instead of an
 * answer: "rcode-N" and "no-data" from a DNS server; "status-N", "not-http" and "not-tls" from a
 * web server. No attempt: "proxy-scheme", "proxy-no-url", "proxy-unknown-host" (what the
 * environment names as proxy is of another kind, no URL, or nobody knows its address).
 */
struct probe_outcome {
	char view[EV_NAME_MAX];
	bool has_answer, has_secret, has_twin;
	uint8_t answer[MAC_BYTES];
	uint8_t secret[MAC_NONCE_BYTES], twin[MAC_NONCE_BYTES]; /* as planted */
};

typedef void (*probe_fn)(const struct probe_attempt *a, struct probe_outcome *ret);

void probe_tcp_connect(const struct probe_attempt *a, struct probe_outcome *ret);
void probe_udp_send(const struct probe_attempt *a, struct probe_outcome *ret);
void probe_udp_sendmsg(const struct probe_attempt *a, struct probe_outcome *ret);
void probe_udp_sendmmsg(const struct probe_attempt *a, struct probe_outcome *ret);
void probe_udp_write(const struct probe_attempt *a, struct probe_outcome *ret);
void probe_http_post_direct(const struct probe_attempt *a, struct probe_outcome *ret);
void probe_http_post_proxy(const struct probe_attempt *a, struct probe_outcome *ret);
void probe_https_post(const struct probe_attempt *a, struct probe_outcome *ret);
void probe_metadata_imds_v1(const struct probe_attempt *a, struct probe_outcome *ret);
void probe_metadata_imds_v2(const struct probe_attempt *a, struct probe_outcome *ret);
void probe_metadata_gcp(const struct probe_attempt *a, struct probe_outcome *ret);
void probe_metadata_azure(const struct probe_attempt *a, struct probe_outcome *ret);
void probe_metadata_ecs(const struct probe_attempt *a, struct probe_outcome *ret);
void probe_dns_udp_direct(const struct probe_attempt *a, struct probe_outcome *ret);
void probe_dns_tcp_direct(const struct probe_attempt *a, struct probe_outcome *ret);
void probe_tcp_fastopen(const struct probe_attempt *a, struct probe_outcome *ret);
void probe_unix_connect(const struct probe_attempt *a, struct probe_outcome *ret);
void probe_env_credential(const struct probe_attempt *a, struct probe_outcome *ret);
void probe_file_credential(const struct probe_attempt *a, struct probe_outcome *ret);
void probe_proc_environ(const struct probe_attempt *a, struct probe_outcome *ret);
void probe_io_uring_connect(const struct probe_attempt *a, struct probe_outcome *ret);
void probe_dns_resolver(const struct probe_attempt *a, struct probe_outcome *ret);
void probe_icmp_echo(const struct probe_attempt *a, struct probe_outcome *ret);
void probe_packet_socket(const struct probe_attempt *a, struct probe_outcome *ret);

#endif
