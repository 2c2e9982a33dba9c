// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * Addresses in regions of virtual handles count from the address that the handle carries: every kind of post, every
 * kind of handle at both ends, every byte of both regions looked at.
 */
#include "atomic.hpp"
#include "gni_memhandle.h"
#include "objects.hpp"
#include "rank.hpp"

#include <random>
#include <vector>

using namespace ugni;

namespace
{

constexpr size_t kPageBytes = 4096;
constexpr size_t kBytes = 40 * kPageBytes;
constexpr uint32_t kPlace = 5;
/* Registered from here on; the handle carries the address of the first page all the same. */
constexpr size_t kUnaligned = 104;

/* What a post can call a region by: a handle, and the address that its byte 0 has with that handle. */
struct Name {
	const char *what;
	gni_mem_handle_t handle;
	uint64_t start;

	uint64_t at(size_t offset) const { return start + offset; }
	bool checked() const { return gni_hndl_intact(&handle); }
};

/* As libfabric's scalable mode builds one: place and flag, all ones for the pages, no address; a check code or none. */
gni_mem_handle_t built(bool check_code)
{
	const gni_hndl m = {.address = 0, .pages = 0xfffffff, .mdh = kPlace, .page_shift = 12, .flags = GNI_HNDL_VMDH};
	gni_mem_handle_t h = gni_hndl_encode(m);

	if (!check_code)
		h.qword2 &= ~(0xffULL << 56);
	return h;
}

/* The region of one rank: registered with and without a place; and what it ought to hold. */
class Region
{
public:
	Region(const Rank &r, uint32_t node) : memory(model::memory(node, kBytes)), image(kBytes)
	{
		assert_rc(SUCCESS, GNI_SetMddResources(r.nic, kPlace + 1));
		assert_rc(SUCCESS, GNI_MemRegister(r.nic, start(), kBytes, r.remote, 0, ~0U, &plain));
		assert_rc(SUCCESS, GNI_MemRegister(r.nic, start() + kUnaligned, kBytes - kUnaligned, r.remote,
						   GNI_MEM_USE_VMDH, kPlace, &placed));
	}

	uint64_t start() const { return reinterpret_cast<uintptr_t>(memory); }
	void fill(size_t at, size_t length, std::mt19937 &random)
	{
		for (size_t i = at; i < at + length; i++)
			memory[i] = image[i] = static_cast<unsigned char>(random());
	}
	void expect(size_t at, const void *bytes, size_t length) { memcpy(&image[at], bytes, length); }
	void expect(size_t at, const Region &from, size_t source, size_t length)
	{
		expect(at, &from.image[source], length);
	}
	template <class Word> Word word(size_t at) const
	{
		Word w;

		memcpy(&w, &image[at], sizeof(w));
		return w;
	}
	void check(const char *what, const Name &local, const Name &remote) const
	{
		if (memcmp(memory, image.data(), kBytes) == 0)
			return;
		for (size_t i = 0; i < kBytes; i++) {
			if (memory[i] == image[i])
				continue;
			print_error("%s, local side by %s, remote side by %s: byte %zu is 0x%02x, not 0x%02x\n", what,
				    local.what, remote.what, i, memory[i], image[i]);
			assert_int_equal(memory[i], image[i]);
		}
	}

	unsigned char *memory;
	std::vector<unsigned char> image;
	gni_mem_handle_t plain = {}, placed = {};
};

struct World : Pair {
	Region here{a, 0}, there{b, 1};
	std::mt19937 random{1};
	std::vector<Name> locals, remotes;

	World()
	{
		locals = {{"a handle without a place", here.plain, here.start()},
			  {"the library's handle", here.placed, here.start()},
			  {"a built handle", built(true), 0},
			  {"a built handle without a check code", built(false), 0}};
		remotes = {{"a handle without a place", there.plain, there.start()},
			   {"the library's handle", there.placed, there.start()},
			   {"the handle of the own region", here.placed, here.start()},
			   {"a built handle", built(true), 0},
			   {"a built handle without a check code", built(false), 0}};
		/* Short ways are for those who have posted a while. */
		while (!a.nic->requests.plenty()) {
			gni_post_descriptor_t d = a.post(b, GNI_POST_FMA_PUT, 8);
			assert_int_equal(a.run(&d), ARIES_ST_OK);
		}
	}
	void check(const char *what, const Name &local, const Name &remote) const
	{
		here.check(what, local, remote);
		there.check(what, local, remote);
	}
	/* The events at the target; no more of them. */
	void remote_events(uint32_t count) const
	{
		gni_cq_entry_t e = 0;

		for (uint32_t i = 0; i < count; i++)
			assert_rc(SUCCESS, GNI_CqWaitEvent(b.remote, 5000, &e));
		assert_rc(NOT_DONE, GNI_CqGetEvent(b.remote, &e));
	}
};

struct Transfer {
	gni_post_type_t type;
	size_t length;
	size_t local;
	size_t remote;
	const char *what = "a piece of a chain";

