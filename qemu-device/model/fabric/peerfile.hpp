/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file that holds guest memory, and checks of it. */
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
	CHANGING,      /* the node is publishing its memory */
	NO_ANSWER,     /* the node's process has not introduced itself */
	NOT_GIVEN,     /* the node has not passed one of the files */
	NOT_A_FILE,
	UNSEALED,
	TOO_SHORT,
	NOT_WRITABLE,
	NOT_MAPPED,
	NO_DESCRIPTORS,
	NO_ROOM,
	PAGE_LOST, /* mapped, but the kernel cannot provide a page */
	COUNT,
};

/** Cause and remedy for a log. */
const char *map_cause_text(MapCause cause) noexcept;

/** Identity of a file by stat(), the same in all processes. */
struct FileId {
	uint64_t dev;
	uint64_t ino;

	bool operator==(const FileId &) const = default;
};

/**
 * Checks that @fd is a file that may hold guest memory: regular, writable, and if it is a memfd, sealed against
 * shrinking. Accesses to a mapped file that has shrunk raise SIGBUS.
 */
MapCause check_ram_file(int fd, FileId &id, uint64_t &size) noexcept;

/** A peer's file, mapped as a whole: parts of huge pages cannot be mapped. */
class PeerFile
{
public:
	/** Maps the file of @fd; returns nullptr on failure, and sets @cause. The descriptor may be closed afterwards.
	 */
	static std::shared_ptr<const PeerFile> map(int fd, MapCause &cause) noexcept;

	/** Throws std::bad_alloc. @page: bytes of a page of the mapping */
	PeerFile(FileId file, uint64_t bytes, uint8_t *at, uint64_t page)
		: id(file), size(bytes), host(at), guard_(std::in_place, at, bytes, page)
	{
	}
	~PeerFile();
	PeerFile(const PeerFile &) = delete;
	PeerFile &operator=(const PeerFile &) = delete;

	/** Whether a page was lost: data written there are lost, and the file has to be mapped anew. */
	bool lossy() const noexcept { return guard_->lossy(); }

	const FileId id;
	const uint64_t size;
	uint8_t *const host;

private:
	std::optional<BusGuard> guard_; /* as long as the mapping */
};

} // namespace aries

#endif
