// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* sys:: over the nodes: open files and the places that map() understands. */
#include "model_kernel.hpp"
#include "aries_hw.h"
#include "aries_regs.h"
#include "datagrams.hpp"
#include "kernel.hpp"
#include "model_node.hpp"
#include "share_place.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <unistd.h>

namespace model
{

namespace
{

constexpr uint64_t kAreaOffset = 0x10000;
constexpr uint64_t kDoorbellOffset = 0x20000;
constexpr uint64_t kQueueOffset = 0x1000000;
constexpr uint64_t kQueueStep = 0x1000;

struct File {
	Node *node;
	kgni_attach attach;
	uint64_t *page; /* stands for the doorbell page */
};

struct World {
	std::string fabric;
	std::map<uint32_t, std::unique_ptr<Node>> nodes;
	std::vector<std::unique_ptr<Node>> dead;
	std::map<int, File> files;
	std::map<uint32_t, uint8_t> tags; /* by cookie */
	fake::Datagrams datagrams;
	std::map<uint32_t, void *> shares; /* memory behind files of sys::share_*() */
	std::function<void(uint32_t)> on_doorbell;
	int next_fd = 100;
};

std::unique_ptr<World> world;

int call_file(int fd, File &f, unsigned long request, void *argument)
{
	switch (request) {
	case KGNI_IOC_QUERY: {
		auto *q = static_cast<kgni_query *>(argument);
		q->abi_version = KGNI_ABI_VERSION;
		q->device_type = GNI_DEVICE_ARIES;
		q->bte_queue = ARIES_BTE_QUEUE;
		q->caps = f.node->caps();
		return 0;
	}
	case KGNI_IOC_ATTACH: {
		auto *a = static_cast<kgni_attach *>(argument);
		int r = f.node->attach(a, world->tags);
		a->desc_offset = kAreaOffset;
		a->doorbell_offset = kDoorbellOffset;
		if (!r)
			f.attach = *a;
		return r;
	}
	case KGNI_IOC_CQ_CREATE: {
		auto *c = static_cast<kgni_cq_create *>(argument);
		int r = f.node->cq_create(f.attach.owner, c);
		c->mmap_offset = kQueueOffset + c->cq * kQueueStep;
		return r;
	}
	case KGNI_IOC_CQ_DESTROY:
		return f.node->cq_destroy(static_cast<kgni_cq_destroy *>(argument)->cq);
	case KGNI_IOC_CQ_WAIT:
		return f.node->cq_wait(static_cast<kgni_cq_wait *>(argument));
	case KGNI_IOC_MEM_REGISTER:
		return f.node->mem_register(f.attach.owner, f.attach.ptag, static_cast<kgni_mem_register *>(argument));
	case KGNI_IOC_NTT:
		return f.node->ntt(static_cast<kgni_ntt *>(argument));
	case KGNI_IOC_JOB:
		return f.node->job(static_cast<kgni_job *>(argument), world->tags);
	case KGNI_IOC_JOB_NTT:
		return f.node->job_ntt(static_cast<kgni_job_ntt *>(argument));
	case KGNI_IOC_MEM_SEGMENTS:
		return f.node->mem_segments(f.attach.owner, f.attach.ptag, static_cast<kgni_mem_segments *>(argument));
	case KGNI_IOC_MDD_BLOCK:
		return f.node->mdd_block(f.attach.ptag, static_cast<kgni_mdd_block *>(argument)->entries);
	case KGNI_IOC_MEM_UPDATE:
		return f.node->mem_update(static_cast<kgni_mem_update *>(argument));
	case KGNI_IOC_MEM_DEREGISTER:
		return f.node->mem_deregister(static_cast<kgni_mem_deregister *>(argument)->mdh);
	case KGNI_IOC_CE_ALLOC:
		return f.node->ce_alloc(f.attach.owner, static_cast<kgni_ce_alloc *>(argument));
	case KGNI_IOC_CE_CONFIG:
		return f.node->ce_config(f.attach.owner, f.attach.ptag, static_cast<kgni_ce_config *>(argument));
	case KGNI_IOC_CE_FREE:
		return f.node->ce_free(f.attach.owner, static_cast<kgni_ce_free *>(argument)->ce);
	case KGNI_IOC_ERR_SUBSCRIBE:
		return f.node->errors().subscribe(fd, static_cast<kgni_err_subscribe *>(argument), world->tags);
	case KGNI_IOC_ERR_READ:
		return f.node->errors().read(fd, static_cast<kgni_err_read *>(argument));
	case KGNI_IOC_ERR_CONTROL:
		return f.node->errors().control(fd, static_cast<kgni_err_control *>(argument));
	default:
		return -ENOTTY;
	}
}

} // namespace

void start(uint32_t nodes)
{
	static int count;

	own_share_place();
	world = std::make_unique<World>();
	world->fabric = "/dev/shm/ugni-test." + std::to_string(getpid()) + "." + std::to_string(count++);
	for (uint32_t n = 0; n < nodes; n++)
		world->nodes[n] = std::make_unique<Node>(world->fabric, n, nodes);
}

void stop()
{
	while (!world->files.empty())
		ugni::sys::close_device(world->files.begin()->first);
	world->nodes.clear();
	(void)unlink(world->fabric.c_str());
	world.reset();
}

unsigned char *memory(uint32_t node, size_t bytes, size_t skew)
{
	return world->nodes.at(node)->alloc(bytes + skew) + skew;
}

void allow(uint32_t cookie, uint8_t ptag)
{
	world->tags[cookie] = ptag;
}

void kill(uint32_t node)
{
	std::erase_if(world->files, [node](auto &f) {
		if (f.second.node != world->nodes.at(node).get())
			return false;
		free(f.second.page);
		return true;
	});
	world->nodes.at(node)->off();
	world->dead.push_back(std::move(world->nodes.at(node)));
	world->nodes.erase(node);
}

void fault(uint32_t node, const char *name, uint64_t value)
{
	world->nodes.at(node)->fault(name, value);
}

void hold(bool on)
{
	world->nodes.begin()->second->hold(on);
}

void on_doorbell(std::function<void(uint32_t)> what)
{
	world->on_doorbell = std::move(what);
}

bool polls()
{
	const char *kind = getenv("UGNI_TEST_DOORBELL"); // NOLINT(concurrency-mt-unsafe)

	return kind && !strcmp(kind, "polled");
}

uint64_t counter(uint32_t node, unsigned int which)
{
	return world->nodes.at(node)->counter(which);
}

} // namespace model

