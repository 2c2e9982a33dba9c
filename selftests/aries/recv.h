/* SPDX-License-Identifier: GPL-2.0-only */
/* Receives for channel sends, and the sends: without any library. */
#ifndef RECV_H
#define RECV_H

#include "raw.h"

#define RECV_EVENT 0xabcd0000u

static inline struct kgni_recv_post recv_arg(uint32_t mdh, const volatile void *at, uint32_t length,
					     uint32_t channel, uint32_t cq)
{
	struct kgni_recv_post arg = { .argsz = sizeof(arg),
				      .address = (uintptr_t)at,
				      .length = length,
				      .mdh = mdh,
				      .channel = channel,
				      .cq = cq,
				      .event = RECV_EVENT | channel };

	return arg;
}

/* Number of a new receive, or a negative errno. */
static inline int recv_post(int fd, uint32_t mdh, const volatile void *at, uint32_t length,
			    uint32_t channel, uint32_t cq)
{
	struct kgni_recv_post arg = recv_arg(mdh, at, length, channel, cq);
	int rc = aries_ioctl(fd, KGNI_IOC_RECV_POST, &arg);

	return rc ? -rc : (int)arg.receive;
}

/* State of a receive, or a negative errno. */
static inline int recv_test(int fd, int nr, struct kgni_recv_test *out)
{
	struct kgni_recv_test arg = { .argsz = sizeof(arg), .receive = (uint32_t)nr };
	int rc = aries_ioctl(fd, KGNI_IOC_RECV_TEST, &arg);

	if (out)
		*out = arg;
	return rc ? -rc : (int)arg.state;
}

static inline int recv_cancel(int fd, int nr, struct kgni_recv_cancel *out)
{
	struct kgni_recv_cancel arg = { .argsz = sizeof(arg), .receive = (uint32_t)nr };
	int rc = aries_ioctl(fd, KGNI_IOC_RECV_CANCEL, &arg);

	if (out)
		*out = arg;
	return rc ? -rc : (int)arg.state;
}

/* Rings for a send to @channel of node @pe; the doorbell's status. */
static inline uint32_t send_start(struct raw *r, uint32_t cq, uint32_t pe, uint32_t channel,
				  uint32_t mdh, const volatile void *from, uint32_t length,
				  uint8_t mode)
{
	const struct aries_bte_desc desc = {
		.pe = pe,
		.offset = channel,
		.local_mdh = (uint16_t)mdh,
		.local_offset = raw_offset(from),
		.length = length,
		.cq = (uint16_t)cq,
		.tid = RAW_TID,
		.local_event = RAW_LOCAL,
		.remote_event = RAW_REMOTE,
		.op = ARIES_BTE_SEND,
		.mode = mode,
	};

	return raw_ring_bte(r, &desc);
}

/* A whole send; the status in its global event, 99 if none comes. */
static inline uint32_t send_to(struct raw *r, struct raw_cq *q, uint32_t pe, uint32_t channel,
			       uint32_t mdh, const volatile void *from, uint32_t length)
{
	uint64_t entry;

	send_start(r, q->c.cq, pe, channel, mdh, from, length, ARIES_EV_GLOBAL);
	entry = raw_poll(q, 10000);
	return entry ? raw_entry_status(entry) : 99;
}

#endif /* RECV_H */
