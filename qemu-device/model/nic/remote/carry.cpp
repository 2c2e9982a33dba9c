/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic/remote/carry.hpp"

#include <algorithm>

#include "fabric/quiet_thread.hpp"

namespace aries
{

namespace
{

constexpr uint64_t LOOK_NS = 20'000'000; /* a gateway that dies does not announce it */

} // namespace

CarriedRequest carried_request(const Core &core, const TargetRequest &request, uint16_t amo) noexcept
{
	static constexpr std::array<CarriedKind, 5> KINDS{CarriedKind::Put, CarriedKind::Get, CarriedKind::Amo,
							  CarriedKind::FetchAmo, CarriedKind::CqWrite};
	CarriedRequest carried = {};

	carried.kind = uint8_t(KINDS[size_t(request.kind)]);
	carried.flags = uint8_t((request.flagged ? CARRIED_FLAGGED : 0) | (request.remote_event ? CARRIED_EVENT : 0));
	carried.type = request.type;
	carried.mdh = request.mdh;
	carried.amo = amo;
	carried.source = core.node;
	carried.target = request.node;
	carried.key = request.key;
	carried.event = request.event;
	carried.bytes = request.bytes;
	carried.part = request.kind == PacketKind::Put || request.kind == PacketKind::Get ? request.bytes : 0;
	carried.offset = request.offset;
	carried.flag_offset = request.flag_offset;
	carried.flag_value = request.flag_value;
	carried.operand[0] = request.operand[0];
	carried.operand[1] = request.operand[1];
	return carried;
}

/*
 * Mutex held. The area is that of @gateway as it lives now, and of our own life. Where it was another's, that one is
 * dead: nobody but us knows it.
 */
bool Carry::open(uint32_t gateway) noexcept
try {
	const uint64_t member = core_.segment.node(gateway).member.load();

	if (area_ && gateway_member_ == member && gateway_ == gateway)
		return true;
	if (!area_) {
		const bool room = core_.segment.reserve_carry(core_.node);

		no_room_.store(!room, std::memory_order_relaxed);
		if (!room)
			return false;
		entries_.resize(CARRY_SLOTS);
		area_ = &core_.segment.carry(core_.node);
	}
	if (!thread_.joinable())
		thread_ = quiet_thread([this] { run(); });
	area_->key.store(0);
	area_->issued.store(0);
	area_->answered.store(0);
	issued_ = taken_ = 0;
	gateway_ = gateway;
	gateway_member_ = member;
	area_->key.store(carry_key(member, core_.own().carry_life.load()));
	return true;
} catch (...) {
	return false;
}

/* Mutex held. */
bool Carry::allocate(uint32_t bytes, uint32_t &first, uint32_t &units) noexcept
{
	units = bytes <= CARRY_SMALL ? 0 : (bytes + CARRY_UNIT - 1) / CARRY_UNIT;
	uint32_t found = 0;

	for (uint32_t i = 0; found < units && i < CARRY_UNITS; i++) {
		found = heap_[i] ? 0 : found + 1;
		first = i + 1 - found;
	}
	if (found < units)
		return false;
	for (uint32_t i = first; i < first + units; i++)
		heap_.set(i);
	return true;
}

/* Mutex held. */
void Carry::free(uint16_t slot) noexcept
{
	Entry &entry = entries_[slot];

	for (uint32_t i = entry.first; i < entry.first + entry.units; i++)
		heap_.reset(i);
	entry = {};
	open_--;
}

uint8_t Carry::send(const CarriedRequest &request, uint32_t carried, const Fill &fill, uint32_t wanted,
		    Answered answered) noexcept
{
	const uint32_t carrier = core_.segment.node(request.target).carrier.load();
	std::unique_lock guard(mutex_);
	uint32_t first = 0, units = 0;

	if (!carrier || core_.members.presence(carrier - 1, now_ns()) != Presence::ALIVE || stop_)
		return ARIES_ST_TIMEOUT;
	if (open_ && gateway_ != carrier - 1)
		return ARIES_ST_NO_NODE;
	/* The operations of the previous gateway end first. Our thread, which ends them, must not wait for that. */
	if (open_ && gateway_member_ != core_.segment.node(gateway_).member.load()) {
		if (std::this_thread::get_id() == thread_.get_id())
			return ARIES_ST_TIMEOUT;
		bell().ring();
		return ARIES_ST_QUEUE_FULL;
	}
	if (open_ >= CARRY_SLOTS || !open(carrier - 1) || !allocate(std::max(carried, wanted), first, units))
		return ARIES_ST_QUEUE_FULL;
	while (entries_[rover_].used)
		rover_ = uint16_t((rover_ + 1) % CARRY_SLOTS);
	const uint16_t index = rover_;
	CarrySlot &slot = area_->slot[index];

	rover_ = uint16_t((rover_ + 1) % CARRY_SLOTS);
	entries_[index] = {std::move(answered), first, units, true};
	open_++;
	slot.request = request;
	slot.payload = first * CARRY_UNIT;
	slot.room = units * CARRY_UNIT;
	if (carried)
		fill(units ? area_->heap + slot.payload : slot.small);
	area_->issue[issued_ % CARRY_SLOTS].store(index, std::memory_order_relaxed);
	area_->issued.store(++issued_, std::memory_order_release);
	guard.unlock();
	NodeSlot &gateway = core_.segment.node(carrier - 1);

	gateway.carry_pending[core_.node / 64].fetch_or(uint64_t(1) << (core_.node % 64));
	Bell(gateway.carry_bell, gateway.carry_sleeping).ring();
	return ARIES_ST_OK;
}

void Carry::wait_for_room(std::chrono::milliseconds patience) noexcept
{
	std::unique_lock guard(mutex_);

	changed_.wait_for(guard, patience);
}

/* Mutex held. The gateway has died, left, or been replaced. */
bool Carry::gateway_lost() noexcept
{
	return gateway_member_ && (core_.members.presence(gateway_, now_ns()) != Presence::ALIVE ||
				   core_.segment.node(gateway_).member.load() != gateway_member_);
}

/* Mutex held. The gateway is not trusted: the number may not be that of one of our requests. */
bool Carry::next(uint16_t &slot) noexcept
{
	while (area_ && gateway_member_ && taken_ != area_->answered.load(std::memory_order_acquire)) {
		slot = area_->answer[taken_++ % CARRY_SLOTS].load(std::memory_order_relaxed);
		if (slot < CARRY_SLOTS && entries_[slot].used)
			return true;
	}
	return false;
}

/* Mutex held, and dropped while it is handed out. */
void Carry::hand_out(std::unique_lock<std::mutex> &guard, uint16_t slot) noexcept
{
	const CarrySlot &from = area_->slot[slot];
	CarriedResponse response = from.response;
	const uint32_t room = std::max(entries_[slot].units * CARRY_UNIT, CARRY_SMALL);
	const uint8_t *data =
		entries_[slot].units ? area_->heap + size_t{entries_[slot].first} * CARRY_UNIT : from.small;

	response.bytes = std::min(response.bytes, room);
	const Answered answered = std::move(entries_[slot].answered);

	running_ = true;
	guard.unlock();
	answered(response, {data, response.bytes});
	guard.lock();
	running_ = false;
	/* A reset has freed it already. */
	if (entries_[slot].used)
		free(slot);
	changed_.notify_all();
}

/* Mutex held. No operation in flight will be answered any more. */
void Carry::give_up(std::unique_lock<std::mutex> &guard) noexcept
{
	area_->key.store(0);
	gateway_member_ = 0;
	/* Once everything is free, requests may be issued to the next gateway. */
	for (uint16_t i = 0; open_ && !gateway_member_ && i < CARRY_SLOTS; i++) {
		if (!entries_[i].used)
			continue;
		Answered answered = std::move(entries_[i].answered);

		free(i);
		running_ = true;
		guard.unlock();
		answered({.status = ARIES_ST_TIMEOUT}, {});
		answered = nullptr;
		guard.lock();
		running_ = false;
		changed_.notify_all();
	}
}

/* Mutex held, and dropped while destructors run. */
void Carry::drop(std::unique_lock<std::mutex> &guard) noexcept
{
	for (uint16_t i = 0; open_ && i < CARRY_SLOTS; i++) {
		if (!entries_[i].used)
			continue;
		Answered answered = std::move(entries_[i].answered);

		free(i);
		guard.unlock();
		answered = nullptr;
		guard.lock();
	}
	gateway_member_ = 0;
	changed_.notify_all();
}

void Carry::reset() noexcept
{
	std::unique_lock guard(mutex_);

	drop(guard);
	changed_.wait(guard, [this] { return !running_; });
	drop(guard);
}

void Carry::stop() noexcept
{
	{
		std::unique_lock guard(mutex_);

		stop_ = true;
		drop(guard);
		if (area_)
			bell().ring();
	}
	if (thread_.joinable())
		thread_.join();
}

void Carry::run() noexcept
{
	std::unique_lock guard(mutex_);

	while (!stop_) {
		uint16_t slot;

		if (next(slot)) {
			hand_out(guard, slot);
		} else if (open_ && gateway_lost()) {
			give_up(guard);
		} else {
			const uint32_t seen = taken_;

			guard.unlock();
			bell().wait(LOOK_NS, [&] { return stop_ || area_->answered.load() != seen; });
			guard.lock();
		}
	}
}

} // namespace aries
