// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * Short messages where completions are held, as on the way to another host: that one was lost is known when others may
 * have been sent behind it. Each comes, once, whole and in order, or its event tells that it does not.
 */
#include "late.h"
#include "talk.hpp"

#include <optional>
#include <thread>

namespace
{

std::optional<Talk> talk;

Side &side(unsigned end)
{
	return end ? talk->b : talk->a;
}

void lose(unsigned end, late_loss what, unsigned count)
{
	model::fault(end, what == LATE_REQUEST ? "drop" : "drop-response", count);
}

void connect(gni_smsg_type_t type, unsigned repeats)
{
	talk.emplace(Shape{.credits = LATE_CREDITS, .largest = LATE_LARGEST, .type = type});
	model::hold(true);
	if (repeats)
		assert_rc(SUCCESS, GNI_SmsgSetMaxRetrans(talk->a.nic, static_cast<uint16_t>(repeats)));
}

/* The limits of repeats are those of the interface again: they are the NIC's. */
void disconnect()
{
	talk.reset();
	for (const unsigned end : {0, 1}) {
		lose(end, LATE_REQUEST, 0);
		lose(end, LATE_RESPONSE, 0);
	}
	model::hold(false);
}

void reconnect()
{
	for (const unsigned end : {0, 1}) {
		assert_rc(SUCCESS, GNI_EpUnbind(side(end).ep));
		memset(side(end).attr.msg_buffer, 0, side(end).attr.buff_size);
		side(end).bind(side(!end), 1001 - end);
	}
	talk->a.init(talk->b);
	talk->b.init(talk->a);
}

} // namespace

const struct late_env late_env = {
	.connect = connect,
	.disconnect = disconnect,
	.reconnect = reconnect,
	.lose = lose,
	.send =
		[](unsigned end, void *message, unsigned bytes, uint32_t id) {
			return GNI_SmsgSend(side(end).ep, message, bytes / 3, static_cast<char *>(message) + bytes / 3,
					    bytes - bytes / 3, id);
		},
	.look = [](unsigned end, void **message) { return GNI_SmsgGetNext(side(end).ep, message); },
	.release = [](unsigned end) { return GNI_SmsgRelease(side(end).ep); },
	.event =
		[](unsigned end, gni_cq_entry_t *event) {
			gni_cq_entry_t arrival;

			(void)GNI_CqGetEvent(side(end).remote, &arrival);
			return side(end).sent(event);
		},
	.moment = [] { std::this_thread::sleep_for(std::chrono::microseconds(200)); },
	.inst_id = {1001, 1000},
};

/** Mailboxes that have been used, by a connection that is over. */
struct Used : Talk {
	Used() : Talk({.credits = 4, .largest = 64})
	{
		assert_rc(SUCCESS, GNI_EpUnbind(a.ep));
		assert_rc(SUCCESS, GNI_EpUnbind(b.ep));
		a.bind(b, 1001);
		b.bind(a, 1000);
	}
};

/* What is there when a connection begins is the peer's, where there was none before: no question is needed. */
static void early_in_new_memory(void **)
{
	Talk t({.credits = 4, .largest = 64}, false);

	t.a.init(t.b);
	for (unsigned i = 0; i < 3; i++)
		assert_rc(SUCCESS, t.a.send(text(8, i)));
	t.b.init(t.a);
	model::fault(1, "drop", 1U << 30);
	for (unsigned i = 0; i < 3; i++)
		t.b.expect(text(8, i));
	assert_rc(NOT_DONE, t.b.look());
	model::fault(1, "drop", 0);
}

/* Else it may be of the earlier one. The peer is asked, and answers get lost; but clients look once. */
static void early_and_asked_in_vain(void **)
{
	for (const bool held : {false, true}) {
		Used t;

		t.a.init(t.b);
		for (unsigned i = 0; i < 3; i++)
			assert_rc(SUCCESS, t.a.send(text(8, i)));
		for (unsigned i = 0; i < 3; i++)
			t.a.expect_sent(0);
		t.b.init(t.a);
		model::hold(held);
		model::fault(1, "drop", 5);
		for (unsigned i = 0; i < 3; i++)
			t.b.expect(text(8, i));
		assert_rc(NOT_DONE, t.b.look());
		model::hold(false);
	}
}

/* Nor does it wait for ever for a peer that does not answer at all. */
static void early_and_silent(void **)
{
	Used t;

	t.a.init(t.b);
	assert_rc(SUCCESS, t.a.send("early"));
	t.b.init(t.a);
	model::fault(1, "drop", 1U << 30);
	for (unsigned i = 0; i < 200; i++)
		assert_rc(NOT_DONE, t.b.look());
	model::fault(1, "drop", 0);
	for (unsigned i = 0; i < 100 && t.b.look() != GNI_RC_SUCCESS; i++)
		;
	t.b.expect("early");
}

/* The end of an endpoint, and of a domain, with messages on their way, lost, and repeated. */
static void ends_with_messages_under_way(void **)
{
	model::hold(true);
	for (unsigned way = 0; way < 4; way++) {
		Talk t;
		gni_cq_entry_t e;

		model::fault(0, "drop", way & 1 ? 100000 : 2);
		for (unsigned n = 0; n < 4; n++)
			assert_rc(SUCCESS, t.a.send("under way", "", n));
		if (way & 1) {
			std::this_thread::sleep_for(std::chrono::milliseconds(30));
			(void)t.a.sent(&e);
		}
		if (way & 2) {
			assert_rc(SUCCESS, GNI_EpDestroy(t.a.ep));
			for (unsigned n = 0; n < 4; n++)
				(void)t.a.outcome(&e);
			assert_rc(NOT_DONE, t.a.sent(&e));
		}
	}
	model::fault(0, "drop", 0);
	model::hold(false);
}

int main()
{
	const CMUnitTest tests[] = {
		LATE_CASES(model_test),
		model_test(early_in_new_memory),
		model_test(early_and_asked_in_vain),
		model_test(early_and_silent),
		model_test(ends_with_messages_under_way),
	};
	return cmocka_run_group_tests_name("short messages that are lost late", tests, nullptr, nullptr);
}
