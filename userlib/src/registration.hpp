// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Registrations of a NIC handle, by MDH. */
#ifndef UGNI_REGISTRATION_HPP
#define UGNI_REGISTRATION_HPP

#include "forkcopy.hpp"
#include "gni.hpp"

#include <array>
#include <cstdint>

namespace ugni
{

/** A piece of a region that is addressed by offset. */
struct Piece {
	uint64_t address; /* of its first page */
	uint64_t bytes;   /* whole pages; 0 behind the last one */
};

struct Registration {
	gni_mem_handle_t handle; /* all zero: free */
	uint64_t address;
	uint64_t length;
	gni_cq *cq;     /* nullptr: no remote events */
	uint32_t mdh;   /* the NIC's, also of a virtual handle */
	uint64_t pages; /* of a reserved region, also before its first update; else 0 */
	PageRange kept; /* from children of fork() */
	Piece *pieces;  /* of MemRegisterSegments(), from malloc(); else nullptr */
};

/** Grows by blocks, so that a process with few registrations pays little. */
class RegistrationTable
{
	static constexpr uint32_t kMdhs = 8192; /* real and virtual ones */
	static constexpr uint32_t kBlock = 128;

public:
	/** Return: the place for @mdh, free or not; nullptr without memory or out of range. */
	Registration *place(uint32_t mdh);
	/** Return: the registration with that MDH, nullptr if there is none. */
	Registration *find(uint32_t mdh) const;
	/** First registration with an MDH of @mdh or more, nullptr if there is none. */
	Registration *next(uint32_t mdh) const;
	/** The virtual address at @offset of a region, 0 if there is none. */
	static uint64_t address_at(const Registration &r, uint64_t offset);
	/** Frees the table; @end is called for each registration that is left. */
	void close(void (*end)(const Registration &));

private:
	std::array<Registration *, kMdhs / kBlock> blocks_{};
};

} // namespace ugni

#endif
