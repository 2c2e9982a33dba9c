/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The part of the kernel that the tested files use, simulated for one thread of a process. Locks
 * only check that they are taken and released, and that no long loop runs while one is held. Time
 * stands still until a test advances it, allocations can be made to fail, and work runs only when a
 * test lets it.
 */
#ifndef SIM_KERNEL_H
#define SIM_KERNEL_H

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include <asm/types.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef u64 dma_addr_t;
typedef u64 resource_size_t;
typedef u64 phys_addr_t;
typedef unsigned int __poll_t;
typedef unsigned int vm_fault_t;
typedef __u16 __le16;
typedef __u32 __le32;
typedef __u64 __le64;

#define __iomem
#define __must_hold(x)
#define READ_ONCE(x) (x)
#define likely(x) (x)
#define WRITE_ONCE(x, v) ((x) = (v))
#define barrier() __asm__ volatile("" ::: "memory")
#define BIT(n) (1ul << (n))
#define BIT_ULL(n) (1ull << (n))
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define clamp(x, low, high) min(max(x, low), high)
#define smp_load_acquire(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define smp_mb() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define smp_store_release(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#define wmb() barrier()
#define FIELD_PREP(mask, value) (((u64)(value) << __builtin_ctzll(mask)) & (mask))
#define FIELD_GET(mask, value) (((u64)(value) & (mask)) >> __builtin_ctzll(mask))
#define fls_long(x) ((x) ? 64u - (unsigned int)__builtin_clzl(x) : 0u)
#define container_of(p, type, member) ((type *)((char *)(p) - offsetof(type, member)))
#define TASK_COMM_LEN 16
#define PAGE_SIZE 4096ul
#define PAGE_SHIFT 12
#define cond_resched() ((void)0)

#define cpu_to_le16(x) ((__le16)(x))
#define cpu_to_le32(x) ((__le32)(x))
#define cpu_to_le64(x) ((__le64)(x))
#define le16_to_cpu(x) ((u16)(x))
#define le32_to_cpu(x) ((u32)(x))
#define le64_to_cpu(x) ((u64)(x))

/* time */
#define HZ 250
extern unsigned long jiffies;
#define time_after(a, b) ((long)((b) - (a)) < 0)
#define time_before(a, b) time_after(b, a)
#define time_after_eq(a, b) (!time_before(a, b))
#define MAX_SCHEDULE_TIMEOUT LONG_MAX
#define msecs_to_jiffies(ms) ((ms) * HZ / 1000)

/* memory and random numbers */
#define GFP_KERNEL 0
#define GFP_KERNEL_ACCOUNT 0
#define GFP_ATOMIC 0
#define __GFP_NOWARN 0
#define U16_MAX UINT16_MAX
#define WARN_ON_ONCE(condition) (condition)
#define ERR_PTR(error) ((void *)(long)(error))
#define PTR_ERR(p) ((long)(p))
#define IS_ERR(p) ((unsigned long)(p) >= -4095ul)
void *kzalloc(size_t size, int flags);
void kfree(const void *p);
#define kvzalloc(size, flags) calloc(1, size)
#define kvfree(p) free(p)
u64 get_random_u64(void);

/* locks, with a count of the list steps that are made while one is held */
#define SIM_STEPS_MAX 3000

typedef struct {
	int held;
} spinlock_t;

extern unsigned long sim_steps;

static inline bool sim_step(void)
{
	assert(sim_steps++ < SIM_STEPS_MAX);
	return true;
}

static inline void spin_lock_init(spinlock_t *lock)
{
	lock->held = 0;
}

static inline void spin_lock(spinlock_t *lock)
{
	assert(!lock->held);
	lock->held = 1;
	sim_steps = 0;
}

static inline void spin_unlock(spinlock_t *lock)
{
	assert(lock->held);
	lock->held = 0;
	sim_steps = 0;
}

#define spin_lock_irq spin_lock
#define spin_unlock_irq spin_unlock
#define spin_lock_irqsave(lock, flags) ((flags) = 0, spin_lock(lock))
#define spin_unlock_irqrestore(lock, flags) ((void)(flags), spin_unlock(lock))
#define lockdep_assert_held(lock) assert((lock)->held)
#define lockdep_assert_held_read(sem) ((void)(sem))

struct mutex {
	int held;
};

struct rw_semaphore {
	int unused;
};

#define down_read(sem) ((void)(sem))
#define up_read(sem) ((void)(sem))

/* lists */
struct list_head {
	struct list_head *next, *prev;
};

#define LIST_HEAD(name) struct list_head name = { &(name), &(name) }

static inline void INIT_LIST_HEAD(struct list_head *head)
{
	head->next = head;
	head->prev = head;
}

static inline int list_empty(const struct list_head *head)
{
	return head->next == head;
}

static inline void list_add_tail(struct list_head *entry, struct list_head *head)
{
	entry->prev = head->prev;
	entry->next = head;
	head->prev->next = entry;
	head->prev = entry;
}

