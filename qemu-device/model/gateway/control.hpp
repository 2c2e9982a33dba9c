// SPDX-License-Identifier: GPL-2.0-or-later
/** @file Status of a running gateway: a socket in /dev/shm that sends one JSON object to each client and closes. */
#ifndef ARIES_GATEWAY_CONTROL_HPP
#define ARIES_GATEWAY_CONTROL_HPP

#include <string>

#include "fabric/descriptor.hpp"
#include "gateway/wire.hpp"
#include "topo/reports.hpp"

namespace aries::gateway
{

using topology::Json;

/** The socket of this host's gateway. */
class Control
{
public:
	/** Throws Error: a gateway of this name runs here already, or the socket cannot be made. */
	explicit Control(const std::string &host);
	~Control();
	Control(const Control &) = delete;
	Control &operator=(const Control &) = delete;

	/** Readable when a client has connected. */
	int fd() const noexcept { return fd_.get(); }
	/** Sends @report to one client. */
	void answer(const Json &report) noexcept;

private:
	std::string path_;
	Descriptor fd_;
};

/**
 * Asks a gateway of this host for its status.
 *
 * @param host name of the gateway's host; empty: the only gateway that runs here
 * @throws Error if no gateway runs here, or several do
 */
Json ask(const std::string &host);

/** Status as the command prints it; times in the units that the keys say. */
Json report_of(const WireStatus &status, const Host &self);

} // namespace aries::gateway

#endif
