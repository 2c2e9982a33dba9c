/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two nodes, and for each memory with ECC what needs an entry of it. */
#ifndef ARIES_TESTS_ECC_RIG_HPP
#define ARIES_TESTS_ECC_RIG_HPP

#include "tests/lazy_pair.hpp"

namespace aries_test
{

inline constexpr unsigned int V = 2; /* descriptor with virtual node addresses */
inline constexpr unsigned int NTT = 100, BLOCK = 7, RECEIVE = 3, BARE_ENGINE = 2, CHANNEL = 0xbeef, VIRTUAL_MDH = 5;
inline constexpr unsigned int FADD_CACHED = 0x018, CE_IADD = 0x15;
inline constexpr uint64_t WHOLE_NTT = ARIES_NTT_ENTRY_VALID_MASK | 1;

/** Node 0 puts to virtual node 0, which is node 1; more for memories that a put does not need. */
struct Rig : Pair {
	/* Transfers are hit while they are in the NIC: by its trace, in the middle of the next one. */
	bool pending = false, pending_twice = false;
	void (*during_copy)() = nullptr; /* of each transfer */
	static inline Rig *current = nullptr;

	static FakeHost::Options options()
	{
		FakeHost::Options options;

		options.on_trace = [](const char *event, uint64_t) {
			if (!current || strcmp(event, "bte_copied"))
				return;
			if (current->pending) {
				current->pending = false;
				assert_true(current->inject(current->a, ARIES_RAS_BTE, ARIES_FMA_DESCRIPTORS,
							    current->pending_twice));
			}
			if (void (*const hook)() = current->during_copy) {
				hook();
			}
		};
		return options;
	}

	Rig() : Pair(options())
	{
		current = this;
		set_lazy(b, true);
		a.enable_fmad(V, PTAG_A, OWNER,
			      ARIES_FMAD_CTL_NTT_MASK | ARIES_FMAD_CTL_CACHED_AMO_MASK | uint64_t(NTT) << 32 |
				      uint64_t(1) << 48);
		a.write32(ARIES_NTT_ENTRY_N(NTT), WHOLE_NTT);
		a.desc(V) = {};
		a.desc(V).mdh = MDH;
		a.desc(V).offset = BASE;
		a.desc(V).cq = 20;
		a.desc(V).local_mdh = LOCAL_MDH;
		a.desc(V).local_offset = BASE;
	}
	~Rig() { current = nullptr; }

	static bool inject(FakeHost &host, aries_ras_memory memory, uint32_t index, bool twice)
	{
		char err[256];

		return aries_nic_set_fault(host.nic(), twice ? "ecc-double" : "ecc-single",
					   uint64_t(memory) << 32 | index, err, sizeof(err)) == 0;
	}

