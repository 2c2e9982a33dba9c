// SPDX-License-Identifier: GPL-2.0-or-later
/** @file State of another gateway: session, signs of life, clock. */
#ifndef ARIES_GATEWAY_PEER_HPP
#define ARIES_GATEWAY_PEER_HPP

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gateway/clock.hpp"
#include "gateway/flow.hpp"
#include "gateway/hello.hpp"

namespace aries::gateway
{

/** Sends frames; no function waits. */
class Transport
{
public:
	virtual ~Transport() = default;
	/** Sends a copy of the frame; false if there is no room at the moment. True does not mean that the frame
	 * arrives. */
	virtual bool transmit(uint32_t host, Bytes frame) noexcept = 0;
	/** Makes the next frame use a new connection; frames in flight may be lost. */
	virtual void reconnect(uint32_t host) noexcept = 0;
	/** Sends to an address that is not in the hosts file. */
	virtual void transmit_to(const Host &stranger, Bytes frame) noexcept = 0;
};

/** Times in ns. */
struct PeerSettings {
	uint64_t timeout = 5'000'000'000; ///< without a sign of life, after which a peer is away
	size_t window = 64;               ///< frames that may wait to be acknowledged

	uint64_t beat() const noexcept { return timeout / 10; }
	/** Without a sign of life, a new connection is tried after this time. */
	uint64_t quiet() const noexcept { return timeout / 5; }
	/**
	 * The same if frames of the peer arrive, but no answers and acknowledgements: an end may send by one connection
	 * and receive by another one. Longer than quiet(), because a beat waits behind other frames.
	 */
	uint64_t deaf() const noexcept { return timeout / 5 * 2; }
	/** Pause until the next attempt. Its length varies, so that two ends do not keep closing each other's
	 * connections. */
	uint64_t retry(uint64_t random) const noexcept { return timeout / 8 + random % (timeout / 8 + 1); }
};

/** An event of a peer. */
struct Notice {
	enum class Kind : uint8_t { Up, Down, Log } kind;
	uint32_t host;
	std::string text;           ///< why; a line
	Identity peer;              ///< of Up
	std::unique_ptr<Flow> lost; ///< of Down: has the messages that were not acknowledged
};

/** The result of a frame or of a tick. */
struct Events {
	std::vector<Notice> notices;
	uint32_t host = 0; ///< sender of the messages
	std::vector<Bytes> messages;

	void clear()
	{
		notices.clear();
		messages.clear();
	}
	void log(uint32_t from, std::string text)
	{
		notices.push_back({Notice::Kind::Log, from, std::move(text), {}, nullptr});
	}
};

struct PeerCounters {
	uint64_t messages_sent = 0, bytes_sent = 0, messages_received = 0, bytes_received = 0;
	uint64_t frames_sent = 0, frames_received = 0;
	uint64_t replays = 0;       ///< Data frames sent again
	uint64_t duplicates = 0;    ///< Data frames that had arrived before
	uint64_t gaps = 0;          ///< frames that arrived while an earlier one was missing
	uint64_t rejected = 0;      ///< frames of the session with a wrong tag or number
	uint64_t reconnects = 0;    ///< connections given up
	uint64_t ups = 0, lost = 0; ///< sessions; messages reported as lost
};

class Peer
{
public:
	Peer(const Identity &self, const Host &host, uint32_t number, const FabricKey &key,
	     const PeerSettings &settings, Transport &transport, uint64_t now);

	const Host &host() const noexcept { return host_; }
	bool up() const noexcept { return flow_ != nullptr; }
	uint64_t session() const noexcept { return up() ? keys_.id() : 0; }
	/** Why this gateway refuses the peer, or the peer refuses this gateway; empty if neither. */
	const std::string &refused() const noexcept { return complaint_; }
	const std::string &reason() const noexcept { return reason_; }
	const PeerCounters &counters() const noexcept { return counters_; }
	ClockEstimate clock(uint64_t now) const { return clock_.estimate(now); }
	/** Whether service() has something to send. */
	bool waiting() const noexcept { return up() && flow_->waiting(); }
	/** Whether nothing waits to be acknowledged. */
	bool idle() const noexcept { return !up() || flow_->idle(); }

