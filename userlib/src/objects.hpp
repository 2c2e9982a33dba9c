// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * Objects behind the opaque handles. The caller serialises all accesses to a NIC
 * handle and to objects made from it, except for fields marked "any thread".
 */
#ifndef UGNI_OBJECTS_HPP
#define UGNI_OBJECTS_HPP

#include "aries_hw.h"
#include "gni.hpp"
#include "guard.hpp"
#include "kernel.hpp"
#include "list.hpp"
#include "registration.hpp"
#include "request.hpp"
#include "slab.hpp"

#include <atomic>
#include <cstdint>

namespace ugni
{
struct Smsg;
struct Unsettled;
struct CeQueue;

/** Two handles whose check codes and rights are right, and the word of a slot that names them. */
struct RdmaPair {
	gni_mem_handle_t local, remote;
	uint64_t names; /* first word of the slot without the node; 0: there is no pair */
};
} // namespace ugni

struct alignas(64) gni_cq {
	static constexpr uint32_t kMagic = 0x6371'7567;
	static constexpr size_t kSlots = size_t{1} << 14;

	std::atomic<uint32_t> magic;
	uint32_t attention; /* reasons to look closer at each entry: a handler, requests with a forced status */
	uint32_t room; /* events that posts may still ask for: slots less the overrun mark's, less those outstanding */
	uint32_t number; /* the NIC's */
	uint64_t *slots;
	std::atomic<uint64_t> read; /* entries taken out; any thread may read it */
	uint64_t mask;
	gni_nic *nic;
	void (*handler)(gni_cq_entry_t *, void *);
	void *context;
	size_t mapped;
	uint32_t modes;
	/* A queue takes events of one side only: local posts reserve space for their events, events of peers come
	 * unasked. */
	uint32_t endpoints;     /* that name it as their source queue, and channels */
	uint32_t registrations; /* that name it for remote events */
	std::atomic<uint32_t> masked;
	std::atomic<uint32_t> kept; /* events of sends that are not settled; any thread may read it */
	uint32_t looks;             /* that find nothing, until the queue is looked at as a whole */
	bool retired;               /* destroyed by the caller, kept for the registrations that name it */
	gni_cq *previous;
	gni_cq *next;
};

struct alignas(128) gni_ep {
	static constexpr uint32_t kMagic = 0x6570'7567;
	static constexpr size_t kSlots = size_t{1} << 18;

	std::atomic<uint32_t> magic;
	uint32_t references; /* 1 for the handle, 1 for each post and for a datagram not yet reaped */
	gni_nic *nic;
	gni_cq *cq;    /* may be nullptr */
	gni_cq *ready; /* cq while the endpoint is bound, else a queue without room: all the common post asks */
	uint32_t remote_address;
	uint32_t remote_id;
	uint32_t events[2]; /* data of events at the source, and of remote events; as in the descriptor */
	bool bound;
	bool own_event_data; /* set by the caller, not derived from the binding */
	uint8_t ce_kind;     /* place in a tree of collectives: GNI_CE_CHILD_*, */
	uint8_t ce_index;    /* child, */
	uint8_t ce_engine;   /* channel on its node; 255 without a channel */
	ugni::Smsg *smsg;    /* short messages, nullptr until they are set up */
	ugni::CeQueue *ce;   /* collectives that wait for their turn, nullptr if there are none */
	void *datagram_out;  /* where the partner's datagram goes */
	uint16_t datagram_room;
	bool datagram; /* one is posted and not yet reaped; counts as a reference */
	gni_ep *previous;
	gni_ep *next;
};

struct alignas(64) gni_ce {
	static constexpr uint32_t kMagic = 0x6365'7567;
	static constexpr size_t kSlots = size_t{1} << 10;

	std::atomic<uint32_t> magic;
	uint32_t number; /* the NIC's */
	gni_nic *nic;
	gni_cq *cq; /* of its events, nullptr if there is none */
	gni_ce *previous;
	gni_ce *next;
};

namespace ugni
{

/** Where polled doorbells of a NIC handle go; see polled.hpp. */
struct Polled {
	uint64_t *word;        /* of the descriptor area */
	const uint32_t *awake; /* 0: the NIC's thread does not poll the area */
	uint64_t phase;        /* ARIES_DB_PHASE of the last doorbell */
	uint32_t until;        /* sequence of the status word when the doorbell is complete */
	bool pending;          /* the doorbell may not be complete */
};

} // namespace ugni

struct alignas(512) gni_nic {
	static constexpr uint32_t kMagic = 0x6e69'7567;
	static constexpr size_t kSlots = size_t{1} << 12;
	static constexpr unsigned kStatistics = 19;       /* the Aries count, whatever the caller was built for */
	static constexpr unsigned kStatisticTxdNone = 18; /* GNI_STAT_FLBTE_TXD_NONE */

