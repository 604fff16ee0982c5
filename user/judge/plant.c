// SPDX-License-Identifier: Apache-2.0
/*
 * Planted secrets: what a sandbox was to hide, and a harmless twin beside it that it need not. The
 * key that both are made from is the capture's last word, so that all of it is settled at the end;
 * of the environments that the kernel saw, what could be a secret is kept until then.
 */
#include <ctype.h>

#include "user/base/mac.h"
#include "user/judge/correlate_state.h"
#include "user/judge/guard.h"

static bool is_secret(const struct correlate *c, const struct trial_state *t)
{
	return probe_of(c, t->t.probe)->channel == CHANNEL_SECRET;
}

/* ---- what the kernel saw in environments ---- */

static bool has_seen(const struct seen_secrets *s, const uint8_t secret[EV_NONCE_BYTES])
{
	for (uint32_t i = 0; i < s->n; i++)
		if (!memcmp(s->at[i], secret, EV_NONCE_BYTES))
			return true;
	return false;
}

/* The first ones: the launcher's environment comes before whatever a sandbox makes of it. */
static void add_seen(struct seen_secrets *s, const char digits[2 * EV_NONCE_BYTES])
{
	char text[2 * EV_NONCE_BYTES + 1] = "";
	uint8_t secret[EV_NONCE_BYTES];

	memcpy(text, digits, 2 * EV_NONCE_BYTES);
	if (s->n < SEEN_SECRETS_MAX && !hex_decode(secret, sizeof(secret), text) &&
	    !has_seen(s, secret))
		memcpy(s->at[s->n++], secret, sizeof(secret));
}

/* Planted is a secret as 32 hexadecimal digits, with none before or behind. */
static void scan_environment(struct seen_secrets *s, const struct ev_env *env)
{
	const char *text = (const char *)env->env;
	uint32_t len = MIN(env->env_len, (uint32_t)sizeof(env->env)), digits = 0;

	for (uint32_t i = 0; i <= len; i++) {
		if (i < len && isxdigit((unsigned char)text[i])) {
			digits++;
			continue;
		}
		if (digits == 2 * EV_NONCE_BYTES)
			add_seen(s, text + i - digits);
		digits = 0;
	}
}

void plant_see_env(struct correlate *c, const struct ev *ev)
{
	struct trial_state *t = trial_get(c, ev->trial);
	bool inside;

	if (!t || !is_secret(c, t))
		return;
	inside = ev->mark == t->mark;
	scan_environment(inside ? &t->seen_inside : &t->seen_outside, &ev->env);
	/* What a program is given it need not ask for: to be started is the attempt to read it. */
	if (inside && !probe_of(c, t->t.probe)->step[0])
		t->attempt_ns = MAX(t->attempt_ns, ev->time_ns);
}

/* ---- what the session proved ---- */

/* By the instance in its own line: nobody who did not read it can make one, for whomever. */
static void settle(struct plant_state *p, const struct trial_state *t,
		   const uint8_t planted[EV_NONCE_BYTES])
{
	uint8_t mac[EV_MAC_BYTES];

	mac_plant(planted, t->t.challenge1, t->ran.instance, mac);
	p->right = p->given && !GUARD(PLANT_WRONG, !mac_equal(mac, p->mac));
}

void plants_settle(struct correlate *c)
{
	for (uint32_t i = 0; i < c->trials.n && c->ended; i++) {
		struct trial_state *t = &c->trials.at[i];
		uint8_t planted[EV_NONCE_BYTES];

		if (!is_secret(c, t))
			continue;
		mac_secret(c->end.key, t->t.nonce, planted);
		settle(&t->secret, t, planted);
		/* Whatever it says: the kernel saw it there. */
		t->secret.right |= GUARD(PLANT_INSIDE, has_seen(&t->seen_inside, planted));
		t->planted = has_seen(&t->seen_outside, planted);
		mac_twin(c->end.key, t->t.nonce, planted);
		settle(&t->twin, t, planted);
	}
}

bool plant_was_readable(const struct correlate *c, const struct trial_state *t)
{
	if (!is_secret(c, t))
		return true;
	if (GUARD(PLANT_UNSEEN, probe_of(c, t->t.probe)->planted_env && !t->planted))
		return false;
	return !GUARD(TWIN_MISSING, !t->twin.right);
}
