// SPDX-License-Identifier: GPL-2.0-only
/*
 * The attachment to a NIC. It is made when the interface goes up, and again after a reset of the
 * NIC.
 */
#include <linux/kthread.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "ipogif.h"

#define IPOGIF_RX_EVENTS 16384u /* if there are more at once, all mailboxes are searched */
#define IPOGIF_MSG_EVENTS 4096u
#define IPOGIF_PUT_EVENTS 2048u
#define IPOGIF_AGAIN msecs_to_jiffies(200)
#define IPOGIF_PATIENCE (2 * HZ) /* everything that configures a network waits while it goes down */

/* A protection tag that is reserved for the kernel, so no process can join. */
#define IPOGIF_TAG GNI_PTAG_HSNBOOT
#define IPOGIF_COOKIE GNI_JOB_CREATE_COOKIE(GNI_PKEY_HSNBOOT, 0)

static struct ipogif *ipogif_of[IPOGIF_NICS]; /* those that are attached; ipogif_of_lock */
static DEFINE_SPINLOCK(ipogif_of_lock);		/* kGNI's callbacks take it in any context */

static int ipogif_attach(u32 device_id, gni_cdm_handle_t *cdm, u32 *address, gni_nic_handle_t *nic)
{
	gni_return_t rc = gni_cdm_create(device_id, IPOGIF_TAG, IPOGIF_COOKIE, 0, cdm);

	if (rc != GNI_RC_SUCCESS)
		return -ENOMEM;
	rc = gni_cdm_attach(*cdm, device_id, address, nic);
	if (rc == GNI_RC_SUCCESS)
		return 0;
	gni_cdm_destroy(*cdm);
	return rc == GNI_RC_NO_MATCH ? -ENODEV : -EIO;
}

/**
 * ipogif_probe_address() - find out the address of a NIC
 * @device_id: NIC
 * @address: receives it
 *
 * Context: sleeps. Return: 0, -ENODEV if there is no such NIC, or another negative errno.
 */
int ipogif_probe_address(u32 device_id, u32 *address)
{
	gni_cdm_handle_t cdm;
	gni_nic_handle_t nic;
	int rc = ipogif_attach(device_id, &cdm, address, &nic);

	if (!rc)
		gni_cdm_destroy(cdm);
	return rc;
}

/* Called from interrupts. */
static void ipogif_event(u32 device_id, u64 data)
{
	struct ipogif_queue *q = (struct ipogif_queue *)(uintptr_t)data;

	napi_schedule_irqoff(&q->napi);
}

/* The NIC was reset, or is gone. Called by kGNI, in any context. */
static void ipogif_critical(gni_err_handle_t err)
{
	unsigned long flags;
	unsigned int i;

	spin_lock_irqsave(&ipogif_of_lock, flags);
	for (i = 0; i < ARRAY_SIZE(ipogif_of); i++)
		/*
		 * it may be called before the handle is stored; recovering once too often does no
		 * harm
		 */
		if (ipogif_of[i] && (ipogif_of[i]->err == err || !ipogif_of[i]->err))
			mod_delayed_work(ipogif_wq, &ipogif_of[i]->recover, 0);
	spin_unlock_irqrestore(&ipogif_of_lock, flags);
}

/* The job was suspended, and continues now: try again to send. Called by kGNI, in any context. */
static void ipogif_quiet_end(gni_nic_handle_t nic, u64 msecs)
{
	unsigned long flags;
	unsigned int i;

	spin_lock_irqsave(&ipogif_of_lock, flags);
	for (i = 0; i < ARRAY_SIZE(ipogif_of); i++)
		if (ipogif_of[i] && ipogif_of[i]->nic == nic)
			mod_delayed_work(ipogif_wq, &ipogif_of[i]->tick, 0);
	spin_unlock_irqrestore(&ipogif_of_lock, flags);
}

static void ipogif_of_set(u32 device_id, struct ipogif *ipg)
{
	spin_lock_irq(&ipogif_of_lock);
	ipogif_of[device_id] = ipg;
	spin_unlock_irq(&ipogif_of_lock);
}

/** ipogif_retry() - try again to send what was refused. Context: timer. */
void ipogif_retry(struct timer_list *t)
{
	struct ipogif_queue *q = container_of(t, struct ipogif_queue, retry);

	set_bit(IPOGIF_QUEUE_FLUSH, &q->flags);
	napi_schedule(&q->napi);
}

