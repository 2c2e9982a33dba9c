// SPDX-License-Identifier: BSD-2-Clause
/* Registrations of a NIC handle, by MDH. */
#ifndef UGNI_REGISTRATION_HPP
#define UGNI_REGISTRATION_HPP

#include "forkcopy.hpp"
#include "gni.hpp"

#include <array>
#include <cstdint>

namespace ugni
{

struct Registration {
	gni_mem_handle_t handle; /* all zero: free */
	uint64_t address;
	uint64_t length;
	gni_cq *cq;     /* nullptr: no remote events */
	uint32_t mdh;   /* the NIC's, also of a virtual handle */
	uint64_t pages; /* of a reserved region, also before its first update; else 0 */
	PageRange kept; /* from children of fork() */
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
	/** Frees the table; @end is called for each registration that is left. */
	void close(void (*end)(const Registration &));

private:
	std::array<Registration *, kMdhs / kBlock> blocks_{};
};

} // namespace ugni

#endif
