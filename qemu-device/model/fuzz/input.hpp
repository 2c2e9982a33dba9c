/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bytes of one fuzz input, taken piece by piece. After the end everything reads as zero. */
#ifndef ARIES_FUZZ_INPUT_HPP
#define ARIES_FUZZ_INPUT_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace aries_fuzz
{

class Input
{
public:
	Input(const uint8_t *data, size_t size) : at_(data), end_(data + size) {}

	bool more() const { return at_ < end_; }

	uint64_t take(unsigned int bytes)
	{
		uint64_t value = 0;

		for (unsigned int i = 0; i < bytes && at_ < end_; i++)
			value |= uint64_t(*at_++) << (8 * i);
		return value;
	}

	uint8_t byte() { return uint8_t(take(1)); }
	/** 0 to @n - 1; @n at most 65536. */
	uint64_t below(uint64_t n) { return take(n > 256 ? 2 : 1) % n; }

	/** A word of which a small input can make the interesting ones: small, a power of two, nearly all ones, any. */
	uint64_t word()
	{
		const uint8_t form = byte();

		switch (form & 3) {
		case 0:
			return form >> 2;
		case 1:
			return uint64_t(1) << (form >> 2);
		case 2:
			return ~uint64_t(0) >> (form >> 2);
		default:
			return take(form >> 2 & 7 ? form >> 2 & 7 : 8);
		}
	}

private:
	const uint8_t *at_;
	const uint8_t *end_;
};

/** What must hold; ends the run with the place of the check. */
#define FUZZ_CHECK(condition)                                                                                          \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                        \
			abort();                                                                                       \
		}                                                                                                      \
	} while (0)

} // namespace aries_fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
