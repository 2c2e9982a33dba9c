// SPDX-License-Identifier: GPL-2.0-only
/* The simulated kernel of sim_kernel.h: random numbers, memory, timers, interrupts. */
#include "sim_kernel.h"

#include "fabric.h"

unsigned long jiffies, sim_steps;
unsigned int sim_warned, sim_warnings;
bool sim_atomic;
unsigned int fabric_nomem;
struct task_struct sim_task[2], *current = sim_task;

static struct timer_list *timers;
static struct irq_work *irqs;
static struct work_struct *works[8]; /* those that were queued */
static u64 state;
static unsigned int memory;

u32 fabric_random(u32 below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 16) % below;
}

u32 get_random_u32(void)
{
	return fabric_random(~0u);
}

u64 get_random_u64(void)
{
	return fabric_random(~0u);
}

/* ---- memory ---- */

void *kzalloc(size_t size, int flags)
{
	(void)flags;
	if (fabric_nomem && !fabric_random(fabric_nomem))
		return NULL;
	memory++;
	return calloc(1, size);
}

void kfree(const void *p)
{
	if (p)
		memory--;
	free((void *)(uintptr_t)p);
}

unsigned int fabric_memory(void)
{
	return memory;
}

void *sim_handle(struct sim_handles *h, unsigned long index, bool set, void *entry)
{
	unsigned int i, place = SIM_HANDLES;

	for (i = 0; i < SIM_HANDLES; i++) {
		if (h->entry[i] && h->index[i] == index) {
			void *old = h->entry[i];

			if (set)
				h->entry[i] = entry;
			return old;
		}
		if (!h->entry[i])
			place = i;
	}
	if (set && entry) {
		assert(place < SIM_HANDLES);
		h->index[place] = index;
		h->entry[place] = entry;
	}
	return NULL;
}

void *xa_store(struct xarray *xa, unsigned long index, void *entry, int flags)
{
	(void)flags;
	xa->slot[index] = entry;
	return NULL;
}

void writeq(u64 value, void *at)
{
	*(u64 *)at = value;
}

/* ---- timers, interrupts and work ---- */

int del_timer(struct timer_list *timer)
{
	struct timer_list **p;

	if (!timer->pending)
		return 0;
	for (p = &timers; *p != timer; p = &(*p)->next)
		;
	*p = timer->next;
	timer->pending = false;
	return 1;
}

int mod_timer(struct timer_list *timer, unsigned long expires)
{
	int was = del_timer(timer);

	timer->expires = expires;
	timer->pending = true;
	timer->next = timers;
	timers = timer;
	return was;
}

int timer_reduce(struct timer_list *timer, unsigned long expires)
{
	if (timer->pending && !time_after(timer->expires, expires))
		return 1;
	return mod_timer(timer, expires);
}

bool sim_timers(void)
{
	struct timer_list *t;

	for (t = timers; t; t = t->next)
		if (!time_after(t->expires, jiffies)) {
			del_timer(t);
			sim_atomic = true;
			t->function(t);
			sim_atomic = false;
			return true;
		}
	return false;
}

void irq_work_queue(struct irq_work *work)
{
	if (work->pending)
		return;
	work->pending = true;
	work->next = irqs;
	irqs = work;
}

bool sim_irqs(void)
{
	struct irq_work *work = irqs;

	if (!work)
		return false;
	irqs = work->next;
	work->pending = false;
	sim_atomic = true;
	work->function(work);
	sim_atomic = false;
	return true;
}

void irq_work_sync(struct irq_work *work)
{
	while (work->pending)
		sim_irqs();
}

void sim_queue_work(struct work_struct *work)
{
	unsigned int i;

	if (work->pending)
		return;
	work->pending = true;
	for (i = 0; works[i]; i++)
		;
	assert(i < ARRAY_SIZE(works) - 1);
	works[i] = work;
}

void cancel_work_sync(struct work_struct *work)
{
	unsigned int i;

	if (!work->pending)
		return;
	work->pending = false;
	for (i = 0; works[i] != work; i++)
		;
	for (; works[i]; i++)
		works[i] = works[i + 1];
}

void sim_flush_work(struct work_struct *work)
{
	struct task_struct *was = current;

	if (!work->pending)
		return;
	cancel_work_sync(work);
	current = &sim_task[1];
	work->function(work);
	current = was;
}

bool sim_works(void)
{
	if (!works[0])
		return false;
	sim_flush_work(works[0]);
	return true;
}

void sim_begin(u64 seed)
{
	state = seed * 0x9e3779b97f4a7c15ull + 1;
	jiffies = 1000;
	timers = NULL;
	irqs = NULL;
	memset(works, 0, sizeof(works));
	fabric_nomem = 0;
}
