// SPDX-License-Identifier: GPL-2.0-only
/* See fabric.h. */
#include "sim_kernel.h"

#include "aries_regs.h"
#include "uapi/kgni_abi.h"
#include "fabric.h"

#define MASK ((1ull << 40) - 1)

struct aries_cq {
	struct aries_owner *own;
	u16 nr;
	u32 entries;
	u64 *slot;
	u64 written, read;
	void (*handler)(void *data);
	void *data;
	bool armed;
	struct irq_work irq;
	unsigned int regions;
};

struct aries_region {
	struct aries_owner *own;
	u16 mdh;
	u64 base, bytes;
	struct aries_segment segment[16];
	unsigned int segments;
	bool read_only, cut;
	struct aries_cq *cq;
};

struct aries_port {
	struct aries_owner *own;
	int nr;
	bool torn; /* a part of the data that belong to the next sync flag was lost */
};

struct aries_dev {
	struct auxiliary_device adev;
	unsigned int node;
	struct aries_region *region[FABRIC_REGIONS];
	struct aries_cq *cq[FABRIC_QUEUES];
	unsigned int held[FABRIC_REGIONS];
};

struct aries_owner {
	struct aries_dev *ad;
	u8 ptag;
	bool dead;
	void (*event)(void *data, enum aries_event event, const struct aries_event_info *info);
	void *data;
};

DECLARE_STATIC_KEY_FALSE(kgni_check_handles);
unsigned int fabric_delay;
enum fabric_fate (*fabric_fate)(unsigned int from, const struct aries_fma *fma);
void (*fabric_meanwhile)(unsigned int from);

static struct aries_dev dev[FABRIC_NODES];
static struct aries_owner *owners[FABRIC_NODES][8];
static struct auxiliary_driver *driver;
static unsigned int left;

static void events_due(bool all);

void fabric_run(unsigned int ticks)
{
	for (; ticks; ticks--) {
		jiffies++;
		events_due(false);
		while (sim_timers() || sim_irqs() || sim_works())
			;
	}
}

/* ---- devices and owners ---- */

int auxiliary_driver_register(struct auxiliary_driver *d)
{
	unsigned int i;

	driver = d;
	for (i = 0; i < FABRIC_NODES; i++)
		assert(!d->probe(&dev[i].adev, d->id_table));
	return 0;
}

void auxiliary_driver_unregister(struct auxiliary_driver *d)
{
	unsigned int i;

	for (i = 0; i < FABRIC_NODES; i++)
		d->remove(&dev[i].adev);
}

struct aries_dev *aries_client_dev(struct auxiliary_device *adev)
{
	return container_of(adev, struct aries_dev, adev);
}

void aries_get_info(const struct aries_dev *ad, struct aries_info *info)
{
	*info = (struct aries_info){ .id = ad->node, .pe = ad->node, .nodes = FABRIC_NODES,
				      .caps = ARIES_ID_CAPS_LATER_MASK };
}

struct aries_owner *aries_owner_create(struct aries_dev *ad, const struct aries_owner_args *args)
{
	struct aries_owner *own = calloc(1, sizeof(*own));
	unsigned int i;

	own->ad = ad;
	own->ptag = args->ptag;
	own->event = args->event;
	own->data = args->data;
	for (i = 0; owners[ad->node][i]; i++)
		;
	owners[ad->node][i] = own;
	left++;
	return own;
}

void aries_owner_destroy(struct aries_owner *own)
{
	unsigned int i;

	events_due(true);

	for (i = 0; owners[own->ad->node][i] != own; i++)
		;
	owners[own->ad->node][i] = NULL;
	left--;
	free(own);
}

void fabric_tell(unsigned int node, enum aries_event event, const struct aries_event_info *info)
{
	unsigned int i;

	for (i = 0; i < 8; i++) {
		if (!owners[node][i])
			continue;
		owners[node][i]->event(owners[node][i]->data, event, info);
		if (event == ARIES_EVENT_RESET)
			owners[node][i]->dead = true;
	}
}

u8 aries_owner_ptag(struct aries_owner *own)
{
	return own->ptag;
}

/* Datagrams are tested with the driver's own tests, and in a guest. */
int aries_datagram_post(struct aries_owner *own, struct kgni_dgram_post *arg)
{
	(void)own;
	(void)arg;
	return -ENOSPC;
}

int aries_datagram_test(struct aries_owner *own, struct kgni_dgram_test *arg)
{
	(void)own;
	(void)arg;
	return -ENOENT;
}

int aries_datagram_probe(struct aries_owner *own, struct kgni_dgram_probe *arg)
{
	(void)own;
	(void)arg;
	return -ENOENT;
}

