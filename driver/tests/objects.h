/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For tests of driver/obj: its files use each other as they do in the kernel, and the structures are
 * the driver's own. What is simulated is the rest of the kernel that they need, and a NIC of which
 * the registers are memory, and which stops using what was revoked when a test says so.
 */
#ifndef SIM_OBJECTS_H
#define SIM_OBJECTS_H

#include <stdatomic.h>

#include "kernel.h"

#undef SIM_XA_SLOTS
#undef WARN_ON_ONCE
#undef lockdep_assert_held
#undef lockdep_assert_held_read
#undef down_read
#undef up_read
#undef dma_alloc_coherent

#define __rcu
#define ____cacheline_aligned
#define BITS_PER_LONG 64
#define U32_MAX UINT32_MAX
#define SZ_4K 4096
#define min_t(type, a, b) min((type)(a), (type)(b))
#define max_t(type, a, b) max((type)(a), (type)(b))
#define DIV_ROUND_UP(n, d) (((n) + (d) - 1) / (d))
#define PAGE_ALIGN(n) (DIV_ROUND_UP(n, PAGE_SIZE) * PAGE_SIZE)
#define is_power_of_2(n) ((n) && !((n) & ((n) - 1)))
#define ilog2(n) (63 - __builtin_clzll(n))
#define order_base_2(n) ((n) > 1 ? ilog2((n) - 1) + 1 : 0)
#define get_order(size) order_base_2(DIV_ROUND_UP(size, PAGE_SIZE))
#define __ffs64(n) ((unsigned int)__builtin_ctzll(n))
#define dma_wmb() barrier()
#define WARN_ON(condition) ({ bool sim_bad = (condition); sim_warnings += sim_bad; sim_bad; })
#define raw_smp_processor_id() 5u

extern unsigned int sim_warnings;

/* ---- locks: the first member of each counts who has it ---- */
#define lockdep_assert_held(lock) assert(*(const int *)(lock))
#define lockdep_assert_held_read(sem) assert((sem)->unused > 0)
#define down_read(sem) ((void)(sem)->unused++)
#define up_read(sem) (assert((sem)->unused > 0), (void)(sem)->unused--)
#define down_write(sem) (assert(!(sem)->unused), (void)((sem)->unused = -1))
#define up_write(sem) (assert((sem)->unused == -1), (void)((sem)->unused = 0))
#define mutex_init(m) ((void)((m)->held = 0))
#define mutex_lock(m) (assert(!(m)->held), (void)((m)->held = 1))
#define mutex_unlock(m) (assert((m)->held), (void)((m)->held = 0))

/* ---- references ---- */
struct kref {
	int count;
};

static inline void kref_init(struct kref *ref)
{
	ref->count = 1;
}

static inline void kref_get(struct kref *ref)
{
	assert(ref->count++ > 0);
}

static inline void kref_put(struct kref *ref, void (*release)(struct kref *ref))
{
	assert(ref->count > 0);
	if (!--ref->count)
		release(ref);
}

typedef int refcount_t;
#define refcount_set(r, n) ((void)(*(r) = (n)))
#define refcount_inc(r) (assert(*(r) > 0), (void)++*(r))
#define refcount_dec_and_test(r) (assert(*(r) > 0), !--*(r))

/* readers of RCU are done at once */
struct rcu_head {
	int unused;
};

#define kfree_rcu(p, member) kfree(p)
#define rcu_read_lock() ((void)0)
#define rcu_read_unlock() ((void)0)
#define rcu_dereference(p) (p)
#define rcu_assign_pointer(p, v) ((p) = (v))
#define RCU_INIT_POINTER(p, v) ((p) = (v))
#define synchronize_rcu() ((void)0)

/* ---- memory: allocations are counted, and fail if a test wants that ---- */
extern unsigned int sim_allocated; /* allocations that were not freed */
extern unsigned int sim_fail_in; /* this allocation from now on fails; 0: none */

