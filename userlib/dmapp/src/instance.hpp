// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file The library of one PE: its attachment, its memory, and what it has under way.
 *
 * Calls take turns with each other and with the helper thread. A wait for transfers is one turn; waits for locks and
 * for sets of PEs, which other PEs end, give theirs away between attempts.
 */
#pragma once

#include "attributes.hpp"
#include "codes.hpp"
#include "gni_memhandle.h"
#include "heap.hpp"
#include "locks.hpp"
#include "place.hpp"
#include "psets.hpp"
#include "rma.h"
#include "turn.hpp"

#include <map>
#include <memory>
#include <pthread.h>
#include <vector>

namespace dmapp
{

/** Which memory a descriptor is of: key[4] holds it with the owner. */
enum class Kind : uint8_t { data = 1, heap = 2, registered = 3 };

/** Memory that the NIC knows. */
struct Region {
	uint64_t base;
	uint64_t bytes;
	gni_mem_handle_t handle;
};

/** What a PE tells the others of itself. */
struct Card {
	Region data;
	Region heap;
	Region own;       /* the library's: a bounce buffer, and what is shared */
	uint32_t address; /* of its NIC */
	uint32_t instance;
	uint32_t code;     /* DMAPP_RC_* of its beginning */
	uint32_t reserved; /* keeps the size a multiple of 8 */
};

/** A remote place: as operations of FMA need it, and as block transfers do. */
struct Place {
	ugni_rma_place at;
	const gni_mem_handle_t *handle; /* of a PE's card, or of the caller's descriptor */
	uint64_t address;
	dmapp_pe_t pe;
};

/* The library registers without virtual handles: this is all there is to one. */
inline uint16_t name_of(const gni_mem_handle_t &handle)
{
	return static_cast<uint16_t>(handle.qword1 >> GNI_HNDL_MDH1_SHIFT);
}

/** Upper half of key[4] of a descriptor; the lower one is its owner. */
constexpr uint32_t mark_of(Kind kind)
{
	return 0x646d0000 | static_cast<uint32_t>(kind);
}

/** What has to end before a call, an id, or all that is implicit has. */
struct Pending {
	uint64_t since = 0;  /* the first and the last fence that tell of what was on its way; */
	uint64_t fence = 0;  /* 0: nothing was */
	uint32_t blocks = 0; /* block transfers under way */
	uint32_t status = ARIES_ST_OK;

	bool told_by(uint64_t number) const { return since <= number && number <= fence; }
	void failed(uint32_t why) { status = status == ARIES_ST_OK ? why : status; }
};

/** A block transfer. */
struct Block {
	gni_post_descriptor_t d; /* first: GNI_GetCompleted() gives this */
	Pending *owner;
	Block *next; /* free */
};

/** How a call wants to learn of its end; @id: nullptr for others than _nb. */
enum class Form : uint8_t { blocking, explicit_id, implicit };
struct How {
	Form form;
	dmapp_syncid_handle_t *id;
};

class Instance
{
public:
	Instance() = default;
	Instance(const Instance &) = delete;
	Instance &operator=(const Instance &) = delete;
	~Instance();

	dmapp_return_t open(const Attributes &wanted);
	const Attributes &attributes() const { return attributes_; }
	void job(dmapp_jobinfo_t *info) const;
	dmapp_pe_t pe() const { return job_.pe; }
	int npes() const { return job_.npes; }

	/* What the calling thread has chosen. */
	Ways &ways() const;

	void *heap_take(size_t bytes) { return heap_.take(bytes); }
	bool heap_give(void *block) { return heap_.give(block); }
	dmapp_return_t register_memory(void *address, uint64_t bytes, dmapp_seg_desc_t *seg);
	dmapp_return_t unregister_memory(const dmapp_seg_desc_t *seg);

