// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * Short messages to one other worker, over connections that are made by datagrams and made again when nothing comes.
 */
#ifndef CHAOS_MAIL_H
#define CHAOS_MAIL_H

#include <memory>
#include <random>
#include <string>

#include "session.h"

namespace chaos
{

class Mail
{
public:
	/** @p silence_ns: without a message, until the connection is left; more than anything may stop all traffic. */
	Mail(Session &session, int to, uint64_t silence_ns);

	/** Goes on as far as it goes. @return lap_message if messages have gone in both directions */
	unsigned step(std::mt19937_64 &random);

	/** The other one has another life: connect again. */
	void restarted();

	std::string state() const;

private:
	struct Offer;
	/** A connection that was left because nothing came, by its mailboxes. Turns count from 1: 0 is none. */
	struct Silence {
		uint64_t own = 0, other = 0;
	};

	void offer();
	void await_offer();
	void check_silence(const Offer &theirs) const;
	void connect(const Offer &theirs);
	void moved();
	void reconnect(const char *why);
	void send(std::mt19937_64 &random);
	void take_events();
	void receive();

	Session &session_;
	int to_;
	uint64_t silence_ns_;
	tools::Queue events_;
	std::unique_ptr<tools::Endpoint> offers_, mail_;
	bool offered_ = false, connected_ = false;
	uint64_t turn_ = 0; /* of our mailbox */
	uint64_t theirs_ = 0;
	uint64_t sent_ = 0, confirmed_ = 0, received_ = 0;
	uint64_t moved_ns_ = 0; /* when a message came last, and steps since then */
	unsigned still_ = 0;
	Silence silence_;
	std::vector<uint8_t> in_, out_, message_;
};

} // namespace chaos

#endif // CHAOS_MAIL_H
