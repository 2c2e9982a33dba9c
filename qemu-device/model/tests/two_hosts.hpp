/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two hosts in one process: a segment each, a carrier each, and a wire of memory between them. */
#ifndef ARIES_TESTS_TWO_HOSTS_HPP
#define ARIES_TESTS_TWO_HOSTS_HPP

#include <chrono>
#include <condition_variable>
#include <deque>
#include <thread>

#include "gateway/carrier.hpp"
#include "tests/pair.hpp"

namespace aries_test
{

/** Keeps messages to a host in order, each for a while, and loses all of them when the hosts are parted. */
class MemoryWire
{
public:
	static constexpr size_t ROOM = 64; /* messages on their way in one direction */

	/** One host's end. */
	class End : public aries::CarrierWire
	{
	public:
		End(MemoryWire &wire, uint32_t host) : wire_(wire), host_(host) {}
		bool send(uint32_t host, std::span<const std::byte> header, std::span<const std::byte> payload) override
		{
			return wire_.send(host_, host, header, payload);
		}

	private:
		MemoryWire &wire_;
		const uint32_t host_;
	};

	MemoryWire() : thread_([this] { run(); }) {}
	~MemoryWire() { stop(); }

	End &end(uint32_t host) { return ends_[host]; }
	void attach(uint32_t host, aries::Carrier *carrier)
	{
		const std::lock_guard guard(mutex_);

		carriers_[host] = carrier;
	}
	void join()
	{
		const std::lock_guard guard(mutex_);

		up_ = true;
		for (uint32_t host = 0; host < 2; host++)
			carriers_[host]->up(1 - host);
	}
	void part()
	{
		const std::lock_guard guard(mutex_);

		up_ = false;
		way_[0].clear();
		way_[1].clear();
		for (uint32_t host = 0; host < 2; host++) {
			if (carriers_[host])
				carriers_[host]->down(1 - host, "the test has parted them");
		}
	}
	/** How long a message takes; one that is on its way keeps its time. */
	void set_delay(std::chrono::microseconds delay)
	{
		const std::lock_guard guard(mutex_);

		delay_ = delay;
	}
	/** Brings a message to @host as if its peer had sent it, or host 2. */
	void inject(uint32_t host, const std::vector<std::byte> &message) { inject(host, message, 1 - host); }
	void inject(uint32_t host, const std::vector<std::byte> &message, uint32_t from)
	{
		const std::lock_guard guard(mutex_);

		carriers_[host]->received(from, message);
	}
	void stop()
	{
		{
			const std::lock_guard guard(mutex_);

			stop_ = true;
			changed_.notify_one();
		}
		if (thread_.joinable())
			thread_.join();
	}

private:
	using Clock = std::chrono::steady_clock;

	struct Message {
		Clock::time_point due;
		std::vector<std::byte> bytes;
	};

	bool send(uint32_t from, uint32_t to, std::span<const std::byte> header, std::span<const std::byte> payload)
	{
		const std::lock_guard guard(mutex_);

		if (to != 1 - from || !up_ || way_[to].size() >= ROOM)
			return false;
		std::vector<std::byte> bytes(header.begin(), header.end());

		bytes.insert(bytes.end(), payload.begin(), payload.end());
		way_[to].push_back({Clock::now() + delay_, std::move(bytes)});
		changed_.notify_one();
		return true;
	}

	void run()
	{
		std::unique_lock guard(mutex_);

		while (!stop_) {
			Clock::time_point next = Clock::now() + std::chrono::milliseconds(100);

			for (uint32_t to = 0; to < 2; to++) {
				while (!way_[to].empty() && way_[to].front().due <= Clock::now()) {
					if (carriers_[to])
						carriers_[to]->received(1 - to, way_[to].front().bytes);
					way_[to].pop_front();
				}
				if (!way_[to].empty())
					next = std::min(next, way_[to].front().due);
			}
			changed_.wait_until(guard, next);
		}
	}

