/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the system calls that a way out can be made of. */
#ifndef SENTINEL_SYSCALL_NAME_H
#define SENTINEL_SYSCALL_NAME_H

#include <stdint.h>

/* "connect" for a number of the architecture that this was built for; "" for one not listed. */
const char *syscall_name(uint32_t nr);

#endif
