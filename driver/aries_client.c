// SPDX-License-Identifier: GPL-2.0-only
/*
 * Clients in the kernel: owners without a file, their ports, and the auxiliary device to which the
 * clients' drivers are bound.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "aries_client.h"
#include "aries_compat.h"
#include "aries_port.h"

/* ---- owners ---- */

/* Before anything goes: whoever is inside a port has left it, nobody enters one. */
static void aries_kown_revoked(struct aries_owner *own)
	__must_hold(&own->lock)
{
	struct aries_port *port;

	list_for_each_entry(port, &aries_kown_of(own)->ports, node)
		aries_port_switch(port, false);
}

/* Gives the descriptor back; the client still has the port. */
static void aries_port_give(struct aries_port *port)
	__must_hold(&port->own->lock)
{
	list_del_init(&port->node);
	aries_fmad_give(port->own, port->nr, port->own->nr);
}

static void aries_kown_leave(struct aries_owner *own)
	__must_hold(&own->lock)
{
	struct aries_kown *kown = aries_kown_of(own);
	struct aries_port *port, *next;

	if (!own->dom)
		return;
	aries_kown_revoked(own);
	list_for_each_entry_safe(port, next, &kown->ports, node)
		aries_port_give(port);
	aries_hold_end_all(kown);
}

static void aries_kown_queue_gone(struct aries_owner *own, struct aries_cq *cq)
{
}

static void aries_kown_suspend(struct aries_owner *own, bool suspend)
	__must_hold(&own->lock)
{
	struct aries_port *port;

	list_for_each_entry(port, &aries_kown_of(own)->ports, node)
		aries_port_switch(port, !suspend);
}

static void aries_kown_release(struct aries_owner *own)
{
	kfree(aries_kown_of(own));
}

static const struct aries_owner_ops aries_kown_ops = {
	.revoked = aries_kown_revoked,
	.leave = aries_kown_leave,
	.queue_gone = aries_kown_queue_gone,
	.suspend = aries_kown_suspend,
	.release = aries_kown_release,
};

static int aries_kown_join(struct aries_owner *own, const struct aries_owner_args *args)
{
	int rc = aries_owner_enter(own, false);

	if (rc)
		return rc;
	own->modes = args->modes;
	own->inst_id = args->inst_id;
	rc = aries_owner_join(own, args->ptag, args->cookie, true);
	if (!rc)
		aries_owner_start(own);
	aries_owner_exit(own);
	return rc;
}

struct aries_owner *aries_owner_create(struct aries_dev *ad, const struct aries_owner_args *args)
{
	struct aries_kown *kown = kzalloc(sizeof(*kown), GFP_KERNEL);
	int rc;

	if (!kown)
		return ERR_PTR(-ENOMEM);
	INIT_LIST_HEAD(&kown->ports);
	INIT_LIST_HEAD(&kown->holds);
	INIT_DELAYED_WORK(&kown->hold_work, aries_hold_work);
	strscpy(kown->own.comm, args->name, sizeof(kown->own.comm));
	rc = aries_owner_init(&kown->own, ad, &aries_kown_ops);
	if (rc) {
		kfree(kown);
		return ERR_PTR(rc);
	}
	rc = aries_kown_join(&kown->own, args);
	if (!rc)
		return &kown->own;
	aries_owner_destroy(&kown->own);
	return ERR_PTR(rc);
}
EXPORT_ARIES(aries_owner_create);

void aries_owner_destroy(struct aries_owner *own)
{
	struct aries_kown *kown = aries_kown_of(own);

	kref_get(&own->ref);
	down_read(&own->ad->state_sem);
	aries_owner_unlist(own);
	aries_owner_end(own);
	/* nothing is held any more, and nothing will be */
	cancel_delayed_work_sync(&kown->hold_work);
	aries_owner_put(own);
}
EXPORT_ARIES(aries_owner_destroy);

u8 aries_owner_ptag(struct aries_owner *own)
{
	u8 ptag;

	mutex_lock(&own->lock);
	ptag = own->dom ? own->dom->ptag : 0;
	mutex_unlock(&own->lock);
	return ptag;
}
EXPORT_ARIES(aries_owner_ptag);

/* ---- ports ---- */

static int aries_port_take(struct aries_owner *own, struct aries_port *port)
	__must_hold(&own->lock)
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
	list_add_tail(&port->node, &aries_kown_of(own)->ports);
	aries_port_clear(port);
	aries_fmad_enable(own, nr);
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
EXPORT_ARIES(aries_port_create);

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
EXPORT_ARIES(aries_port_destroy);

/* ---- the device that clients' drivers are bound to ---- */

/**
 * struct aries_aux - "aries.gni" of one NIC
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
EXPORT_ARIES(aries_client_dev);

void aries_get_info(const struct aries_dev *ad, struct aries_info *info)
{
	info->id = ad->id;
	info->pe = ad->pe;
	info->nodes = ad->nodes;
	info->bte_queue = ad->bte_queue;
	info->caps = ad->caps;
	info->dev = (struct device *)&ad->dev;
}
EXPORT_ARIES(aries_get_info);

static struct aries_aux *aries_aux_new(struct aries_dev *ad)
{
	struct aries_aux *aux = kzalloc(sizeof(*aux), GFP_KERNEL);
	int rc;

	if (!aux)
		return ERR_PTR(-ENOMEM);
	aux->ad = ad;
	aux->adev.name = "gni";
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

/**
 * aries_client_add() - offer a NIC to clients in the kernel
 * @ad: the device, which is up
 *
 * Drivers of clients are bound before this returns. If it fails the NIC is there for processes all
 * the same.
 *
 * Context: sleeps.
 */
void aries_client_add(struct aries_dev *ad)
{
	struct aries_aux *aux = aries_aux_new(ad);

	if (IS_ERR(aux))
		dev_err(&ad->dev, "not offered to clients in the kernel: %ld\n", PTR_ERR(aux));
	else
		ad->aux = aux;
}

/** aries_client_del() - clients are told to leave; their handles stay. Context: sleeps. */
void aries_client_del(struct aries_dev *ad)
{
	if (!ad->aux)
		return;
	auxiliary_device_delete(&ad->aux->adev);
	auxiliary_device_uninit(&ad->aux->adev);
	ad->aux = NULL;
}
