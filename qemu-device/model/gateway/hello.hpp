// SPDX-License-Identifier: GPL-2.0-or-later
/** @file Hello and Refuse: how gateways agree on a session, and the reasons to refuse one. */
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

/** Identity of a gateway. */
struct Identity {
	Host host;
	std::string shape;                  ///< of the fabric, as text: the same at all gateways
	std::vector<std::byte> application; ///< any bytes that the program passes to its peers
	uint64_t boot = 0;                  ///< of this run of the gateway
};

/** Body of a Hello frame. The names come first in every version. */
struct Hello {
	std::string to;
	Nonce nonce = {}; ///< of the sender
	Nonce echo = {};  ///< the last nonce that the sender has got from the receiver, or zeros
	Identity from;
	uint64_t session = 0; ///< session of the sender with the receiver, or 0
};

enum class Refusal : uint8_t {
	None,
	Version,  ///< of frames
	Key,      ///< the tag is wrong
	Stranger, ///< the host is not in the hosts file
	Twice,    ///< the other host has this host's name
	Address,  ///< the address differs from the hosts file
	Nodes,    ///< the nodes differ from the hosts file
	Shape,    ///< the fabric has another shape
};

/** Body of a Refuse frame. */
struct Refuse {
	std::string from, to;
	Nonce echo = {}; ///< nonce of the refused Hello
	Refusal code = Refusal::None;
	std::string text;
};

/** Whole frames, signed. */
std::vector<std::byte> frame_of(const Hello &hello, const FabricKey &key);
std::vector<std::byte> frame_of(const Refuse &refuse, const FabricKey &key);

/** Empty if the body does not have this form. Does not verify the tag. */
std::optional<Hello> parse_hello(Bytes body);
std::optional<Refuse> parse_refuse(Bytes body);

/** Names of sender and receiver of a Hello or Refuse of any version; empty if the body does not begin with names. */
std::optional<std::pair<std::string, std::string>> parse_names(Bytes body);

/**
 * Whether a Hello with a valid tag may become a session. Return: the code, and a line that names the reason.
 *
 * @param known the sender's entry in our hosts file; null if there is none
 */
std::pair<Refusal, std::string> judge(const Hello &hello, const Identity &self, const Host *known);

} // namespace aries::gateway

#endif
