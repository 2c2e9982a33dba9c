// SPDX-License-Identifier: GPL-2.0-only
/*
 * Self-test at probe: registers, descriptor memory, interrupts and DMA. A broken device or bus then
 * causes one line in the log instead of data corruption later.
 */
#include <linux/dma-mapping.h>
#include <linux/io.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/jiffies.h>
#include <linux/string.h>

#include "aries_core.h"
#include "aries_kapi.h"

#define ARIES_TEST_MS 10000
#define ARIES_TEST_BYTES (3 * PAGE_SIZE)
#define ARIES_TEST_GUARD 0xa5

enum aries_test_op {
	ARIES_TEST_FILL = 1,
	ARIES_TEST_CLEAR = 2,
	ARIES_TEST_INVERT = 3,
};

static int aries_test_regs(struct aries_dev *ad)
{
	static const u64 patterns[] = { 0x0123456789abcdefull, 0xfedcba9876543210ull,
					0x5555555555555555ull, 0xaaaaaaaaaaaaaaaaull, 0, ~0ull };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(patterns); i++) {
		u64 p64 = patterns[i], got64;
		u32 p32 = p64, got32;

		aries_wr32(ad, ARIES_TEST_REG32, p32);
		got32 = aries_rd32(ad, ARIES_TEST_REG32);
		aries_wr64(ad, ARIES_TEST_REG64, p64);
		got64 = aries_rd64(ad, ARIES_TEST_REG64);
		if (got32 != p32 << 1 || got64 != p64 << 1) {
			dev_err(&ad->pdev->dev,
				"self-test: wrote %#x and %#llx, read %#x and %#llx\n", p32, p64,
				got32, got64);
			return -EIO;
		}
	}
	return 0;
}

static int aries_test_desc(struct aries_dev *ad)
{
	/* descriptor 0 belongs to the kernel, so no process sees the pattern */
	void __iomem *line = ad->desc + ARIES_DESC_LINE;
	const u64 pattern = 0x0f1e2d3c4b5a6978ull;
	u64 got;

	writeq(pattern, line);
	got = readq(line);
	writeq(0, line);
	if (got == pattern)
		return 0;
	dev_err(&ad->pdev->dev, "self-test: descriptor memory holds %#llx, not %#llx\n", got,
		pattern);
	return -EIO;
}

static int aries_test_wait(struct aries_dev *ad, unsigned int nr, unsigned long before)
{
	unsigned long left = msecs_to_jiffies(ARIES_TEST_MS);

	/* another vector may fire meanwhile, so check the count of this one */
	while (READ_ONCE(ad->vec[nr].count) == before) {
		left = wait_for_completion_timeout(&ad->test_done, left);
		if (!left && READ_ONCE(ad->vec[nr].count) == before) {
			dev_err(&ad->pdev->dev,
				"self-test: no interrupt on vector %u within %u s\n", nr,
				ARIES_TEST_MS / 1000);
			return -EIO;
		}
	}
	return 0;
}

static int aries_test_irqs(struct aries_dev *ad)
{
	unsigned int nr;
	int rc = 0;

	for (nr = 0; nr < ad->nvec && !rc; nr++) {
		unsigned long before = READ_ONCE(ad->vec[nr].count);

		reinit_completion(&ad->test_done);
		aries_wr32(ad, ARIES_TEST_IRQ, FIELD_PREP(ARIES_TEST_IRQ_VECTOR_MASK, nr));
		rc = aries_test_wait(ad, nr, before);
	}
	return rc;
}

static int aries_test_dma_op(struct aries_dev *ad, u8 *at, size_t size, enum aries_test_op op,
			     u8 expect)
{
	unsigned long before = READ_ONCE(ad->vec[0].count);
	u32 status;
	u8 *bad;
	int rc;

	reinit_completion(&ad->test_done);
	aries_wr32(ad, ARIES_TEST_DMA_CTRL, FIELD_PREP(ARIES_TEST_DMA_CTRL_OP_MASK, op));
	rc = aries_test_wait(ad, 0, before);
	if (rc)
		return rc;
	status = aries_rd32(ad, ARIES_TEST_DMA_STATUS);
	if (status) {
		dev_err(&ad->pdev->dev, "self-test: DMA operation %u ended with %s\n", op,
			aries_status_name(status));
		return -EIO;
	}
	bad = memchr_inv(at, expect, size);
	if (bad) {
		dev_err(&ad->pdev->dev,
			"self-test: DMA operation %u left %#x at byte %td of %zu, not %#x\n", op,
			*bad, bad - at, size, expect);
		return -EIO;
	}
	if (at[-1] != ARIES_TEST_GUARD || at[size] != ARIES_TEST_GUARD) {
		dev_err(&ad->pdev->dev, "self-test: DMA operation %u wrote outside of its buffer\n",
			op);
		return -EIO;
	}
	return 0;
}

