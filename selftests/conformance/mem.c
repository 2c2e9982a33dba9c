// SPDX-License-Identifier: GPL-2.0-only
/* Registered memory and handles of it. */
#include "conformance.h"

FIXTURE(mem)
{
	struct side s; /* without a registration of its own */
	uint8_t *data;
	gni_mem_handle_t mem;
};

static const gni_mem_handle_t none;

FIXTURE_SETUP(mem)
{
	ASSERT_EQ(0, self_open(&self->s));
	ASSERT_EQ(GNI_RC_SUCCESS, GNI_MemDeregister(self->s.nic, &self->s.mem));
	self->s.mem = none;
	self->mem = none;
	self->data = self->s.data;
}

FIXTURE_TEARDOWN(mem)
{
	side_close(&self->s);
}

#define REGISTER(address, length, cq, flags, index)                                                  \
	GNI_MemRegister(self->s.nic, (uint64_t)(uintptr_t)(address), length, cq, flags, index, &self->mem)
#define UNCHANGED() EXPECT_EQ(0, memcmp(&none, &self->mem, sizeof(none)))

/* ---- GNI_MemRegister ---- */

TEST_F(mem, GNI_MemRegister__SUCCESS__any_address_and_length)
{
	memset(self->data, 0x5a, CONF_BYTES);
	RC(SUCCESS, REGISTER(self->data + 3, 4097, NULL, GNI_MEM_READWRITE, CONF_NO_VMDH));
	EXPECT_NE(0, memcmp(&none, &self->mem, sizeof(none)));
	EXPECT_EQ(0x5a, self->data[4]);
	MUST(GNI_MemDeregister(self->s.nic, &self->mem));
}

TEST_F(mem, GNI_MemRegister__SUCCESS__slot_of_the_block)
{
	MUST(GNI_SetMddResources(self->s.nic, 4));
	RC(SUCCESS, REGISTER(self->data, CONF_PAGE, NULL, GNI_MEM_USE_VMDH, 2));
	MUST(GNI_MemDeregister(self->s.nic, &self->mem));
	RC(SUCCESS, REGISTER(self->data, CONF_PAGE, NULL, GNI_MEM_USE_VMDH, CONF_NO_VMDH));
	MUST(GNI_MemDeregister(self->s.nic, &self->mem));
}

TEST_F(mem, GNI_MemRegister__SUCCESS__reserve_then_update)
{
	RC(SUCCESS, REGISTER(self->data, 2 * CONF_PAGE, NULL, GNI_MEM_RESERVE_REGION, CONF_NO_VMDH));
	RC(SUCCESS, REGISTER(self->data, CONF_PAGE, NULL, GNI_MEM_UPDATE_REGION, CONF_NO_VMDH));
	MUST(GNI_MemDeregister(self->s.nic, &self->mem));
}

TEST_F(mem, GNI_MemRegister__INVALID_PARAM__queue_for_local_events)
{
	RC(INVALID_PARAM, REGISTER(self->data, CONF_PAGE, self->s.cq, GNI_MEM_READWRITE, CONF_NO_VMDH));
	UNCHANGED();
	RC(SUCCESS, REGISTER(self->data, CONF_PAGE, self->s.rx, GNI_MEM_READWRITE, CONF_NO_VMDH));
	MUST(GNI_MemDeregister(self->s.nic, &self->mem));
}

TEST_F(mem, GNI_MemRegister__INVALID_PARAM__length_0)
{
	RC(INVALID_PARAM, REGISTER(self->data, 0, NULL, GNI_MEM_READWRITE, CONF_NO_VMDH));
	UNCHANGED();
}

TEST_F(mem, GNI_MemRegister__INVALID_PARAM__handles_and_pointers)
{
	RC(INVALID_PARAM, GNI_MemRegister(NULL, (uintptr_t)self->data, 8, NULL, GNI_MEM_READWRITE,
					  CONF_NO_VMDH, &self->mem));
	RC(INVALID_PARAM, GNI_MemRegister(self->s.nic, (uintptr_t)self->data, 8, NULL,
					  GNI_MEM_READWRITE, CONF_NO_VMDH, NULL));
	RC(INVALID_PARAM, REGISTER(self->data, 8, CONF_NO_HANDLE(gni_cq_handle_t), GNI_MEM_READWRITE,
				   CONF_NO_VMDH));
	UNCHANGED();
}

TEST_F(mem, GNI_MemRegister__INVALID_PARAM__nothing_is_mapped_there)
{
	RC(INVALID_PARAM, REGISTER(CONF_PAGE, 8, NULL, GNI_MEM_READWRITE, CONF_NO_VMDH));
	UNCHANGED();
}