	/**
	 * Checks that @bytes at @address are in the segment, of that PE.
	 * Return: INVALID_PARAM if not.
	 */
	dmapp_return_t aim(const void *address, const dmapp_seg_desc_t *seg, dmapp_pe_t pe, uint64_t bytes, bool get,
			   Place *place) const;

	/* Pieces of operations; what becomes of them goes to @p. */
	void put(const Place &to, const void *from, uint64_t bytes, Pending &p);
	void put_flag(const Place &to, const void *from, uint64_t bytes, const Place &flag, uint64_t value, Pending &p);
	void get(void *to, const Place &from, uint64_t bytes, Pending &p);
	void atomic(const Place &to, const ugni_rma_amo &amo, void *old, Pending &p);
	/** 4 or 8 bytes, or an atomic that returns nothing: waits for company if @p is what batches are of. */
	void batch(const Place &to, aries_launch_kind kind, uint64_t value, uint32_t command, Pending &p);
	void batch_begin(const Place &to, Pending &p);
	/** Rings what waits in the batch. */
	void flush();
	/** Implicit words are there before what follows: what is on its way has no order. */
	void words_first()
	{
		if (entry_count_ || implicit_.fence > fences_done_) [[unlikely]]
			words_wait();
	}

	/**
	 * Runs @start, which either refuses and has done nothing, or starts pieces for the Pending it gets, and throws
	 * nothing; then does what the form asks for.
	 */
	template <typename Start> dmapp_return_t perform(const How &how, Start &&start);

	dmapp_return_t wait(const dmapp_syncid_handle_t *id);
	dmapp_return_t test(const dmapp_syncid_handle_t *id, int *flag);
	/** Waits for what is implicit; what becomes of it is told by gsync as ever. */
	void settle() { finish(implicit_); }
	dmapp_return_t gsync_wait();
	dmapp_return_t gsync_test(int *flag);
	void progress();
	/** The PE can be read from. */
	bool alive(dmapp_pe_t pe);

	Locks locks;
	std::array<Pset, kSets> psets{};
	/* What sets of PEs need of all this. */
	const Card &card(dmapp_pe_t pe) const { return cards_[static_cast<size_t>(pe)]; }
	gni_nic_handle_t nic() const { return nic_; }
	gni_cq_handle_t queue() const { return cq_; }
	Shared *shared() const { return shared_; }
	const gni_mem_handle_t &own_handle() const { return mine_.own.handle; }
	dmapp_return_t read_board(dmapp_pe_t pe, Board *board);

private:
	struct Id {
		Pending pending;
		uint32_t generation;
		uint32_t next; /* free; index + 1 */
		bool open;
	};

	dmapp_return_t attach();
	dmapp_return_t add_region(void *start, uint64_t bytes, Region *region);
	dmapp_return_t prepare(const Attributes &wanted);
	dmapp_return_t open_heap(void *heap, size_t bytes);
	dmapp_seg_desc_t describe(const Region &r, Kind kind) const;
	gni_ep_handle_t endpoint(dmapp_pe_t pe);
	const gni_mem_handle_t *own(const void *address, uint64_t bytes) const;

	/** Return: false if it has failed. */
	bool took(uint32_t status, Pending &p);
	void await(Pending &p) const;
	bool block(const Place &remote, const void *local, uint64_t bytes, const gni_mem_handle_t &handle,
		   gni_post_type_t type, Pending &p);
	bool blocks_more();
	/** Return: nullptr without memory. */
	Block *block_take();
	void block_give(Block *b);
	void block_ended(Block *b, uint32_t status);
	void get_small(char *to, const Place &from, uint64_t bytes, Pending &p);

	bool done(const Pending &p) const { return gone_ || (!p.blocks && p.fence <= fences_done_); }
	void finish(Pending &p);
	void words_wait();
	void fence();
	void close_told();
	void fence_ended(uint32_t status);
	void push(const Pending &p);
	dmapp_return_t outcome(Pending &p);

