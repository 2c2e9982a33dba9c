/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Window addresses (N09) and FMA launch (N10). */
#ifndef ARIES_NIC_LAUNCH_HPP
#define ARIES_NIC_LAUNCH_HPP

#include <optional>

#include "nic/tables/amo.hpp"
#include "nic/tables/fmad.hpp"
#include "nic/tables/ntt.hpp"
#include "nic/target/copy.hpp"
#include "nic/target/visit.hpp"
#include "nic/time/traffic.hpp"

namespace aries
{

/**
 * Moves @desc to what window address @at stands for: without scatter the
 * address counts from the offset, else some of its bits count nodes from the
 * descriptor's and the others, without a gap, bytes.
 * Return: ARIES_ST_OK; ARIES_ST_RESERVED (bits that make no sense); ARIES_ST_ALIGN (@bytes reach into the next node's
 * part).
 */
uint8_t window_place(const aries_fma_window &window, uint32_t at, uint32_t bytes, aries_fma_desc &desc) noexcept;

/** Bytes from window address @at to the end of one node's part; UINT32_MAX without scatter. */
uint32_t window_room(const aries_fma_window &window, uint32_t at) noexcept;

/** A launch entry, taken apart. */
struct LaunchView {
	uint64_t offset;
	uint64_t value;
	uint32_t pe;
	uint8_t kind; /* enum aries_launch_kind, or none of them */

	explicit LaunchView(const aries_launch_entry &entry) noexcept
		: offset(entry.target & ARIES_LAUNCH_OFFSET_MASK), value(entry.value),
		  pe(uint32_t(field(entry.target, ARIES_LAUNCH_PE_MASK))),
		  kind(uint8_t(field(entry.target, ARIES_LAUNCH_KIND_MASK)))
	{
	}
	/** Bits without a meaning are set; those of a get's local address are for the get to find. */
	bool reserved() const noexcept { return kind == ARIES_LAUNCH_PUT4 && value >> 32; }
	uint32_t bytes() const noexcept { return kind == ARIES_LAUNCH_PUT4 || kind == ARIES_LAUNCH_GET4 ? 4 : 8; }
};

/** What a burst reaches of a node: one memory domain, whose pages are kept for as long as the visit lasts. */
class BurstReach
{
public:
	void begin(Core &core, uint32_t node) noexcept
	{
		visit_.emplace(core, node);
		admitted_ = false;
		for (Page &page : page_)
			page.bytes = 0;
	}
	void end() noexcept { visit_.reset(); }
	bool begun() const noexcept { return visit_.has_value(); }
	Visit &visit() noexcept { return *visit_; }

	/**
	 * Checks and translates; @admit does all checks for the first range that it is called for.
	 * Return: false if anything is wrong with the range, for whatever reason
	 */
	template <typename Admit>
	bool find(uint64_t offset, uint32_t bytes, bool write, FmaRuns &data, Admit &&admit) noexcept
	{
		const MddView &mdd = visit_->mdd();

		if (!admitted_) {
			if (admit(*visit_) != ARIES_ST_OK)
				return false;
			admitted_ = true;
		}
		const uint64_t position = mdd.position(offset);
		const Page &page = page_[sheet(position) % PAGES];

		/* No page that is kept reaches beyond the region, and no writable one is of a read-only region. */
		if (position - page.first < page.bytes && position - page.first + bytes <= page.bytes &&
		    page.writable >= write) [[likely]] {
			data.count = 1;
			data.run[0] = {page.host + (position - page.first), bytes};
			return true;
		}
		return mdd.contains(offset, bytes) && !(write && mdd.read_only()) && locate(offset, bytes, write, data);
	}

private:
	static constexpr uint32_t PAGES = 8;
	static constexpr uint64_t PAGE_BYTES = 4096;

	/** A page, or the part of one that the region has, as positions in the region. */
	struct Page {
		uint64_t first;
		uint64_t bytes;
		uint8_t *host;
		bool writable;
	};

