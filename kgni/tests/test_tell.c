// SPDX-License-Identifier: GPL-2.0-only
/*
 * The functions of a client that report errors and the end of a quiesce may call all of kGNI, and
 * may free what they are called for.
 */
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "sim_kernel.h"

#include "ends.h"

static struct {
	gni_cdm_handle_t cdm;
	gni_nic_handle_t nic;
	gni_err_handle_t err, other;
	unsigned int new_events, criticals, resumes;
	u64 ms;
} t;

static const struct aries_event_info nothing;

static int set_up(void **state)
{
	u32 address;

	begin(state);
	memset(&t, 0, sizeof(t));
	assert_int_equal(gni_cdm_create(1, PTAG, COOKIE, 0, &t.cdm), GNI_RC_SUCCESS);
	assert_int_equal(gni_cdm_attach(t.cdm, 0, &address, &t.nic), GNI_RC_SUCCESS);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	if (t.cdm)
		assert_int_equal(gni_cdm_destroy(t.cdm), GNI_RC_SUCCESS);
	t.cdm = NULL;
	fabric_end();
	return 0;
}

static void report_error(unsigned int category)
{
	gni_error_event_t event = { .error_category = category };

	fabric_tell(0, ARIES_EVENT_ERROR,
		    &(struct aries_event_info){ .error = (const struct kgni_err_event *)&event });
}

static void quiesce_for(unsigned int ms)
{
	fabric_tell(0, ARIES_EVENT_QUIESCE, &nothing);
	fabric_tell(0, ARIES_EVENT_RESUME, &(struct aries_event_info){ .quiet_ms = ms });
}

/* Calls of both kinds: from any context, and those that sleep. */
static void call_everything(void)
{
	gni_err_handle_t err;
	gni_ep_handle_t ep;
	gni_cq_handle_t cq;

	assert_int_equal(gni_cq_create(t.nic, 16, 0, NULL, 0, &cq), GNI_RC_SUCCESS);
	assert_int_equal(gni_ep_create(t.nic, cq, &ep), GNI_RC_SUCCESS);
	assert_int_equal(gni_ep_destroy(ep), GNI_RC_SUCCESS);
	assert_int_equal(gni_cq_destroy(cq), GNI_RC_SUCCESS);
	assert_int_equal(gni_subscribe_errors(t.nic, 0xff, 1, NULL, NULL, &err), GNI_RC_SUCCESS);
	assert_int_equal(gni_release_errors(err), GNI_RC_SUCCESS);
}

static void on_new(gni_err_handle_t err)
{
	gni_error_event_t event;

	assert_ptr_equal(err, t.err);
	call_everything();
	assert_int_equal(gni_get_error_event(err, &event), GNI_RC_SUCCESS);
	assert_int_equal(event.serial_number, ++t.new_events);
}

static void on_critical(gni_err_handle_t err)
{
	gni_error_mask_t mask;

	assert_ptr_equal(err, t.err);
	call_everything();
	assert_int_equal(gni_set_error_mask(err, 0xff, &mask), GNI_RC_SUCCESS);
	t.criticals++;
}

static void on_resume(gni_nic_handle_t nic, uint64_t ms)
{
	assert_ptr_equal(nic, t.nic);
	call_everything();
	t.resumes++;
	t.ms += ms;
}

static void functions_call_everything(void **state)
{
	(void)state;
	assert_int_equal(gni_subscribe_errors(t.nic, 0xff, 4, on_new, on_critical, &t.err),
			 GNI_RC_SUCCESS);
	assert_int_equal(gni_set_quiesce_callback(t.nic, on_resume), GNI_RC_SUCCESS);
	report_error(GNI_ERRMASK_CORRECTABLE_MEMORY);
	report_error(GNI_ERRMASK_CRITICAL);
	quiesce_for(17);
	assert_int_equal(t.new_events + t.criticals + t.resumes, 0);
	fabric_run(1);
	assert_int_equal(t.new_events, 2);
	assert_int_equal(t.criticals, 1);
	assert_int_equal(t.resumes, 1);
	assert_int_equal(t.ms, 17);
	assert_int_equal(sim_warned, 0);
}

