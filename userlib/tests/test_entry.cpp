// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Entries: what every layout must do for clients, and the error texts. */
#include "cmocka_cpp.hpp"
#include "fake_kernel.hpp"

#include <cstring>

TEST(bit_63_is_the_overrun_mark)
{
	gni_cq_entry_t e = fake::entry(7, ARIES_INFO_GLOBAL, 1);

	assert_false(GNI_CQ_OVERRUN(e));
	assert_true(GNI_CQ_OVERRUN(e | 1ULL << 63));
	assert_true(GNI_CQ_OVERRUN(1ULL << 63));
	assert_false(GNI_CQ_OVERRUN(~(1ULL << 63)));
}

TEST(bit_62_is_the_remote_overrun_mark)
{
	assert_true(GNI_CQ_REM_OVERRUN(1ULL << 62));
	assert_false(GNI_CQ_REM_OVERRUN(~(1ULL << 62)));
}

/* Clients inject this entry as a failed transaction. */
TEST(bit_48_alone_is_a_failed_transaction)
{
	gni_cq_entry_t e = 1ULL << 48;
	char text[256] = "";
	uint32_t recoverable = 7;

	assert_false(GNI_CQ_STATUS_OK(e));
	assert_rc(SUCCESS, GNI_CqErrorStr(e, text, sizeof(text)));
	assert_non_null(strchr(text, ':'));
	assert_rc(SUCCESS, GNI_CqErrorRecoverable(e, &recoverable));
	assert_true(recoverable <= 1);
}

TEST(fields)
{
	gni_cq_entry_t e = fake::entry(0xabcd, ARIES_INFO_REMOTE, 0xdeadbeef, 0x25, ARIES_SRC_REMOTE) | 2ULL << 60;

	assert_int_equal(GNI_CQ_GET_TID(e), 0xabcd);
	assert_int_equal(GNI_CQ_GET_MSG_ID(e), 0xdeadbeef);
	assert_int_equal(GNI_CQ_GET_REM_INST_ID(e), 0xdeadbeef);
	assert_int_equal(GNI_CQ_GET_INST_ID(e), 0xadbeef); /* 24 bits on Aries */
	assert_int_equal(GNI_CQ_GET_DATA(e), 0xdeadbeef);
	assert_int_equal(GNI_CQ_GET_STATUS(e), 0x25);
	assert_int_equal(GNI_CQ_GET_INFO(e), ARIES_INFO_REMOTE);
	assert_int_equal(GNI_CQ_GET_SOURCE(e), ARIES_SRC_REMOTE);
	assert_int_equal(GNI_CQ_GET_TYPE(e), GNI_CQ_EVENT_TYPE_DMAPP);
	assert_int_equal(GNI_CQ_GET_BLOCK_ID(e), 0);
	assert_int_equal(GNI_CQ_GET_CE_ID(e), 0);
	assert_false(GNI_CQ_STATUS_DLA_OVERFLOW(e));
	assert_false(GNI_CQ_BTE_ENQ_STATUS(e));
}

TEST(a_cq_write_carries_48_bits)
{
	gni_cq_entry_t e = 0xfedcba987654ULL | static_cast<uint64_t>(ARIES_SRC_CQWRITE) << ARIES_CQE_SOURCE_SHIFT;

	assert_true(GNI_CQ_GET_DATA(e) == 0xfedcba987654ULL);
}

TEST(modifiers)
{
	gni_cq_entry_t e = fake::entry(1, ARIES_INFO_LOCAL, 5, 3);
	gni_cq_entry_t others = e & (ARIES_CQE_INFO_MASK | ARIES_CQE_SOURCE_MASK);

	GNI_CQ_SET_INST_ID(e, 0xff123456);
	assert_int_equal(GNI_CQ_GET_REM_INST_ID(e), 0x123456);
	GNI_CQ_SET_REM_INST_ID(e, 0xff123456);
	assert_int_equal(GNI_CQ_GET_REM_INST_ID(e), 0xff123456);
	GNI_CQ_SET_MSG_ID(e, ~0ULL);
	assert_int_equal(GNI_CQ_GET_MSG_ID(e), 0xffffffff);
	GNI_CQ_SET_TID(e, 0x1ffff);
	assert_int_equal(GNI_CQ_GET_TID(e), 0xffff);
	GNI_CQ_SET_TYPE(e, 7);
	assert_int_equal(GNI_CQ_GET_TYPE(e), 3);
	GNI_CQ_CLR_STATUS(e);
	assert_true(GNI_CQ_STATUS_OK(e));
	assert_true((e & (ARIES_CQE_INFO_MASK | ARIES_CQE_SOURCE_MASK)) == others);
}

