// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Instances of message queues on the model, and what they hear. */
#ifndef UGNI_TESTS_MSGQ_RANK_HPP
#define UGNI_TESTS_MSGQ_RANK_HPP

#include "rank.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

struct Heard {
	uint32_t id;
	uint32_t pe;
	std::string text;
	uint8_t tag;
};

inline gni_msgq_attr_t msgq_attrs(uint32_t instances = 1, uint32_t slots = 8, uint32_t queue = 64)
{
	gni_msgq_attr_t a = {};

	a.max_msg_sz = 128;
	a.smsg_q_sz = slots;
	a.rcv_pool_sz = 1;
	a.num_msgq_eps = 3;
	a.nloc_insts = instances;
	a.modes = GNI_MSGQ_MODE_BLOCKING;
	a.rcv_cq_sz = queue;
	return a;
}

struct MsgqRank : Rank {
	gni_msgq_handle_t q = nullptr;
	uint32_t id;
	std::map<uint32_t, gni_ep_handle_t> to; /* by instance id */
	std::deque<Heard> heard;
	int answer = 1; /* what the callback returns */
	unsigned calls = 0;

	MsgqRank(uint32_t node, uint32_t inst_id, const gni_msgq_attr_t &attrs, uint32_t cookie = kCookie)
		: Rank(node, inst_id, 4096, 0, cookie), id(inst_id)
	{
		gni_msgq_attr_t a = attrs;

		assert_rc(SUCCESS, GNI_MsgqInit(nic, receive, this, source, &a, &q));
	}

	/* A text carries its length in front: the callback is not told. */
	static int receive(uint32_t snd_id, uint32_t snd_pe, void *msg, uint8_t tag, void *data)
	{
		auto *self = static_cast<MsgqRank *>(data);
		auto *bytes = static_cast<const char *>(msg);

		assert_int_equal(reinterpret_cast<uintptr_t>(msg) % 16, 0);
		self->calls++;
		self->heard.push_back(
			{snd_id, snd_pe, std::string(bytes + 1, static_cast<unsigned char>(*bytes)), tag});
		return self->answer;
	}

	gni_ep_handle_t endpoint(const MsgqRank &peer)
	{
		gni_ep_handle_t &ep_to = to[peer.id];

		if (!ep_to) {
			assert_rc(SUCCESS, GNI_EpCreate(nic, source, &ep_to));
			assert_rc(SUCCESS, GNI_EpBind(ep_to, peer.address, peer.id));
		}
		return ep_to;
	}

	gni_return_t send(const MsgqRank &peer, const std::string &text, uint32_t msg_id = 0, uint8_t tag = 0)
	{
		std::string head = std::string(1, static_cast<char>(text.size())) + text.substr(0, text.size() / 2);
		std::string body = text.substr(text.size() / 2);
		gni_return_t rc = GNI_MsgqSend(q, endpoint(peer), head.data(), static_cast<uint32_t>(head.size()),
					       body.data(), static_cast<uint32_t>(body.size()), msg_id, tag);
		/* The library has copied when it returns. */
		head.assign(head.size(), '!');
		body.assign(body.size(), '!');
		return rc;
	}

	gni_return_t sent(gni_cq_entry_t *e) const
	{
		*e = 0;
		return GNI_CqGetEvent(source, e);
	}

	/** The same when it may take repetitions until it comes. */
	gni_return_t outcome(gni_cq_entry_t *e) const
	{
		*e = 0;
		return GNI_CqWaitEvent(source, 60000, e);
	}

	void expect_sent(uint32_t msg_id) const
	{
		gni_cq_entry_t e;

		assert_rc(SUCCESS, outcome(&e));
		assert_int_equal(GNI_CQ_GET_TYPE(e), GNI_CQ_EVENT_TYPE_MSGQ);
		assert_int_equal(GNI_CQ_GET_MSG_ID(e), msg_id);
		assert_true(GNI_CQ_STATUS_OK(e));
	}

	void send_ok(const MsgqRank &peer, const std::string &text, uint32_t msg_id = 0, uint8_t tag = 0)
	{
		assert_rc(SUCCESS, send(peer, text, msg_id, tag));
		expect_sent(msg_id);
	}

	gni_return_t progress(uint32_t timeout = ~0U) const { return GNI_MsgqProgress(q, timeout); }

	void expect(const MsgqRank &from, const std::string &text, int tag = -1)
	{
		assert_false(heard.empty());
		Heard h = heard.front();
		heard.pop_front();
		assert_int_equal(h.id, from.id);
		assert_int_equal(h.pe, from.address);
		assert_string_equal(h.text.c_str(), text.c_str());
		if (tag >= 0)
			assert_int_equal(h.tag, tag);
	}

	gni_msgq_ep_attr_t reserve(uint32_t pe) const
	{
		gni_msgq_ep_attr_t a = {};

		assert_rc(SUCCESS, GNI_MsgqGetConnAttrs(q, pe, &a, nullptr));
		return a;
	}
	void connect(uint32_t pe, gni_msgq_ep_attr_t a) const { assert_rc(SUCCESS, GNI_MsgqConnect(q, pe, &a)); }
};

/** One instance of each node connects the two. */
inline void msgq_connect(const MsgqRank &a, const MsgqRank &b)
{
	gni_msgq_ep_attr_t of_a = a.reserve(b.address);

	if (a.address == b.address) {
		a.connect(b.address, of_a);
		return;
	}
	gni_msgq_ep_attr_t of_b = b.reserve(a.address);
	a.connect(b.address, of_b);
	b.connect(a.address, of_a);
}

struct MsgqPair {
	MsgqRank a, b;

	explicit MsgqPair(uint32_t slots = 8, uint32_t queue = 64, bool connect = true)
		: a(0, 1000, msgq_attrs(1, slots, queue)), b(1, 1001, msgq_attrs(1, slots, queue))
	{
		if (connect)
			msgq_connect(a, b);
	}
};

#endif
