/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The NIC without any library: an attached file with everything mapped, operations by descriptor
 * and doorbell. For what a well-behaved library would never do.
 */
#ifndef RAW_H
#define RAW_H

#include <time.h>

#include "aries_test.h"

#define RAW_LOCAL 0x1111u /* event data */
#define RAW_REMOTE 0x2222u
#define RAW_TID 7u

struct raw {
	int fd;
	struct kgni_attach at;
	volatile uint8_t *area;
	volatile uint64_t *bell;
};

struct raw_cq {
	struct kgni_cq_create c;
	volatile struct aries_cq_header *header;
	volatile uint64_t *slots;
};

/* Attached with GNI_CDM_MODE_* bits; 0 or a positive errno. */
static inline int raw_open_mode(struct raw *r, uint32_t cookie, uint32_t modes)
{
	const int rw = PROT_READ | PROT_WRITE;
	void *area, *bell;
	int rc;

	r->at = aries_attach_arg(cookie);
	r->at.modes = modes;
	r->fd = aries_open();
	if (r->fd < 0)
		return errno;
	rc = aries_ioctl(r->fd, KGNI_IOC_ATTACH, &r->at);
	if (rc) {
		close(r->fd);
		return rc;
	}
	area = mmap(NULL, ARIES_DESC_STRIDE, rw, MAP_SHARED, r->fd, (off_t)r->at.desc_offset);
	bell = mmap(NULL, ARIES_PAGE, rw, MAP_SHARED, r->fd, (off_t)r->at.doorbell_offset);
	if (area == MAP_FAILED || bell == MAP_FAILED)
		return errno;
	r->area = area;
	r->bell = bell;
	return 0;
}

static inline int raw_open(struct raw *r, uint32_t cookie)
{
	return raw_open_mode(r, cookie, 0);
}

static inline void raw_close(struct raw *r)
{
	munmap((void *)r->area, ARIES_DESC_STRIDE);
	munmap((void *)r->bell, ARIES_PAGE);
	close(r->fd);
}

static inline int raw_cq(struct raw *r, struct raw_cq *q, uint32_t entries, uint32_t flags)
{
	int rc;
	void *p;

	memset(q, 0, sizeof(*q));
	rc = aries_cq(r->fd, entries, flags, &q->c);
	if (rc)
		return rc;
	p = mmap(NULL, q->c.mmap_size, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd,
		 (off_t)q->c.mmap_offset);
	if (p == MAP_FAILED)
		return errno;
	q->header = p;
	q->slots = (volatile uint64_t *)((uint8_t *)p + ARIES_CQ_HEADER_BYTES);
	return 0;
}

static inline int raw_cq_close(struct raw *r, struct raw_cq *q)
{
	struct kgni_cq_destroy arg = { .argsz = sizeof(arg), .cq = q->c.cq };

	munmap((void *)q->header, q->c.mmap_size);
	return aries_ioctl(r->fd, KGNI_IOC_CQ_DESTROY, &arg);
}

/* Of a queue that ends with its file: a mapping would keep the file open. */
static inline void raw_cq_unmap(struct raw_cq *q)
{
	munmap((void *)q->header, q->c.mmap_size);
}

/* Takes one entry; 0 if there is none. */
static inline uint64_t raw_take(struct raw_cq *q)
{
	const uint64_t consumed = q->header->consumed;
	volatile uint64_t *slot = &q->slots[consumed & (q->c.entries - 1)];
	const uint64_t entry = __atomic_load_n(slot, __ATOMIC_ACQUIRE);

	if (!entry)
		return 0;
	*slot = 0;
	__atomic_store_n(&q->header->consumed, consumed + 1, __ATOMIC_RELEASE);
	return entry;
}

/* Waits for an entry for at most @ms milliseconds. */
static inline uint64_t raw_poll(struct raw_cq *q, int ms)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	uint64_t entry;

	while (!(entry = raw_take(q)) && ms-- > 0)
		nanosleep(&pause, NULL);
	return entry;
}

static inline unsigned int raw_entry_status(uint64_t entry)
{
	return (entry & ARIES_CQE_STATUS_MASK) >> ARIES_CQE_STATUS_SHIFT;
}

/* ARIES_ST_* of the last doorbell. */
static inline uint32_t raw_status(struct raw *r)
{
	return ((volatile struct aries_fma_status *)(r->area + ARIES_DESC_STATUS))->status;
}