	uint32_t put() { return a.ring(V, ARIES_FMA_PUT_LINE, 8); }
	uint32_t put_with(unsigned int mode) { return a.ring(V, ARIES_FMA_PUT_LINE, 8, mode); }
	/** A cached atomic whose result stays in the cache of node 1. */
	uint32_t add()
	{
		a.desc(V).operand[0] = 1;
		return a.ring(V, ARIES_FMA_AMO_OP, 8, 0, 0, FADD_CACHED);
	}
	uint32_t outcome()
	{
		const Event event = a.wait_event(20, 5000);

		assert_true(bool(event));
		assert_false(event.overrun());
		return event.status();
	}
	uint32_t transfer()
	{
		a.slot(FMAD, 0) = block_transfer(ARIES_BTE_PUT, MDH, LOCAL_MDH, BYTES);
		a.ring_bte(FMAD, 0);
		return outcome();
	}
	/** A transfer of a descriptor of its own; its event comes when it comes. */
	void start_transfer(unsigned int fmad)
	{
		a.enable_fmad(fmad, PTAG_A, OWNER);
		a.slot(fmad, 0) = block_transfer(ARIES_BTE_PUT, MDH, LOCAL_MDH, BYTES);
		a.ring_bte(fmad, 0);
	}
	void post_receive()
	{
		if (b.read(ARIES_RMT_CTL_N(RECEIVE), 8) & ARIES_RMT_CTL_VALID_MASK)
			return;
		b.write64(ARIES_RMT_OFFSET_N(RECEIVE), BASE);
		b.write32(ARIES_RMT_LENGTH_N(RECEIVE), uint32_t(BYTES));
		b.write64(ARIES_RMT_CTL_N(RECEIVE), ARIES_RMT_CTL_VALID_MASK | uint64_t(PTAG_B) << 8 |
							    uint64_t(CHANNEL) << 16 | uint64_t(MDH) << 32);
	}
	uint32_t send()
	{
		aries_bte_desc &d = a.slot(FMAD, 1);

		d = block_transfer(ARIES_BTE_SEND, 0, LOCAL_MDH, 64);
		d.offset = CHANNEL;
		a.ring_bte(FMAD, 1);
		const uint32_t status = outcome();

		post_receive();
		return status;
	}
	/** Node 0 is the only child of an engine of node 1: status of the result. */
	uint32_t collective()
	{
		auto &result = *reinterpret_cast<aries_ce_result *>(a.ram(local));

		a.desc(V).offset = BARE_ENGINE << 8;
		result = {};
		assert_int_equal(a.ring(V, ARIES_FMA_CE, 0, 0, 0, CE_IADD), ARIES_ST_OK);
		a.desc(V).offset = BASE;
		assert_true(result.control & ARIES_CER_DONE);
		return (result.control & ARIES_CER_STATUS_MASK) >> 8;
	}
	void rewrite(FakeHost &host, aries_ras_memory memory, uint32_t index)
	{
		host.write32(ARIES_RAS_REWRITE, uint32_t(memory) << 24 | index);
	}
};

/** An entry, and what the tests do with it. Functions that a memory does not have are nullptr. */
struct Subject {
	const char *name;
	aries_ras_memory memory;
	uint32_t index;
	unsigned int owner;             /* node that has it */
	uint32_t status;                /* of what needs the entry when it has two wrong bits */
	bool stays;                     /* until the entry is written anew; else for once */
	void (*prepare)(Rig &);         /* puts something into the entry */
	uint32_t (*use)(Rig &);         /* needs the entry: status */
	void (*write_anew)(Rig &);      /* of one that stays damaged */
	uint64_t (*shown)(Rig &);       /* the register that has the entry */
	bool (*hit)(Rig &, bool twice); /* another way to hit it */

