// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/*
 * ECC of the NIC's tables: what becomes of errors that it finds. One wrong bit is put right by the
 * NIC, which tells of several at once. An entry with two is refused until it is written anew: the
 * driver does so with what it has a copy of; the others end with whoever owns the entry.
 */
#include "aries.h"
#include "aries_client.h"
#include "aries_compat.h"

/* One event for so many errors of one bit in a table. */
#define ARIES_RAS_EVENT_AT 8

struct aries_ras_row {
	const char *row; /* of Documentation/device-spec.md */
	const char *text;
};

#define ARIES_RAS_ROW(NAME, name, entries, row, text) { row, text },
static const struct aries_ras_row aries_ras_rows[] = { ARIES_RAS_MEMORIES(ARIES_RAS_ROW) };

/**
 * aries_ras_start() - ask the NIC to tell of errors
 * @ad: the device, reset and not yet enabled
 */
void aries_ras_start(struct aries_dev *ad)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(aries_ras_rows); i++)
		aries_wr32(ad, ARIES_RAS_THRESHOLD_N(i), ARIES_RAS_EVENT_AT);
}

/**
 * aries_ras_event() - handle an error event of a table
 * @ad: the device
 * @event: with a code of ARIES_RAS_SINGLE and up
 *
 * The first error that the NIC has captured is logged and cleared. Context: sleeps.
 */
void aries_ras_event(struct aries_dev *ad, const struct kgni_err_event *event)
{
	bool two = event->code >= ARIES_RAS_DOUBLE;
	unsigned int memory = event->code - (two ? ARIES_RAS_DOUBLE : ARIES_RAS_SINGLE);
	u64 first;

	if (memory >= ARRAY_SIZE(aries_ras_rows))
		return;
	first = aries_rd64(ad, ARIES_RAS_FIRST_N(memory));
	aries_wr64(ad, ARIES_RAS_FIRST_N(memory), ARIES_RAS_FIRST_VALID_MASK);
	if (two && memory == ARIES_RAS_NTT)
		aries_ntt_restore(ad);
	dev_warn_ratelimited(&ad->dev,
			     "ECC: %s in %s (%s), entry %llu, syndrome %#llx, %llu so far; first: entry %llu%s\n",
			     two ? "two wrong bits" : "a wrong bit put right",
			     aries_ras_rows[memory].text, aries_ras_rows[memory].row,
			     event->info[1], event->info[3], event->info[2],
			     FIELD_GET(ARIES_RAS_FIRST_INDEX_MASK, first),
			     two && memory == ARIES_RAS_NTT ? "; table written again" : "");
}
