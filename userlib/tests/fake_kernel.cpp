// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "fake_kernel.hpp"
#include "kernel.hpp"
#include "share_place.hpp"

#include <bit>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>

namespace fake
{

namespace
{

std::unique_ptr<Kernel> instance = std::make_unique<Kernel>();

/* Places that map() understands. */
constexpr uint64_t kAreaOffset = 0x10000;
constexpr uint64_t kDoorbellOffset = 0x20000;
constexpr uint64_t kQueueOffset = 0x1000000;

int query(kgni_query *q)
{
	q->abi_version = kernel().abi_version;
	q->driver_version = 0x5c0001;
	q->device_type = GNI_DEVICE_ARIES;
	q->pe = 5;
	q->nodes = 8;
	q->cpu = 2;
	q->bte_queue = kernel().bte_queue;
	q->caps = kernel().caps;
	strcpy(q->build, "fake driver");
	return 0;
}

int attach(File &f, kgni_attach *a)
{
	if (a->abi_version != kernel().abi_version)
		return -EPROTO;
	f.attached = true;
	a->pe = 5;
	a->owner = 9;
	if (a->ptag == GNI_FIND_ALLOC_PTAG)
		a->ptag = 33;
	a->fmad = 1;
	a->desc_offset = kAreaOffset;
	a->doorbell_offset = kDoorbellOffset;
	f.attach = *a;
	return 0;
}

int cq_create(File &f, kgni_cq_create *c)
{
	auto q = std::make_unique<Queue>();

	q->slots = std::bit_ceil(c->entries + 1);
	q->memory.assign(ARIES_CQ_HEADER_BYTES / 8 + q->slots, 0);
	c->entries = q->slots;
	c->cq = kernel().next_cq++;
	c->mmap_offset = kQueueOffset + c->cq * 0x100000ULL;
	c->mmap_size = q->memory.size() * 8;
	f.queues[c->cq] = std::move(q);
	return 0;
}

int mem_register(File &f, kgni_mem_register *m)
{
	m->mdh = kernel().next_mdh++;
	m->page_shift = 12;
	m->base = m->address & ~uint64_t{4095};
	m->pages = (m->address + m->length + 4095 - m->base) >> 12;
	f.registrations[m->mdh] = *m;
	return 0;
}

int ce_alloc(File &f, kgni_ce_alloc *c)
{
	for (uint32_t n = 0; n < 4; n++) {
		if (f.engines.contains(n))
			continue;
		f.engines[n] = {};
		c->ce = n;
		return 0;
	}
	return -ENOSPC;
}

int ce_config(File &f, const kgni_ce_config *c)
{
	auto found = f.engines.find(c->ce);

	if (found == f.engines.end())
		return -ENOENT;
	auto *children = reinterpret_cast<const kgni_ce_child *>(c->children); // NOLINT(performance-no-int-to-ptr)
	found->second = {*c, {children, children + c->count}};
	return 0;
}

int err_read(kgni_err_read *r)
{
	auto *out = reinterpret_cast<kgni_err_event *>(r->events); // NOLINT(performance-no-int-to-ptr)
	auto &events = kernel().error_events;
	uint32_t n = 0;

	kernel().error_reads.push_back(*r);
	for (; n < r->count && !events.empty(); n++) {
		out[n] = events.front();
		events.pop_front();
	}
	r->count = n;
	return n ? 0 : r->timeout_ms ? -EINTR : -EAGAIN;
}

int err_control(kgni_err_control *c)
{
	kgni_err_control before = kernel().filter;

	if (c->flags & KGNI_ERR_SET_MASK)
		kernel().filter.mask = c->mask;
	if (c->flags & KGNI_ERR_SET_PTAG)
		kernel().filter.ptag = c->ptag;
	*c = before;
	return 0;
}

int call_file(File &f, unsigned long request, void *argument)
{
	switch (request) {
	case KGNI_IOC_QUERY:
		return query(static_cast<kgni_query *>(argument));
	case KGNI_IOC_ATTACH:
		return attach(f, static_cast<kgni_attach *>(argument));
	case KGNI_IOC_CQ_CREATE:
		return cq_create(f, static_cast<kgni_cq_create *>(argument));
	case KGNI_IOC_CQ_DESTROY: {
		auto found = f.queues.find(static_cast<kgni_cq_destroy *>(argument)->cq);
		if (found == f.queues.end())
			return -ENOENT;
		f.queues.erase(found);
		return 0;
	}
	case KGNI_IOC_CQ_WAIT: {
		auto *w = static_cast<kgni_cq_wait *>(argument);
		kernel().waits.push_back(*w);
		return kernel().on_wait ? kernel().on_wait(*w) : -ETIMEDOUT;
	}
	case KGNI_IOC_MEM_REGISTER:
		return mem_register(f, static_cast<kgni_mem_register *>(argument));
	case KGNI_IOC_MEM_SEGMENTS: {
		auto *m = static_cast<kgni_mem_segments *>(argument);
		auto *segments =
			reinterpret_cast<const kgni_mem_segment *>(m->segments); // NOLINT(performance-no-int-to-ptr)
		m->mdh = kernel().next_mdh++;
		m->page_shift = 12;
		for (uint32_t i = 0; i < m->count; i++)
			m->pages += (segments[i].length + 4095) >> 12;
		f.registrations[m->mdh] = {};
		return 0;
	}
	case KGNI_IOC_MEM_UPDATE:
		kernel().updates.push_back(*static_cast<kgni_mem_update *>(argument));
		return 0;
	case KGNI_IOC_MEM_DEREGISTER:
		return f.registrations.erase(static_cast<kgni_mem_deregister *>(argument)->mdh) ? 0 : -ENOENT;
	case KGNI_IOC_JOB:
		kernel().jobs.push_back(*static_cast<kgni_job *>(argument));
		return 0;
	case KGNI_IOC_NTT: {
		auto *t = static_cast<kgni_ntt *>(argument);
		auto *e = reinterpret_cast<const kgni_ntt_entry *>(t->entries); // NOLINT(performance-no-int-to-ptr)
		kernel().tables.push_back(*t);
		if (e)
			kernel().entries.assign(e, e + t->count);
		if (!t->flags)
			t->base = 64;
		return 0;
	}
	case KGNI_IOC_NTT_INFO:
		static_cast<kgni_ntt_info *>(argument)->granularity = 4;
		return 0;
	case KGNI_IOC_JOB_NTT:
		kernel().ranges.push_back(*static_cast<kgni_job_ntt *>(argument));
		return 0;
	case KGNI_IOC_BI: {
		auto *b = static_cast<kgni_bi *>(argument);
		if (b->flags & KGNI_BI_SET) {
			kernel().injection.current_bw = b->bw;
			kernel().injection.current_aot_bw = b->aot_bw;
			kernel().injection.current_norbs = 7;
			kernel().injection.current_modes = b->modes;
			kernel().injection.sequence++;
		}
		b->current_bw = kernel().injection.current_bw;
		b->current_aot_bw = kernel().injection.current_aot_bw;
		b->current_norbs = kernel().injection.current_norbs;
		b->current_modes = kernel().injection.current_modes;
		b->sequence = kernel().injection.sequence;
		return 0;
	}
	case KGNI_IOC_PTAG:
		static_cast<kgni_ptag *>(argument)->ptag = 33;
		return 0;
	case KGNI_IOC_RES: {
		auto *r = static_cast<kgni_res *>(argument);
		r->total = 100;
		r->used = 10;
		r->reserved_units = 3;
		r->held = 2;
		return 0;
	}
	case KGNI_IOC_CE_ALLOC:
		return ce_alloc(f, static_cast<kgni_ce_alloc *>(argument));
	case KGNI_IOC_CE_CONFIG:
		return ce_config(f, static_cast<kgni_ce_config *>(argument));
	case KGNI_IOC_CE_FREE:
		return f.engines.erase(static_cast<kgni_ce_free *>(argument)->ce) ? 0 : -ENOENT;
	case KGNI_IOC_SUSPEND:
		kernel().suspends.push_back(*static_cast<kgni_suspend *>(argument));
		return 0;
	case KGNI_IOC_ERR_SUBSCRIBE:
		kernel().subscriptions.push_back(*static_cast<kgni_err_subscribe *>(argument));
		kernel().filter.mask = kernel().subscriptions.back().mask;
		return 0;
	case KGNI_IOC_ERR_READ:
		return err_read(static_cast<kgni_err_read *>(argument));
	case KGNI_IOC_ERR_CONTROL:
		return err_control(static_cast<kgni_err_control *>(argument));
	default:
		return -ENOTTY;
	}
}

/* A sleep that finds the time up does so early, as a kernel may whose clock ticks. */
int datagram_call(int fd, unsigned long request, void *argument)
{
	constexpr uint64_t kEarly = 3;
	const int r = kernel().datagrams.call(fd, request, argument);

	if (r == -ETIMEDOUT) {
		const uint64_t slept = request == KGNI_IOC_DGRAM_TEST
					       ? static_cast<kgni_dgram_test *>(argument)->timeout_ms
					       : static_cast<kgni_dgram_probe *>(argument)->timeout_ms;
		kernel().clock_ms += slept > kEarly ? slept - kEarly : slept;
	}
	return r;
}

int call(int fd, File &f, unsigned long request, void *argument)
{
	if (Datagrams::answers(request))
		return datagram_call(fd, request, argument);
	int r = call_file(f, request, argument);
	if (r == 0 && request == KGNI_IOC_ATTACH)
		kernel().datagrams.attach(fd, 5, f.attach.inst_id, f.attach.cookie,
					  f.attach.modes & GNI_CDM_MODE_FAST_DATAGRAM_POLL);
	return r;
}

} // namespace

Kernel &kernel()
{
	return *instance;
}

void reset()
{
	own_share_place();
	instance = std::make_unique<Kernel>();
}

void Queue::put(uint64_t e)
{
	memory[ARIES_CQ_HEADER_BYTES / 8 + produced++ % slots] = e;
}

uint64_t entry(uint32_t tid, uint32_t info, uint32_t data, uint32_t status, uint32_t source)
{
	return data | static_cast<uint64_t>(tid) << ARIES_CQE_TID_SHIFT |
	       static_cast<uint64_t>(status) << ARIES_CQE_STATUS_SHIFT |
	       static_cast<uint64_t>(info) << ARIES_CQE_INFO_SHIFT |
	       static_cast<uint64_t>(source) << ARIES_CQE_SOURCE_SHIFT;
}

void complete(File &file, const Doorbell &d, uint32_t status)
{
	bool bte = d.offset == ARIES_DB_BTE;
	const aries_bte_desc &slot = file.bte(static_cast<unsigned>(d.value & ARIES_DB_SLOT_MASK));
	uint32_t mode = bte ? slot.mode : d.mode();
	uint32_t tid = bte ? slot.tid : d.tid();
	uint32_t source = bte ? ARIES_SRC_BTE : ARIES_SRC_FMA;
	uint32_t cq = bte ? slot.cq : file.fma().cq;
	uint32_t data = bte ? slot.local_event : file.fma().local_event;

	uint64_t type = static_cast<uint64_t>((mode & ARIES_EV_TYPE_MASK) >> ARIES_EV_TYPE_SHIFT)
			<< ARIES_CQE_TYPE_SHIFT;

	file.status().sequence++;
	file.status().status = status;
	if (mode & ARIES_EV_LOCAL)
		file.queues.at(cq)->put(type | entry(tid, ARIES_INFO_LOCAL, data, status, source));
	if (mode & ARIES_EV_GLOBAL)
		file.queues.at(cq)->put(type | entry(tid, ARIES_INFO_GLOBAL, data, status, source));
}

} // namespace fake