	FakeHost &of(Rig &rig) const { return owner ? rig.b : rig.a; }
	bool strike(Rig &rig, bool twice = false) const
	{
		return hit ? hit(rig, twice) : Rig::inject(of(rig), memory, index, twice);
	}
	uint64_t corrected(Rig &rig) const { return of(rig).read(ARIES_RAS_CORRECTED_N(memory), 8); }
	uint64_t damaged(Rig &rig) const { return of(rig).read(ARIES_RAS_DAMAGED_N(memory), 8); }
	uint64_t first(Rig &rig) const { return of(rig).read(ARIES_RAS_FIRST_N(memory), 8); }
};

/** Each memory of the list has one: a memory without does not compile. */
template <aries_ras_memory> Subject subject();

template <> inline Subject subject<ARIES_RAS_NTT>()
{
	return {.name = "NTT",
		.memory = ARIES_RAS_NTT,
		.index = NTT,
		.owner = 0,
		.status = ARIES_ST_LOCAL_ECC,
		.stays = true,
		.use = [](Rig &rig) { return rig.put(); },
		.write_anew = [](Rig &rig) { rig.a.write32(ARIES_NTT_ENTRY_N(NTT), WHOLE_NTT); },
		.shown = [](Rig &rig) { return rig.a.read(ARIES_NTT_ENTRY_N(NTT), 4); }};
}

template <> inline Subject subject<ARIES_RAS_MDD>()
{
	return {.name = "MDD",
		.memory = ARIES_RAS_MDD,
		.index = MDH,
		.owner = 1,
		.status = ARIES_ST_ECC,
		.stays = true,
		.use = [](Rig &rig) { return rig.put(); },
		.write_anew =
			[](Rig &rig) {
				assert_true(rig.b.invalidate(MDH));
				rig.b.make_mdd(MDH, PTAG_B, rig.target, BYTES, BASE);
			},
		.shown = [](Rig &rig) { return rig.b.read(ARIES_MDD_CTL_N(MDH), 8); }};
}

template <> inline Subject subject<ARIES_RAS_FMAD>()
{
	return {.name = "FMAD",
		.memory = ARIES_RAS_FMAD,
		.index = V,
		.owner = 0,
		.status = ARIES_ST_LOCAL_ECC,
		.stays = true,
		.use = [](Rig &rig) { return rig.put(); },
		.write_anew = [](Rig &rig) { rig.a.write64(ARIES_FMAD_CTL_N(V), rig.a.read(ARIES_FMAD_CTL_N(V), 8)); },
		.shown = [](Rig &rig) { return rig.a.read(ARIES_FMAD_CTL_N(V), 8); }};
}

/* Line 0 of the memory domain, in the first way of its set. */
template <> inline Subject subject<ARIES_RAS_PTE>()
{
	return {.name = "PTE",
		.memory = ARIES_RAS_PTE,
		.index = MDH % 32 * 4,
		.owner = 1,
		.status = ARIES_ST_OK, /* read again */
		.stays = false,
		.prepare = [](Rig &rig) { assert_int_equal(rig.put(), ARIES_ST_OK); },
		.use = [](Rig &rig) { return rig.put(); }};
}

/* The word at the start of the region, which is at the start of a page. */
template <> inline Subject subject<ARIES_RAS_AMO>()
{
	return {.name = "AMO",
		.memory = ARIES_RAS_AMO,
		.index = 0,
		.owner = 1,
		.status = ARIES_ST_ECC,
		.stays = true,
		.prepare = [](Rig &rig) { assert_int_equal(rig.add(), ARIES_ST_OK); },
		.use = [](Rig &rig) { return rig.add(); },
		.write_anew =
			[](Rig &rig) {
				assert_int_equal(rig.put(), ARIES_ST_OK);
				assert_int_equal(rig.add(), ARIES_ST_OK);
			}};
}

template <> inline Subject subject<ARIES_RAS_ORB>()
{
	return {.name = "ORB",
		.memory = ARIES_RAS_ORB,
		.index = 77,
		.owner = 0,
		.status = ARIES_ST_LOCAL_ECC,
		.stays = false,
		.use = [](Rig &rig) { return rig.put(); }};
}

template <> inline Subject subject<ARIES_RAS_CQ>()
{
	return {.name = "CQ",
		.memory = ARIES_RAS_CQ,
		.index = 20,
		.owner = 0,
		.status = ARIES_ST_LOCAL_ECC,
		.stays = true,
		.use =
			[](Rig &rig) {
				const uint32_t status = rig.a.ring(V, ARIES_FMA_PUT_LINE, 8, ARIES_EV_GLOBAL);

				if (status == ARIES_ST_OK)
					assert_int_equal(rig.outcome(), ARIES_ST_OK);
				return status;
			},
		.write_anew = [](Rig &rig) { rig.rewrite(rig.a, ARIES_RAS_CQ, 20); },
		.shown = [](Rig &rig) { return rig.a.read(ARIES_CQ_CTL_N(20), 8); }};
}

template <> inline Subject subject<ARIES_RAS_CE>()
{
	return {.name = "CE",
		.memory = ARIES_RAS_CE,
		.index = BARE_ENGINE * ARIES_CE_CHILDREN,
		.owner = 1,
		.status = ARIES_ST_ECC,
		.stays = false,
		.prepare =
			[](Rig &rig) {
				rig.b.write64(ARIES_CE_CHILD_N(BARE_ENGINE * ARIES_CE_CHILDREN), uint64_t(2) << 24);
				rig.b.write64(ARIES_CE_CTL_N(BARE_ENGINE),
					      ARIES_CE_CTL_ENABLE_MASK | uint64_t(PTAG_B) << 8 | uint64_t(OWNER) << 16 |
						      uint64_t(1) << 32);
			},
		.use = [](Rig &rig) { return rig.collective(); }};
}

template <> inline Subject subject<ARIES_RAS_BTE>()
{
	return {.name = "BTE",
		.memory = ARIES_RAS_BTE,
		.index = ARIES_FMA_DESCRIPTORS,
		.owner = 0,
		.status = ARIES_ST_LOCAL_ECC,
		.stays = false,
		.use = [](Rig &rig) { return rig.transfer(); },
		.hit =
			[](Rig &rig, bool twice) {
				rig.pending_twice |= twice;
				return rig.pending = true;
			}};
}

template <> inline Subject subject<ARIES_RAS_VMDH>()
{
	return {.name = "VMDH",
		.memory = ARIES_RAS_VMDH,
		.index = BLOCK,
		.owner = 1,
		.status = ARIES_ST_ECC,
		.stays = true,
		.prepare =
			[](Rig &rig) {
				rig.b.make_mdd(1000 + VIRTUAL_MDH, PTAG_B, rig.target, BYTES, BASE);
				rig.b.write64(ARIES_VMDH_CTL_N(BLOCK),
					      ARIES_VMDH_CTL_VALID_MASK | uint64_t(PTAG_B) << 8 | uint64_t(1000) << 16 |
						      uint64_t(8) << 32);
				rig.a.desc(V).mdh = ARIES_MDH_VIRTUAL | VIRTUAL_MDH;
			},
		.use = [](Rig &rig) { return rig.put(); },
		.write_anew = [](Rig &rig) { rig.rewrite(rig.b, ARIES_RAS_VMDH, BLOCK); },
		.shown = [](Rig &rig) { return rig.b.read(ARIES_VMDH_CTL_N(BLOCK), 8); }};
}

template <> inline Subject subject<ARIES_RAS_PTAG>()
{
	return {.name = "PTAG",
		.memory = ARIES_RAS_PTAG,
		.index = PTAG_B,
		.owner = 1,
		.status = ARIES_ST_ECC,
		.stays = true,
		.use = [](Rig &rig) { return rig.put(); },
		.write_anew = [](Rig &rig) { rig.rewrite(rig.b, ARIES_RAS_PTAG, PTAG_B); },
		.shown = [](Rig &rig) { return rig.b.read(ARIES_PTAG_KEY_N(PTAG_B), 8); }};
}

template <> inline Subject subject<ARIES_RAS_RMT>()
{
	return {.name = "RMT",
		.memory = ARIES_RAS_RMT,
		.index = RECEIVE,
		.owner = 1,
		.status = ARIES_ST_ECC,
		.stays = true,
		.prepare = [](Rig &rig) { rig.post_receive(); },
		.use = [](Rig &rig) { return rig.send(); },
		.write_anew = [](Rig &rig) { rig.rewrite(rig.b, ARIES_RAS_RMT, RECEIVE); },
		.shown = [](Rig &rig) { return rig.b.read(ARIES_RMT_CTL_N(RECEIVE), 8); }};
}

/** All of them, in the order of the list. */
inline const Subject SUBJECTS[] = {
#define ARIES_ECC_SUBJECT(NAME, name, entries, row, text) subject<ARIES_RAS_##NAME>(),
	ARIES_RAS_MEMORIES(ARIES_ECC_SUBJECT)
#undef ARIES_ECC_SUBJECT
};

/** Two nodes, ready for what a subject needs. */
struct SubjectRig : Rig {
	explicit SubjectRig(const Subject &subject)
	{
		if (subject.prepare)
			subject.prepare(*this);
	}
};

} // namespace aries_test

#endif