	/** The region's start in its page. */
	uint64_t ahead() const noexcept { return visit_->mdd().base & (PAGE_BYTES - 1); }
	/** Number of the page that has @position. */
	uint64_t sheet(uint64_t position) const noexcept { return (position + ahead()) / PAGE_BYTES; }
	bool locate(uint64_t offset, uint32_t bytes, bool write, FmaRuns &data) noexcept;

	std::optional<Visit> visit_;
	bool admitted_ = false;
	Page page_[PAGES];
};

/**
 * Launch entries, in order, where no fault is injected and no packet traced.
 * What an entry needs of its target is found once for a segment: a series of
 * entries with at most TARGETS nodes among them. A segment visits all its
 * targets at a time. Whatever is not plain about an entry, an error above all,
 * ends the burst before it, and the entry is to be run by itself.
 */
class LaunchBurst
{
public:
	/** @fmad locked; @rights loaded; @desc has what entries have not; @amo is the command of atomics. */
	LaunchBurst(Core &core, const Ntt &ntt, Traffic &traffic, Fmad &fmad, const Rights &rights,
		    const aries_fma_desc &desc, uint16_t amo) noexcept;

	/**
	 * Runs entries up to the first that is to be run by itself.
	 * @entry: a copy that nobody changes
	 * @index: of the first one, for where results go
	 * Return: how many have been run
	 */
	uint32_t run(const aries_launch_entry *entry, uint32_t count, uint32_t index) noexcept;

	static constexpr uint32_t SEGMENT = 128;
	static constexpr uint32_t TARGETS = 16;

private:
	/** Of one packet and of its response. */
	struct Flits {
		uint8_t request;
		uint8_t response;
	};
	struct Target {
		uint32_t pe;
		uint32_t node;
		Transaction transaction;
		Passage passage;
		uint32_t puts, gets, atomics; /* that have been run */
		uint64_t atomic_ticks;
		bool all_hits;
		BurstReach reach;
	};

	bool plain(const LaunchView &entry, Flits &flits, bool &returns) const noexcept;
	void tally(uint32_t which, const Flits &flits, bool returns) noexcept;
	void recount(const aries_launch_entry *entry, uint32_t count) noexcept;
	bool add_target(const LaunchView &entry) noexcept;
	bool find_target(const LaunchView &entry, uint32_t &which) noexcept;
	uint32_t plan(const aries_launch_entry *entry, uint32_t count) noexcept;
	uint32_t send(uint32_t count) noexcept;
	bool find(const LaunchView &entry, uint32_t bytes, bool write, Target &target, FmaRuns &data) noexcept;
	bool find_landing(uint64_t offset, uint32_t bytes, FmaRuns &data) noexcept;
	bool put(const LaunchView &entry, Target &target) noexcept;
	bool get(const LaunchView &entry, Target &target) noexcept;
	bool atomic(const LaunchView &entry, Target &target, uint32_t index) noexcept;
	bool deliver(const LaunchView &entry, Target &target, uint32_t index) noexcept;
	void count(const Target &target) noexcept;
	void settle() noexcept;
	uint32_t segment(const aries_launch_entry *entry, uint32_t count, uint32_t index) noexcept;

	Core &core_;
	const Ntt &ntt_;
	Traffic &traffic_;
	Fmad &fmad_;
	const Rights &rights_;
	const aries_fma_desc &desc_;
	AmoCommand command_;
	bool amo_plain_;
	Flits amo_flits_;
	bool stopped_ = false;            /* the next entry is not plain */
	uint64_t host_now_ = 0, now_ = 0; /* the host's clock, modelled time */
	uint32_t targets_ = 0;
	uint32_t last_ = 0; /* target of the entry before */
	Target target_[TARGETS];
	BurstReach local_;
	uint8_t which_[SEGMENT]; /* target of each entry */
};

} // namespace aries

#endif
