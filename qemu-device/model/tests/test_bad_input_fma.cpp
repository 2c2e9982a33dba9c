/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bad input to FMA: descriptor and doorbell, bit by bit and class by class. Windows and launch: test_bad_input_launch.
 */
#include "tests/bad_input.hpp"

#include <algorithm>

using namespace aries_test;

namespace
{

enum Op { PUT, SYNC, GET, GET_FLAG, ADD, FADD, FADD4, FADD_FLAG, CQWRITE, CLOSE, SCATTER, LAUNCH, RING, CE, OPS };

constexpr const char *NAMES[] = {"put",
				 "put with sync flag",
				 "get",
				 "flagged get",
				 "add",
				 "fetch-add",
				 "32-bit fetch-add",
				 "flagged fetch-add",
				 "CQ write",
				 "close",
				 "scatter",
				 "launch",
				 "launch ring",
				 "collective"};
static_assert(std::size(NAMES) == OPS);

constexpr uint32_t ALL = (1u << OPS) - 1;
constexpr uint32_t OWN_TARGETS = on({LAUNCH, RING}); /* entries name nodes and offsets */
constexpr uint32_t ATOMICS = on({ADD, FADD, FADD4, FADD_FLAG});
constexpr uint32_t FETCHES = on({GET, GET_FLAG, FADD, FADD4, FADD_FLAG});
constexpr uint16_t CODE_ADD = 0x108, CODE_FADD = 0x008, CODE_FADD4 = 0x254, CODE_CE_ADD = 0x15;
constexpr uint64_t RING_AT = 32 * 1024;

/** A pair that can do every operation, with events. */
struct Bench : Pair {
	Untouched memory{*this};

	Bench()
	{
		/* Endpoints on node 0, of which the engine has the first. */
		for (uint64_t child = 0; child < ARIES_CE_CHILDREN; child++)
			b.write64(ARIES_CE_CHILD_N(child), uint64_t(2) << 24);
		b.write64(ARIES_CE_CTL_N(0), ARIES_CE_CTL_ENABLE_MASK | uint64_t(PTAG_B) << 8 | uint64_t(1) << 32);
		assert_int_equal(b.guest_errors, 0);
	}

	void prepare(unsigned int op)
	{
		aries_fma_desc &d = desc();

		d = {};
		d.pe = 1;
		d.mdh = MDH;
		d.offset = op == CE ? 0 : BASE + 64;
		d.local_mdh = LOCAL_MDH;
		d.local_offset = BASE + 128;
		d.cq = 20;
		d.local_event = 0x1111;
		d.remote_event = 0x2222;
		d.operand[0] = 1;
		d.sync_offset = op == SYNC ? BASE + 256 : 0;
		a.window(FMAD) = {};
		a.window(FMAD).ring_mdh = LOCAL_MDH;
		a.window(FMAD).ring_offset = BASE + RING_AT;
		a.window(FMAD).ring_entries = 4;
		const aries_launch_entry entry = {(BASE + 64) | uint64_t(1) << ARIES_LAUNCH_PE_SHIFT |
							  uint64_t(ARIES_LAUNCH_PUT8) << ARIES_LAUNCH_KIND_SHIFT,
						  0x5a5a};

		memcpy(a.line(FMAD), &entry, sizeof(entry));
		memcpy(a.ram(local + RING_AT), &entry, sizeof(entry));
		memory.save();
	}

