// SPDX-License-Identifier: GPL-2.0-only
/*
 * Objects that the NIC may still access are put aside with their numbers, and freed by a work item
 * or by a reset. A reset needs state_sem for writing, so it can come whenever nobody holds it; it is
 * tried in the middle of everything that frees.
 */
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "aries_sim.h"

/* the part of the kernel that this file alone uses */
#undef down_read
#undef up_read
#undef lockdep_assert_held_read
#define down_read(sem) ((void)(sem)->unused++)
#define up_read(sem) ((void)(assert((sem)->unused > 0), (sem)->unused--))
#define down_write(sem) taken_for_writing(sem)
#define up_write(sem) ((void)(assert((sem)->unused < 0), (sem)->unused = 0))
#define lockdep_assert_held_read(sem) assert((sem)->unused > 0)

static void taken_for_writing(struct rw_semaphore *sem);

#include "../obj/aries_kept.c"

#define OBJECTS 4

unsigned int sim_warnings;
unsigned long sim_steps;
unsigned long jiffies;

static struct aries_dev ad;
static struct aries_domain dom;
static struct aries_owner own;

static struct object {
	struct aries_kept kept;
	bool number; /* it is taken */
	bool freed;
	bool lost;
} object[OBJECTS];

static unsigned int charged; /* references of the domain */
static u64 issued, ended; /* invalidations */
static bool quiet, resets; /* a reset is tried whenever an object is freed */
static unsigned int waited, came; /* resets */
static jmp_buf wait_for_readers;

/* A reset that must wait has done nothing yet, and comes again. */
static void taken_for_writing(struct rw_semaphore *sem)
{
	if (sem->unused)
		longjmp(wait_for_readers, 1);
	sem->unused = -1;
}

static void reset(void)
{
	if (setjmp(wait_for_readers)) {
		waited++;
		return;
	}
	aries_kept_reset(&ad);
	came++;
}

static void free_object(struct aries_dev *dev, struct aries_kept *kept)
{
	struct object *o = container_of(kept, struct object, kept);

	assert_true(dev->state_sem.unused);
	assert_false(o->freed);
	o->freed = true;
	if (resets)
		reset();
	/* aries_pool_put_held(): the number of an object is its own until then */
	assert_true(o->number);
	o->number = false;
}

static void lose_object(struct aries_dev *dev, struct aries_kept *kept)
{
	container_of(kept, struct object, kept)->lost = true;
}

void aries_pool_release_held(struct aries_pool *pool)
{
	unsigned int i;

	assert_true(ad.state_sem.unused < 0 || resets);
	if (pool == &ad.mdds)
		for (i = 0; i < OBJECTS; i++)
			object[i].number = false;
}

struct aries_domain *aries_domain_get(struct aries_domain *d)
{
	charged++;
	return d;
}

void aries_domain_put(struct aries_domain *d)
{
	assert_ptr_equal(d, &dom);
	charged--;
}

u64 aries_inv_seq(struct aries_dev *dev)
{
	return issued;
}

int aries_inv_look(struct aries_dev *dev, u64 seq)
{
	assert_int_equal(dev->state, ARIES_STATE_UP);
	return seq <= ended ? 0 : -EAGAIN;
}

int aries_inv_wait(struct aries_dev *dev, u64 seq)
{
	return seq <= ended ? 0 : -ETIMEDOUT;
}

bool aries_quiet(struct aries_dev *dev)
{
	return quiet;
}

bool aries_quiet_begin(struct aries_dev *dev)
{
	return quiet;
}

bool aries_quiet_reached(struct aries_dev *dev, unsigned int timeout_ms)
{
	return quiet;
}

/* Objects whose invalidations 1 to OBJECTS do not end, so that all are put aside. */
static int prepare(void **state)
{
	unsigned int i;

	memset(&ad, 0, sizeof(ad));
	memset(object, 0, sizeof(object));
	INIT_LIST_HEAD(&ad.kept);
	spin_lock_init(&ad.kept_lock);
	INIT_DELAYED_WORK(&ad.kept_work, aries_kept_work);
	own.dom = &dom;
	charged = 0;
	ended = 0;
	quiet = false;
	resets = false;
	waited = 0;
	came = 0;
	for (i = 0; i < OBJECTS; i++) {
		LIST_HEAD(gone);

		object[i].number = true;
		object[i].kept.lose = lose_object;
		own.lock.held = 1;
		aries_kept_take(&own, &gone, &object[i].kept, free_object);
		own.lock.held = 0;
		issued = i + 1;
		down_read(&ad.state_sem);
		aries_kept_release(&ad, &gone);
		up_read(&ad.state_sem);
		assert_true(list_empty(&gone));
	}
	return 0;
}

