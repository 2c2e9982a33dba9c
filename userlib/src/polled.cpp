// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "polled.hpp"

#include "gone.hpp"
#include "mmio.hpp"

namespace ugni
{

namespace
{

/*
 * Looks at the status word before the NIC is reminded by a trap: as long as a trap takes, so that a wait in vain makes
 * a doorbell twice as long as a trapped one, at most.
 */
constexpr uint32_t kLooks = 128;

void relax()
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	asm volatile("yield");
#endif
}

bool reached(const gni_nic *nic, uint32_t until)
{
	const auto *sequence = reinterpret_cast<const uint32_t *>(nic->area + ARIES_DESC_STATUS);

	return static_cast<int32_t>(__atomic_load_n(sequence, __ATOMIC_ACQUIRE) - until) >= 0;
}

/* When this store has retired the doorbell is complete, whether the trap or the NIC's thread has run it. */
void remind(const gni_nic *nic)
{
	store_fence();
	doorbell_store(nic->doorbell + ARIES_DB_POLL / 8, 0);
	nic->polled->pending = false;
}

} // namespace

void polled_wait(const gni_nic *nic)
{
	Polled &p = *nic->polled;

	if (!p.pending)
		return;
	for (uint32_t look = 0; look < kLooks; look++) {
		if (reached(nic, p.until)) {
			p.pending = false;
			return;
		}
		relax();
	}
	remind(nic);
}

void fma_drain(const gni_nic *nic)
{
	if (!nic->polled || !__atomic_load_n(&nic->polled->pending, __ATOMIC_RELAXED))
		return;
	doorbell_store(nic->doorbell + ARIES_DB_POLL / 8, 0);
}

void polled_ring(const gni_nic *nic, uint64_t value)
{
	Polled &p = *nic->polled;

	polled_wait(nic);
	p.until = fma_status(nic)->sequence + 1;
	p.phase ^= ARIES_DB_PHASE;
	p.pending = true;
	__atomic_store_n(p.word, value | p.phase, __ATOMIC_RELEASE);
	/* The NIC stores AWAKE before it reads the doorbell word for the last time. */
	full_fence();
	if (!__atomic_load_n(p.awake, __ATOMIC_RELAXED))
		remind(nic);
}

uint32_t polled_ring_and_wait(const gni_nic *nic, uint64_t value)
{
	polled_ring(nic, value);
	polled_wait(nic);
	return fma_status(nic)->status;
}

} // namespace ugni
