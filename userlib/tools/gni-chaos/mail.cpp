// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "mail.h"

#include <cinttypes>
#include <cstring>

#include "common/failure.h"
#include "common/pattern.h"
#include "traffic.h"

namespace chaos
{

using tools::Failure;
using tools::format;

namespace
{

constexpr uint32_t body_most = 256;
constexpr uint16_t credits = 8;
/* Then one of us is in an old connection. Who has hardly run has not listened either. */
constexpr unsigned silence_steps = 500;
constexpr uint64_t lap_messages = 3;

/** In front of each message. */
struct Head {
	uint64_t turn; /* of the receiver's mailbox */
	uint64_t number;
	uint32_t from;
	uint32_t size;
};

gni_smsg_attr_t mailbox(uint64_t buffer, const gni_mem_handle_t &handle)
{
	const gni_smsg_attr_t a = tools::mailbox(buffer, handle, credits, sizeof(Head) + body_most);

	if (a.buff_size > mailbox_room)
		throw Failure(format("a mailbox takes %u bytes", a.buff_size));
	return a;
}

/* Which connection sends, by the low bits of its turn, and the low bits of the message's number. */
constexpr unsigned number_bits = 20;

uint32_t message_id(uint64_t turn, uint64_t number)
{
	return static_cast<uint32_t>(turn << number_bits | (number & ((1U << number_bits) - 1)));
}

bool of_earlier(uint32_t id, uint64_t turn)
{
	return id >> number_bits != message_id(turn, 0) >> number_bits;
}

} // namespace

/** What the two tell each other. */
struct Mail::Offer {
	uint64_t life;
	uint64_t turn;
	uint64_t mailbox;
	gni_mem_handle_t handle;
	uint32_t from;
	uint32_t to;
	Silence silence;
	uint64_t check;

