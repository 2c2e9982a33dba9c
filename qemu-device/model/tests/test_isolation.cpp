/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the NIC refuses: the status names the cause, the event tells it, and memory stays as it was. */
#include "tests/pair.hpp"

using namespace aries_test;

namespace
{

constexpr uint64_t MARK = 0x5ec2e75ec2e75ec2;

/** An operation that must end with @status and leave the target alone. */
void refused(Pair &p, uint32_t status, unsigned int op = ARIES_FMA_PUT_LINE, unsigned int bytes = 8,
	     unsigned int mode = ARIES_EV_GLOBAL, unsigned int amo = 0)
{
	const uint64_t errors = p.a.counter(ARIES_CNT_ERRORS);

	for (uint64_t at = 0; at < BYTES; at += 8)
		p.word(at) = MARK;
	memset(p.a.line(FMAD), 0x11, ARIES_DESC_LINE_BYTES);
	assert_int_equal(p.a.ring(FMAD, op, bytes, mode, 9, amo), status);
	for (uint64_t at = 0; at < BYTES; at += 8)
		assert_int_equal(p.word(at), MARK);
	assert_int_equal(p.a.counter(ARIES_CNT_ERRORS), errors + 1);
	assert_int_equal((p.a.read(ARIES_FMAD_STATUS_N(FMAD), 8) >> 16) & 0xff, status);
	if (mode && status != ARIES_ST_CQ_OWNER && status != ARIES_ST_DISABLED && status != ARIES_ST_RESERVED) {
		const Event event = p.a.next_event(20);

		assert_int_equal(event.status(), status);
		assert_int_equal(event.tid(), 9);
	}
}

TEST(test_wrong_key)
{
	Pair p;

	p.a.set_key(PTAG_A, KEY + 1);
	refused(p, ARIES_ST_PTAG);
	refused(p, ARIES_ST_PTAG, ARIES_FMA_AMO_OP, 8, ARIES_EV_GLOBAL, 0x108);
	p.a.write64(ARIES_PTAG_KEY_N(PTAG_A), 0);
	refused(p, ARIES_ST_LOCAL_PTAG);
	p.a.set_key(PTAG_A, KEY);
	p.b.write64(ARIES_PTAG_KEY_N(PTAG_B), KEY);
	refused(p, ARIES_ST_PTAG);
}

TEST(test_forged_handle)
{
	Pair p;

	p.desc().mdh = MDH + 1;
	refused(p, ARIES_ST_MDD);
	p.desc().mdh = 0xfff;
	refused(p, ARIES_ST_MDD);
	p.desc().mdh = 0x1009; /* more than 12 bits: not taken modulo */
	refused(p, ARIES_ST_RESERVED);
}

TEST(test_bounds)
{
	Pair p;

	for (uint64_t offset : {BASE - 8, BASE - 1, BASE + BYTES - 7, BASE + BYTES, uint64_t(0), MASK40}) {
		p.desc().offset = offset;
		refused(p, ARIES_ST_BOUNDS);
	}
	p.desc().offset = BASE + BYTES - 1024;
	refused(p, ARIES_ST_BOUNDS, ARIES_FMA_PUT_LINE, 2048);
	refused(p, ARIES_ST_BOUNDS, ARIES_FMA_GET_OP, 1028);
	p.desc().offset = uint64_t(1) << 40 | BASE;
	refused(p, ARIES_ST_RESERVED);
}

TEST(test_read_only)
{
	Pair p;

	p.b.make_mdd(MDH + 1, PTAG_B, p.target, BYTES, BASE, ARIES_MDD_CTL_READ_ONLY_MASK);
	p.desc().mdh = MDH + 1;
	refused(p, ARIES_ST_ACCESS);
	refused(p, ARIES_ST_ACCESS, ARIES_FMA_AMO_OP, 8, ARIES_EV_GLOBAL, 0x008);
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_GET_OP, 8), ARIES_ST_OK);

	/* A page without the right to be written, in a region that has it. */
	auto *pte = reinterpret_cast<uint64_t *>(p.b.ram(p.table));

	p.desc().mdh = MDH;
	p.desc().offset = BASE + PAGE - 64;
	pte[1] &= ~ARIES_PTE_WRITE;
	refused(p, ARIES_ST_ACCESS, ARIES_FMA_PUT_LINE, 128);
}

TEST(test_local_read_only)
{
	Pair p;

	p.a.make_mdd(LOCAL_MDH + 1, PTAG_A, p.local, BYTES, BASE, ARIES_MDD_CTL_READ_ONLY_MASK);
	p.desc().local_mdh = LOCAL_MDH + 1;
	*p.a.ram(p.local) = 0x99;
	refused(p, ARIES_ST_LOCAL_ACCESS, ARIES_FMA_GET_OP, 8);
	assert_int_equal(*p.a.ram(p.local), 0x99);
	p.desc().local_mdh = LOCAL_MDH + 2;
	refused(p, ARIES_ST_LOCAL_MDD, ARIES_FMA_GET_OP, 8);
	p.a.set_key(4, KEY);
	p.a.make_mdd(LOCAL_MDH + 3, 4, p.local, BYTES, BASE);
	p.desc().local_mdh = LOCAL_MDH + 3;
	refused(p, ARIES_ST_LOCAL_PTAG, ARIES_FMA_GET_OP, 8);
}

