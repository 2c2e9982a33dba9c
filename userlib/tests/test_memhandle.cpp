// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Memory handles: the bits that clients rely on. */
#include "cmocka_cpp.hpp"
#include "gni_memhandle.h"
#include "session.hpp"

/* The check value of CRC-8/MAXIM over "123456789" is 0xa1; here bit by bit, as the definition says. */
static uint8_t crc8_maxim(const unsigned char *bytes, size_t n)
{
	uint8_t crc = 0;

	for (size_t i = 0; i < n; i++) {
		crc ^= bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = static_cast<uint8_t>(crc & 1 ? (crc >> 1) ^ 0x8c : crc >> 1);
	}
	return crc;
}

TEST(crc_is_maxim)
{
	assert_int_equal(crc8_maxim(reinterpret_cast<const unsigned char *>("123456789"), 9), 0xa1);
	for (uint64_t i = 1; i < 200; i++) {
		gni_mem_handle_t h = {i * 0x9e3779b97f4a7c15, i * 0xd1b54a32d192ed03};
		/* Little endian: the 15 bytes before the code, in memory order. */
		assert_int_equal(gni_hndl_crc(&h), crc8_maxim(reinterpret_cast<const unsigned char *>(&h), 15));
	}
}

TEST(encode)
{
	gni_mem_handle_t h = gni_hndl_encode({.address = 0x7f1234567000,
					      .pages = 0x89,
					      .mdh = 0xabc,
					      .page_shift = 12,
					      .flags = GNI_HNDL_READ_ONLY});

	assert_true(h.qword1 == 0xabc00007f1234567);
	assert_true((h.qword2 & 0x00ffffffffffffff) == ((1ULL << 34) | (12ULL << 28) | 0x89));
	assert_true(gni_hndl_intact(&h));
	gni_hndl m = gni_hndl_decode(&h);
	assert_true(m.address == 0x7f1234567000 && m.pages == 0x89 && m.mdh == 0xabc && m.page_shift == 12 &&
		    m.flags == GNI_HNDL_READ_ONLY);
}

TEST(second_format)
{
	gni_mem_handle_t h = {0xfff0000000000001, 0};

	assert_int_equal(gni_hndl_mdh(&h), 0xfff);
	h.qword2 = static_cast<uint64_t>(GNI_HNDL_SECOND_FORMAT) << 34 | 0x123ULL << 42;
	assert_int_equal(gni_hndl_mdh(&h), 0x123);
}

TEST(none_and_damaged)
{
	gni_mem_handle_t h = {};

	assert_true(gni_hndl_none(&h));
	assert_false(gni_hndl_intact(&h));
	h = gni_hndl_encode({.address = 0x1000, .pages = 1, .mdh = 5, .page_shift = 12, .flags = 0});
	h.qword1 ^= 1;
	assert_false(gni_hndl_intact(&h));
}

TEST(registration_makes_a_handle)
{
	Session s;
	gni_mem_handle_t h = {1, 2};
	uint64_t address = 0x7f0000001234;

	assert_rc(SUCCESS, GNI_MemRegister(s.nic, address, 0x2000, nullptr, GNI_MEM_READ_ONLY, ~0U, &h));
	gni_hndl m = gni_hndl_decode(&h);
	assert_true(m.address == 0x7f0000001000 && m.pages == 3 && m.flags == GNI_HNDL_READ_ONLY && m.page_shift == 12);
	assert_int_equal(s.file().registrations.rbegin()->second.flags, KGNI_MEM_READ_ONLY);
	assert_int_equal(s.file().registrations.rbegin()->second.cq, KGNI_NO_CQ);
	int yes = 7;
	assert_rc(SUCCESS, GNI_MemHndlQueryAttr(&h, GNI_MEMHNDL_ATTR_READONLY, &yes));
	assert_int_equal(yes, 1);
	assert_rc(SUCCESS, GNI_MemHndlQueryAttr(&h, GNI_MEMHNDL_ATTR_CLONE, &yes));
	assert_int_equal(yes, 0);
	assert_rc(SUCCESS, GNI_MemDeregister(s.nic, &h));
	assert_rc(INVALID_PARAM, GNI_MemDeregister(s.nic, &h));
}

