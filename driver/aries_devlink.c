// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/*
 * devlink support, the kernel's interface for whole devices: identification, resources and their
 * usage, the parameter that takes effect at a reset, the reset itself, and health.
 * Documentation/driver-abi.md describes it for users.
 */
#include <linux/slab.h>
#include <linux/workqueue.h>

#include <net/devlink.h>

#include "aries.h"
#include "aries_compat.h"

/* The number of the parameter: the generic ones of devlink come first. */
#define ARIES_PARAM_AMO_LAZY (DEVLINK_PARAM_GENERIC_ID_MAX + 1)

/* Differences between the kernels that the driver builds for. */
#if KERNEL_VERSION(6, 2, 0) > LINUX_VERSION_CODE
#define aries_devlink_name(req) devlink_info_driver_name_put(req, KBUILD_MODNAME)
#else
#define aries_devlink_name(req) 0 /* set by devlink */
#endif
#if KERNEL_VERSION(6, 4, 0) > LINUX_VERSION_CODE
#define aries_devlink_initial devlink_param_driverinit_value_get
#else
#define aries_devlink_initial devl_param_driverinit_value_get
#endif
/*
 * Since 6.7 devlink holds the lock of the function during a reload, and an fmsg stores its first
 * error.
 */
#if KERNEL_VERSION(6, 7, 0) > LINUX_VERSION_CODE
#define ARIES_RELOAD_LOCKED false
#define aries_fmsg(put) (put)
#else
#define ARIES_RELOAD_LOCKED true
#define aries_fmsg(put) ({ put; 0; })
#endif

/* Before 6.4 a driver has to declare that it supports reloads. Later the operations tell it. */
static void aries_devlink_features(struct devlink *devlink)
{
#if KERNEL_VERSION(6, 4, 0) > LINUX_VERSION_CODE
	devlink_set_features(devlink, DEVLINK_F_RELOAD);
#endif
}

static void aries_devlink_set_initial(struct devlink *devlink, bool lazy)
{
	union devlink_param_value value = { .vbool = lazy };

#if KERNEL_VERSION(6, 4, 0) > LINUX_VERSION_CODE
	devlink_param_driverinit_value_set(devlink, ARIES_PARAM_AMO_LAZY, value);
#else
	devl_lock(devlink);
	devl_param_driverinit_value_set(devlink, ARIES_PARAM_AMO_LAZY, value);
	devl_unlock(devlink);
#endif
}

/* A NIC that fails again within this time after a recovery is not reset again. */
#define ARIES_HEALTH_GRACE_MS 10000

/**
 * struct aries_devlink - private data of the devlink instance
 * @ad: the device
 * @health: reporter "nic"
 * @report: tells @health that the NIC does not work; a work item, because the code that finds out
 *          holds locks that the recovery takes
 * @leaving: nothing is reported any more, because devlink warns of reports of a device that is not
 *           registered
 */
struct aries_devlink {
	struct aries_dev *ad;
	struct devlink_health_reporter *health;
	struct work_struct report;
	bool leaving;
};

static struct aries_dev *aries_of_devlink(struct devlink *devlink)
{
	struct aries_devlink *dl = devlink_priv(devlink);

	return dl->ad;
}

/* ---- identification ---- */

static int aries_devlink_info(struct devlink *devlink, struct devlink_info_req *req,
			      struct netlink_ext_ack *extack)
{
	struct aries_dev *ad = aries_of_devlink(devlink);
	char text[32];
	int rc;

	rc = aries_devlink_name(req);
	if (rc)
		return rc;
	snprintf(text, sizeof(text), "%#x", ad->pe);
	rc = devlink_info_serial_number_put(req, text);
	if (rc)
		return rc;
	rc = devlink_info_version_fixed_put(req, DEVLINK_INFO_VERSION_GENERIC_ASIC_ID, "ARIES");
	if (rc)
		return rc;
	snprintf(text, sizeof(text), "%lu", FIELD_GET(ARIES_ID_VERSION_MAJOR_MASK,
						      ARIES_ID_VERSION_VALUE) + 0ul);
	rc = devlink_info_version_fixed_put(req, DEVLINK_INFO_VERSION_GENERIC_ASIC_REV, text);
	if (rc)
		return rc;
	return devlink_info_version_running_put(req, "driver", ARIES_DRIVER_VERSION_TEXT);
}