static int ipogif_queue_start(struct ipogif_queue *q)
{
	gni_nic_handle_t nic = q->ipg->nic;
	unsigned int i;

	INIT_LIST_HEAD(&q->free_slots);
	q->slots = kvcalloc(IPOGIF_SLOTS, sizeof(*q->slots), GFP_KERNEL);
	if (!q->slots)
		return -ENOMEM;
	for (i = 0; i < IPOGIF_SLOTS; i++)
		list_add_tail(&q->slots[i].node, &q->free_slots);
	if (gni_cq_create(nic, IPOGIF_RX_EVENTS, 0, ipogif_event, (uintptr_t)q, &q->rx_cq) !=
		    GNI_RC_SUCCESS ||
	    gni_cq_create(nic, IPOGIF_PUT_EVENTS, 0, ipogif_event, (uintptr_t)q, &q->put_cq) !=
		    GNI_RC_SUCCESS ||
	    gni_cq_create(nic, IPOGIF_MSG_EVENTS, 0, NULL, 0, &q->msg_cq) != GNI_RC_SUCCESS)
		return -ENOSPC;
	return 0;
}

/* May the stack's queue be woken, and the timer be armed? */
static void ipogif_queue_open(struct ipogif_queue *q, bool open)
{
	spin_lock_bh(&q->lock);
	q->open = open;
	ipogif_unlock_bh(q);
}

static void ipogif_queue_stop(struct ipogif_queue *q)
{
	gni_cq_handle_t *cq[] = { &q->rx_cq, &q->put_cq, &q->msg_cq };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cq); i++) {
		if (*cq[i])
			gni_cq_destroy(*cq[i]);
		*cq[i] = NULL;
	}
	kvfree(q->slots);
	q->slots = NULL;
	q->messages = 0;
	q->posts = 0;
	q->flags = 0;
	q->stopped = false;
}

static int ipogif_start_all(struct ipogif *ipg)
{
	unsigned int i;
	int rc;

	for (i = 0; i < ipg->queues; i++) {
		rc = ipogif_queue_start(&ipg->queue[i]);
		if (rc)
			return rc;
	}
	if (gni_set_quiesce_callback(ipg->nic, ipogif_quiet_end) != GNI_RC_SUCCESS ||
	    gni_subscribe_errors(ipg->nic, 0, 0, NULL, ipogif_critical, &ipg->err) !=
		    GNI_RC_SUCCESS)
		return -ENOMEM;
	ipg->thread = kthread_run(ipogif_conn_thread, ipg, "%s", ipg->dev->name);
	if (IS_ERR(ipg->thread)) {
		rc = PTR_ERR(ipg->thread);
		ipg->thread = NULL;
		return rc;
	}
	return 0;
}

/* Tear down in the same order as an LND: connections, queues, errors, domain. */
static void ipogif_end_all(struct ipogif *ipg)
{
	unsigned int i;

	if (ipg->thread)
		kthread_stop(ipg->thread);
	ipg->thread = NULL;
	ipogif_conns_end(ipg);
	for (i = 0; i < ipg->queues; i++)
		ipogif_queue_stop(&ipg->queue[i]);
	if (ipg->err)
		gni_release_errors(ipg->err);
	ipg->err = NULL;
	ipogif_of_set(ipg->device_id, NULL);
	gni_cdm_destroy(ipg->cdm);
	/* callbacks, and connections that failed, have queued these, and they do nothing now */
	cancel_delayed_work_sync(&ipg->tick);
	cancel_work_sync(&ipg->work);
}

/**
 * ipogif_start() - attach to the NIC and begin to send
 * @ipg: interface
 *
 * Context: sleeps; ipogif.control held. Return: 0, also if it is attached already, or a negative
 * errno.
 */
