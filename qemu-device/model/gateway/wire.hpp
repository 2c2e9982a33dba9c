// SPDX-License-Identifier: GPL-2.0-or-later
/** @file Messages between the gateways of a fabric: each arrives once and in order, or is reported as lost. */
#ifndef ARIES_GATEWAY_WIRE_HPP
#define ARIES_GATEWAY_WIRE_HPP

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "fabric/descriptor.hpp"
#include "gateway/endpoint.hpp"
#include "gateway/hub.hpp"

namespace aries::gateway
{

struct WireOptions {
	std::vector<Host> hosts;
	uint32_t self = 0; ///< number of this host among them
	std::string key_file;
	std::string provider = "tcp";
	std::string shape;                  ///< of the fabric, as text: gateways with another shape are refused
	std::vector<std::byte> application; ///< sent to peers, see on_up
	std::chrono::nanoseconds timeout = std::chrono::seconds(5);
	std::chrono::microseconds spin{0}; ///< time to poll before the thread sleeps
	size_t window = 64;                ///< frames of up to 64 KiB that may wait for a peer
};

/** Called by the wire's thread, one at a time, with no lock held. Callbacks may call send(), but must not wait. */
struct WireCallbacks {
	/** A message: header and payload in one piece, at an address that is a multiple of 8, valid during the call. */
	std::function<void(uint32_t host, Bytes message)> on_message = [](uint32_t, Bytes) {};
	/** A session begins. Called before its first message, and after the last one of an earlier session. */
	std::function<void(uint32_t host, const Identity &peer)> on_up = [](uint32_t, const Identity &) {};
	/** A message that send() took, and that may have arrived or not. Called in the order of send(), before on_down.
	 */
	std::function<void(uint32_t host, Bytes message)> on_lost = [](uint32_t, Bytes) {};
	std::function<void(uint32_t host, const std::string &reason)> on_down = [](uint32_t, const std::string &) {};
	/** A line for people about a host. */
	std::function<void(uint32_t host, const std::string &text)> on_log = [](uint32_t, const std::string &) {};
};

/** Status of the wire. */
struct WireStatus {
	std::string provider;
	uint64_t strays = 0; ///< frames and other bytes that belong to no session
	std::vector<PeerStatus> peers;
};

/**
 * Reliable messages between this host's gateway and those of all other hosts of a file. All functions may be called by
 * any thread.
 */
class Wire
{
public:
	/** Begins to listen. Throws Error if key, address or provider cannot be used. */
	explicit Wire(const WireOptions &options);
	/** Waits up to a second for acknowledgements, and says goodbye to all peers. No callback is called afterwards.
	 */
	~Wire();
	Wire(const Wire &) = delete;
	Wire &operator=(const Wire &) = delete;

	/** Begins to make sessions and to call back. May be called once. */
	void start(WireCallbacks callbacks);
	/**
	 * Takes a copy of a message of up to MESSAGE_MAX bytes. Return: false if the host is away, or its buffer is
	 * full; the buffer has room again when messages in it have arrived. Throws Error if the message is longer.
	 * Never waits for the network.
	 */
	bool send(uint32_t host, Bytes header, Bytes payload);
	WireStatus status() const;

private:
	class Connections;

	/* A mutex with two ways to take it: the wire's thread, which takes it all the time, lets other threads go
	 * first. */
	class Lock
	{
	public:
		void lock();
		void unlock() { mutex_.unlock(); }
		void lock_after_others();

	private:
		std::mutex mutex_;
		std::atomic<int> wanted_{0};
	};

	void run();
	void loop();
	size_t look();
	void tell(Events &events);
	void sleep(uint64_t until);
	void ring() noexcept;
	void drain(uint64_t limit_ns);

	WireOptions options_;
	WireCallbacks callbacks_;
	mutable Lock lock_; // protects the three members below
	std::unique_ptr<Endpoint> endpoint_;
	std::unique_ptr<Connections> connections_;
	std::unique_ptr<Hub> hub_;

	Descriptor bell_, epoll_;
	std::atomic<bool> asleep_{false}, ending_{false};
	std::thread thread_;
};

/** ns of CLOCK_MONOTONIC. */
uint64_t monotonic_ns() noexcept;

} // namespace aries::gateway

#endif
