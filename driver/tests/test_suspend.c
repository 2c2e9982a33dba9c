// SPDX-License-Identifier: GPL-2.0-only
/*
 * A NIC is removed while a job is suspended. The removal needs state_sem for writing, so it can
 * come whenever the call does not hold it; it is tried at each of these moments. From then on the
 * registers are unmapped, and nothing may read one.
 */
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "aries_sim.h"

/* the part of the kernel and of the driver's headers that this file alone uses */
#define ARIES_USER_H
#define ARIES_PTAG_H
#define CAP_SYS_ADMIN 21
#define capable(capability) true
#define ARIES_PTAG_ANY 0xff
#define mutex_lock(m) (assert(!(m)->held), (void)((m)->held = 1))
#define mutex_unlock(m) (assert((m)->held), (void)((m)->held = 0))
#define msleep_interruptible(ms) ((void)(ms), 0ul)
#define wait_event_killable_timeout(wq, condition, timeout) \
	((void)(wq), (void)(timeout), (condition) ? 1l : 0l)
#undef down_read
#undef up_read
#define down_read(sem) ((void)((sem)->unused++))
#define up_read(sem) released(sem)

static void *memchr_inv(const void *area, int byte, size_t size);
static void released(struct rw_semaphore *sem);
bool aries_suspend_wait(struct aries_owner *c);
int aries_suspend(struct aries_owner *c, struct kgni_suspend *arg);
struct aries_domain *aries_ptag_by_cookie(struct aries_dev *dev, u32 cookie);
void aries_ptag_hold(struct aries_domain *d);
int aries_owner_status(struct aries_owner *c);
void aries_domain_leave(struct aries_dev *dev, struct aries_domain *d);
u64 aries_fmad_transfers(struct aries_dev *dev, const struct aries_domain *d);
int aries_inv_look(struct aries_dev *dev, u64 seq);

#include "../user/aries_suspend.c"

#define MOMENTS 20

unsigned int sim_warnings;
unsigned long sim_steps;
unsigned long jiffies;

static struct aries_dev ad;
static struct aries_domain dom = { .ptag = 7, .cookie = 0x1234 };
static struct aries_owner own;
static unsigned int moment, removal_at; /* how often state_sem was released */

static void suspended(struct aries_owner *c, bool suspend)
{
	(void)c;
	(void)suspend;
}

static const struct aries_owner_ops ops = { .suspend = suspended };

static void *memchr_inv(const void *area, int byte, size_t size)
{
	const u8 *p = area;

	for (; size; size--, p++)
		if (*p != byte)
			return (void *)p;
	return NULL;
}

static void released(struct rw_semaphore *sem)
{
	assert_true(sem->unused > 0);
	if (!--sem->unused && ++moment == removal_at) {
		ad.state = ARIES_STATE_GONE;
		own.dead = true;
		own.dom = NULL;
	}
}

/* Registers are read with state_sem held, and not after a removal. */
static void reading(void)
{
	assert_true(ad.state_sem.unused > 0);
	assert_int_equal(ad.state, ARIES_STATE_UP);
}

u64 aries_inv_seq(struct aries_dev *dev)
{
	reading();
	return 5;
}

int aries_inv_look(struct aries_dev *dev, u64 seq)
{
	reading();
	/* accesses of peers end while the call waits for them */
	return moment < 6 ? -EAGAIN : 0;
}

u64 aries_fmad_transfers(struct aries_dev *dev, const struct aries_domain *d)
{
	reading();
	return 0;
}

void aries_recv_park(struct aries_owner *c)
{
	reading();
}

void aries_recv_unpark(struct aries_owner *c)
{
	reading();
}

int aries_owner_status(struct aries_owner *c)
{
	return c->dead ? -ENODEV : 0;
}

int aries_owner_enter(struct aries_owner *c, bool attached)
{
	if (c->dead)
		return -ENODEV;
	down_read(&ad.state_sem);
	mutex_lock(&c->lock);
	return 0;
}

void aries_owner_exit(struct aries_owner *c)
{
	mutex_unlock(&c->lock);
	up_read(&ad.state_sem);
}

struct aries_owner *aries_owner_next(struct aries_dev *dev, struct aries_owner *last)
{
	return last ? NULL : &own;
}

struct aries_domain *aries_ptag_by_cookie(struct aries_dev *dev, u32 cookie)
{
	return cookie == dom.cookie ? &dom : NULL;
}

void aries_ptag_hold(struct aries_domain *d)
{
}

void aries_domain_leave(struct aries_dev *dev, struct aries_domain *d)
{
	assert_true(dev->state_sem.unused > 0);
}

static int suspend_with_removal_at(unsigned int when)
{
	struct kgni_suspend arg = { .cookie = dom.cookie, .ptag = dom.ptag, .timeout_ms = 1000 };

	memset(&ad, 0, sizeof(ad));
	memset(&own, 0, sizeof(own));
	dom.suspended = false;
	own.ad = &ad;
	own.dom = &dom;
	own.ops = &ops;
	moment = 0;
	removal_at = when;
	return aries_suspend(&own, &arg);
}

static void nothing_is_removed(void **state)
{
	(void)state;
	assert_int_equal(suspend_with_removal_at(0), 0);
	assert_true(dom.suspended);
	assert_true(moment > 4 && moment < MOMENTS);
}

static void removed_at_each_moment(void **state)
{
	unsigned int when;

	(void)state;
	for (when = 1; when < MOMENTS; when++)
		suspend_with_removal_at(when);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_removed),
		cmocka_unit_test(removed_at_each_moment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