TEST(registration_failures)
{
	Session s;
	gni_mem_handle_t h = {1, 2};
	struct {
		int error;
		gni_return_t rc;
	} table[] = {{-ENOSPC, GNI_RC_ERROR_RESOURCE},  {-ENOMEM, GNI_RC_ERROR_NOMEM},
		     {-EFAULT, GNI_RC_INVALID_PARAM},   {-EACCES, GNI_RC_PERMISSION_ERROR},
		     {-EPERM, GNI_RC_PERMISSION_ERROR}, {-EFBIG, GNI_RC_INVALID_PARAM},
		     {-EIO, GNI_RC_ERROR_RESOURCE}};

	for (auto &t : table) {
		fake::kernel().errors[KGNI_IOC_MEM_REGISTER] = t.error;
		assert_int_equal(t.rc, GNI_MemRegister(s.nic, 0x1000, 1, nullptr, 0, ~0U, &h));
		assert_true(h.qword1 == 1 && h.qword2 == 2);
	}
	fake::kernel().errors.clear();
	assert_rc(INVALID_PARAM, GNI_MemRegister(s.nic, 0x1000, 0, nullptr, 0, ~0U, &h));
	assert_rc(INVALID_PARAM, GNI_MemRegister(s.nic, 0x1000, 1, nullptr, GNI_MEM_CUDA, ~0U, &h));
	assert_rc(INVALID_PARAM, GNI_MemRegister(s.nic, 0x1000, 1, nullptr, GNI_MEM_USE_GART, ~0U, &h));
	assert_rc(INVALID_PARAM, GNI_MemRegister(nullptr, 0x1000, 1, nullptr, 0, ~0U, &h));
	assert_rc(INVALID_PARAM, GNI_MemRegister(s.nic, 0x1000, 1, nullptr, 0, ~0U, nullptr));
	assert_true(h.qword1 == 1 && h.qword2 == 2);
	/* Ordering and pool flags are hints here. */
	assert_rc(SUCCESS, GNI_MemRegister(s.nic, 0x1000, 1, nullptr, GNI_MEM_RELAXED_PI_ORDERING | GNI_MEM_MDD_SHARED,
					   ~0U, &h));
	gni_mem_handle_t foreign = h;
	foreign.qword1 ^= 0x10;
	assert_rc(INVALID_PARAM, GNI_MemDeregister(s.nic, &foreign));
	gni_mem_handle_t zero = {};
	assert_rc(INVALID_PARAM, GNI_MemDeregister(s.nic, &zero));
}

/* Any NIC handle of the process on the device and with the tag will do, no other. */
TEST(deregister_through_another_handle)
{
	Session s;
	uint32_t address = 0;
	gni_cdm_handle_t same = nullptr, other = nullptr;
	gni_nic_handle_t nic = nullptr, stranger = nullptr;
	gni_cq_handle_t cq = nullptr;
	gni_mem_handle_t h = {};
	uint64_t at = 0, length = 0;

	assert_rc(SUCCESS, GNI_CqCreate(s.nic, 8, 0, GNI_CQ_NOBLOCK, nullptr, nullptr, &cq));
	assert_rc(SUCCESS, GNI_CdmCreate(78, GNI_FIND_ALLOC_PTAG, 0x1234, 0, &same));
	assert_rc(SUCCESS, GNI_CdmAttach(same, 0, &address, &nic));
	assert_rc(SUCCESS, GNI_CdmCreate(79, 34, 0x4321, 0, &other));
	assert_rc(SUCCESS, GNI_CdmAttach(other, 0, &address, &stranger));
	for (int i = 0; i < 3; i++) {
		assert_rc(SUCCESS, GNI_MemRegister(s.nic, 0x10000, 100, cq, 0, ~0U, &h));
		assert_rc(INVALID_PARAM, GNI_MemDeregister(stranger, &h));
		assert_rc(SUCCESS, GNI_MemDeregister(nic, &h));
		assert_rc(INVALID_PARAM, GNI_MemDeregister(nic, &h));
		assert_rc(INVALID_PARAM, GNI_MemDeregister(s.nic, &h));
	}
	assert_rc(SUCCESS, GNI_CqDestroy(cq)); /* nothing names it any more */
	/* What the driver refuses is still there. */
	assert_rc(SUCCESS, GNI_MemRegister(s.nic, 0x10000, 100, nullptr, 0, ~0U, &h));
	fake::kernel().errors[KGNI_IOC_MEM_DEREGISTER] = -EINVAL;
	assert_rc(INVALID_PARAM, GNI_MemDeregister(nic, &h));
	fake::kernel().errors.clear();
	gni_mem_handle_t walked = {};
	unsigned count = 0;
	while (GNI_MemQueryHndls(s.nic, -1, &walked, &at, &length) == GNI_RC_SUCCESS)
		count++;
	assert_int_equal(count, 2); /* the session's own, and this one */
	/* With its handle the registration goes. */
	assert_rc(SUCCESS, GNI_CdmDestroy(same));
	assert_rc(SUCCESS, GNI_MemDeregister(s.nic, &h));
	assert_rc(SUCCESS, GNI_CdmDestroy(other));
}