static inline uint64_t raw_offset(const volatile void *p)
{
	return (uintptr_t)p & ((1ull << ARIES_OFFSET_BITS) - 1);
}

/* A doorbell that adds 1 at @to of domain @mdh of this node by @command, which returns nothing. */
static inline uint64_t raw_prepare_add(struct raw *r, uint32_t mdh, const volatile void *to,
				       uint32_t command)
{
	const struct aries_fma_desc desc = {
		.pe = r->at.pe,
		.mdh = (uint16_t)mdh,
		.offset = raw_offset(to),
		.operand = { 1 },
	};

	memcpy((void *)(r->area + ARIES_DESC_FMA), &desc, sizeof(desc));
	__sync_synchronize();
	return 8ull << ARIES_DB_LEN_SHIFT | (uint64_t)ARIES_FMA_AMO_OP << ARIES_DB_OP_SHIFT |
	       (uint64_t)command << ARIES_DB_AMO_SHIFT;
}

/* Rings it; the status. */
static inline uint32_t raw_add(struct raw *r, uint32_t mdh, const volatile void *to,
			       uint32_t command)
{
	r->bell[ARIES_DB_FMA / 8] = raw_prepare_add(r, mdh, to, command);
	return raw_status(r);
}

/* Puts @len bytes at @to of domain @mdh of this node; the doorbell's status. */
static inline uint32_t raw_put(struct raw *r, uint32_t cq, uint32_t mdh, const volatile void *to,
			       const void *data, uint32_t len, uint32_t mode)
{
	const struct aries_fma_desc desc = {
		.pe = r->at.pe,
		.mdh = (uint16_t)mdh,
		.offset = raw_offset(to),
		.cq = (uint16_t)cq,
		.local_event = RAW_LOCAL,
		.remote_event = RAW_REMOTE,
	};

	memcpy((void *)(r->area + ARIES_DESC_FMA), &desc, sizeof(desc));
	memcpy((void *)(r->area + ARIES_DESC_LINE), data, len);
	__sync_synchronize();
	r->bell[ARIES_DB_FMA / 8] = (uint64_t)RAW_TID << ARIES_DB_TID_SHIFT |
				    (uint64_t)len << ARIES_DB_LEN_SHIFT |
				    (uint64_t)ARIES_FMA_PUT_LINE << ARIES_DB_OP_SHIFT |
				    (uint64_t)mode << ARIES_DB_MODE_SHIFT;
	__sync_synchronize();
	return raw_status(r);
}

static inline uint32_t raw_ring_bte(struct raw *r, const struct aries_bte_desc *desc)
{
	memcpy((void *)(r->area + ARIES_DESC_BTE), desc, sizeof(*desc));
	__sync_synchronize();
	r->bell[ARIES_DB_BTE / 8] = 0;
	__sync_synchronize();
	return raw_status(r);
}

/* Starts a block transfer inside domain @mdh with events ARIES_EV_*; the doorbell's status. */
static inline uint32_t raw_block_mode(struct raw *r, uint32_t cq, uint8_t mode, uint8_t op,
				      uint32_t mdh, const volatile void *remote,
				      const volatile void *local, uint32_t len)
{
	const struct aries_bte_desc desc = {
		.pe = r->at.pe,
		.mdh = (uint16_t)mdh,
		.local_mdh = (uint16_t)mdh,
		.offset = raw_offset(remote),
		.local_offset = raw_offset(local),
		.length = len,
		.cq = (uint16_t)cq,
		.tid = RAW_TID,
		.local_event = RAW_LOCAL,
		.remote_event = RAW_REMOTE,
		.op = op,
		.mode = mode,
	};

	return raw_ring_bte(r, &desc);
}

/* The same with a global event. */
static inline uint32_t raw_block(struct raw *r, uint32_t cq, uint8_t op, uint32_t mdh,
				 const volatile void *remote, const volatile void *local,
				 uint32_t len)
{
	return raw_block_mode(r, cq, ARIES_EV_GLOBAL, op, mdh, remote, local, len);
}

/* Starts puts of @half bytes without events until @max are queued or no more fit; how many. */
static inline unsigned int raw_keep_busy(struct raw *r, uint32_t mdh, const uint8_t *pages,
					 uint32_t half, unsigned int max)
{
	unsigned int n = 0;

	while (n < max &&
	       !raw_block_mode(r, 0, 0, ARIES_BTE_PUT, mdh, pages, pages + half, half))
		n++;
	return n;
}

#endif /* RAW_H */