	Id *find(dmapp_syncid_handle_t id);
	Id *id_take();
	void id_give(Id *id);
	dmapp_syncid_handle_t id_handle(const Id *id) const;
	void all_gone();

	dmapp_return_t outcome_later(Pending &p);
	void put_long(const Place &to, const void *from, uint64_t bytes, Pending &p);
	bool took_other(uint32_t status, Pending &p);
	ugni_rma_own bounce() const { return {mine_.own.base & GNI_OFFSET_MASK, name_of(mine_.own.handle)}; }

	void helper_wake();
	void helper_start();
	void helper_end();
	void helper_run();
	static void *helper_main(void *instance);

	place::Job job_{};
	bool joined_ = false;
	Attributes attributes_ = kDefaults;
	Ways ways_{};
	uint64_t serial_ = 0; /* no other instance of the process has it */

	gni_cdm_handle_t cdm_ = nullptr;
	gni_nic_handle_t nic_ = nullptr;
	gni_cq_handle_t cq_ = nullptr;
	std::vector<Card> cards_; /* by PE */
	std::vector<gni_ep_handle_t> endpoints_;
	Card mine_{};
	Heap heap_;
	std::multimap<uint64_t, Region> registered_; /* by first address */
	char *bounce_ = nullptr;
	Shared *shared_ = nullptr;

	std::vector<Id> ids_;
	uint32_t ids_free_ = 0;
	std::vector<std::unique_ptr<Block[]>> blocks_;
	Block *blocks_free_ = nullptr;
	uint32_t blocks_out_ = 0;
	Pending blocking_;
	Pending implicit_;
	Pending before_flag_; /* the data of a put with flag */

	/* Fences have numbers; what is on its way now will be told of by the next one. */
	uint64_t fence_next_ = 1;
	uint64_t fences_done_ = 0;
	bool fence_out_ = false;
	bool fence_needed_ = false;  /* something is on its way since the last one */
	bool fence_matters_ = false; /* the same of the one that is out */
	gni_post_descriptor_t fence_descriptor_{};
	bool gone_ = false;

	aries_launch_entry entries_[ARIES_LAUNCH_LINE];
	uint32_t entry_count_ = 0;
	uint32_t batch_command_ = 0; /* of the atomics in it; 0: there are none */
	ugni_rma_place batch_at_{};
	Pending *batch_owner_ = nullptr;
	uint64_t batch_number_ = 0;

