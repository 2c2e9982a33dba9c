/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One block transfer. */
#ifndef ARIES_NIC_BTE_WORK_HPP
#define ARIES_NIC_BTE_WORK_HPP

#include "nic/core/ecc.hpp"
#include "nic/tables/fmad.hpp"
#include "nic/tables/ntt.hpp"
#include "nic/target/receive.hpp"
#include "nic/target/serve.hpp"
#include "nic/time/traffic.hpp"

namespace aries
{

/** One block transfer: its slot copied at the doorbell, with the rights of that moment. */
struct BteWork {
	aries_bte_desc desc;
	Rights rights;
	Fmad *fmad = nullptr;
	uint32_t index;         /* of the FMA descriptor */
	uint32_t node;          /* physical target */
	uint32_t epoch;         /* Fmad::block_epoch; another one now means flushed */
	uint32_t cq_serial = 0; /* of the queue for its events; 0: none are to come */
	uint8_t ssid = 0;
	uint8_t channel = 0;              /* that carries it */
	uint8_t ecc = ECC_WHOLE;          /* while it waits: EccHit */
	uint8_t unanswered = ARIES_ST_OK; /* else why a packet has no response */
	uint64_t back_ns = 0;             /* where completions are held: when its events are due, in modelled time */
	RmtClaim claim = {};              /* of a send */

	/** Data goes to the target. */
	bool put() const noexcept { return desc.op != ARIES_BTE_GET; }
	bool send() const noexcept { return desc.op == ARIES_BTE_SEND; }
	bool fence() const noexcept { return desc.flags & ARIES_BTE_FENCE; }
	bool physical() const noexcept { return desc.flags & ARIES_BTE_PHYS; }
	/** What the target gets to see, from byte @at on. A send is a put once it knows where to. */
	TargetRequest request(uint64_t at = 0) const noexcept
	{
		return {.kind = put() ? PacketKind::Put : PacketKind::Get,
			.flagged = false,
			.remote_event = (desc.mode & ARIES_EV_REMOTE) != 0,
			.type = uint8_t(field(desc.mode, ARIES_EV_TYPE_MASK)),
			.mdh = desc.mdh,
			.command = {},
			.node = node,
			.key = rights.key,
			.bytes = uint32_t(desc.length - at),
			.event = desc.remote_event,
			.offset = desc.offset + at,
			.flag_offset = 0,
			.flag_value = 0,
			.operand = {},
			.data = nullptr};
	}
	/** Of the whole range each time: the memory domain may have become another one meanwhile. */
	Access access() const noexcept { return request().access(); }
	/** The packets of @bytes. */
	[[gnu::always_inline]] Transaction transaction(uint32_t bytes) const noexcept
	{
		return Transaction::of(put() ? PacketKind::Put : PacketKind::Get, desc.dlvr_mode, node, bytes,
				       desc.offset >> 6);
	}
	bool cancelled() const noexcept { return fmad->block_epoch.load(std::memory_order_relaxed) != epoch; }

	/** What the source NIC can tell without the network. */
	uint8_t check(Core &core, Ntt &ntt) noexcept;
	/** Its own memory from byte @at on, in a visit to the own node. */
	uint8_t runs(uint64_t at, uint64_t bytes, Visit &local, BteRuns &list) const noexcept;
	/** Local and global event at the initiator, if its queue still is there. */
	void complete(Core &core, uint8_t status, bool overrun) const noexcept;
};

} // namespace aries

#endif
