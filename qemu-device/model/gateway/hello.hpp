// SPDX-License-Identifier: GPL-2.0-or-later
// Copyright (c) 2026 The OpenGNI authors
/** @file What gateways tell each other before there is a session, and why they may refuse it. */
#ifndef ARIES_GATEWAY_HELLO_HPP
#define ARIES_GATEWAY_HELLO_HPP

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gateway/hosts.hpp"
#include "gateway/keys.hpp"

namespace aries::gateway
{

inline constexpr size_t SHAPE_MOST = 255, APPLICATION_MOST = 512;

/** Who a gateway is. */
struct Identity {
	Host host;
	std::string shape;                  ///< of the fabric, as text: the same at all gateways
	std::vector<std::byte> application; ///< what the program wants peers to know, as it likes
	uint64_t boot = 0;                  ///< of this run of the gateway
};

/** Body of a Hello frame. The names come first in every version. */
struct Hello {
	std::string to;
	Nonce nonce = {}; ///< of the sender
	Nonce echo = {};  ///< the last one that it has heard of whom it talks to, or zeros
	Identity from;
	uint64_t session = 0; ///< that the sender has with the receiver, or 0
};

enum class Refusal : uint8_t {
	None,
	Version,  ///< of frames
	Key,      ///< the tag does not hold
	Stranger, ///< not in the hosts file
	Twice,    ///< this host's own name
	Address,  ///< another than in the hosts file
	Nodes,    ///< others than in the hosts file
	Shape,    ///< of another fabric
};

/** Body of a Refuse frame. */
struct Refuse {
	std::string from, to;
	Nonce echo = {}; ///< that of the Hello which is refused
	Refusal code = Refusal::None;
	std::string text;
};

/** Whole frames, signed. */
std::vector<std::byte> frame_of(const Hello &hello, const FabricKey &key);
std::vector<std::byte> frame_of(const Refuse &refuse, const FabricKey &key);

/** Nothing if the body is not of this form. Whether the frame is genuine is another question. */
std::optional<Hello> parse_hello(Bytes body);
std::optional<Refuse> parse_refuse(Bytes body);

/** Names of sender and receiver of a Hello or Refuse of any version; nothing if there are none. */
std::optional<std::pair<std::string, std::string>> parse_names(Bytes body);

/**
 * Whether a genuine Hello may become a session: its code, and one line that says why not as a sentence about "NAME".
 *
 * @param known the sender as our hosts file has it; null if it has no such host
 */
std::pair<Refusal, std::string> judge(const Hello &hello, const Identity &self, const Host *known);

} // namespace aries::gateway

#endif
