/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A peer that is killed, or stopped for a while, after any instruction of an operation at our node: no wrong byte, no
 * event that is gone without a mark, no interrupt that never comes, nobody stuck, and what was revoked is free in the
 * end. Some instructions of each operation, all of them with OPENGNI_SLOW=1; ARIES_FUZZ_SEED repeats a run.
 */
#include <algorithm>
#include <cstdlib>

#include "nic/core/core.hpp"
#include "tests/stepped_peer.hpp"

using namespace aries_test;

namespace
{

constexpr unsigned int QUEUE = 21, VECTOR = 3, LOG2 = 6, POINTS = 6, MARK = 0x7777;
constexpr unsigned int FADD = 0x008, FADD_C = 0x018, IADD = 0x15;
constexpr uint64_t WORD = 0x1122334455667788, BLOCK = 16384;
constexpr uint16_t CHANNEL = 0xbeef;
constexpr unsigned int PATIENCE_MS = 20000; /* nothing here takes a hundredth of that */

/** What is being tried, for messages. */
struct {
	const char *operation;
	unsigned int count;
	bool kill;
} where;

/** Our node, with a region and a queue for its events, and the other one's part in an operation. */
class Target
{
public:
	explicit Target(bool lazy) : options{.nodes = 2, .lease_ms = 50}, a(path, 0, options)
	{
		if (lazy) {
			a.write32(ARIES_CTL_CONTROL, 0);
			a.write32(ARIES_AMO_CTL, 1);
			a.write32(ARIES_CTL_CONTROL, ARIES_CTL_CONTROL_ENABLE_MASK);
		}
		a.set_key(PTAG_A, KEY);
		a.enable_fmad(FMAD, PTAG_A, OWNER);
		a.make_cq(QUEUE, LOG2, OWNER, ARIES_CQ_CTL_IRQ_MASK | uint64_t(VECTOR) << 32);
		memory = a.alloc(BYTES);
		a.make_mdd(MDH, PTAG_A, memory, BYTES, BASE, ARIES_MDD_CTL_CQ_VALID_MASK | uint64_t(QUEUE) << 24);
		aries_fma_desc &own = a.desc(FMAD);

		own = {};
		own.mdh = own.local_mdh = MDH;
		own.offset = BASE + 2 * BLOCK; /* apart from what the peer writes */
		own.local_offset = BASE + 3 * BLOCK;
		own.cq = QUEUE;
		own.local_event = 0x1111;
	}

	uint64_t &word(uint64_t at = 0) { return *reinterpret_cast<uint64_t *>(a.ram(memory + at)); }
	void drain_events()
	{
		while (a.next_event(QUEUE))
			;
	}
	/** An entry that we have not read. */
	bool entry_waits() const
	{
		const auto *ring = reinterpret_cast<uint64_t *>(a.ram(a.read(ARIES_CQ_BASE_N(uint64_t(QUEUE)), 8)));

		return __atomic_load_n(&ring[ARIES_CQ_HEADER_BYTES / 8 + ring[0] % (1u << LOG2)], __ATOMIC_ACQUIRE);
	}
	template <typename F> void until(const char *what, F &&done)
	{
		for (unsigned int ms = 0; !done(); ms++) {
			if (ms > PATIENCE_MS)
				fail_msg("never: %s (%s, %s after instruction %u)", what, where.operation,
					 where.kill ? "killed" : "stopped", where.count);
			usleep(1000);
			a.main_loop();
		}
	}