TEST(test_translation)
{
	Pair p;
	auto *pte = reinterpret_cast<uint64_t *>(p.b.ram(p.table));
	const uint64_t good = pte[1];

	p.desc().offset = BASE + PAGE - 64;
	const uint64_t bad_entries[] = {good & ~ARIES_PTE_VALID, good | uint64_t(1) << 60, good | 4,
					ARIES_PTE_VALID | ARIES_PTE_WRITE | LOW_BYTES,
					ARIES_PTE_VALID | ARIES_PTE_WRITE | ARIES_PTE_ADDR_MASK};

	for (uint64_t bad : bad_entries) {
		pte[1] = bad;
		refused(p, ARIES_ST_TRANSLATION, ARIES_FMA_PUT_LINE, 128);
		refused(p, ARIES_ST_TRANSLATION, ARIES_FMA_GET_OP, 128);
	}
	/* The table itself is not memory. */
	p.b.write64(ARIES_MDD_BASE_N(40), 0);
	p.b.write64(ARIES_MDD_LENGTH_N(40), uint64_t(1) << 40);
	p.b.write64(ARIES_MDD_TABLE_N(40), ~uint64_t(0) & ~uint64_t(7));
	p.b.write64(ARIES_MDD_CTL_N(40), ARIES_MDD_CTL_VALID_MASK | uint64_t(PTAG_B) << 8 | uint64_t(12) << 16);
	p.desc().mdh = 40;
	for (uint64_t offset : {uint64_t(0), MASK40 & ~uint64_t(4095)}) {
		p.desc().offset = offset;
		refused(p, ARIES_ST_TRANSLATION);
	}
}

TEST(test_foreign_queue)
{
	Pair p;

	p.a.make_cq(22, 6, OWNER + 1);
	for (unsigned int cq : {22u, 23u, 1023u, 1024u, 0xffffu}) {
		p.desc().cq = uint16_t(cq);
		refused(p, ARIES_ST_CQ_OWNER);
		refused(p, ARIES_ST_CQ_OWNER, ARIES_FMA_PUT_LINE, 8, ARIES_EV_LOCAL);
	}
	assert_false(bool(p.a.next_event(22)));
}

TEST(test_no_remote_queue)
{
	Pair p;

	p.b.write64(ARIES_CQ_CTL_N(21), 0);
	refused(p, ARIES_ST_NO_CQ, ARIES_FMA_PUT_LINE, 8, ARIES_EV_GLOBAL | ARIES_EV_REMOTE);
	refused(p, ARIES_ST_NO_CQ, ARIES_FMA_CQWRITE, 0);
	p.b.make_mdd(MDH + 1, PTAG_B, p.target, BYTES, BASE);
	p.desc().mdh = MDH + 1;
	refused(p, ARIES_ST_NO_CQ, ARIES_FMA_PUT_LINE, 8, ARIES_EV_GLOBAL | ARIES_EV_REMOTE);
	refused(p, ARIES_ST_NO_CQ, ARIES_FMA_CQWRITE, 0);
}

TEST(test_bad_commands)
{
	Pair p;

	refused(p, ARIES_ST_BAD_OP, 0);
	refused(p, ARIES_ST_BAD_OP, 128);
	refused(p, ARIES_ST_BAD_OP, 255);
	refused(p, ARIES_ST_LENGTH, ARIES_FMA_PUT_LINE, 2049);
	refused(p, ARIES_ST_LENGTH, ARIES_FMA_GET_OP, 65535);
	refused(p, ARIES_ST_RESERVED, ARIES_FMA_PUT_LINE, 8, ARIES_EV_GLOBAL | 0x40);
	refused(p, ARIES_ST_RESERVED, ARIES_FMA_PUT_LINE, 8, ARIES_EV_GLOBAL | 0x80);
	p.desc().reserved = 1;
	refused(p, ARIES_ST_RESERVED);
	p.desc().reserved = 0;
	p.a.store(FMAD, ARIES_FMA_DOORBELL + ARIES_DB_FMA, 8,
		  uint64_t(1) << 63 | uint64_t(ARIES_FMA_PUT_LINE) << 32 | 8 << 16);
	assert_int_equal(p.a.status(FMAD), ARIES_ST_RESERVED);
}

TEST(test_nodes)
{
	Pair p;

	for (uint32_t pe : {2u, 255u, uint32_t(1) << 18, UINT32_MAX}) {
		p.desc().pe = pe;
		refused(p, ARIES_ST_NO_NODE);
	}
	p.desc().pe = 1;
	p.b.write32(ARIES_CTL_CONTROL, 0);
	refused(p, ARIES_ST_TIMEOUT);
	p.b.write32(ARIES_CTL_CONTROL, ARIES_CTL_CONTROL_ENABLE_MASK);
	aries_nic_set_bus_master(p.b.nic(), false);
	refused(p, ARIES_ST_TIMEOUT);
	aries_nic_set_bus_master(p.b.nic(), true);
	assert_int_equal(p.put(8), ARIES_ST_OK);
}

