/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file
 * Copies of some pages, as block transfers make them.
 *
 * Libraries copy a page or more by one instruction of the processor ("rep movsb"). It takes 20 to 30 cycles to start,
 * and on Zen 3 and 4 it is thirteen times slower where the target lies a little further into its page than the source
 * does into its own, as with a block put from offset 0 to offset 8. A loop is as fast as the best case for any place.
 */
#ifndef ARIES_NIC_WIDE_COPY_HPP
#define ARIES_NIC_WIDE_COPY_HPP

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace aries
{

inline constexpr uint64_t WIDE_LEAST = 2048; // bytes; libraries have loops of their own for less

#if defined(__x86_64__)
/** This processor has what wide_loop() needs. */
inline const bool wide_copies = (__builtin_cpu_init(), __builtin_cpu_supports("avx2"));

/** As memcpy(). Return: bytes that it has copied, all but less than 128. */
[[gnu::target("avx2")]] inline uint64_t wide_loop(uint8_t *to, const uint8_t *from, uint64_t bytes) noexcept
{
	constexpr uint64_t STEP = 128;
	uint64_t done = 0;

	for (; bytes - done >= STEP; done += STEP) {
		const auto *source = reinterpret_cast<const __m256i *>(from + done);
		auto *place = reinterpret_cast<__m256i *>(to + done);
		const __m256i a = _mm256_loadu_si256(source), b = _mm256_loadu_si256(source + 1);
		const __m256i c = _mm256_loadu_si256(source + 2), d = _mm256_loadu_si256(source + 3);

		_mm256_storeu_si256(place, a);
		_mm256_storeu_si256(place + 1, b);
		_mm256_storeu_si256(place + 2, c);
		_mm256_storeu_si256(place + 3, d);
	}
	return done;
}
#else
inline constexpr bool wide_copies = false;

inline uint64_t wide_loop(uint8_t *, const uint8_t *, uint64_t) noexcept
{
	return 0;
}
#endif

/** memmove() whose speed does not depend on places in pages; the end is copied last unless both overlap. */
inline void wide_copy(uint8_t *to, const uint8_t *from, uint64_t bytes) noexcept
{
	if (bytes >= WIDE_LEAST && wide_copies && (to + bytes <= from || from + bytes <= to)) {
		const uint64_t done = wide_loop(to, from, bytes);

		to += done;
		from += done;
		bytes -= done;
	}
	memmove(to, from, bytes);
}

} // namespace aries

#endif
