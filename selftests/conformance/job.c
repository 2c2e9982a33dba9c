// SPDX-License-Identifier: GPL-2.0-only
/*
 * What launchers do: jobs, node translation, balanced injection. The interface has no way to end a job,
 * so those made here stay until the node does.
 */
#include "conformance.h"

#define NO_DEVICE 15u
#define JOB 8001u

/* ---- GNI_ConfigureJob ---- */


TEST(GNI_ConfigureJob__SUCCESS__and_others_may_attach)
{
	gni_cdm_handle_t cdm;
	gni_nic_handle_t nic;
	uint32_t cookie = conf_cookie(), pe;

	RC(SUCCESS, GNI_ConfigureJob(CONF_DEVICE, JOB, GNI_FIND_ALLOC_PTAG, cookie, NULL));
	RC(SUCCESS, GNI_ConfigureJob(CONF_DEVICE, JOB, GNI_FIND_ALLOC_PTAG, cookie, NULL));
	EXPECT_EQ(GNI_RC_SUCCESS,
		  CONF_NOBODY_RC(GNI_CdmCreate(1, GNI_FIND_ALLOC_PTAG, cookie, 0, &cdm) ? 254 :
				 GNI_CdmAttach(cdm, CONF_DEVICE, &pe, &nic)));
}

TEST(GNI_ConfigureJob__SUCCESS__replaces_limits)
{
	gni_job_limits_t limits = conf_limits();
	gni_job_res_desc_t desc;
	uint32_t cookie;
	uint8_t ptag;

	limits.mdd_limit = 10;
	cookie = conf_job(JOB, &limits);
	ASSERT_NE(0, cookie);
	MUST(GNI_GetPtag(CONF_DEVICE, cookie, &ptag));
	MUST(GNI_GetJobResInfo(CONF_DEVICE, ptag, GNI_JOB_RES_MDD, &desc));
	EXPECT_EQ(10, desc.limit);
	limits = conf_limits();
	limits.cq_limit = 5;
	RC(SUCCESS, GNI_ConfigureJob(CONF_DEVICE, JOB, GNI_FIND_ALLOC_PTAG, cookie, &limits));
	MUST(GNI_GetJobResInfo(CONF_DEVICE, ptag, GNI_JOB_RES_MDD, &desc));
	EXPECT_EQ(10, desc.limit);
	MUST(GNI_GetJobResInfo(CONF_DEVICE, ptag, GNI_JOB_RES_CQ, &desc));
	EXPECT_EQ(5, desc.limit);
}

RC_TEST(GNI_ConfigureJob__INVALID_PARAM__tag_0, INVALID_PARAM,
	GNI_ConfigureJob(CONF_DEVICE, JOB, 0, conf_cookie(), NULL));

RC_TEST(GNI_ConfigureJob__PERMISSION_ERROR__not_root, PERMISSION_ERROR,
	CONF_NOBODY_RC(GNI_ConfigureJob(CONF_DEVICE, JOB, GNI_FIND_ALLOC_PTAG, conf_cookie(), NULL)));

RC_TEST(GNI_ConfigureJob__NO_MATCH__no_such_device, NO_MATCH,
	GNI_ConfigureJob(NO_DEVICE, JOB, GNI_FIND_ALLOC_PTAG, conf_cookie(), NULL));

TEST(GNI_ConfigureJob__INVALID_STATE__tag_of_another_cookie)
{
	uint32_t cookie = conf_job(JOB, NULL);
	uint8_t ptag;

	ASSERT_NE(0, cookie);
	MUST(GNI_GetPtag(CONF_DEVICE, cookie, &ptag));
	RC(INVALID_STATE, GNI_ConfigureJob(CONF_DEVICE, JOB, ptag, conf_cookie(), NULL));
}

TEST(GNI_ConfigureJob__INVALID_STATE__another_job_has_it)
{
	uint32_t cookie = conf_job(JOB, NULL);

	ASSERT_NE(0, cookie);
	RC(INVALID_STATE, GNI_ConfigureJob(CONF_DEVICE, JOB + 1, GNI_FIND_ALLOC_PTAG, cookie, NULL));
}

