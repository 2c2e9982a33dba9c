/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz/worker.hpp"

#include <unistd.h>

using namespace aries_test;

namespace aries_fuzz
{

namespace
{

constexpr unsigned int ADD = 0x108, CACHED_ADD = 0x118; /* no old value */
constexpr uint8_t SOURCE_EVENTS = ARIES_EV_LOCAL | ARIES_EV_GLOBAL;
constexpr unsigned int CE_SUM = 0x15; /* integer, 64 bits */

} // namespace

void Worker::run(Input &input)
{
	for (auto &list : under_way_)
		list.clear();
	while (input.more()) {
		turns_.pass_gate([this] { wait_idle(); },
				 [this, &input] {
					 Op &op = begin(Kind::SEND, ERRAND_FMAD, input);

					 op.cq = STEADY_CQ;
					 send(op, ERRAND_CHANNEL, 64);
				 });
		act(input);
	}
	wait_idle();
	turns_.end_work();
}

Op &Worker::begin(Kind kind, unsigned int fmad, Input &input)
{
	const uint8_t form = input.byte();
	const auto mdh = uint16_t(form & 1 ? ARIES_MDH_VIRTUAL | (form >> 4) % BLOCK : MDH_FIRST + (form >> 4) % MDHS);

	ops_.push_back({.kind = kind,
			.fmad = fmad,
			.cq = CQ_FIRST + (form & 0xe ? fmad - 1 : fmad % CQS),
			.mdh = mdh,
			.mode = uint8_t(input.byte() & (SOURCE_EVENTS | ARIES_EV_REMOTE)),
			.begin = 0});
	return ops_.back();
}

/* Not where atomics go, and mostly inside. */
uint64_t Worker::region_offset(Input &input, uint64_t bytes)
{
	const uint64_t room = SHORT_BYTES - ATOMIC_BYTES - bytes;

	return BASE + SKEW + ATOMIC_BYTES + input.take(2) * 8 % room / 8 * 8;
}

void Worker::ring(Op &op, unsigned int what, unsigned int bytes, unsigned int amo)
{
	aries_fma_desc &desc = host_.desc(op.fmad);

	desc.pe = HOME;
	desc.mdh = op.mdh;
	desc.cq = uint16_t(op.cq);
	desc.local_event = desc.remote_event = uint32_t(ops_.size());
	op.begin = turns_.tick();
	op.status = uint8_t(host_.ring(op.fmad, what, bytes, op.mode, 0, amo));
	op.rung = turns_.tick();
	if (op.kind != Kind::COLLECTIVE)
		op.done = op.rung;
}

void Worker::ring_block(Op &op, const aries_bte_desc &desc)
{
	aries_bte_desc &slot = host_.slot(op.fmad, slot_++ % ARIES_BTE_SLOTS);

	slot = desc;
	slot.pe = HOME;
	slot.cq = uint16_t(op.cq);
	slot.mode = op.mode;
	slot.local_mdh = SOURCE_MDH;
	slot.local_offset = BASE + SKEW;
	slot.local_event = slot.remote_event = uint32_t(ops_.size());
	op.begin = turns_.tick();
	op.status = uint8_t(host_.ring_bte(op.fmad, (slot_ - 1) % ARIES_BTE_SLOTS));
	op.rung = turns_.tick();
	if (op.status != ARIES_ST_OK)
		op.done = op.rung;
	else
		under_way_[op.fmad].push_back(ops_.size() - 1);
}

/* What a descriptor has under way, as far as its NIC tells. */
void Worker::look(unsigned int fmad)
{
	if (host_.read(ARIES_FMAD_STATUS_N(uint64_t(fmad)), 8) & ARIES_FMAD_STATUS_BUSY_MASK)
		return;
	const uint64_t now = turns_.tick();

	for (const size_t index : under_way_[fmad])
		ops_[index].done = now;
	under_way_[fmad].clear();
}

void Worker::wait_idle()
{
	constexpr unsigned int TRIES = 100000; /* generous: what never ends is meant */

	for (unsigned int fmad = 1; fmad <= FMADS; fmad++) {
		for (unsigned int i = 0; !under_way_[fmad].empty(); i++) {
			if (i == TRIES)
				wrong("%zu block transfers of descriptor %u do not end", under_way_[fmad].size(), fmad);
			look(fmad);
			if (!under_way_[fmad].empty())
				usleep(i < TRIES / 2 ? 20 : 1000);
		}
	}
}

void Worker::put(Op &op, Input &input)
{
	aries_fma_desc &desc = host_.desc(op.fmad);
	const uint64_t bytes = input.byte() * uint64_t(8);

	desc.offset = region_offset(input, bytes);
	desc.sync_offset = region_offset(input, 8);
	desc.sync_value = bytes;
	memset(host_.line(op.fmad), int(bytes | 1), bytes);
	ring(op, bytes & 8 ? ARIES_FMA_PUT_SYNC : ARIES_FMA_PUT_LINE, unsigned(bytes));
}

void Worker::atomic(Op &op, Input &input)
{
	aries_fma_desc &desc = host_.desc(op.fmad);

	desc.offset = BASE + SKEW;
	desc.operand[0] = 1;
	ring(op, ARIES_FMA_AMO_OP, 8, input.below(2) ? ADD : CACHED_ADD);
}

void Worker::block(Op &op, Input &input)
{
	const uint8_t form = input.byte();
	aries_bte_desc desc = {};

	desc.mdh = op.mdh;
	desc.op = form & 1 ? ARIES_BTE_PUT : ARIES_BTE_GET;
	desc.flags = form & 0x38 ? 0 : ARIES_BTE_FENCE;
	desc.length = uint32_t(form & 6 ? 4 + input.take(2) % 8192 / 4 * 4 : LONG_BYTES - ATOMIC_BYTES);
	desc.offset = BASE + SKEW + ATOMIC_BYTES;
	ring_block(op, desc);
	if (form & 0xc0)
		look(op.fmad);
}

void Worker::send(Op &op, uint32_t channel, uint32_t bytes)
{
	aries_bte_desc desc = {};

	desc.op = ARIES_BTE_SEND;
	desc.offset = channel;
	desc.length = bytes;
	ring_block(op, desc);
}

void Worker::collective(Op &op)
{
	aries_fma_desc &desc = host_.desc(op.fmad);

	op.mode &= SOURCE_EVENTS;
	desc.offset = 0; /* child 0 of engine 0 */
	desc.local_mdh = RESULT_MDH;
	desc.local_offset = BASE + SKEW + SHORT_BYTES - op.fmad * uint64_t(64);
	ring(op, ARIES_FMA_CE, 0, CE_SUM);
}

void Worker::act(Input &input)
{
	const uint8_t what = input.byte();
	const unsigned int fmad = 1 + (what >> 7);
	aries_fma_desc &desc = host_.desc(fmad);

	switch (what % 16) {
	case 0:
	case 1:
	case 2:
	case 3:
		put(begin(Kind::PUT, fmad, input), input);
		break;
	case 4:
	case 5:
		desc.offset = region_offset(input, 1024);
		desc.local_mdh = uint16_t(MDH_FIRST + (what >> 4) % NEAR_MDHS);
		desc.local_offset = BASE + SKEW + ATOMIC_BYTES;
		ring(begin(Kind::GET, fmad, input), ARIES_FMA_GET_OP, 4 + unsigned(input.byte()) * 4);
		break;
	case 6:
	case 7:
		atomic(begin(Kind::ATOMIC, fmad, input), input);
		break;
	case 8:
		desc.operand[0] = ops_.size() + 1;
		ring(begin(Kind::CQWRITE, fmad, input), ARIES_FMA_CQWRITE, 0);
		break;
	case 9:
		collective(begin(Kind::COLLECTIVE, fmad, input));
		break;
	case 10:
		wait_idle();
		break;
	case 11:
	case 12: {
		Op &op = begin(Kind::SEND, fmad, input);

		send(op, CHANNEL, 1 + uint32_t(input.take(2) % RECEIVE_BYTES));
		break;
	}
	default:
		block(begin(Kind::BLOCK, fmad, input), input);
		break;
	}
}

} // namespace aries_fuzz
