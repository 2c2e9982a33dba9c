// SPDX-License-Identifier: GPL-2.0-only
#include "node.h"

struct sim_node sim_node[SIM_NODES];
unsigned int sim_trouble;
unsigned long sim_puts;
unsigned long jiffies;

static u64 sim_random;

void sim_seed(u64 seed)
{
	sim_random = seed * 0x9e3779b97f4a7c15ull + 1;
	jiffies = 1000;
	sim_puts = 0;
}

u64 get_random_u64(void)
{
	sim_random ^= sim_random << 13;
	sim_random ^= sim_random >> 7;
	sim_random ^= sim_random << 17;
	return sim_random;
}

unsigned int sim_pick(unsigned int below)
{
	return (unsigned int)((get_random_u64() >> 20) % below);
}

static bool sim_fails(unsigned int trouble, unsigned int one_in)
{
	return sim_trouble & trouble && !sim_pick(one_in);
}

void *kzalloc(size_t size, int flags)
{
	return sim_fails(SIM_NOMEM, 10) ? NULL : calloc(1, size);
}

void kfree(const void *p)
{
	free((void *)p);
}

void *xa_store(struct xarray *xa, unsigned long index, void *entry, int flags)
{
	assert(index < SIM_XA_SLOTS);
	if (sim_fails(SIM_NOMEM, 10))
		return (void *)-1;
	xa->slot[index] = entry;
	return NULL;
}

int aries_ctx_status(struct aries_ctx *ctx)
{
	return 0;
}

void aries_chan_kick(struct aries_chan *ch)
{
	sim_node[ch->ad->pe].next = jiffies;
}

void sim_event(struct sim_node *n, u32 event)
{
	if (n->nevents < SIM_EVENTS)
		n->event[n->nevents++] = event;
	else
		n->overrun = true;
	n->next = jiffies;
}

int aries_chan_put(struct aries_chan *ch, u32 pe, u32 at, const void *data, size_t bytes, u32 event)
{
	struct sim_node *to = &sim_node[pe];

	assert(!ch->lock.held);
	assert(pe < SIM_NODES && pe != ch->ad->pe && at + bytes <= sizeof(to->area));
	sim_puts++;
	if (!to->up || sim_fails(SIM_LOSE, 5))
		return ARIES_ST_TIMEOUT;
	memcpy(to->area + at, data, bytes);
	if (sim_fails(SIM_LOSE, 20)) {
		to->overrun = true;
		to->next = jiffies;
	} else {
		sim_event(to, event);
	}
	return ARIES_ST_OK;
}

void sim_attach(u32 pe, unsigned int file)
{
	static struct aries_domain domain[SIM_FILES];
	struct aries_ctx *ctx = calloc(1, sizeof(*ctx));

	assert(ctx);
	domain[file].cookie = sim_cookie(file);
	domain[file].dgram_limit = 65536;
	ctx->ad = &sim_node[pe].ad;
	ctx->dom = &domain[file];
	ctx->inst_id = sim_instance(file);
	aries_dgram_init(ctx);
	aries_dgram_attach(ctx);
	sim_node[pe].ctx[file] = ctx;
}

void sim_detach(u32 pe, unsigned int file)
{
	aries_dgram_detach(sim_node[pe].ctx[file]);
	free(sim_node[pe].ctx[file]);
	sim_node[pe].ctx[file] = NULL;
}

/* As aries_chan_init() and aries_chan_start(). Numbers that were given out stay used. */
void sim_up(u32 pe)
{
	struct sim_node *n = &sim_node[pe];
	u64 handle = n->ch.handle;
	unsigned int i;

	memset(n, 0, sizeof(*n));
	n->ad.pe = pe;
	n->ad.nodes = SIM_NODES;
	n->ad.chan = &n->ch;
	n->ch.ad = &n->ad;
	n->ch.on = true;
	n->ch.slots = ARIES_SLOTS_MIN;
	n->ch.area = n->area;
	n->ch.handle = handle;
	INIT_LIST_HEAD(&n->ch.active);
	INIT_LIST_HEAD(&n->ch.ctxs);
	INIT_LIST_HEAD(&n->ch.remote);
	hash_init(n->ch.by_handle);
	hash_init(n->ch.by_ep);
	n->up = true;
	for (i = 0; i < SIM_FILES; i++)
		sim_attach(pe, i);
}

