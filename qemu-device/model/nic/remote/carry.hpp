/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The initiator's end of requests for nodes of other hosts. */
#ifndef ARIES_NIC_CARRY_HPP
#define ARIES_NIC_CARRY_HPP

#include <bitset>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <span>
#include <thread>

#include "fabric/futex.hpp"
#include "nic/core/core.hpp"
#include "nic/target/serve.hpp"

namespace aries
{

/** @request as it travels; what sends and block transfers have besides is for them to add. */
CarriedRequest carried_request(const Core &core, const TargetRequest &request, uint16_t amo) noexcept;

/**
 * Puts requests into this node's area of the segment, whence a gateway takes them to the host of their target, and
 * gives what comes back to who has asked. One gateway at a time: it has all the nodes that are not on this host.
 *
 * Requests leave in the order of send(), and those for one host are served in that order.
 */
class Carry
{
public:
	/** What comes back, once: never, if a reset comes first; it is destroyed then. On a thread of its own, with no
	 * lock held. Data is there during the call only. */
	using Answered = std::function<void(const CarriedResponse &response, std::span<const uint8_t> data)>;
	/** Writes the payload of a request. */
	using Fill = std::function<void(uint8_t *to)>;

	explicit Carry(Core &core) noexcept : core_(core) {}
	~Carry() { stop(); }
	Carry(const Carry &) = delete;
	Carry &operator=(const Carry &) = delete;

	/**
	 * Issues a request for a node with is_carried(). Any thread; does not wait.
	 * @carried: bytes of payload that @fill writes, at once
	 * @wanted: bytes that may come back
	 * Return: ARIES_ST_OK; ARIES_ST_QUEUE_FULL (as much is under way as there is room for, or what a gateway
	 * that has gone had of it must end first), ARIES_ST_TIMEOUT (no gateway lives), ARIES_ST_NO_NODE (it has
	 * another gateway than what is under way)
	 */
	uint8_t send(const CarriedRequest &request, uint32_t carried, const Fill &fill, uint32_t wanted,
		     Answered answered) noexcept;

	/** Waits for room after QUEUE_FULL; for at most @patience, or until somebody calls it off. */
	void wait_for_room(std::chrono::milliseconds patience) noexcept;

	/** What is under way is nobody's any more; what is being handed out is waited for. */
	void reset() noexcept;
	/** The same, and the thread ends. */
	void stop() noexcept;
	/** Whether the fabric's file had no space for our area when asked for it last: requests are refused then. */
	bool no_room() const noexcept { return no_room_.load(std::memory_order_relaxed); }

private:
	struct Entry {
		Answered answered;
		uint32_t first = 0, units = 0; /* of the heap */
		bool used = false;
	};

	bool open(uint32_t gateway) noexcept;
	bool allocate(uint32_t bytes, uint32_t &first, uint32_t &units) noexcept;
	void free(uint16_t slot) noexcept;
	bool gateway_lost() noexcept;
	bool next(uint16_t &slot) noexcept;
	void hand_out(std::unique_lock<std::mutex> &guard, uint16_t slot) noexcept;
	void give_up(std::unique_lock<std::mutex> &guard) noexcept;
	void drop(std::unique_lock<std::mutex> &guard) noexcept;
	Bell bell() const noexcept { return {area_->bell, area_->sleeping}; }
	void run() noexcept;

	Core &core_;
	std::mutex mutex_;
	std::condition_variable changed_; /* room, or nothing is handed out any more */
	CarryArea *area_ = nullptr;       /* has memory */
	uint64_t gateway_member_ = 0;     /* NodeSlot::member of who has the area; 0: nobody */
	uint32_t gateway_ = 0;
	uint32_t issued_ = 0, taken_ = 0; /* requests, and answers that we have seen */
	uint32_t open_ = 0;               /* entries in use */
	uint16_t rover_ = 0;
	std::vector<Entry> entries_;
	std::bitset<CARRY_UNITS> heap_;
	bool running_ = false; /* an answer is being handed out, without the mutex */
	std::atomic<bool> stop_{false};
	std::atomic<bool> no_room_{false};
	std::thread thread_;
};

} // namespace aries

#endif
