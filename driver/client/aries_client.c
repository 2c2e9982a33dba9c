// SPDX-License-Identifier: GPL-2.0-only
/*
 * Clients in the kernel: owners without a file, their ports, and the auxiliary devices to which the
 * drivers of clients are bound.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "aries_client.h"
#include "aries_compat.h"
#include "aries_dgram_api.h"
#include "aries_port.h"

/* ---- owners ---- */

/* First of all: wait until no thread is inside a port, and let none enter. */
static void aries_kowner_revoked(struct aries_owner *own) __must_hold(&own->lock)
{
	struct aries_port *port;

	list_for_each_entry(port, &aries_kowner_of(own)->ports, node)
		aries_port_switch(port, false);
}

/* Free the descriptor. The client still has the port. */
static void aries_port_give(struct aries_port *port) __must_hold(&port->own->lock)
{
	list_del_init(&port->node);
	if (port->own->fmad == port->nr)
		port->own->fmad = 0;
	aries_fmad_give(port->own, port->nr, port->own->nr);
}

static void aries_kowner_queue_gone(struct aries_owner *own, struct aries_cq *cq)
{
}

/* Context: client_lock held. */
static void aries_kowner_tell(struct aries_kowner *kowner, enum aries_event event,
			      const struct aries_event_info *info)
{
	if (kowner->event)
		kowner->event(kowner->data, event, info);
}

/*
 * The NIC can no longer access anything of an owner, or will never confirm that. Context: sleeps.
 */
static void aries_kowner_quiet(struct aries_dev *ad, struct aries_kept *kept)
{
	struct aries_kowner *kowner = container_of(kept, struct aries_kowner, quiet);
	const struct aries_event_info info = {};

	mutex_lock(&ad->client_lock);
	/* unless the client is leaving, or has left meanwhile */
	if (!list_empty(&kowner->node))
		aries_kowner_tell(kowner, ARIES_EVENT_QUIET, &info);
	mutex_unlock(&ad->client_lock);
	aries_owner_put(&kowner->own);
}

static void aries_kowner_leave(struct aries_owner *own, struct list_head *gone)
	__must_hold(&own->lock)
{
	struct aries_kowner *kowner = aries_kowner_of(own);
	struct aries_port *port, *next;

	if (!own->dom)
		return;
	aries_dgram_detach(own);
	aries_kowner_revoked(own);
	list_for_each_entry_safe(port, next, &kowner->ports, node)
		aries_port_give(port);
	aries_hold_end_all(kowner);
	kref_get(&own->ref);
	kowner->quiet.lose = aries_kowner_quiet;
	aries_kept_take(own, gone, &kowner->quiet, aries_kowner_quiet);
}

static void aries_kowner_suspend(struct aries_owner *own, bool suspend) __must_hold(&own->lock)
{
	struct aries_kowner *kowner = aries_kowner_of(own);
	struct aries_event_info info = {};
	struct aries_port *port;

	list_for_each_entry(port, &kowner->ports, node)
		aries_port_switch(port, !suspend);
	if (suspend)
		kowner->quiet_since = ktime_get();
	else
		info.quiet_ms = ktime_ms_delta(ktime_get(), kowner->quiet_since);
	mutex_lock(&own->ad->client_lock);
	kowner->suspended = suspend;
	/*
	 * during a quiesce of the network the client was told already, and is told when both are
	 * over
	 */
	if (!list_empty(&kowner->node) && !own->ad->net_quiet)
		aries_kowner_tell(kowner, suspend ? ARIES_EVENT_QUIESCE : ARIES_EVENT_RESUME,
				  &info);
	mutex_unlock(&own->ad->client_lock);
}

/* Begin to tell the client about events, or stop. */
static void aries_kowner_list(struct aries_kowner *kowner, bool on)
{
	const struct aries_event_info info = {};
	struct aries_dev *ad = kowner->own.ad;

	mutex_lock(&ad->client_lock);
	if (on) {
		list_add_tail(&kowner->node, &ad->clients);
		if (ad->net_quiet)
			aries_kowner_tell(kowner, ARIES_EVENT_QUIESCE, &info);
	} else {
		list_del_init(&kowner->node);
	}
	mutex_unlock(&ad->client_lock);
}

