/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bad input by table: which bits of a structure have a meaning, and what each of the others is answered with. A table
 * is tried bit by bit, under every operation that reads the field and under every one that does not.
 */
#ifndef ARIES_TESTS_BAD_INPUT_HPP
#define ARIES_TESTS_BAD_INPUT_HPP

#include <iterator>

#include "tests/pair.hpp"

namespace aries_test
{

/** Bits of one field that operations must not set, or must set right. */
struct Field {
	const char *name;
	size_t at, bytes;  /* place in the structure */
	uint64_t meaning;  /* bits that may be changed without this error */
	uint32_t status;   /* ARIES_ST_* when another one is */
	uint32_t readers;  /* operations, one bit each, that end so */
	uint32_t ignorers; /* operations that do not read it and go well */
};

#define FIELD(type, member, meaning, status, readers, ignorers)                                                        \
	{                                                                                                              \
#member, offsetof(type, member), sizeof(type::member), meaning, status, readers, ignorers              \
	}

inline constexpr uint64_t ANY = UINT64_MAX;

/** Operations as a set. */
template <typename Op> constexpr uint32_t on(std::initializer_list<Op> ops)
{
	uint32_t set = 0;

	for (Op op : ops)
		set |= 1u << op;
	return set;
}

/** Every byte of a structure of @bytes is in a row of @fields; rows of one field are neighbours. */
inline void assert_complete(const Field *fields, size_t count, size_t bytes)
{
	size_t at = 0;

	for (size_t i = 0; i < count; i++) {
		if (i && fields[i].at == fields[i - 1].at)
			continue;
		assert_int_equal(fields[i].at, at);
		at += fields[i].bytes;
	}
	assert_int_equal(at, bytes);
}

/**
 * Changes each bit without a meaning of each field, one at a time, for each of the @operations.
 * @run: called as run(operation, where, mask, status): fills the structure in, flips the bits of @mask at byte @where,
 *       and tells whether the operation then ended with @status and did what belongs to that
 * Return: how many bits were tried
 */
template <typename Run>
unsigned int try_fields(const Field *fields, size_t count, const char *const *operations, size_t operation_count,
			Run run)
{
	unsigned int tried = 0;

	for (const Field *field = fields; field != fields + count; field++) {
		for (unsigned int bit = 0; bit < 8 * field->bytes; bit++) {
			if (bit < 64 && field->meaning >> bit & 1)
				continue;
			for (unsigned int op = 0; op < operation_count; op++) {
				const bool reads = field->readers >> op & 1;

				if (!reads && !(field->ignorers >> op & 1))
					continue;
				tried++;
				if (!run(op, field->at + bit / 8, uint8_t(1u << bit % 8),
					 reads ? field->status : uint32_t(ARIES_ST_OK)))
					fail_msg("%s: bit %u of %s must end with status %#x", operations[op], bit,
						 field->name, reads ? field->status : 0);
			}
		}
	}
	print_message("%u bits\n", tried);
	return tried;
}

/** Flips @mask of byte @at of a structure. */
template <typename T> void flip(T &structure, size_t at, uint8_t mask)
{
	reinterpret_cast<uint8_t *>(&structure)[at] ^= mask;
}

/** Something wrong with an operation, and its status. */
template <typename T> struct Break {
	uint32_t status;
	void (*apply)(T &descriptor);
};

/** Of two things that are wrong the earlier one of @breaks tells. @run: called as run(first, second, status). */
template <typename T, size_t N, typename Run>
void try_order(const Break<T> (&breaks)[N], const char *operation, Run run)
{
	for (size_t i = 0; i < N; i++) {
		for (size_t j = i; j < N; j++) {
			if (!run(breaks[i], breaks[j], breaks[i].status))
				fail_msg("%s with %#x and %#x", operation, breaks[i].status, breaks[j].status);
		}
	}
}

/** Memory of both nodes that a refused operation must leave alone. */
class Untouched
{
public:
	explicit Untouched(Pair &pair) : pair_(pair)
	{
		for (uint64_t i = 0; i < BYTES; i++) {
			*pair.b.ram(pair.target + i) = uint8_t(i * 13 + 5);
			*pair.a.ram(pair.local + i) = uint8_t(i * 29 + 3);
		}
		save();
	}
	void save()
	{
		far_.assign(pair_.b.ram(pair_.target), pair_.b.ram(pair_.target) + BYTES);
		near_.assign(pair_.a.ram(pair_.local), pair_.a.ram(pair_.local) + BYTES);
	}
	bool holds() const
	{
		return !memcmp(far_.data(), pair_.b.ram(pair_.target), BYTES) &&
		       !memcmp(near_.data(), pair_.a.ram(pair_.local), BYTES);
	}

private:
	Pair &pair_;
	std::vector<uint8_t> far_, near_;
};

/** Objects of others, and objects that are gone. */
struct Strangers {
	static constexpr unsigned int FOREIGN_CQ = 22, STALE_CQ = 23;
	static constexpr unsigned int FOREIGN_NEAR = 40, FOREIGN_FAR = 41, STALE_NEAR = 42, STALE_FAR = 43;

	explicit Strangers(Pair &pair) : pair_(pair)
	{
		pair.a.make_cq(FOREIGN_CQ, 6, OWNER + 1);
		pair.a.make_cq(STALE_CQ, 6, OWNER);
		pair.a.write64(ARIES_CQ_CTL_N(STALE_CQ), 0);
		pair.a.set_key(PTAG_A + 1, KEY + 1);
		pair.b.set_key(PTAG_B + 1, KEY + 1);
		page(pair.a, FOREIGN_NEAR, PTAG_A + 1, 0);
		page(pair.b, FOREIGN_FAR, PTAG_B + 1, 0);
		page(pair.a, STALE_NEAR, PTAG_A, 0);
		page(pair.b, STALE_FAR, PTAG_B, 0);
		assert_true(pair.a.invalidate(STALE_NEAR) && pair.b.invalidate(STALE_FAR));
	}
	/** The numbers of what is gone are given away again, to memory elsewhere. */
	void reuse() const
	{
		page(pair_.a, STALE_NEAR, PTAG_A, 1 << 20);
		page(pair_.b, STALE_FAR, PTAG_B, 1 << 20);
	}

private:
	static void page(FakeHost &host, unsigned int mdh, unsigned int ptag, uint64_t further)
	{
		host.make_mdd(mdh, ptag, host.alloc(PAGE), PAGE, BASE + further,
			      ptag == PTAG_B ? ARIES_MDD_CTL_CQ_VALID_MASK | uint64_t(21) << 24 : 0);
	}

	Pair &pair_;
};

/** Whether @status, if it is a failure, was recorded where a driver and the process look for it. */
inline bool recorded(const Pair &pair, uint32_t status)
{
	return !status || ((pair.a.read(ARIES_FMAD_STATUS_N(FMAD), 8) & ARIES_FMAD_STATUS_LAST_MASK) >> 16) == status;
}

} // namespace aries_test

#endif
