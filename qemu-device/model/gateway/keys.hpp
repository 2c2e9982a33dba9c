// SPDX-License-Identifier: GPL-2.0-or-later
// Copyright (c) 2026 The OpenGNI authors
/** @file The key of a fabric, and what is made of it; the cryptography is libsodium's. */
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

/** Random bytes; of a nonce that has been used no other will be equal. */
Nonce fresh_nonce();
uint64_t fresh_number();

/**
 * Keys of one session, one for each direction. A frame's tag is that of ChaCha20-Poly1305 (RFC 8439) over header and
 * body as additional data, with the frame's number as nonce: what is sent can be read by others, but not made or
 * changed.
 */
class SessionKeys
{
public:
	SessionKeys() = default;
	/** Both ends come to the same from their nonces, in the order of their names. */
	SessionKeys(const KeyBytes &session_key, const std::string &self, const Nonce &nonce, const std::string &peer,
		    const Nonce &peer_nonce);

	uint64_t id() const noexcept { return id_; }
	/** Writes the tag behind what the header says is there. */
	void seal(std::span<std::byte> frame) const noexcept;
	bool holds(const Frame &frame) const noexcept;

private:
	uint64_t id_ = 0;
	KeyBytes out_ = {}, in_ = {};
};

/** What every gateway of a fabric has, and nobody else. */
class FabricKey
{
public:
	/** Throws Error: no such file, others may read it, not a key. */
	static FabricKey load(const std::string &file);
	/** Makes a file with a new key, for its owner alone. Throws Error if it is there already or cannot be written.
	 */
	static void make(const std::string &file);

	explicit FabricKey(const KeyBytes &key);

	/** Tag (HMAC-SHA512-256) of a frame that is sent before there is a session, added to its end. */
	void sign(std::vector<std::byte> &frame) const;
	bool holds(const Frame &frame) const noexcept;
	const KeyBytes &session_key() const noexcept { return session_; }

private:
	KeyBytes hello_, session_;
};

} // namespace aries::gateway

#endif
