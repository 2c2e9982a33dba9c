/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file descriptor that its destructor closes. */
#ifndef ARIES_FABRIC_DESCRIPTOR_HPP
#define ARIES_FABRIC_DESCRIPTOR_HPP

#include <utility>

#include <unistd.h>

namespace aries
{

class Descriptor
{
public:
	explicit Descriptor(int fd = -1) noexcept : fd_(fd) {}
	Descriptor(Descriptor &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
	Descriptor &operator=(Descriptor &&other) noexcept
	{
		std::swap(fd_, other.fd_);
		return *this;
	}
	~Descriptor()
	{
		if (fd_ >= 0)
			close(fd_);
	}

	int get() const noexcept { return fd_; }
	/** Gives the descriptor away: the caller has to close it. */
	int release() noexcept { return std::exchange(fd_, -1); }
	explicit operator bool() const noexcept { return fd_ >= 0; }

private:
	int fd_;
};

} // namespace aries

#endif
