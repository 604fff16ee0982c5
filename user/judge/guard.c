// SPDX-License-Identifier: Apache-2.0
/* Only in the build of scripts/mutants; otherwise empty. */
#include "user/judge/guard.h"

#ifdef SENTINEL_MUTANTS

#include <stdlib.h>
#include <string.h>

const char *mutant_name;

__attribute__((constructor)) static void read_mutant_name(void)
{
	mutant_name = getenv("SENTINEL_MUTANT");
}

bool guard_acts(const char *name, bool condition)
{
	return condition && !(mutant_name && strcmp(mutant_name, name) == 0);
}

#endif
