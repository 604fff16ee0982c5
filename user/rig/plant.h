/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is planted for one trial of a secret's probe (DESIGN.md 3.4): the secret where the probe
 * looks, and a harmless twin where a sandbox may well let it look.
 *
 *   env-credential   AWS_SECRET_ACCESS_KEY in the launcher's environment; the twin is SENTINEL_TWIN
 *   file-credential  HOME/.aws/credentials; the twin is a file beside that home
 *   proc-environ     AWS_SECRET_ACCESS_KEY of another process of the same user; the twin is
 *                    SENTINEL_TWIN of the launcher, and told to the session
 *
 * Before a deaf far side nothing is planted but the twin. A launcher gets PATH, HOME, LANG and what
 * is planted, nothing else.
 */
#ifndef SENTINEL_RIG_PLANT_H
#define SENTINEL_RIG_PLANT_H

#include "user/base/planted.h"
#include "user/rig/client.h"
#include "user/rig/folder.h"

#define PLANT_ENV_MAX 5
#define PLANT_PATH_MAX (FOLDER_PATH_MAX + 8)

struct plant {
	char folder[FOLDER_PATH_MAX]; /* "": there is none */
	char home[PLANT_PATH_MAX];    /* HOME, {home} */
	char twin_file[PLANT_PATH_MAX];
	char text[PLANT_ENV_MAX][128];
	char *env[PLANT_ENV_MAX + 1]; /* the launcher's; into text */
	char *twin_env;		      /* into text: SENTINEL_TWIN=... */
	bool decoy;		      /* one must run, with decoy_env */
	char *decoy_env[PLANT_ENV_MAX + 1];
	bool tell_home;	  /* the session is told home */
	const char *tell; /* ... and where its twin is; NULL: nothing */
};

/*
 * Plants for trial t. folder: a home and a twin_file are wanted whatever the probe. Nothing of it
 * is the user's own, who may read the two files by their group: nobody can lead our writing
 * elsewhere, or undo it. 0 or -errno; then nothing is left.
 */
int plant_make(struct plant *p, const struct ev_trial *t, const struct client_planted *secrets,
	       struct folders *f, bool folder, gid_t gid) must_check;

/* Removes it. A zeroed one is fine. */
void plant_done(struct plant *p);

#endif
