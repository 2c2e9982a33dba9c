/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A host for the model: shared guest memory, descriptor area, interrupts counted. Several make a fabric in one process.
 */
#ifndef ARIES_TESTS_FAKE_HOST_HPP
#define ARIES_TESTS_FAKE_HOST_HPP

#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "aries_hw.h"
#include "aries_model.h"
#include "aries_regs.h"
#include "tests/cmocka_cpp.hpp"

namespace aries_test
{

inline constexpr uint64_t LOW_BYTES = 24 << 20;
inline constexpr uint64_t HIGH_GPA = uint64_t(4) << 30;
inline constexpr uint64_t HIGH_BYTES = 8 << 20;
inline constexpr uint64_t PAGE = 4096;
inline constexpr uint64_t LEGACY_START = 0xa0000, LEGACY_END = 0x100000;
inline constexpr uint64_t MASK40 = (uint64_t(1) << 40) - 1;

/** A path nobody else uses. */
std::string fabric_path();

/** What an event says. */
struct Event {
	uint64_t word = 0;

	explicit operator bool() const { return word != 0; }
	uint32_t data() const { return uint32_t(word); }
	unsigned int tid() const { return (word >> 32) & 0xffff; }
	unsigned int status() const { return (word >> 48) & 0x3f; }
	unsigned int info() const { return (word >> 54) & 3; }
	unsigned int source() const { return (word >> 56) & 0xf; }
	unsigned int type() const { return (word >> 60) & 3; }
	bool remote_overrun() const { return word & ARIES_CQE_REM_OVERRUN; }
	bool overrun() const { return word & ARIES_CQE_OVERRUN; }
};

class FakeHost
{
public:
	struct Options {
		uint32_t nodes = 2;
		uint32_t machine_nodes = 0;
		uint32_t place = 0; /* as in aries_config */
		uint32_t routers_per_chassis = 0, chassis_per_group = 0;
		uint32_t lease_ms = 100;
		bool share_ram = true;
		bool polled = false;
		unsigned int memfd_flags = 0;   /* more for memfd_create() */
		const char *ram_file = nullptr; /* memory in this file, which is created, not in a memfd */
		bool legacy_hole = false;       /* no memory where a PC has its legacy range */
		/* Trace events of the model: name and first value; called from any thread. */
		std::function<void(const char *event, uint64_t a)> on_trace = {};
	};

	/** Creates and enables a NIC with memory; throws std::string with the error of the model. */
	FakeHost(const std::string &fabric, uint32_t node) : FakeHost(fabric, node, Options{}) {}
	FakeHost(const std::string &fabric, uint32_t node, const Options &options);
	~FakeHost();
	FakeHost(const FakeHost &) = delete;
	FakeHost &operator=(const FakeHost &) = delete;

	aries_nic *nic() const { return nic_; }
	uint64_t read(uint64_t offset, unsigned int size) const { return aries_nic_read(nic_, 0, offset, size); }
	void write32(uint64_t offset, uint32_t value) const { aries_nic_write(nic_, 0, offset, 4, value); }
	void write64(uint64_t offset, uint64_t value) const { aries_nic_write(nic_, 0, offset, 8, value); }
	uint64_t counter(unsigned int which) const { return aries_nic_counter(nic_, which); }

	/** Tells the NIC its memory map, with @more behind it. Throws std::string with the error of the model. */
	void set_ram(const aries_ram *more = nullptr, size_t count = 0) const;
	/** Device reset; all memory that alloc() gave is free again and the NIC enabled. */
	void restart();

	/** Memory of the guest at a bus address. */
	uint8_t *ram(uint64_t gpa) const;
	/** Pages of guest memory, from the low piece, zeroed. */
	uint64_t alloc(uint64_t bytes);

	void set_key(unsigned int ptag, uint32_t key) const;
	/** Enables FMA descriptor @index with @owner; more bits of FMAD_CTL in @extra. */
	void enable_fmad(unsigned int index, unsigned int ptag, unsigned int owner, uint64_t extra = 0) const;
	void disable_fmad(unsigned int index) const { write64(ARIES_FMAD_CTL_N(uint64_t(index)), 0); }

	/** Makes a queue of 2^log2 slots. */
	void make_cq(unsigned int cq, unsigned int log2, unsigned int owner, uint64_t extra = 0);
	/** The same in zeroed memory of the caller, at bus address @gpa. */
	void place_cq(unsigned int cq, uint64_t gpa, unsigned int log2, unsigned int owner, uint64_t extra = 0);
	Event next_event(unsigned int cq);
	/** Waits up to @ms for an event. */
	Event wait_event(unsigned int cq, unsigned int ms);

	/**
	 * Publishes descriptor @mdh for @bytes at bus address @gpa, page by page through two levels of tables, with
	 * offset @base for its first byte; more bits of MDD_CTL in @extra. Returns the bus address of the first page
	 * entry.
	 */
	uint64_t make_mdd(unsigned int mdh, unsigned int ptag, uint64_t gpa, uint64_t bytes, uint64_t base,
			  uint64_t extra = 0, bool writable = true);
	/** INV_MDD and waiting; false if it does not end in a second. */
	bool invalidate(unsigned int mdh) const;

	/** The part of the descriptor area of @index. */
	aries_fma_desc &desc(unsigned int index) const;
	aries_fma_window &window(unsigned int index) const;
	uint8_t *line(unsigned int index) const;
	/** Entries or parts that the last batch has done. */
	uint32_t done(unsigned int index) const;
	aries_bte_desc &slot(unsigned int index, unsigned int slot) const;
	uint32_t status(unsigned int index) const;
	/** Rings DB_FMA; returns the status. */
	uint32_t ring(unsigned int index, unsigned int op, unsigned int bytes, unsigned int mode = 0,
		      unsigned int tid = 0, unsigned int amo = 0) const;
	uint32_t ring_bte(unsigned int index, unsigned int slot) const;
	/** The word of a polled doorbell, and the one that tells whether somebody looks for it. */
	uint64_t *polled(unsigned int index) const;
	bool awake(unsigned int index) const;
	void store(unsigned int index, uint64_t at, unsigned int size, uint64_t value) const;

	/** Does what the host's main loop does; returns after one round. */
	void main_loop(int wait_ms = 0) const;

	std::array<std::atomic<unsigned int>, 64> irqs{};
	std::atomic<uint64_t> timer_delay{UINT64_MAX}; /* what the model asked for last */
	std::atomic<unsigned int> timer_requests{0};
	unsigned int uncorrectable = 0; /* errors that the model wanted signalled */
	std::atomic<unsigned int> guest_errors{0};
	/* Other warnings; any thread. */
	std::mutex warning_mutex;
	unsigned int warnings = 0;
	std::string warning;
	/* Lines about the packet trace; of the thread that ticks. */
	unsigned int trace_lines = 0;
	std::string trace_line;

	const std::function<void(const char *event, uint64_t a)> on_trace;

private:
	aries_nic *nic_ = nullptr;
	const bool legacy_hole_;
	int fd_ = -1;
	uint8_t *memory_ = nullptr;
	uint64_t used_;
	std::vector<uint8_t> desc_area_;
	uint8_t *desc_base_ = nullptr;
	struct Queue {
		uint64_t gpa;
		unsigned int log2;
		uint64_t consumed;
	};
	std::array<Queue, ARIES_CQ_ENTRIES> queues_{};
};

} // namespace aries_test

#endif