TEST(error_texts)
{
	char text[64];

	assert_rc(SUCCESS, GNI_CqErrorStr(fake::entry(1, 2, 0, ARIES_ST_BOUNDS), text, sizeof(text)));
	assert_string_equal(text, "FMA:OUT_OF_BOUNDS");
	assert_rc(SUCCESS, GNI_CqErrorStr(fake::entry(1, 2, 0, ARIES_ST_LOCAL_MDD, ARIES_SRC_BTE), text, sizeof(text)));
	assert_string_equal(text, "BTE:LOCAL_MDD_INVALID");
	assert_rc(SUCCESS, GNI_CqErrorStr(1ULL << 63, text, sizeof(text)));
	assert_string_equal(text, "CQ:OVERRUN");
	assert_rc(SIZE_ERROR, GNI_CqErrorStr(1ULL << 63, text, 10));
	assert_rc(SUCCESS, GNI_CqErrorStr(1ULL << 63, text, 11));
	assert_rc(INVALID_PARAM, GNI_CqErrorStr(1, nullptr, 10));
	assert_rc(INVALID_PARAM, GNI_CqErrorStr(1, text, 0));
	/* Every status, also those without a meaning, gives some text. */
	for (uint32_t status = 0; status < 64; status++)
		assert_rc(SUCCESS, GNI_CqErrorStr(fake::entry(1, 2, 0, status), text, sizeof(text)));
}

TEST(recoverable)
{
	uint32_t r = 9;

	assert_rc(SUCCESS, GNI_CqErrorRecoverable(fake::entry(1, 2, 0, ARIES_ST_TIMEOUT), &r));
	assert_int_equal(r, 1);
	assert_rc(SUCCESS, GNI_CqErrorRecoverable(fake::entry(1, 2, 0, ARIES_ST_NO_NODE), &r));
	assert_int_equal(r, 1);
	assert_rc(SUCCESS, GNI_CqErrorRecoverable(fake::entry(1, 2, 0, ARIES_ST_PTAG), &r));
	assert_int_equal(r, 0);
	assert_rc(INVALID_STATE, GNI_CqErrorRecoverable(fake::entry(1, 2, 0, 0x1f), &r));
	assert_rc(INVALID_PARAM, GNI_CqErrorRecoverable(0, nullptr));
}

TEST(names)
{
	assert_string_equal(gni_err_str[GNI_RC_SUCCESS], "GNI_RC_SUCCESS");
	assert_string_equal(gni_err_str[GNI_RC_ERROR_NOMEM], "GNI_RC_ERROR_NOMEM");
	assert_string_equal(gni_statistic_str[GNI_STAT_SMSG_RETRANS_STALL], "SMSG_RETRANS_STALL");
	assert_string_equal(gni_dev_res_to_str(GNI_DEV_RES_FMA), "GNI_DEV_RES_FMA");
	assert_string_equal(gni_job_res_to_str(GNI_JOB_RES_SFMA), "GNI_JOB_RES_SFMA");
	assert_string_equal(gni_dev_res_to_str(static_cast<gni_dev_res_t>(4711)), "UNKNOWN");
	assert_string_equal(gni_job_res_to_str(static_cast<gni_job_res_t>(4711)), "UNKNOWN");
}

TEST(collective_results)
{
	gni_ce_result_t r = {0x8000'1234ULL << 32 | 0x5 << 16 | ARIES_CER_DONE, 1, 2};

	assert_int_equal(GNI_CE_RES_GET_STATUS(&r), 0);
	assert_true(GNI_CE_RES_STATUS_OK(&r));
	assert_int_equal(GNI_CE_RES_GET_FPE(&r), GNI_CE_FPE_OP_INVAL | GNI_CE_FPE_UFLOW);
	assert_true(GNI_CE_RES_GET_RED_ID(&r) == 0x80001234);
	assert_rc(TRANSACTION_ERROR, GNI_CeCheckResult(&r, sizeof(r)));
	r.control = ARIES_CER_DONE | 0x1aULL << ARIES_CER_STATUS_SHIFT;
	assert_int_equal(GNI_CE_RES_GET_STATUS(&r), ARIES_ST_CE_MISMATCH);
	assert_false(GNI_CE_RES_STATUS_OK(&r));
	assert_rc(TRANSACTION_ERROR, GNI_CeCheckResult(&r, sizeof(r)));
	r.control = ARIES_CER_DONE;
	assert_rc(SUCCESS, GNI_CeCheckResult(&r, 0));
	r.control = 0;
	assert_false(GNI_CE_RES_STATUS_OK(&r));
	assert_rc(NOT_DONE, GNI_CeCheckResult(&r, sizeof(r)));
	assert_rc(INVALID_PARAM, GNI_CeCheckResult(nullptr, sizeof(r)));
}

/* Of a channel's event; that of a post has other things in these bits. */
TEST(collective_events)
{
	const gni_cq_entry_t channel = 0x99 | uint64_t{3} << ARIES_CQE_TID_SHIFT |
				       uint64_t{ARIES_INFO_REMOTE} << ARIES_CQE_INFO_SHIFT |
				       uint64_t{ARIES_SRC_CE} << ARIES_CQE_SOURCE_SHIFT;
	const gni_cq_entry_t post = (channel & ~ARIES_CQE_INFO_MASK) | uint64_t{ARIES_INFO_GLOBAL}
									       << ARIES_CQE_INFO_SHIFT;

	assert_int_equal(GNI_CQ_GET_CE_ID(channel), 3);
	assert_int_equal(GNI_CQ_GET_REDUCTN_ID(channel), 0x99);
	assert_int_equal(GNI_CQ_GET_CE_ID(post), 0);
	assert_int_equal(GNI_CQ_GET_REDUCTN_ID(post), 0);
}

TEST_MAIN("entries and names")