namespace ugni::sys
{

using model::world;

int open_device(uint32_t device)
{
	auto node = world->nodes.find(device);

	if (node == world->nodes.end())
		return -ENOENT;
	int fd = world->next_fd++;
	world->files[fd] = {node->second.get(), {}, static_cast<uint64_t *>(aligned_alloc(64, model::kPage))};
	return fd;
}

int call(int fd, unsigned long request, void *argument)
{
	auto f = world->files.find(fd);

	if (f == world->files.end())
		return -EBADF;
	if (fake::Datagrams::answers(request))
		return world->datagrams.call(fd, request, argument);
	int r = model::call_file(fd, f->second, request, argument);
	if (r == 0 && request == KGNI_IOC_ATTACH) {
		const kgni_attach &a = f->second.attach;
		world->datagrams.attach(fd, a.pe, a.inst_id, a.cookie, a.modes & GNI_CDM_MODE_FAST_DATAGRAM_POLL);
	}
	return r;
}

void *map(int fd, size_t bytes, bool readable, uint64_t offset)
{
	model::File &f = world->files.at(fd);

	(void)bytes;
	(void)readable;
	if (offset == model::kAreaOffset)
		return f.node->area(f.attach.fmad);
	if (offset == model::kDoorbellOffset)
		return f.page;
	return f.node->queue(static_cast<uint32_t>((offset - model::kQueueOffset) / model::kQueueStep));
}

void unmap(void *address, size_t bytes)
{
	(void)address;
	(void)bytes;
}

void close_device(int fd)
{
	auto f = world->files.find(fd);

	if (f == world->files.end())
		return;
	f->second.node->errors().close(fd);
	if (f->second.attach.fmad)
		f->second.node->close(f->second.attach.owner, f->second.attach.fmad);
	free(f->second.page);
	world->datagrams.detach(fd);
	world->files.erase(f);
}

/* The file holds the number of memory of the node, which all that map the file get. */
void *share_map(int fd, uint32_t device, size_t bytes)
{
	uint32_t number = 0;

	if (pread(fd, &number, sizeof(number), 0) != sizeof(number))
		return nullptr;
	if (!number) {
		number = static_cast<uint32_t>(world->shares.size()) + 1;
		if (pwrite(fd, &number, sizeof(number), 0) != sizeof(number))
			return nullptr;
		world->shares[number] = world->nodes.at(device)->alloc(bytes);
	}
	return world->shares.at(number);
}

void share_unmap(void *address, size_t bytes)
{
	(void)address;
	(void)bytes;
}

uint64_t now_ms()
{
	timespec ts = {};

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return static_cast<uint64_t>(ts.tv_sec) * 1000 + static_cast<uint64_t>(ts.tv_nsec) / 1000000;
}

} // namespace ugni::sys

extern "C" void ugni_mmio_store64(volatile uint64_t *address, uint64_t value)
{
	for (auto &[fd, f] : model::world->files) {
		auto at = reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(f.page);
		if (at < model::kPage) {
			if (model::world->on_doorbell)
				model::world->on_doorbell(f.node->number());
			f.node->doorbell(f.attach.fmad, at, value);
			return;
		}
	}
}
