/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP proxy that the environment names, as curl(1) and others read it. */
#ifndef SENTINEL_PROBES_PROXY_H
#define SENTINEL_PROBES_PROXY_H

#include "user/base/util.h"

#define PROXY_USER_MAX 256
#define PROXY_HOST_MAX 256

struct proxy {
	char host[PROXY_HOST_MAX]; /* a name, or an address without brackets */
	uint16_t port;
	char user[PROXY_USER_MAX]; /* "NAME:PASSWORD", "" = none is given */
};

/*
 * Looks through http_proxy, all_proxy and ALL_PROXY, which curl heeds for http://, and then
 * HTTP_PROXY, which only others do. What no_proxy leaves out is asked for all the same: who wants
 * to get out heeds nobody's wish. get: getenv(). 1: *ret has it; 0: none is named; -EPROTONOSUPPORT
 * for one of another scheme; -EINVAL for what is no proxy's URL.
 */
int proxy_find(const char *(*get)(const char *name), struct proxy *ret) must_check;

/* The address of its host: one that stands there, loopback's for "localhost", or that of a line of
 * /etc/hosts (hosts: its text). 0 or -ENOENT. */
int proxy_address(const struct proxy *p, const char *hosts, uint8_t ret[16]) must_check;

/* "Proxy-Authorization: Basic ...\r\n" into out; "" where no user is given. */
#define PROXY_FIELD_MAX (PROXY_USER_MAX * 4 / 3 + 64)
void proxy_authorization(const struct proxy *p, char out[PROXY_FIELD_MAX]);

#endif