TEST_F(mem, GNI_MemRegister__INVALID_PARAM__no_block_was_set_aside)
{
	RC(INVALID_PARAM, REGISTER(self->data, 8, NULL, GNI_MEM_USE_VMDH, 0));
	UNCHANGED();
}

TEST_F(mem, GNI_MemRegister__INVALID_PARAM__update_of_what_is_not_reserved)
{
	RC(INVALID_PARAM, REGISTER(self->data, 8, NULL, GNI_MEM_UPDATE_REGION, CONF_NO_VMDH));
	UNCHANGED();
}

TEST_F(mem, GNI_MemRegister__ERROR_RESOURCE__slot_is_in_use)
{
	gni_mem_handle_t first;

	MUST(GNI_SetMddResources(self->s.nic, 4));
	MUST(REGISTER(self->data, CONF_PAGE, NULL, GNI_MEM_USE_VMDH, 2));
	first = self->mem;
	self->mem = none;
	RC(ERROR_RESOURCE, REGISTER(self->data, CONF_PAGE, NULL, GNI_MEM_USE_VMDH, 2));
	UNCHANGED();
	MUST(GNI_MemDeregister(self->s.nic, &first));
}

TEST(GNI_MemRegister__ERROR_RESOURCE__limit_of_the_job)
{
	gni_job_limits_t limits = conf_limits();
	gni_mem_handle_t mem = none;
	struct side s;

	limits.mdd_limit = 1;
	ASSERT_EQ(0, side_open(&s, conf_job(7003, &limits), 1));
	RC(ERROR_RESOURCE, GNI_MemRegister(s.nic, (uintptr_t)s.data, 8, NULL, GNI_MEM_READWRITE,
					   CONF_NO_VMDH, &mem));
	EXPECT_EQ(0, memcmp(&none, &mem, sizeof(none)));
	side_close(&s);
}

TEST(GNI_MemRegister__ERROR_NOMEM__no_address_space)
{
	gni_mem_handle_t mem = none;
	uint8_t *data = conf_pages(1);
	gni_cdm_handle_t cdm;
	gni_nic_handle_t nic;
	uint32_t pe;

	data[0] = 1;
	MUST(GNI_CdmCreate(1, GNI_FIND_ALLOC_PTAG, conf_cookie(), 0, &cdm));
	MUST(GNI_CdmAttach(cdm, CONF_DEVICE, &pe, &nic));
	conf_no_memory();
	RC(ERROR_NOMEM, GNI_MemRegister(nic, (uintptr_t)data, 8, NULL, GNI_MEM_READWRITE, CONF_NO_VMDH,
					&mem));
	conf_memory_again();
	EXPECT_EQ(0, memcmp(&none, &mem, sizeof(none)));
}