/* ---- reset ---- */

/*
 * Binding and unbinding the function wait for devlink with the lock of the function held. So this
 * code must not wait for that lock.
 * Return: 0 if the NIC is up again.
 */
static int aries_devlink_reset(struct aries_dev *ad, bool locked, struct netlink_ext_ack *extack)
{
	int rc = locked ? pci_reset_function_locked(ad->pdev) : pci_try_reset_function(ad->pdev);

	if (rc == -EAGAIN)
		NL_SET_ERR_MSG_MOD(extack, "the function is being reset, bound or unbound");
	else if (rc)
		NL_SET_ERR_MSG_MOD(extack, "the function cannot be reset");
	if (!rc && READ_ONCE(ad->state) != ARIES_STATE_UP) {
		NL_SET_ERR_MSG_MOD(extack, "the NIC is not usable after its reset");
		rc = -EIO;
	}
	return rc;
}

/* Everything is done in reload_up(), where the parameter has its new value. */
static int aries_devlink_reload_down(struct devlink *devlink, bool netns_change,
				     enum devlink_reload_action action,
				     enum devlink_reload_limit limit,
				     struct netlink_ext_ack *extack)
{
	return 0;
}

static int aries_devlink_reload_up(struct devlink *devlink, enum devlink_reload_action action,
				   enum devlink_reload_limit limit, u32 *actions_performed,
				   struct netlink_ext_ack *extack)
{
	struct aries_dev *ad = aries_of_devlink(devlink);
	union devlink_param_value value;
	int rc;

	rc = aries_devlink_initial(devlink, ARIES_PARAM_AMO_LAZY, &value);
	if (rc)
		return rc;
	ad->amo_lazy = value.vbool;
	*actions_performed = BIT(DEVLINK_RELOAD_ACTION_DRIVER_REINIT);
	return aries_devlink_reset(ad, ARIES_RELOAD_LOCKED, extack);
}

static const struct devlink_ops aries_devlink_ops = {
	.info_get = aries_devlink_info,
	.reload_actions = BIT(DEVLINK_RELOAD_ACTION_DRIVER_REINIT),
	.reload_down = aries_devlink_reload_down,
	.reload_up = aries_devlink_reload_up,
};

/* ---- the parameter ---- */

static const struct devlink_param aries_devlink_params[] = {
	DEVLINK_PARAM_DRIVER(ARIES_PARAM_AMO_LAZY, "amo_lazy", DEVLINK_PARAM_TYPE_BOOL,
			     BIT(DEVLINK_PARAM_CMODE_DRIVERINIT), NULL, NULL, NULL),
};

/* ---- resources ---- */

static u64 aries_devlink_used(void *pool)
{
	return aries_pool_used(pool);
}

static int aries_devlink_pool(struct devlink *devlink, const char *name, u64 id,
			      struct aries_pool *pool)
{
	struct devlink_resource_size_params size;
	u64 total = aries_pool_total(pool);
	int rc;

	devlink_resource_size_params_init(&size, total, total, 1, DEVLINK_RESOURCE_UNIT_ENTRY);
	rc = devl_resource_register(devlink, name, total, id, DEVLINK_RESOURCE_ID_PARENT_TOP,
				    &size);
	if (!rc)
		devl_resource_occ_get_register(devlink, id, aries_devlink_used, pool);
	return rc;
}

