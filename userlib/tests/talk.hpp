// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Two ranks with a mailbox each, and what a test says and hears through them. */
#ifndef UGNI_TESTS_TALK_HPP
#define UGNI_TESTS_TALK_HPP

#include "rank.hpp"

#include <string>
#include <vector>

struct Shape {
	uint16_t credits = 8;
	uint32_t largest = 4096;
	gni_smsg_type_t type = GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT;
	uint32_t skew = 0;  /* bytes before the mailbox, in the registration */
	uint32_t extra = 0; /* bytes more than needed */
	uint32_t remote_entries = 100;
};

inline gni_smsg_attr_t attributes(const Shape &shape)
{
	gni_smsg_attr_t a = {};
	unsigned int size = 0;

	a.msg_type = shape.type;
	a.mbox_maxcredit = shape.credits;
	a.msg_maxsize = shape.largest;
	assert_rc(SUCCESS, GNI_SmsgBufferSizeNeeded(&a, &size));
	a.buff_size = size + shape.extra;
	return a;
}

struct Side : Rank {
	gni_smsg_attr_t attr;

	Side(uint32_t node, uint32_t inst_id, const Shape &shape)
		: Rank(node, inst_id, attributes(shape).buff_size + shape.skew + 64, 0, kCookie, shape.remote_entries),
		  attr(attributes(shape))
	{
		attr.msg_buffer = bytes;
		attr.mbox_offset = shape.skew;
		attr.mem_hndl = handle;
		/* What is around the mailbox stays as it is. */
		memset(bytes, 0xa5, shape.skew);
		memset(bytes + shape.skew + attr.buff_size, 0xa5, 64);
	}

	void init(Side &peer) { assert_rc(SUCCESS, GNI_SmsgInit(ep, &attr, &peer.attr)); }

	gni_return_t send(const std::string &header, const std::string &data = "", uint32_t msg_id = 0, uint8_t tag = 0)
	{
		/* The library has copied when it returns. */
		std::string h = header, d = data;
		gni_return_t rc =
			GNI_SmsgSendWTag(ep, h.data(), static_cast<uint32_t>(h.size()), d.empty() ? nullptr : d.data(),
					 static_cast<uint32_t>(d.size()), msg_id, tag);
		h.assign(h.size(), '!');
		d.assign(d.size(), '!');
		return rc;
	}

	/** The event of a send. */
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
		assert_int_equal(GNI_CQ_GET_TYPE(e), GNI_CQ_EVENT_TYPE_SMSG);
		assert_int_equal(GNI_CQ_GET_MSG_ID(e), msg_id);
		assert_true(GNI_CQ_STATUS_OK(e));
	}

	/** A message arrives; it is released. */
	void expect(const std::string &text, int tag = -1) const
	{
		void *p = nullptr;
		uint8_t t = GNI_SMSG_ANY_TAG;

		assert_rc(SUCCESS, GNI_SmsgGetNextWTag(ep, &p, &t));
		assert_memory_equal(p, text.data(), text.size());
		if (tag >= 0)
			assert_int_equal(t, tag);
		assert_rc(SUCCESS, GNI_SmsgRelease(ep));
	}

	gni_return_t look() const
	{
		void *p = nullptr;

		return GNI_SmsgGetNext(ep, &p);
	}

	uint32_t statistic(gni_statistic_t which) const
	{
		uint32_t value = 0;

		assert_rc(SUCCESS, GNI_GetNicStat(nic, which, &value));
		return value;
	}

	void drain() const
	{
		gni_cq_entry_t e;

		while (GNI_CqGetEvent(source, &e) != GNI_RC_NOT_DONE || GNI_CqGetEvent(remote, &e) != GNI_RC_NOT_DONE)
			;
	}

	bool surroundings_untouched() const
	{
		for (size_t i = 0; i < size; i++) {
			bool outside = i < attr.mbox_offset || i >= size_t{attr.mbox_offset} + attr.buff_size;
			if (outside && bytes[i] != 0xa5)
				return false;
		}
		return true;
	}
};

struct Talk {
	Side a, b;

	explicit Talk(const Shape &shape = {}, bool init = true) : a(0, 1000, shape), b(1, 1001, shape)
	{
		a.bind(b, 1001);
		b.bind(a, 1000);
		if (init) {
			a.init(b);
			b.init(a);
		}
	}
};

inline std::string text(size_t bytes, unsigned seed)
{
	std::string s(bytes, 0);

	for (size_t i = 0; i < bytes; i++)
		s[i] = static_cast<char>(i * 37 + i / 256 + size_t{seed} * 11);
	return s;
}

#endif
