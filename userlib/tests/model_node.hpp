// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* One node: a NIC of the model, its memory, and what a driver does with its registers. */
#ifndef UGNI_TESTS_MODEL_NODE_HPP
#define UGNI_TESTS_MODEL_NODE_HPP

#include "aries_model.h"
#include "aries_regs.h"
#include "model_errors.hpp"
#include "uapi/kgni_abi.h"

#include <array>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace model
{

constexpr size_t kPage = 4096;

class Node
{
public:
	Node(const std::string &fabric, uint32_t number, uint32_t nodes);
	~Node();
	Node(const Node &) = delete;
	Node &operator=(const Node &) = delete;

	uint32_t number() const { return number_; }
	/** The NIC is gone; the memory stays for those of its processes that the test still has. */
	void off();
	/** Memory of this node: pages, zeroed. */
	unsigned char *alloc(size_t bytes);
	bool owns(uint64_t address, uint64_t bytes) const;
	uint64_t caps() const { return aries_nic_read(nic_, 0, ARIES_ID_CAPS, 8); }
	uint64_t counter(unsigned int which) const { return aries_nic_counter(nic_, which); }
	void fault(const char *name, uint64_t value);
	void hold(bool on) { aries_nic_set_hold(nic_, on); }

	/* The requests of an open file; @owner is the file's context number. Return: 0 or -errno. */
	int attach(kgni_attach *a, const std::map<uint32_t, uint8_t> &tags);
	int ntt(kgni_ntt *t);
	int job_ntt(const kgni_job_ntt *j);
	int cq_create(uint32_t owner, kgni_cq_create *c);
	int cq_destroy(uint32_t cq);
	int cq_wait(kgni_cq_wait *w);
	int mem_register(uint32_t owner, uint8_t ptag, kgni_mem_register *m);
	int mem_segments(uint32_t owner, uint8_t ptag, kgni_mem_segments *m);
	int mem_update(kgni_mem_update *m);
	int job(const kgni_job *j, const std::map<uint32_t, uint8_t> &tags);
	int mdd_block(uint8_t ptag, uint32_t entries);
	int mem_deregister(uint32_t mdh);
	int ce_alloc(uint32_t owner, kgni_ce_alloc *c);
	int ce_config(uint32_t owner, uint8_t ptag, const kgni_ce_config *c);
	int ce_free(uint32_t owner, uint32_t ce);
	/** Takes the NIC's oldest error event; false if there is none. */
	bool take_error(kgni_err_event *e);
	ErrorEvents &errors() { return errors_; }

	unsigned char *area(uint32_t fmad) const;
	void *queue(uint32_t cq) const { return queues_.at(cq).memory; }
	void doorbell(uint32_t fmad, uint64_t offset, uint64_t value);
	/** Everything that belongs to @owner ends. */
	void close(uint32_t owner, uint32_t fmad);

private:
	struct Queue {
		uint32_t owner;
		uint32_t slots;
		uint64_t *memory;
	};
	struct Region {
		uint32_t owner;
		uint8_t ptag;
		uint32_t flags;
		uint32_t cq;
		uint64_t base;
		uint64_t pages;
		uint64_t *table;
		bool live;
	};
	int new_region(uint32_t owner, uint8_t ptag, uint32_t flags, uint32_t cq, uint64_t base, uint64_t pages);
	void fill(uint32_t mdh, uint64_t from, uint64_t address, uint64_t count);
	int to_place(int mdh, uint32_t *place);
	void publish(uint32_t mdh);
	void drain();
	void write64(uint64_t offset, uint64_t value) { aries_nic_write(nic_, 0, offset, 8, value); }
	void write32(uint64_t offset, uint32_t value) { aries_nic_write(nic_, 0, offset, 4, value); }
	uint64_t bus(const void *p) const
	{
		return static_cast<uint64_t>(static_cast<const unsigned char *>(p) - ram_);
	}
	uint64_t translation(uint32_t cookie) const;
	bool has_entry(uint32_t cq) const;
	void main_loop(const std::atomic<bool> &stop);
	static void on_irq(void *opaque, unsigned int vector);

	uint32_t number_;
	aries_nic *nic_ = nullptr;
	int fd_ = -1;
	unsigned char *ram_ = nullptr;
	size_t used_ = kPage;
	std::vector<unsigned char> desc_;
	unsigned char *desc_base_ = nullptr;
	std::map<uint32_t, Queue> queues_;
	std::map<uint32_t, Region> regions_;   /* by MDH */
	std::map<uint32_t, uint32_t> engines_; /* owners of collective engines */
	uint32_t block_base_ = 0;              /* of the one block of virtual handles */
	uint32_t block_size_ = 0;
	std::map<uint32_t, kgni_job_ntt> ranges_; /* of the node translation table, by cookie */
	uint32_t next_entry_ = 0;
	uint32_t next_fmad_ = 1;
	uint32_t next_owner_ = 1;
	uint32_t next_cq_ = 1;
	uint32_t next_mdh_ = 1;
	std::mutex mutex_; /* protects interrupts_ */
	std::condition_variable interrupted_;
	uint64_t interrupts_ = 0;
	ErrorEvents errors_{*this};
	std::atomic<bool> stop_{false};
	std::thread loop_;
};

} // namespace model

#endif
