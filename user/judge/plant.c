// SPDX-License-Identifier: Apache-2.0
/*
 * Planted secrets: what a sandbox was to hide, and a harmless twin beside it that it need not. The
 * key that both are made from is the capture's last word, so that all of it is settled at the end.
 */
#include "user/base/mac.h"
#include "user/judge/correlate_state.h"
#include "user/judge/guard.h"

static bool is_secret(const struct correlate *c, const struct trial_state *t)
{
	return probe_of(c, t->t.probe)->channel == CHANNEL_SECRET;
}

static void settle(struct plant_state *p, const struct trial_state *t,
		   const uint8_t planted[EV_NONCE_BYTES])
{
	uint8_t mac[EV_MAC_BYTES];

	mac_plant(planted, t->t.challenge1, t->alive[0].instance, mac);
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
		mac_twin(c->end.key, t->t.nonce, planted);
		settle(&t->twin, t, planted);
	}
}

bool plant_was_readable(const struct correlate *c, const struct trial_state *t)
{
	if (!is_secret(c, t))
		return true;
	return !GUARD(TWIN_MISSING, !t->twin.right);
}
