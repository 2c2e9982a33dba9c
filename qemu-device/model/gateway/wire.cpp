// SPDX-License-Identifier: GPL-2.0-or-later
#include "gateway/wire.hpp"

#include <algorithm>
#include <ctime>
#include <deque>

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "fabric/quiet_thread.hpp"
#include "fabric/segment.hpp"
#include "gateway/sever.hpp"

namespace aries::gateway
{

namespace
{

constexpr size_t BATCH = 32;                    // completions before other work is done
constexpr uint64_t FAREWELL = 1'000'000'000;    // ns for frames on their way to be acknowledged
constexpr uint64_t RESTLESS = 10'000'000;       // longest sleep while connections are made, ns
constexpr uint64_t LONGEST_SLEEP = 500'000'000; // ns

} // namespace

uint64_t monotonic_ns() noexcept
{
	timespec time = {};

	clock_gettime(CLOCK_MONOTONIC, &time);
	return uint64_t(time.tv_sec) * 1'000'000'000 + uint64_t(time.tv_nsec);
}

/* The endpoint's peer of each host. */
class Wire::Connections : public Transport
{
public:
	Connections(Endpoint &endpoint, const std::vector<Host> &hosts) : endpoint_(endpoint), hosts_(hosts)
	{
		for (const Host &host : hosts)
			peers_.push_back(endpoint.insert(host.address, host.port));
	}

	bool transmit(uint32_t host, Bytes frame) noexcept override { return endpoint_.send(peers_[host], frame); }

	void reconnect(uint32_t host) noexcept override
	{
		/* If a stuck connection was ended, that is enough: both ends would keep ending each other's new
		 * connections. */
		if (sever(hosts_[host].address))
			return;
		endpoint_.remove(peers_[host]);
		try {
			peers_[host] = endpoint_.insert(hosts_[host].address, hosts_[host].port);
		} catch (const Error &) {
			peers_[host] = FI_ADDR_NOTAVAIL; /* sends fail until the next try */
		}
	}

	void transmit_to(const Host &stranger, Bytes frame) noexcept override
	{
		try {
			endpoint_.send(place_of(stranger), frame);
		} catch (const std::exception &) {
			return; /* the stranger's address is not valid, so no gateway waits for an answer there */
		}
	}

private:
	static constexpr size_t STRANGERS = 16;

	Endpoint::Peer place_of(const Host &stranger)
	{
		const auto found = std::find_if(strangers_.begin(), strangers_.end(),
						[&](const auto &known) { return known.first == stranger.where(); });

		if (found != strangers_.end())
			return found->second;
		if (strangers_.size() == STRANGERS) {
			endpoint_.remove(strangers_.front().second);
			strangers_.pop_front();
		}
		strangers_.emplace_back(stranger.where(), endpoint_.insert(stranger.address, stranger.port));
		return strangers_.back().second;
	}

	Endpoint &endpoint_;
	const std::vector<Host> &hosts_;
	std::vector<Endpoint::Peer> peers_;
	std::deque<std::pair<std::string, Endpoint::Peer>> strangers_;
};

void Wire::Lock::lock()
{
	wanted_.fetch_add(1);
	mutex_.lock();
	wanted_.fetch_sub(1);
}

void Wire::Lock::lock_after_others()
{
	while (wanted_.load())
		std::this_thread::yield();
	mutex_.lock();
}

Wire::Wire(const WireOptions &options)
	: options_(options), bell_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)), epoll_(epoll_create1(EPOLL_CLOEXEC))
{
	const Host &self = options_.hosts.at(options_.self);
	const FabricKey key = FabricKey::load(options_.key_file);
	const PeerSettings settings{uint64_t(options_.timeout.count()), options_.window};

	if (!bell_ || !epoll_)
		throw Error("no more descriptors for the wire");
	endpoint_ = std::make_unique<Endpoint>(EndpointOptions{options_.provider, self.address, self.port, FRAME_MAX});
	connections_ = std::make_unique<Connections>(*endpoint_, options_.hosts);
	hub_ = std::make_unique<Hub>(options_.hosts, options_.self, options_.shape, options_.application, key, settings,
				     *connections_, monotonic_ns());
	for (const int fd : {bell_.get(), endpoint_->fd()}) {
		epoll_event event = {};

		event.events = EPOLLIN;
		if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event))
			throw Error("the wire cannot sleep on libfabric's completion queue");
	}
}