/**
 * aries_client_tell() - tell all clients about an event of the NIC
 * @ad: the device
 * @event: the event
 *
 * Context: sleeps.
 */
void aries_client_tell(struct aries_dev *ad, enum aries_event event)
{
	const struct aries_event_info info = {};
	struct aries_kowner *kowner;

	mutex_lock(&ad->client_lock);
	list_for_each_entry(kowner, &ad->clients, node)
		aries_kowner_tell(kowner, event, &info);
	mutex_unlock(&ad->client_lock);
}

/**
 * aries_client_quiesce() - tell all clients that the network is quiesced, or that it resumes
 * @ad: the device
 * @quiet: quiesced, or resumed
 * @ms: when it resumes, how long the quiesce was
 *
 * Clients whose job is suspended have been told already, and will be told when both are over.
 *
 * Context: sleeps.
 */
void aries_client_quiesce(struct aries_dev *ad, bool quiet, unsigned int ms)
{
	const struct aries_event_info info = { .quiet_ms = quiet ? 0 : ms };
	struct aries_kowner *kowner;

	mutex_lock(&ad->client_lock);
	ad->net_quiet = quiet;
	list_for_each_entry(kowner, &ad->clients, node)
		if (!kowner->suspended)
			aries_kowner_tell(kowner, quiet ? ARIES_EVENT_QUIESCE : ARIES_EVENT_RESUME,
					  &info);
	mutex_unlock(&ad->client_lock);
}

/**
 * aries_client_error() - tell clients about an error of their domain, or of none
 * @ad: the device
 * @error: report of the NIC
 *
 * Context: sleeps.
 */
void aries_client_error(struct aries_dev *ad, const struct kgni_err_event *error)
{
	const struct aries_event_info info = { .error = error };
	struct aries_kowner *kowner;

	mutex_lock(&ad->client_lock);
	list_for_each_entry(kowner, &ad->clients, node)
		if (!error->ptag || error->ptag == kowner->ptag)
			aries_kowner_tell(kowner, ARIES_EVENT_ERROR, &info);
	mutex_unlock(&ad->client_lock);
}

static void aries_kowner_release(struct aries_owner *own)
{
	kfree(aries_kowner_of(own));
}

static const struct aries_owner_ops aries_kowner_ops = {
	.revoked = aries_kowner_revoked,
	.leave = aries_kowner_leave,
	.queue_gone = aries_kowner_queue_gone,
	.suspend = aries_kowner_suspend,
	.release = aries_kowner_release,
};

static int aries_kowner_join(struct aries_owner *own, const struct aries_owner_args *args)
{
	int rc = aries_owner_enter(own, false);

	if (rc)
		return rc;
	own->modes = args->modes;
	own->inst_id = args->inst_id;
	rc = aries_owner_join(own, args->ptag, args->cookie, true);
	if (!rc) {
		WRITE_ONCE(aries_kowner_of(own)->ptag, own->dom->ptag);
		aries_dgram_attach(own);
		aries_owner_start(own);
	}
	aries_owner_exit(own);
	return rc;
}

struct aries_owner *aries_owner_create(struct aries_dev *ad, const struct aries_owner_args *args)
{
	struct aries_kowner *kowner = kzalloc(sizeof(*kowner), GFP_KERNEL);
	int rc;

