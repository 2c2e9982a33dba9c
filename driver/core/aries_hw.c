// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registers. This is the only file that accesses BAR 0.
 *
 * Reads from a device that was unplugged return all ones, on some buses zeros. Code that reads all
 * ones where they are impossible, or that relies on a zero, calls aries_hw_alive(). Once that has
 * returned false, registers are not accessed any more.
 */
#include <linux/delay.h>
#include <linux/iopoll.h>
#include <linux/io.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/jiffies.h>

#include "aries_core.h"

static bool amo_lazy;
module_param(amo_lazy, bool, 0444);
MODULE_PARM_DESC(amo_lazy, "host memory gets results of cached atomics later (default: with each operation)");

#define ARIES_RESET_MS 30000

/** aries_rd32() - read a 32-bit register; all ones if the device is not accessible */
u32 aries_rd32(struct aries_dev *ad, u32 reg)
{
	return READ_ONCE(ad->hw_ok) ? readl(ad->regs + reg) : ~0u;
}

/** aries_rd64() - read a 64-bit register; all ones if the device is not accessible */
u64 aries_rd64(struct aries_dev *ad, u32 reg)
{
	return READ_ONCE(ad->hw_ok) ? readq(ad->regs + reg) : ~0ull;
}

/** aries_wr32() - write a 32-bit register; without effect if the device is not accessible */
void aries_wr32(struct aries_dev *ad, u32 reg, u32 value)
{
	if (READ_ONCE(ad->hw_ok))
		writel(value, ad->regs + reg);
}

/** aries_wr64() - write a 64-bit register; without effect if the device is not accessible */
void aries_wr64(struct aries_dev *ad, u32 reg, u64 value)
{
	if (READ_ONCE(ad->hw_ok))
		writeq(value, ad->regs + reg);
}

/**
 * aries_hw_alive() - does the device still answer?
 * @ad: the device
 *
 * Context: any.
 * Return: false if it was unplugged or cut off. Registers are not accessed any more after that.
 */
bool aries_hw_alive(struct aries_dev *ad)
{
	if (!READ_ONCE(ad->hw_ok))
		return false;
	if (readl(ad->regs + ARIES_ID_MAGIC) == ARIES_ID_MAGIC_VALUE)
		return true;
	WRITE_ONCE(ad->hw_ok, false);
	dev_err(&ad->pdev->dev, "device does not answer, taken for unplugged\n");
	return false;
}

/**
 * aries_hw_poll64() - sleep until the bits of a 64-bit register are all zero
 * @ad: the device
 * @reg: register
 * @mask: bits to wait for
 * @timeout_ms: longest wait
 *
 * Context: sleeps; state_sem held for reading.
 * Return: 0; -ETIMEDOUT; -ENODEV if the device is not accessible; -EINTR if it is about to be
 * reset.
 */
int aries_hw_poll64(struct aries_dev *ad, u32 reg, u64 mask, unsigned int timeout_ms)
{
	unsigned long end = jiffies + msecs_to_jiffies(timeout_ms);
	unsigned int pause_us = 10;
	bool late = false;

	might_sleep();
	for (;;) {
		u64 value = aries_rd64(ad, reg);

		if (value == ~0ull && !aries_hw_alive(ad))
			return -ENODEV;
		if (!(value & mask))
			return 0;
		/*
		 * Read once more after the time is up, because this thread may have been off the
		 * CPU for long.
		 */
		if (late)
			return -ETIMEDOUT;
		if (rwsem_is_contended(&ad->state_sem))
			return -EINTR;
		usleep_range(pause_us, 2 * pause_us);
		pause_us = min(2 * pause_us, 10000u);
		late = time_after(jiffies, end);
	}
}

/* Tables and pools were allocated for the limits that the NIC has reported at probe. */
static int aries_hw_limit(struct aries_dev *ad, const char *what, u32 *limit, u32 value)
{
	if (ad->identified && *limit != value) {
		dev_err(&ad->pdev->dev, "%s was %u before the reset and is %u now\n", what, *limit,
			value);
		return -ENODEV;
	}
	*limit = value;
	return 0;
}

