// SPDX-License-Identifier: GPL-2.0-or-later
#include "port.hpp"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace agent
{

Port::~Port()
{
	close(fd_);
}

void Port::send(Kind kind, uint32_t id, std::string_view payload)
{
	out_ += frame(kind, id, payload);
	flush();
}

void Port::flush()
{
	while (sent_ < out_.size()) {
		const ssize_t n = write(fd_, out_.data() + sent_, out_.size() - sent_);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		sent_ += static_cast<size_t>(n);
	}
	if (sent_ == out_.size()) {
		out_.clear();
		sent_ = 0;
	} else if (sent_ > CONGESTED) {
		out_.erase(0, sent_);
		sent_ = 0;
	}
}

bool Port::receive(const Handler &handler)
{
	char buf[65536];
	const ssize_t n = read(fd_, buf, sizeof(buf));
	if (n == 0)
		return false;
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	in_.append(buf, static_cast<size_t>(n));

	size_t at = 0;
	while (in_.size() - at >= HEADER_SIZE) {
		const std::string_view rest = std::string_view(in_).substr(at);
		const uint32_t length = get32(rest, 0);
		if (length > PAYLOAD_MAX)
			return false;
		if (rest.size() < HEADER_SIZE + length)
			break;
		handler(static_cast<Kind>(get32(rest, 4)), get32(rest, 8), rest.substr(HEADER_SIZE, length));
		at += HEADER_SIZE + length;
	}
	in_.erase(0, at);
	return true;
}

int open_port(const char *name)
{
	std::error_code ec;
	for (const auto &entry : std::filesystem::directory_iterator("/sys/class/virtio-ports", ec)) {
		std::ifstream file(entry.path() / "name");
		std::string text;
		if (std::getline(file, text) && text == name)
			return open(("/dev/" + entry.path().filename().string()).c_str(),
				    O_RDWR | O_NONBLOCK | O_CLOEXEC);
	}
	errno = ENODEV;
	return -1;
}

} // namespace agent
