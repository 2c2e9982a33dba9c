// SPDX-License-Identifier: GPL-2.0-or-later
/** @file All peers of a gateway: finds the sender of a frame and decides who may join. Independent of threads and
 * libfabric. */
#ifndef ARIES_GATEWAY_HUB_HPP
#define ARIES_GATEWAY_HUB_HPP

#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "gateway/peer.hpp"

namespace aries::gateway
{

/** State of a peer, for people and programs. */
struct PeerStatus {
	Host host;
	bool up = false;
	std::string reason; ///< why the peer is not up
	bool refused = false;
	ClockEstimate clock;
	PeerCounters counters;
};

class Hub
{
public:
	/**
	 * @param self number of this host among @hosts
	 * @throws Error if the shape or @p application is too long
	 */
	Hub(const std::vector<Host> &hosts, uint32_t self, const std::string &shape,
	    const std::vector<std::byte> &application, const FabricKey &key, const PeerSettings &settings,
	    Transport &transport, uint64_t now);
	Hub(const Hub &) = delete;
	Hub &operator=(const Hub &) = delete;

	/** Sends a message. False if the host cannot be reached, its buffer is full, or it is this host. */
	bool send(uint32_t host, Bytes header, Bytes payload, uint64_t now);
	/** Whether messages to @p host wait for service(). */
	bool waiting(uint32_t host) const noexcept
	{
		return host < peers_.size() && peers_[host] && peers_[host]->waiting();
	}
	/** Handles received bytes of any sender. */
	void receive(Bytes bytes, uint64_t now, Events &events);
	/** Sends waiting frames and acknowledgements of all peers with traffic since the last call. */
	void service(uint64_t now);
	/** Does due work, such as beats and time-outs. Return: the time of the next call. */
	uint64_t tick(uint64_t now, Events &events);
	/** When tick() must be called: the time that it returned, or earlier if frames were sent or received since. */
	uint64_t due() const noexcept { return due_; }
	/** Whether a connection to a peer may be in the making: libfabric's tcp provider makes connections only while
	 * it is polled. */
	bool restless(uint64_t now) const noexcept;
	/** Whether all sent frames have been acknowledged. */
	bool idle() const noexcept;
	/** Says goodbye to all peers; frames that arrive later are ignored. */
	void leave(uint64_t now);

	const Identity &self() const noexcept { return self_; }
	std::vector<PeerStatus> status(uint64_t now) const;
	/** Frames and other bytes that belong to no session. */
	uint64_t strays() const noexcept { return strays_; }

private:
	void greet(Bytes bytes, uint64_t now, Events &events);
	void other_version(Bytes bytes, uint64_t now, Events &events);
	void hello(const Frame &frame, uint64_t now, Events &events);
	void refuse(const Frame &frame, Events &events);
	void turn_away(const Hello &hello, Refusal code, const std::string &text, Events &events);
	Peer *named(const std::string &name) noexcept;
	void touched(Peer &peer);
	void renew(const Events &events);

	Identity self_;
	uint32_t number_;
	FabricKey key_;
	Transport &transport_;
	std::vector<std::unique_ptr<Peer>> peers_; // by number; null: this host
	std::unordered_map<uint64_t, Peer *> sessions_;
	std::vector<Peer *> dirty_;
	std::set<std::string> turned_away_; // lines that are in the log
	uint64_t strays_ = 0;
	uint64_t due_ = 0;
	bool left_ = false;
};

} // namespace aries::gateway

#endif
