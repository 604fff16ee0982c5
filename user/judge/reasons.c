// SPDX-License-Identifier: Apache-2.0
/* The judge's words: stable codes for programs, one sentence each for people. */
#include "user/base/util.h"
#include "user/judge/verdict.h"

struct words {
	const char *code, *sentence;
};

static const struct words reason_words[REASON_MAX] = {
	[REASON_SANDBOX_NOT_ALIVE] = {
		"sandbox-not-alive",
		"The sandbox did not prove that it was alive, in one instance, before and after the attempt.",
	},
	[REASON_WRONG_SANDBOX] = {
		"wrong-sandbox",
		"The kernel saw the session start outside the sandbox that the target describes.",
	},
	[REASON_PROBE_DID_NOT_RUN] = {
		"probe-did-not-run",
		"The probe did not prove that it ran to its end.",
	},
	[REASON_NO_ATTEMPT_SEEN] = {
		"no-attempt-seen",
		"The kernel did not see the probe's decisive step, so nothing is known to have been stopped.",
	},
	[REASON_TARGET_UNREACHABLE_OUTSIDE] = {
		"target-unreachable-outside",
		"Outside any sandbox the far side did not answer, so silence from inside means nothing.",
	},
	[REASON_CONTROL_MAKES_NO_DIFFERENCE] = {
		"control-makes-no-difference",
		"With the control loosened the attempt still did not cross: something else stops it.",
	},
	[REASON_CONTROL_LEFT_OPEN] = {
		"control-left-open",
		"After the control was turned on again the attempt crossed.",
	},
	[REASON_ALLOWED_DESTINATION_DEAD] = {
		"allowed-destination-dead",
		"A destination that the target allows did not work, so the control may simply stop everything.",
	},
	[REASON_RECORDS_LOST] = {
		"records-lost",
		"Records were lost where it matters, so nothing seen does not mean nothing sent.",
	},
	[REASON_OBSERVER_NOT_ATTACHED] = {
		"observer-not-attached",
		"A hook that must watch was not attached for the whole time.",
	},
	[REASON_SELF_TEST_FAILED] = {
		"self-test-failed",
		"The instrument failed its own test for this probe, so it can't judge anybody with it.",
	},
	[REASON_WITNESSES_DISAGREE] = {
		"witnesses-disagree",
		"The tap and the collector's log differ on what arrived.",
	},
	[REASON_UNEXPLAINED_TRAFFIC] = {
		"unexplained-traffic",
		"Frames arrived on the far side that nobody can explain.",
	},
	[REASON_UNCLAIMED_SIGNAL] = {
		"unclaimed-signal",
		"Packets without the token arrived that were not seen to leave this sandbox.",
	},
	[REASON_UNSTABLE] = {
		"unstable",
		"Repeats of the same attempt came out differently.",
	},
	[REASON_WINDOW_TOO_SHORT] = {
		"window-too-short",
		"The far side was not watched long enough after the last attempt.",
	},
	[REASON_BOUNDARY_SHARED] = {
		"boundary-shared",
		"What it sent could leave unseen, or did: by a link that is not the lane's, or only the rig stopped it.",
	},
	[REASON_FEATURE_MISSING_OUTSIDE] = {
		"feature-missing-outside",
		"This machine lacks what the attempt needs, with or without a sandbox.",
	},
	[REASON_EVIDENCE_DAMAGED] = {
		"evidence-damaged",
		"The evidence does not verify.",
	},
	[REASON_STOP_UNKNOWN] = {
		"stop-unknown",
		"The control can't be switched off, and where the attempt stopped is not known.",
	},
	[REASON_ON2_MISSING] = {
		"on2-missing",
		"The attempt was not provably repeated with the control turned on again.",
	},
	[REASON_IDENTITY_UNKNOWN] = {
		"identity-unknown",
		"The kernel did not see the session start, so nobody knows in which sandbox it ran.",
	},
	[REASON_HOST_DEFAULT] = {
		"host-default",
		"Stopped outside any sandbox too, by the host's own default; the platform adds nothing that could be measured.",
	},
};

static const struct words rejection_words[REJECT_MAX] = {
	[REJECT_FAKE_NOT_ESCAPED] = {
		"fake-not-escaped",
		"The fake target that blocks nothing was not found escaped: the detector is broken.",
	},
	[REJECT_DENY_NOT_CONTAINED] = {
		"deny-not-contained",
		"The target that denies everything was not found contained: the detector is broken.",
	},
	[REJECT_NEVER_NOT_INCONCLUSIVE] = {
		"never-not-inconclusive",
		"The target that never starts got a verdict: silence was taken for evidence.",
	},
	[REJECT_DEAF_NOT_INCONCLUSIVE] = {
		"deaf-not-inconclusive",
		"The target before a far side that never answers got a verdict: silence was taken for "
		"evidence.",
	},
	[REJECT_WITNESSES_DISAGREE] = {
		"witnesses-disagree",
		"The tap and the collector's log differ on a baseline.",
	},
	[REJECT_DECOY_MATCHED] = {
		"decoy-matched",
		"A token that belongs to no attempt was taken for one: the matcher is broken.",
	},
	[REJECT_CALIBRATOR_MISSING] = {
		"calibrator-missing",
		"A calibration target was not run on every probe, so the instrument is untested.",
	},
	[REJECT_ABORTED] = {
		"aborted",
		"The run did not end by itself.",
	},
};

static const char *const verdict_words[VERDICT_MAX] = {
	[VERDICT_INCONCLUSIVE] = "inconclusive", [VERDICT_NOT_CLAIMED] = "not-claimed",
	[VERDICT_PROVISIONAL] = "provisional",	 [VERDICT_CONTAINED] = "contained",
	[VERDICT_ESCAPED] = "escaped",
};

static const char unknown[] = "unknown"; /* for a number that no enum has */

const char *verdict_text(enum verdict v)
{
	return (unsigned int)v < VERDICT_MAX ? verdict_words[v] : unknown;
}

const char *reason_code(enum reason r)
{
	return (unsigned int)r < REASON_MAX ? reason_words[r].code : unknown;
}

const char *reason_sentence(enum reason r)
{
	return (unsigned int)r < REASON_MAX ? reason_words[r].sentence : unknown;
}

const char *rejection_code(enum rejection r)
{
	return (unsigned int)r < REJECT_MAX ? rejection_words[r].code : unknown;
}

const char *rejection_sentence(enum rejection r)
{
	return (unsigned int)r < REJECT_MAX ? rejection_words[r].sentence : unknown;
}

const char *credit_text(enum credit c)
{
	static const char *const words[] = { NULL, "host" };

	return (unsigned int)c < ARRAY_SIZE(words) ? words[c] : NULL;
}

const char *grade_text(enum grade g)
{
	static const char *const words[] = { NULL, "signal", "payload" };

	return (unsigned int)g < ARRAY_SIZE(words) ? words[g] : NULL;
}

const char *vantage_text(enum vantage v)
{
	static const char *const words[] = { NULL, "A", "B", "W" };

	return (unsigned int)v < ARRAY_SIZE(words) ? words[v] : NULL;
}