	std::mutex mutex_;
	std::condition_variable changed_;
	End ends_[2]{{*this, 0}, {*this, 1}};
	aries::Carrier *carriers_[2]{};
	std::deque<Message> way_[2]; /* to each host */
	std::chrono::microseconds delay_{0};
	bool up_ = false;
	bool stop_ = false;
	std::thread thread_;
};

/**
 * Node 0 on one host, node 1 on the other, as in a Pair: node 0 initiates, node 1 has a region with a queue. Node 2 may
 * join host 0. The gateways' address is 3. There is a third host, without nodes, which nobody can reach.
 */
struct TwoHosts : Regions {
	static constexpr uint32_t NODES = 4, GATEWAY = 3;
	static constexpr unsigned int PATIENCE_MS = 60000;

	std::string path[2] = {fabric_path(), fabric_path()};
	MemoryWire wire;
	std::unique_ptr<aries::Carrier> carrier[2];
	FakeHost a;
	FakeHost b;

	static aries::CarrierConfig config(const std::string &path, uint32_t host)
	{
		aries::CarrierConfig config;

		config.fabric = path;
		config.nodes = NODES;
		config.lease_ms = 100;
		config.address = GATEWAY;
		config.host = host;
		config.hosts = {{0, 2}, {1}, {}};
		return config;
	}

	/** @param file_b: as FakeHost::Options::ram_file, of node 1 */
	explicit TwoHosts(const char *file_b = nullptr)
		: a(path[0], 0, {.nodes = NODES}), b(path[1], 1, {.nodes = NODES, .ram_file = file_b})
	{
		for (uint32_t host = 0; host < 2; host++)
			start(host);
		prepare(a, b, *this);
		wire.join();
		wait_for(ARIES_NODE_UP);
	}
	~TwoHosts()
	{
		wire.stop();
		carrier[0].reset();
		carrier[1].reset();
	}
	void start(uint32_t host)
	{
		carrier[host] = std::make_unique<aries::Carrier>(config(path[host], host), wire.end(host));
		wire.attach(host, carrier[host].get());
	}

	/** What host 0 sees of node 1. */
	unsigned int state() const
	{
		return unsigned(a.read(ARIES_NODE_STATE_N(uint64_t(1)), 8) & ARIES_NODE_STATE_STATE_MASK);
	}
	template <typename Done> void wait(Done &&done)
	{
		for (unsigned int i = 0; !done(); i++) {
			assert_true(i < PATIENCE_MS);
			std::this_thread::sleep_for(std::chrono::milliseconds(1));
			if (i % 16 == 0) {
				a.main_loop();
				b.main_loop();
			}
		}
	}
	void wait_for(unsigned int wanted)
	{
		wait([&] { return state() == wanted; });
	}

	aries_fma_desc &desc() { return a.desc(FMAD); }
	Event event() { return a.wait_event(20, PATIENCE_MS); }
	uint32_t send(uint64_t value, unsigned int mode = ARIES_EV_GLOBAL, unsigned int tid = 0)
	{
		memcpy(a.line(FMAD), &value, 8);
		return a.ring(FMAD, ARIES_FMA_PUT_LINE, 8, mode, tid);
	}
	uint64_t there(uint64_t at = 0)
	{
		return __atomic_load_n(reinterpret_cast<uint64_t *>(b.ram(target + at)), __ATOMIC_ACQUIRE);
	}
	uint64_t back(uint64_t at = 0)
	{
		return __atomic_load_n(reinterpret_cast<uint64_t *>(a.ram(local + at)), __ATOMIC_ACQUIRE);
	}
	unsigned int busy() const
	{
		return unsigned(a.read(ARIES_FMAD_STATUS_N(uint64_t(FMAD)), 8) & ARIES_FMAD_STATUS_BUSY_MASK);
	}
};

} // namespace aries_test

#endif
