// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * An end of a link: it sends sets, keeps them until they are acknowledged, and sends again from the first that was not
 * taken (P09). It knows no time: one set is made when the line is free for one, an empty one if there is nothing to
 * send, so that acknowledgements always go.
 *
 * Sets have numbers modulo 64, and each says up to which one the other side's have come. Begin again is said with one
 * bit: the sender marks its sets with a round, 0 or 1, and the receiver says which round it wants. It takes what is of
 * that round and in order. After damage it wants the other round, and takes nothing until the sender has changed. As a
 * line keeps the order, no word of that is met twice; as every set repeats it, a lost one does no harm. No timer is
 * needed: whatever was lost, the next set, empty or not, shows it.
 */
#ifndef ARIES_TESTS_LCB_HPP
#define ARIES_TESTS_LCB_HPP

#include "tests/lcb/lcb_set.hpp"

namespace aries
{

/**
 * Sets that can be under way without acknowledgement: 432 flits. 306 are the round trip of 35 m of fibre alone (T18);
 * with SerDes, both LCBs and the wait for a set that takes the acknowledgement along it is 40 sets. It is well below
 * 64, so that an acknowledgement of what has been acknowledged is not taken for one of something to come.
 */
inline constexpr uint32_t LCB_WINDOW = 48;

static_assert(LCB_WINDOW < LCB_SEQUENCES - 1);

/** After so many acknowledgements in a row that cannot be, the two sides no longer talk of the same sets. */
inline constexpr uint32_t LCB_BROKEN_AFTER = 16;

/** What an LCB counts. */
struct LcbCounters {
	uint64_t sets;       ///< sent that carry something, again included
	uint64_t empty;      ///< sent that carry nothing
	uint64_t replays;    ///< times that it sent again
	uint64_t replayed;   ///< sets that it sent again
	uint64_t bad_acks;   ///< acknowledgements of what is not under way, ignored
	uint64_t taken;      ///< sets that came, in order
	uint64_t crc_errors; ///< sets that came damaged
	uint64_t skipped;    ///< sets that came whole, but behind one that did not
	uint64_t nacks;      ///< times that it asked for sets again
};

/** What became of a set that came. */
enum class LcbTaken : uint8_t {
	Flits,   ///< in order: its flits go on to the packets
	Empty,   ///< in order, nothing in it
	Skipped, ///< of a round that is over, or behind a set that is missing
	Damaged,
};

class LcbEnd
{
public:
	/** Flits that push() takes now, at least. */
	uint32_t room() const noexcept;

	/**
	 * Queue a flit.
	 * @param flit 48 bits, with LCB_END if it is the last one of a packet; other bits are cut
	 * @return false if the send buffer is full
	 */
	bool push(uint64_t flit) noexcept;

	/** The next set for the line. */
	LcbSet next() noexcept;

	/** What comes from the line; @p out is what was in it, and undefined if it is Damaged. */
	LcbTaken take(const LcbBits &bits, LcbSet &out) noexcept;

	/** The same for a set of which no bit was damaged, so that nothing has to be coded: the CRC would fit. */
	LcbTaken take(const LcbSet &set) noexcept;

	/** A set was lost as a whole, or came without a frame: as damaged. */
	LcbTaken damaged() noexcept;

	/** For the sets to come: 3 bits of load (R09), which stay, and a pulse of the global clock, in the next one. */
	void set_load(uint8_t load) noexcept { load_ = load; }
	void pulse_clock() noexcept { clock_ = true; }

	/** Everything that was pushed has been sent and acknowledged. */
	bool quiet() const noexcept { return base_ == open_ && fill_ == 0; }

	/**
	 * Both sides must start again, with new LcbEnds: what is acknowledged makes no sense, which only an error
	 * that the CRC missed can do. Packets in the send buffers are lost then (P18).
	 */
	bool broken() const noexcept { return bad_in_row_ >= LCB_BROKEN_AFTER; }

	const LcbCounters &counters() const noexcept { return counters_; }

private:
	struct Slot {
		std::array<uint64_t, LCB_FLITS> flit;
		uint8_t count;
	};

	void acknowledged(const LcbSet &set) noexcept;
	void want_again() noexcept;

	std::array<Slot, LCB_SEQUENCES> buffer_{}; ///< by number
	uint32_t base_ = 0;                        ///< first that is not acknowledged; numbers go on beyond 64
	uint32_t send_ = 0;                        ///< next to send
	uint32_t open_ = 0;                        ///< the one that is being filled; never sent yet
	uint32_t fill_ = 0;                        ///< flits in it
	uint32_t expected_ = 0;                    ///< of the other side's
	uint32_t bad_in_row_ = 0;
	bool round_ = false;   ///< of what is sent
	bool wanted_ = false;  ///< of what comes
	bool waiting_ = false; ///< for the first set of the round that is wanted
	bool clock_ = false;
	uint8_t load_ = 0;
	LcbCounters counters_{};
};

} // namespace aries

#endif
