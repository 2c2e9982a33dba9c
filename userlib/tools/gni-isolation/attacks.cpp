// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * The attacks through the library: other domain, forged handles, bounds, rights, stale handles.
 */
#include "aries_hw.h"

#include "handle.h"
#include "own_node.h"
#include "stage.h"

namespace isolation
{

namespace
{

using Side = Attacker::Side;

constexpr gni_post_type_t types[] = {GNI_POST_FMA_PUT, GNI_POST_FMA_GET, GNI_POST_AMO, GNI_POST_RDMA_PUT,
				     GNI_POST_RDMA_GET};
constexpr gni_post_type_t writes[] = {GNI_POST_FMA_PUT, GNI_POST_AMO, GNI_POST_RDMA_PUT};
constexpr gni_post_type_t reads[] = {GNI_POST_FMA_GET, GNI_POST_RDMA_GET};

/* Every kind of transfer to one place must end with the same status; the text is that of the last one. */
template <class Types>
Outcome all_of(const Attacker &a, const Types &kinds, Side side, const Target &target, uint64_t address,
	       uint64_t status)
{
	Outcome outcome = {true, ""};
	for (gni_post_type_t type : kinds) {
		gni_post_descriptor_t d = a.describe(type, side, target, address, 8);
		outcome = a.expect_status(side, d, status);
		if (!outcome.right)
			break;
	}
	return outcome;
}

Target forged(Target target, const gni_mem_handle_t &handle)
{
	target.handle = handle;
	return target;
}

Outcome allowed(const Attacker &a)
{
	const Target &t = a.targets().open;
	gni_post_descriptor_t d = a.describe(GNI_POST_FMA_PUT, Side::Same, t, t.address + 64, 8);
	return a.expect_success(Side::Same, d);
}

Outcome other_domain(const Attacker &a)
{
	const Target &t = a.targets().open;
	return all_of(a, types, Side::Foreign, t, t.address + 64, ARIES_ST_PTAG);
}

Outcome unused_descriptor(const Attacker &a)
{
	const Target &t = a.targets().open;
	return all_of(a, types, Side::Same, forged(t, with_mdh(t.handle, 4000)), t.address + 64, ARIES_ST_MDD);
}

Outcome descriptor_of_other_region(const Attacker &a)
{
	const Target &t = a.targets().open;
	uint32_t mdh = handle_mdh(a.targets().other.handle);
	return all_of(a, types, Side::Same, forged(t, with_mdh(t.handle, mdh)), t.address + 64, ARIES_ST_BOUNDS);
}

/* Guessing of numbers: unused, or of another domain, or the attacker's own, which does not reach the address. */
Outcome every_descriptor(const Attacker &a)
{
	constexpr uint64_t causes[] = {ARIES_ST_MDD, ARIES_ST_PTAG, ARIES_ST_BOUNDS};
	const Target &t = a.targets().open;
	unsigned refused = 0;
	for (uint32_t mdh = 0; mdh < 4096; mdh++) {
		Target guess = forged(t, with_mdh(t.handle, mdh));
		gni_post_descriptor_t d = a.describe(GNI_POST_FMA_GET, Side::Foreign, guess, t.address, 8);
		Outcome outcome = a.expect_one_of(Side::Foreign, d, causes);
		if (!outcome.right)
			return outcome;
		refused++;
	}
	return {true, tools::rc_name(GNI_RC_TRANSACTION_ERROR) + " for each of " + std::to_string(refused)};
}

Outcome beyond_the_end(const Attacker &a)
{
	const Target &t = a.targets().open;
	Target wide = forged(t, with_range(t.handle, t.address, 1000));
	return all_of(a, types, Side::Same, wide, t.address + t.bytes, ARIES_ST_BOUNDS);
}

Outcome across_the_end(const Attacker &a)
{
	const Target &t = a.targets().open;
	Target wide = forged(t, with_range(t.handle, t.address, 1000));
	constexpr gni_post_type_t kinds[] = {GNI_POST_FMA_PUT, GNI_POST_FMA_GET, GNI_POST_RDMA_PUT, GNI_POST_RDMA_GET};
	return all_of(a, kinds, Side::Same, wide, t.address + t.bytes - 4, ARIES_ST_BOUNDS);
}

Outcome before_the_start(const Attacker &a)
{
	const Target &t = a.targets().open;
	Target wide = forged(t, with_range(t.handle, t.address - 4096, 1000));
	return all_of(a, types, Side::Same, wide, t.address - 8, ARIES_ST_BOUNDS);
}

Outcome large_and_out_of_bounds(const Attacker &a)
{
	/* Nothing of a transfer that starts within the region and ends beyond it may arrive. */
	const Target &t = a.targets().open;
	Target wide = forged(t, with_range(t.handle, t.address, 1000));
	gni_post_descriptor_t d = a.describe(GNI_POST_RDMA_PUT, Side::Same, wide, t.address + 4096, region_bytes);
	return a.expect_status(Side::Same, d, ARIES_ST_BOUNDS);
}

Outcome honest_out_of_bounds(const Attacker &a)
{
	const Target &t = a.targets().open;
	gni_post_descriptor_t d = a.describe(GNI_POST_FMA_PUT, Side::Same, t, t.address + t.bytes, 8);
	return a.expect_refusal(Side::Same, d, GNI_RC_INVALID_PARAM, ARIES_ST_BOUNDS);
}

Outcome read_only_marked(const Attacker &a)
{
	const Target &t = a.targets().read_only;
	Outcome outcome = {true, ""};
	for (gni_post_type_t type : writes) {
		gni_post_descriptor_t d = a.describe(type, Side::Same, t, t.address + 64, 8);
		outcome = a.expect_refusal(Side::Same, d, GNI_RC_PERMISSION_ERROR, ARIES_ST_ACCESS);
		if (!outcome.right)
			break;
	}
	return outcome;
}

Outcome read_only_forged(const Attacker &a)
{
	const Target &t = a.targets().read_only;
	return all_of(a, writes, Side::Same, forged(t, without_read_only(t.handle)), t.address + 64, ARIES_ST_ACCESS);
}

Outcome read_only_read(const Attacker &a)
{
	const Target &t = a.targets().read_only;
	Outcome outcome = {true, ""};
	for (gni_post_type_t type : reads) {
		gni_post_descriptor_t d = a.describe(type, Side::Same, t, t.address + 64, 8);
		outcome = a.expect_success(Side::Same, d);
		if (!outcome.right)
			break;
	}
	return outcome;
}

Outcome deregistered(const Attacker &a)
{
	const Target &t = a.targets().stale;
	return all_of(a, types, Side::Same, t, t.address + 64, ARIES_ST_MDD);
}

Outcome broken_checksum(const Attacker &a)
{
	const Target &t = a.targets().open;
	Target bad = forged(t, with_bad_crc(t.handle));
	gni_post_descriptor_t d = a.describe(GNI_POST_RDMA_PUT, Side::Same, bad, t.address + 64, 8);
	return a.expect_refusal(Side::Same, d, GNI_RC_INVALID_PARAM, ARIES_ST_MDD);
}

Outcome foreign_local_memory(const Attacker &a)
{
	const Target &t = a.targets().open;
	gni_post_descriptor_t d = a.describe(GNI_POST_RDMA_PUT, Side::Same, t, t.address + 64, 8);
	d.local_mem_hndl = a.handle(Side::Foreign);
	return a.expect_status(Side::Same, d, ARIES_ST_LOCAL_PTAG);
}

} // namespace

const std::vector<Attack> &attacks()
{
	static const std::vector<Attack> list = {
		{"allowed write arrives (control)", Victim::ExpectWrite, allowed},
		{"another domain", Victim::Nothing, other_domain},
		{"another domain, every descriptor tried", Victim::Nothing, every_descriptor},
		{"wrong cookie", Victim::Nothing, wrong_cookie},
		{"known cookie, unprivileged (control)", Victim::Nothing, known_cookie},
		{"tag of another cookie", Victim::Nothing, tag_of_other_cookie},
		{"forged handle, unused descriptor", Victim::Nothing, unused_descriptor},
		{"forged handle, descriptor of another region", Victim::Nothing, descriptor_of_other_region},
		{"forged handle, broken checksum", Victim::Nothing, broken_checksum},
		{"address out of bounds", Victim::Nothing, honest_out_of_bounds},
		{"forged length, beyond the end", Victim::Nothing, beyond_the_end},
		{"forged length, across the end", Victim::Nothing, across_the_end},
		{"forged length, before the start", Victim::Nothing, before_the_start},
		{"forged length, block transfer across the end", Victim::Nothing, large_and_out_of_bounds},
		{"read-only region", Victim::Nothing, read_only_marked},
		{"read-only region, mark forged away", Victim::Nothing, read_only_forged},
		{"read-only region is read (control)", Victim::Nothing, read_only_read},
		{"handle already deregistered", Victim::Deregister, deregistered},
		{"source memory of another domain", Victim::Nothing, foreign_local_memory},
		{"queue of another process", Victim::Nothing, queue_of_other},
		{"mapping of another descriptor", Victim::Nothing, map_of_other},
		{"node that does not exist", Victim::Nothing, no_such_node},
		{"allowed write still arrives (control)", Victim::ExpectWrite, allowed},
	};
	return list;
}

} // namespace isolation
