// SPDX-License-Identifier: GPL-2.0-only
/*
 * Deregistration: whatever the caller's context it does not sleep, peers are cut off when it
 * returns, and what it leaves to a work item does not change what the calls report.
 */
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "sim_kernel.h"

#include "ends.h"

#define HOLD_MS 900000

static u8 area[2 * PAGE_SIZE];

static gni_mem_handle_t registered(void)
{
	gni_mem_handle_t handle;

	assert_int_equal(gni_mem_register(end[0].nic, (uintptr_t)area, sizeof(area), NULL,
					  GNI_MEM_READWRITE, &handle),
			 GNI_RC_SUCCESS);
	return handle;
}

/* The calls as made with a spinlock held, where sleeping is a mistake. */
static gni_return_t deregister(gni_mem_handle_t *handle, int hold_ms)
{
	gni_return_t rc;

	sim_atomic = true;
	rc = gni_mem_deregister(end[0].nic, handle, hold_ms);
	sim_atomic = false;
	assert_int_equal(sim_warned, 0);
	return rc;
}

static gni_return_t release(gni_mem_handle_t *handle)
{
	gni_return_t rc;

	sim_atomic = true;
	rc = gni_mem_mdd_release(end[0].nic, handle);
	sim_atomic = false;
	assert_int_equal(sim_warned, 0);
	return rc;
}

static void work(void)
{
	while (sim_works())
		;
}

static unsigned int number(const gni_mem_handle_t *handle)
{
	return handle->qword1 >> 52;
}

/* A number that was held comes back once it is released, and only then. */
static void held(bool done_before)
{
	gni_mem_handle_t first, other;

	both(GNI_SMSG_TYPE_MBOX);
	first = registered();
	assert_int_equal(deregister(&first, HOLD_MS), GNI_RC_SUCCESS);
	assert_int_equal(deregister(&first, HOLD_MS), GNI_RC_INVALID_PARAM);
	if (done_before)
		work();
	other = registered();
	assert_int_not_equal(number(&other), number(&first));
	assert_int_equal(release(&other), GNI_RC_NO_MATCH);
	assert_int_equal(release(&first), GNI_RC_SUCCESS);
	assert_int_equal(release(&first), GNI_RC_NO_MATCH);
	work();
	assert_int_equal(release(&first), GNI_RC_NO_MATCH);
	assert_int_equal(deregister(&other, 0), GNI_RC_SUCCESS);
	assert_int_equal(release(&other), GNI_RC_NO_MATCH);
	work();
	assert_int_equal(release(&other), GNI_RC_NO_MATCH);
	other = registered();
	assert_int_equal(number(&other), number(&first));
	assert_int_equal(deregister(&other, 0), GNI_RC_SUCCESS);
}

static void release_before_the_work(void **state)
{
	(void)state;
	held(false);
}

static void release_after_the_work(void **state)
{
	(void)state;
	held(true);
}

static void release_after_the_hold_has_ended(void **state)
{
	gni_mem_handle_t handle;

	(void)state;
	both(GNI_SMSG_TYPE_MBOX);
	handle = registered();
	assert_int_equal(deregister(&handle, 1000), GNI_RC_SUCCESS);
	work();
	jiffies += HZ;
	assert_int_equal(release(&handle), GNI_RC_NO_MATCH);
}

/* A reset of the NIC ends all holds. */
static void release_after_a_reset(void **state)
{
	gni_mem_handle_t handle;

	(void)state;
	both(GNI_SMSG_TYPE_MBOX);
	handle = registered();
	assert_int_equal(deregister(&handle, HOLD_MS), GNI_RC_SUCCESS);
	work();
	fabric_tell(0, ARIES_EVENT_RESET, &(struct aries_event_info){ .quiet_ms = 0 });
	assert_int_equal(release(&handle), GNI_RC_NO_MATCH);
	fabric_tell(0, ARIES_EVENT_QUIET, &(struct aries_event_info){ .quiet_ms = 0 });
}

/* A domain that is destroyed takes along what is held, and what is still to be done. */
static void holds_left_at_the_end(void **state)
{
	gni_mem_handle_t handle[3];
	unsigned int i;

	(void)state;
	both(GNI_SMSG_TYPE_MBOX);
	for (i = 0; i < ARRAY_SIZE(handle); i++)
		handle[i] = registered();
	assert_int_equal(deregister(&handle[0], HOLD_MS), GNI_RC_SUCCESS);
	work();
	assert_int_equal(deregister(&handle[1], HOLD_MS), GNI_RC_SUCCESS);
	assert_int_equal(release(&handle[0]), GNI_RC_SUCCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(release_before_the_work, begin, finish),
		cmocka_unit_test_setup_teardown(release_after_the_work, begin, finish),
		cmocka_unit_test_setup_teardown(release_after_the_hold_has_ended, begin, finish),
		cmocka_unit_test_setup_teardown(release_after_a_reset, begin, finish),
		cmocka_unit_test_setup_teardown(holds_left_at_the_end, begin, finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
