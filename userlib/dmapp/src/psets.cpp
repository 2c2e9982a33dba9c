// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "psets.hpp"
#include "codes.hpp"
#include "entry.hpp"

#include <algorithm>
#include <cstring>
#include <ctime>

namespace dmapp
{

namespace
{

/* Engines below one in the tree; the other children are the members of its node. */
constexpr size_t kBelow = 8;
constexpr uint32_t kModes = GNI_CE_MODE_ROUND_NEAR | GNI_CE_MODE_CQE_ONERR | GNI_CE_MODE_RC_ADAPT;
constexpr long kLongestNapNs = 1000000;
constexpr uint32_t kNaps = 30000;

dmapp_pe_t member(const Pset &s, int place)
{
	return s.notice->base + place * s.notice->stride;
}

/* Return: the set's, or INVALID_PARAM with nullptr. */
Pset *find(Instance &i, dmapp_c_pset_handle_t handle)
{
	const auto index = static_cast<uint32_t>(handle);

	if (!index || index > kSets)
		return nullptr;
	Pset &s = i.psets[index - 1];
	return s.notice && s.generation == handle >> 32 ? &s : nullptr;
}

/* Its members are PEs, each once, and this one is among them. Return: this one's place, -1 if not. */
int place_of(const Instance &i, const dmapp_c_pset_delimiter_strided_t &d)
{
	const int64_t last = d.base_pe + (static_cast<int64_t>(d.n_pes) - 1) * d.stride_pe;

	if (d.n_pes < 1 || (d.n_pes > 1 && !d.stride_pe) || d.base_pe < 0 || d.base_pe >= i.npes() || last < 0 ||
	    last >= i.npes())
		return -1;
	if (d.n_pes == 1)
		return i.pe() == d.base_pe ? 0 : -1;
	const int64_t steps = (static_cast<int64_t>(i.pe()) - d.base_pe) / d.stride_pe;
	return steps >= 0 && steps < d.n_pes && d.base_pe + steps * d.stride_pe == i.pe() ? static_cast<int>(steps)
											  : -1;
}

void divide(const Instance &i, Pset &s)
{
	std::vector<uint32_t> nodes;

	for (int place = 0; place < s.notice->count; place++) {
		const uint32_t node = i.card(member(s, place)).address;

		if (node == i.card(i.pe()).address)
			s.local.push_back(place);
		if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) {
			nodes.push_back(node);
			s.leaders.push_back(place);
		}
	}
}

void cut(Pset &s)
{
	for (gni_ep_handle_t ep : s.edges)
		(void)GNI_EpDestroy(ep);
	s.edges.clear();
}

void discard(Pset &s)
{
	cut(s);
	if (s.engine)
		(void)GNI_CeDestroy(s.engine);
	__atomic_store_n(&s.notice->state, Notice::kFree, __ATOMIC_RELEASE);
	const uint32_t generation = s.generation + 1;
	s = {};
	s.generation = generation;
}

dmapp_return_t create(Instance &i, const dmapp_c_pset_desc_t &desc, uint64_t identifier, dmapp_c_pset_handle_t *handle)
{
	const dmapp_c_pset_delimiter_strided_t &d = desc.u.stride_type;
	/* Others may read it at any time: it says so last that it is there. */
	const Notice wanted = {identifier, d.base_pe, d.n_pes > 1 ? d.stride_pe : 1, d.n_pes, 0, Notice::kFree, {}};
	const int me = place_of(i, d);

	if (desc.type != DMAPP_C_PSET_DELIMITER_STRIDED || me < 0)
		return DMAPP_RC_INVALID_PARAM;
	uint32_t place = kSets;
	for (uint32_t n = kSets; n-- > 0;) {
		const Pset &s = i.psets[n];

		if (!s.notice)
			place = n;
		else if (s.notice->same_set(wanted))
			return DMAPP_RC_BUSY;
	}
	if (place == kSets)
		return DMAPP_RC_RESOURCE_ERROR;
	Pset &s = i.psets[place];
	s.notice = &i.shared()->board[place];
	*s.notice = wanted;
	s.me = me;
	divide(i, s);
	gni_return_t rc = GNI_RC_SUCCESS;
	if (s.leads()) {
		rc = GNI_CeCreate(i.nic(), &s.engine);
		if (rc == GNI_RC_SUCCESS)
			rc = GNI_CeGetId(s.engine, &s.notice->engine);
	}
	if (rc != GNI_RC_SUCCESS) {
		discard(s);
		return rc == GNI_RC_ILLEGAL_OP ? DMAPP_RC_NOT_SUPPORTED : code_of(rc);
	}
	__atomic_store_n(&s.notice->state, Notice::kCreated, __ATOMIC_RELEASE);
	*handle = uint64_t{s.generation} << 32 | (place + 1);
	return DMAPP_RC_SUCCESS;
}

/* What the member at @place says of the set. Return: NOT_FOUND: nothing. */
dmapp_return_t ask(Instance &i, const Pset &s, int place, Notice *notice)
{
	Board board;
	const dmapp_return_t rc = i.read_board(member(s, place), &board);

	if (rc != DMAPP_RC_SUCCESS)
		return rc;
	for (const Notice &n : board) {
		if (n.state != Notice::kFree && n.same_set(*s.notice)) {
			*notice = n;
			return rc;
		}
	}
	return DMAPP_RC_NOT_FOUND;
}

/* An edge of the tree from here to a member: its process, or its engine. */
dmapp_return_t edge(Instance &i, Pset &s, int place, uint32_t index, gni_ce_child_t kind, bool engine,
		    gni_ep_handle_t *ep)
{
	const Card &card = i.card(member(s, place));
	Notice notice{};

	if (engine) {
		const dmapp_return_t rc = ask(i, s, place, &notice);
		if (rc != DMAPP_RC_SUCCESS)
			return rc;
	}
	gni_return_t rc = GNI_EpCreate(i.nic(), i.queue(), ep);
	if (rc != GNI_RC_SUCCESS)
		return code_of(rc);
	s.edges.push_back(*ep);
	rc = GNI_EpBind(*ep, card.address, card.instance);
	if (rc == GNI_RC_SUCCESS)
		rc = GNI_EpSetCeAttr(*ep, notice.engine, index, kind);
	return code_of(rc);
}

/* Members of the node of a leader that is not here. */
uint32_t locals_of(const Instance &i, const Pset &s, int leader)
{
	uint32_t count = 0;

	for (int place = 0; place < s.notice->count; place++)
		count += i.card(member(s, place)).address == i.card(member(s, leader)).address;
	return count;
}

size_t rank_of(const Pset &s)
{
	return static_cast<size_t>(std::find(s.leaders.begin(), s.leaders.end(), s.local.front()) - s.leaders.begin());
}

/* The engine of this node: first the members here, then the engines below it. */
dmapp_return_t plant(Instance &i, Pset &s)
{
	const size_t mine = rank_of(s);
	std::vector<gni_ep_handle_t> children;
	gni_ep_handle_t parent = nullptr;
	dmapp_return_t rc = DMAPP_RC_SUCCESS;

	const auto add = [&](int place, gni_ce_child_t kind) {
		const auto index = static_cast<uint32_t>(children.size());

		if (rc == DMAPP_RC_SUCCESS)
			rc = edge(i, s, place, index, kind, kind == GNI_CE_CHILD_VCE, &children.emplace_back());
	};
	for (const int place : s.local)
		add(place, GNI_CE_CHILD_PE);
	for (size_t n = mine * kBelow + 1; n <= (mine + 1) * kBelow && n < s.leaders.size(); n++)
		add(s.leaders[n], GNI_CE_CHILD_VCE);
	if (mine && rc == DMAPP_RC_SUCCESS) {
		const int above = s.leaders[(mine - 1) / kBelow];

		rc = edge(i, s, above, locals_of(i, s, above) + static_cast<uint32_t>((mine - 1) % kBelow),
			  GNI_CE_CHILD_VCE, true, &parent);
	}
	if (rc != DMAPP_RC_SUCCESS)
		return rc;
	if (children.size() > GNI_CE_MAX_CHILDREN)
		return DMAPP_RC_RESOURCE_ERROR;
	return code_of(GNI_CeConfigure(s.engine, children.data(), static_cast<uint32_t>(children.size()), parent,
				       nullptr, kModes));
}

dmapp_return_t export_set(Instance &i, Pset &s)
{
	const auto own = std::find(s.local.begin(), s.local.end(), s.me) - s.local.begin();

	if (s.leaf)
		return DMAPP_RC_BUSY;
	/* What an attempt has left that was refused. */
	cut(s);
	dmapp_return_t rc = s.leads() ? plant(i, s) : DMAPP_RC_SUCCESS;
	gni_ep_handle_t leaf = nullptr;
	if (rc == DMAPP_RC_SUCCESS)
		rc = edge(i, s, s.local.front(), static_cast<uint32_t>(own), GNI_CE_CHILD_PE, true, &leaf);
	if (rc != DMAPP_RC_SUCCESS)
		return rc;
	s.leaf = leaf;
	__atomic_store_n(&s.notice->state, Notice::kExported, __ATOMIC_RELEASE);
	return rc;
}

/* Whom this PE depends on: a leader on the one above it, the others on their leader. NOT_DONE: it is not ready. */
dmapp_return_t meet(Instance &i, Pset &s)
{
	const size_t mine = rank_of(s);
	Notice notice{};

	if (s.met || (s.leads() && !mine)) {
		s.met = true;
		return DMAPP_RC_SUCCESS;
	}
	const dmapp_return_t rc = ask(i, s, s.leads() ? s.leaders[(mine - 1) / kBelow] : s.local.front(), &notice);
	s.met = rc == DMAPP_RC_SUCCESS && notice.state == Notice::kExported;
	return rc == DMAPP_RC_SUCCESS && !s.met ? DMAPP_RC_NOT_DONE : rc;
}

struct Reduction {
	gni_ce_cmd_type_t command;
	const void *in;
	void *out;
	uint32_t nelems;
	dmapp_c_type_t type;
};

uint64_t operand(const Reduction &r, uint32_t n)
{
	int32_t narrow = 0;
	uint64_t wide = 0;

	if (!r.in)
		return 0;
	if (r.type == DMAPP_C_INT32) {
		memcpy(&narrow, static_cast<const int32_t *>(r.in) + n, sizeof(narrow));
		return static_cast<uint64_t>(int64_t{narrow});
	}
	memcpy(&wide, static_cast<const uint64_t *>(r.in) + n, sizeof(wide));
	return wide;
}

Outcome *outcomes(Instance &i, const Pset &s)
{
	return &i.shared()->outcomes[static_cast<size_t>(&s - i.psets.data()) * kReduced];
}

dmapp_return_t contribute(Instance &i, Pset &s, const Reduction &r)
{
	s.nelems = 0;
	s.type = r.type;
	s.out = r.out;
	for (uint32_t n = 0; n < r.nelems; n++) {
		gni_post_descriptor_t d{};

		outcomes(i, s)[n] = {};
		d.type = GNI_POST_CE;
		d.ce_cmd = r.command;
		d.ce_red_id = ++s.serial;
		d.first_operand = operand(r, n);
		d.second_operand = static_cast<uint64_t>(s.me);
		d.local_addr = reinterpret_cast<uintptr_t>(&outcomes(i, s)[n].result);
		d.local_mem_hndl = i.own_handle();
		const gni_return_t rc = GNI_PostFma(s.leaf, &d);
		if (rc != GNI_RC_SUCCESS) {
			s.broken = true;
			return code_of(rc);
		}
		/* Those that were accepted are in progress, whatever becomes of the others. */
		s.active = true;
		s.nelems = n + 1;
	}
	return DMAPP_RC_SUCCESS;
}

/* One attempt to begin. NOT_DONE: the one that it depends on is not ready. */
dmapp_return_t begin(Instance &i, dmapp_c_pset_handle_t handle, const Reduction &r)
{
	Pset *s = find(i, handle);

	if (!s || !s->leaf)
		return DMAPP_RC_INVALID_PARAM;
	if (s->active)
		return DMAPP_RC_BUSY;
	if (s->broken)
		return DMAPP_RC_TRANSACTION_ERROR;
	i.flush();
	const dmapp_return_t rc = meet(i, *s);
	return rc == DMAPP_RC_SUCCESS ? contribute(i, *s, r) : rc;
}

void deliver(const Pset &s, const Outcome *from)
{
	for (uint32_t n = 0; s.out && n < s.nelems; n++) {
		const uint64_t value = from[n].result.result1;

		if (s.type == DMAPP_C_INT32)
			static_cast<int32_t *>(s.out)[n] = static_cast<int32_t>(value);
		else
			memcpy(static_cast<uint64_t *>(s.out) + n, &value, sizeof(value));
	}
}

/* NOT_DONE while it is in progress. */
dmapp_return_t look(Instance &i, dmapp_c_pset_handle_t handle)
{
	Pset *s = find(i, handle);

	i.flush();
	if (!s || !s->leaf)
		return DMAPP_RC_INVALID_PARAM;
	if (!s->active)
		return s->broken ? DMAPP_RC_TRANSACTION_ERROR : DMAPP_RC_SUCCESS;
	Outcome *all = outcomes(i, *s);
	for (uint32_t n = 0; n < s->nelems; n++) {
		const gni_return_t rc = GNI_CeCheckResult(&all[n].result, sizeof(all[n].result));

		if (rc == GNI_RC_NOT_DONE)
			return DMAPP_RC_NOT_DONE;
		/* Exceptions of floating point are no failure; a NIC that was reset is, and leaves no status. */
		s->broken = s->broken || (rc != GNI_RC_SUCCESS && rc != GNI_RC_TRANSACTION_ERROR) ||
			    !GNI_CE_RES_STATUS_OK(&all[n].result);
	}
	s->active = false;
	if (s->broken)
		return DMAPP_RC_TRANSACTION_ERROR;
	deliver(*s, all);
	return DMAPP_RC_SUCCESS;
}

/* Tries until it is no longer NOT_DONE; nobody else is kept from the library meanwhile. */
template <typename Try> dmapp_return_t until_done(uint32_t most, Try &&attempt)
{
	timespec nap = {0, 1000};
	dmapp_return_t rc;

	for (uint32_t n = 0; (rc = enter(attempt)) == DMAPP_RC_NOT_DONE && n < most; n++) {
		(void)nanosleep(&nap, nullptr);
		nap.tv_nsec = std::min(nap.tv_nsec * 2, kLongestNapNs);
	}
	return rc == DMAPP_RC_NOT_DONE ? DMAPP_RC_TRANSACTION_ERROR : rc;
}

} // namespace

} // namespace dmapp

