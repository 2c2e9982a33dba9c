/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/peermap.hpp"
#include "fabric/flight.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace aries
{

RamMap::~RamMap()
{
	for (size_t i = 0; !ours_ && i < count_; i++)
		munmap(pieces_[i].host, pieces_[i].size);
}

PeerMaps::PeerMaps(Segment &segment, uint32_t node)
	: segment_(segment), node_(node), current_(std::make_unique<std::atomic<const RamMap *>[]>(segment.nodes()))
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
	auto map = std::make_unique<RamMap>(version, true);

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
		sections[i] = {
			ram[i].gpa, ram[i].size, uint64_t(st.st_dev), uint64_t(st.st_ino), ram[i].fd_offset, ram[i].fd,
			0};
		map->add(ram[i].gpa, ram[i].size, static_cast<uint8_t *>(ram[i].host));
	}
	std::lock_guard guard(mutex_);

	slot.ram_version.exchange(version - 1); /* no store of the sections moves before it */
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

void PeerMaps::replace(uint32_t node, std::unique_ptr<const RamMap> map)
{
	const RamMap *old = current_[node].exchange(map.release(), std::memory_order_seq_cst);

	if (old)
		retired_.push_back({node, std::unique_ptr<const RamMap>(old)});
}

const RamMap *PeerMaps::open_peer(uint32_t node) noexcept
{
	try {
		std::lock_guard guard(mutex_);
		const RamMap *map = current_[node].load();

		if (map && map->version() == segment_.node(node).ram_version.load())
			return map;
		std::unique_ptr<RamMap> fresh = map_peer(node);

		if (!fresh)
			return nullptr;
		map = fresh.get();
		replace(node, std::move(fresh));
		return map;
	} catch (...) {
		return nullptr;
	}
}

/* The peer's file is reached through its descriptor: that works for memfd and files alike. */
std::unique_ptr<RamMap> PeerMaps::map_peer(uint32_t node) noexcept
{
	NodeSlot &slot = segment_.node(node);
	const uint64_t version = slot.ram_version.load(std::memory_order_acquire);
	RamSection sections[ARIES_RAM_MAX];
	const uint32_t count = slot.ram_count;

	memcpy(sections, slot.ram, sizeof(sections));
	/* Adding nothing looks at the version after all loads of the sections. */
	if ((version & 1) || slot.ram_version.fetch_add(0) != version || count == 0 || count > ARIES_RAM_MAX)
		return nullptr;
	auto map = std::make_unique<RamMap>(version, false);

	for (uint32_t i = 0; i < count; i++) {
		const RamSection &sec = sections[i];
		char name[64];
		struct stat st;

		snprintf(name, sizeof(name), "/proc/%u/fd/%d", slot.pid.load(), sec.fd);
		const int fd = open(name, O_RDWR | O_CLOEXEC);

		if (fd < 0)
			return nullptr;
		/* The number may belong to another file by now, and a short file would mean SIGBUS. */
		const bool same =
			fstat(fd, &st) == 0 && uint64_t(st.st_dev) == sec.dev && uint64_t(st.st_ino) == sec.ino &&
			(!S_ISREG(st.st_mode) ||
			 (sec.size <= uint64_t(st.st_size) && sec.fd_offset <= uint64_t(st.st_size) - sec.size));
		void *host = same ? mmap(nullptr, sec.size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd,
					 off_t(sec.fd_offset))
				  : MAP_FAILED;

		close(fd);
		if (host == MAP_FAILED)
			return nullptr;
		map->add(sec.gpa, sec.size, static_cast<uint8_t *>(host));
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