int aries_datagram_cancel(struct aries_owner *own, struct kgni_dgram_cancel *arg)
{
	(void)own;
	(void)arg;
	return -ENOENT;
}

/* ---- queues ---- */

static void queue_irq(struct irq_work *work)
{
	struct aries_cq *cq = container_of(work, struct aries_cq, irq);

	cq->handler(cq->data);
}

struct aries_cq *aries_queue_create(struct aries_owner *own, const struct aries_queue_args *args)
{
	struct aries_cq *cq = calloc(1, sizeof(*cq));
	u16 nr;

	for (nr = 1; own->ad->cq[nr]; nr++)
		assert(nr < FABRIC_QUEUES - 1);
	own->ad->cq[nr] = cq;
	cq->own = own;
	cq->nr = nr;
	for (cq->entries = 2; cq->entries < args->entries; cq->entries *= 2)
		;
	cq->slot = calloc(cq->entries, sizeof(u64));
	cq->handler = args->handler;
	cq->data = args->data;
	cq->armed = true;
	cq->irq.function = queue_irq;
	left++;
	return cq;
}

int aries_queue_destroy(struct aries_cq *cq)
{
	if (cq->regions)
		return -EBUSY;
	irq_work_sync(&cq->irq);
	cq->own->ad->cq[cq->nr] = NULL;
	free(cq->slot);
	free(cq);
	left--;
	return 0;
}

int aries_queue_poll(struct aries_cq *cq, u64 *entry)
{
	if (cq->own->dead)
		return -EIO;
	if (cq->read == cq->written) {
		cq->armed = true;
		return -EAGAIN;
	}
	*entry = cq->slot[cq->read++ % cq->entries];
	return 0;
}

u16 aries_queue_nr(const struct aries_cq *cq)
{
	return cq->nr;
}

u32 aries_queue_entries(const struct aries_cq *cq)
{
	return cq->entries;
}

static void queue_post(struct aries_cq *cq, u64 entry)
{
	if (cq->own->dead)
		return;
	if (cq->written - cq->read == cq->entries)
		return;
	if (cq->written - cq->read == cq->entries - 1)
		entry = ARIES_CQE_OVERRUN | FIELD_PREP(ARIES_CQE_SOURCE_MASK, ARIES_SRC_CQ);
	cq->slot[cq->written++ % cq->entries] = entry;
	if (cq->armed && cq->handler) {
		cq->armed = false;
		irq_work_queue(&cq->irq);
	}
}

/* ---- regions ---- */

struct aries_region *aries_region_register(struct aries_owner *own,
					   const struct aries_region_args *args,
					   struct aries_region_info *info)
{
	struct aries_region *r = calloc(1, sizeof(*r));
	unsigned int i;

	for (r->mdh = 1; own->ad->region[r->mdh] || own->ad->held[r->mdh]; r->mdh++)
		assert(r->mdh < FABRIC_REGIONS - 1);
	own->ad->region[r->mdh] = r;
	r->own = own;
	for (i = 0; i < args->count; i++) {
		u64 start = args->segments[i].address / PAGE_SIZE * PAGE_SIZE;
		u64 end = ALIGN(args->segments[i].address + args->segments[i].length, PAGE_SIZE);

		r->segment[i] = (struct aries_segment){ start, end - start };
		r->bytes += end - start;
	}
	r->segments = args->count;
	r->base = args->by_offset ? 0 : r->segment[0].address;
	r->read_only = args->flags & ARIES_REGION_READ_ONLY;
	r->cq = args->cq;
	if (r->cq)
		r->cq->regions++;
	*info = (struct aries_region_info){ r->mdh, r->base, r->bytes };
	left++;
	return r;
}

int aries_region_deregister(struct aries_region *r, unsigned int hold_ms)
{
	might_sleep();
	r->own->ad->held[r->mdh] = hold_ms;
	r->own->ad->region[r->mdh] = NULL;
	if (r->cq)
		r->cq->regions--;
	free(r);
	left--;
	return 0;
}

int aries_region_cut(struct aries_region *r)
{
	r->cut = true;
	return 0;
}

int aries_region_release(struct aries_owner *own, u16 mdh)
{
	might_sleep();
	if (!own->ad->held[mdh])
		return -ENOENT;
	own->ad->held[mdh] = 0;
	return 0;
}

/* Return: address of @bytes at @offset; NULL if they are not within one segment of the region. */
static void *region_at(const struct aries_region *r, u64 offset, u64 bytes)
{
	u64 at = (offset - r->base) & MASK;
	unsigned int i;

	for (i = 0; i < r->segments; i++) {
		if (at < r->segment[i].length)
			return at + bytes <= r->segment[i].length
				       ? (void *)(uintptr_t)(r->segment[i].address + at)
				       : NULL;
		at -= r->segment[i].length;
	}
	return NULL;
}

