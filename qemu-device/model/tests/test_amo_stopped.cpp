/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lazy atomics at the own node while a peer is stopped in the cache: what is done is seen, or it is said that it is
 * not. */
#include "tests/lazy_pair.hpp"
#include "tests/peer_process.hpp"

using namespace aries_test;

namespace
{

/** A node with a region of its own, and a peer, in whose name locks are held. */
struct Lazy {
	const std::string path = fabric_path();
	PeerProcess peer{path, 1};
	FakeHost host{path, 0};
	RawSegment raw{path};
	uint64_t region, landing;

	Lazy()
	{
		set_lazy(host, true);
		aim_at_peer(host);
		host.enable_fmad(FMAD, PTAG_A, OWNER, CACHED_CTL);
		host.make_cq(20, 6, OWNER);
		region = host.alloc(BYTES);
		landing = host.alloc(BYTES);
		host.make_mdd(MDH, PTAG_A, region, BYTES, BASE);
		host.make_mdd(LOCAL_MDH, PTAG_A, landing, BYTES, BASE);
		host.desc(FMAD).pe = 0;
		host.desc(FMAD).local_mdh = LOCAL_MDH;
		host.desc(FMAD).local_offset = BASE;
		host.desc(FMAD).operand[0] = 7;
	}
	~Lazy() { peer.kill(); }

	/** The peer is in all sets of the cache, or in none. */
	void hold(bool on)
	{
		for (auto &lock : raw.node(0).amo_cache.lock)
			lock.store(on ? peer.lock_word(raw) : 0);
	}
	uint32_t get() const { return host.ring(FMAD, ARIES_FMA_GET_OP, 8); }
	/** From the word to the other region. */
	unsigned int block_put()
	{
		host.slot(FMAD, 0) = block_transfer(ARIES_BTE_PUT, LOCAL_MDH, MDH, 8);
		host.slot(FMAD, 0).pe = 0;
		host.ring_bte(FMAD, 0);
		return host.wait_event(20, 5000).status();
	}
	uint64_t fetched() const { return *reinterpret_cast<uint64_t *>(host.ram(landing)); }
};

TEST(test_own_node)
{
	Lazy p;

	assert_int_equal(p.host.ring(FMAD, ARIES_FMA_AMO_OP, 8, 0, 0, ADD_C), ARIES_ST_OK);
	p.hold(true);
	assert_int_equal(p.get(), ARIES_ST_TIMEOUT);
	assert_int_equal(p.block_put(), ARIES_ST_TIMEOUT);
	assert_int_equal(p.host.ring(FMAD, ARIES_FMA_AMO_OP, 8, 0, 0, ADD_C), ARIES_ST_TIMEOUT);
	assert_int_equal(p.fetched(), 0);
	p.hold(false);
	assert_int_equal(p.get(), ARIES_ST_OK);
	assert_int_equal(p.fetched(), 7);
	assert_int_equal(p.block_put(), ARIES_ST_OK);
	assert_int_equal(p.fetched(), 7);
}

} // namespace

TEST_MAIN("tests")
