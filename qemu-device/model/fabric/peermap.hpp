/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mappings of the guest memory of all nodes in this process. */
#ifndef ARIES_FABRIC_PEERMAP_HPP
#define ARIES_FABRIC_PEERMAP_HPP

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <vector>

#include "fabric/peerfiles.hpp"

namespace aries
{

/** The guest memory of one node at one time. Immutable once it is published. */
class RamMap
{
public:
	struct Piece {
		uint64_t gpa;
		uint64_t size;
		uint8_t *host;
	};

	explicit RamMap(uint64_t version) : version_(version) {}
	RamMap(const RamMap &) = delete;
	RamMap &operator=(const RamMap &) = delete;

	/** @file: file that contains the piece, of a peer; stays mapped as long as the map exists */
	void add(uint64_t gpa, uint64_t size, uint8_t *host, std::shared_ptr<const PeerFile> file = nullptr)
	{
		files_[count_] = std::move(file);
		pieces_[count_++] = {gpa, size, host};
	}
	uint64_t version() const noexcept { return version_; }
	/** Whether a page of a peer's file was lost. */
	bool lossy() const noexcept
	{
		return std::any_of(files_.begin(), files_.begin() + ptrdiff_t(count_),
				   [](const auto &file) { return file && file->lossy(); });
	}
	/** As lossy(), to be called after an access. */
	bool lost() const noexcept
	{
		std::atomic_signal_fence(std::memory_order_seq_cst); /* behind the access */
		return lossy_mappings.load(std::memory_order_relaxed) && lossy();
	}
	size_t count() const noexcept { return count_; }

	/** The first piece; a piece of 0 bytes if there is no memory. */
	const Piece *first() const noexcept { return pieces_; }

	/** The piece that contains @gpa, nullptr if it is not memory. */
	const Piece *piece(uint64_t gpa) const noexcept
	{
		for (size_t i = 0; i < count_; i++) {
			if (gpa - pieces_[i].gpa < pieces_[i].size)
				return &pieces_[i];
		}
		return nullptr;
	}

	/**
	 * Where @gpa is mapped, nullptr if it is not memory.
	 * @span: bytes from there to the end of the piece
	 */
	uint8_t *find(uint64_t gpa, uint64_t &span) const noexcept
	{
		const Piece *in = piece(gpa);

		if (!in)
			return nullptr;
		span = in->size - (gpa - in->gpa);
		return in->host + (gpa - in->gpa);
	}

	/** As find(), but all of @length bytes must be in one piece. */
	uint8_t *span(uint64_t gpa, uint64_t length) const noexcept
	{
		uint64_t have;
		uint8_t *host = find(gpa, have);

		return host && length <= have ? host : nullptr;
	}

	/** Bus address of a pointer from find(). */
	uint64_t address(const uint8_t *host) const noexcept
	{
		for (size_t i = 0; i < count_; i++) {
			const Piece &piece = pieces_[i];

			if (uint64_t(host - piece.host) < piece.size)
				return piece.gpa + uint64_t(host - piece.host);
		}
		return UINT64_MAX;
	}

private:
	const uint64_t version_;
	size_t count_ = 0;
	Piece pieces_[ARIES_RAM_MAX] = {};
	std::array<std::shared_ptr<const PeerFile>, ARIES_RAM_MAX> files_;
};

/**
 * The current RamMap of each node. A thread may use a map while it holds a
 * FlightGuard on the node, if it has loaded the map under the guard; the own map
 * also under the lock of one of the own queues.
 */
class PeerMaps
{
public:
	PeerMaps(Segment &segment, Membership &members, Wake &wake);
	~PeerMaps();

	/** Source of descriptors of the peers' memory. */
	PeerFiles &files() noexcept { return files_; }

	/**
	 * Memory of a peer, mapped on first use; nullptr if that fails, which is logged. The caller holds a FlightGuard
	 * on the peer, and no lock in the segment, because this waits for a peer that has not passed its descriptors
	 * yet.
	 */
	const RamMap *of(uint32_t node) noexcept
	{
		const RamMap *map = current_[node].load(std::memory_order_seq_cst);

		if (node == node_)
			return map;
		if (map && map->version() == segment_.node(node).ram_version.load(std::memory_order_acquire)) [[likely]]
			return map;
		return open_peer(node);
	}

	/**
	 * To be called after an access to memory of @node by @map, before the access counts as done. Return: whether a
	 * page was lost, so that zeros were read, or written data are lost. The memory is mapped anew for the next
	 * visit then. The caller holds the FlightGuard, and no lock in the segment.
	 */
	bool lost(uint32_t node, const RamMap *map) noexcept
	{
		std::atomic_signal_fence(std::memory_order_seq_cst); /* behind the access */
		return lossy_mappings.load(std::memory_order_relaxed) && look_at_pages(node, map);
	}

	/** Our own memory. */
	const RamMap *own() const noexcept { return current_[node_].load(std::memory_order_seq_cst); }

	/** Publishes our memory to the peers; throws Error. The caller then waits for users of the old map and reaps.
	 */
	void set_own(const aries_ram *ram, size_t count);
	/** Peers can no longer map our memory. */
	void withdraw() noexcept;

	/** Frees replaced maps of nodes at which this process has no accesses in flight. */
	void reap() noexcept;
	/** Replaced own maps without a ticket are to be freed when @ticket is done. */
	void retire_own(uint64_t ticket) noexcept;
	/** Frees replaced own maps whose ticket is not above @done. */
	void reap_own(uint64_t done) noexcept;

private:
	struct Retired {
		uint32_t node;
		std::unique_ptr<const RamMap> map;
		uint64_t ticket = UINT64_MAX; /* of own maps */
	};

	const RamMap *open_peer(uint32_t node) noexcept;
	[[gnu::cold, gnu::noinline]] bool look_at_pages(uint32_t node, const RamMap *map) noexcept;
	std::unique_ptr<RamMap> map_peer(uint32_t node, MapCause &cause);
	void make_room();
	void replace(uint32_t node, std::unique_ptr<const RamMap> map) noexcept;

	Segment &segment_;
	const uint32_t node_;
	PeerFiles files_;
	std::unique_ptr<std::atomic<const RamMap *>[]> current_;
	std::mutex mutex_; /* for opening, replacing and reaping */
	std::vector<Retired> retired_;
};

} // namespace aries

#endif
