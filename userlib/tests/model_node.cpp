// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "model_node.hpp"
#include "aries_hw.h"
#include "aries_regs.h"
#include "gni_pub.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

namespace model
{

namespace
{

constexpr size_t kRamBytes = size_t{96} << 20;

void on_log(void *opaque, aries_log_level level, const char *line)
{
	(void)opaque;
	if (level == ARIES_LOG_GUEST_ERROR)
		fprintf(stderr, "guest error: %s\n", line);
}

/* Each test may be run with either kind of doorbells. */
bool polled_wanted()
{
	const char *kind = getenv("UGNI_TEST_DOORBELL"); // NOLINT(concurrency-mt-unsafe)

	return kind && !strcmp(kind, "polled");
}

[[noreturn]] void die(const char *what)
{
	fprintf(stderr, "model: %s\n", what);
	abort();
}

} // namespace

Node::Node(const std::string &fabric, uint32_t number, uint32_t nodes)
	: number_(number), desc_(ARIES_BAR_DESC_SIZE + kPage)
{
	const aries_host_ops ops = {ARIES_MODEL_API_VERSION, on_irq, on_log, nullptr, nullptr, nullptr};
	aries_config cfg = {};
	char err[256] = "";

	desc_base_ = desc_.data() + kPage - reinterpret_cast<uintptr_t>(desc_.data()) % kPage;
	cfg.api_version = ARIES_MODEL_API_VERSION;
	cfg.node = number;
	cfg.nodes = nodes;
	cfg.lease_ms = 100;
	cfg.fabric = fabric.c_str();
	cfg.desc_area = desc_base_;
	cfg.polled = polled_wanted();
	nic_ = aries_nic_create(&cfg, &ops, this, err, sizeof(err));
	if (!nic_)
		die(err);
	fd_ = memfd_create("ugni-test-ram", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd_ < 0 || ftruncate(fd_, kRamBytes) || fcntl(fd_, F_ADD_SEALS, F_SEAL_SHRINK))
		die("no memory");
	void *p = mmap(nullptr, kRamBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
	if (p == MAP_FAILED)
		die("no memory");
	ram_ = static_cast<unsigned char *>(p);
	const aries_ram ram = {0, kRamBytes, ram_, fd_, 0};
	if (aries_nic_set_ram(nic_, &ram, 1, err, sizeof(err)))
		die(err);
	aries_nic_set_bus_master(nic_, true);
	write32(ARIES_CTL_CONTROL, ARIES_CTL_CONTROL_ENABLE_MASK);
	loop_ = std::thread([this] { main_loop(stop_); });
}

void Node::off()
{
	stop_ = true;
	loop_.join();
	aries_nic_destroy(nic_);
	nic_ = nullptr;
}

Node::~Node()
{
	if (nic_)
		off();
	munmap(ram_, kRamBytes);
	::close(fd_);
}

void Node::main_loop(const std::atomic<bool> &stop)
{
	while (!stop) {
		pollfd p = {aries_nic_wake_fd(nic_), POLLIN, 0};
		if (poll(&p, 1, 10) > 0)
			aries_nic_wake(nic_);
		aries_nic_tick(nic_);
	}
}

void Node::on_irq(void *opaque, unsigned int vector)
{
	Node *node = static_cast<Node *>(opaque);

	(void)vector;
	std::lock_guard guard(node->mutex_);
	node->interrupts_++;
	node->interrupted_.notify_all();
}

unsigned char *Node::alloc(size_t bytes)
{
	unsigned char *p = ram_ + used_;

	used_ += (bytes + kPage - 1) / kPage * kPage;
	if (used_ > kRamBytes)
		die("memory of the node is used up");
	return p;
}

void Node::fault(const char *name, uint64_t value)
{
	char err[256] = "";

	if (aries_nic_set_fault(nic_, name, value, err, sizeof(err)))
		die(err);
}

bool Node::owns(uint64_t address, uint64_t bytes) const
{
	uint64_t start = reinterpret_cast<uintptr_t>(ram_);

	return address >= start && bytes <= kRamBytes && address - start <= kRamBytes - bytes;
}

int Node::attach(kgni_attach *a, const std::map<uint32_t, uint8_t> &tags)
{
	auto tag = tags.find(a->cookie);

	if (tag == tags.end())
		return -EPERM;
	if (a->ptag != GNI_FIND_ALLOC_PTAG && a->ptag != tag->second)
		return -EACCES;
	if (next_fmad_ >= ARIES_FMA_DESCRIPTORS)
		return -ENOSPC;
	a->ptag = tag->second;
	a->pe = number_;
	a->owner = next_owner_++;
	a->fmad = next_fmad_++;
	write64(ARIES_PTAG_KEY_N(uint64_t{a->ptag}), ARIES_PTAG_KEY_VALID_MASK | a->cookie);
	const bool polled = caps() & ARIES_ID_CAPS_POLL_MASK && !(a->modes & GNI_CDM_MODE_FMA_SHARED);
	a->poll_offset = polled ? ARIES_DESC_POLL : 0;
	a->awake_offset = polled ? ARIES_DESC_AWAKE : 0;
	write64(ARIES_FMAD_CTL_N(uint64_t{a->fmad}),
		ARIES_FMAD_CTL_ENABLE_MASK | (polled ? ARIES_FMAD_CTL_POLL_MASK : 0) |
			(a->modes & GNI_CDM_MODE_CACHED_AMO_ENABLED ? ARIES_FMAD_CTL_CACHED_AMO_MASK : 0) |
			uint64_t{a->ptag} << 8 | uint64_t{a->owner} << 16 | translation(a->cookie));
	write64(ARIES_CE_INST_N(uint64_t{a->fmad}), a->inst_id | uint64_t{a->ptag} << 32 | ARIES_CE_INST_VALID_MASK);
	return 0;
}

/* Bits of FMAD_CTL. */
uint64_t Node::translation(uint32_t cookie) const
{
	auto range = ranges_.find(cookie);

	if (range == ranges_.end())
		return 0;
	return ARIES_FMAD_CTL_NTT_MASK | uint64_t{range->second.base} << 32 | uint64_t{range->second.size} << 48;
}

int Node::ntt(kgni_ntt *t)
{
	auto *entries = reinterpret_cast<const kgni_ntt_entry *>(t->entries); // NOLINT(performance-no-int-to-ptr)

	if (!(t->flags & KGNI_NTT_CHANGE)) {
		t->base = next_entry_;
		next_entry_ += t->count;
	}
	write32(ARIES_NTT_CONFIG, static_cast<uint32_t>(std::bit_width(t->granularity) - 1));
	for (uint32_t i = 0; i < t->count; i++) {
		write32(ARIES_NTT_REPLACE_N(uint64_t{t->base} + i), entries[i].replacement | entries[i].size << 18);
		write32(ARIES_NTT_ENTRY_N(uint64_t{t->base} + i), entries[i].block | ARIES_NTT_ENTRY_VALID_MASK);
	}
	return 0;
}

int Node::job_ntt(const kgni_job_ntt *j)
{
	ranges_[j->cookie] = *j;
	return 0;
}

unsigned char *Node::area(uint32_t fmad) const
{
	return desc_base_ + size_t{fmad} * ARIES_DESC_STRIDE;
}

void Node::doorbell(uint32_t fmad, uint64_t offset, uint64_t value)
{
	aries_nic_write(nic_, ARIES_BAR_FMA, uint64_t{fmad} * ARIES_FMA_STRIDE + ARIES_FMA_DOORBELL + offset, 8, value);
}

int Node::cq_create(uint32_t owner, kgni_cq_create *c)
{
	uint64_t log2 = std::max<uint64_t>(ARIES_CQ_LOG2_MIN, static_cast<uint64_t>(std::bit_width(c->entries)));
	uint64_t slots = uint64_t{1} << log2;
	uint32_t cq = next_cq_++;
	void *memory = alloc(ARIES_CQ_HEADER_BYTES + slots * 8);

	queues_[cq] = {owner, static_cast<uint32_t>(slots), static_cast<uint64_t *>(memory)};
	write64(ARIES_CQ_BASE_N(uint64_t{cq}), bus(memory));
	write64(ARIES_CQ_CTL_N(uint64_t{cq}),
		ARIES_CQ_CTL_VALID_MASK | (c->flags & KGNI_CQ_BLOCKING ? ARIES_CQ_CTL_IRQ_MASK : 0) | log2 << 8 |
			uint64_t{owner} << 16 | uint64_t{1} << 32 | uint64_t{c->delay} << 40);
	c->entries = static_cast<uint32_t>(slots);
	c->cq = cq;
	c->mmap_size = ARIES_CQ_HEADER_BYTES + slots * 8;
	return 0;
}

int Node::cq_destroy(uint32_t cq)
{
	if (!queues_.erase(cq))
		return -ENOENT;
	write64(ARIES_CQ_CTL_N(uint64_t{cq}), 0);
	return 0;
}

bool Node::has_entry(uint32_t cq) const
{
	const Queue &q = queues_.at(cq);
	uint64_t consumed = __atomic_load_n(q.memory, __ATOMIC_ACQUIRE);

	return __atomic_load_n(&q.memory[ARIES_CQ_HEADER_BYTES / 8 + consumed % q.slots], __ATOMIC_ACQUIRE) != 0;
}

int Node::cq_wait(kgni_cq_wait *w)
{
	auto *cqs = reinterpret_cast<const uint32_t *>(w->cqs); // NOLINT(performance-no-int-to-ptr)
	auto limit = std::chrono::milliseconds(std::min<uint64_t>(w->timeout_ms, 10000));
	auto end = std::chrono::steady_clock::now() + limit;

	for (;;) {
		std::unique_lock guard(mutex_);
		uint64_t seen = interrupts_;
		guard.unlock();
		for (uint32_t i = 0; i < w->count; i++)
			write32(ARIES_CQI_ARM, cqs[i]);
		for (uint32_t i = 0; i < w->count; i++) {
			if (has_entry(cqs[i])) {
				w->which = i;
				return 0;
			}
		}
		guard.lock();
		if (!interrupted_.wait_until(guard, end, [&] { return interrupts_ != seen; }))
			return -ETIMEDOUT;
	}
}

int Node::ce_alloc(uint32_t owner, kgni_ce_alloc *c)
{
	for (uint32_t n = 0; n < ARIES_CE_CHANNELS; n++) {
		if (!engines_.try_emplace(n, owner).second)
			continue;
		c->ce = n;
		return 0;
	}
	return -ENOSPC;
}

int Node::ce_config(uint32_t owner, uint8_t ptag, const kgni_ce_config *c)
{
	auto engine = engines_.find(c->ce);
	auto *children = reinterpret_cast<const kgni_ce_child *>(c->children); // NOLINT(performance-no-int-to-ptr)
	const uint64_t n = c->ce;

	if (engine == engines_.end() || engine->second != owner)
		return -ENOENT;
	if (c->cq != KGNI_NO_CQ && (!queues_.contains(c->cq) || queues_[c->cq].owner != owner))
		return -ENOENT;
	write64(ARIES_CE_CTL_N(n), 0);
	write64(ARIES_CE_PARENT_N(n), c->parent_pe | uint64_t{c->parent_ce} << 18 | uint64_t{c->parent_index} << 20 |
					      (c->flags & KGNI_CE_PARENT ? ARIES_CE_PARENT_VALID_MASK : 0));
	for (uint64_t i = 0; i < c->count; i++)
		write64(ARIES_CE_CHILD_N(n * ARIES_CE_CHILDREN + i),
			children[i].pe | uint64_t{children[i].ce} << 18 | uint64_t{children[i].kind} << 24 |
				(children[i].kind == KGNI_CE_ENDPOINT ? ARIES_CE_CHILD_INST_VALID_MASK : 0) |
				uint64_t{children[i].inst_id} << 32);
	uint64_t ctl = ARIES_CE_CTL_ENABLE_MASK | uint64_t{c->round} << 4 | uint64_t{c->route} << 6 |
		       uint64_t{ptag} << 8 | uint64_t{owner} << 16 | uint64_t{c->count} << 32;
	if (c->cq != KGNI_NO_CQ)
		ctl |= ARIES_CE_CTL_CQ_VALID_MASK | uint64_t{c->cq} << 40;
	if (c->flags & KGNI_CE_CQ_ONERR)
		ctl |= ARIES_CE_CTL_CQ_ONERR_MASK;
	write64(ARIES_CE_CTL_N(n), ctl);
	return aries_nic_read(nic_, 0, ARIES_CE_CTL_N(n), 8) & ARIES_CE_CTL_ENABLE_MASK ? 0 : -EIO;
}

int Node::ce_free(uint32_t owner, uint32_t ce)
{
	auto engine = engines_.find(ce);

	if (engine == engines_.end() || engine->second != owner)
		return -ENOENT;
	write64(ARIES_CE_CTL_N(uint64_t{ce}), 0);
	engines_.erase(engine);
	return 0;
}

bool Node::take_error(kgni_err_event *e)
{
	uint64_t word = aries_nic_read(nic_, 0, ARIES_ERR_EVENT, 8);

	if (!word)
		return false;
	e->code = static_cast<uint16_t>(word);
	e->category = static_cast<uint8_t>(word >> 16);
	e->ptag = static_cast<uint8_t>(word >> 24);
	e->time_ns = aries_nic_read(nic_, 0, ARIES_ERR_TIME, 8);
	for (uint64_t i = 0; i < ARIES_ERR_INFO_COUNT; i++)
		e->info[i] = aries_nic_read(nic_, 0, ARIES_ERR_INFO_N(i), 8);
	write32(ARIES_ERR_POP, ARIES_ERR_POP_POP_MASK);
	return true;
}

void Node::close(uint32_t owner, uint32_t fmad)
{
	write64(ARIES_FMAD_CTL_N(uint64_t{fmad}), 0);
	for (uint32_t n = 0; n < ARIES_CE_CHANNELS; n++)
		(void)ce_free(owner, n);
	write64(ARIES_CE_INST_N(uint64_t{fmad}), 0);
	std::erase_if(regions_, [&](const auto &r) {
		if (r.second.owner != owner)
			return false;
		write32(ARIES_INV_MDD, r.first);
		drain();
		return true;
	});
	std::erase_if(queues_, [&](const auto &q) {
		if (q.second.owner == owner)
			write64(ARIES_CQ_CTL_N(uint64_t{q.first}), 0);
		return q.second.owner == owner;
	});
}

} // namespace model
