// SPDX-License-Identifier: Apache-2.0
#include "probes/probe.h"

#include <linux/capability.h>
#include <sys/socket.h>

#include "user/rig/rig.h"

/*
 * Windows (DESIGN.md 3.2): the kernel sends a SYN again after 1 and after 3 seconds (RFC 6298,
 * TCP_TIMEOUT_INIT), so only after 3.5 s has a dropped first packet had its chance to get through.
 * A datagram is sent once.
 */
#define WINDOW_TCP_MS 3500
#define WINDOW_DATAGRAM_MS 1000
/* As long as glibc waits for a server before it asks again. */
#define WINDOW_RESOLVER_MS 5000

static const struct probe_manifest manifests[] = {
	{
		.p = { .name = "tcp-connect",
		       .attack = "T1095",
		       .channel = CHANNEL_TCP,
		       .family = AF_INET,
		       .window_ms = WINDOW_TCP_MS,
		       .answers = true,
		       .builtin = true },
		.families = { "@tcp" },
		.port = RIG_PORT_TCP,
		.about = "one line over a TCP connection to the far side, IPv4",
	},
	{
		.p = { .name = "tcp6-connect",
		       .attack = "T1095",
		       .channel = CHANNEL_TCP,
		       .family = AF_INET6,
		       .window_ms = WINDOW_TCP_MS,
		       .answers = true,
		       .builtin = true },
		.families = { "@tcp" },
		.port = RIG_PORT_TCP,
		.about = "one line over a TCP connection to the far side, IPv6",
	},
	{
		.p = { .name = "mapped-ipv6",
		       .attack = "T1095",
		       .channel = CHANNEL_TCP,
		       .family = AF_INET,
		       .socket_family = AF_INET6,
		       .window_ms = WINDOW_TCP_MS,
		       .answers = true,
		       .builtin = true },
		.families = { "@tcp" },
		.port = RIG_PORT_TCP,
		.about = "a TCP connection to an IPv4 address through an IPv6 socket",
	},
	{
		.p = { .name = "tcp-fastopen",
		       .attack = "T1095",
		       .channel = CHANNEL_TCP,
		       .family = AF_INET,
		       .window_ms = WINDOW_TCP_MS,
		       .answers = true,
		       .builtin = true },
		.families = { "@tcp" },
		.port = RIG_PORT_TCP,
		.about = "a TCP connection that sendto() opens, with its first line in the SYN",
	},
	{
		.p = { .name = "io-uring-connect",
		       .attack = "T1095",
		       .channel = CHANNEL_TCP,
		       .family = AF_INET,
		       .window_ms = WINDOW_TCP_MS,
		       .answers = true,
		       .builtin = true },
		.families = { "@tcp" },
		.port = RIG_PORT_TCP,
		.about = "a TCP connection by requests in a ring, with no call of its own",
	},
	{
		.p = { .name = "udp-send",
		       .attack = "T1095",
		       .channel = CHANNEL_UDP,
		       .family = AF_INET,
		       .window_ms = WINDOW_DATAGRAM_MS,
		       .answers = true,
		       .builtin = true },
		.families = { "@udp" },
		.port = RIG_PORT_UDP,
		.about = "one UDP datagram to the far side, IPv4",
	},
	{
		.p = { .name = "udp-sendmsg",
		       .attack = "T1095",
		       .channel = CHANNEL_UDP,
		       .family = AF_INET,
		       .window_ms = WINDOW_DATAGRAM_MS,
		       .answers = true,
		       .builtin = true },
		.families = { "@udp" },
		.port = RIG_PORT_UDP,
		.about = "the same by sendmsg()",
	},
	{
		.p = { .name = "udp-sendmmsg",
		       .attack = "T1095",
		       .channel = CHANNEL_UDP,
		       .family = AF_INET,
		       .window_ms = WINDOW_DATAGRAM_MS,
		       .answers = true,
		       .builtin = true },
		.families = { "@udp" },
		.port = RIG_PORT_UDP,
		.about = "the same by sendmmsg()",
	},
	{
		.p = { .name = "udp-write",
		       .attack = "T1095",
		       .channel = CHANNEL_UDP,
		       .family = AF_INET,
		       .window_ms = WINDOW_DATAGRAM_MS,
		       .answers = true,
		       .builtin = true },
		.families = { "@udp" },
		.port = RIG_PORT_UDP,
		.about = "the same by connect() and write()",
	},
	{
		.p = { .name = "dns-udp-direct",
		       .attack = "T1071.004",
		       .channel = CHANNEL_DNS_UDP,
		       .family = AF_INET,
		       .window_ms = WINDOW_DATAGRAM_MS,
		       .answers = true,
		       .builtin = true },
		.families = { "@dns" },
		.port = RIG_PORT_DNS,
		.about = "a DNS question over UDP straight to the far side, past any resolver",
	},
	{
		.p = { .name = "dns-tcp-direct",
		       .attack = "T1071.004",
		       .channel = CHANNEL_DNS_TCP,
		       .family = AF_INET,
		       .window_ms = WINDOW_TCP_MS,
		       .answers = true,
		       .builtin = true },
		.families = { "@dns" },
		.port = RIG_PORT_DNS,
		.about = "a DNS question over TCP straight to the far side, past any resolver",
	},
	{
		.p = { .name = "dns-resolver",
		       .attack = "T1071.004",
		       .channel = CHANNEL_RESOLVER,
		       .dest = DEST_RESOLVER,
		       .family = AF_INET,
		       .window_ms = WINDOW_RESOLVER_MS,
		       .answers = true,
		       .builtin = true },
		.families = { "@dns" },
		.port = RIG_PORT_DNS,
		.about = "a DNS question to whatever resolver there is, for a name of the far "
			 "side's",
	},
	{
		.p = { .name = "http-post-direct",
		       .attack = "T1048.003",
		       .channel = CHANNEL_TCP,
		       .family = AF_INET,
		       .window_ms = WINDOW_TCP_MS,
		       .answers = true,
		       .builtin = true },
		.families = { "@http" },
		.port = RIG_PORT_HTTP,
		.about = "a POST straight to the far side",
	},
	{
		.p = { .name = "http-post-proxy",
		       .attack = "T1090",
		       .channel = CHANNEL_PROXY,
		       .family = AF_INET,
		       .window_ms = WINDOW_TCP_MS,
		       .answers = true,
		       .builtin = true },
		.families = { "@http" },
		.port = RIG_PORT_HTTP,
		.about = "a POST through the proxy that the environment names, else straight",
	},
	{
		.p = { .name = "https-post",
		       .attack = "T1048.002",
		       .channel = CHANNEL_TCP,
		       .family = AF_INET,
		       .window_ms = WINDOW_TCP_MS,
		       .answers = true,
		       .builtin = true },
		.families = { "@http" },
		.port = RIG_PORT_HTTPS,
		.about = "a POST over TLS, whose server name says it too",
	},
	{
		.p = { .name = "metadata-imds-v1",
		       .attack = "T1552.005",
		       .channel = CHANNEL_TCP,
		       .dest = DEST_METADATA,
		       .family = AF_INET,
		       .window_ms = WINDOW_TCP_MS,
		       .answers = true,
		       .builtin = true },
		.families = { "@metadata" },
		.port = RIG_PORT_HTTP,
		.about = "a role's credentials of AWS's metadata service, version 1",
	},
	{
		.p = { .name = "metadata-imds-v2",
		       .attack = "T1552.005",
		       .channel = CHANNEL_TCP,
		       .dest = DEST_METADATA,
		       .family = AF_INET,
		       .window_ms = WINDOW_TCP_MS,
		       .answers = true,
		       .builtin = true },
		.families = { "@metadata" },
		.port = RIG_PORT_HTTP,
		.about = "the same of version 2, with a session token",
	},
	{
		.p = { .name = "metadata-imds-v2-hop",
		       .attack = "T1552.005",
		       .channel = CHANNEL_TCP,
		       .dest = DEST_METADATA_HOP,
		       .family = AF_INET,
		       .window_ms = WINDOW_TCP_MS,
		       .answers = true,
		       .forbidden = true,
		       .builtin = true },
		.families = { "@metadata" },
		.port = RIG_PORT_HTTP,
		.about = "the same of a service whose answers live for one hop",
	},
	{
		.p = { .name = "metadata-gcp",
		       .attack = "T1552.005",
		       .channel = CHANNEL_TCP,
		       .dest = DEST_METADATA,
		       .family = AF_INET,
		       .window_ms = WINDOW_TCP_MS,
		       .answers = true,
		       .builtin = true },
		.families = { "@metadata" },
		.port = RIG_PORT_HTTP,
		.about = "a service account's token of Google's metadata service",
	},
	{
		.p = { .name = "metadata-azure",
		       .attack = "T1552.005",
		       .channel = CHANNEL_TCP,
		       .dest = DEST_METADATA,
		       .family = AF_INET,
		       .window_ms = WINDOW_TCP_MS,
		       .answers = true,
		       .builtin = true },
		.families = { "@metadata" },
		.port = RIG_PORT_HTTP,
		.about = "a managed identity's token of Azure's metadata service",
	},
	{
		.p = { .name = "metadata-ecs",
		       .attack = "T1552.005",
		       .channel = CHANNEL_TCP,
		       .dest = DEST_METADATA_ECS,
		       .family = AF_INET,
		       .window_ms = WINDOW_TCP_MS,
		       .answers = true,
		       .builtin = true },
		.families = { "@metadata" },
		.port = RIG_PORT_HTTP,
		.about = "a task's credentials of AWS's container service",
	},
	{
		.p = { .name = "metadata-ipv6",
		       .attack = "T1552.005",
		       .channel = CHANNEL_TCP,
		       .dest = DEST_METADATA6,
		       .family = AF_INET6,
		       .window_ms = WINDOW_TCP_MS,
		       .answers = true,
		       .builtin = true },
		.families = { "@metadata" },
		.port = RIG_PORT_HTTP,
		.about = "a role's credentials of AWS's metadata service, over IPv6",
	},
	{
		.p = { .name = "icmp-echo",
		       .attack = "T1095",
		       .channel = CHANNEL_ICMP,
		       .family = AF_INET,
		       .window_ms = WINDOW_DATAGRAM_MS,
		       .answers = true,
		       .builtin = true },
		.families = { "@icmp" },
		.about = "a ping that carries the token",
	},
	{
		.p = { .name = "packet-socket",
		       .attack = "T1095",
		       .channel = CHANNEL_PACKET,
		       .family = AF_INET,
		       .socket_family = AF_PACKET,
		       .window_ms = WINDOW_DATAGRAM_MS,
		       .caps = 1ull << CAP_NET_RAW,
		       .answers = true,
		       .builtin = true },
		.families = { "@packet" },
		.port = RIG_PORT_UDP,
		.about = "a UDP datagram in a frame by hand, past every hook for addresses",
	},
};

const struct probe_manifest *probe_manifests(size_t *ret_n)
{
	*ret_n = ARRAY_SIZE(manifests);
	return manifests;
}

const struct probe_manifest *probe_manifest_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(manifests); i++)
		if (!strcmp(manifests[i].p.name, name))
			return &manifests[i];
	return NULL;
}

bool probe_has_family(const struct probe_manifest *m, const char *family)
{
	for (size_t i = 0; i < PROBE_FAMILIES_MAX && m->families[i]; i++)
		if (!strcmp(m->families[i], family))
			return true;
	return false;
}

/* What a target can claim, also before there is a probe of each. */
bool probe_family_known(const char *family)
{
	static const char *const known[] = { "@tcp",	 "@udp",       "@dns",	    "@http",
					     "@icmp",	 "@packet",    "@metadata", "@unix",
					     "@lateral", "@credential" };

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (!strcmp(known[i], family))
			return true;
	return false;
}