TEST_F(mem, GNI_MemRegister__ERROR_NOMEM__range_larger_than_the_machine)
{
	/* low enough for the range to end within any processor's addresses of a process */
	void *low = mmap((void *)(1ul << 40), CONF_PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_EQ((void *)(1ul << 40), low);
	RC(ERROR_NOMEM, REGISTER(low, 1ull << 39, NULL, GNI_MEM_RESERVE_REGION, CONF_NO_VMDH));
	UNCHANGED();
	munmap(low, CONF_PAGE);
}

TEST_F(mem, GNI_MemRegister__PERMISSION_ERROR__mapped_for_reading_only)
{
	ASSERT_EQ(0, mprotect(self->data, CONF_PAGE, PROT_READ));
	RC(PERMISSION_ERROR, REGISTER(self->data, 8, NULL, GNI_MEM_READWRITE, CONF_NO_VMDH));
	UNCHANGED();
	RC(SUCCESS, REGISTER(self->data, 8, NULL, GNI_MEM_READ_ONLY, CONF_NO_VMDH));
}

/* ---- GNI_MemRegisterSegments ---- */

static gni_mem_segment_t segment(uint8_t *at, uint64_t bytes)
{
	return (gni_mem_segment_t){ (uintptr_t)at, bytes };
}

#define SEGMENTS(list, count, cq, flags)                                                             \
	GNI_MemRegisterSegments(self->s.nic, list, count, cq, flags, CONF_NO_VMDH, &self->mem)

TEST_F(mem, GNI_MemRegisterSegments__SUCCESS__two_of_them)
{
	gni_mem_segment_t two[2] = { segment(self->data, CONF_PAGE),
				     segment(self->data + 4 * CONF_PAGE, 2 * CONF_PAGE) };

	RC(SUCCESS, SEGMENTS(two, 2, NULL, GNI_MEM_READWRITE));
	MUST(GNI_MemDeregister(self->s.nic, &self->mem));
}

TEST_F(mem, GNI_MemRegisterSegments__INVALID_PARAM__list_and_handles)
{
	gni_mem_segment_t one = segment(self->data, CONF_PAGE);
	gni_mem_segment_t empty = segment(self->data, 0);
	gni_mem_segment_t nowhere = { CONF_PAGE, CONF_PAGE };

	RC(INVALID_PARAM, SEGMENTS(NULL, 1, NULL, GNI_MEM_READWRITE));
	RC(INVALID_PARAM, SEGMENTS(&one, 0, NULL, GNI_MEM_READWRITE));
	RC(INVALID_PARAM, SEGMENTS(&empty, 1, NULL, GNI_MEM_READWRITE));
	RC(INVALID_PARAM, SEGMENTS(&nowhere, 1, NULL, GNI_MEM_READWRITE));
	RC(INVALID_PARAM, SEGMENTS(&one, 1, CONF_NO_HANDLE(gni_cq_handle_t), GNI_MEM_READWRITE));
	RC(INVALID_PARAM, GNI_MemRegisterSegments(NULL, &one, 1, NULL, GNI_MEM_READWRITE, CONF_NO_VMDH,
						  &self->mem));
	RC(INVALID_PARAM, GNI_MemRegisterSegments(self->s.nic, &one, 1, NULL, GNI_MEM_READWRITE,
						  CONF_NO_VMDH, NULL));
	UNCHANGED();
}

TEST(GNI_MemRegisterSegments__ERROR_RESOURCE__limit_of_the_job)
{
	gni_job_limits_t limits = conf_limits();
	gni_mem_handle_t mem = none;
	gni_mem_segment_t one;
	struct side s;

	limits.mdd_limit = 1;
	ASSERT_EQ(0, side_open(&s, conf_job(7004, &limits), 1));
	one = segment(s.data, CONF_PAGE);
	RC(ERROR_RESOURCE, GNI_MemRegisterSegments(s.nic, &one, 1, NULL, GNI_MEM_READWRITE, CONF_NO_VMDH,
						   &mem));
	side_close(&s);
}

TEST(GNI_MemRegisterSegments__ERROR_NOMEM__no_address_space)
{
	gni_mem_handle_t mem = none;
	gni_mem_segment_t one;
	uint8_t *data = conf_pages(1);
	gni_cdm_handle_t cdm;
	gni_nic_handle_t nic;
	uint32_t pe;

	data[0] = 1;
	one = segment(data, CONF_PAGE);
	MUST(GNI_CdmCreate(1, GNI_FIND_ALLOC_PTAG, conf_cookie(), 0, &cdm));
	MUST(GNI_CdmAttach(cdm, CONF_DEVICE, &pe, &nic));
	conf_no_memory();
	RC(ERROR_NOMEM, GNI_MemRegisterSegments(nic, &one, 1, NULL, GNI_MEM_READWRITE, CONF_NO_VMDH, &mem));
	conf_memory_again();
	EXPECT_EQ(0, memcmp(&none, &mem, sizeof(none)));
}

TEST_F(mem, GNI_MemRegisterSegments__PERMISSION_ERROR__mapped_for_reading_only)
{
	gni_mem_segment_t two[2] = { segment(self->data, CONF_PAGE),
				     segment(self->data + 4 * CONF_PAGE, CONF_PAGE) };

	ASSERT_EQ(0, mprotect(self->data + 4 * CONF_PAGE, CONF_PAGE, PROT_READ));
	RC(PERMISSION_ERROR, SEGMENTS(two, 2, NULL, GNI_MEM_READWRITE));
	UNCHANGED();
}

/* ---- GNI_SetMddResources ---- */

TEST_F(mem, GNI_SetMddResources__SUCCESS__a_block_of_8)
{
	RC(SUCCESS, GNI_SetMddResources(self->s.nic, 8));
}

TEST_F(mem, GNI_SetMddResources__INVALID_PARAM__handle_count_second_time)
{
	RC(INVALID_PARAM, GNI_SetMddResources(NULL, 8));
	RC(INVALID_PARAM, GNI_SetMddResources(self->s.nic, 0));
	MUST(GNI_SetMddResources(self->s.nic, 8));
	RC(INVALID_PARAM, GNI_SetMddResources(self->s.nic, 8));
}

TEST_F(mem, GNI_SetMddResources__ERROR_NOMEM__more_than_the_nic_has)
{
	gni_dev_res_desc_t desc;

	MUST(GNI_GetDevResInfo(CONF_DEVICE, GNI_DEV_RES_MDD, &desc));
	RC(ERROR_NOMEM, GNI_SetMddResources(self->s.nic, (uint32_t)desc.total + 1));
}

/* ---- GNI_MemDeregister ---- */

TEST_F(mem, GNI_MemDeregister__SUCCESS__contents_stay)
{
	self->data[17] = 0x42;
	MUST(REGISTER(self->data, CONF_BYTES, NULL, GNI_MEM_READWRITE, CONF_NO_VMDH));
	RC(SUCCESS, GNI_MemDeregister(self->s.nic, &self->mem));
	EXPECT_EQ(0x42, self->data[17]);
}

TEST_F(mem, GNI_MemDeregister__INVALID_PARAM__null_zero_twice)
{
	MUST(REGISTER(self->data, CONF_BYTES, NULL, GNI_MEM_READWRITE, CONF_NO_VMDH));
	RC(INVALID_PARAM, GNI_MemDeregister(NULL, &self->mem));
	RC(INVALID_PARAM, GNI_MemDeregister(self->s.nic, NULL));
	MUST(GNI_MemDeregister(self->s.nic, &self->mem));
	RC(INVALID_PARAM, GNI_MemDeregister(self->s.nic, &self->mem));
	self->mem = none;
	RC(INVALID_PARAM, GNI_MemDeregister(self->s.nic, &self->mem));
}

/* Handles are valid through every domain of a tag; UCX deregisters with another one than it has registered with. */
TEST(GNI_MemDeregister__SUCCESS__through_another_domain_of_the_tag)
{
	struct side a, b;

	ASSERT_EQ(0, two_open(&a, &b));
	RC(SUCCESS, GNI_MemDeregister(a.nic, &b.mem));
	RC(INVALID_PARAM, GNI_MemDeregister(b.nic, &b.mem));
	b.mem = none;
	side_close(&a);
	side_close(&b);
}

/* ---- GNI_MemHndlQueryAttr ---- */

TEST_F(mem, GNI_MemHndlQueryAttr__SUCCESS__read_only_or_not)
{
	int yesno = 9;

	MUST(REGISTER(self->data, CONF_PAGE, NULL, GNI_MEM_READ_ONLY, CONF_NO_VMDH));
	RC(SUCCESS, GNI_MemHndlQueryAttr(&self->mem, GNI_MEMHNDL_ATTR_READONLY, &yesno));
	EXPECT_EQ(1, yesno);
	MUST(GNI_MemDeregister(self->s.nic, &self->mem));
	MUST(REGISTER(self->data, CONF_PAGE, NULL, GNI_MEM_READWRITE, CONF_NO_VMDH));
	RC(SUCCESS, GNI_MemHndlQueryAttr(&self->mem, GNI_MEMHNDL_ATTR_READONLY, &yesno));
	EXPECT_EQ(0, yesno);
	RC(SUCCESS, GNI_MemHndlQueryAttr(&self->mem, GNI_MEMHNDL_ATTR_VMDH, &yesno));
	EXPECT_EQ(0, yesno);
}

TEST_F(mem, GNI_MemHndlQueryAttr__INVALID_PARAM__pointers_attribute_damage)
{
	gni_mem_handle_t damaged;
	int yesno;

	MUST(REGISTER(self->data, CONF_PAGE, NULL, GNI_MEM_READWRITE, CONF_NO_VMDH));
	damaged = self->mem;
	damaged.qword1 ^= 1;
	RC(INVALID_PARAM, GNI_MemHndlQueryAttr(NULL, GNI_MEMHNDL_ATTR_READONLY, &yesno));
	RC(INVALID_PARAM, GNI_MemHndlQueryAttr(&self->mem, GNI_MEMHNDL_ATTR_READONLY, NULL));
	RC(INVALID_PARAM, GNI_MemHndlQueryAttr(&self->mem, (gni_mem_handle_attr_t)0, &yesno));
	RC(INVALID_PARAM, GNI_MemHndlQueryAttr(&self->mem, (gni_mem_handle_attr_t)99, &yesno));
	RC(INVALID_PARAM, GNI_MemHndlQueryAttr(&damaged, GNI_MEMHNDL_ATTR_READONLY, &yesno));
}

/* ---- GNI_RebuildMemHndl ---- */

TEST_F(mem, GNI_RebuildMemHndl__SUCCESS__the_handle_of_another_slot)
{
	gni_mem_handle_t first, rebuilt;

	MUST(GNI_SetMddResources(self->s.nic, 4));
	MUST(REGISTER(self->data, CONF_PAGE, NULL, GNI_MEM_USE_VMDH, 1));
	first = self->mem;
	RC(SUCCESS, GNI_RebuildMemHndl(&first, 2, &rebuilt));
	MUST(REGISTER(self->data, CONF_PAGE, NULL, GNI_MEM_USE_VMDH, 2));
	EXPECT_EQ(0, memcmp(&self->mem, &rebuilt, sizeof(rebuilt)));
	MUST(GNI_MemDeregister(self->s.nic, &first));
}

TEST_F(mem, GNI_RebuildMemHndl__INVALID_PARAM__pointers_or_no_slot)
{
	gni_mem_handle_t rebuilt;

	MUST(REGISTER(self->data, CONF_PAGE, NULL, GNI_MEM_READWRITE, CONF_NO_VMDH));
	RC(INVALID_PARAM, GNI_RebuildMemHndl(NULL, 2, &rebuilt));
	RC(INVALID_PARAM, GNI_RebuildMemHndl(&self->mem, 2, NULL));
	RC(INVALID_PARAM, GNI_RebuildMemHndl(&self->mem, 2, &rebuilt));
}

TEST_F(mem, GNI_RebuildMemHndl__INVALID_STATE__never_updated)
{
	gni_mem_handle_t rebuilt;

	MUST(GNI_SetMddResources(self->s.nic, 4));
	MUST(REGISTER(self->data, CONF_PAGE, NULL, GNI_MEM_USE_VMDH | GNI_MEM_RESERVE_REGION, 1));
	RC(INVALID_STATE, GNI_RebuildMemHndl(&self->mem, 2, &rebuilt));
	MUST(REGISTER(self->data, CONF_PAGE, NULL, GNI_MEM_USE_VMDH | GNI_MEM_UPDATE_REGION, 1));
	RC(SUCCESS, GNI_RebuildMemHndl(&self->mem, 2, &rebuilt));
}

/* ---- GNI_MemQueryHndls ---- */

TEST_F(mem, GNI_MemQueryHndls__SUCCESS__walks_over_all)
{
	uint64_t address, length, seen = 0;
	gni_mem_handle_t walk = none;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		MUST(REGISTER(self->data + 2 * i * CONF_PAGE, CONF_PAGE, NULL, GNI_MEM_READWRITE,
			      CONF_NO_VMDH));
	}
	for (i = 0; i < 3; i++) {
		RC(SUCCESS, GNI_MemQueryHndls(self->s.nic, -1, &walk, &address, &length));
		EXPECT_EQ(CONF_PAGE, length);
		seen |= 1u << (address - (uintptr_t)self->data) / (2 * CONF_PAGE);
	}
	EXPECT_EQ(7, seen);
	RC(NO_MATCH, GNI_MemQueryHndls(self->s.nic, -1, &walk, &address, &length));
}