	pthread_t helper_{};
	std::atomic<uint32_t> helper_calls_{0};
	bool helper_there_ = false;
	bool helper_idle_ = false;
	std::atomic<bool> helper_stop_{false};
};

/* Of each thread; in the block that is there from its start, which costs no call. */
struct OwnWays {
	uint64_t serial;
	Ways ways;
};
extern constinit thread_local OwnWays own_ways __attribute__((tls_model("initial-exec")));

inline Ways &Instance::ways() const
{
	if (own_ways.serial != serial_) [[unlikely]]
		own_ways = {serial_, ways_};
	return own_ways.ways;
}

/*
 * In a symmetric segment, whoever has sent the descriptor, a place is as far from its start on all PEs. Of registered
 * memory the descriptor is its owner's.
 */
inline dmapp_return_t Instance::aim(const void *address, const dmapp_seg_desc_t *seg, dmapp_pe_t pe, uint64_t bytes,
				    bool get, Place *place) const
{
	if (!seg || static_cast<uint32_t>(pe) >= cards_.size()) [[unlikely]]
		return DMAPP_RC_INVALID_PARAM;
	const Card &card = cards_[static_cast<size_t>(pe)];
	const uint64_t offset = reinterpret_cast<uintptr_t>(address) - seg->key[2];
	const auto mark = static_cast<uint32_t>(seg->key[4] >> 32);
	const Region *region = nullptr;
	if (mark == mark_of(Kind::heap))
		region = &card.heap;
	else if (mark == mark_of(Kind::data))
		region = &card.data;
	else if (mark != mark_of(Kind::registered) || static_cast<uint32_t>(seg->key[4]) != static_cast<uint32_t>(pe))
		return DMAPP_RC_INVALID_PARAM;
	const uint64_t base = region ? region->base : seg->key[2];
	const uint64_t size = region ? region->bytes : seg->key[3];
	if (bytes > size || offset > size - bytes) [[unlikely]]
		return DMAPP_RC_INVALID_PARAM;
	static_assert(sizeof(gni_mem_handle_t) == 16);
	place->handle = region ? &region->handle : reinterpret_cast<const gni_mem_handle_t *>(seg->key);
	place->address = base + offset;
	place->pe = pe;
	place->at.offset = place->address & GNI_OFFSET_MASK;
	place->at.pe = card.address;
	place->at.mdh = name_of(*place->handle);
	place->at.dlvr_mode = get ? ways().get : ways().put;
	return DMAPP_RC_SUCCESS;
}

inline bool Instance::took(uint32_t status, Pending &p)
{
	return status == ARIES_ST_OK ? true : took_other(status, p);
}

/* One line and below the threshold: what most puts are. */
inline void Instance::put(const Place &to, const void *from, uint64_t bytes, Pending &p)
{
	if (bytes - 1 < ARIES_DESC_LINE_BYTES && bytes < ways().offload_threshold) [[likely]]
		(void)took(ugni_rma_put(nic_, &to.at, from, static_cast<uint32_t>(bytes)), p);
	else
		put_long(to, from, bytes, p);
}

inline dmapp_return_t Instance::outcome(Pending &p)
{
	if (!gone_ && !p.blocks && !p.fence && p.status == ARIES_ST_OK && batch_owner_ != &p) [[likely]]
		return DMAPP_RC_SUCCESS;
	return outcome_later(p);
}

/* Entries of a batch have one memory domain, one way through the network and one command. */
inline void Instance::batch(const Place &to, aries_launch_kind kind, uint64_t value, uint32_t command, Pending &p)
{
	const bool fits = batch_owner_ == &p && batch_at_.mdh == to.at.mdh && batch_at_.dlvr_mode == to.at.dlvr_mode &&
			  (!command || !batch_command_ || command == batch_command_);

	if (entry_count_ == ARIES_LAUNCH_LINE || (entry_count_ && !fits)) [[unlikely]]
		flush();
	if (!entry_count_) [[unlikely]]
		batch_begin(to, p);
	if (command)
		batch_command_ = command;
	entries_[entry_count_++] = {to.at.offset | uint64_t{to.at.pe} << ARIES_LAUNCH_PE_SHIFT |
					    uint64_t{kind} << ARIES_LAUNCH_KIND_SHIFT,
				    value};
}

template <typename Start> [[gnu::always_inline]] inline dmapp_return_t Instance::perform(const How &how, Start &&start)
{
	if (how.form == Form::implicit) {
		const dmapp_return_t rc = start(implicit_);

		/* Without the helper nobody would ring what waits. */
		if (entry_count_ && !helper_there_) [[unlikely]]
			flush();
		/* As many as one may have without being told of any. */
		if (implicit_.blocks > attributes_.max_outstanding_nb) [[unlikely]]
			progress();
		return rc;
	}
	if (how.form == Form::blocking) {
		words_first();
		blocking_ = {};
		const dmapp_return_t rc = start(blocking_);

		return rc == DMAPP_RC_SUCCESS ? outcome(blocking_) : rc;
	}
	if (entry_count_)
		flush();
	if (!how.id)
		return DMAPP_RC_INVALID_PARAM;
	Id *id = id_take();
	if (!id)
		return DMAPP_RC_RESOURCE_ERROR;
	const dmapp_return_t rc = start(id->pending);
	if (entry_count_)
		flush();
	if (rc == DMAPP_RC_SUCCESS)
		*how.id = id_handle(id);
	else
		id_give(id);
	return rc;
}

} // namespace dmapp
