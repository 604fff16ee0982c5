/* SPDX-License-Identifier: Apache-2.0 */
/* Which way a packet went, for the machine that it was recorded on. */
#ifndef SENTINEL_BASE_DIRECTION_H
#define SENTINEL_BASE_DIRECTION_H

enum direction {
	DIRECTION_UNKNOWN = 0, /* nobody says, or it only passed by */
	DIRECTION_IN,
	DIRECTION_OUT,
};

#endif
