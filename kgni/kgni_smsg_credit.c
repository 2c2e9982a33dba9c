// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/* Short messages: what the peer has released. */
#include <linux/jiffies.h>

#include "kgni_smsg.h"

/* A sender without space considers asking the peer at one in this many calls. */
#define KGNI_CALLS_TO_ASK 8
/* It then asks with growing pauses, up to this one, as long as the peer has released nothing. */
#define KGNI_MOST_PAUSE msecs_to_jiffies(64)

static bool kgni_smsg_acknowledge_known(struct kgni_smsg *s, u64 word)
{
	struct kgni_sender *out = &s->out;
	u32 more = (u32)(word >> 32) - (u32)out->acknowledged, n;

	if (word != gni_smsg_credit(out->key, word >> 32))
		return false;
	/* Credit words may be read in another order than they were written: ignore an older one. */
	if ((s32)more <= 0)
		return true;
	if (more > out->sent - out->acknowledged)
		return false;
	for (n = more; n; n--) {
		out->used -= s->taken[out->oldest];
		out->oldest = out->oldest + 1 >= s->credits ? 0 : out->oldest + 1;
	}
	out->acknowledged += more;
	out->refused = 0;
	return true;
}

/**
 * kgni_smsg_acknowledge() - account for a credit word of the peer
 * @s: connection
 * @word: credit word that was not examined before
 *
 * Context: any; gni_ep.lock held. Return: whether the word is valid.
 */
bool kgni_smsg_acknowledge(struct kgni_smsg *s, u64 word)
{
	if (kgni_smsg_acknowledge_known(s, word))
		return true;
	/*
	 * The peer may also have released the message whose arrival was in doubt, and no later one.
	 */
	if (!s->unsure || word != gni_smsg_credit(s->out.key, s->out.sent + 1))
		return false;
	s->unsure = false;
	kgni_smsg_sent(s, s->unsure_place);
	return kgni_smsg_acknowledge_known(s, word);
}

/**
 * kgni_smsg_ask_credit() - there is no space: read now and then how much the peer has released
 * @ep: endpoint with a connection
 *
 * Context: any; gni_ep.lock held.
 */
void kgni_smsg_ask_credit(struct gni_ep *ep)
{
	struct kgni_sender *out = &ep->smsg->out;
	u64 word;

	if (++out->refused % KGNI_CALLS_TO_ASK)
		return;
	if (out->refused == KGNI_CALLS_TO_ASK) {
		out->pause = 1;
		out->look = jiffies + 1;
	}
	if (time_before(jiffies, out->look))
		return;
	out->pause = min_t(u32, out->pause * 2, KGNI_MOST_PAUSE);
	out->look = jiffies + out->pause;
	/* The word may be left over from an earlier connection, so do not mind if it is invalid. */
	if (kgni_smsg_read(ep, out->box.control + GNI_SMSG_RELEASED * GNI_SMSG_WORD, &word) ==
		    ARIES_ST_OK &&
	    word)
		kgni_smsg_acknowledge(ep->smsg, word);
}
