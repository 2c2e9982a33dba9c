// SPDX-License-Identifier: GPL-2.0-or-later
// Copyright (c) 2026 The OpenGNI authors
/** @file Ends connections of TCP that are stuck, whoever has made them. */
#ifndef ARIES_GATEWAY_SEVER_HPP
#define ARIES_GATEWAY_SEVER_HPP

#include <string>

namespace aries::gateway
{

/**
 * Ends all TCP connections of this process whose other end is at an address (numeric, IPv4 or IPv6) and in which data
 * is being retransmitted without an answer; it is lost. Their owner finds their ends, as if the other side had closed
 * them.
 *
 * libfabric has no call for this: removing an address ends a connection that this end has made, and leaves one that it
 * has accepted, which goes on to be used for what is sent. Behind a cut that is one in which TCP pauses for twice as
 * long with each retransmission, seconds after the network is whole again.
 *
 * Return: how many there were. Any thread.
 */
unsigned int sever(const std::string &address) noexcept;

} // namespace aries::gateway

#endif
