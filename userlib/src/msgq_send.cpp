// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * Message queues: sending. No system call, no lock: the senders of a node take
 * slots from each other by atomic operations. Header and data are copied
 * before the call returns; one doorbell a message.
 *
 * What fails with a status that may pass is tried again as in unsettled.hpp. As with mailboxes nothing is put again
 * before the slot has told that it is not there: the receiver may have emptied it, and somebody else have taken it.
 */
#include "debug.hpp"
#include "gone.hpp"
#include "msgq.hpp"
#include "unsettled.hpp"

#include <bit>
#include <cinttypes>
#include <cstddef>
#include <cstdlib>
#include <cstring>

using namespace ugni;

namespace
{

constexpr const char *kSend = "GNI_MsgqSend";
constexpr uint64_t kType = GNI_CQ_EVENT_TYPE_MSGQ << ARIES_EV_TYPE_SHIFT;
/* Of a request whose event has not been read. */
constexpr uint32_t kAwaited = 1U << ARIES_INFO_LOCAL | Request::kSmsg | Request::kMsgq;

/* One slot of the peer's mailbox, taken by us. */
struct Taken {
	uint32_t slot;
	uint32_t word;
	uint32_t mask;
	uint32_t count; /* how often a slot of the word was taken by then */
	uint8_t round;  /* the same of this slot, the low bits */
	bool bit;
};

struct Text {
	const void *header;
	uint32_t header_bytes;
	const void *data;
	uint32_t data_bytes;