	uint64_t sum() const
	{
		return life * 31 + turn * 37 + mailbox * 41 + handle.qword1 * 43 + handle.qword2 * 47 +
		       uint64_t{from} * 53 + uint64_t{to} * 59 + silence.own * 61 + silence.other * 67;
	}
};

Mail::Mail(Session &session, int to, uint64_t silence_ns)
	: session_(session), to_(to), silence_ns_(silence_ns), events_(session.nic(), 64), in_(sizeof(Offer)),
	  out_(sizeof(Offer)), message_(body_most)
{
}

void Mail::restarted()
{
	silence_ = {};
	if (connected_)
		reconnect("another life");
	if (!offered_)
		offers_.reset();
}

/* The memory of the mailbox is clear before the other one can know of it. */
void Mail::offer()
{
	const uint64_t turn = turn_ + 1;
	uint8_t *memory = session_.mailbox(to_, turn);
	Offer ours = {session_.life(),
		      turn,
		      reinterpret_cast<uint64_t>(memory),
		      session_.mail_handle(),
		      static_cast<uint32_t>(session_.rank()),
		      static_cast<uint32_t>(to_),
		      silence_,
		      0};

	if (!offers_)
		offers_ = std::make_unique<tools::Endpoint>(session_.nic(), nullptr, session_.address(to_).pe,
							    instance_of(to_));
	ours.check = ours.sum();
	memset(memory, 0, mailbox_room);
	memcpy(in_.data(), &ours, sizeof(ours));
	gni_return_t rc = GNI_EpPostData(offers_->handle(), in_.data(), sizeof(ours), out_.data(), sizeof(ours));
	if (rc == GNI_RC_ERROR_RESOURCE)
		return; /* too many, or the NIC is gone: others will find out */
	if (rc != GNI_RC_SUCCESS)
		throw Lost(format("datagram: %s", tools::rc_name(rc).c_str()));
	turn_ = turn;
	offered_ = true;
}

void Mail::await_offer()
{
	gni_post_state_t state = GNI_POST_PENDING;
	uint32_t pe = 0, instance = 0;
	const gni_return_t rc = GNI_EpPostDataTest(offers_->handle(), &state, &pe, &instance);

	if (rc != GNI_RC_SUCCESS)
		throw Lost(format("test of a datagram: %s", tools::rc_name(rc).c_str()));
	if (state == GNI_POST_PENDING || state == GNI_POST_REMOTE_DATA)
		return;
	offered_ = false;
	session_.counts[format("datagrams in state %d", int(state))]++;
	if (state != GNI_POST_COMPLETED)
		return;
	Offer theirs = {};
	memcpy(&theirs, out_.data(), sizeof(theirs));
	if (theirs.check != theirs.sum() || theirs.from != static_cast<uint32_t>(to_) ||
	    theirs.to != static_cast<uint32_t>(session_.rank()) || instance != instance_of(to_))
		throw Failure(
			format("datagram from worker %d has wrong data: from %u to %u", to_, theirs.from, theirs.to));
	check_silence(theirs);
	silence_ = {};
	connect(theirs);
}

/*
 * Whoever sees an error leaves a connection, and the other one hears nothing any more. But nobody has left one in which
 * both hear nothing: messages were lost, or credits.
 */
void Mail::check_silence(const Offer &theirs) const
{
	if (silence_.own && silence_.own == theirs.silence.other && silence_.other == theirs.silence.own)
		throw Failure(format("the connection of mailbox %" PRIu64 " to mailbox %" PRIu64
				     " of worker %d fell silent at both ends",
				     silence_.own, silence_.other, to_));
}

void Mail::connect(const Offer &theirs)
{
	gni_smsg_attr_t local =
		mailbox(reinterpret_cast<uint64_t>(session_.mailbox(to_, turn_)), session_.mail_handle());
	gni_smsg_attr_t remote = mailbox(theirs.mailbox, theirs.handle);

	mail_ = std::make_unique<tools::Endpoint>(session_.nic(), events_.handle(), session_.address(to_).pe,
						  instance_of(to_));
	const gni_return_t rc = GNI_SmsgInit(mail_->handle(), &local, &remote);
	if (rc != GNI_RC_SUCCESS)
		throw Lost(format("GNI_SmsgInit: %s", tools::rc_name(rc).c_str()));
	theirs_ = theirs.turn;
	sent_ = confirmed_ = received_ = 0;
	moved();
	connected_ = true;
}

void Mail::moved()
{
	moved_ns_ = tools::now_ns();
	still_ = 0;
}

void Mail::reconnect(const char *why)
{
	session_.counts[format("reconnections: %s", why)]++;
	connected_ = false;
	mail_.reset();
	gni_cq_entry_t event = 0;
	for (;;) {
		const gni_return_t rc = GNI_CqGetEvent(events_.handle(), &event);
		if (rc == GNI_RC_NOT_DONE)
			return;
		if (rc != GNI_RC_SUCCESS && rc != GNI_RC_TRANSACTION_ERROR && !GNI_CQ_OVERRUN(event))
			throw Lost(format("queue of messages: %s", tools::rc_name(rc).c_str()));
	}
}

void Mail::send(std::mt19937_64 &random)
{
	Head head = {theirs_, sent_ + 1, static_cast<uint32_t>(session_.rank()),
		     static_cast<uint32_t>(random() % body_most)};

	/* one at a time: its memory is ours again with its event */
	if (sent_ != confirmed_)
		return;
	tools::pattern_fill(message_.data(), head.size, head.number);
	const gni_return_t rc = GNI_SmsgSend(mail_->handle(), &head, sizeof(head), message_.data(), head.size,
					     message_id(turn_, head.number));
	if (rc == GNI_RC_SUCCESS)
		sent_++;
	else if (rc != GNI_RC_NOT_DONE)
		reconnect(("send " + tools::rc_name(rc)).c_str());
}

void Mail::take_events()
{
	gni_cq_entry_t event = 0;
	const gni_return_t rc = GNI_CqGetEvent(events_.handle(), &event);

	if (rc == GNI_RC_NOT_DONE)
		return;
	/* A message to another host may be in flight when its connection is left, so its event comes to the next one.
	 */
	if ((rc == GNI_RC_SUCCESS || rc == GNI_RC_TRANSACTION_ERROR) && of_earlier(GNI_CQ_GET_MSG_ID(event), turn_))
		return;
	if (rc == GNI_RC_TRANSACTION_ERROR) {
		reconnect("error event");
		return;
	}
	if (rc != GNI_RC_SUCCESS)
		throw Lost(format("message queue: %s", tools::rc_name(rc).c_str()));
	if (GNI_CQ_GET_MSG_ID(event) != message_id(turn_, sent_) || sent_ == confirmed_)
		throw Failure(format("event of message %u to worker %d, %" PRIu64 " of %" PRIu64 " confirmed",
				     static_cast<unsigned>(GNI_CQ_GET_MSG_ID(event)), to_, confirmed_, sent_));
	confirmed_ = sent_;
	session_.counts["messages sent"]++;
}

void Mail::receive()
{
	void *message = nullptr;
	const gni_return_t rc = GNI_SmsgGetNext(mail_->handle(), &message);
	Head head;

	if (rc == GNI_RC_NOT_DONE)
		return;
	if (rc != GNI_RC_SUCCESS) {
		reconnect(("receive " + tools::rc_name(rc)).c_str());
		return;
	}
	memcpy(&head, message, sizeof(head));
	/* the other one may have taken up an offer of ours that we have given up: its mailbox is not this one */
	if (head.turn != turn_ || head.from != static_cast<uint32_t>(to_) || head.number != received_ + 1 ||
	    head.size >= body_most)
		throw Failure(format("message %" PRIu64 " of worker %u for mailbox %" PRIu64 " where %" PRIu64
				     " of worker %d for mailbox %" PRIu64 " should be",
				     head.number, head.from, head.turn, received_ + 1, to_, turn_));
	const auto *body = static_cast<const uint8_t *>(message) + sizeof(head);
	const tools::Mismatch wrong = tools::pattern_check(body, head.size, head.number);
	if (wrong.found)
		throw Failure(format("message %" PRIu64 " of worker %d: byte %" PRId64 " is 0x%02x, not 0x%02x",
				     head.number, to_, wrong.offset, wrong.got, wrong.expected));
	received_++;
	moved();
	session_.counts["messages received"]++;
	if (GNI_SmsgRelease(mail_->handle()) != GNI_RC_SUCCESS)
		reconnect("release");
}

unsigned Mail::step(std::mt19937_64 &random)
{
	if (!session_.address(to_).life)
		return 0;
	if (!connected_) {
		if (!offered_)
			offer();
		else
			await_offer();
		return 0;
	}
	take_events();
	if (connected_)
		receive();
	if (connected_)
		send(random);
	if (connected_ && ++still_ > silence_steps && tools::now_ns() - moved_ns_ > silence_ns_) {
		silence_ = {turn_, theirs_};
		reconnect("silence");
	}
	return connected_ && confirmed_ >= lap_messages && received_ >= lap_messages ? unsigned{lap_message} : 0;
}

std::string Mail::state() const
{
	return format("mail %s, mailbox %" PRIu64 " against %" PRIu64 ", %" PRIu64 " sent, %" PRIu64
		      " confirmed, %" PRIu64 " received",
		      connected_ ? "connected"
		      : offered_ ? "offered"
				 : "closed",
		      turn_, theirs_, sent_, confirmed_, received_);
}

} // namespace chaos
