// SPDX-License-Identifier: GPL-2.0-only
#include "node.h"

struct sim_node sim_node[SIM_NODES];
unsigned int sim_trouble;
unsigned int sim_warnings;
unsigned long sim_steps;
unsigned long jiffies;

static u64 sim_random;

void sim_seed(u64 seed)
{
	sim_random = seed * 0x9e3779b97f4a7c15ull + 1;
	jiffies = 1000;
	sim_warnings = 0;
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

int aries_owner_why(const struct aries_owner *own)
{
	return 0;
}

static struct sim_node *sim_of(const struct aries_dev *ad)
{
	return &sim_node[ad->pe];
}

u64 aries_rd64(struct aries_dev *ad, u32 reg)
{
	return 0;
}

/* Writes an entry to the queue. If the queue is full the loss is marked in the next entry. */
static void sim_event(struct sim_node *n, u32 event)
{
	u64 slots = 1ull << n->log2;

	if (!n->cq)
		return;
	if (n->produced - n->cq[0] >= slots) {
		n->owed = true;
		return;
	}
	n->cq[ARIES_CQ_HEADER_BYTES / sizeof(u64) + n->produced++ % slots] =
		FIELD_PREP(ARIES_CQE_DATA_MASK, event) | FIELD_PREP(ARIES_CQE_SOURCE_MASK, 1) |
		(n->owed ? ARIES_CQE_OVERRUN : 0);
	n->owed = false;
	if (n->armed) {
		n->armed = false;
		aries_chan_irq(&n->ad);
	}
}

void aries_wr32(struct aries_dev *ad, u32 reg, u32 value)
{
	struct sim_node *n = sim_of(ad);

	assert(reg == ARIES_CQI_ARM && value == ARIES_CHAN_CQ);
	n->armed = n->produced == n->cq[0];
	if (!n->armed)
		aries_chan_irq(ad);
}

void aries_wr64(struct aries_dev *ad, u32 reg, u64 value)
{
	struct sim_node *n = sim_of(ad);

	if (reg == ARIES_CQ_BASE_N(ARIES_CHAN_CQ)) {
		n->cq = (u64 *)(uintptr_t)value;
	} else if (reg == ARIES_CQ_CTL_N(ARIES_CHAN_CQ)) {
		n->log2 = (unsigned int)FIELD_GET(ARIES_CQ_CTL_LOG2_MASK, value);
		n->produced = 0;
		n->armed = false;
		n->cq = value ? n->cq : NULL;
	} else if (reg == ARIES_PTAG_KEY_N(ARIES_CHAN_PTAG)) {
		n->key = value;
	} else if (reg == ARIES_MDD_LENGTH_N(ARIES_CHAN_MDH)) {
		n->area_bytes = value;
	} else if (reg == ARIES_MDD_TABLE_N(ARIES_CHAN_MDH)) {
		u64 *pte = (u64 *)(uintptr_t)value;

		n->area = (u8 *)(uintptr_t)(pte[0] & ARIES_PTE_ADDR_MASK);
	}
}

int aries_inv_mdd(struct aries_dev *ad, unsigned int mdh)
{
	assert(mdh == ARIES_CHAN_MDH);
	sim_of(ad)->area = NULL;
	return 0;
}

/* Nothing is in flight here after a register was written. */
int aries_inv_drain(struct aries_dev *ad)
{
	(void)ad;
	return 0;
}

bool aries_quiet(struct aries_dev *ad)
{
	(void)ad;
	return true;
}

bool aries_quiet_begin(struct aries_dev *ad)
{
	return aries_quiet(ad);
}

static u32 sim_put(struct sim_node *from, const struct aries_fma_desc *desc, u64 bytes)
{
	struct sim_node *to = &sim_node[desc->pe];
	const u8 *data = from->desc + ARIES_DESC_LINE;
	struct aries_msg msg;
	u32 domain;

	memcpy(&msg, data, sizeof(msg));
	domain = le32_to_cpu(msg.cookie) - sim_cookie(0);
	assert(desc->pe < SIM_NODES && to != from && desc->mdh == ARIES_CHAN_MDH);
	if (!to->area || sim_fails(SIM_LOSE, 5))
		return ARIES_ST_TIMEOUT;
	if (to->key != from->key)
		return ARIES_ST_PTAG;
	assert(desc->offset + bytes <= to->area_bytes);
	if (bytes == sizeof(msg) && domain < SIM_DOMAINS)
		from->sent[domain]++;
	memcpy(to->area + desc->offset, data, bytes);
	to->owed |= sim_fails(SIM_LOSE, 20);
	sim_event(to, (u32)desc->remote_event);
	return ARIES_ST_OK;
}

/* The doorbell. */
void writeq(u64 value, void *at)
{
	struct sim_node *n = sim_node;
	struct aries_fma_status status = {};
	struct aries_fma_desc desc;

	while (at != n->bell + ARIES_DB_FMA)
		assert(++n < sim_node + SIM_NODES);
	assert(!n->ad.chan->lock.held);
	assert(FIELD_GET(ARIES_DB_OP_MASK, value) == ARIES_FMA_PUT_LINE);
	memcpy(&desc, n->desc + ARIES_DESC_FMA, sizeof(desc));
	status.status = sim_put(n, &desc, FIELD_GET(ARIES_DB_LEN_MASK, value));
	memcpy(n->desc + ARIES_DESC_STATUS, &status, sizeof(status));
}

void sim_attach(u32 pe, unsigned int file)
{
	static struct aries_domain domain[SIM_FILES];
	struct aries_owner *own = calloc(1, sizeof(*own));

	assert(own);
	domain[file].ptag = (u8)(3 + file / SIM_INSTANCES);
	domain[file].cookie = sim_cookie(file);
	domain[file].dgram_limit = 65536;
	own->ad = &sim_node[pe].ad;
	own->dom = &domain[file];
	own->inst_id = sim_instance(file);
	aries_dgram_init(own);
	aries_dgram_attach(own);
	sim_node[pe].own[file] = own;
}

void sim_detach(u32 pe, unsigned int file)
{
	aries_dgram_detach(sim_node[pe].own[file]);
	free(sim_node[pe].own[file]);
	sim_node[pe].own[file] = NULL;
}

/*
 * First half of the start, as at probe, up to the setup of the NIC. Handles that were used before a
 * restart are not used again.
 */
void sim_prepare(u32 pe)
{
	struct sim_node *n = &sim_node[pe];
	unsigned int trouble = sim_trouble;
	static u64 handle[SIM_NODES];

	if (n->ad.chan) {
		handle[pe] = n->ad.chan->handle;
		kvfree(n->ad.chan);
	}
	memset(n, 0, sizeof(*n));
	n->ad.pe = pe;
	n->ad.nodes = SIM_NODES;
	n->ad.pdev = &n->pdev;
	n->ad.hw_ok = true;
	n->ad.state = ARIES_STATE_RESET;
	n->ad.desc = n->desc;
	n->ad.fma_phys = (uintptr_t)n->bell - ARIES_FMA_DOORBELL;
	sim_trouble = 0;
	assert(!aries_chan_init(&n->ad));
	sim_trouble = trouble;
	n->ad.chan->handle = handle[pe];
	aries_chan_start(&n->ad);
}

/* Second half of the start. */
void sim_begin(u32 pe)
{
	struct sim_node *n = &sim_node[pe];
	unsigned int i;

	n->ad.state = ARIES_STATE_UP;
	aries_chan_go(&n->ad);
	n->up = true;
	for (i = 0; i < SIM_FILES; i++)
		sim_attach(pe, i);
}

void sim_up(u32 pe)
{
	sim_prepare(pe);
	sim_begin(pe);
}

void sim_down(u32 pe)
{
	struct sim_node *n = &sim_node[pe];
	unsigned int i;

	for (i = 0; i < SIM_FILES; i++)
		sim_detach(pe, i);
	n->up = false;
	aries_chan_stop(&n->ad);
	aries_chan_exit(&n->ad);
}

/* Runs the work of the driver if it is due. */
void sim_work(struct sim_node *n)
{
	struct delayed_work *work = &n->ad.chan->work;

	if (!work->pending || time_before(jiffies, work->expires))
		return;
	work->pending = false;
	work->work.function(&work->work);
}

/* Forges a message that has a valid form, but some wrong contents. */
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
	msg.check = cpu_to_le64(~crc32_le(~0u, (const u8 *)&msg, offsetof(struct aries_msg, check)));
	memcpy(n->area + le32_to_cpu(msg.src) * ARIES_SLOT_BYTES, &msg, sizeof(msg));
}

/* What a malicious driver could do. */
void sim_tamper(struct sim_node *n)
{
	if (sim_pick(3))
		n->area[sim_pick((unsigned int)n->area_bytes)] = (u8)get_random_u64();
	else
		sim_forge(n);
	sim_event(n, (u32)get_random_u64() & (ARIES_CHAN_EVENT_ACK | 3));
}
