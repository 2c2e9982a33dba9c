// SPDX-License-Identifier: GPL-2.0-only
#include "aries_obj.h"

unsigned int sim_warnings;
unsigned long sim_steps;
unsigned long jiffies;
unsigned int sim_allocated, sim_fail_in, sim_mapped;
bool sim_privileged;
struct sim_nic sim_nic;

void *sim_alloc(size_t size)
{
	void *mem;

	if (sim_fail_in && !--sim_fail_in)
		return NULL;
	sim_allocated++;
	/* queues and tables begin with a page; the size is a multiple, as the function wants it */
	mem = aligned_alloc(PAGE_SIZE, PAGE_ALIGN(max(size, 1ul)));
	assert(mem);
	return memset(mem, 0, PAGE_ALIGN(max(size, 1ul)));
}

void *kzalloc(size_t size, int flags)
{
	return sim_alloc(size);
}

void kfree(const void *p)
{
	if (p)
		sim_allocated--;
	free((void *)p);
}

void *xa_store(struct xarray *xa, unsigned long index, void *entry, int flags)
{
	if (index >= SIM_XA_SLOTS)
		return (void *)-1;
	xa->slot[index] = entry;
	return NULL;
}

u32 aries_rd32(struct aries_dev *ad, u32 reg)
{
	u32 value;

	assert(reg <= sizeof(sim_nic.registers) - sizeof(value));
	memcpy(&value, sim_nic.registers + reg, sizeof(value));
	return value;
}

u64 aries_rd64(struct aries_dev *ad, u32 reg)
{
	return aries_rd32(ad, reg) | (u64)aries_rd32(ad, reg + 4) << 32;
}

void aries_wr32(struct aries_dev *ad, u32 reg, u32 value)
{
	assert(reg <= sizeof(sim_nic.registers) - sizeof(value));
	if (sim_nic.written)
		sim_nic.written(ad, reg, value);
	memcpy(sim_nic.registers + reg, &value, sizeof(value));
}

void aries_wr64(struct aries_dev *ad, u32 reg, u64 value)
{
	assert(reg <= sizeof(sim_nic.registers) - sizeof(value));
	if (sim_nic.written)
		sim_nic.written(ad, reg, value);
	memcpy(sim_nic.registers + reg, &value, sizeof(value));
}

u64 aries_inv_seq(struct aries_dev *ad)
{
	return 1;
}

int aries_inv_look(struct aries_dev *ad, u64 seq)
{
	return sim_nic.busy ? -EAGAIN : 0;
}

int aries_inv_wait(struct aries_dev *ad, u64 seq)
{
	/* it takes as long as it takes: whoever waits must hold nothing that others need */
	assert(!ad->ptag_lock.held);
	return sim_nic.busy ? -ETIMEDOUT : 0;
}

bool aries_quiet(struct aries_dev *ad)
{
	return false;
}

bool aries_quiet_begin(struct aries_dev *ad)
{
	return false;
}

bool aries_quiet_reached(struct aries_dev *ad, unsigned int timeout_ms)
{
	return false;
}

void aries_charge_begin(struct aries_charge *charge)
{
	charge->user = (struct user_struct *)&sim_nic;
	charge->npages = 0;
}

int aries_charge(struct aries_charge *charge, unsigned long npages)
{
	if (charge->user && sim_nic.charged + npages > sim_nic.room)
		return -EPERM;
	if (charge->user)
		sim_nic.charged += npages;
	charge->npages += npages;
	return 0;
}

void aries_uncharge(struct aries_charge *charge, unsigned long npages)
{
	assert(charge->npages >= npages);
	if (charge->user)
		sim_nic.charged -= npages;
	charge->npages -= npages;
}

void aries_charge_end(struct aries_charge *charge)
{
	aries_uncharge(charge, charge->npages);
	charge->user = NULL;
}

