/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz/machine.hpp"

#include <unistd.h>

#include "aries_regs_table.h"

using namespace aries_test;

namespace aries_fuzz
{

namespace
{

constexpr uint32_t NODES = 24; /* six routers, so that packets have a way to go */
constexpr uint32_t PEER[2] = {0, NODES - 1};
constexpr uint64_t BASE = 0x7f12345000;
constexpr uint64_t BYTES = uint64_t(32) << 10;
constexpr uint64_t FENCE_BYTES = uint64_t(8) << 10;
constexpr uint8_t FENCE = 0x77;
constexpr uint32_t KEY = 0xc00c1e, OTHER_KEY = 0xbad;
constexpr unsigned int PTAG = 3, OTHER_PTAG = 4, OWNER = 5, OTHER_OWNER = 6;
constexpr unsigned int DESCRIPTORS = 4; /* 1 and 2 of OWNER, 3 of another domain, 0 not enabled */
constexpr unsigned int CQ_FIRST = 20, CQ_LOG2 = ARIES_CQ_LOG2_MIN, OTHER_CQ = 30;
constexpr unsigned int MDH = 9, READ_ONLY_MDH = 10, OTHER_MDH = 11;

struct Register {
	uint32_t offset;
	uint16_t width, count, stride;
};

constexpr Register REGISTERS[] = {
#define ROW(name, offset, width, access, count, stride, reset, mask, dump, text) {offset, width, count, stride},
	ARIES_REGISTERS(ROW)
#undef ROW
};

} // namespace

Machine::Machine()
	: nodes_{{{path_, PEER[0], {.nodes = NODES, .lease_ms = 60000, .polled = true}}},
		 {{path_, PEER[1], {.nodes = NODES, .lease_ms = 60000}}}}
{
}

Machine::~Machine()
{
	fprintf(stderr, "%llu accesses\n", static_cast<unsigned long long>(accesses_));
}

void Machine::set_up(Node &node)
{
	FakeHost &host = node.host;

	host.restart();
	for (const char *fault : {"drop", "corrupt", "delay-ns", "reorder"})
		aries_nic_set_fault(host.nic(), fault, 0, nullptr, 0);
	aries_nic_set_fault(host.nic(), "link", 1, nullptr, 0);
	host.set_key(PTAG, KEY);
	host.set_key(OTHER_PTAG, OTHER_KEY);
	host.enable_fmad(1, PTAG, OWNER);
	/* Doorbells that lie in the area: of one NIC only, and of some of its processes. */
	const bool polled = host.read(ARIES_ID_CAPS, 8) & ARIES_ID_CAPS_POLL_MASK;
	const uint64_t poll = polled ? ARIES_FMAD_CTL_POLL_MASK : 0;

	host.enable_fmad(2, PTAG, OWNER, ARIES_FMAD_CTL_CACHED_AMO_MASK | poll);
	host.enable_fmad(3, OTHER_PTAG, OTHER_OWNER, poll);
	node.queue = host.alloc(0); /* where the next one will be */
	host.make_cq(CQ_FIRST, CQ_LOG2, OWNER, ARIES_CQ_CTL_IRQ_MASK | uint64_t(1) << 32);
	host.make_cq(OTHER_CQ, CQ_LOG2, OTHER_OWNER);
	node.memory = host.alloc(BYTES);
	node.fence = host.alloc(FENCE_BYTES);
	memset(host.ram(node.fence), FENCE, FENCE_BYTES);
	node.table = host.make_mdd(MDH, PTAG, node.memory, BYTES, BASE,
				   ARIES_MDD_CTL_CQ_VALID_MASK | uint64_t(CQ_FIRST) << 24 | uint64_t(OWNER) << 40);
	host.make_mdd(READ_ONLY_MDH, PTAG, node.fence, FENCE_BYTES, BASE,
		      ARIES_MDD_CTL_READ_ONLY_MASK | uint64_t(OWNER) << 40, false);
	host.make_mdd(OTHER_MDH, OTHER_PTAG, host.alloc(FENCE_BYTES), FENCE_BYTES, BASE, uint64_t(OTHER_OWNER) << 40);
}

void Machine::restart()
{
	for (Node &node : nodes_)
		set_up(node);
	for (Node &node : nodes_)
		for (unsigned int index = 0; index < DESCRIPTORS; index++) {
			aries_fma_desc &desc = node.host.desc(index);

			desc.pe = PEER[1];
			desc.mdh = desc.local_mdh = MDH;
			desc.offset = desc.local_offset = desc.sync_offset = BASE;
			desc.cq = CQ_FIRST;
		}
}

void Machine::write(Node &node, unsigned int bar, uint64_t offset, unsigned int size, uint64_t value)
{
	accesses_++;
	aries_nic_write(node.host.nic(), bar, offset, size, value);
}

uint64_t Machine::offset(Input &input)
{
	const uint8_t form = input.byte();

	switch (form & 3) {
	case 0:
		return BASE + input.below(BYTES);
	case 1:
		return BASE + (input.below(BYTES) & ~uint64_t(7));
	case 2:
		return BASE + BYTES - (form >> 2);
	default:
		return input.word();
	}
}

uint32_t Machine::mdh(Input &input)
{
	const uint64_t value = input.byte();

	return uint32_t(value < 0xf0 ? MDH + value % 4 : input.take(2));
}

/* The 72 bytes of a descriptor: one field at a time, or all as they come. */
void Machine::describe(Input &input)
{
	Node &node = pick(input);
	aries_fma_desc &desc = node.host.desc(unsigned(input.below(DESCRIPTORS)));

	switch (input.below(12)) {
	case 0:
		desc.pe = input.below(4) < 3 ? PEER[input.below(2)] : uint32_t(input.word());
		break;
	case 1:
		desc.mdh = uint16_t(mdh(input));
		break;
	case 2:
		desc.offset = offset(input);
		break;
	case 3:
		desc.local_offset = offset(input);
		break;
	case 4:
		desc.local_mdh = uint16_t(mdh(input));
		break;
	case 5:
		desc.cq = uint16_t(input.below(8) ? (input.below(4) ? CQ_FIRST : OTHER_CQ) : input.take(2));
		break;
	case 6:
		desc.operand[0] = input.word();
		desc.operand[1] = input.word();
		break;
	case 7:
		desc.sync_offset = offset(input);
		desc.sync_value = input.word();
		break;
	case 8:
		desc.dlvr_mode = uint16_t(input.take(2));
		desc.local_event = uint32_t(input.take(4));
		desc.remote_event = uint32_t(input.take(4));
		break;
	case 9:
		desc.reserved = uint32_t(input.word());
		break;
	case 10: /* a collective's place: child, engine, modes */
		desc.offset = input.below(4) | input.below(4) << 8 | input.below(0x20) << 16;
		desc.sync_value = input.below(4);
		desc.local_offset &= ~uint64_t(7);
		break;
	default:
		for (unsigned int i = 0; i < sizeof(desc); i++)
			reinterpret_cast<uint8_t *>(&desc)[i] = input.byte();
		break;
	}
}

void Machine::describe_block(Input &input)
{
	Node &node = pick(input);
	aries_bte_desc &bte =
		node.host.slot(unsigned(input.below(DESCRIPTORS)), unsigned(input.below(ARIES_BTE_SLOTS)));

	bte = {};
	bte.pe = PEER[input.below(2)];
	bte.mdh = uint16_t(mdh(input));
	bte.local_mdh = uint16_t(mdh(input));
	bte.offset = offset(input);
	bte.local_offset = offset(input);
	bte.length = uint32_t(input.below(4) ? input.below(BYTES) : input.word());
	bte.cq = input.below(8) ? CQ_FIRST : OTHER_CQ;
	bte.tid = input.byte();
	bte.op = uint8_t(input.below(8) < 7 ? 1 + input.below(2) : input.byte());
	bte.mode = input.byte() & (ARIES_EV_LOCAL | ARIES_EV_GLOBAL | ARIES_EV_REMOTE);
	bte.flags = input.below(4) ? 0 : input.byte();
	bte.dlvr_mode = uint16_t(input.take(2));
	if (input.below(16) == 0)
		reinterpret_cast<uint8_t *>(&bte)[input.below(sizeof(bte))] = input.byte();
}

/* A window with scatter, a launch ring, and entries that may stand in the line or in the ring. */
void Machine::describe_batch(Input &input)
{
	Node &node = pick(input);
	const unsigned int index = unsigned(input.below(DESCRIPTORS));
	aries_fma_window &window = node.host.window(index);
	const bool ring = input.below(2);
	auto *entry = reinterpret_cast<aries_launch_entry *>(ring ? node.host.ram(node.memory) : node.host.line(index));

	window.pe_shift = uint8_t(input.below(8) ? 3 + input.below(10) : input.byte());
	window.pe_bits = uint8_t(input.below(8) ? input.below(6) : input.byte());
	window.at = uint16_t(input.below(4) ? input.byte() : input.take(2));
	window.amo = uint16_t(input.take(2) & 0x37f);
	window.ring_mdh = uint16_t(mdh(input));
	window.ring_offset = input.below(4) ? BASE : offset(input);
	window.ring_first = uint32_t(input.below(4) ? input.byte() : input.word());
	window.ring_entries = uint32_t(input.below(4) ? 1 + input.below(600) : input.word());
	for (uint64_t i = input.below(ARIES_LAUNCH_LINE), end = i + input.below(12); i < end && i < ARIES_LAUNCH_LINE;
	     i++) {
		const uint64_t pe = input.below(8) ? PEER[input.below(2)] : input.take(3);
		const uint64_t kind = input.below(8) ? 1 + input.below(5) : input.byte();

		entry[i].target = (offset(input) & ARIES_LAUNCH_OFFSET_MASK) |
				  (pe << ARIES_LAUNCH_PE_SHIFT & ARIES_LAUNCH_PE_MASK) |
				  kind << ARIES_LAUNCH_KIND_SHIFT;
		entry[i].value = offset(input);
	}
	if (input.below(8) == 0)
		write(node, ARIES_BAR_FMA,
		      index * uint64_t(ARIES_FMA_STRIDE) + ARIES_FMA_DOORBELL + ARIES_DB_LAUNCH + input.below(2) * 8, 8,
		      input.word());
}

/* A doorbell that a thread of the NIC may find, at any time from now on, or the next store to DB_POLL runs. */
void Machine::leave_doorbell(Node &node, unsigned int index, Input &input)
{
	const uint8_t form = input.byte();
	const uint64_t value = form & 1 ? input.word()
					: input.byte() | uint64_t(input.byte()) << 16 | (form >> 2) % 20ull << 32 |
						  (input.byte() & 0x37ull) << 40;
	uint64_t *word = node.host.polled(index);

	/* Mostly another phase, so that there is something to be found. */
	__atomic_store_n(word, value ^ (form & 2 ? ~*word & ARIES_DB_PHASE : 0), __ATOMIC_RELEASE);
	if (input.below(4))
		write(node, ARIES_BAR_FMA, index * uint64_t(ARIES_FMA_STRIDE) + ARIES_FMA_DOORBELL + ARIES_DB_POLL, 8,
		      form);
}

void Machine::ring(Input &input)
{
	Node &node = pick(input);
	const uint64_t index = input.below(DESCRIPTORS);
	const uint64_t page = index * ARIES_FMA_STRIDE + ARIES_FMA_DOORBELL;
	const uint8_t form = input.byte();

	if (form >= 224) {
		leave_doorbell(node, unsigned(index), input);
		return;
	}
	if (form < 32) {
		write(node, ARIES_BAR_FMA, page + ARIES_DB_BTE, 8,
		      form & 1 ? input.below(ARIES_BTE_SLOTS) : input.word());
	} else if (form < 40) {
		write(node, ARIES_BAR_FMA, page + ARIES_DB_FMA, 8, input.word());
	} else {
		const uint64_t op = form % 32 < 20 ? form % 32 : input.byte();
		const uint64_t bytes = input.below(4) ? input.below(80) : input.take(2);
		const uint64_t tid_mode = input.take(1) | (input.take(1) & 0x37) << 40;

		write(node, ARIES_BAR_FMA, page + ARIES_DB_FMA, 8,
		      tid_mode | bytes << 16 | op << 32 | (input.take(2) & 0x3ff) << 48);
	}
}

void Machine::window(Input &input)
{
	static constexpr unsigned int sizes[] = {8, 4, 2, 1};
	Node &node = pick(input);
	const uint64_t index = input.below(16) ? input.below(DESCRIPTORS) : input.byte();
	const uint8_t form = input.byte();
	uint64_t at;

	switch (form & 3) {
	case 0: /* a run of stores, as a process makes them */
		at = input.below(512) * 8;
		for (uint64_t i = 0; i < (form >> 4); i++)
			write(node, ARIES_BAR_FMA, index * ARIES_FMA_STRIDE + ARIES_FMA_PUT + at + i * 8, 8,
			      input.take(2));
		break;
	case 1:
		at = index * ARIES_FMA_STRIDE + ARIES_FMA_GET + input.below(8192) * 8;
		write(node, ARIES_BAR_FMA, at, 8, input.word());
		break;
	case 2:
		at = index * ARIES_FMA_STRIDE + (input.take(3) & (ARIES_FMA_STRIDE - 1));
		write(node, ARIES_BAR_FMA, at, sizes[form >> 2 & 3], input.word());
		break;
	default:
		at = input.take(4);
		accesses_++;
		aries_nic_read(node.host.nic(), unsigned(form >> 2 & 3), at, sizes[form >> 4 & 3]);
		break;
	}
}

/* Header page and slots are mapped by the process that reads them. */
void Machine::scribble_queue(Input &input)
{
	Node &node = pick(input);
	auto *words = reinterpret_cast<uint64_t *>(node.host.ram(node.queue));

	if (input.below(4)) {
		while (node.host.next_event(CQ_FIRST))
			;
		return;
	}
	const uint64_t at = input.below(2) ? 0 : ARIES_CQ_HEADER_BYTES / 8 + input.below(1u << CQ_LOG2);

	__atomic_store_n(&words[at], input.word(), __ATOMIC_RELAXED);
}

void Machine::process(Input &input)
{
	switch (input.below(9)) {
	case 0:
	case 1:
		describe(input);
		break;
	case 2:
		describe_block(input);
		break;
	case 8:
		describe_batch(input);
		break;
	case 3:
		window(input);
		break;
	case 4:
		scribble_queue(input);
		break;
	default:
		ring(input);
		break;
	}
}

void Machine::register_access(Input &input)
{
	Node &node = pick(input);
	const Register &reg = REGISTERS[input.below(sizeof(REGISTERS) / sizeof(REGISTERS[0]))];
	const uint64_t element = reg.count > 1 ? (input.below(4) ? input.below(32) % reg.count : input.take(2)) : 0;
	const uint8_t form = input.byte();
	const uint64_t at = reg.offset + element * reg.stride;
	const unsigned int size = form & 0x70 ? reg.width / 8u : 1u << (form >> 2 & 3);

	if (form & 1) {
		write(node, ARIES_BAR_REGS, at, size, input.word());
	} else if (form & 2) {
		write(node, ARIES_BAR_REGS, input.take(3) % (ARIES_BAR_REGS_SIZE + 64), size, input.word());
	} else {
		accesses_++;
		aries_nic_read(node.host.nic(), ARIES_BAR_REGS, at, size);
	}
}

/* Trees of collective engines that nearly make sense, cycles among them. */
void Machine::tree(Input &input)
{
	Node &node = pick(input);
	const uint64_t engine = input.below(4), children = 1 + input.below(3);

	write(node, ARIES_BAR_REGS, ARIES_CE_CTL_N(engine), 8, 0);
	write(node, ARIES_BAR_REGS, ARIES_CE_PARENT_N(engine), 8,
	      PEER[input.below(2)] | input.below(4) << 18 | input.below(4) << 20 |
		      (input.below(2) ? ARIES_CE_PARENT_VALID_MASK : 0));
	for (uint64_t i = 0; i < children; i++)
		write(node, ARIES_BAR_REGS, ARIES_CE_CHILD_N(engine * ARIES_CE_CHILDREN + i), 8,
		      PEER[input.below(2)] | input.below(4) << 18 | input.below(3) << 24);
	write(node, ARIES_BAR_REGS, ARIES_CE_CTL_N(engine), 8,
	      ARIES_CE_CTL_ENABLE_MASK | (input.byte() & 0x3e) | uint64_t(PTAG) << 8 | uint64_t(OWNER) << 16 |
		      children << 32 | uint64_t(CQ_FIRST) << 40);
}

/* Registrations: tables that change, other page sizes, invalidation. */
void Machine::domain(Input &input)
{
	Node &node = pick(input);
	auto *entries = reinterpret_cast<uint64_t *>(node.host.ram(node.table));
	const uint64_t which = MDH + input.below(4);

	switch (input.below(4)) {
	case 0:
		__atomic_store_n(&entries[input.below(BYTES / PAGE)],
				 input.below(2) ? (input.below(LOW_BYTES / PAGE) * PAGE) | 3 : input.word(),
				 __ATOMIC_RELAXED);
		break;
	case 1:
		write(node, ARIES_BAR_REGS, ARIES_INV_MDD, 4, which);
		break;
	case 2:
		write(node, ARIES_BAR_REGS, ARIES_MDD_TABLE_N(which), 8,
		      input.below(2) ? node.table : input.below(LOW_BYTES / PAGE) * PAGE);
		write(node, ARIES_BAR_REGS, ARIES_MDD_LENGTH_N(which), 8, 1 + input.take(5));
		write(node, ARIES_BAR_REGS, ARIES_MDD_CTL_N(which), 8,
		      ARIES_MDD_CTL_VALID_MASK | (input.byte() & 0xe) | uint64_t(PTAG) << 8 |
			      (12 + input.below(25)) << 16 | uint64_t(CQ_FIRST) << 24 | uint64_t(OWNER) << 40);
		break;
	default:
		write(node, ARIES_BAR_REGS, ARIES_FMAD_CTL_N(input.below(DESCRIPTORS)), 8,
		      (input.take(1) & 0xf) | uint64_t(PTAG) << 8 | uint64_t(OWNER) << 16 | input.take(2) << 32 |
			      input.take(2) << 48);
		break;
	}
}

void Machine::host_action(Input &input)
{
	static const char *const faults[] = {"drop", "corrupt", "delay-ns", "reorder", "link"};
	Node &node = pick(input);
	aries_nic *nic = node.host.nic();

	switch (input.below(6)) {
	case 0:
		aries_nic_set_fault(nic, faults[input.below(5)], input.below(8), nullptr, 0);
		break;
	case 1:
		aries_nic_set_bus_master(nic, input.below(2));
		break;
	case 2:
		if (input.below(8) == 0)
			aries_nic_reset(nic);
		break;
	case 3: {
		const std::string file = path_ + ".trace";

		aries_nic_set_trace(nic, input.below(2) ? file.c_str() : nullptr, 4096 + input.take(2),
				    1 + uint32_t(input.below(64)), nullptr, 0);
		unlink(file.c_str());
		break;
	}
	case 4: {
		char text[512];

		aries_nic_describe(nic, text, input.below(sizeof(text)));
		break;
	}
	default:
		node.host.main_loop();
		break;
	}
	write(node, ARIES_BAR_REGS, ARIES_CTL_CONTROL, 4, ARIES_CTL_CONTROL_ENABLE_MASK);
}

void Machine::kernel(Input &input)
{
	switch (input.below(8)) {
	case 0:
		tree(input);
		break;
	case 1:
		domain(input);
		break;
	case 2:
		host_action(input);
		break;
	case 3:
	case 4:
		register_access(input);
		break;
	default:
		process(input);
		break;
	}
}

void Machine::check_untouched()
{
	for (Node &node : nodes_) {
		const uint8_t *fence = node.host.ram(node.fence);

		for (uint64_t i = 0; i < FENCE_BYTES; i++)
			FUZZ_CHECK(fence[i] == FENCE);
		FUZZ_CHECK(node.host.read(ARIES_CTL_STATUS, 4) & ARIES_CTL_STATUS_ENABLED_MASK);
		FUZZ_CHECK(node.host.read(ARIES_FMAD_CTL_N(1), 8) & ARIES_FMAD_CTL_ENABLE_MASK);
	}
}

void Machine::check_alive()
{
	restart();
	Node &from = nodes_[0], &to = nodes_[1];

	memset(from.host.line(1), 0x6b, 8);
	FUZZ_CHECK(from.host.ring(1, ARIES_FMA_PUT_LINE, 8, ARIES_EV_GLOBAL | ARIES_EV_REMOTE, 0x55) == ARIES_ST_OK);
	FUZZ_CHECK(*to.host.ram(to.memory + 7) == 0x6b);
	FUZZ_CHECK(from.host.next_event(CQ_FIRST).tid() == 0x55);
	FUZZ_CHECK(to.host.next_event(CQ_FIRST));
}

} // namespace aries_fuzz
