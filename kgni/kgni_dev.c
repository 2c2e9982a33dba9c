// SPDX-License-Identifier: GPL-2.0-only
/*
 * The auxiliary driver. NICs come and go. The NIC handles of a NIC that is gone stay valid:
 * everything outstanding has been completed, and new operations are refused.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "aries_regs.h"
#include "kgni_cq.h"
#include "kgni_dev.h"
#include "kgni_err.h"
#include "kgni_tell.h"

/**
 * struct kgni_dev - a NIC
 * @node: in kgni_devs
 * @ad: the device in aries.ko
 * @info: its constant properties
 * @nics: NIC handles on it
 */
struct kgni_dev {
	struct list_head node;
	struct aries_dev *ad;
	struct aries_info info;
	struct list_head nics;
};

static LIST_HEAD(kgni_devs);
static DEFINE_MUTEX(kgni_devs_mutex); /* protects kgni_devs, and all lists of NIC handles */

static struct kgni_dev *kgni_dev_find(u32 id)
{
	struct kgni_dev *dev;

	lockdep_assert_held(&kgni_devs_mutex);
	list_for_each_entry(dev, &kgni_devs, node)
		if (dev->info.id == id)
			return dev;
	return NULL;
}

static gni_return_t kgni_dev_refuse(int error)
{
	switch (error) {
	case -EACCES:
	case -EINVAL:
		/* tag and cookie do not belong together */
		return kgni_refuse(GNI_RC_INVALID_PARAM, -error);
	default:
		return kgni_refuse(GNI_RC_ERROR_RESOURCE, -error);
	}
}

/*
 * Create one descriptor for each processor, so that no processor waits for another, and as many
 * again for block transfers. Those need their own, because the NIC may take as long to start a
 * block transfer as to carry it out.
 */
static int kgni_dev_ports(struct gni_nic *nic)
{
	unsigned int want = min_t(unsigned int, 2 * num_online_cpus(), KGNI_PORTS);

	while (nic->ports < want) {
		struct aries_port *port = aries_port_create(nic->own);

		/* fewer are enough: they are shared */
		if (IS_ERR(port) && !nic->ports)
			return PTR_ERR(port);
		if (IS_ERR(port))
			break;
		nic->port[nic->ports++] = port;
	}
	nic->bells = (nic->ports + 1) / 2;
	return 0;
}

static void kgni_dev_close(struct gni_nic *nic)
{
	while (nic->ports)
		aries_port_destroy(nic->port[--nic->ports]);
	aries_owner_destroy(nic->own);
}

/* The NIC is being reset or removed: start nothing any more. */
static void kgni_dev_gone(struct gni_nic *nic)
{
	struct gni_cq *cq;

	WRITE_ONCE(nic->gone, true);
	list_for_each_entry(cq, &nic->cqs, node)
		kgni_cq_gone(cq);
	kgni_err_gone(nic);
}

/* The NIC can no longer access memory: complete everything outstanding, and tell the clients. */
static void kgni_dev_quiet(struct gni_nic *nic)
{
	struct gni_cq *cq;

	list_for_each_entry(cq, &nic->cqs, node)
		kgni_cq_flush(cq);
}

/* A quiesce has ended. If the last one was not told to the client yet, tell the sum of both. */
static void kgni_dev_resume(struct gni_nic *nic, unsigned int ms)
{
	WRITE_ONCE(nic->quiet, false);
	if (!nic->quiet_end)
		return;
	nic->quiet_due = true;
	nic->quiet_ms += ms;
	kgni_tell(nic);
}

/* Called by aries.ko with a lock held, so functions of the client are not called from here. */
static void kgni_dev_event(void *data, enum aries_event event, const struct aries_event_info *info)
{
	struct gni_nic *nic = data;
	unsigned long flags;

	spin_lock_irqsave(&nic->lock, flags);
	switch (event) {
	case ARIES_EVENT_ERROR:
		if (info->error)
			kgni_err_tell(nic, (const gni_error_event_t *)info->error);
		break;
	case ARIES_EVENT_RESET:
	case ARIES_EVENT_GONE:
		kgni_dev_gone(nic);
		break;
	case ARIES_EVENT_QUIET:
		kgni_dev_quiet(nic);
		break;
	case ARIES_EVENT_QUIESCE:
		WRITE_ONCE(nic->quiet, true);
		break;
	case ARIES_EVENT_RESUME:
		kgni_dev_resume(nic, info->quiet_ms);
		break;
	case ARIES_EVENT_UP:
		break; /* a client may attach again after it has released everything */
	}
	spin_unlock_irqrestore(&nic->lock, flags);
}

