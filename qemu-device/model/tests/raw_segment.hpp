/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Another mapping of a segment: to look at what members keep there, or to put there what one that died leaves. */
#ifndef ARIES_TESTS_RAW_SEGMENT_HPP
#define ARIES_TESTS_RAW_SEGMENT_HPP

#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fabric/segment.hpp"
#include "tests/cmocka_cpp.hpp"

namespace aries_test
{

class RawSegment
{
public:
	explicit RawSegment(const std::string &path)
	{
		const int fd = open(path.c_str(), O_RDWR);
		struct stat st;

		assert_true(fd >= 0);
		assert_int_equal(fstat(fd, &st), 0);
		size_ = size_t(st.st_size);
		base_ = static_cast<uint8_t *>(mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
		assert_true(base_ != MAP_FAILED);
		close(fd);
	}
	~RawSegment() { munmap(base_, size_); }
	RawSegment(const RawSegment &) = delete;
	RawSegment &operator=(const RawSegment &) = delete;

	aries::NodeSlot &node(uint32_t n)
	{
		auto *head = reinterpret_cast<aries::SegmentHeader *>(base_);

		return *reinterpret_cast<aries::NodeSlot *>(base_ + aries::SEGMENT_NODES_OFFSET +
							    n * head->node_stride);
	}
	/** What @initiator does at @target, on one lane. */
	aries::Flight &flight(uint32_t target, uint32_t initiator, uint32_t lane)
	{
		return reinterpret_cast<aries::Flight *>(&node(target) + 1)[initiator * aries::FLIGHT_LANES + lane];
	}

	/** Requests of a node for other hosts, which are there once it has had one. */
	aries::CarryArea &carry(uint32_t n)
	{
		const auto *head = reinterpret_cast<aries::SegmentHeader *>(base_);

		return *reinterpret_cast<aries::CarryArea *>(base_ + size_ -
							     (head->nodes - n) * sizeof(aries::CarryArea));
	}

private:
	uint8_t *base_;
	size_t size_;
};

} // namespace aries_test

#endif
