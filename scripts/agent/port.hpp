// SPDX-License-Identifier: GPL-2.0-or-later
/** @file The virtio-serial port: frames in, frames out. */
#pragma once

#include "protocol.hpp"

#include <functional>
#include <string>

namespace agent
{

/**
 * The host's end of the line, seen from the guest.
 *
 * Output is queued and written when the port takes it; producers look at
 * congested() and stop reading their pipes while it says so, which carries the
 * host's back pressure to the command.
 */
class Port
{
public:
	using Handler = std::function<void(Kind, uint32_t id, std::string_view payload)>;

	/** @param fd non-blocking descriptor of the port, owned from now on */
	explicit Port(int fd) : fd_(fd) {}
	~Port();
	Port(const Port &) = delete;
	Port &operator=(const Port &) = delete;

	int fd() const { return fd_; }
	bool wants_write() const { return sent_ < out_.size(); }
	bool congested() const { return out_.size() - sent_ > CONGESTED; }

	void send(Kind kind, uint32_t id, std::string_view payload);
	/** Write what the port takes. */
	void flush();
	/**
	 * Read what is there and hand complete frames to @p handler.
	 * @return false when the host has closed its end
	 */
	bool receive(const Handler &handler);

private:
	static constexpr size_t CONGESTED = 1 << 20;

	int fd_;
	std::string in_;
	std::string out_;
	size_t sent_ = 0;
};

/**
 * Find a virtio-serial port by its name below /sys/class/virtio-ports and open it.
 * @return descriptor, or -1 with errno set
 */
int open_port(const char *name);

} // namespace agent