static inline void sim_list_unlink(struct list_head *entry)
{
	sim_step();
	entry->prev->next = entry->next;
	entry->next->prev = entry->prev;
}

static inline void list_del(struct list_head *entry)
{
	sim_list_unlink(entry);
	entry->next = NULL;
	entry->prev = NULL;
}

static inline void list_del_init(struct list_head *entry)
{
	sim_list_unlink(entry);
	INIT_LIST_HEAD(entry);
}

static inline void list_move(struct list_head *entry, struct list_head *head)
{
	sim_list_unlink(entry);
	list_add_tail(entry, head->next); /* behind the head */
}

static inline void list_move_tail(struct list_head *entry, struct list_head *head)
{
	sim_list_unlink(entry);
	list_add_tail(entry, head);
}

static inline void list_splice_tail_init(struct list_head *list, struct list_head *head)
{
	if (list_empty(list))
		return;
	list->next->prev = head->prev;
	head->prev->next = list->next;
	head->prev = list->prev;
	list->prev->next = head;
	INIT_LIST_HEAD(list);
}

static inline void list_splice_init(struct list_head *list, struct list_head *head)
{
	list_splice_tail_init(list, head->next); /* behind the head */
}

#define list_entry container_of
#define list_first_entry(head, type, member) list_entry((head)->next, type, member)
#define list_first_entry_or_null(head, type, member) \
	(list_empty(head) ? NULL : list_first_entry(head, type, member))
#define list_next_entry(pos, member) list_entry((pos)->member.next, typeof(*(pos)), member)
#define list_for_each_entry(pos, head, member)                                            \
	for (pos = list_first_entry(head, typeof(*pos), member); &pos->member != (head) && sim_step();  \
	     pos = list_next_entry(pos, member))
#define list_for_each_entry_safe(pos, n, head, member)                                    \
	for (pos = list_first_entry(head, typeof(*pos), member),                          \
	    n = list_next_entry(pos, member);                                             \
	     &pos->member != (head) && sim_step(); pos = n, n = list_next_entry(n, member))

/* hash tables made of lists */
struct hlist_node {
	struct list_head list;
};

#define DECLARE_HASHTABLE(name, bits) struct list_head name[1 << (bits)]
#define SIM_HASH(table, key) (&(table)[(key) % (sizeof(table) / sizeof((table)[0]))])
#define hash_init(table)                                                                  \
	do {                                                                              \
		for (size_t sim = 0; sim < sizeof(table) / sizeof((table)[0]); sim++)     \
			INIT_LIST_HEAD(&(table)[sim]);                                    \
	} while (0)
#define hash_add(table, node, key) list_add_tail(&(node)->list, SIM_HASH(table, key))
#define hash_for_each_possible(table, pos, member, key)                                   \
	list_for_each_entry(pos, SIM_HASH(table, key), member.list)

static inline void hash_del(struct hlist_node *node)
{
	if (node->list.next)
		list_del(&node->list);
}

/* xarray, for small indices only */
#define SIM_XA_SLOTS 16

struct xarray {
	void *slot[SIM_XA_SLOTS];
};

void *xa_store(struct xarray *xa, unsigned long index, void *entry, int flags);

static inline void *xa_load(struct xarray *xa, unsigned long index)
{
	return index < SIM_XA_SLOTS ? xa->slot[index] : NULL;
}

static inline void xa_erase(struct xarray *xa, unsigned long index)
{
	xa->slot[index] = NULL;
}

static inline int xa_err(void *entry)
{
	return entry == (void *)-1 ? -ENOMEM : 0;
}

#define xa_init(xa) memset(xa, 0, sizeof(*(xa)))
#define xa_destroy(xa) ((void)(xa))
#define XA_PRESENT 0

static inline void *xa_find(struct xarray *xa, unsigned long *index, unsigned long last, int filter)
{
	(void)filter;
	for (; *index < SIM_XA_SLOTS && *index <= last; ++*index)
		if (xa->slot[*index])
			return xa->slot[*index];
	return NULL;
}

#define xa_for_each(xa, index, entry)                                                     \
	for (index = 0; index < SIM_XA_SLOTS; index++)                                    \
		if (((entry) = (xa)->slot[index]))

/* nothing sleeps here */
typedef struct {
	int unused;
} wait_queue_head_t;

#define init_waitqueue_head(wq) ((void)(wq))
#define wake_up_all(wq) ((void)(wq))
#define wait_event_interruptible_timeout(wq, condition, timeout)                          \
	((void)(wq), (void)(timeout), (condition) ? 1l : 0l)

struct file {
	void *private_data;
};

struct poll_table_struct;
#define poll_wait(file, wq, table) ((void)(file), (void)(wq), (void)(table))
#define EPOLLIN 0x01u
#define EPOLLERR 0x08u
#define EPOLLHUP 0x10u
#define EPOLLRDNORM 0x40u