TEST_F(mem, GNI_MemQueryHndls__NO_MATCH__nothing_registered)
{
	uint64_t address = 1, length = 1;
	gni_mem_handle_t walk = none;

	RC(NO_MATCH, GNI_MemQueryHndls(self->s.nic, -1, &walk, &address, &length));
	EXPECT_EQ(0, address);
	EXPECT_EQ(0, length);
}

TEST_F(mem, GNI_MemQueryHndls__INVALID_PARAM__neither_nic_nor_file)
{
	uint64_t address = 1, length = 1;
	gni_mem_handle_t walk = none;

	RC(INVALID_PARAM, GNI_MemQueryHndls(NULL, -1, &walk, &address, &length));
	RC(INVALID_PARAM, GNI_MemQueryHndls(self->s.nic, -1, NULL, &address, &length));
	RC(INVALID_PARAM, GNI_MemQueryHndls(self->s.nic, -1, &walk, NULL, &length));
	RC(INVALID_PARAM, GNI_MemQueryHndls(self->s.nic, -1, &walk, &address, NULL));
}

TEST_F(mem, GNI_MemQueryHndls__INVALID_STATE__unknown_handle)
{
	uint64_t address = 1, length = 1;

	MUST(REGISTER(self->data, CONF_PAGE, NULL, GNI_MEM_READWRITE, CONF_NO_VMDH));
	MUST(GNI_MemDeregister(self->s.nic, &self->mem));
	RC(INVALID_STATE, GNI_MemQueryHndls(self->s.nic, -1, &self->mem, &address, &length));
	EXPECT_EQ(0, address);
	EXPECT_EQ(0, length);
}

TEST_HARNESS_MAIN