	bool block() const { return type == GNI_POST_RDMA_PUT || type == GNI_POST_RDMA_GET; }
	bool get() const
	{
		return type == GNI_POST_FMA_GET || type == GNI_POST_FMA_GET_W_FLAG || type == GNI_POST_RDMA_GET;
	}
};

constexpr uint64_t kFlagValue = 0x1234567890abcdef;
constexpr size_t kFlagAt = kBytes - 16;

/* The post of @t and what it does to the images. */
gni_post_descriptor_t prepare(World *w, const Transfer &t, const Name &local, const Name &remote)
{
	gni_post_descriptor_t d = {};

	d.type = t.type;
	d.cq_mode = GNI_CQMODE_GLOBAL_EVENT;
	d.local_mem_hndl = local.handle;
	/* The processor fetches what an FMA put sends, and knows no handles. */
	d.local_addr = t.get() || t.block() ? local.at(t.local) : w->here.start() + t.local;
	d.remote_mem_hndl = remote.handle;
	d.remote_addr = remote.at(t.remote);
	d.length = t.length;
	if (t.get()) {
		w->there.fill(t.remote, t.length, w->random);
		w->here.expect(t.local, w->there, t.remote, t.length);
	} else {
		w->here.fill(t.local, t.length, w->random);
		w->there.expect(t.remote, w->here, t.local, t.length);
	}
	if (t.type == GNI_POST_FMA_PUT_W_SYNCFLAG) {
		d.sync_flag_addr = remote.at(kFlagAt);
		d.sync_flag_value = kFlagValue + t.length;
		w->there.expect(kFlagAt, &d.sync_flag_value, sizeof(d.sync_flag_value));
	}
	if (t.type == GNI_POST_FMA_GET_W_FLAG) {
		const uint32_t flag = ARIES_FMA_FLAG;

		w->here.expect(t.local + t.length, &flag, sizeof(flag));
	}
	return d;
}

/* Twice each: what has gone by the long way the first time may go by a short one the next. */
MODEL_TEST(transfers)
{
	World w;
	const Transfer table[] = {
		{GNI_POST_FMA_PUT, 8, 0, 0, "a put of 8 bytes"},
		{GNI_POST_FMA_PUT, 8, 4088, 12288, "a put of 8 bytes in the middle"},
		{GNI_POST_FMA_PUT, 101, 77, 4003, "a put of part of a line"},
		{GNI_POST_FMA_PUT, 7001, 8195, 4093, "a put of several lines"},
		{GNI_POST_FMA_PUT_W_SYNCFLAG, 8, 16, 40, "a short put with a flag"},
		{GNI_POST_FMA_PUT_W_SYNCFLAG, 7000, 4000, 24, "a long put with a flag"},
		{GNI_POST_FMA_GET, 4, 0, 0, "a get of 4 bytes"},
		{GNI_POST_FMA_GET, 3000, 4099, 8, "a get of several packets"},
		{GNI_POST_FMA_GET, 70000, 12291, 8196, "a get of several doorbells"},
		{GNI_POST_FMA_GET_W_FLAG, 8, 4, 4096, "a short get with a flag"},
		{GNI_POST_FMA_GET_W_FLAG, 70000, 8196, 64, "a long get with a flag"},
		{GNI_POST_RDMA_PUT, 8, 0, 0, "a short block put"},
		{GNI_POST_RDMA_PUT, 70001, 4097, 12291, "a long block put"},
		{GNI_POST_RDMA_GET, 4, 0, 0, "a short block get"},
		{GNI_POST_RDMA_GET, 70000, 12289, 4096, "a long block get"},
	};

	for (const Transfer &t : table) {
		for (const Name &local : w.locals) {
			for (const Name &remote : w.remotes) {
				if (t.block() && !(local.checked() && remote.checked()))
					continue;
				for (int again = 0; again < 2; again++) {
					gni_post_descriptor_t d = prepare(&w, t, local, remote);
					assert_int_equal(w.a.run(&d), ARIES_ST_OK);
					w.check(t.what, local, remote);
				}
			}
		}
	}
}

/* An addition to a word, perhaps with the old value and a flag behind it. */
template <class Word> void add(World *w, uint32_t command, gni_post_type_t type, const Name &local, const Name &remote)
{
	const size_t at = 4088, old_at = 24;
	gni_post_descriptor_t d = {};

	w->there.fill(at, sizeof(Word), w->random);
	const Word before = w->there.word<Word>(at);
	const Word after = before + 7;
	w->there.expect(at, &after, sizeof(after));
	if (atomic_kind(command).fetching) {
		w->here.expect(old_at, &before, sizeof(before));
		d.local_mem_hndl = local.handle;
		d.local_addr = local.at(old_at);
	}
	if (type == GNI_POST_AMO_W_FLAG) {
		const uint32_t flag = ARIES_FMA_FLAG;

		w->here.expect(old_at + sizeof(before), &flag, sizeof(flag));
	}
	d.type = type;
	d.cq_mode = GNI_CQMODE_GLOBAL_EVENT;
	d.amo_cmd = static_cast<gni_fma_cmd_type_t>(command);
	d.first_operand = 7;
	d.remote_mem_hndl = remote.handle;
	d.remote_addr = remote.at(at);
	d.length = sizeof(Word);
	assert_int_equal(w->a.run(&d), ARIES_ST_OK);
	w->check("an atomic", local, remote);
}

MODEL_TEST(atomics)
{
	World w;

	for (const Name &local : w.locals) {
		for (const Name &remote : w.remotes) {
			add<uint64_t>(&w, GNI_FMA_ATOMIC_ADD, GNI_POST_AMO, local, remote);
			add<uint64_t>(&w, GNI_FMA_ATOMIC_FADD, GNI_POST_AMO, local, remote);
			add<uint64_t>(&w, GNI_FMA_ATOMIC_FADD, GNI_POST_AMO_W_FLAG, local, remote);
			add<uint32_t>(&w, GNI_FMA_ATOMIC2_FIADD_S, GNI_POST_AMO, local, remote);
			add<uint32_t>(&w, GNI_FMA_ATOMIC2_FIADD_S, GNI_POST_AMO_W_FLAG, local, remote);
		}
	}
}

/* Small pieces in one launch, pieces of several doorbells between them, an empty one. */
constexpr Transfer kPutPieces[] = {
	{GNI_POST_FMA_PUT, 8, 0, 0},           {GNI_POST_FMA_PUT, 4, 8, 16},        {GNI_POST_FMA_PUT, 8, 64, 4088},
	{GNI_POST_FMA_PUT, 7001, 4097, 8195},  {GNI_POST_FMA_PUT, 0, 0, 128},       {GNI_POST_FMA_PUT, 8, 16384, 20480},
	{GNI_POST_FMA_PUT, 101, 20480, 24577}, {GNI_POST_FMA_PUT, 8, 24576, 32768},
};
constexpr Transfer kGetPieces[] = {
	{GNI_POST_FMA_GET, 8, 0, 0},          {GNI_POST_FMA_GET, 4, 16, 8},
	{GNI_POST_FMA_GET, 8, 4088, 64},      {GNI_POST_FMA_GET, 70000, 8195, 4096},
	{GNI_POST_FMA_GET, 8, 81920, 90112},  {GNI_POST_FMA_GET, 100, 90113, 98304},
	{GNI_POST_FMA_GET, 4, 94208, 102400},
};

/* A chain of @pieces, of which piece @first is the head; the others follow in their order, and round. */
template <class Follower, size_t kCount>
void chain(World *w, const Transfer (&pieces)[kCount], size_t first, const Name &head_local, const Name &head_remote,
	   const Name &local, const Name &remote, uint16_t events)
{
	std::vector<Follower> rest(kCount - 1);
	gni_post_descriptor_t head = prepare(w, pieces[first], head_local, head_remote);
	gni_post_descriptor_t *back = nullptr;
	gni_cq_entry_t e = 0;

	head.cq_mode |= events;
	head.next_descr = rest.data();
	for (size_t i = 0; i < rest.size(); i++) {
		const gni_post_descriptor_t d = prepare(w, pieces[(first + 1 + i) % kCount], local, remote);

		rest[i].next_descr = i + 1 < rest.size() ? &rest[i + 1] : nullptr;
		rest[i].ep_hndl = w->a.ep;
		rest[i].length = d.length;
		rest[i].local_addr = d.local_addr;
		rest[i].local_mem_hndl = d.local_mem_hndl;
		rest[i].remote_addr = d.remote_addr;
		rest[i].remote_mem_hndl = d.remote_mem_hndl;
	}
	assert_rc(SUCCESS, GNI_CtPostFma(w->a.ep, &head));
	assert_rc(SUCCESS, GNI_CqWaitEvent(w->a.source, 5000, &e));
	assert_rc(SUCCESS, GNI_GetCompleted(w->a.source, e, &back));
	assert_ptr_equal(back, &head);
	w->check("the head of a chain", head_local, head_remote);
	w->check("the links of a chain", local, remote);
}

/* Every piece is the head once; a remote event goes with a put of its own to where the head has gone. */
MODEL_TEST(chains_of_puts)
{
	World w;
	const Name &any = w.locals.front();

	for (const Name &head : w.remotes) {
		for (const Name &link : w.remotes) {
			for (size_t first = 0; first < std::size(kPutPieces); first++) {
				chain<gni_ct_put_post_descriptor_t>(&w, kPutPieces, first, any, head, any, link, 0);
				w.remote_events(0);
				chain<gni_ct_put_post_descriptor_t>(&w, kPutPieces, first, any, head, any, link,
								    GNI_CQMODE_REMOTE_EVENT);
				w.remote_events(1);
			}
		}
	}
}

MODEL_TEST(chains_of_gets)
{
	World w;

	for (size_t n = 0; n < w.locals.size() * w.remotes.size(); n++) {
		const Name &head_local = w.locals[n % w.locals.size()];
		const Name &head_remote = w.remotes[n % w.remotes.size()];

		for (const Name &local : w.locals) {
			for (const Name &remote : w.remotes)
				chain<gni_ct_get_post_descriptor_t>(&w, kGetPieces, n % std::size(kGetPieces),
								    head_local, head_remote, local, remote, 0);
		}
	}
}

/* An entry in the region's queue wants no address: none that a client leaves in the descriptor is in the way. */
MODEL_TEST(queue_writes)
{
	World w;

	for (const Name &remote : w.remotes) {
		for (const uint64_t address : {uint64_t{0}, remote.at(0), remote.at(kBytes), ~uint64_t{0}}) {
			gni_post_descriptor_t d = {};
			gni_cq_entry_t e = 0;

			d.type = GNI_POST_CQWRITE;
			d.cq_mode = GNI_CQMODE_GLOBAL_EVENT;
			d.remote_mem_hndl = remote.handle;
			d.remote_addr = address;
			d.cqwrite_value = 0x123456789abc;
			assert_int_equal(w.a.run(&d), ARIES_ST_OK);
			assert_rc(SUCCESS, GNI_CqWaitEvent(w.b.remote, 5000, &e));
			assert_int_equal(GNI_CQ_GET_DATA(e), 0x123456789abc);
			w.remote_events(0);
			w.check("a queue write", remote, remote);
		}
	}
}

/* The first byte in front of a region and the first one behind it are out of it by every name; its last one is not. */
MODEL_TEST(both_ends)
{
	World w;

	for (const Name &remote : w.remotes) {
		for (const gni_post_type_t type : {GNI_POST_FMA_PUT, GNI_POST_RDMA_PUT}) {
			Transfer t = {type, 8, 0, kBytes - 8, "the last bytes"};

			if (t.block() && !remote.checked())
				continue;
			gni_post_descriptor_t d = prepare(&w, t, w.locals.front(), remote);
			assert_int_equal(w.a.run(&d), ARIES_ST_OK);
			w.check(t.what, w.locals.front(), remote);
			d.remote_addr = remote.at(kBytes - 4);
			assert_int_equal(w.a.run(&d), ARIES_ST_BOUNDS);
			d.remote_addr = remote.at(0) - 4;
			assert_int_equal(w.a.run(&d), ARIES_ST_BOUNDS);
			w.check("bytes outside", w.locals.front(), remote);
		}
	}
}

} // namespace

TEST_MAIN("offsets in regions of virtual handles")
