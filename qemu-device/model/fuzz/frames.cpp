/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz/frames.hpp"

#include "fuzz/churn.hpp"

using namespace aries_test;

namespace aries_fuzz
{

void Frames::make(FakeHost &host, unsigned int count, unsigned int queues)
{
	constexpr uint64_t QUEUE_BYTES = ARIES_CQ_HEADER_BYTES + (8u << ARIES_CQ_LOG2_MIN);

	host_ = &host;
	frames_.clear();
	regions_ = count;
	next_ = 0;
	for (unsigned int i = 0; i < count + queues + 1; i++) {
		const uint64_t bytes = i >= count && i < count + queues ? QUEUE_BYTES : FRAME_BYTES;

		memset(host.ram(host.alloc(PAGE)), FREE, PAGE);
		frames_.push_back({host.alloc(bytes), bytes});
		memset(host.ram(frames_.back().gpa), FREE, bytes);
	}
	memset(host.ram(host.alloc(PAGE)), FREE, PAGE);
}

bool Frames::take(size_t from, size_t to, size_t &frame, uint8_t fill)
{
	for (size_t i = from; i < to; i++) {
		const size_t number = from + next_++ % (to - from);
		Frame &found = frames_[number];

		if (found.used)
			continue;
		check(found);
		frame = number;
		found.used = true;
		memset(host_->ram(found.gpa), fill, found.bytes);
		return true;
	}
	return false;
}

void Frames::give(size_t frame)
{
	frames_[frame].used = false;
	memset(host_->ram(frames_[frame].gpa), FREE, frames_[frame].bytes);
}

void Frames::check(uint64_t gpa, uint64_t bytes, const char *what) const
{
	const uint8_t *memory = host_->ram(gpa);

	for (uint64_t i = 0; i < bytes; i++) {
		if (memory[i] != FREE)
			wrong("%s: byte %llu of it is %#x now", what, static_cast<unsigned long long>(i), memory[i]);
	}
}

void Frames::check(const Frame &frame) const
{
	check(frame.gpa, frame.bytes,
	      &frame == &frames_.back() ? "memory was written that was in no region"
					: "memory was written to after its drain was done");
	check(frame.gpa - PAGE, PAGE, "memory was written that was in no region");
}

void Frames::check() const
{
	for (const Frame &frame : frames_) {
		if (!frame.used)
			check(frame);
	}
}

} // namespace aries_fuzz
