// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/* Short messages: what the peer has released. */
#include <linux/jiffies.h>

#include "kgni_smsg.h"

/* A sender without room asks at every so many calls whether it is time to ask the peer, */
#define KGNI_CALLS_TO_ASK 8
/* which it does with pauses from 1 ms up to this, as long as that brings nothing. */
#define KGNI_MOST_PAUSE msecs_to_jiffies(64)

static bool kgni_smsg_acknowledge_known(struct kgni_smsg *s, u64 word)
{
	struct kgni_sender *out = &s->out;
	u32 more = (u32)(word >> 32) - (u32)out->acknowledged, n;

	if (word != gni_smsg_credit(out->key, word >> 32))
		return false;
	/* Words are not read in the order they were written: an older one says nothing new. */
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
 * kgni_smsg_acknowledge() - take what a credit word of the peer says
 * @s: connection
 * @word: that has not been looked at
 *
 * Context: any; gni_ep.lock held. Return: whether the word is sound.
 */
bool kgni_smsg_acknowledge(struct kgni_smsg *s, u64 word)
{
	if (kgni_smsg_acknowledge_known(s, word))
		return true;
	/* The message of unknown fate is the last one that may be released. */
	if (!s->unsure || word != gni_smsg_credit(s->out.key, s->out.sent + 1))
		return false;
	s->unsure = false;
	kgni_smsg_sent(s, s->unsure_place);
	return kgni_smsg_acknowledge_known(s, word);
}

/**
 * kgni_smsg_ask_credit() - there is no room: ask the peer what it has released, now and then
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
	/* What is there may be of an earlier connection of these mailboxes. */
	if (kgni_smsg_read(ep, out->box.control + GNI_SMSG_RELEASED * GNI_SMSG_WORD, &word) ==
		    ARIES_ST_OK &&
	    word)
		kgni_smsg_acknowledge(ep->smsg, word);
}
