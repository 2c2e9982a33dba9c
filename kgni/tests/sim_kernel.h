/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Simulation of those kernel functions that kGNI uses and the driver's tests do not. It runs in a
 * single thread of a process.
 */
#ifndef KGNI_SIM_KERNEL_H
#define KGNI_SIM_KERNEL_H

#include <stdio.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "../../driver/tests/kernel.h"

#undef errno /* gni_errno_t has a member of that name */
#define ERESTARTSYS 512

#define IS_ENABLED(option) option
#define LINUX_VERSION_CODE KERNEL_VERSION(6, 1, 0)
#define KERNEL_VERSION(a, b, c) (((a) << 16) + ((b) << 8) + (c))

#define EXPORT_SYMBOL_GPL(name)
#define MODULE_DESCRIPTION(text)
#define MODULE_LICENSE(text)
#define MODULE_IMPORT_NS(name)
#define MODULE_DEVICE_TABLE(type, name)
#define THIS_MODULE NULL
#define __module_get(module) ((void)(module))
#define module_put(module) ((void)(module))
#define __init
#define __exit
#define module_init(f)      \
	int sim_init(void); \
	int sim_init(void)  \
	{                   \
		return f(); \
	}
#define module_exit(f)       \
	void sim_exit(void); \
	void sim_exit(void)  \
	{                    \
		f();         \
	}
#define likely(x) (x)
#define unlikely(x) (x)
#define BUILD_BUG_ON(x) _Static_assert(!(x), #x)
#define pr_debug(...) ((void)(0 && printf(__VA_ARGS__)))
#define pr_err_ratelimited(...) fprintf(stderr, __VA_ARGS__)
#define pr_warn_ratelimited(...) fprintf(stderr, __VA_ARGS__)
#define strscpy(to, from, size) ((void)snprintf(to, size, "%s", from))
#define scnprintf snprintf

/* warnings, and the context that a call is made in */
extern unsigned int sim_warned;
extern bool sim_atomic;
#define WARN_ONCE(condition, ...) ((condition) ? (sim_warned++, true) : false)
#define WARN_ON(condition) WARN_ONCE(condition)
#undef might_sleep
#define might_sleep() ((void)(sim_warned += sim_atomic))
#define lockdep_assert_held(lock) assert((lock)->held)

#define min_t(type, a, b) ((type)(a) < (type)(b) ? (type)(a) : (type)(b))
#define round_down(x, y) ((x) / (y) * (y))
#define ALIGN(x, y) (((x) + (y)-1) / (y) * (y))
#define DIV_ROUND_UP_ULL(x, y) (((x) + (y)-1) / (y))
#define GENMASK_ULL(high, low) (~0ull >> (63 - (high)) & ~0ull << (low))
#define hweight8(x) ((unsigned int)__builtin_popcount((u8)(x)))
#define __ffs(x) ((unsigned long)__builtin_ctzl(x))
#define U32_MAX UINT32_MAX
#define struct_size(p, member, count) (sizeof(*(p)) + sizeof((p)->member[0]) * (count))
#define cmpxchg(p, old, new) __sync_val_compare_and_swap(p, old, new)

#define kmalloc(size, flags) kzalloc(size, flags)
#undef kvzalloc
#undef kvfree
#define kvzalloc(size, flags) kzalloc(size, flags)
#define kvfree(p) kfree(p)
#define kcalloc(count, size, flags) kzalloc((count) * (size), flags)
u32 get_random_u32(void);

/* all processors share one set of per-CPU data; a test chooses the current processor */
extern unsigned int sim_processor;
#define raw_smp_processor_id() sim_processor
#define DEFINE_PER_CPU(type, name) type name
#define DEFINE_PER_CPU_ALIGNED(type, name) sim_line_t name
#define this_cpu_ptr(p) (p)
#define num_online_cpus() 2u
#define local_irq_save(flags) ((flags) = 0)
#define local_irq_restore(flags) ((void)(flags))
typedef u8 sim_line_t[2048];

#define spin_lock_irqsave(lock, flags) ((flags) = 0, spin_lock(lock))
#define spin_unlock_irqrestore(lock, flags) ((void)(flags), spin_unlock(lock))
#define DEFINE_MUTEX(name) struct mutex name
#define mutex_init(m) ((m)->held = 0)
#define mutex_lock(m) (assert(!(m)->held), (void)((m)->held = 1))
#define mutex_unlock(m) (assert((m)->held), (void)((m)->held = 0))

typedef struct {
	int counter;
} atomic_t;

#define atomic_inc(a) ((void)(a)->counter++)
#define atomic_read(a) ((a)->counter)

typedef struct {
	int64_t counter;
} atomic64_t;

