// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file Atomics on 8 bytes. */
#include "entry.hpp"

using namespace dmapp;

namespace
{

struct Word {
	const void *at;
	const dmapp_seg_desc_t *seg;
	dmapp_pe_t pe;
};

ugni_rma_amo command(uint32_t opcode, int64_t first, int64_t second = 0)
{
	return {opcode, {static_cast<uint64_t>(first), static_cast<uint64_t>(second)}};
}

dmapp_return_t aim_word(Instance &i, const Word &w, Place *place)
{
	const dmapp_return_t rc = i.aim(w.at, w.seg, w.pe, 8, false, place);

	return rc == DMAPP_RC_SUCCESS && place->address % 8 ? DMAPP_RC_ALIGNMENT_ERROR : rc;
}

/* Those without an answer may wait for others. */
dmapp_return_t change(const How &how, const Word &w, uint32_t opcode, int64_t operand)
{
	return enter([&](Instance &i) {
		return i.perform(how, [&](Pending &p) {
			Place to;
			const dmapp_return_t rc = aim_word(i, w, &to);

			if (rc != DMAPP_RC_SUCCESS)
				return rc;
			if (how.form == Form::implicit)
				i.batch(to, ARIES_LAUNCH_AMO, static_cast<uint64_t>(operand), opcode, p);
			else
				i.atomic(to, command(opcode, operand), nullptr, p);
			return rc;
		});
	});
}

dmapp_return_t fetch(const How &how, void *old, const Word &w, const ugni_rma_amo &amo)
{
	return enter([&](Instance &i) {
		return i.perform(how, [&](Pending &p) {
			Place to;
			const dmapp_return_t rc = old ? aim_word(i, w, &to) : DMAPP_RC_INVALID_PARAM;

			if (rc != DMAPP_RC_SUCCESS)
				return rc;
			/* What this PE has changed before without waiting comes first. */
			i.words_first();
			i.atomic(to, amo, old, p);
			return rc;
		});
	});
}

} // namespace

#define CHANGE(name, opcode)                                                                                           \
	DMAPP_FORMS(name, change,                                                                                      \
		    (void *remote_dst, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe, int64_t operand),           \
		    ({remote_dst, remote_seg, remote_pe}, opcode, operand))
#define FETCH(name, opcode)                                                                                            \
	DMAPP_FORMS(name, fetch,                                                                                       \
		    (void *local_old, void *remote_src, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe,            \
		     int64_t operand),                                                                                 \
		    (local_old, {remote_src, remote_seg, remote_pe}, command(opcode, operand)))
#define FETCH_TWO(name, opcode, first, second)                                                                         \
	DMAPP_FORMS(name, fetch,                                                                                       \
		    (void *local_old, void *remote_src, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe,            \
		     int64_t first, int64_t second),                                                                   \
		    (local_old, {remote_src, remote_seg, remote_pe}, command(opcode, first, second)))

CHANGE(aadd_qw, GNI_FMA_ATOMIC_ADD)
CHANGE(aand_qw, GNI_FMA_ATOMIC_AND)
CHANGE(aor_qw, GNI_FMA_ATOMIC_OR)
CHANGE(axor_qw, GNI_FMA_ATOMIC_XOR)
FETCH(afadd_qw, GNI_FMA_ATOMIC_FADD)
FETCH(afand_qw, GNI_FMA_ATOMIC_FAND)
FETCH(afor_qw, GNI_FMA_ATOMIC_FOR)
FETCH(afxor_qw, GNI_FMA_ATOMIC_FXOR)
FETCH_TWO(afax_qw, GNI_FMA_ATOMIC_FAX, and_mask, xor_mask)
FETCH_TWO(acswap_qw, GNI_FMA_ATOMIC_CSWAP, compare, swap)