	if (!kowner)
		return ERR_PTR(-ENOMEM);
	INIT_LIST_HEAD(&kowner->ports);
	INIT_LIST_HEAD(&kowner->holds);
	INIT_LIST_HEAD(&kowner->node);
	INIT_DELAYED_WORK(&kowner->hold_work, aries_hold_work);
	strscpy(kowner->own.comm, args->name, sizeof(kowner->own.comm));
	aries_dgram_init(&kowner->own);
	rc = aries_owner_init(&kowner->own, ad, &aries_kowner_ops);
	if (rc) {
		kfree(kowner);
		return ERR_PTR(rc);
	}
	kowner->event = args->event;
	kowner->data = args->data;
	kowner->own.dg.ready = args->datagram;
	kowner->own.dg.ready_data = args->data;
	aries_kowner_list(kowner, true);
	rc = aries_kowner_join(&kowner->own, args);
	if (!rc)
		return &kowner->own;
	aries_owner_destroy(&kowner->own);
	return ERR_PTR(rc);
}
EXPORT_SYMBOL_ARIES(aries_owner_create);

void aries_owner_destroy(struct aries_owner *own)
{
	struct aries_kowner *kowner = aries_kowner_of(own);

	aries_kowner_list(kowner, false);
	kref_get(&own->ref);
	down_read(&own->ad->state_sem);
	aries_owner_unlist(own);
	aries_owner_end(own);
	/* there are no holds any more, and there will be none */
	cancel_delayed_work_sync(&kowner->hold_work);
	aries_owner_put(own);
}
EXPORT_SYMBOL_ARIES(aries_owner_destroy);

u8 aries_owner_ptag(struct aries_owner *own)
{
	return aries_kowner_of(own)->ptag;
}
EXPORT_SYMBOL_ARIES(aries_owner_ptag);

/* ---- datagrams ---- */

int aries_datagram_post(struct aries_owner *own, struct kgni_dgram_post *arg)
{
	return aries_dgram_post(own, arg);
}
EXPORT_SYMBOL_ARIES(aries_datagram_post);

int aries_datagram_test(struct aries_owner *own, struct kgni_dgram_test *arg)
{
	return aries_dgram_test(own, arg);
}
EXPORT_SYMBOL_ARIES(aries_datagram_test);

int aries_datagram_probe(struct aries_owner *own, struct kgni_dgram_probe *arg)
{
	return aries_dgram_probe(own, arg);
}
EXPORT_SYMBOL_ARIES(aries_datagram_probe);

int aries_datagram_cancel(struct aries_owner *own, struct kgni_dgram_cancel *arg)
{
	return aries_dgram_cancel(own, arg);
}
EXPORT_SYMBOL_ARIES(aries_datagram_cancel);

/* ---- ports ---- */

static int aries_port_take(struct aries_owner *own, struct aries_port *port) __must_hold(&own->lock)
{
	int rc, nr;

	lockdep_assert_held(&own->lock);
	nr = aries_fmad_take(own);
	if (nr < 0)
		return nr;
	rc = aries_port_init(port, own->ad, nr);
	if (rc) {
		aries_fmad_give(own, nr, own->nr);
		return rc;
	}
	kref_get(&own->ref);
	port->own = own;
	if (!own->fmad)
		own->fmad = nr;
	list_add_tail(&port->node, &aries_kowner_of(own)->ports);
	aries_port_clear(port);
	/* a client in the kernel may use memory that it has not registered */
	aries_fmad_enable(own, nr, ARIES_FMAD_CTL_KERNEL_MASK);
	aries_port_switch(port, !own->suspended);
	return 0;
}

struct aries_port *aries_port_create(struct aries_owner *own)
{
	struct aries_port *port = kzalloc(sizeof(*port), GFP_KERNEL);
	int rc;

	if (!port)
		return ERR_PTR(-ENOMEM);
	rc = aries_owner_enter(own, true);
	if (!rc) {
		rc = aries_port_take(own, port);
		aries_owner_exit(own);
	}
	if (!rc)
		return port;
	kfree(port);
	return ERR_PTR(rc);
}
EXPORT_SYMBOL_ARIES(aries_port_create);

