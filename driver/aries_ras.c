// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/*
 * Handling of ECC errors in the NIC's memories. Single-bit errors are corrected by the NIC, which
 * reports several at once. An entry with a double-bit error is refused until it is rewritten. The
 * driver has it rewritten if the NIC's registers still hold its contents. Other entries disappear
 * with their owner, or are overwritten by the next operation. Too many errors stop the NIC, and so
 * do double-bit errors in a memory that the administrator has selected. The NIC then signals an
 * error on PCI Express, and error recovery resets it (aries_pci.c).
 */
#include "aries.h"
#include "aries_client.h"
#include "aries_compat.h"

/* One event for this many single-bit errors in a memory. */
#define ARIES_RAS_EVENT_AT 8

static const u32 aries_ras_rewritten = BIT(ARIES_RAS_NTT) | BIT(ARIES_RAS_CQ) |
				       BIT(ARIES_RAS_VMDH) | BIT(ARIES_RAS_PTAG) |
				       BIT(ARIES_RAS_RMT);

/**
 * aries_ras_start() - enable error reports of the NIC
 * @ad: the device, reset and not yet enabled
 */
void aries_ras_start(struct aries_dev *ad)
{
	unsigned int i;

	for (i = 0; i < ARIES_RAS_MEMORY_COUNT; i++)
		aries_wr32(ad, ARIES_RAS_THRESHOLD_N(i), ARIES_RAS_EVENT_AT);
	aries_ecc_program(ad);
	ad->ecc_captured = false;
}

/**
 * aries_ras_capture() - log the errors that have stopped the NIC
 * @ad: the device, whose registers may not answer
 *
 * Context: sleeps. Return: whether errors have stopped the NIC, so that only a reset helps.
 */
bool aries_ras_capture(struct aries_dev *ad)
{
	u32 stopped = aries_rd32(ad, ARIES_RAS_STOPPED);
	unsigned int i;

	if (!stopped || stopped == ~0u)
		return false;
	if (xchg(&ad->ecc_captured, true))
		return true;
	for (i = 0; i < ARIES_RAS_MEMORY_COUNT; i++) {
		u64 first = aries_rd64(ad, ARIES_RAS_FIRST_N(i));

		if (!(stopped & BIT(i)))
			continue;
		dev_err(&ad->dev,
			"ECC: stopped by %s (%s), %llu put right, %llu damaged; first: entry %llu, syndrome %#llx at %llu ns\n",
			aries_ecc_rows[i].text, aries_ecc_rows[i].row,
			aries_rd64(ad, ARIES_RAS_CORRECTED_N(i)),
			aries_rd64(ad, ARIES_RAS_DAMAGED_N(i)),
			FIELD_GET(ARIES_RAS_FIRST_INDEX_MASK, first),
			FIELD_GET(ARIES_RAS_FIRST_SYNDROME_MASK, first),
			aries_rd64(ad, ARIES_RAS_FIRST_TIME_N(i)));
	}
	return true;
}

/* @first: RAS_FIRST */
static void aries_ras_log(struct aries_dev *ad, const struct kgni_err_event *event,
			  unsigned int memory, bool two, u64 first)
{
	bool anew = two && (aries_ras_rewritten & BIT(memory));
	char lost[32] = "";

	if (two && memory == ARIES_RAS_AMO)
		snprintf(lost, sizeof(lost), " of memory domain %llu", event->info[0] >> 32);
	dev_warn_ratelimited(&ad->dev,
			     "ECC: %s in %s (%s), entry %llu%s, syndrome %#llx, %llu so far; first: entry %llu%s\n",
			     two ? "two wrong bits" : "a wrong bit put right",
			     aries_ecc_rows[memory].text, aries_ecc_rows[memory].row,
			     event->info[1], lost, event->info[3], event->info[2],
			     FIELD_GET(ARIES_RAS_FIRST_INDEX_MASK, first),
			     anew ? "; written again" : "");
}

/**
 * aries_ras_partial() - say that the NIC cannot reach all memory of this machine
 * @ad: the device
 *
 * Said once: memory is added and removed as often as the administrator likes, and each reset shows
 * it again. Context: any.
 */
void aries_ras_partial(struct aries_dev *ad)
{
	if (!xchg(&ad->partial_told, true))
		dev_warn(&ad->pdev->dev,
			 "some of this machine's memory is out of the NIC's reach: transfers there end with %s\n",
			 aries_status_name(ARIES_ST_TRANSLATION));
}

/**
 * aries_ras_event() - handle an error event of a memory
 * @ad: the device
 * @event: event with a code of ARIES_RAS_SINGLE or above
 *
 * The first error that the NIC has captured is logged and cleared, unless it has stopped the NIC:
 * then it is left for error recovery. Context: sleeps.
 */
void aries_ras_event(struct aries_dev *ad, const struct kgni_err_event *event)
{
	bool two = event->code >= ARIES_RAS_DOUBLE;
	unsigned int memory = event->code - (two ? ARIES_RAS_DOUBLE : ARIES_RAS_SINGLE);
	u64 first;

	if (event->code == ARIES_RAS_REACH) {
		aries_ras_partial(ad);
		return;
	}
	if (event->code >= ARIES_RAS_STOP) {
		aries_ras_capture(ad);
		return;
	}
	if (memory >= ARIES_RAS_MEMORY_COUNT)
		return;
	first = aries_rd64(ad, ARIES_RAS_FIRST_N(memory));
	if (two && (aries_ras_rewritten & BIT(memory)))
		aries_wr32(ad, ARIES_RAS_REWRITE,
			   FIELD_PREP(ARIES_RAS_REWRITE_MEMORY_MASK, memory) |
				   FIELD_PREP(ARIES_RAS_REWRITE_INDEX_MASK, (u32)event->info[1]));
	if (!aries_rd32(ad, ARIES_RAS_STOPPED))
		aries_wr64(ad, ARIES_RAS_FIRST_N(memory), ARIES_RAS_FIRST_VALID_MASK);
	aries_ras_log(ad, event, memory, two, first);
}