#define atomic64_add(n, a) ((void)((a)->counter += (n)))
#define atomic64_read(a) ((a)->counter)

typedef struct {
	int refs;
} refcount_t;

#define refcount_set(r, n) ((void)((r)->refs = (n)))
#define refcount_read(r) ((r)->refs)
#define refcount_inc(r) (assert((r)->refs > 0), (void)(r)->refs++)
#define refcount_dec_and_test(r) (assert((r)->refs > 0), --(r)->refs == 0)

/* static keys are off unless a test sets them */
struct static_key_false {
	bool on;
};

#define DECLARE_STATIC_KEY_FALSE(name) extern struct static_key_false name
#define DEFINE_STATIC_KEY_FALSE(name) struct static_key_false name
#define static_branch_unlikely(key) ((key)->on)
#define static_branch_enable(key) ((void)((key)->on = true))
#define XA_FLAGS_LOCK_IRQ 0
#define DEFINE_XARRAY_FLAGS(name, flags) struct sim_handles name
#define xa_lock_irqsave(xa, flags) ((flags) = 0)
#define xa_unlock_irqrestore(xa, flags) ((void)(flags))
#undef xa_load
#define SIM_HANDLES 256

/* the table of handles, whose indexes may be large */
struct sim_handles {
	unsigned long index[SIM_HANDLES];
	void *entry[SIM_HANDLES];
};

void *sim_handle(struct sim_handles *h, unsigned long index, bool set, void *entry);
#define xa_load(xa, i) sim_handle(xa, i, false, NULL)
#define __xa_store(xa, i, e, flags) sim_handle(xa, i, true, e)
#define __xa_erase(xa, i) ((void)sim_handle(xa, i, true, NULL))

#define kvec iovec

/* timers and interrupts run when a test says so */
struct timer_list {
	void (*function)(struct timer_list *timer);
	bool pending;
	unsigned long expires;
	struct timer_list *next;
};

#define from_timer(var, timer, member) container_of(timer, typeof(*(var)), member)
#define timer_setup(t, f, flags) (*(t) = (struct timer_list){ .function = (f) })
int mod_timer(struct timer_list *timer, unsigned long expires);
int timer_reduce(struct timer_list *timer, unsigned long expires);
int del_timer(struct timer_list *timer);
bool sim_timers(void);

struct irq_work {
	void (*function)(struct irq_work *work);
	bool pending;
	struct irq_work *next;
};

#define init_irq_work(w, f) (*(w) = (struct irq_work){ .function = (f) })
void irq_work_queue(struct irq_work *work);
void irq_work_sync(struct irq_work *work);
bool sim_irqs(void);

/* work that was queued runs in process context, when time passes or when it is flushed */
#undef queue_work
#undef destroy_workqueue
#define WQ_UNBOUND 0
#define WQ_MEM_RECLAIM 0
#define alloc_workqueue(...) ((struct workqueue_struct *)kzalloc(sizeof(struct workqueue_struct), 0))
#define destroy_workqueue(wq) kfree(wq)
#define queue_work(wq, work) sim_queue_work(work)
#define work_pending(work) ((work)->pending)
#define flush_work(work) sim_flush_work(work)
void sim_queue_work(struct work_struct *work);
void sim_flush_work(struct work_struct *work);
void cancel_work_sync(struct work_struct *work);
bool sim_works(void);

/* the thread: 0 is the test, and 1 runs work */
struct task_struct {
	unsigned int number;
};

extern struct task_struct sim_task[2], *current;
#define cond_resched() ((void)0)

#define synchronize_rcu() ((void)0)
#define U64_MAX UINT64_MAX
#define schedule_timeout_interruptible(ticks) ((void)(ticks))
#define wait_event_interruptible(wq, condition) ((condition) ? 0 : -EINTR)
#undef wait_event
#define wait_event(wq, condition) assert(condition)
#undef wait_event_interruptible_timeout
#define wait_event_interruptible_timeout(wq, condition, timeout) ((void)(timeout))

struct auxiliary_device {
	struct device dev;
	void *data;
};

struct auxiliary_device_id {
	const char *name;
};

struct auxiliary_driver {
	const char *name;
	const struct auxiliary_device_id *id_table;
	int (*probe)(struct auxiliary_device *adev, const struct auxiliary_device_id *id);
	void (*remove)(struct auxiliary_device *adev);
};

#define auxiliary_set_drvdata(adev, p) ((void)((adev)->data = (p)))
#define auxiliary_get_drvdata(adev) ((adev)->data)
int auxiliary_driver_register(struct auxiliary_driver *driver);
void auxiliary_driver_unregister(struct auxiliary_driver *driver);

#endif
