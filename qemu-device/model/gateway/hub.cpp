// SPDX-License-Identifier: GPL-2.0-or-later
#include "gateway/hub.hpp"

#include <algorithm>

#include "fabric/segment.hpp"

namespace aries::gateway
{

namespace
{

constexpr size_t TURNED_AWAY_MOST = 64; // lines of the log about unknown hosts

} // namespace

Hub::Hub(const std::vector<Host> &hosts, uint32_t self, const std::string &shape,
	 const std::vector<std::byte> &application, const FabricKey &key, const PeerSettings &settings,
	 Transport &transport, uint64_t now)
	: self_{hosts.at(self), shape, application, fresh_number()}, number_(self), key_(key), transport_(transport),
	  due_(now)
{
	if (shape.size() > SHAPE_MOST || application.size() > APPLICATION_MOST)
		throw Error("what gateways tell each other of their fabric is too long");
	for (uint32_t i = 0; i < hosts.size(); i++)
		peers_.push_back(i == self
					 ? nullptr
					 : std::make_unique<Peer>(self_, hosts[i], i, key_, settings, transport, now));
}

Peer *Hub::named(const std::string &name) noexcept
{
	for (const auto &peer : peers_)
		if (peer && peer->host().name == name)
			return peer.get();
	return nullptr;
}

void Hub::touched(Peer &peer)
{
	due_ = std::min(due_, peer.due());
	if (std::find(dirty_.begin(), dirty_.end(), &peer) == dirty_.end())
		dirty_.push_back(&peer);
}

/* Sessions have begun or ended. */
void Hub::renew(const Events &events)
{
	if (std::all_of(events.notices.begin(), events.notices.end(),
			[](const Notice &notice) { return notice.kind == Notice::Kind::Log; }))
		return;
	sessions_.clear();
	for (const auto &peer : peers_)
		if (peer && peer->up())
			sessions_[peer->session()] = peer.get();
	turned_away_.clear();
}

bool Hub::send(uint32_t host, Bytes header, Bytes payload, uint64_t now)
{
	if (header.size() + payload.size() > MESSAGE_MAX)
		throw Error("a message of " + std::to_string(header.size() + payload.size()) +
			    " bytes is longer than " + std::to_string(MESSAGE_MAX));
	if (left_ || host >= peers_.size() || !peers_[host])
		return false;
	const bool taken = peers_[host]->send(header, payload, now);

	touched(*peers_[host]);
	return taken;
}

void Hub::receive(Bytes bytes, uint64_t now, Events &events)
{
	if (left_)
		return;
	if (!is_frame(bytes)) {
		strays_++;
		return;
	}
	const FrameHeader header = peek(bytes);

	if (header.type == FrameType::Hello || header.type == FrameType::Refuse) {
		greet(bytes, now, events);
		renew(events);
		return;
	}
	const auto found = sessions_.find(header.session);
	const std::optional<Frame> frame = parse_frame(bytes, FRAME_TAG);

	if (!frame || found == sessions_.end()) {
		strays_++;
		return;
	}
	Peer &peer = *found->second;

	peer.receive(*frame, now, events);
	touched(peer);
	if (!events.notices.empty())
		renew(events);
}

void Hub::greet(Bytes bytes, uint64_t now, Events &events)
{
	if (peek(bytes).version != FRAME_VERSION) {
		other_version(bytes, now, events);
		return;
	}
	const std::optional<Frame> frame = parse_frame(bytes, HELLO_TAG);

	if (!frame)
		strays_++;
	else if (frame->header.type == FrameType::Hello)
		hello(*frame, now, events);
	else
		refuse(*frame, events);
}

void Hub::other_version(Bytes bytes, uint64_t now, Events &events)
{
	const FrameHeader header = peek(bytes);
	const auto names = parse_names(bytes.subspan(FRAME_HEADER));
	Peer *peer = names ? named(names->first) : nullptr;

	if (!peer) {
		strays_++;
		return;
	}
	const std::string text = "gateways of different versions: " + self_.host.name + " speaks version " +
				 std::to_string(FRAME_VERSION) + ", " + peer->host().name + " version " +
				 std::to_string(header.version);

	if (header.type == FrameType::Hello)
		peer->refuse(Refusal::Version, text, {}, now, events);
	else
		peer->refused_version(text, events);
}

void Hub::hello(const Frame &frame, uint64_t now, Events &events)
{
	const std::optional<Hello> hello = parse_hello(frame.body);

	if (!hello) {
		strays_++;
		return;
	}
	const Host &from = hello->from.host;
	Peer *peer = named(from.name);

	if (!key_.holds(frame)) {
		strays_++;
		if (peer)
			peer->refuse(Refusal::Key, from.name + " has another key", hello->nonce, now, events);
		return;
	}
	if (hello->from.boot == self_.boot)
		return; // our own Hello, which somebody has sent back
	const auto [code, text] = judge(*hello, self_, peer ? &peer->host() : nullptr);

	if (code == Refusal::None)
		peer->hello(*hello, now, events);
	else if (peer && code != Refusal::Address)
		peer->refuse(code, text, hello->nonce, now, events);
	else
		turn_away(*hello, code, text, events);
	if (peer)
		touched(*peer);
}

/* Refuses a gateway that has the key, but is not in the hosts file or has another address there. */
void Hub::turn_away(const Hello &hello, Refusal code, const std::string &text, Events &events)
{
	const Refuse refuse{self_.host.name, hello.from.host.name, hello.nonce, code, text};

	if (turned_away_.size() < TURNED_AWAY_MOST && turned_away_.insert(text).second)
		events.log(number_, text);
	transport_.transmit_to(hello.from.host, frame_of(refuse, key_));
}

void Hub::refuse(const Frame &frame, Events &events)
{
	const std::optional<Refuse> refuse = parse_refuse(frame.body);
	Peer *peer = nullptr;

	if (!refuse) {
		strays_++;
		return;
	}
	for (const auto &one : peers_)
		if (one && one->attempts(refuse->echo))
			peer = one.get();
	if (peer)
		peer->refused(*refuse, key_.holds(frame), events);
	else
		strays_++;
}

void Hub::service(uint64_t now)
{
	for (Peer *peer : dirty_) {
		peer->service(now);
		due_ = std::min(due_, peer->due());
	}
	dirty_.clear();
}

uint64_t Hub::tick(uint64_t now, Events &events)
{
	if (now < due_ || left_)
		return due_;
	due_ = UINT64_MAX;
	for (const auto &peer : peers_) {
		if (!peer)
			continue;
		if (now >= peer->due())
			peer->tick(now, events);
		due_ = std::min(due_, peer->due());
	}
	renew(events);
	return due_;
}

bool Hub::restless(uint64_t now) const noexcept
{
	return std::any_of(peers_.begin(), peers_.end(),
			   [now](const auto &peer) { return peer && peer->restless(now); });
}

bool Hub::idle() const noexcept
{
	return std::all_of(peers_.begin(), peers_.end(), [](const auto &peer) { return !peer || peer->idle(); });
}

void Hub::leave(uint64_t now)
{
	for (const auto &peer : peers_)
		if (peer)
			peer->leave(now);
	left_ = true;
}

std::vector<PeerStatus> Hub::status(uint64_t now) const
{
	std::vector<PeerStatus> all;

	for (const auto &peer : peers_) {
		if (!peer)
			continue;
		const bool refused = !peer->refused().empty();

		all.push_back({peer->host(), peer->up(),
			       peer->up() ? ""
			       : refused  ? peer->refused()
					  : peer->reason(),
			       refused, peer->clock(now), peer->counters()});
	}
	return all;
}

} // namespace aries::gateway
