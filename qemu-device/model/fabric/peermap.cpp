/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/peermap.hpp"
#include "fabric/flight.hpp"

#include <cstring>
#include <new>

#include <sys/stat.h>

namespace aries
{

PeerMaps::PeerMaps(Segment &segment, Membership &members, Wake &wake)
	: segment_(segment), node_(members.node()), files_(segment, members, wake),
	  current_(std::make_unique<std::atomic<const RamMap *>[]>(segment.nodes()))
{
}

PeerMaps::~PeerMaps()
{
	for (uint32_t n = 0; n < segment_.nodes(); n++)
		delete current_[n].load();
}

void PeerMaps::set_own(const aries_ram *ram, size_t count)
{
	NodeSlot &slot = segment_.node(node_);
	RamSection sections[ARIES_RAM_MAX] = {};
	const uint64_t version = (slot.ram_version.load() | 1) + 1;
	auto map = std::make_unique<RamMap>(version);

	if (count > ARIES_RAM_MAX)
		throw Error("guest memory has " + std::to_string(count) + " pieces, the NIC knows " +
			    std::to_string(ARIES_RAM_MAX) + ": use fewer memory devices");
	for (size_t i = 0; i < count; i++) {
		struct stat st;

		if (ram[i].fd < 0 || fstat(ram[i].fd, &st) < 0 || !ram[i].host || !ram[i].size)
			throw Error("guest memory is not shared: use -object memory-backend-memfd,share=on or "
				    "memory-backend-file,share=on");
		if (S_ISREG(st.st_mode) && uint64_t(st.st_size) < ram[i].fd_offset + ram[i].size)
			throw Error("guest memory is larger than its file: use a memory backend of its own");
		for (size_t j = 0; j < i; j++) {
			if (ram[i].gpa < ram[j].gpa + ram[j].size && ram[j].gpa < ram[i].gpa + ram[i].size)
				throw Error("pieces of guest memory overlap");
		}
		sections[i] = {ram[i].gpa, ram[i].size, uint64_t(st.st_dev), uint64_t(st.st_ino), ram[i].fd_offset};
		map->add(ram[i].gpa, ram[i].size, static_cast<uint8_t *>(ram[i].host));
	}
	/* Peers must have the descriptors before they see the sections. */
	files_.give(ram, count);
	std::lock_guard guard(mutex_);

	make_room();
	slot.ram_version.exchange(version - 1); /* a full barrier: stores of the sections come after it */
	memcpy(slot.ram, sections, sizeof(sections));
	slot.ram_count = uint32_t(count);
	slot.ram_version.store(version, std::memory_order_release);
	replace(node_, std::move(map));
}

void PeerMaps::withdraw() noexcept
{
	NodeSlot &slot = segment_.node(node_);

	slot.ram_version.store((slot.ram_version.load() | 1), std::memory_order_seq_cst);
	slot.ram_count = 0;
}

/* Mutex held. Called before anything changes: a map must not be replaced without room in the list of retired maps. */
void PeerMaps::make_room()
{
	if (retired_.size() == retired_.capacity())
		retired_.reserve(retired_.size() * 2 + 1);
}

/* Mutex held, room made. */
void PeerMaps::replace(uint32_t node, std::unique_ptr<const RamMap> map) noexcept
{
	const RamMap *old = current_[node].exchange(map.release(), std::memory_order_seq_cst);

	if (old)
		retired_.push_back({node, std::unique_ptr<const RamMap>(old)});
}

const RamMap *PeerMaps::open_peer(uint32_t node) noexcept
{
	MapCause cause;

	do {
		try {
			std::lock_guard guard(mutex_);
			const RamMap *map = current_[node].load();

			if (map && map->version() == segment_.node(node).ram_version.load())
				return map;
			make_room();
			std::unique_ptr<RamMap> fresh = map_peer(node, cause);

			if (fresh) {
				map = fresh.get();
				replace(node, std::move(fresh));
				files_.reached(node);
				return map;
			}
		} catch (const std::bad_alloc &) {
			cause = MapCause::NO_ROOM;
		}
	} while (files_.wait(node, cause));
	files_.complain(node, cause);
	return nullptr;
}

bool PeerMaps::look_at_pages(uint32_t node, const RamMap *map) noexcept
{
	if (!map || !map->lossy())
		return false;
	{
		const std::lock_guard guard(mutex_);

		if (current_[node].load() != map)
			return true; /* another thread has replaced the map already */
		try {
			make_room();
			replace(node, nullptr);
		} catch (const std::bad_alloc &) {
			return true; /* the next visit fails like this one, and tries again */
		}
	}
	files_.complain(node, MapCause::PAGE_LOST);
	return true;
}

std::unique_ptr<RamMap> PeerMaps::map_peer(uint32_t node, MapCause &cause)
{
	NodeSlot &slot = segment_.node(node);
	const uint64_t version = slot.ram_version.load(std::memory_order_acquire);
	RamSection sections[ARIES_RAM_MAX];
	const uint32_t count = slot.ram_count;

	memcpy(sections, slot.ram, sizeof(sections));
	cause = count == 0 || count > ARIES_RAM_MAX ? MapCause::NO_MEMORY_YET : MapCause::CHANGING;
	/* The addition of 0 is a barrier: it reads the version after all loads of the sections. */
	if (cause != MapCause::CHANGING || (version & 1) || slot.ram_version.fetch_add(0) != version)
		return nullptr;
	auto map = std::make_unique<RamMap>(version);

	for (uint32_t i = 0; i < count; i++) {
		const RamSection &sec = sections[i];
		std::shared_ptr<const PeerFile> file = files_.find(node, {sec.dev, sec.ino}, cause);

		if (!file)
			return nullptr;
		/* Accesses behind the end of the file raise SIGBUS. */
		cause = MapCause::TOO_SHORT;
		if (sec.size > file->size || sec.fd_offset > file->size - sec.size)
			return nullptr;
		uint8_t *const host = file->host + sec.fd_offset;

		map->add(sec.gpa, sec.size, host, std::move(file));
	}
	return map;
}

void PeerMaps::reap() noexcept
{
	std::lock_guard guard(mutex_);

	std::erase_if(retired_, [this](const Retired &retired) {
		return retired.node != node_ && !in_flight(segment_, retired.node, node_, 0) &&
		       !in_flight(segment_, retired.node, node_, 1);
	});
}

void PeerMaps::retire_own(uint64_t ticket) noexcept
{
	std::lock_guard guard(mutex_);

	for (Retired &retired : retired_) {
		if (retired.node == node_ && retired.ticket == UINT64_MAX)
			retired.ticket = ticket;
	}
}

void PeerMaps::reap_own(uint64_t done) noexcept
{
	std::lock_guard guard(mutex_);

	std::erase_if(retired_,
		      [this, done](const Retired &retired) { return retired.node == node_ && retired.ticket <= done; });
}

} // namespace aries
