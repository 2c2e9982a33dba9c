/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packet/pcapng.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace aries
{

namespace
{

constexpr uint32_t SECTION_BLOCK = 0x0a0d0d0a;
constexpr uint32_t INTERFACE_BLOCK = 1;
constexpr uint32_t PACKET_BLOCK = 6;
constexpr uint32_t BYTE_ORDER_MAGIC = 0x1a2b3c4d;
constexpr uint16_t OPT_END = 0;
constexpr uint16_t OPT_SHB_USERAPPL = 4;
constexpr uint16_t OPT_IF_NAME = 2;
constexpr uint16_t OPT_IF_TSRESOL = 9;
constexpr uint16_t OPT_EPB_FLAGS = 2;
constexpr uint32_t EPB_FIXED = 32;      /* with both lengths */
constexpr uint32_t EPB_OPTIONS = 8 + 4; /* flags and the end */
constexpr uint8_t NANOSECONDS = 9;      /* ten to the minus */
constexpr size_t NAME_MAX_BYTES = 64;

constexpr uint32_t padded(size_t bytes)
{
	return uint32_t(bytes + 3) & ~3u;
}

std::string text_of(int error)
{
	return std::generic_category().message(error);
}

/* Writing beyond the limit of the process would be a signal that ends it. */
uint64_t allowed(uint64_t limit)
{
	rlimit own;

	if (getrlimit(RLIMIT_FSIZE, &own) == 0 && own.rlim_cur != RLIM_INFINITY)
		return std::min<uint64_t>(limit, own.rlim_cur);
	return limit;
}

/* Why @fd cannot be written as a trace; empty if it can. */
std::string refuse(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return text_of(errno);
	if (!S_ISREG(st.st_mode))
		return "not a regular file";
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? "another trace is being written there" : text_of(errno);
	return ftruncate(fd, 0) < 0 ? text_of(errno) : "";
}

} // namespace

PcapngFile::PcapngFile(const std::string &path, const std::string &interface, uint64_t limit)
	: limit_(allowed(limit)), buffer_(std::make_unique<uint8_t[]>(PCAPNG_BUFFER))
{
	/* Not blocking: a FIFO without a reader is refused, not waited for. */
	fd_ = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
	if (fd_ < 0)
		throw std::runtime_error(errno == ENXIO ? "not a regular file" : text_of(errno));
	std::string why = refuse(fd_);

	if (why.empty()) {
		section(interface.substr(0, NAME_MAX_BYTES));
		if (used_ > limit_)
			why = "the limit is too small for a header";
		else if (!flush())
			why = text_of(problem_);
	}
	if (!why.empty()) {
		close(fd_);
		throw std::runtime_error(why);
	}
}

PcapngFile::~PcapngFile()
{
	flush();
	close(fd_);
}

void PcapngFile::word(uint32_t value) noexcept
{
	memcpy(&buffer_[used_], &value, sizeof(value));
	used_ += sizeof(value);
}

void PcapngFile::half(uint16_t value) noexcept
{
	memcpy(&buffer_[used_], &value, sizeof(value));
	used_ += sizeof(value);
}

void PcapngFile::option(uint16_t code, std::span<const uint8_t> value) noexcept
{
	half(code);
	half(uint16_t(value.size()));
	memset(&buffer_[used_], 0, padded(value.size()));
	std::copy(value.begin(), value.end(), &buffer_[used_]);
	used_ += padded(value.size());
}

void PcapngFile::section(const std::string &interface) noexcept
{
	static constexpr char writer[] = "OpenGNI Aries NIC";
	const std::span<const uint8_t> name(reinterpret_cast<const uint8_t *>(interface.data()), interface.size());
	const uint32_t section_bytes = 28 + 4 + padded(sizeof(writer) - 1) + 4;
	const uint32_t interface_bytes = 20 + 4 + padded(name.size()) + 8 + 4;

	word(SECTION_BLOCK);
	word(section_bytes);
	word(BYTE_ORDER_MAGIC);
	half(1); /* version 1.0 */
	half(0);
	word(UINT32_MAX); /* length of the section: not known */
	word(UINT32_MAX);
	option(OPT_SHB_USERAPPL, {reinterpret_cast<const uint8_t *>(writer), sizeof(writer) - 1});
	option(OPT_END, {});
	word(section_bytes);

	word(INTERFACE_BLOCK);
	word(interface_bytes);
	half(LINKTYPE_USER0);
	half(0);
	word(0); /* packets are whole */
	option(OPT_IF_NAME, name);
	option(OPT_IF_TSRESOL, {&NANOSECONDS, 1});
	option(OPT_END, {});
	word(interface_bytes);
}

bool PcapngFile::packet(uint64_t ns, bool inbound, std::span<const uint8_t> bytes) noexcept
{
	const uint32_t total = EPB_FIXED + padded(bytes.size()) + EPB_OPTIONS;

	if (problem_ || bytes.size() > PCAPNG_PACKET_MAX)
		return false;
	if (written_ + used_ + total > limit_) {
		flush();
		limited_ = !problem_;
		problem_ = problem_ ? problem_ : EFBIG;
		return false;
	}
	if (used_ + total > PCAPNG_BUFFER && !flush())
		return false;
	const uint8_t flags[4] = {uint8_t(inbound ? 1 : 2), 0, 0, 0};

	word(PACKET_BLOCK);
	word(total);
	word(0); /* the one interface */
	word(uint32_t(ns >> 32));
	word(uint32_t(ns));
	word(uint32_t(bytes.size()));
	word(uint32_t(bytes.size()));
	memset(&buffer_[used_], 0, padded(bytes.size()));
	memcpy(&buffer_[used_], bytes.data(), bytes.size());
	used_ += padded(bytes.size());
	option(OPT_EPB_FLAGS, flags);
	option(OPT_END, {});
	word(total);
	return true;
}

bool PcapngFile::flush() noexcept
{
	uint64_t done = 0;

	while (!problem_ && done < used_) {
		const ssize_t bytes = write(fd_, &buffer_[done], used_ - done);

		if (bytes > 0)
			done += uint64_t(bytes);
		else if (bytes == 0 || errno != EINTR)
			problem_ = bytes == 0 ? EIO : errno;
	}
	/* Half a block would make readers complain. */
	if (problem_ && done && ftruncate(fd_, off_t(written_)) == 0)
		done = 0;
	written_ += done;
	used_ = 0;
	return !problem_;
}

} // namespace aries
