/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copyright (c) 2026 The OpenGNI authors */
/* A file that holds guest memory, and whether it can be relied on. */
#ifndef ARIES_FABRIC_PEERFILE_HPP
#define ARIES_FABRIC_PEERFILE_HPP

#include <cstdint>
#include <memory>
#include <optional>

#include "fabric/bus_guard.hpp"

namespace aries
{

/** Why guest memory cannot be reached. */
enum class MapCause : uint8_t {
	NONE,
	NO_MEMORY_YET, /* the node has not published any */
	CHANGING,      /* it is just doing so */
	NO_ANSWER,     /* its process has not introduced itself */
	NOT_GIVEN,     /* a file is not among those that it gave */
	NOT_A_FILE,
	UNSEALED,
	TOO_SHORT,
	NOT_WRITABLE,
	NOT_MAPPED,
	NO_DESCRIPTORS,
	NO_ROOM,
	PAGE_LOST, /* was mapped, but a page of it cannot be had */
	COUNT,
};

/** For people: what it means, and the way out. */
const char *map_cause_text(MapCause cause) noexcept;

/** What stat() tells of a file: which it is, whoever has it open. */
struct FileId {
	uint64_t dev;
	uint64_t ino;

	bool operator==(const FileId &) const = default;
};

/**
 * Whether @fd is a file that guest memory may be in: regular, to be written, and if it is a memfd one that cannot
 * shrink. A mapped file that shrinks means SIGBUS.
 */
MapCause check_ram_file(int fd, FileId &id, uint64_t &size) noexcept;

/** All of a peer's file, mapped. In parts it could not be: parts of huge pages have no mapping. */
class PeerFile
{
public:
	/** Maps what @fd refers to; nullptr, and why in @cause. The descriptor may be closed afterwards. */
	static std::shared_ptr<const PeerFile> map(int fd, MapCause &cause) noexcept;

	/** Throws std::bad_alloc. @page: bytes of a page of the mapping */
	PeerFile(FileId file, uint64_t bytes, uint8_t *at, uint64_t page)
		: id(file), size(bytes), host(at), guard_(std::in_place, at, bytes, page)
	{
	}
	~PeerFile();
	PeerFile(const PeerFile &) = delete;
	PeerFile &operator=(const PeerFile &) = delete;

	/** A page of it could not be had: what was written there is lost, and it has to be mapped anew. */
	bool lossy() const noexcept { return guard_->lossy(); }

	const FileId id;
	const uint64_t size;
	uint8_t *const host;

private:
	std::optional<BusGuard> guard_; /* as long as the mapping */
};

} // namespace aries

#endif