	/** False if the peer is away, or there is no room. */
	bool send(Bytes header, Bytes payload, uint64_t now);
	/** Handles a Hello that judge() accepts. */
	void hello(const Hello &hello, uint64_t now, Events &events);
	/** Refuses a Hello: tells the peer, and writes to the log once. @echo: nonce of the Hello */
	void refuse(Refusal code, const std::string &text, const Nonce &echo, uint64_t now, Events &events);
	/** The peer refuses our Hello. @genuine: the tag of the Refuse is right */
	void refused(const Refuse &refuse, bool genuine, Events &events);
	/** The peer answers in frames of another version. */
	void refused_version(const std::string &text, Events &events);
	/** Whether we have sent a Hello with this nonce. */
	bool attempts(const Nonce &nonce) const noexcept { return attempt_ == nonce; }
	/** Handles a frame of the session. */
	void receive(const Frame &frame, uint64_t now, Events &events);

	/** Sends waiting frames. */
	void service(uint64_t now);
	/** Does due work, such as beats. */
	void tick(uint64_t now, Events &events);
	/** Whether a connection to the peer may be in the making. */
	bool restless(uint64_t now) const noexcept
	{
		return !up() || now > std::min(heard_, answered_) + settings_.beat() * 3 / 2;
	}
	/** When tick() must be called. */
	uint64_t due() const noexcept;
	/** Tells it that this end shuts down. */
	void leave(uint64_t now);

private:
	void complain(Refusal code, const std::string &text, Events &events);
	void send_hello(const Nonce &nonce, const Nonce &echo);
	void attempt();
	void establish(const Hello &hello, uint64_t now, Events &events);
	void go_down(const std::string &reason, uint64_t now, Events &events);
	void heard(uint64_t now, Events &events);
	void data(const Frame &frame, uint64_t now, Events &events);
	void beat(const Frame &frame, uint64_t now);
	void answer(const Frame &frame, uint64_t now);
	void missing(uint64_t now);
	void control(FrameType type, uint16_t flags, uint64_t now, const FrameTimes *times = nullptr);
	bool transmit(FrameHeader header, std::span<std::byte> frame, uint64_t now);
	void pump(uint64_t now);
	void tick_up(uint64_t now, Events &events);
	void tick_away(uint64_t now);

	const Identity &self_;
	const Host host_;
	const uint32_t number_;
	const FabricKey &key_;
	const PeerSettings settings_;
	Transport &transport_;
	PeerCounters counters_;
	Clock clock_;

	std::unique_ptr<Flow> flow_; // of the session; null without one
	SessionKeys keys_;
	Nonce nonce_ = {}, peer_nonce_ = {}; // of the session
	uint64_t boot_ = 0;                  // of the peer
	uint64_t out_number_ = 0, in_number_ = 0;

	std::optional<Nonce> attempt_; // our nonce for the next session
	Nonce seen_ = {};              // the peer's nonce for the next session
	uint32_t hellos_ = 0;          // unanswered
	uint32_t told_ = 0;            // a bit for each code of a refusal that is in the log since the last session
	std::string complaint_, reason_ = "not heard of yet";

	uint64_t heard_ = 0, answered_ = 0, next_beat_ = 0, next_hello_ = 0, next_reconnect_ = 0;
	uint64_t next_refuse_ = 0;
	uint64_t asked_ = 0, asked_for_ = 0; // when missing frames were asked for, and the first one
	uint64_t owed_since_ = 0;            // when the first unacknowledged Data frame arrived
	uint32_t owed_ = 0;
	uint64_t blocked_until_ = 0, blocked_for_ = 0;
	uint64_t quiet_since_ = 0; // the silence that the log has a line about
	uint64_t quiet_replays_ = 0;
	bool deaf_told_ = false; // the log has a line that the peer does not answer
};

} // namespace aries::gateway

#endif
