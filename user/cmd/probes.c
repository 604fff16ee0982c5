// SPDX-License-Identifier: Apache-2.0
#include <argp.h>

#include "probes/probe.h"
#include "user/cmd/cmd.h"
#include "user/judge/verdict.h"

static void print_probe(const struct probe_manifest *p)
{
	(void)printf("%-20s %-10s", p->p.name, p->p.attack);
	for (size_t i = 0; i < PROBE_FAMILIES_MAX && p->families[i]; i++)
		(void)printf(" %s", p->families[i]);
	(void)printf("\n%20s %s\n", "", p->about);
}

int cmd_probes(int argc, char **argv)
{
	static const struct argp argp = {
		NULL, NULL, NULL, "List the probes: id, ATT&CK technique, families, what it does.",
		NULL, NULL, NULL
	};
	const struct probe_manifest *all;
	size_t n;

	if (argp_parse(&argp, argc, argv, 0, NULL, NULL))
		return EXIT_USAGE;
	all = probe_manifests(&n);
	for (size_t i = 0; i < n; i++)
		print_probe(&all[i]);
	return 0;
}
