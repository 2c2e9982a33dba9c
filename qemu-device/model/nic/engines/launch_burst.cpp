/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entries of FMA launch: what they cost is shared by those with the same target. */
#include "nic/engines/launch.hpp"
#include "nic/tables/amo_cache.hpp"

namespace aries
{

namespace
{

constexpr uint32_t OPERAND = 8; /* bytes, on the way */

} // namespace

/* Translates, and keeps the page around for the next entry. */
bool BurstReach::locate(uint64_t offset, uint32_t bytes, bool write, FmaRuns &data) noexcept
{
	const MddView &mdd = visit_->mdd();
	const uint64_t position = mdd.position(offset), number = sheet(position);
	Page page;

	page.first = number * PAGE_BYTES > ahead() ? number * PAGE_BYTES - ahead() : 0;
	page.bytes = std::min((number + 1) * PAGE_BYTES - ahead(), mdd.length) - page.first;
	if (position + bytes > page.first + page.bytes)
		return visit_->runs(offset, bytes, write, data) == ARIES_ST_OK;
	if (visit_->runs(mdd.base + page.first, page.bytes, write, data) != ARIES_ST_OK || data.count != 1) {
		data.count = 0;
		return visit_->runs(offset, bytes, write, data) == ARIES_ST_OK;
	}
	page.host = data.run[0].host;
	page.writable = write;
	page_[number % PAGES] = page;
	data.run[0] = {page.host + (position - page.first), bytes};
	return true;
}

LaunchBurst::LaunchBurst(Core &core, const Ntt &ntt, Traffic &traffic, Fmad &fmad, const Rights &rights,
			 const aries_fma_desc &desc, uint16_t amo) noexcept
	: core_(core), ntt_(ntt), traffic_(traffic), fmad_(fmad), rights_(rights), desc_(desc)
{
	amo_plain_ = command_.decode(amo) && (command_.fetch || command_.bytes == 8 || !command_.two_operands()) &&
		     (!command_.cached || (rights_.ctl & ARIES_FMAD_CTL_CACHED_AMO_MASK)) &&
		     !(desc_.local_offset >> ARIES_OFFSET_BITS) &&
		     !(command_.fetch && (desc_.local_offset & (command_.bytes - 1u)));
	if (!amo_plain_)
		return;
	const PacketKind kind = command_.fetch ? PacketKind::FetchAmo : PacketKind::Amo;
	const uint32_t bytes = command_.two_operands() ? 2 * OPERAND : OPERAND;

	amo_flits_ = {uint8_t(request_flits(kind, bytes)), uint8_t(response_flits(kind, bytes))};
}

/* Whether nothing is wrong with an entry as such. */
inline bool LaunchBurst::plain(const LaunchView &entry, Flits &flits, bool &returns) const noexcept
{
	using enum PacketKind;

	switch (entry.kind) {
	case ARIES_LAUNCH_PUT8:
		flits = {request_flits(Put, 8), response_flits(Put, 8)};
		return true;
	case ARIES_LAUNCH_PUT4:
		flits = {request_flits(Put, 4), response_flits(Put, 4)};
		return !entry.reserved();
	case ARIES_LAUNCH_GET8:
	case ARIES_LAUNCH_GET4:
		flits = {request_flits(Get, 8), uint8_t(response_flits(Get, entry.bytes()))};
		returns = true;
		return !(entry.value >> ARIES_OFFSET_BITS) && !(entry.offset & 3);
	case ARIES_LAUNCH_AMO:
		flits = amo_flits_;
		returns |= command_.fetch;
		return amo_plain_ && !(entry.offset & (command_.bytes - 1u));
	default:
		return false;
	}
}

bool LaunchBurst::add_target(const LaunchView &entry) noexcept
{
	uint32_t node;

	if (ntt_.resolve(rights_.ctl, entry.pe, node) != ARIES_ST_OK ||
	    target_state(core_, node, host_now_) != ARIES_ST_OK ||
	    core_.segment.node(node).amo_lazy.load(std::memory_order_relaxed))
		return false;
	Target &target = target_[targets_++];
	const uint64_t hash = (uint64_t(desc_.mdh) << ARIES_OFFSET_BITS | entry.offset >> 6) + node;

	target.pe = entry.pe;
	target.node = node;
	target.transaction = {node, desc_.dlvr_mode, false, true, 0, 0, 0, hash};
	target.passage = {};
	target.puts = target.gets = target.atomics = 0;
	target.atomic_ticks = 0;
	target.all_hits = true;
	return true;
}

/* False if there is none, or no room for it: then the segment ends before @entry. */
inline bool LaunchBurst::find_target(const LaunchView &entry, uint32_t &which) noexcept
{
	if (last_ < targets_ && target_[last_].pe == entry.pe) {
		which = last_;
		return true;
	}
	for (which = 0; which < targets_; which++) {
		if (target_[which].pe == entry.pe) {
			last_ = which;
			return true;
		}
	}
	if (targets_ == TARGETS)
		return false;
	last_ = which;
	return !(stopped_ = !add_target(entry));
}

inline void LaunchBurst::tally(uint32_t which, const Flits &flits, bool returns) noexcept
{
	Transaction &transaction = target_[which].transaction;

	transaction.packets++;
	transaction.request += flits.request;
	transaction.response += flits.response;
	transaction.returns |= returns;
}

/* Only the first @count entries have been run. */
void LaunchBurst::recount(const aries_launch_entry *entry, uint32_t count) noexcept
{
	for (uint32_t i = 0; i < targets_; i++)
		target_[i].transaction.packets = target_[i].transaction.request = target_[i].transaction.response = 0;
	for (uint32_t i = 0; i < count; i++) {
		bool returns = false;
		Flits flits = {};

		plain(LaunchView(entry[i]), flits, returns);
		tally(which_[i], flits, returns);
	}
}

/* Finds the target of each entry; returns how many there are up to the one that is not plain or does not belong here.
 */
uint32_t LaunchBurst::plan(const aries_launch_entry *entry, uint32_t count) noexcept
{
	for (uint32_t i = 0; i < count; i++) {
		const LaunchView view(entry[i]);
		bool returns = false;
		uint32_t which;
		Flits flits = {};

		if (!plain(view, flits, returns)) {
			stopped_ = true;
			return i;
		}
		if (!find_target(view, which))
			return i;
		tally(which, flits, returns);
		which_[i] = uint8_t(which);
	}
	return count;
}

/* Requests on their way; returns how many of the @count entries there are up to the first without one. */
uint32_t LaunchBurst::send(uint32_t count) noexcept
{
	bool all = true;

	for (uint32_t i = 0; i < targets_; i++) {
		Target &target = target_[i];

		if (!target.transaction.packets)
			continue;
		if (traffic_.request(target.transaction, now_, fmad_.counters, target.passage) == ARIES_ST_OK)
			target.reach.begin(core_, target.node);
		all = all && target.reach.begun() && !target.reach.visit().lazy();
	}
	for (uint32_t i = 0; !all && i < count; i++) {
		BurstReach &reach = target_[which_[i]].reach;

		if (!reach.begun() || reach.visit().lazy())
			return i;
	}
	return count;
}

inline bool LaunchBurst::find(const LaunchView &entry, uint32_t bytes, bool write, Target &target,
			      FmaRuns &data) noexcept
{
	return target.reach.find(entry.offset, bytes, write, data, [&](Visit &visit) {
		return visit.admit({target.node, desc_.mdh, rights_.key, entry.offset, bytes, write, false});
	});
}

inline bool LaunchBurst::find_landing(uint64_t offset, uint32_t bytes, FmaRuns &data) noexcept
{
	if (!local_.begun())
		local_.begin(core_, core_.node);
	return local_.find(offset, bytes, true, data, [&](Visit &visit) {
		return visit.admit_local(desc_.local_mdh, rights_.ptag(), offset, bytes, true);
	});
}

inline bool LaunchBurst::put(const LaunchView &entry, Target &target) noexcept
{
	FmaRuns data;

	if (!find(entry, entry.bytes(), true, target, data))
		return false;
	scatter(data, reinterpret_cast<const uint8_t *>(&entry.value));
	if (target.reach.visit().lost()) [[unlikely]]
		return false;
	target.puts++;
	return true;
}

inline bool LaunchBurst::get(const LaunchView &entry, Target &target) noexcept
{
	FmaRuns place, from;

	if (!find_landing(entry.value, entry.bytes(), place) || !find(entry, entry.bytes(), false, target, from))
		return false;
	copy_runs(place, from);
	if (target.reach.visit().lost()) [[unlikely]]
		return false;
	target.gets++;
	return true;
}

inline bool LaunchBurst::atomic(const LaunchView &entry, Target &target, uint32_t index) noexcept
{
	Visit &visit = target.reach.visit();
	const uint32_t misses = visit.misses();
	FmaRuns place, word;

	if ((command_.fetch &&
	     !find_landing((desc_.local_offset + 8ull * index) & OFFSET_MASK, command_.bytes, place)) ||
	    !find(entry, command_.bytes, true, target, word) || word.count != 1 ||
	    (reinterpret_cast<uintptr_t>(word.run[0].host) & (command_.bytes - 1u)))
		return false;
	const bool hit = command_.cached && AmoCache(core_, target.node).use(visit.mdh(), entry.offset);
	const uint64_t old = amo_run(command_, word.run[0].host, entry.value, desc_.operand[1]);

	if (visit.lost()) [[unlikely]]
		return false;
	if (command_.fetch)
		scatter(place, reinterpret_cast<const uint8_t *>(&old));
	target.atomic_ticks += hit ? AMO_HIT_TICKS : visit.misses() != misses ? AMO_WALK_TICKS : AMO_MISS_TICKS;
	target.all_hits &= hit;
	target.atomics++;
	return true;
}

inline bool LaunchBurst::deliver(const LaunchView &entry, Target &target, uint32_t index) noexcept
{
	switch (entry.kind) {
	case ARIES_LAUNCH_AMO:
		return atomic(entry, target, index);
	case ARIES_LAUNCH_GET8:
	case ARIES_LAUNCH_GET4:
		return get(entry, target);
	default:
		return put(entry, target);
	}
}

void LaunchBurst::count(const Target &target) noexcept
{
	const Passage &passage = target.passage;
	const uint64_t there = passage.latency_ns;
	const uint64_t back = passage.back_ns ? passage.back_ns + NIC_PIPELINE_NS - now_ : there;
	uint64_t atomic = command_.fetch ? back : there;

	atomic += passage.served_ns;
	fmad_.counters.add(ARIES_CNT_FMA_PUTS, target.puts);
	fmad_.counters.add(ARIES_CNT_FMA_GETS, target.gets);
	fmad_.counters.add(ARIES_CNT_FMA_AMOS, target.atomics);
	fmad_.counters.add(ARIES_CNT_LATENCY_NS, target.puts * there + target.gets * back + target.atomics * atomic);
	fmad_.counters.add(ARIES_CNT_LATENCY_OPS, target.puts + target.gets + target.atomics);
	core_.shared_counters.set(ARIES_CNT_LATENCY_LAST_NS, target.atomics ? atomic : target.gets ? back : there);
}

/* Responses, counters, and the end of the visits. */
void LaunchBurst::settle() noexcept
{
	local_.end();
	for (uint32_t i = 0; i < targets_; i++) {
		Target &target = target_[i];

		if (!target.reach.begun())
			continue;
		target.reach.visit().count_requests(target.puts + target.gets + target.atomics);
		target.reach.end();
		if (target.atomics)
			target.passage.served_ns =
				traffic_.serve_atomics(target.transaction, target.atomics, target.atomic_ticks,
						       target.all_hits, target.passage);
		traffic_.respond(target.transaction, now_, fmad_.counters, target.passage);
		count(target);
	}
	targets_ = 0;
	last_ = 0;
}

uint32_t LaunchBurst::segment(const aries_launch_entry *entry, uint32_t count, uint32_t index) noexcept
{
	host_now_ = now_ns();
	now_ = core_.at(host_now_);
	const uint32_t planned = plan(entry, std::min(count, SEGMENT));
	uint32_t i = 0;

	count = send(planned);
	while (i < count && deliver(LaunchView(entry[i]), target_[which_[i]], index + i))
		i++;
	if (i < planned) {
		stopped_ = true;
		recount(entry, i);
	}
	settle();
	return i;
}

uint32_t LaunchBurst::run(const aries_launch_entry *entry, uint32_t count, uint32_t index) noexcept
{
	uint32_t done = 0;

	stopped_ = false;
	while (done < count && !stopped_)
		done += segment(entry + done, count - done, index + done);
	return done;
}

} // namespace aries