static inline u32 jhash(const void *data, u32 bytes, u32 hash)
{
	const u8 *p = data;

	while (bytes--)
		hash = (hash ^ *p++) * 0x01000193u;
	return hash;
}

/* CRC-32 of IEEE 802.3, least significant bit first */
static inline u32 crc32_le(u32 crc, const void *data, size_t bytes)
{
	const u8 *p = data;
	int bit;

	while (bytes--) {
		crc ^= *p++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return crc;
}

struct seq_file;

/* debugfs is not read here; the format is not checked because the kernel's u64 is another type */
static inline void seq_printf(struct seq_file *m, const char *format, ...)
{
	(void)m;
	(void)format;
}

/* work: there is one queue, and expired work runs when a test lets a node run */
struct work_struct {
	void (*function)(struct work_struct *work);
	bool pending;
};

/* work without a delay runs when it is flushed */
#define INIT_WORK(w, f) (*(w) = (struct work_struct){ .function = (f) })
#define queue_work(wq, work) ((void)((work)->pending = true))

static inline void flush_work(struct work_struct *work)
{
	if (!work->pending)
		return;
	work->pending = false;
	work->function(work);
}

struct delayed_work {
	struct work_struct work;
	bool pending;
	unsigned long expires;
};

struct workqueue_struct {
	int unused;
};

#define INIT_DELAYED_WORK(w, f) (*(w) = (struct delayed_work){ .work.function = (f) })
#define to_delayed_work(w) container_of(w, struct delayed_work, work)
#define alloc_ordered_workqueue(...) calloc(1, sizeof(struct workqueue_struct))
#define destroy_workqueue(wq) free(wq)
#define cancel_delayed_work_sync(w) ((w)->pending = false)

static inline void mod_delayed_work(struct workqueue_struct *wq, struct delayed_work *work,
				    unsigned long delay)
{
	(void)wq;
	work->pending = true;
	work->expires = jiffies + delay;
}

static inline void queue_delayed_work(struct workqueue_struct *wq, struct delayed_work *work,
				      unsigned long delay)
{
	if (!work->pending)
		mod_delayed_work(wq, work, delay);
}

static inline void schedule_delayed_work(struct delayed_work *work, unsigned long delay)
{
	queue_delayed_work(NULL, work, delay);
}

/*
 * the bus: bus addresses are virtual addresses, and areas of the NIC except its doorbell are memory
 */
struct device {
	int unused;
};

struct pci_dev {
	struct device dev;
};

extern unsigned int sim_warnings;

#define dev_name(dev) ((void)(dev), "kgni0")
#define dev_warn(dev, ...) ((void)(dev), sim_warnings++)
#define dev_err dev_warn
#define pci_clear_master(pdev) ((void)(pdev))
#define dma_alloc_coherent(dev, size, dma, flags) \
	((void)(dev), sim_dma_alloc(size, dma))
#define dma_free_coherent(dev, size, mem, dma) ((void)(dev), (void)(size), (void)(dma), free(mem))
#define ioremap(phys, size) ((void)(size), (void *)(uintptr_t)(phys))
#define iounmap(mem) ((void)(mem))
#define memcpy_toio(to, from, bytes) memcpy(to, from, bytes)
#define memset_io(to, byte, bytes) memset(to, byte, bytes)
#define __raw_writeq(value, at) ((void)memcpy(at, &(u64){ value }, 8))
#define readl(at) (*(volatile u32 *)(at))
#define readq(at) (*(volatile u64 *)(at))
#define writel(value, at) (*(volatile u32 *)(at) = (value))
void writeq(u64 value, void *at);
#define lower_32_bits(x) ((u32)(x))
#define upper_32_bits(x) ((u32)((x) >> 32))
#define might_sleep() ((void)0)
#define usleep_range(low, high) ((void)(low), (void)(high), (void)jiffies++)
/* Nothing takes time here: sleeps are only counted. */
#define read_poll_timeout(op, val, cond, sleep_us, timeout_us, before, args...) ({ \
	unsigned long long left = (timeout_us); \
	while ((val) = op(args), !(cond) && left > (sleep_us)) \
		left -= (sleep_us); \
	(cond) ? 0 : -ETIMEDOUT; })
#define rwsem_is_contended(sem) ((void)(sem), false)
#define module_param(name, type, mode)
#define MODULE_PARM_DESC(name, text)

static inline void *sim_dma_alloc(size_t size, dma_addr_t *dma)
{
	size_t pages = (size + PAGE_SIZE - 1) / PAGE_SIZE;
	void *mem = memset(aligned_alloc(PAGE_SIZE, pages * PAGE_SIZE), 0, pages * PAGE_SIZE);

	*dma = (dma_addr_t)(uintptr_t)mem;
	return mem;
}

#endif /* SIM_KERNEL_H */