static gni_return_t kgni_dev_attach(struct gni_nic *nic, struct kgni_dev *dev)
{
	const struct aries_owner_args args = {
		.name = "kgni",
		.ptag = nic->cdm->ptag,
		.cookie = nic->cdm->cookie,
		.inst_id = nic->inst_id,
		.modes = nic->modes,
		.event = kgni_dev_event,
		.data = nic,
	};
	int rc;

	nic->own = aries_owner_create(dev->ad, &args);
	if (IS_ERR(nic->own))
		return kgni_dev_refuse(PTR_ERR(nic->own));
	rc = kgni_dev_ports(nic);
	if (rc) {
		kgni_dev_close(nic);
		return kgni_dev_refuse(rc);
	}
	nic->address = dev->info.pe;
	nic->later_bit = dev->info.caps & ARIES_ID_CAPS_LATER_MASK ? ARIES_DB_LATER : 0;
	list_add_tail(&nic->dev_node, &dev->nics);
	return GNI_RC_SUCCESS;
}

/**
 * kgni_dev_join() - attach a NIC handle to its NIC
 * @nic: NIC handle with domain, modes and device_id
 *
 * Context: sleeps. Return: GNI_RC_SUCCESS; GNI_RC_NO_MATCH if there is no such NIC,
 * GNI_RC_INVALID_PARAM if tag and cookie do not belong together, GNI_RC_ERROR_RESOURCE.
 */
gni_return_t kgni_dev_join(struct gni_nic *nic)
{
	struct kgni_dev *dev;
	gni_return_t rc;

	mutex_lock(&kgni_devs_mutex);
	dev = kgni_dev_find(nic->device_id);
	rc = dev ? kgni_dev_attach(nic, dev) : kgni_refuse(GNI_RC_NO_MATCH, ENODEV, nic->device_id);
	mutex_unlock(&kgni_devs_mutex);
	return rc;
}

/** kgni_dev_leave() - undo kgni_dev_join(). Context: sleeps; nothing of the handle is in use. */
void kgni_dev_leave(struct gni_nic *nic)
{
	mutex_lock(&kgni_devs_mutex);
	list_del(&nic->dev_node);
	mutex_unlock(&kgni_devs_mutex);
	kgni_dev_close(nic);
}

static int kgni_dev_probe(struct auxiliary_device *adev, const struct auxiliary_device_id *id)
{
	struct kgni_dev *dev = kzalloc(sizeof(*dev), GFP_KERNEL);

	if (!dev)
		return -ENOMEM;
	dev->ad = aries_client_dev(adev);
	aries_get_info(dev->ad, &dev->info);
	INIT_LIST_HEAD(&dev->nics);
	auxiliary_set_drvdata(adev, dev);
	mutex_lock(&kgni_devs_mutex);
	list_add_tail(&dev->node, &kgni_devs);
	mutex_unlock(&kgni_devs_mutex);
	return 0;
}

static void kgni_dev_remove(struct auxiliary_device *adev)
{
	struct kgni_dev *dev = auxiliary_get_drvdata(adev);
	struct gni_nic *nic, *next;

	mutex_lock(&kgni_devs_mutex);
	list_del(&dev->node);
	/* kgni_dev_event() has told them already */
	list_for_each_entry_safe(nic, next, &dev->nics, dev_node)
		list_del_init(&nic->dev_node);
	mutex_unlock(&kgni_devs_mutex);
	kfree(dev);
}

static const struct auxiliary_device_id kgni_dev_ids[] = { { .name = ARIES_CLIENT_DEVICE }, {} };
MODULE_DEVICE_TABLE(auxiliary, kgni_dev_ids);

static struct auxiliary_driver kgni_dev_driver = {
	.name = "kgni",
	.id_table = kgni_dev_ids,
	.probe = kgni_dev_probe,
	.remove = kgni_dev_remove,
};

/**
 * kgni_dev_init() - register the auxiliary driver. Context: sleeps. Return: 0 or a negative errno.
 */
int kgni_dev_init(void)
{
	return auxiliary_driver_register(&kgni_dev_driver);
}

/** kgni_dev_exit() - undo kgni_dev_init(). Context: sleeps. */
void kgni_dev_exit(void)
{
	auxiliary_driver_unregister(&kgni_dev_driver);
}
