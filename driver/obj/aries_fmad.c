// SPDX-License-Identifier: GPL-2.0-only
/*
 * FMA descriptors. The rights of a descriptor are in FMAD_CTL, which only the kernel can access.
 * The area and the windows that a process maps contain no rights.
 */
#include <linux/io.h>
#include <linux/mm.h>

#include "aries_obj.h"
#include "aries_trace.h"

/* Long enough for a 4 GiB block transfer on a busy machine. */
#define ARIES_FMAD_MS 120000

/* GNI_CDM_MODE_CACHED_AMO_ENABLED */
#define ARIES_CDM_CACHED_AMO 0x00040000u

/**
 * aries_fmad_take() - allocate an FMA descriptor and charge it to a domain
 * @own: owner; domain and context number are set
 *
 * Context: may sleep; own->lock held. Return: its number or -ENOSPC.
 */
int aries_fmad_take(struct aries_owner *own)
{
	struct aries_dev *ad = own->ad;
	int nr, rc;

	rc = aries_domain_charge(ad, own->dom, ARIES_RES_FMA, 1);
	if (rc)
		return rc;
	nr = aries_pool_get(&ad->fmads, own->nr);
	if (nr < 0)
		aries_domain_uncharge(ad, own->dom, ARIES_RES_FMA, 1);
	else
		set_bit(nr, own->dom->fmads);
	return nr;
}

/**
 * aries_fmad_enable() - give a descriptor the rights of an owner
 * @own: owner
 * @nr: number of the descriptor
 * @rights: ARIES_FMAD_CTL_* bits in addition to those that follow from the owner
 */
void aries_fmad_enable(struct aries_owner *own, unsigned int nr, u64 rights)
{
	struct aries_dev *ad = own->ad;

	aries_wr64(ad, ARIES_FMAD_CTL_N(nr),
		   rights | FIELD_PREP(ARIES_FMAD_CTL_ENABLE_MASK, 1ull) |
			   FIELD_PREP(ARIES_FMAD_CTL_CACHED_AMO_MASK,
				      own->modes & ARIES_CDM_CACHED_AMO ? 1ull : 0ull) |
			   FIELD_PREP(ARIES_FMAD_CTL_NTT_MASK, own->dom->ntt_size ? 1ull : 0ull) |
			   FIELD_PREP(ARIES_FMAD_CTL_NTT_BASE_MASK, (u64)own->dom->ntt_base) |
			   FIELD_PREP(ARIES_FMAD_CTL_NTT_SIZE_MASK, (u64)own->dom->ntt_size) |
			   FIELD_PREP(ARIES_FMAD_CTL_PTAG_MASK, (u64)own->dom->ptag) |
			   FIELD_PREP(ARIES_FMAD_CTL_OWNER_MASK, (u64)own->nr));
	trace_aries_fmad_enable(own, nr);
}

/**
 * aries_fmad_wait() - wait for the transfers of a descriptor
 * @ad: the device
 * @nr: number of a descriptor that accepts no more work
 *
 * Context: sleeps; state_sem held for reading. Gives up when a writer waits, which is a reset: that
 * ends the transfers.
 */
void aries_fmad_wait(struct aries_dev *ad, unsigned int nr)
{
	int rc = aries_hw_poll64(ad, ARIES_FMAD_STATUS_N(nr), ARIES_FMAD_STATUS_BUSY_MASK,
				 ARIES_FMAD_MS);

	if (rc == -ETIMEDOUT)
		dev_err(&ad->dev, "FMA descriptor %u busy after %u s, kept back until a reset\n",
			nr, ARIES_FMAD_MS / 1000);
}

/**
 * aries_fmad_give() - free a descriptor
 * @own: its owner
 * @nr: its number
 * @owner: context number that it was allocated with
 *
 * A descriptor that is still busy is held until the next reset. The memory that it uses is safe all
 * the same, because revoking a memory domain waits for accesses itself.
 *
 * Context: sleeps; state_sem and own->lock held.
 */
void aries_fmad_give(struct aries_owner *own, unsigned int nr, u16 owner)
{
	struct aries_dev *ad = own->ad;

	aries_wr64(ad, ARIES_FMAD_CTL_N(nr), 0);
	trace_aries_fmad_disable(own, nr);
	clear_bit(nr, own->dom->fmads);
	if (aries_fmad_busy(ad, nr))
		aries_pool_hold(&ad->fmads, nr, owner);
	else
		aries_pool_put(&ad->fmads, nr, owner);
	aries_domain_uncharge(ad, own->dom, ARIES_RES_FMA, 1);
}

/** aries_fmad_busy() - number of block transfers that a descriptor has queued or in progress */
unsigned int aries_fmad_busy(struct aries_dev *ad, unsigned int fmad)
{
	u64 status = aries_rd64(ad, ARIES_FMAD_STATUS_N(fmad));

	return status == ~0ull ? 0 : FIELD_GET(ARIES_FMAD_STATUS_BUSY_MASK, status);
}

/**
 * aries_fmad_transfers() - number of block transfers of a domain that have not ended
 * @ad: the device
 * @dom: domain, with a reference
 *
 * This only reads registers and takes no lock of an attachment, so it is not delayed by an
 * attachment that waits for its own transfers.
 *
 * Context: state_sem held. Return: that number.
 */
u64 aries_fmad_transfers(struct aries_dev *ad, const struct aries_domain *dom)
{
	unsigned int nr;
	u64 sum = 0;

	lockdep_assert_held(&ad->state_sem);
	for_each_set_bit(nr, dom->fmads, ARIES_FMA_DESCRIPTORS)
		sum += aries_fmad_busy(ad, nr);
	return sum;
}
