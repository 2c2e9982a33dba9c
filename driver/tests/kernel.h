/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The part of the kernel that the datagram files use, for one thread in a process. Locks only check
 * that they are taken and given back, time stands still until somebody moves it, memory can be
 * made scarce.
 */
#ifndef SIM_KERNEL_H
#define SIM_KERNEL_H

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
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
typedef unsigned int __poll_t;
typedef __u16 __le16;
typedef __u32 __le32;
typedef __u64 __le64;

#define __iomem
#define __must_hold(x)
#define READ_ONCE(x) (x)
#define WRITE_ONCE(x, v) ((x) = (v))
#define barrier() __asm__ volatile("" ::: "memory")
#define BIT(n) (1ul << (n))
#define min(a, b) ((a) < (b) ? (a) : (b))
#define container_of(p, type, member) ((type *)((char *)(p) - offsetof(type, member)))
#define TASK_COMM_LEN 16
#define PAGE_SIZE 4096ul

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

/* memory and chance */
#define GFP_KERNEL 0
#define GFP_KERNEL_ACCOUNT 0
#define GFP_ATOMIC 0
#define __GFP_NOWARN 0
void *kzalloc(size_t size, int flags);
void kfree(const void *p);
u64 get_random_u64(void);

/* locks */
typedef struct {
	int held;
} spinlock_t;

static inline void spin_lock(spinlock_t *lock)
{
	assert(!lock->held);
	lock->held = 1;
}

static inline void spin_unlock(spinlock_t *lock)
{
	assert(lock->held);
	lock->held = 0;
}

#define lockdep_assert_held(lock) assert((lock)->held)

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

static inline void list_move_tail(struct list_head *entry, struct list_head *head)
{
	sim_list_unlink(entry);
	list_add_tail(entry, head);
}

static inline void list_splice_init(struct list_head *list, struct list_head *head)
{
	if (list_empty(list))
		return;
	list->prev->next = head->next;
	head->next->prev = list->prev;
	head->next = list->next;
	list->next->prev = head;
	INIT_LIST_HEAD(list);
}

#define list_entry container_of
#define list_first_entry(head, type, member) list_entry((head)->next, type, member)
#define list_next_entry(pos, member) list_entry((pos)->member.next, typeof(*(pos)), member)
#define list_for_each_entry(pos, head, member)                                            \
	for (pos = list_first_entry(head, typeof(*pos), member); &pos->member != (head);  \
	     pos = list_next_entry(pos, member))
#define list_for_each_entry_safe(pos, n, head, member)                                    \
	for (pos = list_first_entry(head, typeof(*pos), member),                          \
	    n = list_next_entry(pos, member);                                             \
	     &pos->member != (head); pos = n, n = list_next_entry(n, member))

/* hash tables, of lists */
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

/* xarray: small numbers */
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

#define xa_for_each(xa, index, entry)                                                     \
	for (index = 0; index < SIM_XA_SLOTS; index++)                                    \
		if (((entry) = (xa)->slot[index]))

/* nobody sleeps here */
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

struct seq_file;

/* nobody reads debugfs here; the kernel's u64 is another type, so the format is not checked */
static inline void seq_printf(struct seq_file *m, const char *format, ...)
{
	(void)m;
	(void)format;
}

struct delayed_work {
	int unused;
};

struct workqueue_struct;

#endif /* SIM_KERNEL_H */
