/* SPDX-License-Identifier: GPL-2.0-or-later */
/* FMA: several operations for one doorbell, and what window addresses mean (N09, N10). */
#include "nic/engines/fma_batch.hpp"

#include "nic/engines/fma.hpp"
#include "nic/engines/launch.hpp"

namespace aries
{

namespace
{

constexpr uint32_t SHIFT_MIN = 3; /* a store of 8 bytes belongs to one node */
constexpr uint32_t WINDOW_BITS = 16;

static_assert(1u << WINDOW_BITS == ARIES_FMA_WINDOW);
static_assert(LaunchBurst::SEGMENT == ARIES_LAUNCH_LINE);

bool window_sensible(const aries_fma_window &window)
{
	return !window.pe_bits || (window.pe_shift >= SHIFT_MIN && window.pe_shift + window.pe_bits <= WINDOW_BITS);
}

} // namespace

uint32_t window_room(const aries_fma_window &window, uint32_t at) noexcept
{
	return window.pe_bits ? (1u << window.pe_shift) - (at & ((1u << window.pe_shift) - 1)) : UINT32_MAX;
}

uint8_t window_place(const aries_fma_window &window, uint32_t at, uint32_t bytes, aries_fma_desc &desc) noexcept
{
	uint32_t node = 0, shift = at;

	if (!window_sensible(window))
		return ARIES_ST_RESERVED;
	if (bytes > window_room(window, at))
		return ARIES_ST_ALIGN;
	if (window.pe_bits) {
		node = at >> window.pe_shift & ((1u << window.pe_bits) - 1);
		shift = (at & ((1u << window.pe_shift) - 1)) | at >> (window.pe_shift + window.pe_bits)
									       << window.pe_shift;
	}
	/* What is out of range anyway stays so. */
	desc.pe = desc.pe > UINT32_MAX - node ? UINT32_MAX : desc.pe + node;
	if (!(desc.offset >> ARIES_OFFSET_BITS))
		desc.offset = (desc.offset + shift) & OFFSET_MASK;
	return ARIES_ST_OK;
}

/* One operation of several. A failed one lends its target to the report of the whole. */
uint8_t FmaBatch::run_part(FmaWork &work, FmaWork &part) noexcept
{
	const uint8_t status = fma_.run(part);

	if (core_.trace.on() && !part.held) [[unlikely]]
		capture_fma(core_, part, status, nullptr);
	if (status != ARIES_ST_OK) {
		work.node = part.node;
		work.desc.pe = part.desc.pe;
		work.desc.offset = part.desc.offset;
	}
	return status;
}

uint8_t FmaBatch::put_scatter(FmaWork &work, uint32_t &done) noexcept
{
	const aries_fma_window window = descriptors_.window(work.index);
	uint32_t at = 0;

	if (!window_sensible(window))
		return ARIES_ST_RESERVED;
	if (window.at + work.bytes > ARIES_FMA_WINDOW)
		return ARIES_ST_LENGTH;
	do {
		FmaWork part = work;

		part.op = ARIES_FMA_PUT_LINE;
		part.mode = 0;
		part.bytes = std::min(work.bytes - at, window_room(window, window.at + at));
		part.data = work.data + at;
		uint8_t status = window_place(window, window.at + at, part.bytes, part.desc);

		if (status == ARIES_ST_OK)
			status = run_part(work, part);
		if (status != ARIES_ST_OK)
			return status;
		at += part.bytes;
		done++;
	} while (at < work.bytes);
	return ARIES_ST_OK;
}

/* An entry as the operation that it stands for. */
uint8_t FmaBatch::launch_one(FmaWork &work, const aries_launch_entry &entry, uint32_t index) noexcept
{
	const LaunchView view(entry);
	FmaWork part = work;
	AmoCommand command;

	part.mode = 0;
	part.bytes = view.bytes();
	part.data = reinterpret_cast<const uint8_t *>(&entry.value);
	part.desc.pe = view.pe;
	part.desc.offset = view.offset;
	switch (view.kind) {
	case ARIES_LAUNCH_PUT4:
	case ARIES_LAUNCH_PUT8:
		part.op = ARIES_FMA_PUT_LINE;
		break;
	case ARIES_LAUNCH_GET4:
	case ARIES_LAUNCH_GET8:
		part.op = ARIES_FMA_GET_OP;
		part.desc.local_offset = view.value;
		break;
	case ARIES_LAUNCH_AMO:
		part.op = ARIES_FMA_AMO_OP;
		part.amo = descriptors_.window(work.index).amo;
		part.desc.operand[0] = view.value;
		/* There is no room for a narrow command's second operand on the way to a launched atomic. */
		if (!command.decode(part.amo) || (!command.fetch && command.bytes == 4 && command.two_operands()))
			part.op = 0;
		else
			part.bytes = command.bytes;
		if (!(part.desc.local_offset >> ARIES_OFFSET_BITS))
			part.desc.local_offset = (part.desc.local_offset + 8ull * index) & OFFSET_MASK;
		break;
	default:
		part.op = 0;
		break;
	}
	if (view.reserved()) {
		work.node = work.desc.pe = view.pe;
		work.desc.offset = view.offset;
		return ARIES_ST_RESERVED;
	}
	return run_part(work, part);
}

/* @entry is our copy. @done counts on from the entries before. */
uint8_t FmaBatch::launch(FmaWork &work, const aries_launch_entry *entry, uint32_t count, uint32_t &done) noexcept
{
	const bool fast = !traffic_.losing() && !core_.trace.on() && !hold_.on(work.fmad);
	LaunchBurst burst(core_, ntt_, traffic_, work.fmad, work.rights, work.desc,
			  descriptors_.window(work.index).amo);

	for (uint32_t i = 0; i < count; i++, done++) {
		if (fast) {
			const uint32_t ran = burst.run(entry + i, count - i, done);

			i += ran;
			done += ran;
			if (i == count)
				break;
		}
		const uint8_t status = launch_one(work, entry[i], done);

		if (status != ARIES_ST_OK)
			return status;
	}
	return ARIES_ST_OK;
}

uint8_t FmaBatch::launch_line(FmaWork &work, uint32_t &done) noexcept
{
	aries_launch_entry entry[LaunchBurst::SEGMENT];

	memcpy(entry, work.data, work.bytes * sizeof(entry[0]));
	asm volatile("" ::: "memory");
	return launch(work, entry, work.bytes, done);
}

uint8_t FmaBatch::read_ring(const FmaWork &work, const aries_fma_window &ring, uint32_t at, uint32_t count,
			    aries_launch_entry *to) noexcept
{
	const uint64_t offset = (ring.ring_offset + uint64_t(at) * ARIES_LAUNCH_BYTES) & OFFSET_MASK;
	const uint64_t bytes = uint64_t(count) * ARIES_LAUNCH_BYTES;
	Visit local(core_, core_.node);
	FmaRuns from;
	uint8_t status = local.admit_local(ring.ring_mdh, work.rights.ptag(), offset, bytes, false);

	if (status != ARIES_ST_OK)
		return status;
	status = local.runs(offset, bytes, false, from);
	if (status != ARIES_ST_OK)
		return local_status(status);
	gather(from, reinterpret_cast<uint8_t *>(to));
	return ARIES_ST_OK;
}

uint8_t FmaBatch::launch_ring(FmaWork &work, uint32_t &done) noexcept
{
	const aries_fma_window ring = descriptors_.window(work.index);
	aries_launch_entry entry[LaunchBurst::SEGMENT];
	uint8_t status = ARIES_ST_OK;

	if (ring.ring_mdh >= ARIES_MDD_ENTRIES || ring.ring_offset >> ARIES_OFFSET_BITS || !ring.ring_entries ||
	    ring.ring_entries > ARIES_RING_MAX || ring.ring_first >= ring.ring_entries)
		return ARIES_ST_RESERVED;
	if (work.bytes > ring.ring_entries)
		return ARIES_ST_LENGTH;
	if (ring.ring_offset % ARIES_LAUNCH_BYTES)
		return ARIES_ST_LOCAL_ALIGN;
	for (uint32_t at = ring.ring_first; status == ARIES_ST_OK && done < work.bytes;) {
		const uint32_t count = std::min({LaunchBurst::SEGMENT, work.bytes - done, ring.ring_entries - at});

		status = read_ring(work, ring, at, count, entry);
		if (status == ARIES_ST_OK)
			status = launch(work, entry, count, done);
		at = (at + count) % ring.ring_entries;
	}
	return status;
}

uint8_t FmaBatch::run_parts(FmaWork &work, uint32_t &done) noexcept
{
	switch (work.op) {
	case ARIES_FMA_PUT_SCATTER:
		return put_scatter(work, done);
	case ARIES_FMA_LAUNCH:
		return launch_line(work, done);
	default:
		return launch_ring(work, done);
	}
}

uint8_t FmaBatch::run(FmaWork &work, uint8_t status) noexcept
{
	const FmaWork asked = work;
	uint32_t done = 0;

	if (status == ARIES_ST_OK)
		status = run_parts(work, done);
	if (status == ARIES_ST_OK && (work.mode & ARIES_EV_REMOTE)) {
		FmaWork last = asked;

		last.op = ARIES_FMA_PUT_LINE;
		last.mode = work.mode & (ARIES_EV_REMOTE | ARIES_EV_TYPE_MASK);
		last.bytes = 0;
		status = run_part(work, last);
		work.remote_overrun = last.remote_overrun;
	}
	__atomic_store_n(reinterpret_cast<uint32_t *>(descriptors_.area(work.index) + ARIES_DESC_DONE), done,
			 __ATOMIC_RELAXED);
	if (!work.event_bits()) {
		work.fmad.window_open = true;
		if (work.fmad.window_status == ARIES_ST_OK)
			work.fmad.window_status = status;
	}
	return status;
}

} // namespace aries
