// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "raw.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "failure.h"

namespace tools
{

namespace
{

constexpr size_t bell_size = 4096;

void *map(int fd, uint64_t offset, size_t size, const char *what)
{
	void *p = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(offset));
	if (p == MAP_FAILED)
		throw Failure(format("cannot map the %s: %s", what, errno_text(errno)));
	return p;
}

} // namespace

RawAttachment::RawAttachment(uint32_t device, uint32_t cookie)
{
	std::string path = format("/dev/kgni%u", device);
	fd_ = open(path.c_str(), O_RDWR | O_CLOEXEC);
	if (fd_ < 0)
		throw Failure(format("%s: %s", path.c_str(), errno_text(errno)));
	attach_.argsz = sizeof(attach_);
	attach_.abi_version = KGNI_ABI_VERSION;
	attach_.cookie = cookie;
	attach_.ptag = 255;
	if (ioctl(fd_, KGNI_IOC_ATTACH, &attach_) != 0) {
		int error = errno;
		close(fd_);
		throw Failure(format("attach to %s: %s", path.c_str(), errno_text(error)));
	}
	area_ = map(fd_, attach_.desc_offset, ARIES_DESC_STRIDE, "descriptor area");
	bell_ = map(fd_, attach_.doorbell_offset, bell_size, "doorbell page");
}

RawAttachment::~RawAttachment()
{
	if (queue_)
		munmap(queue_, queue_size_);
	if (bell_)
		munmap(bell_, bell_size);
	if (area_)
		munmap(area_, ARIES_DESC_STRIDE);
	close(fd_);
}

uint32_t RawAttachment::create_queue()
{
	kgni_cq_create create = {};
	create.argsz = sizeof(create);
	create.entries = 64;
	if (ioctl(fd_, KGNI_IOC_CQ_CREATE, &create) != 0)
		throw Failure(format("cannot make a queue: %s", errno_text(errno)));
	queue_size_ = create.mmap_size;
	queue_ = map(fd_, create.mmap_offset, queue_size_, "queue");
	slot_mask_ = create.entries - 1;
	read_ = 0;
	return create.cq;
}

bool RawAttachment::queue_empty() const
{
	const volatile uint64_t *all = slots();
	for (size_t n = 0; n < (queue_size_ - ARIES_CQ_HEADER_BYTES) / 8; n++)
		if (all[n])
			return false;
	return true;
}

uint32_t RawAttachment::register_memory(void *start, size_t bytes) const
{
	kgni_mem_register region = {};
	region.argsz = sizeof(region);
	region.address = reinterpret_cast<uintptr_t>(start);
	region.length = bytes;
	region.cq = KGNI_NO_CQ;
	if (ioctl(fd_, KGNI_IOC_MEM_REGISTER, &region) != 0)
		throw Failure(format("cannot register memory: %s", errno_text(errno)));
	return region.mdh;
}

void RawAttachment::fill_slot(const aries_bte_desc &slot)
{
	memcpy(static_cast<uint8_t *>(area_) + ARIES_DESC_BTE, &slot, sizeof(slot));
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

uint32_t RawAttachment::doorbell(const aries_fma_desc &desc, aries_fma_op op, uint32_t bytes, uint32_t events)
{
	auto *area = static_cast<uint8_t *>(area_);
	auto *status = reinterpret_cast<volatile aries_fma_status *>(area + ARIES_DESC_STATUS);
	uint32_t before = status->sequence;
	memcpy(area + ARIES_DESC_FMA, &desc, sizeof(desc));
	uint64_t value = static_cast<uint64_t>(bytes) << ARIES_DB_LEN_SHIFT |
			 static_cast<uint64_t>(op) << ARIES_DB_OP_SHIFT |
			 static_cast<uint64_t>(events) << ARIES_DB_MODE_SHIFT;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	*bell(ARIES_DB_FMA) = value;
	if (status->sequence == before)
		throw Failure("the NIC did not take the doorbell");
	return status->status;
}

int RawAttachment::try_map(uint64_t offset, size_t size) const
{
	void *p = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, static_cast<off_t>(offset));
	if (p == MAP_FAILED)
		return errno;
	munmap(p, size);
	return 0;
}

} // namespace tools