void Wire::start(WireCallbacks callbacks)
{
	callbacks_ = std::move(callbacks);
	thread_ = quiet_thread([this] { run(); });
}

Wire::~Wire()
{
	ending_ = true;
	ring();
	if (thread_.joinable())
		thread_.join();
}

void Wire::ring() noexcept
{
	const uint64_t one = 1;

	if (write(bell_.get(), &one, sizeof(one)) < 0)
		return; /* the eventfd is full, so the thread wakes anyway */
}

bool Wire::send(uint32_t host, Bytes header, Bytes payload)
{
	bool taken, waiting;

	{
		const std::lock_guard guard(lock_);

		taken = hub_->send(host, header, payload, monotonic_ns());
		waiting = hub_->waiting(host);
	}
	if (waiting && asleep_.load() && asleep_.exchange(false))
		ring();
	return taken;
}

WireStatus Wire::status() const
{
	const std::lock_guard guard(lock_);

	return {endpoint_->provider(), hub_->strays(), hub_->status(monotonic_ns())};
}

void Wire::tell(Events &events)
{
	for (Notice &notice : events.notices) {
		switch (notice.kind) {
		case Notice::Kind::Up:
			callbacks_.on_up(notice.host, notice.peer);
			break;
		case Notice::Kind::Down:
			notice.lost->for_each_outstanding(
				[&](Bytes message) { callbacks_.on_lost(notice.host, message); });
			callbacks_.on_down(notice.host, notice.text);
			break;
		case Notice::Kind::Log:
			callbacks_.on_log(notice.host, notice.text);
			break;
		}
	}
	for (const Bytes message : events.messages)
		callbacks_.on_message(events.host, message);
	events.clear();
}

/* Takes datagrams that have arrived, and does due work. Return: number of completions. */
size_t Wire::look()
{
	Events events;
	size_t done;

	lock_.lock_after_others();
	done = endpoint_->poll(BATCH, [&](Bytes bytes) {
		hub_->receive(bytes, monotonic_ns(), events);
		if (events.notices.empty() && events.messages.empty())
			return;
		lock_.unlock();
		tell(events);
		lock_.lock_after_others();
	});
	const uint64_t now = monotonic_ns();

	hub_->service(now);
	hub_->tick(now, events);
	lock_.unlock();
	tell(events);
	return done;
}

void Wire::sleep(uint64_t until)
{
	epoll_event event = {};
	uint64_t rung;
	const uint64_t now = monotonic_ns();
	const uint64_t left = until > now ? std::min(until - now, LONGEST_SLEEP) : 0;
	const timespec limit{0, long(left)};

	if (left && epoll_pwait2(epoll_.get(), &event, 1, &limit, nullptr) < 0)
		return;
	if (read(bell_.get(), &rung, sizeof(rung)) < 0)
		return; /* not the bell but a datagram or the time has ended the sleep */
}

void Wire::loop()
{
	uint64_t busy = monotonic_ns();
	const auto spin_ns = uint64_t(std::chrono::nanoseconds(options_.spin).count());

	while (!ending_) {
		const size_t done = look();
		const uint64_t now = monotonic_ns();

		if (done)
			busy = now;
		if (done || now - busy < spin_ns)
			continue;
		uint64_t due;
		bool quiet;

		asleep_ = true;
		lock_.lock_after_others();
		/* Messages that were sent before asleep_ was set have not rung the bell. */
		hub_->service(now);
		due = hub_->restless(now) ? std::min(hub_->due(), now + RESTLESS) : hub_->due();
		quiet = endpoint_->may_sleep();
		lock_.unlock();
		if (quiet && !ending_)
			sleep(due);
		asleep_ = false;
		if (spin_ns)
			busy = monotonic_ns();
	}
}

void Wire::drain(uint64_t limit_ns)
{
	const uint64_t end = monotonic_ns() + limit_ns;

	for (;;) {
		look();
		lock_.lock_after_others();
		const bool idle = hub_->idle();

		lock_.unlock();
		if (idle || monotonic_ns() >= end)
			break;
		sleep(monotonic_ns() + 1'000'000);
	}
	lock_.lock();
	hub_->leave(monotonic_ns());
	lock_.unlock();
	look(); /* lets the provider send the goodbyes */
}

void Wire::run()
{
	loop();
	drain(FAREWELL);
}

} // namespace aries::gateway
