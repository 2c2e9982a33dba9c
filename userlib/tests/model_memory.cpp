// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Memory domains of a node: tables of one level, made as the driver makes them. */
#include "aries_hw.h"
#include "model_node.hpp"

#include <cerrno>
#include <unistd.h>

namespace model
{

namespace
{

constexpr uint64_t kOffsetMask = (uint64_t{1} << 40) - 1;

struct Pages {
	uint64_t first;
	uint64_t count;
};

Pages pages_of(uint64_t address, uint64_t length)
{
	uint64_t first = address & ~uint64_t{kPage - 1};

	return {first, (address + length - first + kPage - 1) / kPage};
}

} // namespace

void Node::drain()
{
	while (aries_nic_read(nic_, 0, ARIES_INV_STATUS, 4))
		usleep(10);
}

int Node::new_region(uint32_t owner, uint8_t ptag, uint32_t flags, uint32_t cq, uint64_t base, uint64_t pages)
{
	uint32_t mdh = next_mdh_++;

	if (mdh >= ARIES_MDD_ENTRIES)
		return -ENOSPC;
	auto *table = reinterpret_cast<uint64_t *>(alloc(pages * 8));
	regions_[mdh] = {owner, ptag, flags, cq, base, pages, table, false};
	return static_cast<int>(mdh);
}

void Node::fill(uint32_t mdh, uint64_t from, uint64_t address, uint64_t count)
{
	const Region &r = regions_.at(mdh);
	uint64_t start = address - reinterpret_cast<uintptr_t>(ram_);

	for (uint64_t i = 0; i < count; i++)
		__atomic_store_n(&r.table[from + i],
				 (start + i * kPage) | ARIES_PTE_VALID |
					 (r.flags & KGNI_MEM_READ_ONLY ? 0 : ARIES_PTE_WRITE),
				 __ATOMIC_RELEASE);
}

void Node::publish(uint32_t mdh)
{
	Region &r = regions_.at(mdh);
	uint64_t ctl = ARIES_MDD_CTL_VALID_MASK | uint64_t{r.ptag} << 8 | uint64_t{12} << 16 | uint64_t{r.owner} << 40;

	if (r.flags & KGNI_MEM_READ_ONLY)
		ctl |= ARIES_MDD_CTL_READ_ONLY_MASK;
	if (r.cq != KGNI_NO_CQ)
		ctl |= ARIES_MDD_CTL_CQ_VALID_MASK | uint64_t{r.cq} << 24;
	write64(ARIES_MDD_BASE_N(uint64_t{mdh}), r.flags & KGNI_MEM_VMDH ? 0 : r.base & kOffsetMask);
	write64(ARIES_MDD_LENGTH_N(uint64_t{mdh}), r.pages * kPage);
	write64(ARIES_MDD_TABLE_N(uint64_t{mdh}), bus(r.table));
	write64(ARIES_MDD_CTL_N(uint64_t{mdh}), ctl);
	r.live = true;
}

/* Moves a region into the block. Return: its number there or -errno. */
int Node::to_place(int mdh, uint32_t *place)
{
	auto region = regions_.extract(static_cast<uint32_t>(mdh));

	if (*place == ~0U)
		for (*place = 0; regions_.contains(block_base_ + *place); ++*place)
			;
	if (*place >= block_size_)
		return -ENOENT;
	if (regions_.contains(block_base_ + *place))
		return -EBUSY;
	region.key() = block_base_ + *place;
	regions_.insert(std::move(region));
	return static_cast<int>(block_base_ + *place);
}

/* Of the limits the one that the NIC enforces. */
int Node::job(const kgni_job *j, const std::map<uint32_t, uint8_t> &tags)
{
	auto tag = tags.find(j->cookie);

	if (tag != tags.end() && (j->flags & KGNI_JOB_LIMITS) && j->limit_bte >= 0)
		write32(ARIES_PTAG_BTE_N(uint64_t{tag->second}),
			ARIES_PTAG_BTE_LIMITED_MASK | static_cast<uint32_t>(j->limit_bte));
	return 0;
}

int Node::mem_register(uint32_t owner, uint8_t ptag, kgni_mem_register *m)
{
	Pages p = pages_of(m->address, m->length);
	bool reserve = m->flags & KGNI_MEM_RESERVE;

	if (!reserve && !owns(p.first, p.count * kPage))
		return -EFAULT;
	int mdh = new_region(owner, ptag, m->flags, m->cq, p.first, p.count);
	if (mdh < 0)
		return mdh;
	if (m->flags & KGNI_MEM_VMDH) {
		mdh = to_place(mdh, &m->vmdh);
		if (mdh < 0)
			return mdh;
	}
	m->mdh = static_cast<uint32_t>(mdh);
	m->base = p.first;
	m->pages = p.count;
	m->page_shift = 12;
	if (reserve)
		return 0;
	fill(m->mdh, 0, p.first, p.count);
	publish(m->mdh);
	return 0;
}

int Node::mem_segments(uint32_t owner, uint8_t ptag, kgni_mem_segments *m)
{
	auto *segments = reinterpret_cast<const kgni_mem_segment *>(m->segments); // NOLINT(performance-no-int-to-ptr)
	uint64_t pages = 0;

	for (uint32_t i = 0; i < m->count; i++) {
		if (!segments[i].length)
			return -EINVAL;
		Pages p = pages_of(segments[i].address, segments[i].length);
		if (!owns(p.first, p.count * kPage))
			return -EFAULT;
		pages += p.count;
	}
	int mdh = new_region(owner, ptag, m->flags, m->cq, 0, pages);
	if (mdh < 0)
		return mdh;
	if (m->flags & KGNI_MEM_VMDH) {
		mdh = to_place(mdh, &m->vmdh);
		if (mdh < 0)
			return mdh;
	}
	m->mdh = static_cast<uint32_t>(mdh);
	m->page_shift = 12;
	m->pages = 0;
	for (uint32_t i = 0; i < m->count; i++) {
		Pages p = pages_of(segments[i].address, segments[i].length);
		fill(m->mdh, m->pages, p.first, p.count);
		m->pages += p.count;
	}
	publish(m->mdh);
	return 0;
}

int Node::mem_update(kgni_mem_update *m)
{
	auto found = regions_.find(m->mdh);
	if (found == regions_.end())
		return -ENOENT;
	const Region &r = found->second;
	Pages p = pages_of(m->address, m->length);
	if (!(r.flags & KGNI_MEM_RESERVE) || p.first < r.base || p.first + p.count * kPage > r.base + r.pages * kPage)
		return -EINVAL;
	if (!owns(p.first, p.count * kPage))
		return -EFAULT;
	fill(m->mdh, (p.first - r.base) / kPage, p.first, p.count);
	if (!r.live)
		publish(m->mdh);
	return 0;
}

int Node::mdd_block(uint8_t ptag, uint32_t entries)
{
	if (block_size_)
		return -EBUSY;
	block_base_ = 2000 + number_ * 100; /* each node's elsewhere */
	block_size_ = entries;
	write64(ARIES_VMDH_CTL_N(0), ARIES_VMDH_CTL_VALID_MASK | uint64_t{ptag} << 8 | uint64_t{block_base_} << 16 |
					     uint64_t{entries} << 32);
	return 0;
}

int Node::mem_deregister(uint32_t mdh)
{
	if (!regions_.erase(mdh))
		return -ENOENT;
	write32(ARIES_INV_MDD, mdh);
	drain();
	return 0;
}

} // namespace model