using namespace dmapp;

dmapp_return_t dmapp_c_pset_create(dmapp_c_pset_desc_t *desc, uint64_t identifier, uint64_t modes,
				   dmapp_c_pset_attrs_t *attrs, dmapp_c_pset_handle_t *pset)
{
	return enter([&](Instance &i) {
		if (!desc || !pset || (modes & ~uint64_t{DMAPP_C_PSET_MODE_CONCAT}))
			return DMAPP_RC_INVALID_PARAM;
		return attrs ? DMAPP_RC_NOT_SUPPORTED : create(i, *desc, identifier, pset);
	});
}

dmapp_return_t dmapp_c_pset_export(dmapp_c_pset_handle_t pset)
{
	return enter([&](Instance &i) {
		Pset *s = find(i, pset);

		return s ? export_set(i, *s) : DMAPP_RC_INVALID_PARAM;
	});
}

dmapp_return_t dmapp_c_pset_destroy(dmapp_c_pset_handle_t pset)
{
	return enter([&](Instance &i) {
		Pset *s = find(i, pset);

		if (!s)
			return DMAPP_RC_INVALID_PARAM;
		if (s->active)
			return DMAPP_RC_BUSY;
		discard(*s);
		return DMAPP_RC_SUCCESS;
	});
}

dmapp_return_t dmapp_c_barrier_join(dmapp_c_pset_handle_t pset)
{
	const Reduction nothing = {GNI_FMA_CE_IADD, nullptr, nullptr, 1, DMAPP_C_INT64};

	return until_done(kNaps, [&](Instance &i) { return begin(i, pset, nothing); });
}

