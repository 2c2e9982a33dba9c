// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * A kernel and NIC of a few lines for unit tests: it records what the library
 * asks for, fails on demand, and writes into queues what a test tells it to.
 */
#ifndef UGNI_TESTS_FAKE_KERNEL_HPP
#define UGNI_TESTS_FAKE_KERNEL_HPP

#include "aries_hw.h"
#include "datagrams.hpp"
#include "gni_pub.h"
#include "uapi/kgni_abi.h"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace fake
{

struct Queue {
	uint32_t slots = 0;
	uint64_t produced = 0;
	std::vector<uint64_t> memory; /* header page, then slots */

	uint64_t consumed() const { return memory[0]; }
	void put(uint64_t entry);
};

struct Engine {
	kgni_ce_config config = {};
	std::vector<kgni_ce_child> children;
};

struct File {
	alignas(64) unsigned char area[ARIES_DESC_STRIDE] = {};
	uint64_t doorbell[512] = {};
	kgni_attach attach = {};
	bool attached = false;
	std::map<uint32_t, std::unique_ptr<Queue>> queues;
	std::map<uint32_t, kgni_mem_register> registrations;
	std::map<uint32_t, Engine> engines;

	const aries_fma_desc &fma() const { return *reinterpret_cast<const aries_fma_desc *>(area + ARIES_DESC_FMA); }
	aries_fma_status &status() { return *reinterpret_cast<aries_fma_status *>(area + ARIES_DESC_STATUS); }
	const unsigned char *line() const { return area + ARIES_DESC_LINE; }
	const aries_bte_desc &bte(unsigned slot) const
	{
		return reinterpret_cast<const aries_bte_desc *>(area + ARIES_DESC_BTE)[slot];
	}
};

/** One store to a doorbell page, taken apart. */
struct Doorbell {
	int fd = -1;
	uint32_t offset = 0;
	uint64_t value = 0;

	uint32_t tid() const { return static_cast<uint32_t>(value & ARIES_DB_TID_MASK); }
	uint32_t length() const { return static_cast<uint32_t>((value & ARIES_DB_LEN_MASK) >> ARIES_DB_LEN_SHIFT); }
	uint32_t op() const { return static_cast<uint32_t>((value & ARIES_DB_OP_MASK) >> ARIES_DB_OP_SHIFT); }
	uint32_t mode() const { return static_cast<uint32_t>((value & ARIES_DB_MODE_MASK) >> ARIES_DB_MODE_SHIFT); }
	uint32_t amo() const { return static_cast<uint32_t>((value & ARIES_DB_AMO_MASK) >> ARIES_DB_AMO_SHIFT); }
};

struct Kernel {
	unsigned devices = 1;
	int open_error = 0;                  /* -errno of the next opens */
	std::map<unsigned long, int> errors; /* request: -errno */
	std::map<unsigned long, int> once;   /* the same for one call, before those */
	uint64_t caps = ~uint64_t{0};
	uint32_t bte_queue = 1024;
	uint32_t abi_version = KGNI_ABI_VERSION;
	uint64_t clock_ms = 1000;
	std::map<int, std::unique_ptr<File>> files;
	std::vector<Doorbell> doorbells;
	std::vector<kgni_cq_wait> waits;
	std::vector<kgni_job> jobs;
	std::vector<kgni_mem_update> updates;
	std::vector<kgni_ntt> tables;
	std::vector<kgni_ntt_entry> entries; /* of the last table */
	std::vector<kgni_job_ntt> ranges;
	kgni_bi injection = {};
	std::vector<kgni_suspend> suspends;
	unsigned calls = 0; /* requests of any kind, and maps */
	Datagrams datagrams;
	std::vector<kgni_err_subscribe> subscriptions;
	std::vector<kgni_err_read> error_reads;
	kgni_err_control filter = {};            /* of the last subscription */
	std::deque<kgni_err_event> error_events; /* that the next reads find */
	bool no_share = false;                   /* shared memory cannot be mapped */
	int next_fd = 100;
	uint32_t next_cq = 3;
	uint32_t next_mdh = 17;
	/* Called for each doorbell; what the NIC does. */
	std::function<void(File &, const Doorbell &)> on_doorbell;
	/* Called for each wait. Return: 0 or -errno. */
	std::function<int(kgni_cq_wait &)> on_wait;

	File &file() { return *files.rbegin()->second; }
};

/** The one kernel; a new one for each test. */
Kernel &kernel();
void reset();

/** Does what a NIC without faults does: status word, and the events asked for into queue desc.cq. */
void complete(File &file, const Doorbell &d, uint32_t status = ARIES_ST_OK);
uint64_t entry(uint32_t tid, uint32_t info, uint32_t data, uint32_t status = 0, uint32_t source = ARIES_SRC_FMA);

} // namespace fake

#endif
