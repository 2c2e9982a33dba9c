// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * Message queues: state that the instances of a node share, and state of each instance.
 *
 * The instances share one file of memory:
 *
 *   control    members, connections, and for each instance of another
 *              node the slots that senders of this node have taken
 *   credits    for each instance of another node the slots that it has emptied;
 *              it writes them
 *   mail       for each instance of this node and each connection a mailbox:
 *              slots of one message each; senders of the other node write them
 *
 * Each instance registers the credits and its own mail, in this order, as one
 * region with a queue of its own; control is no peer's to write.
 *
 * A slot is free when its taken bit equals its emptied bit; the sender inverts
 * the taken bit, the receiver the emptied bit. So both words may be written
 * again without harm, no process waits for a lock of another one, and a process
 * that dies leaves at most its slot behind. The taken bit is part of the message,
 * so a receiver recognises a message that arrives twice. Receivers do not clear
 * slots, so a sender can read whether a message arrived whose put had no answer.
 *
 * A message is one put with sync flag; the flag is the header, the first word
 * of the slot. Its remote event names connection, slot and bit, and tells the
 * receiver where to look. If that queue has overrun, the receiver searches all
 * of its slots, and sorts the messages by their numbers.
 *
 * Words that another process or a peer writes are loaded once and checked.
 */
#ifndef UGNI_MSGQ_HPP
#define UGNI_MSGQ_HPP

#include "objects.hpp"
#include "post.hpp"
#include "smsg.hpp"

namespace ugni
{

constexpr const char *kMsgqBusy = "a thread is in GNI_MsgqProgress()";
constexpr const char *kMsgqSending = "the events of sends are not reaped";
constexpr const char *kNoMsgq = "msgq_hndl is no message queue, or released";
constexpr uint32_t kMsgqMostSlots = 2048;
constexpr uint32_t kMsgqMostPeers = 4096;
constexpr uint32_t kMsgqMembers = GNI_MSGQ_NODE_INSTS_MAX;
constexpr uint32_t kMsgqWordSlots = 32; /* of one credit word; the other half is a check */
constexpr uint64_t kMsgqPage = 4096;
constexpr uint64_t kMsgqHugePage = uint64_t{2} << 20;

/** A message in a slot; header and data follow. */
struct MsgqSlot {
	uint64_t header; /* msgq_header(); sync flag of the put, which begins at the next word */
	uint64_t number; /* of all messages that the node has sent to this instance */
	uint32_t sender_id;
	uint32_t reserved[3];
};

static_assert(sizeof(MsgqSlot) == 32);
constexpr uint32_t kMsgqPrefix = sizeof(MsgqSlot) - sizeof(uint64_t);

/** Who is at work in a queue and must not meet another. */
enum class MsgqBusy : uint8_t { nobody, progress, release };

/** Where everything is; computed from the attributes by each instance for itself. */
struct MsgqLayout {
	uint32_t slots; /* of a mailbox */
	uint32_t words; /* with a bit for each of these */
	uint32_t slot_bytes;
	uint32_t peers;
	uint32_t members;
	uint64_t peers_at;
	uint64_t senders_at;
	uint64_t sender_bytes; /* of one instance of one peer */
	uint64_t credits_at;
	uint64_t credits_bytes; /* whole pages, of all peers */
	uint64_t mail_at;
	uint64_t mail_bytes; /* of a member, whole pages; behind the mailboxes a word for reads from peers */
	uint64_t used;
	uint64_t size; /* whole huge pages */