void *aries_ring_alloc(unsigned long npages)
{
	return sim_alloc(npages * PAGE_SIZE);
}

void aries_ring_free(void *ring, unsigned long npages)
{
	kfree(ring);
}

/** sim_nic_begin() - a NIC with a few objects of each kind, and a privileged caller */
struct aries_dev *sim_nic_begin(void)
{
	struct aries_dev *ad = calloc(1, sizeof(*ad));

	assert(ad);
	memset(&sim_nic, 0, sizeof(sim_nic));
	sim_nic.room = 1 << 20;
	sim_warnings = 0;
	sim_allocated = 0;
	sim_fail_in = 0;
	sim_mapped = 0;
	sim_privileged = true;
	ad->pdev = &sim_nic.pdev;
	ad->hw_ok = true;
	ad->state = ARIES_STATE_UP;
	ad->nodes = 1024;
	ad->ncq = 8;
	ad->nvec = 3;
	INIT_LIST_HEAD(&ad->owner_list);
	INIT_LIST_HEAD(&ad->kept);
	spin_lock_init(&ad->kept_lock);
	INIT_DELAYED_WORK(&ad->kept_work, aries_kept_work);
	assert(!aries_pool_init(&ad->owners, 1, 8));
	assert(!aries_pool_init(&ad->fmads, 1, 4));
	assert(!aries_pool_init(&ad->mdds, 1, 12));
	assert(!aries_pool_init(&ad->cqs, 1, ad->ncq));
	assert(!aries_pool_init(&ad->ces, 0, 2));
	assert(!aries_pool_init(&ad->recvs, 0, 2));
	ad->cq_table = calloc(ad->ncq, sizeof(*ad->cq_table));
	assert(ad->cq_table && !aries_ntt_init(ad));
	return ad;
}

/** sim_nic_end() - free a NIC. Return: -1 if something is left of what the test has made */
int sim_nic_end(struct aries_dev *ad)
{
	bool clean = list_empty(&ad->kept) && list_empty(&ad->owner_list) &&
		     !ad->state_sem.unused && !ad->ptag_lock.held;

	ad->ptag_lock.held = 0;
	aries_domain_free_all(ad);
	aries_ntt_exit(ad);
	aries_pool_exit(&ad->owners);
	aries_pool_exit(&ad->fmads);
	aries_pool_exit(&ad->mdds);
	aries_pool_exit(&ad->cqs);
	aries_pool_exit(&ad->ces);
	aries_pool_exit(&ad->recvs);
	clean &= !sim_warnings && !sim_allocated && !sim_mapped && !sim_nic.charged;
	free(ad->cq_table);
	free(ad);
	return clean ? 0 : -1;
}

static void sim_queue_gone(struct aries_owner *own, struct aries_cq *cq)
{
	/* whoever maps the memory must find it until here */
	assert(cq->mem);
}

static void sim_release(struct aries_owner *own)
{
	assert(!own->ref.count);
}

static const struct aries_owner_ops sim_owner_ops = {
	.queue_gone = sim_queue_gone,
	.release = sim_release,
};

/** sim_owner_begin() - an owner; with a cookie it is attached to that domain */
void sim_owner_begin(struct aries_dev *ad, struct aries_owner *own, u32 cookie)
{
	memset(own, 0, sizeof(*own));
	assert(!aries_owner_init(own, ad, &sim_owner_ops));
	if (!cookie)
		return;
	own->dom = aries_domain_join(ad, ARIES_PTAG_ANY, cookie, true);
	assert(!IS_ERR(own->dom));
	own->nr = aries_pool_get(&ad->owners, 0);
}

/** sim_owner_end() - it has no objects any more */
void sim_owner_end(struct aries_owner *own)
{
	if (own->dom) {
		aries_pool_put(&own->ad->owners, own->nr, 0);
		aries_domain_leave(own->ad, own->dom);
	}
	aries_owner_unlist(own);
	aries_owner_put(own);
}
