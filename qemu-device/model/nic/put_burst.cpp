/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Puts of FMA launch: what they cost is shared by those with the same target. */
#include "nic/launch.hpp"

namespace aries
{

namespace
{

/* Not a status: the segment ends before this entry. */
constexpr uint8_t NO_ROOM = 0xff;

} // namespace

uint8_t PutBurst::add_target(const LaunchView &put) noexcept
{
	uint32_t node;
	uint8_t status = ntt_.resolve(rights_.ctl, put.pe, node);

	if (status == ARIES_ST_OK)
		status = target_state(core_, node, now_);
	if (status != ARIES_ST_OK) {
		failed_node_ = node;
		return status;
	}
	Target &target = target_[targets_++];

	target.pe = put.pe;
	target.node = node;
	target.packets = target.flits = target.ran = 0;
	target.hash = (uint64_t(desc_.mdh) << ARIES_OFFSET_BITS | put.offset >> 6) + node;
	target.passage = {};
	target.admitted = false;
	for (Page &page : target.page)
		page.bytes = 0;
	return ARIES_ST_OK;
}

uint8_t PutBurst::find_target(const LaunchView &put, uint32_t &which) noexcept
{
	if (last_ < targets_ && target_[last_].pe == put.pe) {
		which = last_;
		return ARIES_ST_OK;
	}
	for (which = 0; which < targets_; which++) {
		if (target_[which].pe == put.pe) {
			last_ = which;
			return ARIES_ST_OK;
		}
	}
	if (targets_ == TARGETS)
		return NO_ROOM;
	last_ = which;
	return add_target(put);
}

/* Finds the target of each entry; returns how many there are up to the one that fails or does not belong here. */
uint32_t PutBurst::plan(const aries_launch_entry *entry, uint32_t count, uint8_t &status) noexcept
{
	static constexpr uint32_t flits8 = request_flits(PacketKind::Put, 8),
				  flits4 = request_flits(PacketKind::Put, 4);

	for (uint32_t i = 0; i < count; i++) {
		const LaunchView put(entry[i]);
		uint32_t which;

		if (!put.is_put())
			return i;
		if (put.reserved()) {
			failed_node_ = put.pe;
			status = ARIES_ST_RESERVED;
			return i;
		}
		status = find_target(put, which);
		if (status != ARIES_ST_OK) {
			if (status == NO_ROOM)
				status = ARIES_ST_OK;
			return i;
		}
		target_[which].packets++;
		target_[which].flits += put.kind == ARIES_LAUNCH_PUT4 ? flits4 : flits8;
		which_[i] = uint8_t(which);
	}
	return count;
}

/* Requests on their way. A target without a way fails at its first entry. */
uint8_t PutBurst::send() noexcept
{
	uint8_t status = ARIES_ST_OK;

	for (uint32_t i = 0; i < targets_; i++) {
		Target &target = target_[i];
		const Burst burst = {desc_.dlvr_mode, target.node, target.packets, target.flits, target.hash};

		if (!target.packets)
			continue;
		if (traffic_.request(burst, now_, fmad_.counters, target.passage) != ARIES_ST_OK)
			status = ARIES_ST_NO_NODE;
		else
			target.visit.emplace(core_, target.node);
	}
	return status;
}

/* Translates, and keeps the page around for the next entry. */
uint8_t PutBurst::locate(const LaunchView &put, Target &target, FmaRuns &data) noexcept
{
	Visit &visit = *target.visit;
	const MddView &mdd = visit.mdd();
	const uint64_t position = mdd.position(put.offset);
	const uint64_t ahead = mdd.base & (PAGE_BYTES - 1); /* of the region's start in its page */
	const uint64_t sheet = (position + ahead) / PAGE_BYTES;
	Page page;

	page.first = sheet * PAGE_BYTES > ahead ? sheet * PAGE_BYTES - ahead : 0;
	page.bytes = std::min((sheet + 1) * PAGE_BYTES - ahead, mdd.length) - page.first;
	if (position + put.bytes() > page.first + page.bytes || visit.lazy())
		return visit.runs(put.offset, put.bytes(), true, data);
	if (visit.runs(mdd.base + page.first, page.bytes, true, data) != ARIES_ST_OK || data.count != 1) {
		data.count = 0;
		return visit.runs(put.offset, put.bytes(), true, data);
	}
	page.host = data.run[0].host;
	target.page[sheet % PAGES] = page;
	data.run[0] = {page.host + (position - page.first), put.bytes()};
	return ARIES_ST_OK;
}

uint8_t PutBurst::deliver(const LaunchView &put, Target &target) noexcept
{
	Visit &visit = *target.visit;
	const uint32_t bytes = put.bytes();
	uint8_t status = ARIES_ST_OK;
	FmaRuns data;

	if (!target.admitted) {
		status = visit.admit({target.node, desc_.mdh, rights_.key, put.offset, bytes, true, false});
		target.admitted = status == ARIES_ST_OK;
	} else if (!visit.mdd().contains(put.offset, bytes)) {
		status = ARIES_ST_BOUNDS;
	}
	if (status == ARIES_ST_OK) {
		const uint64_t position = visit.mdd().position(put.offset);
		const uint64_t sheet = (position + (visit.mdd().base & (PAGE_BYTES - 1))) / PAGE_BYTES;
		const Page &page = target.page[sheet % PAGES];

		if (position - page.first < page.bytes && position - page.first + bytes <= page.bytes) [[likely]] {
			store_bytes(page.host + (position - page.first), reinterpret_cast<const uint8_t *>(&put.value),
				    bytes);
			target.ran++;
			return ARIES_ST_OK;
		}
		status = locate(put, target, data);
	}
	if (status != ARIES_ST_OK) {
		visit.count_refused();
		failed_node_ = target.node;
		return status;
	}
	scatter(data, reinterpret_cast<const uint8_t *>(&put.value));
	target.ran++;
	return ARIES_ST_OK;
}

/* Responses, counters, and the end of the visits. */
void PutBurst::settle() noexcept
{
	for (uint32_t i = 0; i < targets_; i++) {
		Target &target = target_[i];
		const Burst burst = {desc_.dlvr_mode, target.node, target.packets, target.flits, target.hash};

		if (!target.visit)
			continue;
		target.visit->count_requests(target.ran);
		target.visit.reset();
		traffic_.respond(burst, fmad_.counters, target.passage);
		fmad_.counters.add(ARIES_CNT_FMA_PUTS, target.ran);
		fmad_.counters.add(ARIES_CNT_LATENCY_NS, target.passage.latency_ns * target.ran);
		fmad_.counters.add(ARIES_CNT_LATENCY_OPS, target.ran);
		core_.shared_counters.set(ARIES_CNT_LATENCY_LAST_NS, target.passage.latency_ns);
	}
	targets_ = 0;
	last_ = 0;
}

uint8_t PutBurst::segment(const aries_launch_entry *entry, uint32_t count, uint32_t &done) noexcept
{
	uint8_t planned = ARIES_ST_OK, status = ARIES_ST_OK;

	now_ = now_ns();
	count = plan(entry, std::min(count, SEGMENT), planned);
	if (send() != ARIES_ST_OK) [[unlikely]] {
		for (uint32_t i = 0; i < count; i++) {
			if (!target_[which_[i]].visit) {
				failed_node_ = target_[which_[i]].node;
				planned = ARIES_ST_NO_NODE;
				count = i;
			}
		}
	}
	uint32_t i = 0;

	while (i < count && status == ARIES_ST_OK) {
		status = deliver(LaunchView(entry[i]), target_[which_[i]]);
		i += status == ARIES_ST_OK;
	}
	done += i;
	settle();
	return status == ARIES_ST_OK ? planned : status;
}

uint8_t PutBurst::run(const aries_launch_entry *entry, uint32_t count, uint32_t &done) noexcept
{
	uint32_t before = 0;
	uint8_t status;

	done = 0;
	do {
		before = done;
		status = segment(entry + done, count - done, done);
	} while (status == ARIES_ST_OK && done < count && done > before && LaunchView(entry[done]).is_put());
	return status;
}

} // namespace aries
