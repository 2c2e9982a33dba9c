/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Virtual node addresses (N05): granularity, replacement of failed nodes; and limits of injection. */
#include <memory>

#include "tests/pair.hpp"

using namespace aries_test;

namespace
{

constexpr unsigned int V = 2; /* descriptor with virtual addresses */
constexpr uint64_t FIRST = 100;

/** Node 0 puts to virtual nodes; every other node has the same region. */
struct Job {
	static constexpr uint32_t NODES = 6;
	std::string path = fabric_path();
	std::vector<std::unique_ptr<FakeHost>> host;
	std::vector<uint64_t> page;

	explicit Job(unsigned int entries)
	{
		FakeHost::Options options;

		options.nodes = NODES;
		for (uint32_t n = 0; n < NODES; n++) {
			host.push_back(std::make_unique<FakeHost>(path, n, options));
			host[n]->set_key(PTAG_A, KEY);
			page.push_back(host[n]->alloc(PAGE));
			host[n]->make_mdd(MDH, PTAG_A, page[n], PAGE, 0);
		}
		host[0]->enable_fmad(V, PTAG_A, OWNER, ARIES_FMAD_CTL_NTT_MASK | FIRST << 32 | uint64_t(entries) << 48);
		desc() = {};
		desc().mdh = MDH;
	}

	aries_fma_desc &desc() { return host[0]->desc(V); }
	void entry(uint64_t index, uint32_t pe)
	{
		host[0]->write32(ARIES_NTT_ENTRY_N(FIRST + index), ARIES_NTT_ENTRY_VALID_MASK | pe);
	}
	void replace(uint64_t index, uint32_t pe, uint32_t size)
	{
		host[0]->write32(ARIES_NTT_REPLACE_N(FIRST + index), pe | size << 18);
	}
	uint32_t put(uint32_t pe, uint64_t value)
	{
		desc().pe = pe;
		*reinterpret_cast<uint64_t *>(host[0]->line(V)) = value;
		return host[0]->ring(V, ARIES_FMA_PUT_LINE, 8);
	}
	uint64_t word(uint32_t node) { return *reinterpret_cast<uint64_t *>(host[node]->ram(page[node])); }
	/** Virtual node @pe is node @node. */
	void expect(uint32_t pe, uint32_t node)
	{
		static uint64_t value = 1000;

		assert_int_equal(put(pe, ++value), ARIES_ST_OK);
		assert_int_equal(word(node), value);
	}
};

TEST(test_blocks)
{
	Job job(2);

	job.host[0]->write32(ARIES_NTT_CONFIG, 1);
	job.entry(0, 4);
	job.entry(1, 1);
	job.expect(0, 4);
	job.expect(1, 5);
	job.expect(2, 1);
	job.expect(3, 2);
	assert_int_equal(job.put(4, 0), ARIES_ST_NTT);
	/* Nor if the entry behind its own is another job's. */
	job.entry(2, 2);
	assert_int_equal(job.put(4, 0), ARIES_ST_NTT);
	assert_int_equal(job.put(5, 0), ARIES_ST_NTT);
	/* The last node of the second block is elsewhere, then the whole block. */
	job.replace(1, 3, 1);
	job.expect(2, 1);
	job.expect(3, 3);
	job.replace(1, 4, 2);
	job.expect(2, 4);
	job.expect(3, 5);
	/* A block that reaches beyond the machine. */
	job.entry(0, 5);
	assert_int_equal(job.put(1, 0), ARIES_ST_NO_NODE);
}

/** N05: a node fails, and its replacement gets its virtual address. */
TEST(test_failed_node)
{
	Job job(4);

	for (uint32_t n = 0; n < 4; n++)
		job.entry(n, n + 1);
	job.expect(2, 3);
	job.host[3].reset();
	assert_int_not_equal(job.put(2, 1), ARIES_ST_OK);
	job.replace(2, 5, 1);
	job.expect(2, 5);
	job.expect(1, 2);
	job.expect(3, 4);
	/* Block transfers take the same way. */
	job.host[0]->make_mdd(LOCAL_MDH, PTAG_A, job.page[0], PAGE, 0);
	*reinterpret_cast<uint64_t *>(job.host[0]->ram(job.page[0])) = 0xb10c;
	aries_bte_desc &slot = job.host[0]->slot(V, 0);

	slot = {};
	slot.pe = 2;
	slot.mdh = MDH;
	slot.local_mdh = LOCAL_MDH;
	slot.length = 8;
	slot.op = ARIES_BTE_PUT;
	assert_int_equal(job.host[0]->ring_bte(V, 0), ARIES_ST_OK);
	assert_int_equal(job.word(5), 0xb10c);
}

TEST(test_largest_granularity)
{
	Job job(1);

	job.host[0]->write32(ARIES_NTT_CONFIG, 7);
	job.entry(0, 0);
	job.expect(5, 5);
	assert_int_equal(job.put(127, 0), ARIES_ST_NO_NODE);
	assert_int_equal(job.put(128, 0), ARIES_ST_NTT);
	job.replace(0, 1, 127);
	job.expect(1, 1);
	job.expect(5, 5);
	job.replace(0, 1, 128); /* the whole block */
	job.expect(1, 2);
	job.replace(0, 1, 129); /* more than the block has */
	assert_int_equal(job.put(0, 0), ARIES_ST_NTT);
	assert_int_equal(job.put(127, 0), ARIES_ST_NTT);
	job.replace(0, 0, 0);
	job.expect(5, 5);
	/* What is not valid has an address all the same. */
	job.host[0]->write32(ARIES_NTT_ENTRY_N(FIRST), 0);
	assert_int_equal(job.put(5, 0), ARIES_ST_NTT);
	job.entry(0, 0);
	job.replace(0, 1, 127);
	aries_nic_reset(job.host[0]->nic());
	assert_int_equal(job.host[0]->read(ARIES_NTT_REPLACE_N(FIRST), 4), 0);
}

/** With fewer requests under way a block transfer takes as many times longer as the window is filled. */
TEST(test_injection_limit)
{
	Pair p;

	p.a.slot(FMAD, 0) = block_transfer(ARIES_BTE_PUT, MDH, LOCAL_MDH, BYTES, 0);
	uint64_t latency[3];
	const uint32_t limits[3] = {0, 512, 64};

	for (int i = 0; i < 3; i++) {
		p.a.write32(ARIES_BI_LIMIT, limits[i]);
		assert_int_equal(p.a.read(ARIES_BI_LIMIT, 4), limits[i]);
		assert_int_equal(p.a.ring_bte(FMAD, 0), ARIES_ST_OK);
		while (p.a.counter(ARIES_CNT_BTE_PUTS) != uint64_t(i) + 1)
			usleep(100);
		latency[i] = p.a.counter(ARIES_CNT_LATENCY_LAST_NS);
	}
	assert_true(latency[1] > latency[0] * 3 / 2);
	assert_true(latency[2] > latency[1] * 4);
	/* Small operations go on, one at a time at least. */
	p.a.write32(ARIES_BI_LIMIT, 1);
	assert_int_equal(p.put(64), ARIES_ST_OK);
	assert_int_equal(p.put(2048), ARIES_ST_OK);
	p.a.write32(ARIES_BI_LIMIT, 1024);
	assert_int_equal(p.a.guest_errors, 1);
	aries_nic_reset(p.a.nic());
	assert_int_equal(p.a.read(ARIES_BI_LIMIT, 4), 0);
}

} // namespace

TEST_MAIN("tests")