	uint64_t mailbox_bytes() const { return uint64_t{slots} * slot_bytes; }
	/** Credit words of instance @instance of connection @peer; both sides count from the start of the credits. */
	uint64_t credit(uint32_t peer, uint32_t instance) const
	{
		return (uint64_t{peer} * kMsgqMembers + instance) * words * sizeof(uint64_t);
	}
	/** Mailbox of connection @peer, from the start of the region that a member registers. */
	uint64_t mailbox(uint32_t peer) const { return credits_bytes + peer * mailbox_bytes(); }
	/** Offset of that word in the member's region. */
	uint64_t landing() const { return mailbox(peers); }
	/** Bits of word @word that stand for a slot. */
	uint32_t mask(uint32_t word) const
	{
		uint32_t left = slots - word * kMsgqWordSlots;
		return left >= kMsgqWordSlots ? ~0U : (1U << left) - 1;
	}
};

/** Return: what is wrong with @attrs, nullptr if nothing is and the memory is not too large. */
const char *msgq_layout(const gni_msgq_attr_t *attrs, MsgqLayout *layout);

/* ---- Shared: written under the lock of the file unless said otherwise ---- */

enum MsgqPhase : uint32_t { kMsgqForming = 1, kMsgqReady = 2, kMsgqEnding = 3 };

struct MsgqMember {
	uint32_t inst_id;
	uint32_t reserved;
	gni_mem_handle_t handle;
};

struct MsgqControl {
	uint64_t magic;
	uint32_t phase; /* MsgqPhase; read without the lock */
	uint32_t joined;
	gni_msgq_attr_t attrs;
	MsgqMember members[kMsgqMembers];
};

enum MsgqLink : uint32_t { kMsgqFree = 0, kMsgqReserved = 1, kMsgqConnected = 2 };

/** A connection. */
struct MsgqPeer {
	uint32_t state; /* MsgqLink 7:0, generation 31:8; the last store of a change, read without the lock */
	uint32_t pe;
	uint32_t count;
	uint32_t reserved;
	gni_msgq_rem_inst_t instances[kMsgqMembers];
};

constexpr uint32_t msgq_link(uint32_t state)
{
	return state & 0xff;
}

/** State of the senders of this node towards one instance of a peer. No lock: atomic operations only. */
struct MsgqSender {
	uint64_t number; /* of the next message */

