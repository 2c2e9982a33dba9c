// SPDX-License-Identifier: GPL-2.0-only
/*
 * Balanced injection: how many request packets the NIC may have outstanding.
 */
#include <linux/capability.h>

#include "aries_obj.h"

/* GNI_BI_FLAG_* */
#define ARIES_BI_DEFAULT 0x4
#define ARIES_BI_ORBS 0x8
#define ARIES_BI_MODES 0xf
#define ARIES_BI_PERCENT_MAX 100
#define ARIES_BI_ORBS_MAX 992

/*
 * Without a limit the NIC uses its whole buffer. A limit of 0 in the register means no limit, so
 * the smallest one is 1.
 */
static void aries_bi_apply(struct aries_dev *ad, u16 bw, u16 aot_bw, u16 norbs, u16 modes)
{
	bool open = modes & ARIES_BI_DEFAULT;

	ad->bi.current_bw = bw;
	ad->bi.current_aot_bw = aot_bw;
	ad->bi.current_norbs = norbs;
	ad->bi.current_modes = modes;
	aries_wr32(ad, ARIES_BI_LIMIT,
		   FIELD_PREP(ARIES_BI_LIMIT_ORBS_MASK, open ? 0 : max_t(u32, norbs, 1)));
}

/** aries_bi_reset() - remove the limit, as a reset of the NIC does. Context: may sleep. */
void aries_bi_reset(struct aries_dev *ad)
{
	mutex_lock(&ad->ptag_lock);
	aries_bi_apply(ad, ARIES_BI_PERCENT_MAX, ARIES_BI_PERCENT_MAX, ARIES_BI_ORBS_MAX,
		       ARIES_BI_DEFAULT);
	mutex_unlock(&ad->ptag_lock);
}

static void aries_bi_set(struct aries_dev *ad, const struct kgni_bi *arg)
{
	u32 bw = arg->bw, aot_bw = arg->aot_bw, norbs;

	if (arg->modes & ARIES_BI_DEFAULT) {
		bw = ARIES_BI_PERCENT_MAX;
		aot_bw = ARIES_BI_PERCENT_MAX;
		norbs = ARIES_BI_ORBS_MAX;
	} else if (arg->modes & ARIES_BI_ORBS) {
		norbs = bw;
		bw = bw * ARIES_BI_PERCENT_MAX / ARIES_BI_ORBS_MAX;
		aot_bw = aot_bw * ARIES_BI_PERCENT_MAX / ARIES_BI_ORBS_MAX;
	} else {
		norbs = bw * ARIES_BI_ORBS_MAX / ARIES_BI_PERCENT_MAX;
	}
	aries_bi_apply(ad, bw, aot_bw, norbs, arg->modes);
	ad->bi.sequence++;
}

static int aries_bi_check(const struct kgni_bi *arg)
{
	u16 most = arg->modes & ARIES_BI_ORBS ? ARIES_BI_ORBS_MAX : ARIES_BI_PERCENT_MAX;

	if (arg->flags & ~KGNI_BI_SET || arg->reserved)
		return -EINVAL;
	if (!(arg->flags & KGNI_BI_SET))
		return arg->modes || arg->bw || arg->aot_bw ? -EINVAL : 0;
	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	return arg->modes & ~ARIES_BI_MODES || arg->bw > most || arg->aot_bw > most ? -EINVAL : 0;
}

/** aries_bi() - KGNI_IOC_BI. Context: sleeps. */
int aries_bi(struct aries_owner *own, struct kgni_bi *arg)
{
	struct aries_dev *ad = own->ad;
	int rc = aries_bi_check(arg);

	if (!rc)
		rc = aries_owner_enter(own, false);
	if (rc)
		return rc;
	mutex_lock(&ad->ptag_lock);
	if (arg->flags & KGNI_BI_SET)
		aries_bi_set(ad, arg);
	arg->current_bw = ad->bi.current_bw;
	arg->current_aot_bw = ad->bi.current_aot_bw;
	arg->current_norbs = ad->bi.current_norbs;
	arg->current_modes = ad->bi.current_modes;
	arg->sequence = ad->bi.sequence;
	mutex_unlock(&ad->ptag_lock);
	aries_owner_exit(own);
	return 0;
}
