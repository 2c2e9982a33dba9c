// SPDX-License-Identifier: GPL-2.0-or-later
/** @file Ends TCP connections of this process that are stuck. */
#ifndef ARIES_GATEWAY_SEVER_HPP
#define ARIES_GATEWAY_SEVER_HPP

#include <string>

namespace aries::gateway
{

/**
 * Ends all TCP connections of this process whose other end is at an address (numeric, IPv4 or IPv6) and in which data
 * is being retransmitted without an answer; the data are lost. The owner of a connection finds it closed, as if the
 * other side had closed it.
 *
 * libfabric has no call for this. Removing an address ends a connection that this end has made, but not one that this
 * end has accepted, and libfabric goes on sending by that one. After an interruption TCP waits twice as long before
 * each retransmission, so such a connection stays silent for seconds after the network is whole again.
 *
 * Return: number of connections. Any thread.
 */
unsigned int sever(const std::string &address) noexcept;

} // namespace aries::gateway

#endif