void aries_port_destroy(struct aries_port *port)
{
	struct aries_owner *own = port->own;
	struct aries_dev *ad = own->ad;

	aries_port_switch(port, false);
	down_read(&ad->state_sem);
	mutex_lock(&own->lock);
	if (!list_empty(&port->node)) {
		aries_wr64(ad, ARIES_FMAD_CTL_N(port->nr), 0);
		mutex_unlock(&own->lock);
		aries_fmad_wait(ad, port->nr);
		mutex_lock(&own->lock);
	}
	if (!list_empty(&port->node))
		aries_port_give(port);
	mutex_unlock(&own->lock);
	up_read(&ad->state_sem);
	aries_port_exit(port);
	kfree(port);
	aries_owner_put(own);
}
EXPORT_SYMBOL_ARIES(aries_port_destroy);

/* ---- the devices that clients' drivers are bound to ---- */

/**
 * struct aries_aux - "aries.gni" or "aries.nodes" of one NIC
 * @adev: the device
 * @ad: the NIC, with a reference
 */
struct aries_aux {
	struct auxiliary_device adev;
	struct aries_dev *ad;
};

static void aries_aux_release(struct device *dev)
{
	struct aries_aux *aux = container_of(dev, struct aries_aux, adev.dev);

	put_device(&aux->ad->dev);
	kfree(aux);
}

struct aries_dev *aries_client_dev(struct auxiliary_device *adev)
{
	return container_of(adev, struct aries_aux, adev)->ad;
}
EXPORT_SYMBOL_ARIES(aries_client_dev);

void aries_get_info(const struct aries_dev *ad, struct aries_info *info)
{
	info->id = ad->id;
	info->pe = ad->pe;
	info->nodes = ad->nodes;
	info->bte_queue = ad->bte_queue;
	info->caps = ad->caps;
	info->dev = (struct device *)&ad->dev;
}
EXPORT_SYMBOL_ARIES(aries_get_info);

static struct aries_aux *aries_aux_new(struct aries_dev *ad, const char *name)
{
	struct aries_aux *aux = kzalloc(sizeof(*aux), GFP_KERNEL);
	int rc;

	if (!aux)
		return ERR_PTR(-ENOMEM);
	aux->ad = ad;
	aux->adev.name = name;
	aux->adev.id = ad->id;
	aux->adev.dev.parent = &ad->pdev->dev;
	aux->adev.dev.release = aries_aux_release;
	rc = auxiliary_device_init(&aux->adev);
	if (rc) {
		kfree(aux);
		return ERR_PTR(rc);
	}
	get_device(&ad->dev);
	rc = auxiliary_device_add(&aux->adev);
	if (!rc)
		return aux;
	auxiliary_device_uninit(&aux->adev);
	return ERR_PTR(rc);
}

static struct aries_aux *aries_aux_offer(struct aries_dev *ad, const char *name)
{
	struct aries_aux *aux = aries_aux_new(ad, name);

	if (!IS_ERR(aux))
		return aux;
	dev_err(&ad->dev, "not offered to clients in the kernel (%s): %ld\n", name, PTR_ERR(aux));
	return NULL;
}

static void aries_aux_del(struct aries_aux *aux)
{
	if (!aux)
		return;
	auxiliary_device_delete(&aux->adev);
	auxiliary_device_uninit(&aux->adev);
}

/**
 * aries_client_add() - offer a NIC to clients in the kernel
 * @ad: the device, which is up
 *
 * Drivers of clients are bound before this returns. If it fails the NIC can be used by processes
 * all the same.
 *
 * Context: sleeps.
 */
void aries_client_add(struct aries_dev *ad)
{
	ad->nodes_aux = aries_aux_offer(ad, "nodes");
	ad->aux = aries_aux_offer(ad, "gni");
}

/** aries_client_del() - unbind the clients' drivers; their handles stay valid. Context: sleeps. */
void aries_client_del(struct aries_dev *ad)
{
	aries_aux_del(ad->aux);
	aries_aux_del(ad->nodes_aux);
	ad->aux = NULL;
	ad->nodes_aux = NULL;
}