TEST(walk)
{
	Session s;
	gni_mem_handle_t h = {}, last = {};
	uint64_t address = 1, length = 1;
	unsigned count = 0;

	for (int i = 1; i <= 3; i++)
		assert_rc(SUCCESS, GNI_MemRegister(s.nic, static_cast<uint64_t>(i) << 12, 100, nullptr, 0, ~0U, &last));
	while (GNI_MemQueryHndls(s.nic, -1, &h, &address, &length) == GNI_RC_SUCCESS)
		count++;
	assert_int_equal(count, 4);
	assert_true(address == 0 && length == 0);
	gni_mem_handle_t unknown = last;
	unknown.qword2++;
	assert_rc(INVALID_STATE, GNI_MemQueryHndls(s.nic, -1, &unknown, &address, &length));
	assert_rc(INVALID_PARAM, GNI_MemQueryHndls(nullptr, -1, &h, &address, &length));
	const int fd = fake::kernel().files.begin()->first;
	/* By the open file: one of the two names, and a file of a NIC handle of ours. */
	h = {};
	for (count = 0; GNI_MemQueryHndls(nullptr, fd, &h, &address, &length) == GNI_RC_SUCCESS; count++)
		assert_true(length != 0);
	assert_int_equal(count, 4);
	assert_rc(INVALID_PARAM, GNI_MemQueryHndls(s.nic, fd, &h, &address, &length));
	assert_rc(INVALID_PARAM, GNI_MemQueryHndls(nullptr, fd + 1, &h, &address, &length));
	assert_rc(INVALID_PARAM, GNI_MemQueryHndls(nullptr, -1, &h, &address, &length));
	assert_rc(SUCCESS, GNI_CdmCheckpoint(s.cdm));
	h = {};
	assert_rc(SUCCESS, GNI_MemQueryHndls(nullptr, fd, &h, &address, &length));
	assert_rc(SUCCESS, GNI_CdmResume(s.cdm));
}

/* A place of the block and a memory domain of the same number are two registrations. */
TEST(virtual_and_plain)
{
	Session s;
	const uint32_t number = s.file().registrations.begin()->first;
	gni_mem_handle_t place = {}, plain = s.memory;

	assert_rc(SUCCESS, GNI_MemRegister(s.nic, reinterpret_cast<uint64_t>(s.bytes), 8, nullptr, GNI_MEM_USE_VMDH,
					   number, &place));
	assert_int_equal(gni_hndl_mdh(&place), gni_hndl_mdh(&plain));
	assert_rc(SUCCESS, GNI_MemDeregister(s.nic, &place));
	assert_rc(INVALID_PARAM, GNI_MemDeregister(s.nic, &place));
	assert_rc(SUCCESS, GNI_MemDeregister(s.nic, &plain));
}

TEST(rebuild)
{
	gni_mem_handle_t from =
		gni_hndl_encode({.address = 0, .pages = 9, .mdh = 5, .page_shift = 21, .flags = GNI_HNDL_VMDH});
	gni_mem_handle_t to = {};

	assert_rc(SUCCESS, GNI_RebuildMemHndl(&from, 77, &to));
	assert_int_equal(gni_hndl_mdh(&to), 77);
	assert_true(gni_hndl_intact(&to) && gni_hndl_decode(&to).pages == 9 && gni_hndl_decode(&to).page_shift == 21);
	from = gni_hndl_encode({.address = 0, .pages = 0, .mdh = 5, .page_shift = 12, .flags = GNI_HNDL_VMDH});
	assert_rc(INVALID_STATE, GNI_RebuildMemHndl(&from, 77, &to));
	from = gni_hndl_encode({.address = 0, .pages = 9, .mdh = 5, .page_shift = 12, .flags = 0});
	assert_rc(INVALID_PARAM, GNI_RebuildMemHndl(&from, 77, &to));
}

TEST_MAIN("memory handles")