static int aries_devlink_resources(struct devlink *devlink, struct aries_dev *ad)
{
	const struct {
		const char *name;
		struct aries_pool *pool;
	} all[] = {
		{ "mdd", &ad->mdds },
		{ "cq", &ad->cqs },
		{ "fma", &ad->fmads },
		{ "ce", &ad->ces },
		{ "recv", &ad->recvs },
	};
	unsigned int i;
	int rc = 0;

	devl_lock(devlink);
	for (i = 0; i < ARRAY_SIZE(all) && !rc; i++)
		rc = aries_devlink_pool(devlink, all[i].name, i + 1, all[i].pool);
	if (rc)
		devl_resources_unregister(devlink);
	devl_unlock(devlink);
	return rc;
}

/* ---- health ---- */

static const char aries_health_failed[] = "not usable after a reset";

/*
 * @priv_ctx is the cause of a report, and NULL for a recovery that the administrator has requested.
 */
static int aries_health_recover(struct devlink_health_reporter *reporter, void *priv_ctx,
				struct netlink_ext_ack *extack)
{
	struct aries_devlink *dl = devlink_health_reporter_priv(reporter);

	/* do not repeat a reset that has just failed: leave it to the administrator */
	if (priv_ctx == aries_health_failed)
		return -EIO;
	return aries_devlink_reset(dl->ad, false, extack);
}

static int aries_health_tell(struct devlink_health_reporter *reporter, struct devlink_fmsg *fmsg)
{
	struct aries_devlink *dl = devlink_health_reporter_priv(reporter);
	struct aries_dev *ad = dl->ad;
	u32 status = ~0u;
	int rc;

	down_read(&ad->state_sem);
	if (ad->state == ARIES_STATE_UP)
		status = aries_rd32(ad, ARIES_CTL_STATUS);
	up_read(&ad->state_sem);
	rc = aries_fmsg(devlink_fmsg_string_pair_put(fmsg, "state",
						     aries_state_name(READ_ONCE(ad->state))));
	if (!rc && status != ~0u) {
		bool up = FIELD_GET(ARIES_CTL_STATUS_LINK_MASK, status);

		rc = aries_fmsg(devlink_fmsg_string_pair_put(fmsg, "link", up ? "up" : "down"));
	}
	if (!rc)
		rc = aries_fmsg(devlink_fmsg_u64_pair_put(fmsg, "resets",
							  atomic64_read(&ad->resets)));
	if (!rc)
		rc = aries_fmsg(devlink_fmsg_u64_pair_put(fmsg, "errors",
							  atomic64_read(&ad->errors)));
	return rc;
}

static int aries_health_diagnose(struct devlink_health_reporter *reporter,
				 struct devlink_fmsg *fmsg, struct netlink_ext_ack *extack)
{
	return aries_health_tell(reporter, fmsg);
}

/* In the order of their registers. */
#define ARIES_HEALTH_COUNTER(NAME, file, text) { .name = #file },
static const struct {
	const char *name;
} aries_health_counters[] = { ARIES_COUNTERS(ARIES_HEALTH_COUNTER) };
static_assert(ARRAY_SIZE(aries_health_counters) == ARIES_CNT_COUNT);

/*
 * Dump the state of the NIC when it was found not to work, with its counters if they can still be
 * read.
 */
static int aries_health_dump(struct devlink_health_reporter *reporter, struct devlink_fmsg *fmsg,
			     void *priv_ctx, struct netlink_ext_ack *extack)
{
	struct aries_devlink *dl = devlink_health_reporter_priv(reporter);
	unsigned int i;
	int rc;

	rc = aries_health_tell(reporter, fmsg);
	for (i = 0; i < ARRAY_SIZE(aries_health_counters) && !rc; i++) {
		const char *name = aries_health_counters[i].name;
		u64 value;

		down_read(&dl->ad->state_sem);
		value = aries_rd64(dl->ad, ARIES_CNT_VALUE_N(i));
		up_read(&dl->ad->state_sem);
		if (value == ~0ull)
			break;
		rc = aries_fmsg(devlink_fmsg_u64_pair_put(fmsg, name, value));
	}
	return rc;
}

static int aries_health_test(struct devlink_health_reporter *reporter,
			     struct netlink_ext_ack *extack)
{
	struct aries_devlink *dl = devlink_health_reporter_priv(reporter);

