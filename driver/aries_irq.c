// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/*
 * Interrupts. Vector 0 signals error events, finished DMA tests, timers, events of nodes, and
 * quiesces. The other vectors signal completion queues that were armed. If there is only one vector
 * it serves everything.
 */
#include <linux/bitops.h>
#include <linux/cpumask.h>
#include <linux/interrupt.h>

#include "aries.h"

/* Queue 0 belongs to the channel between the drivers. */
static void aries_irq_queue(struct aries_dev *ad, unsigned int nr)
{
	if (nr)
		aries_cq_wake(ad, nr);
	else
		aries_chan_irq(ad);
}

/*
 * Any vector's handler may find the bit of any queue. Reading and clearing is one step under
 * irq_lock, so that a bit that was set again is not cleared by a handler that has read it earlier.
 * The handlers of queues are called without the lock and may run in parallel.
 */
static bool aries_irq_queues(struct aries_dev *ad)
{
	u32 summary = aries_rd32(ad, ARIES_CQI_SUMMARY);
	bool any = false;
	unsigned int n;

	if (summary == ~0u)
		return false;
	for (n = 0; n < ARIES_CQI_PENDING_COUNT; n++) {
		u64 pending;

		if (!(summary & BIT(n)))
			continue;
		spin_lock(&ad->irq_lock);
		pending = aries_rd64(ad, ARIES_CQI_PENDING_N(n));
		aries_wr64(ad, ARIES_CQI_PENDING_N(n), pending);
		spin_unlock(&ad->irq_lock);
		any |= pending != 0;
		for (; pending; pending &= pending - 1)
			aries_irq_queue(ad, n * 64 + __ffs64(pending));
	}
	return any;
}

static void aries_irq_test(struct aries_vector *vec)
{
	WRITE_ONCE(vec->count, vec->count + 1);
	if (READ_ONCE(vec->ad->testing))
		complete(&vec->ad->test_done);
}

static irqreturn_t aries_irq_cq(int irq, void *arg)
{
	struct aries_vector *vec = arg;

	aries_irq_test(vec);
	aries_irq_queues(vec->ad);
	return IRQ_HANDLED;
}

static irqreturn_t aries_irq_err(int irq, void *arg)
{
	struct aries_vector *vec = arg;

	aries_irq_test(vec);
	aries_clock_irq(vec->ad);
	if (vec->ad->nvec == 1)
		aries_irq_queues(vec->ad);
	return IRQ_WAKE_THREAD;
}

static irqreturn_t aries_irq_err_thread(int irq, void *arg)
{
	struct aries_vector *vec = arg;

	aries_err_drain(vec->ad);
	aries_nodes_drain(vec->ad);
	aries_qsc_drain(vec->ad);
	return IRQ_HANDLED;
}

static int aries_irq_request(struct aries_dev *ad, unsigned int nr)
{
	struct aries_vector *vec = &ad->vec[nr];
	int irq = pci_irq_vector(ad->pdev, nr);

	vec->ad = ad;
	vec->nr = nr;
	if (!nr) {
		snprintf(vec->name, sizeof(vec->name), "kgni%d-err", ad->id);
		return request_threaded_irq(irq, aries_irq_err, aries_irq_err_thread, 0, vec->name,
					    vec);
	}
	snprintf(vec->name, sizeof(vec->name), "kgni%d-cq%u", ad->id, nr);
	return request_irq(irq, aries_irq_cq, 0, vec->name, vec);
}

/* Return: the best CPU for vector @nr: the n-th one near the device for queue vector n. */
static const struct cpumask *aries_irq_mask(struct aries_dev *ad, unsigned int nr)
{
	return cpumask_of(cpumask_local_spread(nr - 1, dev_to_node(&ad->pdev->dev)));
}

static void aries_irq_free(struct aries_dev *ad, unsigned int count)
{
	while (count--) {
		int irq = pci_irq_vector(ad->pdev, count);

		irq_set_affinity_and_hint(irq, NULL);
		free_irq(irq, &ad->vec[count]);
	}
	pci_free_irq_vectors(ad->pdev);
}

/**
 * aries_irq_init() - allocate and request the vectors: one for errors, one per CPU for queues
 * @ad: the device
 *
 * The affinity of the vectors is not managed by the kernel. A managed vector is shut down with its
 * CPU, but a queue keeps the vector that it was created with, and its waiter may be on any CPU. An
 * unmanaged vector moves to another CPU.
 *
 * Context: may sleep. Return: 0 or a negative errno.
 */
int aries_irq_init(struct aries_dev *ad)
{
	unsigned int want = min(aries_rd32(ad, ARIES_ID_MSIX), ARIES_VECTORS_MAX);
	unsigned int nr;
	int rc;

	want = clamp(want, 1u, 1 + num_online_cpus());
	rc = pci_alloc_irq_vectors(ad->pdev, 1, want, PCI_IRQ_MSIX);
	if (rc < 0) {
		dev_err(&ad->pdev->dev, "no MSI-X vector: %d\n", rc);
		return rc;
	}
	ad->nvec = rc;
	for (nr = 0; nr < ad->nvec; nr++) {
		rc = aries_irq_request(ad, nr);
		if (rc) {
			dev_err(&ad->pdev->dev, "vector %u: %d\n", nr, rc);
			aries_irq_free(ad, nr);
			return rc;
		}
		if (nr)
			irq_set_affinity_and_hint(pci_irq_vector(ad->pdev, nr),
						  aries_irq_mask(ad, nr));
	}
	return 0;
}

/** aries_irq_exit() - undo aries_irq_init(); no handler runs afterwards. Context: sleeps. */
void aries_irq_exit(struct aries_dev *ad)
{
	aries_irq_free(ad, ad->nvec);
}