RC_TEST(GNI_ConfigureJob__ERROR_RESOURCE__no_more_files, ERROR_RESOURCE,
	CONF_APART(conf_no_files(), GNI_ConfigureJob(CONF_DEVICE, JOB, GNI_FIND_ALLOC_PTAG, 0x40001000, NULL)));

/* ---- GNI_ConfigureNTT ---- */

/* Two blocks of one node each: this node, and another one. */
static gni_ntt_descriptor_t table_of(gni_ntt_entry_t *entries, uint32_t count)
{
	gni_ntt_descriptor_t desc;
	uint32_t pe = 0, cpu;
	uint32_t i;

	memset(&desc, 0, sizeof(desc));
	memset(entries, 0, count * sizeof(*entries));
	GNI_CdmGetNicAddress(CONF_DEVICE, &pe, &cpu);
	for (i = 0; i < count; i++)
		entries[i].blck_addr = pe + i;
	desc.group_size = count;
	desc.granularity = 1;
	desc.u.table_v2 = entries;
	return desc;
}

static gni_return_t clear(uint32_t base, uint32_t count)
{
	gni_ntt_descriptor_t desc;

	memset(&desc, 0, sizeof(desc));
	desc.group_size = count;
	return GNI_ConfigureNTT(CONF_DEVICE, &desc, &base);
}

TEST(GNI_ConfigureNTT__SUCCESS__written_and_cleared)
{
	gni_ntt_entry_t two[2];
	gni_ntt_descriptor_t desc = table_of(two, 2);
	uint32_t base = 0xffffffff, granularity;

	RC(SUCCESS, GNI_ConfigureNTT(CONF_DEVICE, &desc, &base));
	EXPECT_NE(0xffffffff, base);
	MUST(GNI_GetNttGran(CONF_DEVICE, &granularity));
	EXPECT_EQ(1, granularity);
	desc.u.table_v2 = NULL;
	RC(SUCCESS, GNI_ConfigureNTT(CONF_DEVICE, &desc, &base));
}

TEST(GNI_ConfigureNTT__SUCCESS__clears_what_is_not_in_use)
{
	gni_ntt_entry_t two[2];
	gni_ntt_descriptor_t desc = table_of(two, 2);
	uint32_t base;

	MUST(GNI_ConfigureNTT(CONF_DEVICE, &desc, &base));
	memset(&desc, 0, sizeof(desc));
	desc.group_size = (uint32_t)-1;
	base = (uint32_t)-1;
	RC(SUCCESS, GNI_ConfigureNTT(CONF_DEVICE, &desc, &base));
}

TEST(GNI_ConfigureNTT__INVALID_PARAM__pointers_count_entries)
{
	gni_ntt_entry_t two[2];
	gni_ntt_descriptor_t desc = table_of(two, 2);
	uint32_t base;

	RC(INVALID_PARAM, GNI_ConfigureNTT(CONF_DEVICE, NULL, &base));
	RC(INVALID_PARAM, GNI_ConfigureNTT(CONF_DEVICE, &desc, NULL));
	desc.group_size = 0;
	RC(INVALID_PARAM, GNI_ConfigureNTT(CONF_DEVICE, &desc, &base));
	desc = table_of(two, 2);
	two[1].blck_addr = 0xffffffff;
	RC(INVALID_PARAM, GNI_ConfigureNTT(CONF_DEVICE, &desc, &base));
}

TEST(GNI_ConfigureNTT__PERMISSION_ERROR__not_root)
{
	gni_ntt_entry_t two[2];
	gni_ntt_descriptor_t desc = table_of(two, 2);
	uint32_t base;

	RC(PERMISSION_ERROR, CONF_NOBODY_RC(GNI_ConfigureNTT(CONF_DEVICE, &desc, &base)));
}

TEST(GNI_ConfigureNTT__ERROR_RESOURCE__larger_than_the_table)
{
	static gni_ntt_entry_t many[1 << 16];
	gni_ntt_descriptor_t desc = table_of(many, 1 << 16);
	uint32_t base, n = 1 << 16;

	for (; n; n--)
		many[n - 1].blck_addr = 0;
	RC(ERROR_RESOURCE, GNI_ConfigureNTT(CONF_DEVICE, &desc, &base));
}