	schedule_work(&dl->report);
	return 0;
}

static const struct devlink_health_reporter_ops aries_health_ops = {
	.name = "nic",
	.recover = aries_health_recover,
	.diagnose = aries_health_diagnose,
	.dump = aries_health_dump,
	.test = aries_health_test,
};

static void aries_health_report(struct work_struct *work)
{
	struct aries_devlink *dl = container_of(work, struct aries_devlink, report);

	if (READ_ONCE(dl->leaving))
		return;
	if (READ_ONCE(dl->ad->state) == ARIES_STATE_UP)
		devlink_health_report(dl->health, "test", NULL);
	else
		devlink_health_report(dl->health, aries_health_failed, (void *)aries_health_failed);
}

/**
 * aries_devlink_failed() - report that the NIC is not usable after a reset
 * @ad: the device
 *
 * Context: any.
 */
void aries_devlink_failed(struct aries_dev *ad)
{
	struct aries_devlink *dl;

	if (!ad->devlink)
		return;
	dl = devlink_priv(ad->devlink);
	schedule_work(&dl->report);
}

/**
 * aries_devlink_up() - report that the NIC works after a reset of any origin
 * @ad: the device
 *
 * Context: may sleep; the function is locked.
 */
void aries_devlink_up(struct aries_dev *ad)
{
	struct aries_devlink *dl;

	if (!ad->devlink)
		return;
	dl = devlink_priv(ad->devlink);
	devlink_health_reporter_state_update(dl->health, DEVLINK_HEALTH_REPORTER_STATE_HEALTHY);
}

/* ---- begin and end ---- */

/**
 * aries_devlink_add() - register the device with devlink
 * @ad: the device, which is up
 *
 * Context: may sleep; the function is locked. Return: 0 or the error of devlink.
 */
int aries_devlink_add(struct aries_dev *ad)
{
	struct aries_devlink *dl;
	struct devlink *devlink;
	int rc;

	devlink = devlink_alloc(&aries_devlink_ops, sizeof(*dl), &ad->pdev->dev);
	if (!devlink)
		return -ENOMEM;
	dl = devlink_priv(devlink);
	dl->ad = ad;
	INIT_WORK(&dl->report, aries_health_report);
	rc = aries_devlink_resources(devlink, ad);
	if (rc)
		goto err_free;
	rc = devlink_params_register(devlink, aries_devlink_params,
				     ARRAY_SIZE(aries_devlink_params));
	if (rc)
		goto err_resources;
	aries_devlink_set_initial(devlink, ad->amo_lazy);
	dl->health = devlink_health_reporter_create(devlink, &aries_health_ops,
						    ARIES_HEALTH_GRACE_MS, dl);
	if (IS_ERR(dl->health)) {
		rc = PTR_ERR(dl->health);
		goto err_params;
	}
	ad->devlink = devlink;
	aries_devlink_features(devlink);
	devlink_register(devlink);
	return 0;

err_params:
	devlink_params_unregister(devlink, aries_devlink_params, ARRAY_SIZE(aries_devlink_params));
err_resources:
	devlink_resources_unregister(devlink);
err_free:
	devlink_free(devlink);
	return rc;
}

/**
 * aries_devlink_del() - undo aries_devlink_add()
 * @ad: the device
 *
 * Context: sleeps; the function is locked.
 */
void aries_devlink_del(struct aries_dev *ad)
{
	struct devlink *devlink = ad->devlink;
	struct aries_devlink *dl = devlink_priv(devlink);

	/* wait for a report that has begun; one that begins later does nothing */
	WRITE_ONCE(dl->leaving, true);
	cancel_work_sync(&dl->report);
	devlink_unregister(devlink);
	ad->devlink = NULL;
	/* until now a user could request a report */
	cancel_work_sync(&dl->report);
	devlink_health_reporter_destroy(dl->health);
	devlink_params_unregister(devlink, aries_devlink_params, ARRAY_SIZE(aries_devlink_params));
	devlink_resources_unregister(devlink);
	devlink_free(devlink);
}
