/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic/target/receive.hpp"

#include "nic/core/ecc.hpp"
#include "nic/tables/cq.hpp"
#include "nic/tables/mdd.hpp"
#include "nic/tables/vmdh.hpp"

namespace aries
{

namespace
{

constexpr unsigned int STATE_SHIFT = 32, SERIAL_SHIFT = 35;

constexpr RmtState kind(uint64_t state)
{
	return RmtState(state >> STATE_SHIFT & 7);
}

/** @state of the same posting with another kind and taker. */
constexpr uint64_t turned(uint64_t state, RmtState to, uint32_t taker = 0)
{
	return (state >> SERIAL_SHIFT << SERIAL_SHIFT) | uint64_t(to) << STATE_SHIFT | taker;
}

/** RmtSlot::message of a posting; whoever writes it for an earlier one finds another serial. */
constexpr uint64_t message_of(uint64_t state, uint32_t bytes = 0)
{
	return (state >> SERIAL_SHIFT << SERIAL_SHIFT) | bytes;
}

/** Of the next posting: who still holds the old word has lost it. */
constexpr uint64_t renewed(uint64_t state, RmtState to)
{
	return turned(state + (uint64_t(1) << SERIAL_SHIFT), to);
}

/** The message is in the buffer. */
constexpr bool is_there(uint64_t state)
{
	return kind(state) == RMT_TELLING || kind(state) == RMT_DONE;
}

bool wanted(const NodeSlot &slot, const RmtSlot &receive, uint32_t channel, uint32_t key)
{
	const uint64_t ctl = receive.ctl.load(std::memory_order_relaxed);

	if (field(ctl, ARIES_RMT_CTL_CHANNEL_MASK) != channel)
		return false;
	/* Wrong bits in the key are found when the message is written. */
	const uint64_t own =
		ecc_shown(slot.ptag_key[field(ctl, ARIES_RMT_CTL_PTAG_MASK)].load(std::memory_order_relaxed), PTAG_ECC);

	return (own & ARIES_PTAG_KEY_VALID_MASK) && field(own, ARIES_PTAG_KEY_KEY_MASK) == key;
}

/** The receive posted first among those wanted; ARIES_RMT_ENTRIES if there is none. */
uint32_t oldest(const NodeSlot &slot, uint32_t channel, uint32_t key, uint64_t &state)
{
	uint32_t found = ARIES_RMT_ENTRIES;
	uint64_t first = UINT64_MAX;

	for (uint32_t i = 0; i < ARIES_RMT_ENTRIES; i++) {
		const RmtSlot &receive = slot.rmt[i];
		const uint64_t now = receive.state.load(std::memory_order_acquire);
		const uint64_t order = receive.order.load(std::memory_order_relaxed);

		if (kind(now) != RMT_POSTED || order >= first || !wanted(slot, receive, channel, key))
			continue;
		found = i;
		first = order;
		state = now;
	}
	return found;
}

/* A receive that a message comes for. With two wrong bits nobody knows where the message would go. */
uint32_t mend(RmtSlot &receive)
{
	uint32_t hit = receive.ecc.load(std::memory_order_relaxed);

	if (hit == ECC_ONE_BIT && !receive.ecc.compare_exchange_strong(hit, ECC_WHOLE))
		return hit & ECC_TWO_BITS; /* another sender has put it right, or it was hit again */
	return hit;
}

} // namespace

bool rmt_hit(RmtSlot &receive, bool twice) noexcept
{
	if (kind(receive.state.load()) != RMT_POSTED)
		return false;
	receive.ecc.fetch_or(twice ? ECC_TWO_BITS : ECC_ONE_BIT);
	return true;
}

/* Fields are read while the word still says what it said: whoever changes them changes the word. */
uint8_t rmt_take(NodeSlot &slot, uint32_t taker, uint32_t channel, uint32_t key, uint32_t bytes,
		 RmtClaim &claim) noexcept
{
	constexpr unsigned int TRIES = 1000; /* others take them as fast as we look */
	uint32_t found = ECC_WHOLE;

	for (unsigned int i = 0; i < TRIES; i++) {
		uint64_t state = 0;
		const uint32_t index = oldest(slot, channel, key, state);

		if (index == ARIES_RMT_ENTRIES)
			return ARIES_ST_NO_RECEIVE;
		RmtSlot &receive = slot.rmt[index];

		found |= mend(receive);
		if (found & ECC_TWO_BITS) {
			claim = {.index = index, .ecc = found};
			return ARIES_ST_ECC;
		}
		const bool fits = bytes <= receive.length.load(std::memory_order_relaxed);

		claim = {index,
			 turned(state, RMT_TAKEN, taker),
			 uint16_t(field(receive.ctl.load(std::memory_order_relaxed), ARIES_RMT_CTL_MDH_MASK)),
			 receive.offset.load(std::memory_order_relaxed),
			 uint32_t(receive.event.load(std::memory_order_relaxed)),
			 found};
		std::atomic_thread_fence(std::memory_order_acquire);
		if (!fits && receive.state.load(std::memory_order_relaxed) == state) {
			claim.state = 0;
			return ARIES_ST_RECEIVE_LENGTH;
		}
		if (fits && receive.state.compare_exchange_strong(state, claim.state))
			return ARIES_ST_OK;
	}
	claim.state = 0;
	return ARIES_ST_NO_RECEIVE;
}

bool rmt_held(const NodeSlot &slot, const RmtClaim &claim) noexcept
{
	return slot.rmt[claim.index].state.load(std::memory_order_acquire) == claim.state;
}

bool rmt_finish(NodeSlot &slot, RmtClaim &claim, uint32_t bytes) noexcept
{
	RmtSlot &receive = slot.rmt[claim.index];
	const uint64_t telling = turned(claim.state, RMT_TELLING, uint32_t(claim.state));
	uint64_t state = claim.state, none = message_of(state);

	receive.message.compare_exchange_strong(none, message_of(state, bytes));
	if (!receive.state.compare_exchange_strong(state, telling))
		return false;
	claim.state = telling;
	return true;
}

void rmt_told(NodeSlot &slot, const RmtClaim &claim) noexcept
{
	uint64_t state = claim.state;

	/* The owner may have posted it anew already: the message was there to be seen. */
	slot.rmt[claim.index].state.compare_exchange_strong(state, turned(state, RMT_DONE, uint32_t(state)));
}

void rmt_return(NodeSlot &slot, const RmtClaim &claim) noexcept
{
	uint64_t state = claim.state;

	slot.rmt[claim.index].state.compare_exchange_strong(state, turned(state, RMT_POSTED));
}

uint64_t ReceiveTable::control(uint32_t index) const noexcept
{
	const RmtSlot &receive = core_.own().rmt[index];
	const RmtState now = kind(receive.state.load());

	return receive.ctl.load() | (now == RMT_POSTED || now == RMT_TAKEN ? ARIES_RMT_CTL_VALID_MASK : 0);
}

bool ReceiveTable::configure(uint32_t index, uint64_t ctl) noexcept
{
	RmtSlot &receive = core_.own().rmt[index];

	if (!(ctl & ARIES_RMT_CTL_VALID_MASK)) {
		cancel(index, ctl);
		return true;
	}
	const uint64_t before = receive.state.load();

	if (kind(before) == RMT_POSTED || kind(before) == RMT_TAKEN || !stage_[index].length ||
	    !leaving_.gone(index, drain_))
		return false;
	const uint64_t free = release(receive);

	receive.ecc.store(ECC_WHOLE);
	receive.ctl.store(ctl & ~ARIES_RMT_CTL_VALID_MASK);
	receive.message.store(message_of(free));
	receive.offset.store(stage_[index].offset, std::memory_order_relaxed);
	receive.length.store(stage_[index].length, std::memory_order_relaxed);
	receive.event.store(stage_[index].event, std::memory_order_relaxed);
	receive.order.store(++posted_, std::memory_order_relaxed);
	receive.state.store(turned(free, RMT_POSTED), std::memory_order_release);
	return true;
}

/* Whoever is sending has lost it from here on, and is waited for. A message that was faster stays to be read. */
void ReceiveTable::cancel(uint32_t index, uint64_t ctl) noexcept
{
	RmtSlot &receive = core_.own().rmt[index];
	uint64_t now = receive.state.load();
	const bool was_posted = kind(now) != RMT_FREE;

	do {
		if (is_there(now))
			return;
	} while (!receive.state.compare_exchange_weak(now, renewed(now, RMT_FREE)));
	receive.ctl.store(ctl);
	receive.ecc.store(ECC_WHOLE);
	receive.message.store(message_of(renewed(now, RMT_FREE)));
	if (was_posted)
		leaving_.leave(index, drain_.begin());
}

/* Whatever it was, it is free. Returns the word that says so. */
uint64_t ReceiveTable::release(RmtSlot &receive) noexcept
{
	uint64_t now = receive.state.load();

	while (!receive.state.compare_exchange_weak(now, renewed(now, RMT_FREE)))
		;
	return renewed(now, RMT_FREE);
}

uint64_t ReceiveTable::status(uint32_t index) const noexcept
{
	const RmtSlot &receive = core_.own().rmt[index];
	const uint64_t now = receive.state.load(std::memory_order_acquire);

	if (is_there(now))
		return uint32_t(receive.message.load()) | ARIES_RMT_STATUS_DONE_MASK |
		       prep(ARIES_RMT_STATUS_PE_MASK, Membership::node_of(uint32_t(now)));
	return kind(now) == RMT_TAKEN ? ARIES_RMT_STATUS_BUSY_MASK : 0;
}

void ReceiveTable::reset() noexcept
{
	for (RmtSlot &receive : core_.own().rmt) {
		release(receive);
		receive.ctl.store(0);
		receive.ecc.store(ECC_WHOLE);
		receive.message.store(message_of(receive.state.load()));
	}
	stage_.fill({});
}

/* Whether the queue has got the event nobody can tell: rather a mark that it has lost one than two. */
void ReceiveTable::owe_event(const RmtSlot &receive) noexcept
{
	NodeSlot &own = core_.own();
	const uint64_t ctl = receive.ctl.load();
	const uint16_t mdh = Vmdh(core_, core_.node, own)
				     .of_process(uint16_t(field(ctl, ARIES_RMT_CTL_MDH_MASK)),
						 uint8_t(field(ctl, ARIES_RMT_CTL_PTAG_MASK)));

	if (mdh >= NO_MDH)
		return;
	const MddView mdd = mdd_load(own, mdh);

	if (mdd.valid() && mdd.has_cq())
		cq_owe(own, mdd.cq(), own.mdd[mdh].cq_serial.load());
}

void ReceiveTable::bury() noexcept
{
	for (RmtSlot &receive : core_.own().rmt) {
		uint64_t state = receive.state.load();

		if ((kind(state) != RMT_TAKEN && kind(state) != RMT_TELLING) ||
		    core_.members.holder_alive(uint32_t(state)))
			continue;
		if (kind(state) == RMT_TAKEN)
			receive.state.compare_exchange_strong(state, turned(state, RMT_POSTED));
		else if (receive.state.compare_exchange_strong(state, turned(state, RMT_DONE, uint32_t(state))))
			owe_event(receive);
	}
}

} // namespace aries