TEST(GNI_ConfigureNTT__ERROR_RESOURCE__a_job_uses_it)
{
	gni_ntt_entry_t two[2];
	gni_ntt_descriptor_t desc = table_of(two, 2);
	gni_job_limits_t limits = conf_limits();
	uint32_t base;

	MUST(GNI_ConfigureNTT(CONF_DEVICE, &desc, &base));
	limits.ntt_base = (int32_t)base;
	limits.ntt_size = 2;
	limits.ntt_ctrl = GNI_JOB_CTRL_NTT_CLEANUP;
	ASSERT_NE(0, conf_job(JOB, &limits));
	desc.u.table_v2 = NULL;
	RC(ERROR_RESOURCE, GNI_ConfigureNTT(CONF_DEVICE, &desc, &base));
}

TEST(GNI_ConfigureNTT__ERROR_NOMEM__no_address_space)
{
	static gni_ntt_entry_t many[1 << 16];
	gni_ntt_descriptor_t desc = table_of(many, 1 << 16);
	uint32_t base;

	conf_no_memory();
	RC(ERROR_NOMEM, GNI_ConfigureNTT(CONF_DEVICE, &desc, &base));
	conf_memory_again();
}

TEST(GNI_ConfigureNTT__NO_MATCH__device_or_entries)
{
	gni_ntt_entry_t two[2];
	gni_ntt_descriptor_t desc = table_of(two, 2);
	uint32_t base;

	RC(NO_MATCH, GNI_ConfigureNTT((int)NO_DEVICE, &desc, &base));
	RC(NO_MATCH, GNI_ConfigureNTT(-1, &desc, &base));
	MUST(GNI_ConfigureNTT(CONF_DEVICE, &desc, &base));
	MUST(clear(base, 2));
	desc.u.table_v2 = NULL;
	RC(NO_MATCH, GNI_ConfigureNTT(CONF_DEVICE, &desc, &base));
}

/* ---- The range of a job ---- */

static uint32_t job_with_range(uint32_t *base)
{
	gni_ntt_entry_t two[2];
	gni_ntt_descriptor_t desc = table_of(two, 2);
	gni_job_limits_t limits = conf_limits();

	if (GNI_ConfigureNTT(CONF_DEVICE, &desc, base))
		return 0;
	limits.ntt_base = (int32_t)*base;
	limits.ntt_size = 2;
	limits.ntt_ctrl = GNI_JOB_CTRL_NTT_CLEANUP;
	return conf_job(JOB, &limits);
}

TEST(GNI_ConfigureJob__ILLEGAL_OP__range_resized)
{
	gni_job_limits_t limits = conf_limits();
	uint32_t base, cookie = job_with_range(&base);

	ASSERT_NE(0, cookie);
	limits.ntt_base = (int32_t)base;
	limits.ntt_size = 1;
	RC(ILLEGAL_OP, GNI_ConfigureJob(CONF_DEVICE, JOB, GNI_FIND_ALLOC_PTAG, cookie, &limits));
}

/* ---- GNI_ConfigureNTTandJob ---- */

#define BOTH(device, ptag, cookie, limits, desc, base)                                               \
	GNI_ConfigureNTTandJob(device, JOB, ptag, cookie, limits, desc, base)

TEST(GNI_ConfigureNTTandJob__SUCCESS__addresses_are_virtual)
{
	gni_ntt_entry_t two[2];
	gni_ntt_descriptor_t desc = table_of(two, 2);
	uint32_t cookie = conf_cookie(), base = 0xffffffff;
	struct side s;

	/* this node is number 1 of the job */
	two[1].blck_addr = two[0].blck_addr;
	two[0].blck_addr++;
	RC(SUCCESS, BOTH(CONF_DEVICE, GNI_FIND_ALLOC_PTAG, cookie, NULL, &desc, &base));
	EXPECT_NE(0xffffffff, base);
	ASSERT_EQ(0, side_open(&s, cookie, 1));
	EXPECT_EQ(1, s.pe);
	side_close(&s);
}