/* ---- ports ---- */

unsigned int sim_processor;
int fabric_fma_port, fabric_bte_port;
unsigned int fabric_ports_most;
static unsigned int ports;

struct aries_port *aries_port_create(struct aries_owner *own)
{
	struct aries_port *port;

	if (ports == fabric_ports_most)
		return ERR_PTR(-ENOSPC);
	port = calloc(1, sizeof(*port));
	port->own = own;
	port->nr = ports++;
	left++;
	return port;
}

void aries_port_destroy(struct aries_port *port)
{
	ports--;
	left--;
	free(port);
}

static u8 reach(const struct aries_owner *own, u32 pe, u16 mdh, u64 offset, u64 bytes, void **at,
		struct aries_region **region)
{
	struct aries_region *r;

	if (pe >= FABRIC_NODES)
		return ARIES_ST_NO_NODE;
	r = mdh < FABRIC_REGIONS ? dev[pe].region[mdh] : NULL;
	if (!r || r->cut || r->own->dead)
		return ARIES_ST_MDD;
	if (r->own->ptag != own->ptag)
		return ARIES_ST_PTAG;
	*region = r;
	*at = region_at(r, offset, bytes);
	return bytes && !*at ? ARIES_ST_BOUNDS : ARIES_ST_OK;
}

static u8 operate(const struct aries_owner *own, const struct aries_fma *f,
		  struct aries_region **region)
{
	const struct aries_fma_desc *d = &f->desc;
	struct aries_region *local;
	void *at, *here = NULL, *flag = NULL;
	u8 status = reach(own, d->pe, d->mdh, d->offset, f->length, &at, region);

	if (!status && f->op == ARIES_FMA_PUT_SYNC)
		status = reach(own, d->pe, d->mdh, d->sync_offset, 8, &flag, region);
	if (!status && f->op == ARIES_FMA_GET_OP &&
	    reach(own, own->ad->node, d->local_mdh, d->local_offset, f->length, &here, &local))
		status = ARIES_ST_LOCAL_MDD;
	if (!status && (f->mode & ARIES_EV_REMOTE) && !(*region)->cq)
		status = ARIES_ST_NO_CQ;
	if (status)
		return status;
	if (f->op == ARIES_FMA_GET_OP)
		memcpy(here, at, f->length);
	else if (f->length)
		memcpy(at, f->line, f->length);
	if (flag)
		*(u64 *)flag = d->sync_value;
	return status;
}

static u64 entry_of(const struct aries_fma *f, u32 data, u8 status, u64 info, u64 source)
{
	return data | (u64)f->tid << ARIES_CQE_TID_SHIFT | (u64)status << ARIES_CQE_STATUS_SHIFT |
	       info << ARIES_CQE_INFO_SHIFT | source << ARIES_CQE_SOURCE_SHIFT |
	       (u64)(f->mode >> ARIES_EV_TYPE_SHIFT & 3) << ARIES_CQE_TYPE_SHIFT;
}

static void events(const struct aries_owner *own, const struct aries_fma *f, u8 status)
{
	struct aries_cq *cq = f->desc.cq < FABRIC_QUEUES ? own->ad->cq[f->desc.cq] : NULL;
	u64 bit;

	for (bit = 1; cq && bit <= 2; bit++)
		if (f->mode & bit)
			queue_post(cq,
				   entry_of(f, f->desc.local_event, status, bit, ARIES_SRC_FMA));
}

/* Events that are raised at a later time. */
static struct later {
	struct aries_owner *own;
	struct aries_fma fma;
	u8 status;
	unsigned long due;
	struct later *next;
} *later;

static void events_later(struct aries_owner *own, const struct aries_fma *f, u8 status)
{
	struct later *one = malloc(sizeof(*one)), **p;

	*one = (struct later){ own, *f, status, jiffies + fabric_random(fabric_delay + 1), NULL };
	for (p = &later; *p && (*p)->due <= one->due; p = &(*p)->next)
		;
	one->next = *p;
	*p = one;
}

/* Raise the events that are due, or all of them with @all. */
static void events_due(bool all)
{
	while (later && (all || !time_after(later->due, jiffies))) {
		struct later *one = later;

		later = one->next;
		events(one->own, &one->fma, one->status);
		free(one);
	}
}

/* A get always waits for its response, so for a get the late fates become immediate ones. */
static enum fabric_fate fate_of(struct aries_port *port, const struct aries_fma *f)
{
	enum fabric_fate fate =
		fabric_fate ? fabric_fate(port->own->ad->node, f) : FABRIC_DONE;