void *sim_alloc(size_t size);
#define kcalloc(n, size, flags) sim_alloc((n) * (size))
#define kvcalloc(n, size, flags) sim_alloc((n) * (size))
#undef kvfree
#define kvfree kfree

#define u64_to_user_ptr(address) ((const void *)(uintptr_t)(address))

static inline void *vmemdup_user(const void *from, size_t size)
{
	void *copy = sim_alloc(size);

	return copy ? memcpy(copy, from, size) : ERR_PTR(-ENOMEM);
}

struct page;
#define virt_to_page(mem) ((struct page *)(mem))
#define page_address(page) ((void *)(page))

extern bool sim_privileged;
#define CAP_SYS_ADMIN 21
#define capable(capability) ((void)(capability), sim_privileged)

/* ---- bitmaps ---- */
#define DECLARE_BITMAP(name, bits) unsigned long name[DIV_ROUND_UP(bits, BITS_PER_LONG)]
#define bitmap_zalloc(bits, flags) sim_alloc(DIV_ROUND_UP(bits, BITS_PER_LONG) * sizeof(long))
#define bitmap_free kfree

static inline bool test_bit(unsigned long nr, const unsigned long *map)
{
	return map[nr / BITS_PER_LONG] >> nr % BITS_PER_LONG & 1;
}

static inline void set_bit(unsigned long nr, unsigned long *map)
{
	map[nr / BITS_PER_LONG] |= BIT(nr % BITS_PER_LONG);
}

static inline void clear_bit(unsigned long nr, unsigned long *map)
{
	map[nr / BITS_PER_LONG] &= ~BIT(nr % BITS_PER_LONG);
}

#define __set_bit set_bit
#define __clear_bit clear_bit

static inline bool __test_and_set_bit(unsigned long nr, unsigned long *map)
{
	bool was = test_bit(nr, map);

	set_bit(nr, map);
	return was;
}

static inline unsigned long sim_next_bit(const unsigned long *map, unsigned long size,
					 unsigned long from, bool value)
{
	while (from < size && test_bit(from, map) != value)
		from++;
	return min(from, size);
}

#define find_next_bit(map, size, from) sim_next_bit(map, size, from, true)
#define find_next_zero_bit(map, size, from) sim_next_bit(map, size, from, false)
#define find_first_zero_bit(map, size) sim_next_bit(map, size, 0, false)
#define for_each_set_bit(nr, map, size) \
	for ((nr) = find_next_bit(map, size, 0); (nr) < (size); (nr) = find_next_bit(map, size, (nr) + 1))
#define bitmap_empty(map, size) (find_next_bit(map, size, 0) == (size))

static inline void bitmap_set(unsigned long *map, unsigned long from, unsigned long count)
{
	while (count--)
		set_bit(from + count, map);
}

static inline void bitmap_clear(unsigned long *map, unsigned long from, unsigned long count)
{
	while (count--)
		clear_bit(from + count, map);
}

#define bitmap_zero(map, size) bitmap_clear(map, 0, size)

static inline unsigned int bitmap_weight(const unsigned long *map, unsigned long size)
{
	unsigned int sum = 0;

	while (size--)
		sum += test_bit(size, map);
	return sum;
}

static inline unsigned long bitmap_find_next_zero_area(const unsigned long *map, unsigned long size,
						       unsigned long from, unsigned int count,
						       unsigned long mask)
{
	assert(!mask);
	for (; from + count <= size; from++)
		if (sim_next_bit(map, from + count, from, true) == from + count)
			return from;
	return size;
}

/* ---- xarray: sixteen slots; a full one has no memory ---- */
#define SIM_XA_SLOTS 16
#define XA_FLAGS_ACCOUNT 0
#define xa_init_flags(xa, flags) xa_init(xa)

/* ---- buses ---- */
enum dma_data_direction { DMA_BIDIRECTIONAL, DMA_TO_DEVICE };

struct scatterlist {
	dma_addr_t address;
	unsigned int length;
};

