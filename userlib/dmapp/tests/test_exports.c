/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/* Everything that the header declares is exported, also what is refused: this links or it does not. C99, with all
 * warnings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dmapp.h>

typedef void (*function)(void);

static const function functions[] = {
	(function)dmapp_aadd_qw,
	(function)dmapp_aadd_qw_nb,
	(function)dmapp_aadd_qw_nbi,
	(function)dmapp_aand_qw,
	(function)dmapp_aand_qw_nb,
	(function)dmapp_aand_qw_nbi,
	(function)dmapp_acswap_qw,
	(function)dmapp_acswap_qw_nb,
	(function)dmapp_acswap_qw_nbi,
	(function)dmapp_afadd_qw,
	(function)dmapp_afadd_qw_nb,
	(function)dmapp_afadd_qw_nbi,
	(function)dmapp_afand_qw,
	(function)dmapp_afand_qw_nb,
	(function)dmapp_afand_qw_nbi,
	(function)dmapp_afax_qw,
	(function)dmapp_afax_qw_nb,
	(function)dmapp_afax_qw_nbi,
	(function)dmapp_afor_qw,
	(function)dmapp_afor_qw_nb,
	(function)dmapp_afor_qw_nbi,
	(function)dmapp_afxor_qw,
	(function)dmapp_afxor_qw_nb,
	(function)dmapp_afxor_qw_nbi,
	(function)dmapp_amo_flush,
	(function)dmapp_amo_get,
	(function)dmapp_amo_get_nb,
	(function)dmapp_amo_get_nbi,
	(function)dmapp_amo_put,
	(function)dmapp_amo_put_nb,
	(function)dmapp_amo_put_nbi,
	(function)dmapp_aor_qw,
	(function)dmapp_aor_qw_nb,
	(function)dmapp_aor_qw_nbi,
	(function)dmapp_axor_qw,
	(function)dmapp_axor_qw_nb,
	(function)dmapp_axor_qw_nbi,
	(function)dmapp_c_barrier_join,
	(function)dmapp_c_greduce_nelems_max,
	(function)dmapp_c_greduce_start,
	(function)dmapp_c_pset_cancel_op,
	(function)dmapp_c_pset_create,
	(function)dmapp_c_pset_destroy,
	(function)dmapp_c_pset_export,
	(function)dmapp_c_pset_test,
	(function)dmapp_c_pset_wait,
	(function)dmapp_checkpoint,
	(function)dmapp_explain_error,
	(function)dmapp_finalize,
	(function)dmapp_gather_ixpe,
	(function)dmapp_gather_ixpe_nb,
	(function)dmapp_gather_ixpe_nbi,
	(function)dmapp_get,
	(function)dmapp_get_flag_nbi,
	(function)dmapp_get_jobinfo,
	(function)dmapp_get_nb,
	(function)dmapp_get_nbi,
	(function)dmapp_get_rma_attrs,
	(function)dmapp_get_rma_attrs_ext,
	(function)dmapp_gsync_test,
	(function)dmapp_gsync_wait,
	(function)dmapp_iget,
	(function)dmapp_iget_nb,
	(function)dmapp_iget_nbi,
	(function)dmapp_init,
	(function)dmapp_init_ext,
	(function)dmapp_initialized,
	(function)dmapp_iput,
	(function)dmapp_iput_nb,
	(function)dmapp_iput_nbi,
	(function)dmapp_ixget,
	(function)dmapp_ixget_nb,
	(function)dmapp_ixget_nbi,
	(function)dmapp_ixput,
	(function)dmapp_ixput_nb,
	(function)dmapp_ixput_nbi,
	(function)dmapp_lock_acquire,
	(function)dmapp_lock_release,
	(function)dmapp_lock_release_addr,
	(function)dmapp_lock_try,
	(function)dmapp_mem_register,
	(function)dmapp_mem_reserve,
	(function)dmapp_mem_unregister,
	(function)dmapp_mem_update,
	(function)dmapp_progress,
	(function)dmapp_put,
	(function)dmapp_put_flag,
	(function)dmapp_put_flag_nb,
	(function)dmapp_put_flag_nbi,
	(function)dmapp_put_ixpe,
	(function)dmapp_put_ixpe_nb,
	(function)dmapp_put_ixpe_nbi,
	(function)dmapp_put_nb,
	(function)dmapp_put_nbi,
	(function)dmapp_queue_attach,
	(function)dmapp_queue_detach,
	(function)dmapp_queue_put,
	(function)dmapp_restart,
	(function)dmapp_scatter_ixpe,
	(function)dmapp_scatter_ixpe_nb,
	(function)dmapp_scatter_ixpe_nbi,
	(function)dmapp_segdesc_compare,
	(function)dmapp_set_rma_attrs,
	(function)dmapp_set_rma_attrs_ext,
	(function)dmapp_sheap_free,
	(function)dmapp_sheap_malloc,
	(function)dmapp_sheap_stats,
	(function)dmapp_syncid_test,
	(function)dmapp_syncid_wait,
};

static void test_exports(void **state)
{
	size_t i;

	(void)state;
	assert_int_equal(sizeof(functions) / sizeof(functions[0]), 109);
	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		assert_non_null(functions[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exports),
	};

	return cmocka_run_group_tests_name("exported names of DMAPP", tests, NULL, NULL);
}
