// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * One life of a worker: what it has of the NIC, and where the other workers have theirs.
 */
#ifndef CHAOS_SESSION_H
#define CHAOS_SESSION_H

#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/gni.h"
#include "common/kvs.h"
#include "common/place.h"

namespace chaos
{

constexpr int workers_max = 16;
constexpr size_t slot_head = 64;
constexpr size_t slot_data = 16384;
constexpr size_t mailbox_room = 8192;
constexpr unsigned mailbox_lives = 4; /* of one peer, in turn: who is late writes into an old one */

/** The NIC is gone, or has forgotten us: attach again. */
class Lost : public std::runtime_error
{
public:
	using std::runtime_error::runtime_error;
};

/** Start of the window: what its owner tells. */
struct Header {
	uint64_t life;
	uint64_t overruns;
	uint64_t seen[workers_max]; /* remote events by the worker that caused them: its life (63:32), how many of that
				     * life (31:0)
				     */
};

/** Start of a slot, in which one other worker writes. */
struct Slot {
	uint64_t life; /* of the owner */
	uint64_t word; /* for atomics */
};

/** Where a worker is, as it has published. */
struct Address {
	uint64_t life;
	uint64_t window;
	gni_mem_handle_t handle;
	uint32_t pe;
	uint32_t reserved;
};

/** Instance of a worker, and that of its pings. */
inline uint32_t instance_of(int worker)
{
	return 0x100u + static_cast<uint32_t>(worker);
}
inline uint32_t ping_instance_of(int worker)
{
	return 0x200u + static_cast<uint32_t>(worker);
}

/** Data of a remote event: for which life of the target, from whom, and from which life of that one. */
struct EventData {
	static constexpr uint32_t life_mask = 0xfff;

	uint32_t to_life, from, from_life;

	explicit EventData(uint32_t data) : to_life(data >> 20), from(data & 0xff), from_life(data >> 8 & life_mask) {}
	EventData(uint64_t to, int from_worker, uint64_t its_life)
		: to_life(to & life_mask), from(static_cast<uint32_t>(from_worker)), from_life(its_life & life_mask)
	{
	}
	uint32_t data() const { return to_life << 20 | from_life << 8 | from; }
};

/** How an operation ended. */
enum class Outcome { Ok, Failed };

class Session
{
public:
	Session(const tools::Place &place, uint64_t life, tools::Kvs &kvs);

	int rank() const { return place_.rank; }
	int ranks() const { return place_.ranks; }
	uint64_t life() const { return life_; }
	gni_nic_handle_t nic() const { return domain_.nic(); }
	uint32_t pe() const { return domain_.pe(); }
	const Address &address(int worker) const { return addresses_[static_cast<size_t>(worker)]; }
	uint8_t *scratch() const { return scratch_.data(); }
	uint8_t *mailbox(int peer, uint64_t turn) const;
	const gni_mem_handle_t &mail_handle() const { return mail_registration_.handle(); }

	static size_t slot_at(int worker);

	/** Looks where the others are now. @return whether worker @p worker has another life than before */
	bool refresh(int worker);

	/** A descriptor for worker @p to: @p local_at in the scratch memory, @p remote_at in its window. */
	gni_post_descriptor_t descriptor(gni_post_type_t type, int to, size_t local_at, size_t remote_at,
					 size_t size) const;

	/** A descriptor for a collective, with room for its result. */
	gni_post_descriptor_t collective() const;
	gni_ce_result_t *collective_result() const;

	/** Posts and waits. Throws Lost, and Failure for what must never be. */
	Outcome execute(int to, gni_post_descriptor_t &descriptor);

	/** Counts remote events. */
	void take_events();

	/** Remote events of our life that a worker with this header has counted. */
	uint64_t seen(const Header &header) const;

	/** By what, how often: for the report. */
	std::map<std::string, uint64_t> counts;

private:
	void publish(tools::Kvs &kvs) const;
	void count(EventData event);
	void bind(int worker);

	tools::Place place_;
	uint64_t life_;
	tools::Kvs &kvs_;
	tools::Domain domain_;
	tools::Queue source_, sink_, mail_sink_;
	tools::Memory window_, mail_, scratch_;
	tools::Registration window_registration_, mail_registration_, scratch_registration_;
	std::vector<Address> addresses_;
	std::vector<std::unique_ptr<tools::Endpoint>> endpoints_;
};

} // namespace chaos

#endif // CHAOS_SESSION_H
