// SPDX-License-Identifier: GPL-2.0-or-later
/** @file The key of a fabric, and keys derived from it; the cryptography is libsodium's. */
#ifndef ARIES_GATEWAY_KEYS_HPP
#define ARIES_GATEWAY_KEYS_HPP

#include <array>
#include <string>
#include <vector>

#include "gateway/frame.hpp"

namespace aries::gateway
{

inline constexpr size_t KEY_BYTES = 32;
inline constexpr size_t NONCE_BYTES = 32;
inline constexpr size_t HELLO_TAG = 32;

using KeyBytes = std::array<std::byte, KEY_BYTES>;
using Nonce = std::array<std::byte, NONCE_BYTES>;

/** Random bytes: nonces and numbers do not repeat. */
Nonce fresh_nonce();
uint64_t fresh_number();

/**
 * The two keys of a session, one for each direction. The tag of a frame is computed by ChaCha20-Poly1305 (RFC 8439),
 * with header and body as additional data and the frame's number as nonce: others can read frames, but cannot make or
 * change them.
 */
class SessionKeys
{
public:
	SessionKeys() = default;
	/** Both ends derive the same keys from both nonces, in the order of the hosts' names. */
	SessionKeys(const KeyBytes &session_key, const std::string &self, const Nonce &nonce, const std::string &peer,
		    const Nonce &peer_nonce);

	uint64_t id() const noexcept { return id_; }
	/** Writes the tag behind the body; the header has the body's length. */
	void seal(std::span<std::byte> frame) const noexcept;
	bool holds(const Frame &frame) const noexcept;

private:
	uint64_t id_ = 0;
	KeyBytes out_ = {}, in_ = {};
};

/** The secret that all gateways of a fabric share. */
class FabricKey
{
public:
	/** Throws Error: no such file, others may read it, not a key. */
	static FabricKey load(const std::string &file);
	/** Makes a file with a new key that only its owner may access. Throws Error if the file exists or cannot be
	 * written.
	 */
	static void make(const std::string &file);

	explicit FabricKey(const KeyBytes &key);

	/** Appends the tag (HMAC-SHA512-256) of a frame that is sent before there is a session. */
	void sign(std::vector<std::byte> &frame) const;
	bool holds(const Frame &frame) const noexcept;
	const KeyBytes &session_key() const noexcept { return session_; }

private:
	KeyBytes hello_, session_;
};

} // namespace aries::gateway

#endif