RC_TEST(GNI_ConfigureNTTandJob__SUCCESS__without_table_as_configuring_the_job, SUCCESS,
	BOTH(CONF_DEVICE, GNI_FIND_ALLOC_PTAG, conf_cookie(), NULL, NULL, NULL));

TEST(GNI_ConfigureNTTandJob__INVALID_PARAM__tag_table_pointer)
{
	gni_ntt_entry_t two[2];
	gni_ntt_descriptor_t desc = table_of(two, 2);
	uint32_t base;

	RC(INVALID_PARAM, BOTH(CONF_DEVICE, 0, conf_cookie(), NULL, &desc, &base));
	RC(INVALID_PARAM, BOTH(CONF_DEVICE, GNI_FIND_ALLOC_PTAG, conf_cookie(), NULL, &desc, NULL));
	/* it cannot clear */
	desc.u.table_v2 = NULL;
	RC(INVALID_PARAM, BOTH(CONF_DEVICE, GNI_FIND_ALLOC_PTAG, conf_cookie(), NULL, &desc, &base));
}

TEST(GNI_ConfigureNTTandJob__PERMISSION_ERROR__not_root)
{
	gni_ntt_entry_t two[2];
	gni_ntt_descriptor_t desc = table_of(two, 2);
	uint32_t base;

	RC(PERMISSION_ERROR,
	   CONF_NOBODY_RC(BOTH(CONF_DEVICE, GNI_FIND_ALLOC_PTAG, conf_cookie(), NULL, &desc, &base)));
}

TEST(GNI_ConfigureNTTandJob__ERROR_RESOURCE__larger_than_the_table)
{
	static gni_ntt_entry_t many[1 << 16];
	gni_ntt_descriptor_t desc = table_of(many, 1 << 16);
	uint32_t base, n = 1 << 16;

	for (; n; n--)
		many[n - 1].blck_addr = 0;
	RC(ERROR_RESOURCE, BOTH(CONF_DEVICE, GNI_FIND_ALLOC_PTAG, conf_cookie(), NULL, &desc, &base));
}

TEST(GNI_ConfigureNTTandJob__ERROR_NOMEM__no_address_space)
{
	static gni_ntt_entry_t many[1 << 16];
	gni_ntt_descriptor_t desc = table_of(many, 1 << 16);
	uint32_t base;

	conf_no_memory();
	RC(ERROR_NOMEM, BOTH(CONF_DEVICE, GNI_FIND_ALLOC_PTAG, conf_cookie(), NULL, &desc, &base));
	conf_memory_again();
}

TEST(GNI_ConfigureNTTandJob__NO_MATCH__no_such_device)
{
	gni_ntt_entry_t two[2];
	gni_ntt_descriptor_t desc = table_of(two, 2);
	uint32_t base;

	RC(NO_MATCH, BOTH((int)NO_DEVICE, GNI_FIND_ALLOC_PTAG, conf_cookie(), NULL, &desc, &base));
}

TEST(GNI_ConfigureNTTandJob__INVALID_STATE__another_job_has_it)
{
	gni_ntt_entry_t two[2];
	gni_ntt_descriptor_t desc = table_of(two, 2);
	uint32_t cookie = conf_job(JOB + 1, NULL), base;

	ASSERT_NE(0, cookie);
	RC(INVALID_STATE, BOTH(CONF_DEVICE, GNI_FIND_ALLOC_PTAG, cookie, NULL, &desc, &base));
}

TEST(GNI_ConfigureNTTandJob__ILLEGAL_OP__job_has_a_range)
{
	gni_ntt_entry_t two[2];
	gni_ntt_descriptor_t desc = table_of(two, 1);
	uint32_t base, cookie = job_with_range(&base);

	ASSERT_NE(0, cookie);
	RC(ILLEGAL_OP, BOTH(CONF_DEVICE, GNI_FIND_ALLOC_PTAG, cookie, NULL, &desc, &base));
}

/* ---- Balanced injection ---- */

