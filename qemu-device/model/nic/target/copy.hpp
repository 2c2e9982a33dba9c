/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies between runs of host memory. */
#ifndef ARIES_NIC_COPY_HPP
#define ARIES_NIC_COPY_HPP

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "nic/target/att.hpp"

namespace aries
{

/** A value from memory that its owner may change meanwhile: read once. */
template <typename T> T copy_once(const void *from) noexcept
{
	T value;

	/* The compiler must not read twice. */
	memcpy(&value, from, sizeof(value));
	asm volatile("" ::: "memory");
	return value;
}

/** Contiguous bytes out of the runs, in order. */
template <size_t N> void gather(const RunList<N> &from, uint8_t *to) noexcept
{
	for (size_t i = 0; i < from.count; i++) {
		move_bytes(to, from.run[i].host, from.run[i].bytes);
		to += from.run[i].bytes;
	}
}

/** Stores contiguous bytes into the runs, in order. */
template <size_t N> void scatter(const RunList<N> &to, const uint8_t *from) noexcept
{
	for (size_t i = 0; i < to.count; i++) {
		store_bytes(to.run[i].host, from, to.run[i].bytes);
		from += to.run[i].bytes;
	}
}

/**
 * Reads a byte of each 64 KiB before they are written for the first time. A
 * read fault lets the kernel map the pages around it as well, a write fault
 * just one: a peer's memory that is new to us costs a third that way.
 */
inline void touch(const uint8_t *at, uint64_t bytes) noexcept
{
	constexpr uint64_t AROUND = 65536;

	for (const uint8_t *end = at + bytes; at < end; at += AROUND - reinterpret_cast<uintptr_t>(at) % AROUND)
		__atomic_load_n(at, __ATOMIC_RELAXED);
}

/**
 * Copies around the caches: a transfer that is larger than they are need not read what it overwrites. Libraries do
 * that for one large copy, but ours comes in runs of pages. Visible to others after stream_end().
 */
inline void stream_bytes(uint8_t *to, const uint8_t *from, uint64_t bytes) noexcept
{
#if defined(__SSE2__)
	if ((reinterpret_cast<uintptr_t>(to) & 15) == 0) {
		for (; bytes >= 64; bytes -= 64, to += 64, from += 64) {
			const auto *source = reinterpret_cast<const __m128i *>(from);
			auto *place = reinterpret_cast<__m128i *>(to);
			const __m128i a = _mm_loadu_si128(source), b = _mm_loadu_si128(source + 1);
			const __m128i c = _mm_loadu_si128(source + 2), d = _mm_loadu_si128(source + 3);

			_mm_stream_si128(place, a);
			_mm_stream_si128(place + 1, b);
			_mm_stream_si128(place + 2, c);
			_mm_stream_si128(place + 3, d);
		}
	}
#endif
	store_bytes(to, from, bytes);
}

inline void stream_end() noexcept
{
#if defined(__SSE2__)
	_mm_sfence();
#endif
}

/**
 * Copies as many bytes as the shorter list has, one piece for each part that is contiguous on both sides.
 * @stream: around the caches
 */
template <size_t N, size_t M> void copy_runs(const RunList<N> &to, const RunList<M> &from, bool stream = false) noexcept
{
	constexpr uint64_t TOUCH_BYTES = 4096; /* less is not worth it, and may be polled on by another processor */
	size_t i = 0, j = 0;
	uint64_t at_to = 0, at_from = 0;

	while (i < to.count && j < from.count) {
		const uint64_t bytes = std::min(to.run[i].bytes - at_to, from.run[j].bytes - at_from);

		if (bytes >= TOUCH_BYTES)
			touch(to.run[i].host + at_to, bytes);
		if (stream)
			stream_bytes(to.run[i].host + at_to, from.run[j].host + at_from, bytes);
		else
			store_bytes(to.run[i].host + at_to, from.run[j].host + at_from, bytes);
		at_to += bytes;
		at_from += bytes;
		if (at_to == to.run[i].bytes) {
			i++;
			at_to = 0;
		}
		if (at_from == from.run[j].bytes) {
			j++;
			at_from = 0;
		}
	}
	if (stream)
		stream_end();
}

/** Where byte @at of the runs is: the number of its run; @at becomes the place in there. */
template <size_t N> size_t run_at(const RunList<N> &list, uint64_t &at) noexcept
{
	size_t i = 0;

	for (; i < list.count && at >= list.run[i].bytes; i++)
		at -= list.run[i].bytes;
	return i;
}

/** scatter(), of @bytes to where byte @at is. */
template <size_t N> void scatter_part(const RunList<N> &to, uint64_t at, const uint8_t *from, uint64_t bytes) noexcept
{
	for (size_t i = run_at(to, at); bytes && i < to.count; i++, at = 0) {
		const uint64_t part = std::min(bytes, to.run[i].bytes - at);

		store_bytes(to.run[i].host + at, from, part);
		from += part;
		bytes -= part;
	}
}

/** copy_runs(), of the @bytes from byte @at on. */
template <size_t N, size_t M>
void copy_part(const RunList<N> &to, const RunList<M> &from, uint64_t at, uint64_t bytes) noexcept
{
	uint64_t place = at;

	for (size_t i = run_at(from, place); bytes && i < from.count; i++, place = 0) {
		const uint64_t part = std::min(bytes, from.run[i].bytes - place);

		scatter_part(to, at, from.run[i].host + place, part);
		at += part;
		bytes -= part;
	}
}

} // namespace aries

#endif