static unsigned int freed(void)
{
	unsigned int i, n = 0;

	for (i = 0; i < OBJECTS; i++)
		n += object[i].freed;
	return n;
}

/* What the delay has ended for. */
static void work(void)
{
	assert_true(ad.kept_work.pending);
	ad.kept_work.pending = false;
	aries_kept_work(&ad.kept_work.work);
	assert_int_equal(ad.state_sem.unused, 0);
}

static void freed_one_by_one(void **state)
{
	for (ended = 0; ended < OBJECTS; ended++) {
		work();
		assert_int_equal(freed(), ended);
		assert_int_equal(charged, OBJECTS - ended);
	}
	work();
	assert_int_equal(freed(), OBJECTS);
	assert_int_equal(charged, 0);
	assert_false(ad.kept_work.pending);
}

static void freed_at_once(void **state)
{
	LIST_HEAD(gone);
	struct object other = { .number = true };

	own.lock.held = 1;
	aries_kept_take(&own, &gone, &other.kept, free_object);
	own.lock.held = 0;
	ended = issued;
	down_read(&ad.state_sem);
	aries_kept_release(&ad, &gone);
	up_read(&ad.state_sem);
	assert_true(other.freed);
	assert_int_equal(freed(), 0);
	assert_int_equal(charged, OBJECTS);
}

/* A NIC that is down is not asked. Nothing is freed before it can access no memory. */
static void freed_where_the_nic_is_down(void **state)
{
	ad.state = ARIES_STATE_RESET;
	ended = OBJECTS;
	work();
	assert_int_equal(freed(), 0);
	quiet = true;
	work();
	assert_int_equal(freed(), OBJECTS);
	assert_false(ad.kept_work.pending);
}

/* A reset in the middle of the work waits for its end, and frees what is left. */
static void reset_while_some_are_freed(void **state)
{
	unsigned int i;

	resets = true;
	ended = OBJECTS / 2;
	work();
	assert_int_equal(waited, OBJECTS / 2);
	assert_int_equal(came, 0);
	assert_int_equal(freed(), OBJECTS / 2);
	resets = false;
	reset();
	assert_int_equal(came, 1);
	assert_int_equal(freed(), OBJECTS);
	assert_int_equal(charged, 0);
	for (i = 0; i < OBJECTS; i++)
		assert_false(object[i].number);
	work();
	assert_false(ad.kept_work.pending);
}

static void reset_where_the_nic_is_down(void **state)
{
	resets = true;
	quiet = true;
	ad.state = ARIES_STATE_RESET;
	work();
	assert_int_equal(waited, OBJECTS);
	assert_int_equal(came, 0);
	assert_int_equal(charged, 0);
}

static void lost_at_removal(void **state)
{
	unsigned int i;

	assert_false(aries_kept_exit(&ad));
	assert_false(ad.kept_work.pending);
	assert_int_equal(freed(), 0);
	for (i = 0; i < OBJECTS; i++)
		assert_true(object[i].lost);
}

static void freed_at_removal(void **state)
{
	down_read(&ad.state_sem);
	quiet = true;
	assert_true(aries_kept_exit(&ad));
	assert_int_equal(freed(), OBJECTS);
	assert_false(object[0].lost);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(freed_one_by_one, prepare),
		cmocka_unit_test_setup(freed_at_once, prepare),
		cmocka_unit_test_setup(freed_where_the_nic_is_down, prepare),
		cmocka_unit_test_setup(reset_while_some_are_freed, prepare),
		cmocka_unit_test_setup(reset_where_the_nic_is_down, prepare),
		cmocka_unit_test_setup(lost_at_removal, prepare),
		cmocka_unit_test_setup(freed_at_removal, prepare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
