// SPDX-License-Identifier: GPL-2.0-or-later
/** @file A fabric by HTTP: metrics for monitors, and the reports of aries-net for programs. Nothing can be changed by
 * it. */
#ifndef ARIES_NET_SERVE_HPP
#define ARIES_NET_SERVE_HPP

#include <cstdint>
#include <string>

namespace aries::net
{

struct Listen {
	std::string host; ///< name or address
	uint16_t port;    ///< 0: one that is free
};

/** "ADDRESS:PORT", "[ADDRESS]:PORT" for IPv6. @throws Error if it is something else */
Listen listen_of(const std::string &text);

/** Whether an address, or localhost, is only for this host. */
bool is_local(const std::string &host);

/** The first line of a file. @throws Error if it has fewer than 16 characters, or others than letters, digits, -._~ */
std::string token_of_file(const std::string &path);

/** 128 random bits in hexadecimal digits. @throws Error without a source of them */
std::string random_token();

/**
 * Answers requests until SIGINT or SIGTERM comes. Standard output gets one line, the address with the token.
 * @param fabric path of a fabric
 * @param token what requests must have; empty: nothing, which is for local addresses only
 * @throws Error if there is no fabric, or the address cannot be listened at
 */
void serve(const std::string &fabric, const Listen &listen, const std::string &token);

} // namespace aries::net

#endif