	uint32_t ring(unsigned int op, unsigned int mode = ARIES_EV_GLOBAL)
	{
		constexpr unsigned int OPCODES[] = {ARIES_FMA_PUT_LINE,    ARIES_FMA_PUT_SYNC,    ARIES_FMA_GET_OP,
						    ARIES_FMA_GET_FLAG,    ARIES_FMA_AMO_OP,      ARIES_FMA_AMO_OP,
						    ARIES_FMA_AMO_OP,      ARIES_FMA_AMO_FLAG,    ARIES_FMA_CQWRITE,
						    ARIES_FMA_CLOSE,       ARIES_FMA_PUT_SCATTER, ARIES_FMA_LAUNCH,
						    ARIES_FMA_LAUNCH_RING, ARIES_FMA_CE};
		constexpr unsigned int LENGTHS[] = {8, 8, 8, 8, 8, 8, 4, 8, 0, 0, 8, 1, 1, 0};
		constexpr unsigned int CODES[] = {0,         0, 0, 0, CODE_ADD, CODE_FADD, CODE_FADD4,
						  CODE_FADD, 0, 0, 0, 0,        0,         CODE_CE_ADD};

		static_assert(std::size(OPCODES) == OPS && std::size(LENGTHS) == OPS && std::size(CODES) == OPS);
		return a.ring(FMAD, OPCODES[op], LENGTHS[op], mode, 9, CODES[op]);
	}