static int aries_hw_limits(struct aries_dev *ad)
{
	u32 pe = FIELD_GET(ARIES_ID_PE_PE_MASK, aries_rd32(ad, ARIES_ID_PE));
	u32 bte = FIELD_GET(ARIES_ID_BTE_QUEUE_MASK, aries_rd32(ad, ARIES_ID_BTE));
	u64 caps = aries_rd64(ad, ARIES_ID_CAPS);
	u32 low = lower_32_bits(ad->caps), high = upper_32_bits(ad->caps);
	int rc = aries_hw_limit(ad, "node address", &ad->pe, pe);

	rc = rc ?: aries_hw_limit(ad, "ID_CAPS", &low, lower_32_bits(caps));
	rc = rc ?: aries_hw_limit(ad, "upper half of ID_CAPS", &high, upper_32_bits(caps));
	rc = rc ?: aries_hw_limit(ad, "number of nodes", &ad->nodes,
				  aries_rd32(ad, ARIES_ID_NODES));
	rc = rc ?: aries_hw_limit(ad, "number of FMA descriptors", &ad->nfma,
				  min(aries_rd32(ad, ARIES_ID_FMA), ARIES_FMA_DESCRIPTORS));
	rc = rc ?: aries_hw_limit(ad, "number of MDDs", &ad->nmdd,
				  min(aries_rd32(ad, ARIES_ID_MDD), ARIES_MDD_ENTRIES));
	rc = rc ?: aries_hw_limit(ad, "number of CQs", &ad->ncq,
				  min(aries_rd32(ad, ARIES_ID_CQ), ARIES_CQ_ENTRIES));
	rc = rc ?: aries_hw_limit(ad, "block transfers a descriptor", &ad->bte_queue, bte);
	if (!rc)
		ad->caps = caps;
	return rc;
}

/**
 * aries_hw_identify() - check that this is a supported Aries NIC, and read its limits
 * @ad: the device
 *
 * A NIC that has other limits after a reset is refused: it has to be probed again.
 *
 * Return: 0, or -ENODEV with a line in the log.
 */
int aries_hw_identify(struct aries_dev *ad)
{
	struct device *dev = &ad->pdev->dev;
	u32 magic = aries_rd32(ad, ARIES_ID_MAGIC);
	u32 version = aries_rd32(ad, ARIES_ID_VERSION);
	int rc;

	if (magic != ARIES_ID_MAGIC_VALUE) {
		dev_err(dev, "ID_MAGIC reads %#x, not an Aries NIC\n", magic);
		return -ENODEV;
	}
	if (FIELD_GET(ARIES_ID_VERSION_MAJOR_MASK, version) !=
	    FIELD_GET(ARIES_ID_VERSION_MAJOR_MASK, ARIES_ID_VERSION_VALUE)) {
		dev_err(dev, "interface version %#x, this driver knows %#x\n", version,
			ARIES_ID_VERSION_VALUE);
		return -ENODEV;
	}
	rc = aries_hw_limits(ad);
	if (rc)
		return rc;
	if (ad->nfma < 2 || !ad->nmdd || !ad->ncq) {
		dev_err(dev, "no resources: %u FMA descriptors, %u MDDs, %u CQs\n", ad->nfma,
			ad->nmdd, ad->ncq);
		return -ENODEV;
	}
	if (!ad->identified)
		ad->amo_lazy = amo_lazy;
	ad->identified = true;
	return 0;
}

/* Return: 1 if something is in flight, 0 if not, -ENODEV if the registers do not answer. */
static int aries_hw_busy(struct aries_dev *ad)
{
	u32 busy = readl(ad->regs + ARIES_CTL_STATUS) & ARIES_CTL_STATUS_BUSY_MASK;

	busy |= readl(ad->regs + ARIES_INV_STATUS) & ARIES_INV_STATUS_BUSY_MASK;
	if (readl(ad->regs + ARIES_ID_MAGIC) != ARIES_ID_MAGIC_VALUE)
		return -ENODEV;
	return !!busy;
}

/**
 * aries_hw_settle() - wait until nothing is in flight after a reset or the loss of bus mastering
 * @ad: the device; its registers are read even if it was considered unplugged
 * @timeout_ms: longest wait
 *
 * Context: sleeps. Return: 0, -ETIMEDOUT, or -ENODEV if the registers do not answer.
 */
int aries_hw_settle(struct aries_dev *ad, unsigned int timeout_ms)
{
	int busy, rc;

	rc = read_poll_timeout(aries_hw_busy, busy, busy <= 0, 1000, timeout_ms * 1000ull, false,
			       ad);
	return busy < 0 ? busy : rc;
}

/**
 * aries_hw_reset() - empty every table and queue of the NIC
 * @ad: the device
 *
 * Context: sleeps. Return: 0, -ETIMEDOUT or -ENODEV.
 */
int aries_hw_reset(struct aries_dev *ad)
{
	aries_wr32(ad, ARIES_CTL_CONTROL, FIELD_PREP(ARIES_CTL_CONTROL_RESET_MASK, 1));
	return aries_hw_settle(ad, ARIES_RESET_MS);
}

/** aries_hw_enable() - let the NIC accept work and packets, or stop that */
void aries_hw_enable(struct aries_dev *ad, bool on)
{
	if (on && ad->amo_lazy)
		aries_wr32(ad, ARIES_AMO_CTL, FIELD_PREP(ARIES_AMO_CTL_LAZY_MASK, 1));
	aries_wr32(ad, ARIES_CTL_CONTROL, FIELD_PREP(ARIES_CTL_CONTROL_ENABLE_MASK, on));
}