/* A client that is told late learns of the whole time. */
static void quiesces_add_up(void **state)
{
	(void)state;
	assert_int_equal(gni_set_quiesce_callback(t.nic, on_resume), GNI_RC_SUCCESS);
	quiesce_for(17);
	quiesce_for(4);
	fabric_run(1);
	assert_int_equal(t.resumes, 1);
	assert_int_equal(t.ms, 21);
	quiesce_for(5);
	fabric_run(1);
	assert_int_equal(t.resumes, 2);
	assert_int_equal(t.ms, 26);
}

static void count_critical(gni_err_handle_t err)
{
	(void)err;
	t.criticals++;
}

/* Nothing is called for a subscription that was released, or a NIC handle that was destroyed. */
static void nothing_after_the_end(void **state)
{
	(void)state;
	assert_int_equal(gni_subscribe_errors(t.nic, 0xff, 0, NULL, count_critical, &t.err),
			 GNI_RC_SUCCESS);
	assert_int_equal(gni_subscribe_errors(t.nic, 0xff, 0, NULL, count_critical, &t.other),
			 GNI_RC_SUCCESS);
	report_error(GNI_ERRMASK_CRITICAL);
	assert_int_equal(gni_release_errors(t.err), GNI_RC_SUCCESS);
	fabric_run(1);
	assert_int_equal(t.criticals, 1);
	report_error(GNI_ERRMASK_CRITICAL);
	assert_int_equal(gni_cdm_destroy(t.cdm), GNI_RC_SUCCESS);
	t.cdm = NULL;
	fabric_run(1);
	assert_int_equal(t.criticals, 1);
}

static void release_all(gni_err_handle_t err)
{
	t.criticals++;
	assert_int_equal(gni_release_errors(err), GNI_RC_SUCCESS);
	assert_int_equal(gni_release_errors(err == t.err ? t.other : t.err), GNI_RC_SUCCESS);
}

/* The first function that is called releases both subscriptions, of which one was to be told. */
static void release_inside(void **state)
{
	(void)state;
	assert_int_equal(gni_subscribe_errors(t.nic, 0xff, 0, NULL, release_all, &t.err),
			 GNI_RC_SUCCESS);
	assert_int_equal(gni_subscribe_errors(t.nic, 0xff, 0, NULL, release_all, &t.other),
			 GNI_RC_SUCCESS);
	report_error(GNI_ERRMASK_CRITICAL);
	report_error(GNI_ERRMASK_CRITICAL);
	fabric_run(1);
	assert_int_equal(t.criticals, 1);
}

static void destroy_on_error(gni_err_handle_t err)
{
	(void)err;
	t.criticals++;
	/* reported while the function runs, so the work item is queued once more */
	report_error(GNI_ERRMASK_CRITICAL);
	assert_int_equal(gni_cdm_destroy(t.cdm), GNI_RC_SUCCESS);
	t.cdm = NULL;
}

static void destroy_on_resume(gni_nic_handle_t nic, uint64_t ms)
{
	(void)nic;
	(void)ms;
	t.resumes++;
	assert_int_equal(gni_cdm_destroy(t.cdm), GNI_RC_SUCCESS);
	t.cdm = NULL;
}

static void destroy_inside(void **state)
{
	(void)state;
	assert_int_equal(gni_subscribe_errors(t.nic, 0xff, 0, NULL, destroy_on_error, &t.err),
			 GNI_RC_SUCCESS);
	assert_int_equal(gni_set_quiesce_callback(t.nic, on_resume), GNI_RC_SUCCESS);
	report_error(GNI_ERRMASK_CRITICAL);
	quiesce_for(17);
	fabric_run(2);
	assert_int_equal(t.criticals, 1);
	assert_int_equal(t.resumes, 0);
}

static void destroy_inside_resume(void **state)
{
	(void)state;
	assert_int_equal(gni_set_quiesce_callback(t.nic, destroy_on_resume), GNI_RC_SUCCESS);
	quiesce_for(17);
	fabric_run(2);
	assert_int_equal(t.resumes, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(functions_call_everything, set_up, tear_down),
		cmocka_unit_test_setup_teardown(quiesces_add_up, set_up, tear_down),
		cmocka_unit_test_setup_teardown(nothing_after_the_end, set_up, tear_down),
		cmocka_unit_test_setup_teardown(release_inside, set_up, tear_down),
		cmocka_unit_test_setup_teardown(destroy_inside, set_up, tear_down),
		cmocka_unit_test_setup_teardown(destroy_inside_resume, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