	/** The outcome in the area, in the event, in the registers and in memory. */
	bool ended(uint32_t got, uint32_t status)
	{
		const Event event = a.next_event(20);

		while (b.next_event(21))
			;
		if (got != status || a.next_event(20) || !recorded(*this, status))
			return false;
		if (status == ARIES_ST_CQ_OWNER)
			return !event && memory.holds();
		return event && event.status() == status && (status == ARIES_ST_OK || memory.holds());
	}
};

/* Bits that nobody may set, numbers that do not exist, addresses that are not aligned. */
const Field DESCRIPTOR[] = {
	FIELD(aries_fma_desc, pe, 1, ARIES_ST_NO_NODE, ALL & ~OWN_TARGETS, OWN_TARGETS),
	FIELD(aries_fma_desc, mdh, ARIES_MDH_VIRTUAL | (ARIES_MDD_ENTRIES - 1), ARIES_ST_RESERVED, ALL, 0),
	FIELD(aries_fma_desc, dlvr_mode, uint64_t(uint16_t(~ARIES_DLV_RSVD_MASK)), ARIES_ST_RESERVED, ALL, 0),
	FIELD(aries_fma_desc, offset, MASK40, ARIES_ST_RESERVED, ALL, 0),
	FIELD(aries_fma_desc, offset, ~ARIES_CE_RSVD_MASK, ARIES_ST_RESERVED, on({CE}), 0),
	FIELD(aries_fma_desc, offset, ~7ull, ARIES_ST_ALIGN, on({ADD, FADD, FADD_FLAG}), on({PUT, SYNC})),
	FIELD(aries_fma_desc, offset, ~3ull, ARIES_ST_ALIGN, on({GET, GET_FLAG, FADD4}), on({SCATTER})),
	FIELD(aries_fma_desc, local_offset, MASK40, ARIES_ST_RESERVED, FETCHES | on({ADD, CE}),
	      ALL & ~(FETCHES | on({ADD, CE}))),
	FIELD(aries_fma_desc, local_offset, ~7ull, ARIES_ST_LOCAL_ALIGN, on({FADD, FADD_FLAG, CE}), on({GET, ADD})),
	FIELD(aries_fma_desc, local_offset, ~3ull, ARIES_ST_LOCAL_ALIGN, on({GET_FLAG, FADD4}), on({PUT, CQWRITE})),
	FIELD(aries_fma_desc, local_mdh, ARIES_MDH_VIRTUAL | (ARIES_MDD_ENTRIES - 1), ARIES_ST_LOCAL_MDD,
	      FETCHES | on({CE}), ALL & ~(FETCHES | on({CE}))),
	FIELD(aries_fma_desc, local_mdh, uint64_t(uint16_t(~ARIES_MDH_VIRTUAL)), ARIES_ST_LOCAL_MDD, FETCHES | on({CE}),
	      ALL & ~(FETCHES | on({CE}))), /* no such virtual handle */
	FIELD(aries_fma_desc, cq, ARIES_CQ_ENTRIES - 1, ARIES_ST_CQ_OWNER, ALL, 0),
	FIELD(aries_fma_desc, reserved, 0, ARIES_ST_RESERVED, ALL, 0),
	FIELD(aries_fma_desc, local_event, ANY, 0, 0, 0),
	FIELD(aries_fma_desc, remote_event, ANY, 0, 0, 0),
	FIELD(aries_fma_desc, operand, ANY, 0, 0, 0),
	FIELD(aries_fma_desc, sync_offset, MASK40, ARIES_ST_BOUNDS, on({SYNC}), ALL & ~on({SYNC})),
	FIELD(aries_fma_desc, sync_offset, ~7ull, ARIES_ST_ALIGN, on({SYNC}), ALL & ~on({SYNC})),
	FIELD(aries_fma_desc, sync_value, UINT32_MAX, ARIES_ST_RESERVED, on({CE}), ALL & ~on({CE})),
};

TEST(test_descriptor)
{
	Bench bench;

	for (unsigned int op = 0; op < OPS; op++) {
		bench.prepare(op);
		if (!bench.ended(bench.ring(op), ARIES_ST_OK))
			fail_msg("%s must go well", NAMES[op]);
	}
	assert_complete(DESCRIPTOR, std::size(DESCRIPTOR), sizeof(aries_fma_desc));
	const unsigned int tried = try_fields(DESCRIPTOR, std::size(DESCRIPTOR), NAMES, OPS,
					      [&](unsigned int op, size_t at, uint8_t mask, uint32_t status) {
						      bench.prepare(op);
						      flip(bench.desc(), at, mask);
						      return bench.ended(bench.ring(op), status);
					      });

	assert_true(tried > 2500);
}

/* Without events the queue is not looked at. */
TEST(test_queue_only_for_events)
{
	Bench bench;

	for (unsigned int op = 0; op < OPS; op++) {
		for (unsigned int cq : {ARIES_CQ_ENTRIES, 0xffffu, 999u}) {
			bench.prepare(op);
			bench.desc().cq = uint16_t(cq);
			assert_int_equal(bench.ring(op, 0), ARIES_ST_OK);
			assert_int_equal(bench.ring(op, ARIES_EV_LOCAL), ARIES_ST_CQ_OWNER);
			assert_int_equal(bench.ring(op, ARIES_EV_GLOBAL), ARIES_ST_CQ_OWNER);
		}
	}
	assert_false(bool(bench.a.next_event(20)));
}

/* Reserved bits of the doorbell word: nothing of the rest is looked at, so there is no event either. */
TEST(test_doorbell_bits)
{
	Bench bench;
	const uint64_t reserved = ARIES_DB_RSVD_MASK | uint64_t(ARIES_EV_RSVD_MASK & ~ARIES_DB_LATER)
							       << ARIES_DB_MODE_SHIFT;
	const uint64_t good = uint64_t(8) << ARIES_DB_LEN_SHIFT | uint64_t(ARIES_FMA_PUT_LINE) << ARIES_DB_OP_SHIFT |
			      uint64_t(ARIES_EV_GLOBAL) << ARIES_DB_MODE_SHIFT;

	for (unsigned int bit = 0; bit < 64; bit++) {
		if (!(reserved >> bit & 1))
			continue;
		bench.prepare(PUT);
		bench.a.store(FMAD, ARIES_FMA_DOORBELL + ARIES_DB_FMA, 8, good | uint64_t(1) << bit);
		assert_int_equal(bench.a.status(FMAD), ARIES_ST_RESERVED);
		assert_true(recorded(bench, ARIES_ST_RESERVED));
		assert_false(bool(bench.a.next_event(20)));
		assert_true(bench.memory.holds());
	}
	/* The command of an operation that has none is not read. */
	bench.prepare(PUT);
	bench.a.store(FMAD, ARIES_FMA_DOORBELL + ARIES_DB_FMA, 8, good | ARIES_DB_AMO_MASK);
	assert_true(bench.ended(bench.a.status(FMAD), ARIES_ST_OK));
}

/* Operations that there are not, and commands: what test_amo.cpp tries of atomics, for collectives. */
TEST(test_unknown_operations)
{
	Bench bench;
	unsigned int known = 0;

	for (unsigned int op = 0; op < 256; op++) {
		if ((op >= ARIES_FMA_PUT_LINE && op <= ARIES_FMA_LAUNCH_RING) || op == ARIES_FMA_CE)
			continue;
		bench.prepare(PUT);
		if (!bench.ended(bench.a.ring(FMAD, op, 8, ARIES_EV_GLOBAL), ARIES_ST_BAD_OP))
			fail_msg("operation %u", op);
	}
	for (unsigned int code = 0; code < 1024; code++) {
		bench.prepare(CE);
		const uint32_t status = bench.a.ring(FMAD, ARIES_FMA_CE, 0, ARIES_EV_GLOBAL, 0, code);

		known += status == ARIES_ST_OK;
		if (!bench.ended(status, status ? uint32_t(ARIES_ST_BAD_OP) : 0))
			fail_msg("command %#x of the collective engine", code);
	}
	assert_int_equal(known, 26);
}

/* Each length that an operation must not have, among all that the field can hold. */
TEST(test_lengths)
{
	Bench bench;

	auto expected = [](unsigned int op, unsigned int length) -> uint32_t {
		switch (op) {
		case PUT:
		case SYNC:
		case SCATTER:
			return length <= ARIES_DESC_LINE_BYTES ? ARIES_ST_OK : ARIES_ST_LENGTH;
		case GET:
		case GET_FLAG:
			return length < 1 || length > 65532 ? ARIES_ST_LENGTH
			       : length % 4                 ? ARIES_ST_ALIGN
							    : ARIES_ST_OK;
		case ADD:
		case FADD:
		case FADD_FLAG:
			return length == 8 ? ARIES_ST_OK : ARIES_ST_LENGTH;
		case FADD4:
			return length == 4 ? ARIES_ST_OK : ARIES_ST_LENGTH;
		case LAUNCH:
			return length >= 1 && length <= ARIES_LAUNCH_LINE ? ARIES_ST_OK : ARIES_ST_LENGTH;
		case RING:
			return length >= 1 && length <= 4 ? ARIES_ST_OK : ARIES_ST_LENGTH; /* entries of the ring */
		default:
			return length ? ARIES_ST_LENGTH : ARIES_ST_OK;
		}
	};
	constexpr struct {
		unsigned int op, code;
	} DOORBELL[OPS] = {
		{ARIES_FMA_PUT_LINE, 0},        {ARIES_FMA_PUT_SYNC, 0},         {ARIES_FMA_GET_OP, 0},
		{ARIES_FMA_GET_FLAG, 0},        {ARIES_FMA_AMO_OP, CODE_ADD},    {ARIES_FMA_AMO_OP, CODE_FADD},
		{ARIES_FMA_AMO_OP, CODE_FADD4}, {ARIES_FMA_AMO_FLAG, CODE_FADD}, {ARIES_FMA_CQWRITE, 0},
		{ARIES_FMA_CLOSE, 0},           {ARIES_FMA_PUT_SCATTER, 0},      {ARIES_FMA_LAUNCH, 0},
		{ARIES_FMA_LAUNCH_RING, 0},     {ARIES_FMA_CE, CODE_CE_ADD}};
	std::vector<unsigned int> lengths;

	for (unsigned int length = 0; length < 300; length++)
		lengths.push_back(length);
	for (unsigned int near : {2048u, 4096u, 8192u, 16384u, 32768u, 65532u}) {
		for (unsigned int length = near - 4; length <= std::min(near + 4, 65535u); length++)
			lengths.push_back(length);
	}
	for (unsigned int op = 0; op < OPS; op++) {
		for (unsigned int length : lengths) {
			uint32_t status = expected(op, length);

			if (status == ARIES_ST_OK && length > 1024)
				continue; /* reaches beyond the region; sizes that go well are test_fma.cpp's */
			bench.prepare(op);
			for (unsigned int i = 0; i < ARIES_LAUNCH_LINE; i++)
				memcpy(bench.a.line(FMAD) + i * ARIES_LAUNCH_BYTES, bench.a.ram(bench.local + RING_AT),
				       ARIES_LAUNCH_BYTES);
			for (unsigned int i = 0; i < 4; i++)
				memcpy(bench.a.ram(bench.local + RING_AT + i * ARIES_LAUNCH_BYTES), bench.a.line(FMAD),
				       ARIES_LAUNCH_BYTES);
			bench.memory.save();
			const uint32_t got =
				bench.a.ring(FMAD, DOORBELL[op].op, length, ARIES_EV_GLOBAL, 0, DOORBELL[op].code);

			if (!bench.ended(got, status))
				fail_msg("%s of %u: status %#x instead of %#x", NAMES[op], length, got, status);
		}
	}
}

/* What belongs to somebody else, and what was somebody's and is no more. */
TEST(test_foreign_and_stale)
{
	Bench bench;
	auto all = [&](uint32_t ops, uint32_t status, auto change) {
		for (unsigned int op = 0; op < OPS; op++) {
			if (!(ops >> op & 1))
				continue;
			bench.prepare(op);
			change(bench.desc());
			if (!bench.ended(bench.ring(op), status))
				fail_msg("%s must end with %#x", NAMES[op], status);
		}
	};
	const uint32_t lands = FETCHES | on({CE});
	const uint32_t at_mdh = ALL & ~on({CE});

	const Strangers others(bench);

	/* Foreign: queue, local and remote memory, collective engine. */
	all(ALL, ARIES_ST_CQ_OWNER, [](auto &d) { d.cq = Strangers::FOREIGN_CQ; });
	all(lands, ARIES_ST_LOCAL_PTAG, [](auto &d) { d.local_mdh = Strangers::FOREIGN_NEAR; });
	all(at_mdh, ARIES_ST_PTAG, [](auto &d) { d.mdh = Strangers::FOREIGN_FAR; });
	bench.b.write64(ARIES_CE_CHILD_N(ARIES_CE_CHILDREN), uint64_t(2) << 24);
	bench.b.write64(ARIES_CE_CTL_N(1), ARIES_CE_CTL_ENABLE_MASK | uint64_t(PTAG_B + 1) << 8 | uint64_t(1) << 32);
	all(on({CE}), ARIES_ST_PTAG, [](auto &d) { d.offset = 1 << ARIES_CE_ENGINE_SHIFT; });
	/* One past the end: children of the engine; engines that are not there. */
	for (unsigned int child = 1; child < ARIES_CE_CHILDREN; child++)
		all(on({CE}), ARIES_ST_CE_CHILD, [child](auto &d) { d.offset = child; });
	all(on({CE}), ARIES_ST_DISABLED, [](auto &d) { d.offset = 3 << ARIES_CE_ENGINE_SHIFT; });
	/* Another node's place in the tree. */
	bench.b.write64(ARIES_CE_CTL_N(1), 0);
	bench.b.write64(ARIES_CE_CHILD_N(ARIES_CE_CHILDREN), uint64_t(2) << 24 | 1);
	bench.b.write64(ARIES_CE_CTL_N(1), ARIES_CE_CTL_ENABLE_MASK | uint64_t(PTAG_B) << 8 | uint64_t(1) << 32);
	all(on({CE}), ARIES_ST_CE_CHILD, [](auto &d) { d.offset = 1 << ARIES_CE_ENGINE_SHIFT; });

	/* Stale: everything that an operation names, after its end. */
	all(ALL, ARIES_ST_CQ_OWNER, [](auto &d) { d.cq = Strangers::STALE_CQ; });
	all(lands, ARIES_ST_LOCAL_MDD, [](auto &d) { d.local_mdh = Strangers::STALE_NEAR; });
	all(at_mdh, ARIES_ST_MDD, [](auto &d) { d.mdh = Strangers::STALE_FAR; });
	/* The numbers were given away again: whoever has an old address misses. */
	others.reuse();
	all(lands, ARIES_ST_LOCAL_BOUNDS, [](auto &d) { d.local_mdh = Strangers::STALE_NEAR; });
	all(at_mdh & ~on({CQWRITE}), ARIES_ST_BOUNDS, [](auto &d) { d.mdh = Strangers::STALE_FAR; });
	bench.b.write64(ARIES_CE_CTL_N(0), 0);
	all(on({CE}), ARIES_ST_DISABLED, [](auto &) {});
	/* The domain itself. */
	bench.b.write64(ARIES_PTAG_KEY_N(PTAG_B), 0);
	all(at_mdh, ARIES_ST_PTAG, [](auto &) {});
	bench.a.write64(ARIES_PTAG_KEY_N(PTAG_A), 0);
	all(ALL, ARIES_ST_LOCAL_PTAG, [](auto &) {});
}

/* Two things wrong: which of them the status tells is written down. */
TEST(test_order)
{
	using Wrong = Break<aries_fma_desc>;
	Bench bench;
	const Wrong foreign_queue = {ARIES_ST_CQ_OWNER, [](auto &d) { d.cq = 999; }};
	const Wrong reserved = {ARIES_ST_RESERVED, [](auto &d) { d.reserved = 1; }};
	const Wrong misaligned = {ARIES_ST_ALIGN, [](auto &d) { d.offset |= 1; }};
	const Wrong local_misaligned = {ARIES_ST_LOCAL_ALIGN, [](auto &d) { d.local_offset |= 1; }};
	const Wrong no_node = {ARIES_ST_NO_NODE, [](auto &d) { d.pe = 7; }};
	const Wrong local_stale = {ARIES_ST_LOCAL_MDD, [](auto &d) { d.local_mdh = 99; }};
	const Wrong local_outside = {ARIES_ST_LOCAL_BOUNDS, [](auto &d) { d.local_offset += BYTES; }};
	const Wrong stale = {ARIES_ST_MDD, [](auto &d) { d.mdh = 99; }};
	const Wrong outside = {ARIES_ST_BOUNDS, [](auto &d) { d.offset += BYTES; }};
	auto run_with = [&](unsigned int op) {
		return [&bench, op](const Wrong &first, const Wrong &second, uint32_t status) {
			bench.prepare(op);
			first.apply(bench.desc());
			second.apply(bench.desc());
			return bench.ended(bench.ring(op), status);
		};
	};

	try_order({foreign_queue, reserved, no_node, stale, outside}, "put", run_with(PUT));
	try_order({foreign_queue, reserved, misaligned, no_node, local_stale, local_outside, stale, outside}, "get",
		  run_with(GET));
	try_order({foreign_queue, reserved, no_node, misaligned, local_misaligned, local_stale, local_outside, stale,
		   outside},
		  "fetch-add", run_with(FADD));
	try_order({foreign_queue, reserved, no_node, local_misaligned, local_stale, local_outside}, "collective",
		  run_with(CE));
}

/* A queue that is gone, at the target. */
TEST(test_stale_remote_queue)
{
	Bench bench;

	bench.b.write64(ARIES_CQ_CTL_N(21), 0);
	for (unsigned int op = 0; op < OPS; op++) {
		if (op == CE)
			continue;
		bench.prepare(op);
		const uint32_t got = bench.ring(op, ARIES_EV_GLOBAL | ARIES_EV_REMOTE);

		assert_int_equal(got, ARIES_ST_NO_CQ);
		assert_int_equal(bench.a.next_event(20).status(), ARIES_ST_NO_CQ);
		/* A batch has run by then; its event has nowhere to go. */
		assert_true(bench.memory.holds() || op == SCATTER || op == LAUNCH || op == RING);
	}
}

TEST(test_disabled)
{
	Bench bench;

	for (unsigned int op = 0; op < OPS; op++) {
		bench.prepare(op);
		bench.a.disable_fmad(FMAD);
		assert_int_equal(bench.ring(op), ARIES_ST_DISABLED);
		bench.a.enable_fmad(FMAD, PTAG_A, OWNER);
		bench.a.write32(ARIES_CTL_CONTROL, 0);
		assert_int_equal(bench.ring(op), ARIES_ST_DISABLED);
		bench.a.write32(ARIES_CTL_CONTROL, ARIES_CTL_CONTROL_ENABLE_MASK);
		aries_nic_set_bus_master(bench.a.nic(), false);
		assert_int_equal(bench.ring(op), ARIES_ST_DISABLED);
		aries_nic_set_bus_master(bench.a.nic(), true);
		assert_false(bool(bench.a.next_event(20)));
		assert_true(bench.memory.holds());
		assert_true(bench.ended(bench.ring(op), ARIES_ST_OK));
	}
	/* One past the last descriptor. */
	const uint64_t errors = bench.a.counter(ARIES_CNT_FMA_TRAPS);

	bench.a.store(ARIES_FMA_DESCRIPTORS, ARIES_FMA_DOORBELL, 8, 0);
	assert_int_equal(bench.a.counter(ARIES_CNT_FMA_TRAPS), errors);
}

/* Words of a contribution that fit its fields and mean nothing. */
TEST(test_contributions)
{
	constexpr unsigned int OR = 0x03, MINIMA[] = {0x11, 0x12, 0x18, 0x19};
	Bench bench;
	auto ring = [&](unsigned int code, uint64_t mode, unsigned int events, uint32_t status) {
		bench.prepare(CE);
		bench.desc().offset = mode << ARIES_CE_MODE_SHIFT;
		const uint32_t got = bench.a.ring(FMAD, ARIES_FMA_CE, 0, events, 0, code);

		if (!bench.ended(got, status))
			fail_msg("command %#x, mode %#llx: %#x", code, static_cast<unsigned long long>(mode), got);
	};

	for (unsigned int bit = 0; bit < 4; bit++) {
		ring(CODE_CE_ADD, 2u << bit, ARIES_EV_GLOBAL, ARIES_ST_RESERVED);
		ring(0x1d, 2u << bit, ARIES_EV_GLOBAL, ARIES_ST_OK); /* floating point */
	}
	ring(OR, ARIES_CEMODE_TWO_OP, ARIES_EV_GLOBAL, ARIES_ST_OK);
	for (unsigned int code : MINIMA)
		ring(code, ARIES_CEMODE_TWO_OP, ARIES_EV_GLOBAL, ARIES_ST_BAD_OP); /* the second operand is an index */
	ring(CODE_CE_ADD, 0, ARIES_EV_GLOBAL | ARIES_EV_REMOTE, ARIES_ST_RESERVED);
}

/* Accesses of the window and doorbell pages that are no operation. */
TEST(test_accesses)
{
	Bench bench;
	constexpr uint64_t DOORBELL = ARIES_FMA_DOORBELL;
	unsigned int expected = 0;

	bench.prepare(PUT);
	bench.ring(PUT, 0);
	bench.memory.save();
	for (uint64_t at = 0; at < 0x100; at++) {
		for (unsigned int size : {1u, 2u, 4u, 8u}) {
			const uint64_t doorbells[] = {ARIES_DB_FMA, ARIES_DB_BTE, ARIES_DB_NULL, ARIES_DB_LAUNCH,
						      ARIES_DB_LAUNCH + 8};

			if (size == 8 &&
			    std::find(std::begin(doorbells), std::end(doorbells), at) != std::end(doorbells))
				continue;
			bench.a.store(FMAD, DOORBELL + at, size, uint64_t(ARIES_FMA_PUT_LINE) << 32 | 8 << 16);
			expected++;
		}
	}
	bench.a.store(FMAD, ARIES_FMA_STRIDE - 8, 8, 0);
	expected++;
	/* The get window takes aligned words only. */
	for (unsigned int at = 0; at < 8; at++) {
		for (unsigned int size : {1u, 2u, 4u, 8u}) {
			if (size == 8 && !at)
				continue;
			bench.a.store(FMAD, ARIES_FMA_GET + 64 + at, size, BASE);
			expected++;
		}
	}
	assert_int_equal(bench.a.counter(ARIES_CNT_GUEST_ERRORS), expected);
	assert_true(bench.memory.holds());
	assert_false(bool(bench.a.next_event(20)));
}

} // namespace

TEST_MAIN("tests")