TEST(test_disabled)
{
	Pair p;

	p.a.disable_fmad(FMAD);
	refused(p, ARIES_ST_DISABLED);
	p.a.enable_fmad(FMAD, PTAG_A, OWNER);
	p.a.write32(ARIES_CTL_CONTROL, 0);
	refused(p, ARIES_ST_DISABLED);
	p.a.write32(ARIES_CTL_CONTROL, ARIES_CTL_CONTROL_ENABLE_MASK);
	aries_nic_set_bus_master(p.a.nic(), false);
	refused(p, ARIES_ST_DISABLED);
}

TEST(test_deregistered)
{
	Pair p;

	assert_int_equal(p.put(8), ARIES_ST_OK);
	assert_true(p.b.invalidate(MDH));
	refused(p, ARIES_ST_MDD);
	/* The same number for another region: the offset tells that it is not the same. */
	p.b.make_mdd(MDH, PTAG_B, p.b.alloc(BYTES), BYTES, BASE + (uint64_t(1) << 30));
	refused(p, ARIES_ST_BOUNDS);
}

TEST(test_error_queue)
{
	Pair p;

	p.desc().offset = BASE + BYTES;
	refused(p, ARIES_ST_BOUNDS);
	for (FakeHost *host : {&p.a, &p.b}) {
		host->main_loop();
		assert_int_equal(host->read(ARIES_ERR_COUNT, 4), 1);
		assert_int_equal(host->irqs[0], 1);
		assert_int_equal(host->read(ARIES_ERR_EVENT, 8) & 0xffff, ARIES_ST_BOUNDS);
		assert_int_equal(host->read(ARIES_ERR_EVENT, 8) >> 16 & 0xff, 0x04);
		assert_int_equal(host->read(ARIES_ERR_INFO_N(0), 8) >> 32, MDH);
		assert_int_equal(host->read(ARIES_ERR_INFO_N(1), 8), BASE + BYTES);
		assert_int_equal(host->read(ARIES_ERR_INFO_N(2), 8), 8);
	}
	assert_int_equal(p.a.read(ARIES_ERR_INFO_N(0), 8) & UINT32_MAX, 1);
	assert_int_equal(p.b.read(ARIES_ERR_INFO_N(0), 8) & UINT32_MAX, 0);
	assert_int_equal(p.b.counter(ARIES_CNT_RX_REFUSED), 1);
	for (int i = 0; i < 100; i++)
		refused(p, ARIES_ST_BOUNDS);
	assert_int_equal(p.a.read(ARIES_ERR_COUNT, 4), 64);
	assert_int_equal(p.a.read(ARIES_ERR_LOST, 4), 37);
	for (int i = 0; i < 64; i++)
		p.a.write32(ARIES_ERR_POP, 1);
	assert_int_equal(p.a.read(ARIES_ERR_COUNT, 4), 0);
	assert_int_equal(p.a.read(ARIES_ERR_EVENT, 8), 0);
}

TEST(test_faults)
{
	Pair p;
	char err[128] = "";
	uint64_t value = 0;

	aries_nic_set_fault(p.a.nic(), "drop", 1, err, sizeof(err));
	refused(p, ARIES_ST_TIMEOUT);
	assert_int_equal(p.put(8), 0);
	aries_nic_set_fault(p.a.nic(), "corrupt", 1, err, sizeof(err));
	refused(p, ARIES_ST_CRC);
	assert_int_equal(p.put(8), 0);
	aries_nic_set_fault(p.a.nic(), "link", 0, err, sizeof(err));
	refused(p, ARIES_ST_NO_NODE);
	assert_int_equal(p.a.read(ARIES_CTL_STATUS, 4) & ARIES_CTL_STATUS_LINK_MASK, 0);
	aries_nic_set_fault(p.a.nic(), "link", 1, err, sizeof(err));
	assert_int_equal(p.put(8), 0);
	aries_nic_set_fault(p.b.nic(), "link", 0, err, sizeof(err));
	refused(p, ARIES_ST_NO_NODE);
	aries_nic_set_fault(p.b.nic(), "link", 1, err, sizeof(err));
	aries_nic_set_fault(p.a.nic(), "delay-ns", 1000000, err, sizeof(err));
	assert_int_equal(p.put(8), 0);
	assert_true(p.a.counter(ARIES_CNT_LATENCY_LAST_NS) > 1000000);
	assert_int_equal(aries_nic_get_fault(p.a.nic(), "delay-ns", &value), 0);
	assert_int_equal(value, 1000000);
	assert_int_equal(aries_nic_set_fault(p.a.nic(), "link", 2, err, sizeof(err)), -1);
	assert_true(strlen(err) > 0);
	assert_int_equal(aries_nic_set_fault(p.a.nic(), "fire", 1, err, sizeof(err)), -1);
	assert_int_equal(aries_nic_get_fault(p.a.nic(), "fire", &value), -1);
}

} // namespace

TEST_MAIN("tests")