	/**
	 * Bits of slots taken 31:0, and how often one was taken 63:32: a word that reads as before is one in which
	 * nothing has happened, even to a thread that was not on a processor while all slots went round.
	 */
	uint64_t *taken() { return reinterpret_cast<uint64_t *>(this + 1); }
	/** Follows the @words of taken bits: as many words, with the bits of slots whose last message has an unknown
	 * fate. */
	uint32_t *lost(uint32_t words) { return reinterpret_cast<uint32_t *>(taken() + words); }
	/** Low bits of how often each slot was taken; counted by the sender that takes the slot, before it puts. */
	uint8_t *rounds(uint32_t words) { return reinterpret_cast<uint8_t *>(lost(words) + words); }
	static constexpr uint32_t kRounds = 256; /* until such a count begins again */
	static constexpr size_t bytes(uint32_t words)
	{
		return sizeof(MsgqSender) +
		       (sizeof(uint64_t) + sizeof(uint32_t) + kMsgqWordSlots * sizeof(uint8_t)) * words;
	}
};

/*
 * gni_msgq_rem_inst_t.mdh_off: mailbox 39:0, connection 51:40 and generation
 * 59:52 at its owner. The peer puts the last two into events.
 */
constexpr uint64_t msgq_place(uint64_t offset, uint32_t peer, uint32_t generation)
{
	return offset | uint64_t{peer} << 40 | uint64_t{generation & 0xff} << 52;
}

constexpr uint32_t msgq_place_peer(uint64_t place)
{
	return static_cast<uint32_t>(place >> 40 & 0xfff);
}

/** Event data: connection 31:20, generation 19:12, slot 11:1, bit 0. */
constexpr uint32_t msgq_event(uint64_t place, uint32_t slot, bool bit)
{
	return static_cast<uint32_t>(place >> 40 & 0xfff) << 20 | static_cast<uint32_t>(place >> 52 & 0xff) << 12 |
	       slot << 1 | static_cast<uint32_t>(bit);
}

/** Of messages from the node @from_pe whose own record says @from to the instance with @name and @to. */
constexpr uint32_t msgq_key(uint16_t name, uint64_t to, uint32_t from_pe, uint64_t from)
{
	return static_cast<uint32_t>(
		gni_smsg_mix(gni_smsg_mix(to ^ uint64_t{name} << 44) ^ gni_smsg_mix(from + 1) ^ from_pe));
}

/** Header word: length 7:0, tag 15:8, bit 16, ones 31:24, check over these, sender, key and number 63:32. */
constexpr uint64_t msgq_header(uint32_t key, uint64_t number, uint32_t sender_id, uint32_t length, uint8_t tag,
			       bool bit)
{
	uint64_t low = length | uint32_t{tag} << 8 | static_cast<uint32_t>(bit) << 16 | 0xff000000U;

	return low | gni_smsg_mix((low | uint64_t{key} << 32) ^ gni_smsg_mix(number + 1) ^ uint64_t{sender_id} << 8) >>
			     32 << 32;
}

constexpr uint32_t msgq_header_length(uint64_t word)
{
	return static_cast<uint32_t>(word & 0xff);
}

constexpr uint8_t msgq_header_tag(uint64_t word)
{
	return static_cast<uint8_t>(word >> 8);
}

constexpr bool msgq_header_bit(uint64_t word)
{
	return word >> 16 & 1;
}

/** Credit word: bits of slots emptied 31:0, check 63:32 (never 0). A word that was never written has no bit. */
constexpr uint64_t msgq_credit(uint32_t key, uint32_t word, uint32_t bits)
{
	return bits | (gni_smsg_mix(bits ^ uint64_t{key} << 32 ^ uint64_t{word} << 8) >> 32 | 1) << 32;
}

/* ---- Private to an instance ---- */

/** Where messages to one instance go, as found in a connection. */
struct MsgqRoute {
	uint32_t state; /* of the connection, when this was found; 0: empty */
	uint32_t pe;
	uint32_t id;
	uint32_t key;
	uint32_t peer;
	uint16_t name; /* of the memory domain */
	uint64_t place;
	MsgqSender *sender;
	const uint64_t *credits;
};

/** Receive state of this instance for one connection. */
struct MsgqInbox {
	uint32_t state; /* of the connection that the rest is about */
	uint32_t key;
	uint32_t self;     /* index of this instance, as the peer counts */
	uint32_t via;      /* instance whose memory domain leads to the peer's credits */
	uint32_t untold;   /* slots emptied that the peer does not know of */
	uint32_t pause_ms; /* until credits that failed are sent again; 0: none are due */
	uint64_t due_ms;
	bool search;    /* there may be messages whose events were lost */
	uint64_t dirty; /* words with such slots */
	uint32_t *emptied;
};

/** A message found by a search. */
struct MsgqFound {
	uint64_t number;
	uint32_t slot;
};

constexpr uint32_t kMsgqRoutes = 256;

} // namespace ugni

struct alignas(512) gni_msgq {
	static constexpr uint32_t kMagic = 0x716d'7567;
	static constexpr size_t kSlots = size_t{1} << 12;

	std::atomic<uint32_t> magic;
	uint32_t self; /* member */
	gni_nic *nic;
	gni_msgq_rcv_cb_func *callback;
	void *context;
	gni_cq *send_queue; /* of endpoints that have none */
	gni_cq *receive_queue;
	gni_mem_handle_t handle;
	char *base;
	int share;
	uint32_t largest;
	uint32_t later; /* ARIES_DB_LATER if the NIC tells of puts that may get lost when they have left */
	bool blocking;
	std::atomic<ugni::MsgqBusy> busy;
	const ugni::Uncancelled *guard; /* of the thread in GNI_MsgqProgress() */
	bool searching;                 /* some inbox wants a search */
	bool credits_due;               /* some inbox could not tell */
	ugni::MsgqLayout layout;
	ugni::MsgqRoute *routes;
	ugni::MsgqInbox *inboxes;
	ugni::MsgqFound *found;
	void *tables;       /* these three */
	size_t table_bytes; /* of them */
	uint32_t found_peer;
	uint32_t found_count;
	uint32_t found_next;

