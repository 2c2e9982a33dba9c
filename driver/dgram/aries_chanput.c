// SPDX-License-Identifier: GPL-2.0-only
/*
 * What everything below the channel's work item needs of the channel: putting bytes into the area
 * of another node, and having the work item run.
 */
#include "aries_dgram.h"

/** aries_chan_kick() - schedule the work item now. Context: lock held, or interrupt. */
void aries_chan_kick(struct aries_chan *ch)
{
	if (READ_ONCE(ch->on))
		mod_delayed_work(ch->wq, &ch->work, 0);
}

/**
 * aries_chan_put() - put bytes into the receive area of a node, with an event
 * @ch: channel
 * @pe: node address
 * @at: offset in the area
 * @data: the bytes
 * @bytes: number of bytes, at most ARIES_DESC_LINE_BYTES
 * @event: data of the remote event
 *
 * Context: the work item. Return: ARIES_ST_OK or the failure.
 */
int aries_chan_put(struct aries_chan *ch, u32 pe, u32 at, const void *data, size_t bytes, u32 event)
{
	const struct aries_fma fma = {
		.desc = { .pe = pe,
			  .mdh = ARIES_CHAN_MDH,
			  .offset = at,
			  .remote_event = event },
		.line = data,
		.length = bytes,
		.op = ARIES_FMA_PUT_LINE,
		.mode = ARIES_EV_REMOTE,
	};

	return aries_port_fma(&ch->port, &fma);
}
