// SPDX-License-Identifier: GPL-2.0-or-later
#include "gateway/control.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>

#include "fabric/segment.hpp"

namespace aries::gateway
{

namespace
{

constexpr const char *FOLDER = "/dev/shm/", *PREFIX = "aries-gateway.";
constexpr time_t PATIENCE = 10; // s

std::string path_of(const std::string &host)
{
	return FOLDER + (PREFIX + host);
}

sockaddr_un address_of(const std::string &path)
{
	sockaddr_un address = {};

	if (path.size() >= sizeof(address.sun_path))
		throw Error("the name of " + path + " is too long for a socket");
	address.sun_family = AF_UNIX;
	std::memcpy(address.sun_path, path.c_str(), path.size());
	return address;
}

Descriptor socket_here()
{
	Descriptor fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));

	if (!fd)
		throw Error("no more sockets");
	return fd;
}

bool connected(const Descriptor &fd, const std::string &path)
{
	const sockaddr_un address = address_of(path);

	return connect(fd.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)) == 0;
}

bool runs(const std::string &path)
{
	return connected(socket_here(), path);
}

std::string only_one()
{
	std::string names, last;
	unsigned int found = 0;
	std::error_code unreadable;

	for (const auto &entry : std::filesystem::directory_iterator(FOLDER, unreadable)) {
		const std::string name = entry.path().filename();

		if (!name.starts_with(PREFIX) || !entry.is_socket(unreadable) || !runs(entry.path()))
			continue;
		last = name.substr(strlen(PREFIX));
		names += " " + last;
		found++;
	}
	if (!found)
		throw Error("no gateway runs here: start one with aries-gateway run");
	if (found > 1)
		throw Error("several gateways run here: choose one with --self:" + names);
	return last;
}

} // namespace

Control::Control(const std::string &host) : path_(path_of(host)), fd_(socket_here())
{
	const sockaddr_un address = address_of(path_);
	struct stat info = {};

	if (lstat(path_.c_str(), &info) == 0) {
		if (!S_ISSOCK(info.st_mode))
			throw Error(path_ + " is there and no socket: remove it");
		if (runs(path_))
			throw Error("a gateway of " + host + " runs here already");
		unlink(path_.c_str());
	}
	const mode_t before = umask(077);
	const int result = bind(fd_.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address));
	const int error = errno;

	umask(before);
	if (result || listen(fd_.get(), 8))
		throw Error("cannot make the socket " + path_ + ": " +
			    strerror(error)); // NOLINT(concurrency-mt-unsafe)
}

Control::~Control()
{
	unlink(path_.c_str());
}

void Control::answer(const Json &report) noexcept
{
	const Descriptor client(accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC));
	const timeval limit{1, 0}; // for a client that does not read its answer
	std::string text;

	if (!client)
		return;
	try {
		text = report.dump();
	} catch (const std::exception &) {
		return; /* no memory: the client finds a closed connection */
	}
	setsockopt(client.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	for (size_t done = 0; done < text.size();) {
		const ssize_t bytes = ::send(client.get(), text.data() + done, text.size() - done, MSG_NOSIGNAL);

		if (bytes <= 0)
			return;
		done += size_t(bytes);
	}
}

Json ask(const std::string &host)
{
	const std::string name = host.empty() ? only_one() : host;
	const Descriptor fd = socket_here();
	const timeval limit{PATIENCE, 0};
	std::string text;
	char part[4096];
	ssize_t bytes;

	if (!connected(fd, path_of(name)))
		throw Error("no gateway of " + name + " runs here, or it is not yours");
	setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	while ((bytes = recv(fd.get(), part, sizeof(part), 0)) > 0)
		text.append(part, size_t(bytes));
	if (bytes < 0)
		throw Error("the gateway of " + name + " does not answer within " + std::to_string(PATIENCE) +
			    " s: is it stopped?");
	Json report = Json::parse(text, nullptr, false);

	if (!report.is_object())
		throw Error("the gateway of " + name + " has ended while it answered");
	return report;
}

Json report_of(const WireStatus &status, const Host &self)
{
	Json peers = Json::array();

	for (const PeerStatus &peer : status.peers) {
		const PeerCounters &count = peer.counters;
		const ClockEstimate &clock = peer.clock;
		const char *state = peer.up ? "up" : peer.refused ? "refused" : "away";
		const auto us = [&clock](double ns) { return clock.known ? Json(ns / 1e3) : Json("unknown"); };

		peers.push_back({{"host", peer.host.name},
				 {"state", state},
				 {"reason", peer.reason},
				 {"address", peer.host.where()},
				 {"nodes", peer.host.nodes.text()},
				 {"round trip us", us(double(clock.round_trip_ns))},
				 {"offset us", us(double(clock.offset_ns))},
				 {"offset within us", us(double(clock.uncertainty_ns))},
				 {"drift ppm", clock.drift_known ? Json(clock.drift_ppm) : Json("unknown")},
				 {"messages sent", count.messages_sent},
				 {"bytes sent", count.bytes_sent},
				 {"messages received", count.messages_received},
				 {"bytes received", count.bytes_received},
				 {"frames sent", count.frames_sent},
				 {"frames received", count.frames_received},
				 {"replays", count.replays},
				 {"duplicates", count.duplicates},
				 {"gaps", count.gaps},
				 {"rejected", count.rejected},
				 {"reconnects", count.reconnects},
				 {"sessions", count.ups},
				 {"lost", count.lost}});
	}
	return {{"host", self.name},           {"address", self.where()}, {"nodes", self.nodes.text()},
		{"provider", status.provider}, {"strays", status.strays}, {"peers", peers}};
}

} // namespace aries::gateway