dmapp_return_t dmapp_c_greduce_start(dmapp_c_pset_handle_t pset, void *in, void *out, uint32_t nelems,
				     dmapp_c_type_t type, dmapp_c_op_t op)
{
	uint32_t most = 0;

	if (dmapp_c_greduce_nelems_max(type, &most) != DMAPP_RC_SUCCESS || !in || !out || !nelems || nelems > most ||
	    op != DMAPP_C_MAX)
		return DMAPP_RC_INVALID_PARAM;
	const Reduction r = {type == DMAPP_C_DOUBLE ? GNI_FMA_CE_FPMAX_LIDX : GNI_FMA_CE_IMAX_LIDX, in, out, nelems,
			     type};
	return until_done(kNaps, [&](Instance &i) { return begin(i, pset, r); });
}

dmapp_return_t dmapp_c_greduce_nelems_max(dmapp_c_type_t type, uint32_t *max_nelems)
{
	if (!max_nelems || (type != DMAPP_C_INT32 && type != DMAPP_C_INT64 && type != DMAPP_C_DOUBLE))
		return DMAPP_RC_INVALID_PARAM;
	*max_nelems = kReduced;
	return DMAPP_RC_SUCCESS;
}

dmapp_return_t dmapp_c_pset_test(dmapp_c_pset_handle_t pset)
{
	return enter([&](Instance &i) { return look(i, pset); });
}

/* A member that is lost is told by the NICs, and the loss of the own one by libugni. */
dmapp_return_t dmapp_c_pset_wait(dmapp_c_pset_handle_t pset)
{
	return until_done(UINT32_MAX, [&](Instance &i) { return look(i, pset); });
}

/* What has been contributed cannot be taken back. */
dmapp_return_t dmapp_c_pset_cancel_op(dmapp_c_pset_handle_t)
{
	return DMAPP_RC_NOT_SUPPORTED;
}
