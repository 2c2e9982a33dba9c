/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A node whose AMO cache updates memory lazily, and one that makes it do so. */
#ifndef ARIES_TESTS_LAZY_PAIR_HPP
#define ARIES_TESTS_LAZY_PAIR_HPP

#include "tests/pair.hpp"

namespace aries_test
{

inline constexpr uint64_t CACHED_CTL = ARIES_FMAD_CTL_CACHED_AMO_MASK;
inline constexpr unsigned int FADD = 0x008, FADD_C = 0x018, ADD_C = 0x118, IADD_SC = 0x374, FIADD_S = 0x254;

inline void set_lazy(const FakeHost &host, bool on)
{
	host.write32(ARIES_CTL_CONTROL, 0);
	host.write32(ARIES_AMO_CTL, on);
	host.write32(ARIES_CTL_CONTROL, ARIES_CTL_CONTROL_ENABLE_MASK);
	assert_int_equal(host.read(ARIES_AMO_CTL, 4), on);
}

/** A pair whose second node updates its memory lazily. */
struct LazyPair : Pair {
	/* The lease is long: a holder of a lock that has to wait for a processor is not taken for a dead one. */
	LazyPair() : Pair({.lease_ms = 2000})
	{
		set_lazy(b, true);
		a.enable_fmad(FMAD, PTAG_A, OWNER, CACHED_CTL);
	}
	uint64_t run(unsigned int code, uint64_t at, uint64_t operand)
	{
		desc().offset = BASE + at;
		fetched() = 0;
		assert_int_equal(amo(code, operand, 0, code & 0x200 ? 4 : 8), ARIES_ST_OK);
		return fetched();
	}
	uint64_t get(uint64_t at)
	{
		desc().offset = BASE + at;
		assert_int_equal(a.ring(FMAD, ARIES_FMA_GET_OP, 8), ARIES_ST_OK);
		return fetched();
	}
	void store(uint64_t at, const void *data, unsigned int bytes)
	{
		desc().offset = BASE + at;
		memcpy(a.line(FMAD), data, bytes);
		assert_int_equal(put(bytes), ARIES_ST_OK);
	}
	void store(uint64_t at, uint64_t value) { store(at, &value, 8); }
	uint64_t updates() const { return b.counter(ARIES_CNT_AMO_CACHE_UPDATES); }
	void flush() const { b.write32(ARIES_AMO_FLUSH, 1); }
};

} // namespace aries_test

#endif
