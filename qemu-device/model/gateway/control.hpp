// SPDX-License-Identifier: GPL-2.0-or-later
// Copyright (c) 2026 The OpenGNI authors
/** @file Where a running gateway tells how it does: a socket in /dev/shm that sends one JSON object and closes. */
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

	/** Readable when somebody asks. */
	int fd() const noexcept { return fd_.get(); }
	/** Answers one who has asked. */
	void answer(const Json &report) noexcept;

private:
	std::string path_;
	Descriptor fd_;
};

/**
 * What a gateway of this host tells.
 *
 * @param host its name; empty: the only one that runs here
 * @throws Error if there is none, or several
 */
Json ask(const std::string &host);

/** Status as the command prints it; times in the units that the keys say. */
Json report_of(const WireStatus &status, const Host &self);

} // namespace aries::gateway

#endif
