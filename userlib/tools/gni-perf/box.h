// SPDX-License-Identifier: BSD-2-Clause
/**
 * @file
 * One-message boxes in the control region: contents first, then a sequence number.
 */
#ifndef GNI_PERF_BOX_H
#define GNI_PERF_BOX_H

#include <atomic>
#include <cstring>
#include <string>

#include "common/failure.h"
#include "job.h"

namespace perf
{

enum class Box : size_t { Command = 0, Reply = control_box_stride / 2 };

constexpr size_t box_contents = 8; /* behind the sequence number */

/** Offset in the control region of rank @p to of the box that rank @p from writes. */
inline size_t box_at(int from, Box box)
{
	return control_boxes + static_cast<size_t>(from) * control_box_stride + static_cast<size_t>(box);
}

/** Writes @p message, then @p sequence, into a box of @p to. Throws Failure. */
template <class T> void box_send(const Job &job, int to, Box box, uint64_t sequence, const T &message)
{
	static_assert(sizeof(T) + box_contents <= control_box_stride / 2);
	size_t at = box_at(job.rank(), box);
	gni_post_descriptor_t body = job.control_put(to, at + box_contents, &message, sizeof(message));
	job.execute(to, body);
	gni_post_descriptor_t stamp = job.control_put(to, at, &sequence, sizeof(sequence));
	job.execute(to, stamp);
}

/** Throws Failure when the process of @p to is gone; writes @p stamp, which stands there, into our @p box of it. */
inline void box_probe(const Job &job, int to, Box box, uint64_t stamp)
{
	gni_post_descriptor_t again = job.control_put(to, box_at(job.rank(), box), &stamp, sizeof(stamp));
	try {
		job.execute(to, again);
	} catch (const tools::Failure &failure) {
		throw tools::Failure(std::string("the other side is gone: ") + failure.what());
	}
}

/**
 * Waits for @p sequence in the box that @p from writes; false at the deadline. Where no launcher looks after the other
 * side, it is looked after here. Throws Failure when it is gone.
 * @param own_stamp of the message that we have written last, into the other box
 */
template <class T>
bool box_receive(const Job &job, int from, Box box, uint64_t sequence, uint64_t own_stamp, T &message,
		 tools::Patience patience)
{
	const Deadline deadline = job.deadline();
	const bool looks = job.options().alone();
	uint8_t *at = job.control() + box_at(from, box);
	std::atomic_ref<uint64_t> stamp(*reinterpret_cast<uint64_t *>(at));
	auto there = [&] { return stamp.load(std::memory_order_acquire) == sequence; };
	while (!tools::poll_until(there, looks ? Deadline(1) : deadline, patience)) {
		if (deadline.passed())
			return false;
		if (looks)
			box_probe(job, from, box == Box::Command ? Box::Reply : Box::Command, own_stamp);
	}
	memcpy(&message, at + box_contents, sizeof(message));
	return true;
}

} // namespace perf

#endif // GNI_PERF_BOX_H