struct sg_table {
	struct scatterlist *sgl;
	unsigned int nents;
};

struct sg_dma_page_iter {
	struct sg_table *sgt;
	unsigned int i;
	unsigned int at;
};

#define sg_dma_address(sg) ((sg)->address)
#define sg_dma_len(sg) ((sg)->length)
#define for_each_sgtable_dma_sg(sgt, sg, i) \
	for ((i) = 0, (sg) = (sgt)->sgl; (i) < (sgt)->nents; (i)++, (sg)++)
#define for_each_sgtable_dma_page(table, iter, first) \
	for (*(iter) = (struct sg_dma_page_iter){ .sgt = (table) }; sim_sg_more(iter); (iter)->at += PAGE_SIZE)
#define sg_page_iter_dma_address(iter) ((iter)->sgt->sgl[(iter)->i].address + (iter)->at)

static inline bool sim_sg_more(struct sg_dma_page_iter *iter)
{
	while (iter->i < iter->sgt->nents && iter->at >= iter->sgt->sgl[iter->i].length) {
		iter->at -= iter->sgt->sgl[iter->i].length;
		iter->i++;
	}
	return iter->i < iter->sgt->nents;
}

extern unsigned int sim_mapped; /* mappings for the NIC */
#define dma_map_sgtable(dev, sgt, dir, attrs) ((void)(dev), (void)(sgt), (void)(dir), sim_mapped++, 0)
#define dma_unmap_sgtable(dev, sgt, dir, attrs) ((void)(dev), (void)(sgt), (void)(dir), (void)sim_mapped--)
#define dma_map_page(dev, page, at, size, dir) ((void)(dev), sim_mapped++, (dma_addr_t)(uintptr_t)(page))
#define dma_unmap_page(dev, dma, size, dir) ((void)(dev), (void)(dma), (void)sim_mapped--)
#define dma_mapping_error(dev, dma) (!(dma))

static inline void *dma_alloc_coherent(struct device *dev, size_t size, dma_addr_t *dma, int flags)
{
	void *mem = sim_alloc(PAGE_ALIGN(size));

	(void)dev, (void)flags;
	*dma = (dma_addr_t)(uintptr_t)mem;
	return mem;
}

#undef dma_free_coherent
#define dma_free_coherent(dev, size, mem, dma) ((void)(dev), (void)(size), (void)(dma), kfree(mem))
#define get_device(dev) ((void)(dev))
#define put_device(dev) ((void)(dev))

/* ---- members of the driver's structures that no test looks at ---- */
struct cdev {
	int unused;
};

struct completion {
	int unused;
};

typedef struct {
	long value;
} atomic64_t;

typedef struct {
	int value;
} atomic_t;

struct dentry;
struct pci_saved_state;

/* ---- replaces aries_compat.h and aries_trace.h ---- */
#define ARIES_COMPAT_H
#define EXPORT_SYMBOL_ARIES(symbol) _Static_assert(1, #symbol)
#define ARIES_TRACE_H
#define trace_aries_cq_create(own, cq) ((void)(own), (void)(cq))
#define trace_aries_cq_destroy trace_aries_cq_create
#define trace_aries_cq_irq(id, cq) ((void)(id), (void)(cq))

/* ---- the NIC ---- */
struct aries_dev;
struct aries_owner;
struct sim_nic {
	struct pci_dev pdev;
	u8 registers[4 << 20];
	bool busy; /* it has not ended what it does with memory that was revoked */
	unsigned long room; /* pages that may be charged to the user */
	unsigned long charged;
	void (*written)(struct aries_dev *ad, u32 reg, u64 value);
};

extern struct sim_nic sim_nic;

struct aries_dev *sim_nic_begin(void);
int sim_nic_end(struct aries_dev *ad);
void sim_owner_begin(struct aries_dev *ad, struct aries_owner *own, u32 cookie);
void sim_owner_end(struct aries_owner *own);

#endif /* SIM_OBJECTS_H */
