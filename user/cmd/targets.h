/* SPDX-License-Identifier: Apache-2.0 */
/* What `sentinel targets` has besides its list: argv[0] is the whole command's name. */
#ifndef SENTINEL_TARGETS_H
#define SENTINEL_TARGETS_H

int targets_new(int argc, char **argv);
int targets_check(int argc, char **argv);

#endif