	uint32_t bytes() const { return header_bytes + data_bytes; }
};

/* Fills @route in. Return: SUCCESS, NO_MATCH, INVALID_STATE. */
[[gnu::noinline]] gni_return_t search(const gni_msgq *q, uint32_t pe, uint32_t id, MsgqRoute *route)
{
	for (uint32_t n = 0; n < q->layout.peers; n++) {
		const MsgqPeer *p = q->peer(n);
		const uint32_t state = msgq_state(q, n);
		if (msgq_link(state) == kMsgqFree || p->pe != pe)
			continue;
		if (msgq_link(state) != kMsgqConnected)
			return later(GNI_RC_INVALID_STATE, kSend, "node %u is not connected yet: GNI_MsgqConnect()",
				     pe);
		for (uint32_t i = 0; i < p->count && i < kMsgqMembers; i++) {
			const gni_msgq_rem_inst_t to = p->instances[i];
			if (to.id != id)
				continue;
			const uint64_t own = msgq_place(q->layout.mailbox(n), n, state >> 8);
			const uint16_t name = mem_name(to.mdh);
			*route = {state,
				  pe,
				  id,
				  msgq_key(name, to.mdh_off, q->nic->address, own),
				  n,
				  name,
				  to.mdh_off,
				  q->sender(n, i),
				  q->credits(n, i)};
			/* Another process may have released it meanwhile. */
			if (msgq_state(q, n) == state) [[likely]]
				return GNI_RC_SUCCESS;
			route->state = 0;
			return later(GNI_RC_INVALID_STATE, kSend, "the connection to node %u has just ended", pe);
		}
		return refuse(GNI_RC_NO_MATCH, kSend, "node %u has no instance %u", pe, id);
	}
	return msgq_phase(q) == kMsgqForming
		       ? later(GNI_RC_INVALID_STATE, kSend, "not all instances of the node have come")
		       : refuse(GNI_RC_NO_MATCH, kSend, "no connection to node %u", pe);
}

gni_return_t find(const gni_msgq *q, uint32_t pe, uint32_t id, MsgqRoute **out)
{
	MsgqRoute *route = &q->routes[(pe * 31 + id) % kMsgqRoutes];

	*out = route;
	if (route->state && route->pe == pe && route->id == id && msgq_state(q, route->peer) == route->state) [[likely]]
		return GNI_RC_SUCCESS;
	route->state = 0;
	return search(q, pe, id, route);
}

/* Slots of @word that the peer has emptied, by their bits. Return: false if it cannot have written that. */
bool emptied(const MsgqRoute *r, uint32_t word, uint32_t *bits)
{
	const uint64_t credit = __atomic_load_n(&r->credits[word], __ATOMIC_ACQUIRE);

	*bits = static_cast<uint32_t>(credit);
	return !credit || credit == msgq_credit(r->key, word, *bits);
}

/* The message in the slot has an unknown fate: it keeps the slot until the receiver says otherwise. */
uint32_t *lost_words(const gni_msgq *q, MsgqSender *s)
{
	return s->lost(q->layout.words);
}

/* Its fate is known by now: the receiver has emptied the slot. */
void forget_lost(const gni_msgq *q, MsgqSender *s, uint32_t word, uint32_t mask)
{
	uint32_t *lost = lost_words(q, s) + word;

	if (__atomic_load_n(lost, __ATOMIC_RELAXED) & mask) [[unlikely]]
		(void)__atomic_fetch_and(lost, ~mask, __ATOMIC_RELAXED);
}

/* The slot is ours: nobody else writes this. */
uint8_t next_round(const gni_msgq *q, MsgqSender *s, uint32_t slot)
{
	uint8_t *round = s->rounds(q->layout.words) + slot;
	const auto next = static_cast<uint8_t>(__atomic_load_n(round, __ATOMIC_RELAXED) + 1);

	__atomic_store_n(round, next, __ATOMIC_RELAXED);
	return next;
}

enum class Take { done, none, damaged };

/*
 * Takes a slot of word @w. What the peer has emptied is read after the word that it is held against, each time: a slot
 * that looks free then stays free until that word changes, and with it its count.
 */
Take take_of(const gni_msgq *q, const MsgqRoute *r, uint32_t w, Taken *out)
{
	uint64_t *place = r->sender->taken() + w;
	uint64_t taken = __atomic_load_n(place, __ATOMIC_ACQUIRE);

	for (;;) {
		uint32_t done;
		if (!emptied(r, w, &done))
			return Take::damaged;
		const uint32_t free = ~(static_cast<uint32_t>(taken) ^ done) & q->layout.mask(w);
		if (!free)
			return Take::none;
		const uint32_t mask = free & -free;
		if (!__atomic_compare_exchange_n(place, &taken, (taken ^ mask) + (uint64_t{1} << 32), true,
						 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			continue;
		forget_lost(q, r->sender, w, mask);
		const uint32_t slot = w * kMsgqWordSlots + static_cast<uint32_t>(std::countr_zero(mask));
		*out = {slot,           w, mask, static_cast<uint32_t>(taken >> 32) + 1, next_round(q, r->sender, slot),
			!(taken & mask)};
		return Take::done;
	}
}

/* Takes a slot. Return: SUCCESS, NOT_DONE, INVALID_STATE if there will never be one. */
gni_return_t take(const gni_msgq *q, const MsgqRoute *r, Taken *out)
{
	const uint32_t words = q->layout.words;
	bool hope = false;

	for (uint32_t w = 0; w < words; w++) {
		const Take taken = take_of(q, r, w, out);
		if (taken == Take::done)
			return GNI_RC_SUCCESS;
		if (taken == Take::none)
			hope |= q->layout.mask(w) & ~__atomic_load_n(lost_words(q, r->sender) + w, __ATOMIC_RELAXED);
	}
	return hope ? nic_later(q->nic, kSend, "all slots of the instance are taken")
		    : refuse(GNI_RC_INVALID_STATE, kSend,
			     "damaged credits, or the fate of no message in a slot is known");
}

void give_back(const MsgqRoute *r, const Taken &t)
{
	(void)__atomic_fetch_xor(r->sender->taken() + t.word, uint64_t{t.mask}, __ATOMIC_ACQ_REL);
}

/* A place for the event, and a transaction id. Return: 0 if there is none. */
uint32_t reserve_event(gni_ep *ep, gni_cq *cq)
{
	gni_nic *nic = ep->nic;
	const uint32_t id = nic->requests.take();

	if (!id)
		return 0;
	Request &r = nic->requests[static_cast<uint16_t>(id)];
	r.local_event = ep->events[0];
	r.ep = ep;
	r.cq = cq;
	r.state = kAwaited;
	ep->references++;
	cq->room--;
	nic->msgq_sends++;
	return id;
}

/* A message with its slot. */
struct Letter {
	const gni_msgq *q;
	MsgqRoute route;
	Taken taken;
	uint64_t header;
	uint32_t msg_id;
	uint32_t bytes;
	char line[kMsgqPrefix + GNI_MSGQ_MSG_SZ_MAX];

	uint64_t slot() const { return (route.place & kOffsetMask) + uint64_t{taken.slot} * q->layout.slot_bytes; }
};

void write(const gni_msgq *q, Letter *l, const MsgqRoute *r, const Taken &t, const Text &text, uint32_t msg_id,
	   uint8_t tag)
{
	const uint64_t number = __atomic_fetch_add(&r->sender->number, 1, __ATOMIC_ACQ_REL);
	const uint32_t sender_id = q->nic->inst_id;
	const MsgqSlot head = {0, number, sender_id, {}};

	l->q = q;
	l->route = *r;
	l->taken = t;
	l->header = msgq_header(r->key, number, sender_id, text.bytes(), tag, t.bit);
	l->msg_id = msg_id;
	l->bytes = kMsgqPrefix + text.bytes();
	memcpy(l->line, reinterpret_cast<const char *>(&head) + sizeof(uint64_t), kMsgqPrefix);
	if (text.header_bytes)
		memcpy(l->line + kMsgqPrefix, text.header, text.header_bytes);
	if (text.data_bytes)
		memcpy(l->line + kMsgqPrefix + text.header_bytes, text.data, text.data_bytes);
}

/* Descriptor for the slot's node. */
aries_fma_desc *fill(const Letter &l, const gni_cq *cq)
{
	const gni_nic *nic = l.q->nic;
	aries_fma_desc *area = fma_area(nic);

	area->pe = l.route.pe;
	area->mdh = l.route.name;
	area->dlvr_mode = nic->smsg_delivery;
	area->local_mdh = 0;
	area->cq = static_cast<uint16_t>(cq->number);
	area->reserved = 0;
	area->local_event = l.msg_id;
	area->remote_event = msgq_event(l.route.place, l.taken.slot, l.taken.bit);
	return area;
}

/* One attempt. @id: of the local event, 0: none. Return: ARIES_ST_* */
uint32_t put(const Letter &l, const gni_cq *cq, uint32_t id)
{
	const gni_nic *nic = l.q->nic;
	aries_fma_desc *area = fill(l, cq);

	area->offset = l.slot() + sizeof(uint64_t);
	area->sync_offset = l.slot();
	area->sync_value = l.header;
	memcpy(nic->area + ARIES_DESC_LINE, l.line, l.bytes);
	return fma_ring_and_look(nic, id, l.bytes, ARIES_FMA_PUT_SYNC,
				 kType | ARIES_EV_REMOTE | l.q->later | (id ? uint64_t{ARIES_EV_LOCAL} : 0));
}

enum class Slot { kept, emptied, unknown };

/* What this node knows of the slot: emptied, or even taken since, by others of us and any number of times? */
Slot slot_since(const Letter &l)
{
	const Taken &t = l.taken;
	const uint64_t taken = __atomic_load_n(l.route.sender->taken() + t.word, __ATOMIC_ACQUIRE);
	const uint8_t *round = l.route.sender->rounds(l.q->layout.words) + t.slot;
	uint32_t done;

	if (emptied(&l.route, t.word, &done) && ((done & t.mask) != 0) == t.bit)
		return Slot::emptied;
	if (((taken & t.mask) != 0) != t.bit || __atomic_load_n(round, __ATOMIC_RELAXED) != t.round)
		return Slot::emptied;
	return static_cast<uint32_t>(taken >> 32) - t.count < MsgqSender::kRounds ? Slot::kept : Slot::unknown;
}

/*
 * Whether the message has come. What others put into the slot after it is no sign that it has not, so that is asked
 * once more when the word is here.
 * Return: ARIES_ST_*; OK: @there says
 */
uint32_t look(const Letter &l, const gni_cq *cq, bool *there)
{
	*there = true;
	if (slot_since(l) == Slot::emptied)
		return ARIES_ST_OK;
	aries_fma_desc *area = fill(l, cq);
	area->offset = l.slot();
	area->local_mdh = mem_name(l.q->handle);
	area->local_offset = l.q->layout.landing();
	const uint32_t status = fma_ring_piece(l.q->nic, sizeof(uint64_t), ARIES_FMA_GET_OP);
	if (status != ARIES_ST_OK || __atomic_load_n(l.q->landing(), __ATOMIC_ACQUIRE) == l.header)
		return status;
	const Slot slot = slot_since(l);
	*there = slot != Slot::kept;
	return slot == Slot::unknown ? uint32_t{ARIES_ST_TIMEOUT} : uint32_t{ARIES_ST_OK};
}

/* A message that waits for another attempt, or has left and may get lost yet. */
struct Waiting : Departed {
	Letter letter;
	bool open; /* it may be there */
	bool told; /* the event of its last put says with @status whether it is */
};

/* Whether it may be there. */
bool in_doubt(const Waiting *w)
{
	return w->told ? status_unknown(w->status) : w->open;
}

/* Return: ARIES_ST_*; OK: it is there unless @open says that it is not */
uint32_t settle(Waiting *w)
{
	bool there;
	const uint32_t status = look(w->letter, w->cq, &there);

	if (status == ARIES_ST_OK)
		w->open = there;
	return status;
}

/* With the event of the message, if the one of the last put has been read. */
uint32_t put_again(Waiting *w)
{
	const uint32_t id = w->entry ? w->id : 0;

	w->told = id;
	if (id) {
		unsettled_posted(w);
		w->status = ARIES_ST_TIMEOUT;
		return put(w->letter, w->cq, id);
	}
	const uint32_t status = put(w->letter, w->cq, 0);
	w->open = status == ARIES_ST_LATER || status_unknown(status);
	if (status != ARIES_ST_LATER)
		return status;
	/* No event will come. What reads the slot now is behind the put. */
	const uint32_t read = settle(w);
	return read == ARIES_ST_OK && !w->open ? uint32_t{ARIES_ST_TIMEOUT} : read;
}

uint32_t again(Unsettled *u)
{
	auto *w = static_cast<Waiting *>(u);
	const Letter &l = w->letter;

	w->open = in_doubt(w);
	w->told = false;
	if (!nic_there(w->ep->nic))
		return ARIES_ST_DISABLED;
	/* Another process may have ended the connection. */
	if (msgq_state(l.q, l.route.peer) != l.route.state) {
		w->left = 0;
		return w->status;
	}
	if (w->open) {
		const uint32_t status = settle(w);
		if (status != ARIES_ST_OK || w->open)
			return status;
	}
	return put_again(w);
}

/* It has not arrived, or nobody knows: then its slot stays taken until the receiver says otherwise. */
void give_up(const Letter &l, bool open)
{
	if (!open)
		give_back(&l.route, l.taken);
	else
		(void)__atomic_fetch_or(lost_words(l.q, l.route.sender) + l.taken.word, l.taken.mask, __ATOMIC_RELAXED);
}

void ended(Unsettled *u)
{
	auto *w = static_cast<Waiting *>(u);

	if (w->status != ARIES_ST_OK)
		give_up(w->letter, in_doubt(w));
	Request &r = w->ep->nic->requests[static_cast<uint16_t>(w->id)];
	if (r.state & Request::kCopied)
		departed_leave(r, w);
}

/* Return: nullptr without memory */
Waiting *copy(gni_ep *ep, gni_cq *cq, const Letter &l, uint32_t id, uint32_t status)
{
	void *memory = malloc(sizeof(Waiting));

	if (!memory)
		return nullptr;
	auto *w = static_cast<Waiting *>(memset(memory, 0, sizeof(Waiting)));
	w->again = again;
	w->ended = ended;
	w->ep = ep;
	w->cq = cq;
	w->id = id;
	w->status = status;
	w->left = ep->nic->smsg_retransmissions;
	w->letter = l;
	return w;
}

bool lost(Departed *d)
{
	auto *w = static_cast<Waiting *>(d);

	/* Without the endpoint the queue may have been released. */
	if (!endpoints.valid(w->ep))
		return false;
	w->told = true;
	return true;
}

/* It has left. */
[[gnu::noinline]] void keep(gni_ep *ep, gni_cq *cq, const Letter &l, uint32_t id)
{
	Request &r = ep->nic->requests[static_cast<uint16_t>(id)];
	/* Not if another thread has read its event. */
	const bool open = r.state == kAwaited && r.ep == ep;
	Waiting *w = open ? copy(ep, cq, l, id, ARIES_ST_LATER) : nullptr;

	if (!w)
		return;
	w->lost = lost;
	departed_keep(r, w);
}

/* The first attempt has ended with @status. */
[[gnu::noinline]] gni_return_t failed(gni_ep *ep, gni_cq *cq, const Letter &l, uint32_t id, uint32_t status)
{
	if (!nic_there(ep->nic)) {
		give_back(&l.route, l.taken);
		cq->room++;
		request_end(ep->nic, ep->nic->requests[static_cast<uint16_t>(id)], id);
		return nic_gone(ep->nic);
	}
	Waiting *w = status_recoverable(status) ? copy(ep, cq, l, id, status) : nullptr;

	if (!w) {
		give_up(l, status_unknown(status));
		return GNI_RC_SUCCESS;
	}
	w->open = status_unknown(status);
	unsettled_begin(w);
	return GNI_RC_SUCCESS;
}

/* A message to the same instance is being repeated: the order stays. */
bool behind(gni_nic *nic, const MsgqRoute *route)
{
	unsettled_tend(nic);
	return unsettled_any(
		nic,
		[](const Unsettled *u, const void *what) {
			return u->again == again && static_cast<const Waiting *>(u)->letter.route.sender ==
							    static_cast<const MsgqRoute *>(what)->sender;
		},
		route);
}

gni_return_t send(const gni_msgq *q, gni_ep *ep, gni_cq *cq, const Text &text, uint32_t msg_id, uint8_t tag)
{
	gni_nic *nic = q->nic;
	MsgqRoute *route;
	Taken t;

	gni_return_t rc = find(q, ep->remote_address, ep->remote_id, &route);
	if (rc != GNI_RC_SUCCESS)
		return rc;
	if (nic->unsettled.first() && behind(nic, route)) [[unlikely]] {
		nic->statistics[GNI_STAT_SMSG_RETRANS_STALL]++;
		return nic_later(nic, kSend, "an earlier message to the instance is being repeated");
	}
	if (!cq->room) {
		nic->statistics[GNI_STAT_SMSG_REQ_STALL]++;
		return nic_later(nic, kSend, kSmsgNoEvent);
	}
	rc = take(q, route, &t);
	if (rc != GNI_RC_SUCCESS) {
		if (rc == GNI_RC_NOT_DONE)
			nic->statistics[GNI_STAT_SMSG_MBOX_CREDITS_STALL]++;
		return rc;
	}
	const uint32_t id = reserve_event(ep, cq);
	if (!id) {
		give_back(route, t);
		nic->statistics[GNI_STAT_SMSG_REQ_STALL]++;
		return nic_later(nic, kSend, kSmsgNoEvent);
	}
	Letter l;
	write(q, &l, route, t, text, msg_id, tag);
	const uint32_t status = put(l, cq, id);
	if (status == ARIES_ST_LATER)
		keep(ep, cq, l, id);
	else if (status != ARIES_ST_OK) [[unlikely]]
		return failed(ep, cq, l, id, status);
	return GNI_RC_SUCCESS;
}

} // namespace

gni_return_t GNI_MsgqSend(gni_msgq_handle_t msgq_hndl, gni_ep_handle_t ep_hndl, void *hdr, uint32_t hdr_len, void *msg,
			  uint32_t msg_len, uint32_t msg_id, uint8_t msg_tag)
{
	if (!msgqs.valid(msgq_hndl) || !endpoints.valid(ep_hndl))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", msgqs.valid(msgq_hndl) ? kNoEndpoint : kNoMsgq);
	if (!ep_hndl->bound || ep_hndl->nic != msgq_hndl->nic)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "the endpoint is %s",
			      ep_hndl->bound ? "of another NIC handle" : "not bound");
	if ((!hdr && hdr_len) || (!msg && msg_len))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNull);
	if (uint64_t{hdr_len} + msg_len > msgq_hndl->largest)
		return refuse(GNI_RC_SIZE_ERROR, __func__, "%" PRIu64 " bytes of header and data: %u are possible",
			      uint64_t{hdr_len} + msg_len, msgq_hndl->largest);
	gni_cq *cq = ep_hndl->cq ? ep_hndl->cq : msgq_hndl->send_queue;
	return send(msgq_hndl, ep_hndl, cq, {hdr, hdr_len, msg, msg_len}, msg_id, msg_tag);
}