static int aries_test_dma(struct aries_dev *ad)
{
	struct device *dev = &ad->pdev->dev;
	unsigned int align;
	dma_addr_t dma;
	int rc = 0;
	u8 *buf;

	buf = dma_alloc_coherent(dev, ARIES_TEST_BYTES, &dma, GFP_KERNEL);
	if (!buf)
		return -ENOMEM;
	for (align = 1; align <= 8 && !rc; align++) {
		size_t size = ARIES_TEST_BYTES - 2 * align;
		u8 *at = buf + align;

		memset(buf, ARIES_TEST_GUARD, ARIES_TEST_BYTES);
		aries_wr64(ad, ARIES_TEST_DMA_ADDR, dma + align);
		aries_wr32(ad, ARIES_TEST_DMA_SIZE, size);
		rc = aries_test_dma_op(ad, at, size, ARIES_TEST_FILL, 0x96);
		if (!rc)
			rc = aries_test_dma_op(ad, at, size, ARIES_TEST_INVERT, 0x69);
		if (!rc)
			rc = aries_test_dma_op(ad, at, size, ARIES_TEST_CLEAR, 0);
	}
	/* a test that has not ended must not write to the buffer after it is freed */
	if (rc)
		pci_clear_master(ad->pdev);
	dma_free_coherent(dev, ARIES_TEST_BYTES, buf, dma);
	return rc;
}

/*
 * Is the memory of processes itself what the NIC accesses? The kernel may put a buffer of its own
 * in between, and copy when a driver says that it has begun or ended an access. But processes and
 * peers access memory at any time, and nobody tells the driver.
 */
static int aries_test_mapped(struct aries_dev *ad, u8 *page, dma_addr_t dma)
{
	unsigned long before = READ_ONCE(ad->vec[0].count);
	int rc;

	memset(page, ARIES_TEST_GUARD, PAGE_SIZE);
	dma_sync_single_for_device(&ad->pdev->dev, dma, PAGE_SIZE, DMA_BIDIRECTIONAL);
	reinit_completion(&ad->test_done);
	aries_wr64(ad, ARIES_TEST_DMA_ADDR, dma);
	aries_wr32(ad, ARIES_TEST_DMA_SIZE, PAGE_SIZE);
	aries_wr32(ad, ARIES_TEST_DMA_CTRL,
		   FIELD_PREP(ARIES_TEST_DMA_CTRL_OP_MASK, ARIES_TEST_CLEAR));
	rc = aries_test_wait(ad, 0, before);
	if (rc || !memchr_inv(page, 0, PAGE_SIZE))
		return rc;
	dev_err(&ad->pdev->dev,
		"DMA goes through bounce buffers here (swiotlb=force, or a guest whose memory is encrypted): the NIC would not see the memory of processes\n");
	return -EOPNOTSUPP;
}

static int aries_test_bounce(struct aries_dev *ad)
{
	struct device *dev = &ad->pdev->dev;
	void *page = (void *)get_zeroed_page(GFP_KERNEL);
	dma_addr_t dma;
	int rc;

	if (!page)
		return -ENOMEM;
	/* the same kind of mapping that registered memory and queues have */
	dma = dma_map_single(dev, page, PAGE_SIZE, DMA_BIDIRECTIONAL);
	if (dma_mapping_error(dev, dma)) {
		free_page((unsigned long)page);
		return -ENOMEM;
	}
	rc = aries_test_mapped(ad, page, dma);
	/* a test that has not ended must not write to the page after it is freed */
	if (rc)
		pci_clear_master(ad->pdev);
	dma_unmap_single(dev, dma, PAGE_SIZE, DMA_BIDIRECTIONAL);
	free_page((unsigned long)page);
	return rc;
}

/**
 * aries_selftest() - test registers, descriptor memory, each vector, and DMA at eight alignments
 * @ad: the device
 *
 * Context: sleeps. Return: 0, or a negative errno with one line in the log that names the failure:
 * -EOPNOTSUPP if DMA does not reach the memory of processes, -EIO for a broken device or bus.
 */
int aries_selftest(struct aries_dev *ad)
{
	int rc;

	WRITE_ONCE(ad->testing, true);
	rc = aries_test_regs(ad);
	if (!rc)
		rc = aries_test_desc(ad);
	if (!rc)
		rc = aries_test_irqs(ad);
	if (!rc)
		rc = aries_test_dma(ad);
	if (!rc)
		rc = aries_test_bounce(ad);
	WRITE_ONCE(ad->testing, false);
	return rc;
}