	std::atomic<uint32_t> magic;
	char *area;                  /* descriptor area */
	volatile uint64_t *doorbell; /* doorbell page */
	ugni::Polled *polled;        /* polled_state, nullptr if the NIC takes none */
	int32_t polls;               /* the same for the common post: below 0 if it does */
	ugni::RequestTable requests;
	uint32_t bte_limit;      /* block transfers that may be queued */
	uint32_t bte_in_flight;  /* of those that report an event */
	ugni::RdmaPair rdma_put; /* handles of the last block put that was not refused */
	uint32_t inst_id;
	uint32_t modes;
	uint64_t caps;  /* ID_CAPS register */
	bool datagrams; /* has ever posted or waited for one */

	int fd;
	uint32_t device;
	uint32_t address;
	uint8_t ptag;
	uint16_t smsg_delivery;
	uint16_t smsg_retransmissions;
	gni_cdm *cdm;
	ugni::List<gni_ep> endpoints;
	ugni::List<gni_cq> queues;
	ugni::List<gni_ce> channels;
	ugni::CeQueue *collectives;            /* of endpoints whose collectives wait for their turn */
	ugni::List<ugni::Unsettled> unsettled; /* messages that are tried again */
	gni_msgq *msgq;                        /* message queue, nullptr if it has none */
	uint32_t msgq_sends;                   /* requests of that kind */
	ugni::RegistrationTable registrations;
	gni_nic *previous;
	gni_nic *next;
	uint32_t statistics[kStatistics];
	uint32_t refusals; /* posts that found no room, see nic_refused() */
	gni_return_t gone; /* what calls return once the NIC was found to be reset or removed; see gone.hpp */
	bool checks;       /* UGNI_CHECK: check values that the NIC cannot check */
	bool checkpoint;   /* the device may be gone, fd is -1 meanwhile: leave it and its mappings alone */
	int kept_fd;       /* fd, during a checkpoint */
	ugni::Polled polled_state;
};

struct alignas(64) gni_cdm {
	static constexpr uint32_t kMagic = 0x6364'7567;
	static constexpr size_t kSlots = size_t{1} << 12;

	std::atomic<uint32_t> magic;
	uint32_t inst_id;
	uint32_t cookie;
	uint32_t modes;
	uint8_t ptag;
	ugni::List<gni_nic> nics;
};

namespace ugni
{

extern Slab<gni_cdm> cdms;
extern Slab<gni_nic> nics;
extern Slab<gni_ep> endpoints;
extern Slab<gni_cq> queues;
extern Slab<gni_ce> channels;
/** Stands in where there is no queue: it never has room. */
extern gni_cq no_queue;

/** The magic word of an object, and the 32 bits behind it. */
template <typename T> inline uint64_t first_word(const T *object)
{
	uint64_t word;

	static_assert(std::endian::native == std::endian::little);
	__builtin_memcpy(&word, static_cast<const void *>(object), sizeof(word));
	return word;
}

/* Take things down without asking whether they are in use; the caller has. */
void nic_close(gni_nic *nic);
void ep_close(gni_ep *ep);
void cq_close(gni_cq *cq);
/** Leaves the message queue of the node; memory domain and receive queue are left to the caller. */
void msgq_close(gni_msgq *q);
/** Ends short messages on @ep, if it has any. */
void smsg_close(gni_ep *ep);
void ce_close(gni_ce *ce);
/** @ep is in no tree any more; collectives that wait there end with an error in their result blocks. */
void ce_leave(gni_ep *ep);
/** Posts collectives of @nic whose turn has come. */
void ce_advance(gni_nic *nic);
/** The endpoint is destroyed: its datagram ends; its outcome stays available by the NIC handle. */
void datagram_close(gni_ep *ep);
/** The NIC handle goes away: threads that wait for datagrams return. */
void datagrams_close(gni_nic *nic);
/**
 * Where @address of the region of @h is in this process: in a region of several pieces, and by a virtual handle that a
 * client has built, it is an offset. Return: 0 if this process has no such region, or it is not that long.
 */
uint64_t mem_virtual_address(const gni_nic *nic, const gni_mem_handle_t &h, uint64_t address);
/** A registration that named @cq is gone. */
void cq_forget_registration(gni_cq *cq);

/** Additional work at the end of some requests. */
void request_end_special(gni_nic *nic, const Request &r, uint32_t id);

/** Whether @cq has, or will have, events of what starts here. */
inline bool source_queue(const gni_cq *cq)
{
	return cq->endpoints || cq->room != cq->mask;
}

/** Nothing names @ep any more. */
void ep_end(gni_ep *ep);
/** Makes right the counts of @nic that threads which posted at once have spoilt: room of queues, free ids. */
void nic_mend(gni_nic *nic);
/** A post found no room: nic_mend(), if many have. */
void nic_refused(gni_nic *nic);
/** An endpoint is not idle: its references are counted, if that happens often. */
void ep_mend(gni_ep *ep);

/** Drops a reference; the slot of an endpoint that nothing names any more is free. */
inline void ep_release(gni_ep *ep)
{
	if (--ep->references == 0) [[unlikely]]
		ep_end(ep);
}

/** Ends a request whose last event has been reaped or dropped. */
inline void request_end(gni_nic *nic, Request &r, uint32_t id)
{
	if (r.state & ~Request::kPendingMask) [[unlikely]]
		request_end_special(nic, r, id);
	r.state = 0;
	nic->requests.give(id);
	ep_release(r.ep);
}

} // namespace ugni

#endif