namespace ugni::sys
{

using fake::kernel;

int open_device(uint32_t device)
{
	if (kernel().open_error)
		return kernel().open_error;
	if (device >= kernel().devices)
		return -ENOENT;
	int fd = kernel().next_fd++;
	kernel().files[fd] = std::make_unique<fake::File>();
	return fd;
}

int call(int fd, unsigned long request, void *argument)
{
	kernel().calls++;
	if (auto next = kernel().once.extract(request))
		return next.mapped();
	auto error = kernel().errors.find(request);
	if (error != kernel().errors.end())
		return error->second;
	auto file = kernel().files.find(fd);
	return file == kernel().files.end() ? -EBADF : fake::call(fd, *file->second, request, argument);
}

void *map(int fd, size_t bytes, bool readable, uint64_t offset)
{
	fake::File &f = *kernel().files.at(fd);

	(void)readable;
	kernel().calls++;
	if (offset == fake::kAreaOffset && bytes == sizeof(f.area))
		return f.area;
	if (offset == fake::kDoorbellOffset && bytes == sizeof(f.doorbell))
		return f.doorbell;
	for (auto &[number, q] : f.queues) {
		if (offset == fake::kQueueOffset + number * 0x100000ULL && bytes == q->memory.size() * 8)
			return q->memory.data();
	}
	return nullptr;
}

void unmap(void *address, size_t bytes)
{
	(void)address;
	(void)bytes;
}

void close_device(int fd)
{
	kernel().datagrams.detach(fd);
	kernel().files.erase(fd);
}

void *share_map(int fd, uint32_t device, size_t bytes)
{
	(void)device;
	void *p = kernel().no_share ? MAP_FAILED : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return p == MAP_FAILED ? nullptr : p;
}

void share_unmap(void *address, size_t bytes)
{
	(void)munmap(address, bytes);
}

uint64_t now_ms()
{
	return kernel().clock_ms;
}

} // namespace ugni::sys

extern "C" void ugni_mmio_store64(volatile uint64_t *address, uint64_t value)
{
	for (auto &[fd, file] : fake::kernel().files) {
		auto at = reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(file->doorbell);
		if (at >= sizeof(file->doorbell))
			continue;
		fake::Doorbell d{fd, static_cast<uint32_t>(at), value};
		fake::kernel().doorbells.push_back(d);
		if (fake::kernel().on_doorbell)
			fake::kernel().on_doorbell(*file, d);
		return;
	}
	__builtin_trap();
}