	/* a flag must not be stored unless all of its data were */
	if (f->op == ARIES_FMA_PUT_LINE)
		port->torn |= fate == FABRIC_LATE;
	if (f->op == ARIES_FMA_PUT_SYNC) {
		if (port->torn && (fate == FABRIC_ON_ITS_WAY || fate == FABRIC_LATE_UNHEARD))
			fate = FABRIC_LATE;
		port->torn = false;
	}
	if (f->op != ARIES_FMA_GET_OP)
		return fate;
	return fate == FABRIC_LATE	  ? FABRIC_LOST :
	       fate == FABRIC_LATE_UNHEARD ? FABRIC_UNHEARD :
	       fate == FABRIC_ON_ITS_WAY   ? FABRIC_DONE :
					     fate;
}

int aries_port_fma(struct aries_port *port, const struct aries_fma *f)
{
	enum fabric_fate fate = FABRIC_DONE;
	struct aries_region *region = NULL;
	u8 status = ARIES_ST_OK;
	bool on_its_way;

	fabric_fma_port = port->nr;
	if (port->own->dead)
		return -EIO;
	fate = fate_of(port, f);
	if (fate == FABRIC_NOT_TAKEN)
		return -EAGAIN;
	if (fate == FABRIC_DONE || fate == FABRIC_UNHEARD || fate == FABRIC_ON_ITS_WAY ||
	    fate == FABRIC_LATE_UNHEARD)
		status = operate(port->own, f, &region);
	if (!status && region && (f->mode & ARIES_EV_REMOTE))
		queue_post(region->cq, entry_of(f, f->desc.remote_event, 0, ARIES_INFO_REMOTE,
						ARIES_SRC_REMOTE));
	if (fate == FABRIC_LOST || fate == FABRIC_UNHEARD || fate == FABRIC_LATE ||
	    fate == FABRIC_LATE_UNHEARD)
		status = ARIES_ST_TIMEOUT;
	if (fate == FABRIC_NO_WAY)
		status = ARIES_ST_NO_NODE;
	if (fate == FABRIC_FULL)
		status = ARIES_ST_QUEUE_FULL;
	on_its_way = fate == FABRIC_LATE || fate == FABRIC_LATE_UNHEARD ||
		     fate == FABRIC_ON_ITS_WAY;
	if (on_its_way && fabric_delay)
		events_later(port->own, f, status);
	else
		events(port->own, f, status);
	if (fabric_meanwhile)
		fabric_meanwhile(port->own->ad->node);
	if (on_its_way)
		return f->mode & ARIES_DB_LATER ? ARIES_ST_LATER : ARIES_ST_OK;
	return status;
}

int aries_port_bte(struct aries_port *port, const struct aries_bte_desc *d)
{
	struct aries_region *there, *here;
	struct aries_fma as = { .desc = { .cq = d->cq, .local_event = d->local_event },
				.tid = d->tid,
				.mode = d->mode };
	void *to, *from;
	u8 status;

	fabric_bte_port = port->nr;
	if (port->own->dead)
		return -EIO;
	if (fabric_fate && fabric_fate(port->own->ad->node, &as) == FABRIC_NOT_TAKEN)
		return ARIES_ST_QUEUE_FULL;
	status = reach(port->own, d->pe, d->mdh, d->offset, d->length, &to, &there);
	if (!status && reach(port->own, port->own->ad->node, d->local_mdh, d->local_offset,
			     d->length, &from, &here))
		status = ARIES_ST_LOCAL_MDD;
	if (!status && d->op == ARIES_BTE_GET)
		memcpy(from, to, d->length);
	else if (!status)
		memcpy(to, from, d->length);
	events(port->own, &as, status);
	return ARIES_ST_OK;
}

/* ---- begin and end ---- */

unsigned int fabric_left(void)
{
	return left;
}

void fabric_begin(u64 seed)
{
	unsigned int i;

	memset(dev, 0, sizeof(dev));
	for (i = 0; i < FABRIC_NODES; i++)
		dev[i].node = i;
	sim_begin(seed);
	fabric_fate = NULL;
	fabric_meanwhile = NULL;
	fabric_delay = 0;
	fabric_ports_most = UINT_MAX;
	sim_processor = 0;
	sim_warned = 0;
	/* like check_handles=1, because tests use handles that were freed */
	kgni_check_handles.on = true;
	assert(!sim_init());
}

void fabric_end(void)
{
	assert(!later);
	sim_exit();
	assert(!left && !fabric_memory());
}
