/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Guest memory in pieces that are in use or free. A free one has a pattern, which nobody may change. */
#ifndef ARIES_FUZZ_FRAMES_HPP
#define ARIES_FUZZ_FRAMES_HPP

#include <vector>

#include "tests/fake_host.hpp"

namespace aries_fuzz
{

class Frames
{
public:
	/** @count pieces for regions, @queues for queues, and one that never is in use, with a free page around each.
	 */
	void make(aries_test::FakeHost &host, unsigned int count, unsigned int queues);
	/** A region's piece, all of it @fill; false, without effect, if none is free. */
	bool take(size_t &frame, uint8_t fill) { return take(0, regions_, frame, fill); }
	bool take_queue(size_t &frame) { return take(regions_, trap(), frame, 0); }
	/** Free again. */
	void give(size_t frame);
	/** Fails unless free pieces are as they were left. */
	void check() const;

	uint64_t gpa(size_t frame) const { return frames_[frame].gpa; }
	/** A piece that nobody may get to: page entries point there when their region is gone. */
	size_t trap() const { return frames_.size() - 1; }
	static constexpr uint8_t FREE = 0xee;

private:
	struct Frame {
		uint64_t gpa, bytes;
		bool used = false;
	};

	bool take(size_t from, size_t to, size_t &frame, uint8_t fill);
	void check(const Frame &frame) const;
	void check(uint64_t gpa, uint64_t bytes, const char *what) const;

	aries_test::FakeHost *host_ = nullptr;
	std::vector<Frame> frames_;
	size_t regions_ = 0;
	size_t next_ = 0; /* in turn: what was freed stays under watch for long */
};

} // namespace aries_fuzz

#endif
