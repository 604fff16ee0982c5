/* SPDX-License-Identifier: Apache-2.0 */
/* Which name servers this place has, as glibc reads resolv.conf(5). */
#ifndef SENTINEL_PROBES_RESOLV_CONF_H
#define SENTINEL_PROBES_RESOLV_CONF_H

#include "user/base/util.h"

#define RESOLV_CONF_SERVERS 3 /* MAXNS: further ones are ignored */

struct resolv_conf {
	uint8_t server[RESOLV_CONF_SERVERS][16]; /* IPv4 as v4-mapped */
	size_t n;				 /* at least 1 */
};

/* A text of that length without NUL. Where it names no server, that is this machine's own. Pure. */
void resolv_conf_parse(const char *text, size_t len, struct resolv_conf *ret);

/* Of /etc/resolv.conf; as of an empty one where that can't be read. */
void resolv_conf_read(struct resolv_conf *ret);

#endif
