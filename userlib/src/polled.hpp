// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * Polled doorbells: a word of the descriptor area that the NIC finds by itself, where it offers that. A post then costs
 * no trap, and its operation may be under way when the call returns. Whoever needs the descriptor area again, or the
 * status word, waits for it first: fma_area() and fma_last_status() do.
 */
#ifndef UGNI_POLLED_HPP
#define UGNI_POLLED_HPP

#include "objects.hpp"

namespace ugni
{

/** The last doorbell was rung by polled_ring() and has not been waited for: waits until it is over. */
[[gnu::noinline]] void polled_wait(const gni_nic *nic);

/** Leaves the doorbell @value for the NIC, after all stores to the area, and traps if the NIC does not poll. */
[[gnu::noinline]] void polled_ring(const gni_nic *nic, uint64_t value);

/** The same, and waits until the doorbell is complete. Return: its ARIES_ST_* */
[[gnu::noinline]] uint32_t polled_ring_and_wait(const gni_nic *nic, uint64_t value);

/** All doorbells of @nic are over; before anything else is done with its descriptor. */
inline void fma_settle(const gni_nic *nic)
{
	if (nic->polled) [[unlikely]]
		polled_wait(nic);
}

/**
 * The same for calls that end what posts may still need, a queue or a region: any thread, also while another one posts.
 */
void fma_drain(const gni_nic *nic);

} // namespace ugni

#endif
