/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Window addresses (N09) and FMA launch (N10). */
#ifndef ARIES_NIC_LAUNCH_HPP
#define ARIES_NIC_LAUNCH_HPP

#include <optional>

#include "nic/copy.hpp"
#include "nic/fmad.hpp"
#include "nic/ntt.hpp"
#include "nic/rmt.hpp"
#include "nic/traffic.hpp"

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
	bool is_put() const noexcept { return kind == ARIES_LAUNCH_PUT8 || kind == ARIES_LAUNCH_PUT4; }
	/** Bits without a meaning are set; those of a get's local address are for the get to find. */
	bool reserved() const noexcept { return kind == ARIES_LAUNCH_PUT4 && value >> 32; }
	uint32_t bytes() const noexcept { return kind == ARIES_LAUNCH_PUT4 || kind == ARIES_LAUNCH_GET4 ? 4 : 8; }
};

/**
 * Puts of launch entries, in order, where no fault is injected and no packet
 * traced. What a put needs of its target is found once for a segment: a series
 * of entries with at most TARGETS nodes among them. A segment visits all its
 * targets at a time.
 */
class PutBurst
{
public:
	/** @fmad locked; @rights loaded; @desc gives memory domain and routing control. */
	PutBurst(Core &core, const Ntt &ntt, Traffic &traffic, Fmad &fmad, const Rights &rights,
		 const aries_fma_desc &desc) noexcept
		: core_(core), ntt_(ntt), traffic_(traffic), fmad_(fmad), rights_(rights), desc_(desc)
	{
	}

	/**
	 * Runs entries up to the first that is no put, or fails.
	 * @entry: a copy that nobody changes
	 * @done: gets how many have been run
	 * Return: ARIES_ST_OK, or why entry @done could not be.
	 */
	uint8_t run(const aries_launch_entry *entry, uint32_t count, uint32_t &done) noexcept;

	/** Physical node of the entry that failed. */
	uint32_t failed_node() const noexcept { return failed_node_; }

	static constexpr uint32_t SEGMENT = 128;
	static constexpr uint32_t TARGETS = 16;

private:
	static constexpr uint32_t PAGES = 8;
	static constexpr uint64_t PAGE_BYTES = 4096;

	/** A page, or the part of one that the region has, as positions in the region. */
	struct Page {
		uint64_t first;
		uint64_t bytes;
		uint8_t *host;
	};
	struct Target {
		uint32_t pe;
		uint32_t node;
		uint32_t packets;
		uint32_t flits;
		uint32_t ran;
		uint64_t hash;
		Passage passage;
		bool admitted;
		std::optional<Visit> visit;
		Page page[PAGES];
	};

	uint32_t plan(const aries_launch_entry *entry, uint32_t count, uint8_t &status) noexcept;
	uint8_t find_target(const LaunchView &put, uint32_t &which) noexcept;
	uint8_t add_target(const LaunchView &put) noexcept;
	uint8_t send() noexcept;
	uint8_t deliver(const LaunchView &put, Target &target) noexcept;
	uint8_t locate(const LaunchView &put, Target &target, FmaRuns &data) noexcept;
	void settle() noexcept;
	uint8_t segment(const aries_launch_entry *entry, uint32_t count, uint32_t &done) noexcept;

	Core &core_;
	const Ntt &ntt_;
	Traffic &traffic_;
	Fmad &fmad_;
	const Rights &rights_;
	const aries_fma_desc &desc_;
	uint32_t failed_node_ = 0;
	uint64_t now_ = 0;
	uint32_t targets_ = 0;
	uint32_t last_ = 0; /* target of the entry before */
	Target target_[TARGETS];
	uint8_t which_[SEGMENT]; /* target of each entry */
};

} // namespace aries

#endif
