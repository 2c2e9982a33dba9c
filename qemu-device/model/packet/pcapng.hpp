/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file in the pcapng format with one interface, written block by block. */
#ifndef ARIES_PACKET_PCAPNG_HPP
#define ARIES_PACKET_PCAPNG_HPP

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace aries
{

/** Link type of the interface: the first of those that anybody may use for himself. */
inline constexpr uint16_t LINKTYPE_USER0 = 147;

/**
 * One open file. The one who calls provides the lock. Blocks gather in a
 * buffer of PCAPNG_BUFFER bytes; the file holds whole blocks only, whatever
 * fails, and is never longer than its limit.
 */
class PcapngFile
{
public:
	/**
	 * Creates @path, or empties it, and writes section and interface. The file is for its owner only, and must be
	 * a regular one that no other trace writes. Throws std::runtime_error with the cause, the path not in it.
	 */
	PcapngFile(const std::string &path, const std::string &interface, uint64_t limit);
	/** Writes what is buffered. */
	~PcapngFile();
	PcapngFile(const PcapngFile &) = delete;
	PcapngFile &operator=(const PcapngFile &) = delete;

	/** Adds a packet of at most PCAPNG_PACKET_MAX bytes; false when the trace has ended, see problem(). */
	bool packet(uint64_t ns, bool inbound, std::span<const uint8_t> bytes) noexcept;
	/** Hands the buffer to the system; false when the trace has ended. */
	bool flush() noexcept;

	/** Bytes that the file may have: what was asked for, or less if the process may write no more. */
	uint64_t limit() const noexcept { return limit_; }
	/** Bytes of the file, buffered ones included. */
	uint64_t bytes() const noexcept { return written_ + used_; }
	/** 0, the error of a write, or EFBIG for the file's own limit. */
	int problem() const noexcept { return problem_; }
	bool limited() const noexcept { return limited_; }

private:
	void word(uint32_t value) noexcept;
	void half(uint16_t value) noexcept;
	void option(uint16_t code, std::span<const uint8_t> value) noexcept;
	void section(const std::string &interface) noexcept;

	int fd_ = -1;
	int problem_ = 0;
	bool limited_ = false;
	const uint64_t limit_;
	uint64_t written_ = 0; /* whole blocks in the file */
	uint64_t used_ = 0;    /* bytes in the buffer */
	std::unique_ptr<uint8_t[]> buffer_;
};

inline constexpr uint64_t PCAPNG_BUFFER = 1 << 16;
inline constexpr uint64_t PCAPNG_PACKET_MAX = 1024;

} // namespace aries

#endif