void sim_down(u32 pe)
{
	struct sim_node *n = &sim_node[pe];
	unsigned int i;

	for (i = 0; i < SIM_FILES; i++)
		sim_detach(pe, i);
	n->ch.on = false;
	n->up = false;
	aries_peer_free_all(&n->ch);
}

static void sim_scan(struct sim_node *n)
{
	u32 slot;

	n->overrun = false;
	for (slot = 0; slot < n->ch.slots; slot++) {
		aries_peer_rx_ack(&n->ch, slot);
		aries_peer_rx_msg(&n->ch, slot, false);
	}
}

/* As the work item of aries_chan.c. */
void sim_work(struct sim_node *n)
{
	unsigned long next = jiffies + 60 * HZ;
	unsigned int i, count = n->nevents;
	u32 event[SIM_EVENTS];

	if (!n->up || time_before(jiffies, n->next))
		return;
	memcpy(event, n->event, count * sizeof(event[0]));
	n->nevents = 0;
	for (i = 0; i < count; i++) {
		u32 slot = event[i] & (n->ch.slots - 1);

		if (event[i] & ARIES_CHAN_EVENT_ACK)
			aries_peer_rx_ack(&n->ch, slot);
		else
			aries_peer_rx_msg(&n->ch, slot, true);
	}
	if (n->overrun)
		sim_scan(n);
	next = aries_dg_run(&n->ch, next);
	n->next = aries_peer_run(&n->ch, next);
	if (n->nevents || n->overrun)
		n->next = jiffies;
}

/* A message that is right in form and wrong in some of the rest. */
static void sim_forge(struct sim_node *n)
{
	struct aries_msg msg;

	memcpy(&msg, n->area + sim_pick(SIM_NODES) * ARIES_SLOT_BYTES, sizeof(msg));
	msg.magic = cpu_to_le32(ARIES_MSG_MAGIC);
	msg.src = cpu_to_le32(sim_pick(SIM_NODES + 1));
	msg.type = cpu_to_le16(sim_pick(ARIES_MSG_LAST + 2));
	msg.len = cpu_to_le16(sim_pick(KGNI_DGRAM_BYTES + 10));
	msg.seq += sim_pick(3);
	msg.cookie = cpu_to_le32(sim_cookie(sim_pick(SIM_FILES + 2)));
	msg.src_inst = cpu_to_le32(sim_pick(SIM_INSTANCES));
	msg.dst_inst = cpu_to_le32(sim_pick(SIM_INSTANCES));
	msg.src_handle = cpu_to_le64(sim_pick(40));
	msg.dst_handle = cpu_to_le64(sim_pick(40));
	msg.reserved = 0;
	if (!sim_pick(3))
		msg.src_epoch = cpu_to_le64(get_random_u64());
	if (!sim_pick(3))
		msg.dst_epoch = 0;
	msg.check = cpu_to_le64(jhash(&msg, offsetof(struct aries_msg, check), ARIES_MSG_MAGIC));
	memcpy(n->area + le32_to_cpu(msg.src) * ARIES_SLOT_BYTES, &msg, sizeof(msg));
}

/* What a driver could do that means no good. */
void sim_tamper(struct sim_node *n)
{
	if (sim_pick(3))
		n->area[sim_pick(sizeof(n->area))] = (u8)get_random_u64();
	else
		sim_forge(n);
	sim_event(n, (u32)get_random_u64() & (ARIES_CHAN_EVENT_ACK | 3));
}