int ipogif_start(struct ipogif *ipg)
{
	u32 address;
	unsigned int i;
	int rc;

	/* a recovery that was left from before the interface went down has been faster */
	if (ipg->running)
		return 0;
	rc = ipogif_attach(ipg->device_id, &ipg->cdm, &address, &ipg->nic);
	if (rc)
		return rc;
	ipg->incarnation = get_random_u32();
	ipogif_of_set(ipg->device_id, ipg);
	if (address != ipg->address)
		rc = -EADDRNOTAVAIL;
	rc = rc ?: ipogif_start_all(ipg);
	if (rc) {
		ipogif_end_all(ipg);
		return rc;
	}
	for (i = 0; i < ipg->queues; i++) {
		napi_enable(&ipg->queue[i].napi);
		ipogif_queue_open(&ipg->queue[i], true);
	}
	ipg->running = true;
	mutex_lock(&ipg->mutex);
	ipg->attached = true;
	mutex_unlock(&ipg->mutex);
	queue_work(ipogif_wq, &ipg->work);
	queue_delayed_work(ipogif_wq, &ipg->tick, HZ);
	netif_carrier_on(ipg->dev);
	/* after a recovery the stack may have frames that wait */
	netif_tx_wake_all_queues(ipg->dev);
	return 0;
}

/* No frame is sent or received from now on; the NIC is still ours. ipogif.control held. */
static void ipogif_quiet(struct ipogif *ipg)
{
	unsigned int i;

	ipg->running = false;
	netif_carrier_off(ipg->dev);
	for (i = 0; i < ipg->queues; i++)
		ipogif_queue_open(&ipg->queue[i], false);
	/*
	 * No thread is in ipogif_xmit() when this returns, and none will be: nobody wakes a queue
	 * that is not open.
	 */
	netif_tx_disable(ipg->dev);
	cancel_delayed_work_sync(&ipg->tick);
	cancel_work_sync(&ipg->work);
	if (ipg->thread)
		kthread_stop(ipg->thread);
	ipg->thread = NULL;
	cancel_delayed_work_sync(&ipg->tick);
	cancel_work_sync(&ipg->work);
	for (i = 0; i < ipg->queues; i++) {
		napi_disable(&ipg->queue[i].napi);
		timer_delete_sync(&ipg->queue[i].retry);
	}
	ipg->ending = true;
	reinit_completion(&ipg->ended);
}

/**
 * ipogif_stop() - undo ipogif_start(); the NIC is released by ipogif.recover
 * @ipg: interface
 *
 * Nobody can say when the NIC is released: its puts may take any time to end, and a peer that is
 * stopped in the middle of an access to our memory holds up its release for as long as it is
 * stopped. The caller may hold the lock of all network devices, so it does not wait for that.
 *
 * Context: sleeps, for IPOGIF_PATIENCE or a little longer.
 */
void ipogif_stop(struct ipogif *ipg)
{
	mutex_lock(&ipg->control);
	if (ipg->running) {
		ipogif_quiet(ipg);
		mod_delayed_work(ipogif_wq, &ipg->recover, 0);
	}
	mutex_unlock(&ipg->control);
	if (!wait_for_completion_timeout(&ipg->ended, IPOGIF_PATIENCE))
		netdev_warn(ipg->dev, "the NIC is released when it has ended all puts\n");
}

/* The NIC has been released. ipogif.control held. */
static void ipogif_released(struct ipogif *ipg)
{
	unsigned int i;

	ipogif_peers_free(ipg);
	for (i = 0; i < ipg->queues; i++)
		netdev_tx_reset_queue(netdev_get_tx_queue(ipg->dev, i));
	ipg->ending = false;
	complete_all(&ipg->ended);
}

/**
 * ipogif_recover() - release the NIC, and attach to it again if the interface is up
 * @work: ipogif.recover
 *
 * Between ipogif_quiet() and ipogif_released() nobody else uses what the NIC is taken down with, so
 * that takes no lock.
 *
 * Context: sleeps, for as long as the NIC takes to be released.
 */
void ipogif_recover(struct work_struct *work)
{
	struct ipogif *ipg = container_of(work, struct ipogif, recover.work);
	bool ending;

	mutex_lock(&ipg->control);
	if (ipg->running && netif_running(ipg->dev))
		ipogif_quiet(ipg);
	ending = ipg->ending;
	mutex_unlock(&ipg->control);
	if (ending)
		ipogif_end_all(ipg);
	mutex_lock(&ipg->control);
	if (ending)
		ipogif_released(ipg);
	if (netif_running(ipg->dev)) {
		if (!ipogif_start(ipg))
			atomic_inc(&ipg->recoveries);
		else
			queue_delayed_work(ipogif_wq, &ipg->recover, IPOGIF_AGAIN);
	}
	mutex_unlock(&ipg->control);
}
