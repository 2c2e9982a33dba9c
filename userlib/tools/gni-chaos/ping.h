// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * Datagrams between an instance that calls and wildcards of the others.
 */
#ifndef CHAOS_PING_H
#define CHAOS_PING_H

#include <memory>
#include <string>
#include <vector>

#include "session.h"

namespace chaos
{

class Ping
{
public:
	Ping(Session &session, const tools::Place &place);

	/** Goes on as far as it goes. @return worker that has answered, or -1 */
	int step();

	std::string state() const;

private:
	struct Side {
		std::unique_ptr<tools::Endpoint> endpoint; /* of a call */
		gni_ep_handle_t wild = nullptr;
		bool posted = false;
		std::vector<uint8_t> in, out;
	};

	void post(Side &side, gni_ep_handle_t ep);
	int test(Side &side, gni_ep_handle_t ep);

	Session &session_;
	tools::Domain domain_;
	Side call_, wild_;
	int to_ = 0;
};

} // namespace chaos

#endif // CHAOS_PING_H