	ugni::MsgqControl *control() const { return reinterpret_cast<ugni::MsgqControl *>(base); }
	ugni::MsgqPeer *peer(uint32_t n) const
	{
		return reinterpret_cast<ugni::MsgqPeer *>(base + layout.peers_at) + n;
	}
	ugni::MsgqSender *sender(uint32_t n, uint32_t instance) const
	{
		return reinterpret_cast<ugni::MsgqSender *>(
			base + layout.senders_at + (uint64_t{n} * ugni::kMsgqMembers + instance) * layout.sender_bytes);
	}
	uint64_t *credits(uint32_t n, uint32_t instance) const
	{
		return reinterpret_cast<uint64_t *>(base + layout.credits_at + layout.credit(n, instance));
	}
	const uint64_t *landing() const { return reinterpret_cast<const uint64_t *>(mailbox(self, layout.peers)); }
	char *mailbox(uint32_t member, uint32_t n) const
	{
		return base + layout.mail_at + member * layout.mail_bytes + n * layout.mailbox_bytes();
	}
};

namespace ugni
{

extern Slab<gni_msgq> msgqs;

inline uint32_t msgq_phase(const gni_msgq *q)
{
	return __atomic_load_n(&q->control()->phase, __ATOMIC_ACQUIRE);
}

inline uint32_t msgq_state(const gni_msgq *q, uint32_t peer)
{
	return __atomic_load_n(&q->peer(peer)->state, __ATOMIC_ACQUIRE);
}

/** The lock of the shared memory, for what is not on the data path. */
class MsgqLock
{
public:
	explicit MsgqLock(int share) : share_(share) { (void)sys::share_lock(share, 0, true); }
	~MsgqLock() { sys::share_unlock(share_, 0); }
	MsgqLock(const MsgqLock &) = delete;
	MsgqLock &operator=(const MsgqLock &) = delete;

private:
	Uncancelled whole_;
	int share_;
};

/**
 * Joins the node's message queue, or makes it if this is the first member: maps and registers the queue and fills in
 * @q. Return: SUCCESS, ERROR_NOMEM, INVALID_STATE, PERMISSION_ERROR.
 */
gni_return_t msgq_join(gni_msgq *q, const gni_msgq_attr_t *attrs, const char *call);
/** The reverse, but for the registration. */
void msgq_leave(gni_msgq *q);

/** Whether sends of this instance are not reaped, except for sends of destroyed endpoints. @pe: to one node. */
bool msgq_sending(const gni_msgq *q, const uint32_t *pe);

/** This instance's state of connection @peer; nullptr without a connection. */
MsgqInbox *msgq_inbox(const gni_msgq *q, uint32_t peer);

enum class MsgqOutcome { kNothing, kTaken, kStop, kDamaged };
/** Hands over the message in a slot, if there is a new one, and gives the slot back. */
MsgqOutcome msgq_deliver(gni_msgq *q, uint32_t peer, MsgqInbox *box, uint32_t slot);
/** A new message, or a damaged one, is in the slot: header in @word. */
MsgqOutcome msgq_look(const gni_msgq *q, uint32_t peer, const MsgqInbox *box, uint32_t slot, uint64_t *word,
		      uint64_t *number, uint32_t *sender_id);

/** The receive queue overran: all slots have to be looked at. */
void msgq_search_all(gni_msgq *q);
/** Prepares the next search that is wanted and possible. Return: whether messages were found. */
bool msgq_search(gni_msgq *q);

/** One slot has been emptied; tells the peer when half of the slots wait for it. */
void msgq_emptied(gni_msgq *q, uint32_t peer, MsgqInbox *box, uint32_t slot);
/** Nothing to receive: credits that failed are sent again when their time has come. */
void msgq_tell_due(gni_msgq *q);

} // namespace ugni

#endif
