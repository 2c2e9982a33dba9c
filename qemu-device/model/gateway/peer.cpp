// SPDX-License-Identifier: GPL-2.0-or-later
#include "gateway/peer.hpp"

#include <algorithm>
#include <cstdio>

namespace aries::gateway
{

namespace
{

constexpr uint64_t MS = 1'000'000;
constexpr uint64_t HELLO_EVERY = 500 * MS, HELLO_SLOW = 5'000 * MS; // the latter to a peer that refuses
constexpr uint32_t HELLOS_PER_CONNECTION = 4;
constexpr uint64_t REFUSE_EVERY = 200 * MS;
constexpr uint64_t CLOCK_SPAN = 5'000 * MS;
constexpr uint64_t ACK_LATEST = 1 * MS;
constexpr uint32_t ACK_FRAMES = 8;
constexpr uint64_t ASK_AGAIN = 100 * MS;
constexpr uint64_t BLOCKED_FIRST = 1 * MS, BLOCKED_MOST = 50 * MS;
/* With fewer frames on their way a message is sent at once; with more it may share a frame with others. */
constexpr size_t SOON = 4;

std::string seconds(uint64_t ns)
{
	char text[32];

	snprintf(text, sizeof(text), "%.1f s", double(ns) / 1e9);
	return text;
}

} // namespace

Peer::Peer(const Identity &self, const Host &host, uint32_t number, const FabricKey &key, const PeerSettings &settings,
	   Transport &transport, uint64_t now)
	: self_(self), host_(host), number_(number), key_(key), settings_(settings), transport_(transport),
	  clock_(CLOCK_SPAN), next_hello_(now)
{
}

void Peer::complain(Refusal code, const std::string &text, Events &events)
{
	const uint32_t bit = 1U << unsigned(code);

	complaint_ = text;
	if (told_ & bit)
		return;
	told_ |= bit;
	events.log(number_, text);
}

void Peer::refuse(Refusal code, const std::string &text, const Nonce &echo, uint64_t now, Events &events)
{
	if (!up())
		complain(code, text, events);
	if (now < next_refuse_)
		return;
	next_refuse_ = now + REFUSE_EVERY;
	transport_.transmit(number_, frame_of(Refuse{self_.host.name, host_.name, echo, code, text}, key_));
}

void Peer::refused(const Refuse &refuse, bool genuine, Events &events)
{
	/* A Refuse may be forged: it neither ends a session nor fills the log. */
	if (up() || !attempt_ || refuse.echo != *attempt_)
		return;
	if (genuine)
		complain(refuse.code, refuse.text, events);
	else
		complain(Refusal::Key, host_.name + " has another key", events);
}

void Peer::refused_version(const std::string &text, Events &events)
{
	if (!up())
		complain(Refusal::Version, text, events);
}

void Peer::attempt()
{
	if (!attempt_)
		attempt_ = fresh_nonce();
}

void Peer::send_hello(const Nonce &nonce, const Nonce &echo)
{
	transport_.transmit(number_, frame_of(Hello{host_.name, nonce, echo, self_, session()}, key_));
}

void Peer::hello(const Hello &hello, uint64_t now, Events &events)
{
	if (up() && hello.nonce == peer_nonce_) {
		if (hello.session != session())
			send_hello(nonce_, peer_nonce_);
		return;
	}
	if (attempt_ && hello.echo == *attempt_) {
		/* Both ends have the same session: an old Hello that somebody has sent again made both try. */
		if (up() && hello.session == session())
			return;
		establish(hello, now, events);
		if (hello.session != session())
			send_hello(nonce_, peer_nonce_);
		return;
	}
	attempt();
	seen_ = hello.nonce;
	send_hello(*attempt_, seen_);
}

void Peer::establish(const Hello &hello, uint64_t now, Events &events)
{
	const bool same = hello.from.boot == boot_;

	if (up())
		go_down(same ? "it has begun anew" : "it was started again", now, events);
	keys_ = SessionKeys(key_.session_key(), self_.host.name, *attempt_, host_.name, hello.nonce);
	nonce_ = *attempt_;
	peer_nonce_ = hello.nonce;
	if (!same)
		clock_ = Clock(CLOCK_SPAN);
	boot_ = hello.from.boot;
	flow_ = std::make_unique<Flow>(settings_.window);
	out_number_ = in_number_ = 0;
	attempt_.reset();
	seen_ = {};
	hellos_ = 0;
	heard_ = answered_ = next_beat_ = now;
	quiet_since_ = owed_ = 0;
	deaf_told_ = false;
	asked_for_ = blocked_until_ = blocked_for_ = 0;
	told_ = 0;
	complaint_.clear();
	reason_.clear();
	counters_.ups++;
	events.notices.push_back({Notice::Kind::Up, number_, {}, hello.from, nullptr});
}

void Peer::go_down(const std::string &reason, uint64_t now, Events &events)
{
	counters_.lost += flow_->outstanding().messages;
	reason_ = reason;
	next_hello_ = now + HELLO_EVERY;
	events.notices.push_back({Notice::Kind::Down, number_, reason, {}, std::move(flow_)});
	flow_.reset();
}

bool Peer::send(Bytes header, Bytes payload, uint64_t now)
{
	if (!up() || !flow_->push(header, payload))
		return false;
	counters_.messages_sent++;
	counters_.bytes_sent += header.size() + payload.size();
	if (flow_->unacknowledged() < SOON)
		pump(now);
	return true;
}

bool Peer::transmit(FrameHeader header, std::span<std::byte> frame, uint64_t now)
{
	header.session = keys_.id();
	header.number = ++out_number_;
	header.acknowledged = flow_->expected();
	header.body = uint32_t(frame.size() - FRAME_HEADER - FRAME_TAG);
	std::memcpy(frame.data(), &header, sizeof(header));
	keys_.seal(frame);
	if (!transport_.transmit(number_, frame)) {
		blocked_for_ = std::clamp(blocked_for_ * 2, BLOCKED_FIRST, BLOCKED_MOST);
		blocked_until_ = now + blocked_for_;
		return false;
	}
	counters_.frames_sent++;
	owed_ = 0;
	blocked_until_ = blocked_for_ = 0;
	return true;
}

void Peer::pump(uint64_t now)
{
	while (Outgoing *frame = flow_->next()) {
		FrameHeader header;

		header.sequence = flow_->next_sequence();
		if (!transmit(header, {frame->bytes.get(), frame->used + FRAME_TAG}, now))
			return;
		counters_.replays += flow_->sent();
	}
}

void Peer::control(FrameType type, uint16_t flags, uint64_t now, const FrameTimes *times)
{
	std::array<std::byte, FRAME_HEADER + sizeof(FrameTimes) + FRAME_TAG> bytes;
	const size_t body = times ? sizeof(*times) : 0;
	FrameHeader header;

	header.type = type;
	header.flags = flags;
	header.sequence = flow_->end();
	if (times)
		std::memcpy(bytes.data() + FRAME_HEADER, times, sizeof(*times));
	transmit(header, std::span(bytes).first(FRAME_HEADER + body + FRAME_TAG), now);
}

void Peer::heard(uint64_t now, Events &events)
{
	if (quiet_since_) {
		events.log(number_, "is heard again after " + seconds(now - quiet_since_) + "; " +
					    std::to_string(counters_.replays - quiet_replays_) +
					    " frames were sent again");
		quiet_since_ = 0;
	}
	heard_ = now;
	counters_.frames_received++;
}

void Peer::receive(const Frame &frame, uint64_t now, Events &events)
{
	/* A number that is not above the last one: a recorded frame, or a frame of an earlier connection. */
	if (!keys_.holds(frame) || frame.header.number <= in_number_) {
		counters_.rejected++;
		return;
	}
	in_number_ = frame.header.number;
	heard(now, events);
	const bool progress = frame.header.acknowledged > flow_->oldest();

	if (!flow_->acknowledged(frame.header.acknowledged)) {
		go_down("it acknowledges what was not sent", now, events);
		return;
	}
	if (progress || frame.header.type == FrameType::Answer) {
		answered_ = now;
		deaf_told_ = false;
	}
	switch (frame.header.type) {
	case FrameType::Data:
		data(frame, now, events);
		break;
	case FrameType::Beat:
		beat(frame, now);
		break;
	case FrameType::Answer:
		answer(frame, now);
		break;
	case FrameType::Ack:
		if (frame.header.flags & FLAG_MISSING) {
			flow_->rewind();
			pump(now);
		}
		break;
	case FrameType::Bye:
		go_down("it has ended", now, events);
		break;
	default:
		break;
	}
}

void Peer::missing(uint64_t now)
{
	if (asked_for_ == flow_->expected() && now < asked_ + ASK_AGAIN)
		return;
	asked_for_ = flow_->expected();
	asked_ = now;
	control(FrameType::Ack, FLAG_MISSING, now);
}

void Peer::data(const Frame &frame, uint64_t now, Events &events)
{
	switch (flow_->arrived(frame.header.sequence)) {
	case Flow::Arrival::Duplicate:
		counters_.duplicates++;
		break;
	case Flow::Arrival::Gap:
		counters_.gaps++;
		missing(now);
		return;
	case Flow::Arrival::Take:
		events.host = number_;
		if (!for_each_message(frame.body, [&](Bytes message) { events.messages.push_back(message); })) {
			events.messages.clear(); /* they must not be delivered after the end of their session */
			go_down("it sends what are no messages", now, events);
		}
		counters_.messages_received += events.messages.size();
		for (const Bytes message : events.messages)
			counters_.bytes_received += message.size();
		break;
	}
	if (!owed_++)
		owed_since_ = now;
}

void Peer::beat(const Frame &frame, uint64_t now)
{
	FrameTimes times;

	if (frame.body.size() != sizeof(times))
		return;
	std::memcpy(&times, frame.body.data(), sizeof(times));
	times.received = times.answered = now;
	control(FrameType::Answer, 0, now, &times);
	if (frame.header.sequence > flow_->expected())
		missing(now);
}

void Peer::answer(const Frame &frame, uint64_t now)
{
	FrameTimes times;

	if (frame.body.size() != sizeof(times))
		return;
	std::memcpy(&times, frame.body.data(), sizeof(times));
	clock_.add(times.sent, times.received, times.answered, now);
}

void Peer::service(uint64_t now)
{
	if (!up() || now < blocked_until_)
		return;
	blocked_until_ = 0;
	pump(now);
	if (owed_ >= ACK_FRAMES || (owed_ && now - owed_since_ >= ACK_LATEST))
		control(FrameType::Ack, 0, now);
}

void Peer::tick_up(uint64_t now, Events &events)
{
	const uint64_t silence = now > heard_ ? now - heard_ : 0;

	if (silence > settings_.timeout) {
		go_down("nothing was heard for " + seconds(silence), now, events);
		quiet_since_ = 0;
		return;
	}
	const uint64_t unanswered = now > answered_ ? now - answered_ : 0;

	if ((silence > settings_.quiet() || unanswered > settings_.deaf()) && now >= next_reconnect_) {
		if (!quiet_since_ && silence > settings_.quiet()) {
			events.log(number_, "is quiet for " + seconds(silence) + ": another connection is tried");
			quiet_since_ = heard_;
			quiet_replays_ = counters_.replays;
		} else if (!quiet_since_ && !deaf_told_) {
			events.log(number_,
				   "has not answered for " + seconds(unanswered) + ": another connection is tried");
			deaf_told_ = true;
		}
		transport_.reconnect(number_);
		counters_.reconnects++;
		next_reconnect_ = now + settings_.retry(fresh_number());
		next_beat_ = now;
		flow_->rewind();
		blocked_until_ = 0;
	}
	if (now >= next_beat_) {
		const FrameTimes times{now, 0, 0};

		next_beat_ = now + settings_.beat();
		pump(now);
		control(FrameType::Beat, 0, now, &times);
	}
	service(now);
}

void Peer::tick_away(uint64_t now)
{
	if (now < next_hello_)
		return;
	next_hello_ = now + (complaint_.empty() ? HELLO_EVERY : HELLO_SLOW);
	if (++hellos_ % HELLOS_PER_CONNECTION == 0 && complaint_.empty()) {
		transport_.reconnect(number_);
		counters_.reconnects++;
	}
	attempt();
	send_hello(*attempt_, seen_);
}

void Peer::tick(uint64_t now, Events &events)
{
	if (up())
		tick_up(now, events);
	else
		tick_away(now);
}

uint64_t Peer::due() const noexcept
{
	if (!up())
		return next_hello_;
	uint64_t due = std::min(next_beat_, heard_ + settings_.timeout);

	if (owed_)
		due = std::min(due, owed_since_ + ACK_LATEST);
	if (blocked_until_)
		due = std::min(due, blocked_until_);
	return due;
}

void Peer::leave(uint64_t now)
{
	if (up())
		control(FrameType::Bye, 0, now);
}

} // namespace aries::gateway
