// SPDX-License-Identifier: GPL-2.0-only
/*
 * Receives of a job that is resumed while a sender is still writing to one of them. The NIC refuses
 * to take that receive, and the driver posts it as soon as that is possible, without any request.
 */
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "aries_sim.h"

#define LOOKS 20 /* times that the work runs while the sender is writing */
#define BUFFER 0x10000ul

unsigned int sim_warnings;
unsigned long sim_steps;
unsigned long jiffies;

/*
 * State of receive 0 in the NIC, and whether a sender is writing, in which case the NIC refuses it.
 */
static u64 control;
static bool sender;

static struct aries_domain dom = { .ptag = 7 };
static struct aries_region mem = { .mdh = 5, .live = true, .start = BUFFER, .npages = 1 };
static struct aries_dev ad;
static struct aries_owner own;

u32 aries_rd32(struct aries_dev *dev, u32 reg)
{
	return 0;
}

u64 aries_rd64(struct aries_dev *dev, u32 reg)
{
	return reg == ARIES_RMT_CTL_N(0) ? control : 0;
}

void aries_wr32(struct aries_dev *dev, u32 reg, u32 value)
{
}

void aries_wr64(struct aries_dev *dev, u32 reg, u64 value)
{
	if (reg == ARIES_RMT_CTL_N(0) && !(sender && value & ARIES_RMT_CTL_VALID_MASK))
		control = value;
}

void *kzalloc(size_t size, int flags)
{
	return calloc(1, size);
}

void kfree(const void *p)
{
	free((void *)p);
}

int aries_owner_enter(struct aries_owner *c, bool attached)
{
	assert_false(c->lock.held);
	c->lock.held = 1;
	return 0;
}

void aries_owner_exit(struct aries_owner *c)
{
	c->lock.held = 0;
}

struct aries_owner *aries_owner_next(struct aries_dev *dev, struct aries_owner *last)
{
	return last ? NULL : &own;
}

u64 aries_inv_seq(struct aries_dev *dev)
{
	return 1;
}

int aries_inv_sleep(struct aries_dev *dev, u64 seq)
{
	return 0;
}

int aries_ntt_virtual(struct aries_dev *dev, const struct aries_domain *d, u32 node, u32 *pe)
{
	*pe = node;
	return 0;
}

struct aries_cq *aries_cq_find(struct aries_owner *c, u32 nr)
{
	return NULL;
}

int aries_pool_get(struct aries_pool *pool, u16 owner)
{
	return (int)pool->used++;
}

void aries_pool_put(struct aries_pool *pool, unsigned int nr, u16 owner)
{
	pool->used--;
}

void aries_pool_hold(struct aries_pool *pool, unsigned int nr, u16 owner)
{
}

void aries_pool_put_held(struct aries_pool *pool, unsigned int nr)
{
	pool->used--;
}

int aries_domain_charge(struct aries_dev *dev, struct aries_domain *d, enum aries_res res,
			unsigned int count)
{
	return 0;
}

void aries_domain_uncharge(struct aries_dev *dev, struct aries_domain *d, enum aries_res res,
			   unsigned int count)
{
}

void aries_kept_take(struct aries_owner *c, struct list_head *gone, struct aries_kept *kept,
		      void (*release)(struct aries_dev *dev, struct aries_kept *kept))
{
	release(&ad, kept);
}

static void suspend(bool on)
{
	assert_int_equal(aries_owner_enter(&own, true), 0);
	own.suspended = on;
	if (on)
		aries_recv_park(&own);
	else
		aries_recv_unpark(&own);
	aries_owner_exit(&own);
}

/* Runs the delayed work, which must be pending. */
static void work(void)
{
	assert_true(ad.recv_work.pending);
	assert_true(time_after(ad.recv_work.expires, jiffies)); /* it must not run again at once */
	jiffies = ad.recv_work.expires;
	ad.recv_work.pending = false;
	ad.recv_work.work.function(&ad.recv_work.work);
}

static int posted(void **state)
{
	struct kgni_recv_post arg = { .address = BUFFER, .length = 64, .mdh = 5, .cq = KGNI_NO_CQ };

	memset(&ad, 0, sizeof(ad));
	memset(&own, 0, sizeof(own));
	ad.caps = ARIES_ID_CAPS_SEND_MASK;
	INIT_DELAYED_WORK(&ad.recv_work, aries_recv_work);
	own.ad = &ad;
	own.dom = &dom;
	INIT_LIST_HEAD(&own.recvs);
	own.mems.slot[5] = &mem;
	sender = false;
	control = 0;
	assert_int_equal(aries_recv_post(&own, &arg), 0);
	assert_int_equal(arg.receive, 0);
	assert_true(control & ARIES_RMT_CTL_VALID_MASK);
	assert_false(ad.recv_work.pending);
	return 0;
}

static int ended(void **state)
{
	struct kgni_recv_cancel arg = { .receive = 0 };

	sender = false;
	assert_int_equal(aries_recv_cancel(&own, &arg), 0);
	assert_int_equal(ad.recvs.used, 0);
	return 0;
}

static void nobody_asks(void **state)
{
	unsigned int look;

	suspend(true);
	sender = true;
	suspend(false);
	assert_int_equal(control, 0);
	for (look = 0; look < LOOKS; look++) {
		work();
		assert_int_equal(control, 0);
	}
	sender = false;
	work();
	assert_true(control & ARIES_RMT_CTL_VALID_MASK);
	assert_false(ad.recv_work.pending);
}

/*
 * If the job is suspended again before the receive could be posted, the receive stays revoked until
 * the job is resumed.
 */
static void suspended_again(void **state)
{
	suspend(true);
	sender = true;
	suspend(false);
	suspend(true);
	sender = false;
	work();
	assert_int_equal(control, 0);
	assert_false(ad.recv_work.pending);
	suspend(false);
	assert_true(control & ARIES_RMT_CTL_VALID_MASK);
}

static int post(u64 address, u32 length)
{
	struct kgni_recv_post arg = { .address = address, .length = length, .mdh = 5,
				      .cq = KGNI_NO_CQ };

	return aries_recv_post(&own, &arg);
}

/*
 * A message may only come where its receiver may have it: in the registration, which peers may
 * write to.
 */
static void only_in_the_registration(void **state)
{
	unsigned int used = ad.recvs.used;

	assert_int_equal(post(BUFFER, 0), -EINVAL);
	assert_int_equal(post(BUFFER, PAGE_SIZE + 1), -EINVAL);
	assert_int_equal(post(BUFFER - 1, 1), -EINVAL);
	assert_int_equal(post(BUFFER + PAGE_SIZE, 1), -EINVAL);
	assert_int_equal(post(BUFFER + PAGE_SIZE - 63, 64), -EINVAL);
	mem.read_only = true;
	assert_int_equal(post(BUFFER, 64), -EACCES);
	mem.read_only = false;
	mem.live = false;
	assert_int_equal(post(BUFFER, 64), -EINVAL);
	mem.live = true;
	assert_int_equal(ad.recvs.used, used);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nobody_asks, posted, ended),
		cmocka_unit_test_setup_teardown(suspended_again, posted, ended),
		cmocka_unit_test_setup_teardown(only_in_the_registration, posted, ended),
	};

	return cmocka_run_group_tests_name("receives", tests, NULL, NULL);
}
