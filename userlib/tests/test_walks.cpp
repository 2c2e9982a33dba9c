// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * Walks over what other threads destroy meanwhile: registrations of a NIC handle, NIC handles of a domain. The
 * sanitizer of addresses tells of a step into memory that is gone, that of threads of one that nothing orders.
 */
#include "cmocka_cpp.hpp"
#include "gni_pub.h"

#include <atomic>
#include <thread>

namespace
{

constexpr unsigned kRounds = 300;

/* Makes and destroys domains with registrations until the other one has walked often enough. */
void churn(const std::atomic<bool> *done, std::atomic<gni_nic_handle_t> *shown, std::atomic<gni_cdm_handle_t> *domain)
{
	alignas(64) static unsigned char bytes[8192];

	while (!*done) {
		gni_cdm_handle_t cdm = nullptr;
		gni_nic_handle_t nic = nullptr;
		uint32_t address = 0;
		gni_mem_handle_t h[4] = {};

		if (GNI_CdmCreate(78, GNI_FIND_ALLOC_PTAG, 0x1234, GNI_CDM_MODE_FORK_FULLCOPY, &cdm) != GNI_RC_SUCCESS)
			continue;
		/* Who walks meets the attaching as well. */
		*domain = cdm;
		if (GNI_CdmAttach(cdm, 0, &address, &nic) != GNI_RC_SUCCESS) {
			(void)GNI_CdmDestroy(cdm);
			continue;
		}
		for (auto &one : h)
			(void)GNI_MemRegister(nic, reinterpret_cast<uint64_t>(bytes), sizeof(bytes), nullptr, 0, ~0U,
					      &one);
		*shown = nic;
		std::this_thread::yield();
		(void)GNI_MemDeregister(nic, &h[1]);
		std::this_thread::yield();
		(void)GNI_CdmDestroy(cdm);
	}
}

template <typename F> void beside_churn(F &&walk)
{
	std::atomic<bool> done{false};
	std::atomic<gni_nic_handle_t> nic{nullptr};
	std::atomic<gni_cdm_handle_t> cdm{nullptr};
	std::thread other(churn, &done, &nic, &cdm);

	while (!nic)
		std::this_thread::yield();
	for (unsigned round = 0; round < kRounds; round++)
		walk(nic.load(), cdm.load());
	done = true;
	other.join();
}

TEST(registrations)
{
	unsigned met = 0;

	/* On a busy machine the walks may all fall between two domains. */
	while (!met) {
		beside_churn([&](gni_nic_handle_t nic, gni_cdm_handle_t) {
			gni_mem_handle_t h = {};
			uint64_t address = 0, length = 0;

			while (GNI_MemQueryHndls(nic, -1, &h, &address, &length) == GNI_RC_SUCCESS)
				met++;
		});
	}
}

TEST(checkpoints)
{
	beside_churn([](gni_nic_handle_t, gni_cdm_handle_t cdm) {
		if (GNI_CdmCheckpoint(cdm) == GNI_RC_SUCCESS)
			(void)GNI_CdmResume(cdm);
	});
}

/* Nothing but the library orders a checkpoint's walk and the attaching that adds to its list: no other word passes. */
TEST(attaching)
{
	constexpr auto kNoOrder = std::memory_order_relaxed;

	for (unsigned round = 0; round < kRounds / 10; round++) {
		gni_cdm_handle_t cdm = nullptr;
		gni_nic_handle_t nic = nullptr;
		uint32_t address = 0;
		std::atomic<unsigned> walks{0};
		std::atomic<bool> done{false};

		assert_rc(SUCCESS, GNI_CdmCreate(78, GNI_FIND_ALLOC_PTAG, 0x1234, 0, &cdm));
		std::thread other([&] {
			while (!done.load(kNoOrder)) {
				if (GNI_CdmCheckpoint(cdm) == GNI_RC_SUCCESS && GNI_CdmResume(cdm) == GNI_RC_SUCCESS)
					walks.fetch_add(1, kNoOrder);
			}
		});
		while (walks.load(kNoOrder) < 2)
			std::this_thread::yield();
		const gni_return_t rc = GNI_CdmAttach(cdm, 0, &address, &nic);
		for (const unsigned before = walks.load(kNoOrder); walks.load(kNoOrder) < before + 2;)
			std::this_thread::yield();
		done.store(true, kNoOrder);
		other.join();
		assert_int_equal(rc, GNI_RC_SUCCESS);
		assert_rc(SUCCESS, GNI_CdmDestroy(cdm));
	}
}

} // namespace

TEST_MAIN("walks beside destruction")