TEST(GNI_SetBIConfig__SUCCESS__percent_and_entries)
{
	gni_bi_desc_t desc;

	RC(SUCCESS, GNI_SetBIConfig(CONF_DEVICE, 50, 25, GNI_BI_FLAG_APPLY_NOW));
	MUST(GNI_GetBIConfig(CONF_DEVICE, &desc));
	EXPECT_EQ(50, desc.current_bw);
	EXPECT_EQ(25, desc.current_aot_bw);
	RC(SUCCESS, GNI_SetBIConfig(CONF_DEVICE, GNI_BI_INJECT_BW_ORB_MAX, GNI_BI_INJECT_BW_ORB_MAX,
				    GNI_BI_FLAG_APPLY_NOW | GNI_BI_FLAG_VALUE_IS_NUM_ORB_ENTRIES));
	MUST(GNI_GetBIConfig(CONF_DEVICE, &desc));
	EXPECT_EQ(GNI_BI_INJECT_BW_ORB_MAX, desc.current_norbs);
	RC(SUCCESS, GNI_SetBIConfig(CONF_DEVICE, 0, 0, GNI_BI_FLAG_USE_DEFAULT_SETTINGS));
}

TEST(GNI_SetBIConfig__INVALID_PARAM__device_values_modes)
{
	RC(INVALID_PARAM, GNI_SetBIConfig(NO_DEVICE, 50, 50, GNI_BI_FLAG_APPLY_NOW));
	RC(INVALID_PARAM, GNI_SetBIConfig(CONF_DEVICE, GNI_BI_INJECT_BW_MAX + 1, 50, GNI_BI_FLAG_APPLY_NOW));
	RC(INVALID_PARAM, GNI_SetBIConfig(CONF_DEVICE, 50, GNI_BI_INJECT_BW_MAX + 1, GNI_BI_FLAG_APPLY_NOW));
	RC(INVALID_PARAM, GNI_SetBIConfig(CONF_DEVICE, GNI_BI_INJECT_BW_ORB_MAX + 1, 50,
					  GNI_BI_FLAG_VALUE_IS_NUM_ORB_ENTRIES));
	RC(INVALID_PARAM, GNI_SetBIConfig(CONF_DEVICE, 50, 50, 0x8000));
}

RC_TEST(GNI_SetBIConfig__PERMISSION_ERROR__not_root, PERMISSION_ERROR,
	CONF_NOBODY_RC(GNI_SetBIConfig(CONF_DEVICE, 50, 50, GNI_BI_FLAG_APPLY_NOW)));

TEST(GNI_GetBIConfig__SUCCESS__without_privilege)
{
	gni_bi_desc_t desc;

	memset(&desc, 0xff, sizeof(desc));
	RC(SUCCESS, GNI_GetBIConfig(CONF_DEVICE, &desc));
	EXPECT_GE(GNI_BI_INJECT_BW_MAX, desc.sys_def_bw);
	RC(SUCCESS, CONF_NOBODY_RC(GNI_GetBIConfig(CONF_DEVICE, &desc)));
}

TEST(GNI_GetBIConfig__INVALID_PARAM__device_or_pointer)
{
	gni_bi_desc_t desc;

	RC(INVALID_PARAM, GNI_GetBIConfig(NO_DEVICE, &desc));
	RC(INVALID_PARAM, GNI_GetBIConfig(CONF_DEVICE, NULL));
}

TEST(GNI_BISyncWait__SUCCESS__change_is_in_force)
{
	gni_bi_desc_t desc;

	MUST(GNI_SetBIConfig(CONF_DEVICE, 40, 40, GNI_BI_FLAG_APPLY_NOW));
	RC(SUCCESS, GNI_BISyncWait(CONF_DEVICE, 1000));
	MUST(GNI_GetBIConfig(CONF_DEVICE, &desc));
	EXPECT_EQ(desc.hss_seqnum, desc.cle_seqnum);
	MUST(GNI_SetBIConfig(CONF_DEVICE, 0, 0, GNI_BI_FLAG_USE_DEFAULT_SETTINGS));
}

RC_TEST(GNI_BISyncWait__INVALID_PARAM__no_such_device, INVALID_PARAM, GNI_BISyncWait(NO_DEVICE, 1000));

TEST_HARNESS_MAIN
