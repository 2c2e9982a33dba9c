// SPDX-License-Identifier: GPL-2.0-or-later
#include "kvs.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace agent
{

KvsRelay::KvsRelay(const std::string &path)
{
	std::error_code ec;
	std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ec);
	std::filesystem::remove(path, ec);

	try {
		listener_ = kvs::listen_unix(path, true);
	} catch (const kvs::Error &error) {
		fprintf(stderr, "gni-agent: no key-value socket: %s\n", error.what());
		return;
	}
	// Ranks need not be root.
	chmod(path.c_str(), 0666);
}

KvsRelay::~KvsRelay()
{
	if (listener_ >= 0)
		close(listener_);
	for (const auto &[id, client] : clients_)
		close(client.fd);
}

void KvsRelay::add_fds(std::vector<pollfd> &fds) const
{
	if (listener_ >= 0)
		fds.push_back({listener_, POLLIN, 0});
	for (const auto &[id, client] : clients_)
		fds.push_back({client.fd, POLLIN, 0});
}

void KvsRelay::accept_one()
{
	const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
	if (fd < 0)
		return;
	if (clients_.size() >= CONNECTIONS_MAX)
		close(fd);
	else
		clients_.emplace(next_++, Client{fd, {}});
}

bool KvsRelay::read_from(uint32_t id, Client &client, Port &port)
{
	char buf[4096];
	const ssize_t n = read(client.fd, buf, sizeof(buf));
	if (n <= 0)
		return n < 0 && errno == EINTR;
	client.in.append({buf, static_cast<size_t>(n)});
	while (const auto line = client.in.next())
		port.send(Kind::KvsRequest, id, *line);
	return !client.in.too_long();
}

void KvsRelay::serve(const std::vector<pollfd> &fds, Port &port)
{
	for (const auto &entry : fds) {
		if (!entry.revents)
			continue;
		if (entry.fd == listener_) {
			accept_one();
			continue;
		}
		for (auto it = clients_.begin(); it != clients_.end(); ++it) {
			if (it->second.fd != entry.fd)
				continue;
			if (!read_from(it->first, it->second, port)) {
				close(it->second.fd);
				port.send(Kind::KvsClose, it->first, {});
				clients_.erase(it);
			}
			break;
		}
	}
}

void KvsRelay::reply(uint32_t id, std::string_view line)
{
	const auto it = clients_.find(id);
	if (it == clients_.end())
		return;
	std::string text(line);
	text.push_back('\n');
	// A client that does not read its answers loses them, it does not stop the agent.
	(void)!::send(it->second.fd, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

} // namespace agent