	const std::string path = fabric_path();
	const FakeHost::Options options;
	FakeHost a;
	RawSegment raw{path};
	uint64_t memory;
};

/** One kind of operation. */
struct Operation {
	const char *name;
	/** In the peer: what it does, first so that all is mapped, then under our eyes. */
	void (*ring)(FakeHost &);
	/** Here: before the first, and between the two. */
	void (*before)(Target &);
	void (*between)(Target &);
	/** Here, when the peer has @ended it, or is dead. Return: whether its event is due then */
	bool (*check)(Target &, bool ended);
	bool lazy = false;
};

void prepare_peer(FakeHost &host)
{
	host.set_key(PTAG_B, KEY);
	host.enable_fmad(FMAD, PTAG_B, OWNER, ARIES_FMAD_CTL_CACHED_AMO_MASK);
	host.make_cq(20, LOG2, OWNER);
	const uint64_t local = host.alloc(BYTES);

	host.make_mdd(LOCAL_MDH, PTAG_B, local, BYTES, BASE);
	memset(host.ram(local), 0xa5, BLOCK);
	aries_fma_desc &d = host.desc(FMAD);

	d = {};
	d.mdh = MDH;
	d.local_mdh = LOCAL_MDH;
	d.offset = BASE;
	d.local_offset = BASE + 2 * BLOCK;
	d.remote_event = MARK;
	memcpy(host.line(FMAD), &WORD, sizeof(WORD));
}

void nothing(Target &) {}
void clear(Target &t)
{
	memset(t.a.ram(t.memory), 0, BLOCK);
}

void ring_put(FakeHost &host)
{
	host.ring(FMAD, ARIES_FMA_PUT_LINE, 8, ARIES_EV_REMOTE);
}
bool check_put(Target &t, bool ended)
{
	assert_true(t.word() == WORD || (t.word() == 0 && !ended));
	assert_int_equal(t.word(8), 0);
	return ended;
}

void ring_get(FakeHost &host)
{
	host.ring(FMAD, ARIES_FMA_GET_OP, 64, ARIES_EV_REMOTE);
}
bool check_get(Target &t, bool ended)
{
	for (uint64_t at = 0; at < BLOCK; at += 8)
		assert_int_equal(t.word(at), 0);
	return ended;
}

template <unsigned int CODE> void ring_amo(FakeHost &host)
{
	host.desc(FMAD).operand[0] = 1;
	host.ring(FMAD, ARIES_FMA_AMO_OP, 8, ARIES_EV_REMOTE, 0, CODE);
}
bool check_amo(Target &t, bool ended)
{
	if (t.a.read(ARIES_AMO_CTL, 4))
		t.a.write32(ARIES_AMO_FLUSH, 1);
	assert_in_range(t.word(), ended, 1);
	assert_int_equal(t.word(8), 0);
	return ended;
}
/* Lazily, our own put is what tells the NIC of the new value. */
void clear_word(Target &t)
{
	const uint64_t offset = t.a.desc(FMAD).offset;

	t.a.desc(FMAD).offset = BASE;
	memset(t.a.line(FMAD), 0, 8);
	assert_int_equal(t.a.ring(FMAD, ARIES_FMA_PUT_LINE, 8), ARIES_ST_OK);
	t.a.desc(FMAD).offset = offset;
}

template <uint64_t LENGTH> void ring_block(FakeHost &host)
{
	aries_bte_desc &d = host.slot(FMAD, 0);

	d = block_transfer(ARIES_BTE_PUT, MDH, LOCAL_MDH, LENGTH, ARIES_EV_REMOTE);
	d.pe = 0;
	d.remote_event = MARK;
	host.ring_bte(FMAD, 0);
}
bool check_block(Target &t, bool ended)
{
	for (uint64_t at = 0; at < BLOCK; at++) {
		const uint8_t byte = *t.a.ram(t.memory + at);

		assert_true(byte == 0xa5 || (byte == 0 && (!ended || at >= 4096)));
	}
	assert_int_equal(t.word(BLOCK), 0);
	return ended;
}

void ring_send(FakeHost &host)
{
	aries_bte_desc &d = host.slot(FMAD, 0);

	d = {};
	d.offset = CHANNEL;
	d.local_mdh = LOCAL_MDH;
	d.local_offset = BASE;
	d.length = 4096;
	d.op = ARIES_BTE_SEND;
	host.ring_bte(FMAD, 0);
}
void post_receive(Target &t)
{
	t.until("the receive is free", [&t] {
		t.a.write64(ARIES_RMT_OFFSET_N(0), BASE);
		t.a.write32(ARIES_RMT_LENGTH_N(0), BLOCK);
		t.a.write32(ARIES_RMT_EVENT_N(0), MARK);
		t.a.write64(ARIES_RMT_CTL_N(0), ARIES_RMT_CTL_VALID_MASK | uint64_t(PTAG_A) << 8 |
							uint64_t(CHANNEL) << 16 | uint64_t(MDH) << 32);
		return (t.a.read(ARIES_RMT_CTL_N(0), 8) & ARIES_RMT_CTL_VALID_MASK) != 0;
	});
	clear(t);
}
bool check_send(Target &t, bool ended)
{
	t.until("the receive is done or posted again",
		[&t] { return !(t.a.read(ARIES_RMT_STATUS_N(0), 8) & ARIES_RMT_STATUS_BUSY_MASK); });
	const uint64_t status = t.a.read(ARIES_RMT_STATUS_N(0), 8);

	if (status) {
		assert_int_equal(status, ARIES_RMT_STATUS_DONE_MASK | 4096 | aries::prep(ARIES_RMT_STATUS_PE_MASK, 1));
		for (uint64_t at = 0; at < 4096; at++)
			assert_int_equal(*t.a.ram(t.memory + at), 0xa5);
	} else {
		assert_false(ended);
		assert_true(t.a.read(ARIES_RMT_CTL_N(0), 8) & ARIES_RMT_CTL_VALID_MASK);
	}
	return status != 0;
}

/* An engine here, with an endpoint here and one there, which contributes last: its thread brings the outcome to both.
 */
void ring_collective(FakeHost &host)
{
	aries_fma_desc &d = host.desc(FMAD);
	const aries_fma_desc before = d;

	d.mdh = 0;
	d.offset = 1;
	d.local_offset = BASE;
	d.operand[0] = 2;
	host.ring(FMAD, ARIES_FMA_CE, 0, 0, 0, IADD);
	d = before;
}
void contribute(Target &t)
{
	aries_fma_desc &d = t.a.desc(FMAD);
	const aries_fma_desc before = d;

	memset(t.a.ram(t.memory), 0, 32);
	d.mdh = 0;
	d.offset = 0;
	d.local_offset = BASE;
	d.operand[0] = 1;
	d.local_event = MARK;
	assert_int_equal(t.a.ring(FMAD, ARIES_FMA_CE, 0, ARIES_EV_LOCAL, 0, IADD), ARIES_ST_OK);
	d = before;
}
void make_tree(Target &t)
{
	t.a.write64(ARIES_CE_CTL_N(0), 0);
	t.until("the engine is enabled", [&t] {
		for (uint64_t i = 0; i < 2; i++)
			t.a.write64(ARIES_CE_CHILD_N(i), i | uint64_t(2) << 24);
		t.a.write64(ARIES_CE_CTL_N(0), ARIES_CE_CTL_ENABLE_MASK | uint64_t(PTAG_A) << 8 |
						       uint64_t(OWNER) << 16 | uint64_t(2) << 32);
		return (t.a.read(ARIES_CE_CTL_N(0), 8) & ARIES_CE_CTL_ENABLE_MASK) != 0;
	});
	contribute(t);
}
bool check_collective(Target &t, bool ended)
{
	const auto *block = reinterpret_cast<aries_ce_result *>(t.a.ram(t.memory));

	t.until("the collective ends",
		[block] { return __atomic_load_n(&block->control, __ATOMIC_ACQUIRE) & ARIES_CER_DONE; });
	const uint64_t status = (block->control & ARIES_CER_STATUS_MASK) >> 8;

	assert_true(status == ARIES_ST_OK || (status == ARIES_ST_TIMEOUT && !ended));
	if (status == ARIES_ST_OK)
		assert_int_equal(block->result[0], 3);
	return true;
}

void ring_refused(FakeHost &host)
{
	host.set_key(PTAG_B, KEY + 1);
	host.ring(FMAD, ARIES_FMA_PUT_LINE, 8);
	host.set_key(PTAG_B, KEY);
}
void forget_errors(Target &t)
{
	clear(t);
	while (t.a.read(ARIES_ERR_COUNT, 4))
		t.a.write32(ARIES_ERR_POP, 1);
	t.a.irqs[0] = 0;
}
bool check_refused(Target &t, bool ended)
{
	assert_int_equal(t.word(), 0);
	assert_true(!ended || t.a.read(ARIES_ERR_COUNT, 4) || t.a.read(ARIES_ERR_LOST, 4));
	return false;
}

constexpr Operation PUT = {"put", ring_put, clear, clear, check_put};
constexpr Operation GET = {"get", ring_get, clear, nothing, check_get};
constexpr Operation AMO = {"atomic", ring_amo<FADD>, clear, clear, check_amo};
constexpr Operation LAZY = {"lazy atomic", ring_amo<FADD_C>, clear_word, clear_word, check_amo, true};
constexpr Operation SHORT = {"short block", ring_block<4096>, clear, clear, check_block};
constexpr Operation LONG = {"block", ring_block<BLOCK>, clear, clear, check_block};
constexpr Operation SEND = {"send", ring_send, post_receive, post_receive, check_send};
constexpr Operation CE = {"collective", ring_collective, nothing, make_tree, check_collective};
constexpr Operation REFUSED = {"refused put", ring_refused, clear, forget_errors, check_refused};

/** Our own events, and those of the peer that are due, or marks that some are lost. */
void check_events(Target &t, size_t mine, bool due)
{
	size_t own = 0, marks = 0, theirs = 0;

	t.until("events, or a mark for them", [&] {
		while (const Event event = t.a.next_event(QUEUE)) {
			marks += event.overrun();
			theirs += event.data() == MARK;
			if (event.overrun() || event.data() == MARK)
				continue;
			/* In order, and each once. */
			assert_int_equal(event.data(), 0x1111);
			assert_in_range(event.tid(), own + 1, mine);
			own = event.tid();
		}
		return marks || (own == mine && (theirs || !due));
	});
	assert_in_range(theirs, 0, 1);
}

/** Vector 0, and another error. */
void check_errors(Target &t)
{
	if (t.a.read(ARIES_ERR_COUNT, 4))
		t.until("an interrupt for an error", [&t] { return t.a.irqs[0] != 0; });
	forget_errors(t);
	t.a.desc(FMAD).pe = 77;
	assert_int_equal(t.a.ring(FMAD, ARIES_FMA_PUT_LINE, 8), ARIES_ST_NO_NODE);
	t.a.desc(FMAD).pe = 0;
	t.until("an interrupt for an error of our own", [&t] { return t.a.irqs[0] != 0; });
}

/** An entry in the queue, which was armed: so we were or will be told, whatever its writer does. */
void check_interrupt(Target &t)
{
	if (t.entry_waits())
		t.until("an interrupt for an event", [&t] { return t.a.irqs[VECTOR] != 0; });
}

void own_event(Target &t, unsigned int tid)
{
	assert_int_equal(t.a.ring(FMAD, ARIES_FMA_PUT_LINE, 8, ARIES_EV_LOCAL, tid), ARIES_ST_OK);
}

/** Does @op as far as instruction @count; then the peer is killed, or stays there for a while. Return: it came so far
 */
bool once(const Operation &op, unsigned int count, bool kill)
{
	Target t(op.lazy);
	unsigned int mine = 0;

	op.before(t);
	SteppedPeer peer(t.path, t.options, prepare_peer, op.ring);

	op.between(t);
	t.drain_events();
	t.a.irqs[VECTOR] = 0;
	t.a.write32(ARIES_CQI_ARM, QUEUE);
	for (unsigned int i = 0; i < count; i++) {
		if (!peer.step())
			return false;
	}
	if (kill) {
		peer.kill_now();
		t.until("the death is known",
			[&t] { return uint32_t(t.raw.node(1).member.load()) == aries::MEMBER_DEAD; });
	}
	t.a.main_loop();
	check_interrupt(t);
	own_event(t, ++mine);
	t.a.write32(ARIES_INV_PTES, MDH);
	if (!kill) {
		peer.go_on();
		t.until("the peer's operation ends", [&peer] { return peer.ended(); });
		t.a.main_loop();
		check_interrupt(t);
	}
	own_event(t, ++mine);
	t.until("the drain ends", [&t] { return t.a.read(ARIES_INV_STATUS, 4) == 0; });
	check_events(t, mine, op.check(t, !kill));
	check_errors(t);
	own_event(t, ++mine);
	assert_int_equal(t.a.next_event(QUEUE).tid(), mine);
	return true;
}

/** Instructions of @op. */
unsigned int instructions(const Operation &op)
{
	Target t(op.lazy);

	op.before(t);
	SteppedPeer peer(t.path, t.options, prepare_peer, op.ring);
	unsigned int count = 0;

	op.between(t);
	while (peer.step())
		count++;
	return count;
}

void test_steps(void **state)
{
	const auto &op = *static_cast<const Operation *>(*state);
	const unsigned int all = instructions(op);
	std::mt19937_64 random(seed());

	print_message("%s: %u instructions, ARIES_FUZZ_SEED=%llu\n", op.name, all,
		      static_cast<unsigned long long>(seed()));
	for (const bool kill : {true, false}) {
		for (const unsigned int count : stops(random, all, POINTS)) {
			where = {op.name, count, kill};
			once(op, count, kill);
		}
	}
}

} // namespace

/* Arguments: names of operations, none for all. */
int main(int argc, char **argv)
{
	return run_stepped("steps", {&PUT, &GET, &AMO, &LAZY, &SHORT, &LONG, &SEND, &CE, &REFUSED}, test_steps, argc,
			   argv);
}
