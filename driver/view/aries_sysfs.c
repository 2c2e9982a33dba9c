// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/class/gni/kgniN; every file is described in Documentation/ABI/testing/sysfs-class-gni.
 */
#include <linux/device/class.h>
#include <linux/sysfs.h>

#include "aries_view.h"
#include "aries_compat.h"

static struct aries_dev *aries_of(struct device *dev)
{
	return container_of(dev, struct aries_dev, dev);
}

static ssize_t address_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%#x\n", aries_of(dev)->pe);
}
static DEVICE_ATTR_RO(address);

static ssize_t nodes_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", aries_of(dev)->nodes);
}
static DEVICE_ATTR_RO(nodes);

static ssize_t nodes_up_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	DECLARE_BITMAP(up, ARIES_NODES_MAX);

	aries_nodes_up(aries_of(dev), up);
	return sysfs_emit(buf, "%*pbl\n", ARIES_NODES_MAX, up);
}
static DEVICE_ATTR_RO(nodes_up);

static ssize_t quiesced_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(aries_of(dev)->qsc_quiet));
}
static DEVICE_ATTR_RO(quiesced);

static ssize_t quiesces_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(aries_of(dev)->qsc_quiesces));
}
static DEVICE_ATTR_RO(quiesces);

static ssize_t quiesce_ms_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(aries_of(dev)->qsc_ms));
}
static DEVICE_ATTR_RO(quiesce_ms);

static ssize_t device_type_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "ARIES\n");
}
static DEVICE_ATTR_RO(device_type);

static ssize_t version_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%#010x\n", ARIES_DRIVER_VERSION);
}
static DEVICE_ATTR_RO(version);

static ssize_t build_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", aries_build);
}
static DEVICE_ATTR_RO(build);

static ssize_t fma_sm_win_sz_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", ARIES_FMA_SMALL_WINDOW);
}
static DEVICE_ATTR_RO(fma_sm_win_sz);

/** aries_state_name() - name of a state in sysfs and devlink */
const char *aries_state_name(enum aries_state state)
{
	static const char *const names[] = {
		[ARIES_STATE_UP] = "up",
		[ARIES_STATE_RESET] = "reset",
		[ARIES_STATE_GONE] = "gone",
	};

	return names[state];
}

static ssize_t state_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", aries_state_name(READ_ONCE(aries_of(dev)->state)));
}
static DEVICE_ATTR_RO(state);

static ssize_t link_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct aries_dev *ad = aries_of(dev);
	u32 status;

	down_read(&ad->state_sem);
	status = aries_rd32(ad, ARIES_CTL_STATUS);
	up_read(&ad->state_sem);
	if (status == ~0u)
		return -ENODEV;
	return sysfs_emit(buf, "%lu\n", FIELD_GET(ARIES_CTL_STATUS_LINK_MASK, status) + 0ul);
}
static DEVICE_ATTR_RO(link);

static ssize_t resets_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%lld\n", atomic64_read(&aries_of(dev)->resets));
}
static DEVICE_ATTR_RO(resets);

static ssize_t clock_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct aries_dev *ad = aries_of(dev);
	u64 now = 0;
	int rc;

	down_read(&ad->state_sem);
	rc = aries_clock_read(ad, &now);
	up_read(&ad->state_sem);
	return rc ?: sysfs_emit(buf, "%llu\n", now);
}
static DEVICE_ATTR_RO(clock);

static struct attribute *aries_attrs[] = {
	&dev_attr_address.attr,
	&dev_attr_clock.attr,
	&dev_attr_nodes.attr,
	&dev_attr_nodes_up.attr,
	&dev_attr_quiesced.attr,
	&dev_attr_quiesces.attr,
	&dev_attr_quiesce_ms.attr,
	&dev_attr_device_type.attr,
	&dev_attr_version.attr,
	&dev_attr_build.attr,
	&dev_attr_fma_sm_win_sz.attr,
	&dev_attr_state.attr,
	&dev_attr_link.attr,
	&dev_attr_resets.attr,
	NULL,
};

static const struct attribute_group aries_group = {
	.attrs = aries_attrs,
};

static struct aries_pool *aries_pool_of(struct device *dev, struct device_attribute *attr)
{
	struct dev_ext_attribute *ext = container_of(attr, struct dev_ext_attribute, attr);

	return (void *)aries_of(dev) + (unsigned long)ext->var;
}

static ssize_t used_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", aries_pool_used(aries_pool_of(dev, attr)));
}

static ssize_t total_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", aries_pool_total(aries_pool_of(dev, attr)));
}

#define ARIES_RES_ATTR(file, pool, show)                                  \
	struct dev_ext_attribute aries_res_##file = {                     \
		.attr = __ATTR(file, 0444, show, NULL),                   \
		.var = (void *)offsetof(struct aries_dev, pool),          \
	}

static ARIES_RES_ATTR(mdd_used, mdds, used_show);
static ARIES_RES_ATTR(mdd_total, mdds, total_show);
static ARIES_RES_ATTR(cq_used, cqs, used_show);
static ARIES_RES_ATTR(cq_total, cqs, total_show);
static ARIES_RES_ATTR(fma_used, fmads, used_show);
static ARIES_RES_ATTR(fma_total, fmads, total_show);
static ARIES_RES_ATTR(ce_used, ces, used_show);
static ARIES_RES_ATTR(ce_total, ces, total_show);
static ARIES_RES_ATTR(recv_used, recvs, used_show);
static ARIES_RES_ATTR(recv_total, recvs, total_show);

static ssize_t pinned_pages_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%lld\n", atomic64_read(&aries_of(dev)->pinned));
}
static DEVICE_ATTR_RO(pinned_pages);

static struct attribute *aries_res_attrs[] = {
	&aries_res_mdd_used.attr.attr,
	&aries_res_mdd_total.attr.attr,
	&aries_res_cq_used.attr.attr,
	&aries_res_cq_total.attr.attr,
	&aries_res_fma_used.attr.attr,
	&aries_res_fma_total.attr.attr,
	&aries_res_ce_used.attr.attr,
	&aries_res_ce_total.attr.attr,
	&aries_res_recv_used.attr.attr,
	&aries_res_recv_total.attr.attr,
	&dev_attr_pinned_pages.attr,
	NULL,
};

static const struct attribute_group aries_res_group = {
	.name = "resources",
	.attrs = aries_res_attrs,
};

static ssize_t aries_stat_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct dev_ext_attribute *ext = container_of(attr, struct dev_ext_attribute, attr);
	struct aries_dev *ad = aries_of(dev);
	u64 value;

	down_read(&ad->state_sem);
	value = aries_rd64(ad, ARIES_CNT_VALUE_N((unsigned long)ext->var));
	up_read(&ad->state_sem);
	if (value == ~0ull)
		return -ENODEV;
	return sysfs_emit(buf, "%llu\n", value);
}

#define ARIES_STAT_ATTR(NAME, name, text)                                 \
	{ .attr = __ATTR(name, 0444, aries_stat_show, NULL),              \
	  .var = (void *)(unsigned long)ARIES_CNT_##NAME },

static struct dev_ext_attribute aries_stats[] = { ARIES_COUNTERS(ARIES_STAT_ATTR) };
static_assert(ARRAY_SIZE(aries_stats) == ARIES_CNT_COUNT);

/* filled by aries_sysfs_init() */
static struct attribute *aries_stat_attrs[ARIES_CNT_COUNT + 1];

static const struct attribute_group aries_stat_group = {
	.name = "stats",
	.attrs = aries_stat_attrs,
};

static ssize_t aries_ras_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct dev_ext_attribute *ext = container_of(attr, struct dev_ext_attribute, attr);
	struct aries_dev *ad = aries_of(dev);
	u64 value;

	down_read(&ad->state_sem);
	value = aries_rd64(ad, (unsigned long)ext->var);
	up_read(&ad->state_sem);
	if (value == ~0ull)
		return -ENODEV;
	return sysfs_emit(buf, "%llu\n", value);
}

#define ARIES_RAS_CORRECTED_ATTR(NAME, name, entries, row, text)          \
	{ .attr = __ATTR(name##_corrected, 0444, aries_ras_show, NULL),   \
	  .var = (void *)(unsigned long)ARIES_RAS_CORRECTED_N(ARIES_RAS_##NAME) },

#define ARIES_RAS_DAMAGED_ATTR(NAME, name, entries, row, text)            \
	{ .attr = __ATTR(name##_damaged, 0444, aries_ras_show, NULL),     \
	  .var = (void *)(unsigned long)ARIES_RAS_DAMAGED_N(ARIES_RAS_##NAME) },

static struct dev_ext_attribute aries_ras_files[] = {
	ARIES_RAS_MEMORIES(ARIES_RAS_CORRECTED_ATTR)
	ARIES_RAS_MEMORIES(ARIES_RAS_DAMAGED_ATTR)
};

static ssize_t limit_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct aries_dev *ad = aries_of(dev);

	return sysfs_emit(buf, "%u %u\n", READ_ONCE(ad->ecc_limit), READ_ONCE(ad->ecc_window_ms));
}

static ssize_t limit_store(struct device *dev, struct device_attribute *attr, const char *buf,
			   size_t count)
{
	return aries_ecc_set_limit(aries_of(dev), buf) ?: count;
}
static DEVICE_ATTR_RW(limit);

static ssize_t signal_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return aries_ecc_show_signal(aries_of(dev), buf);
}

static ssize_t signal_store(struct device *dev, struct device_attribute *attr, const char *buf,
			    size_t count)
{
	return aries_ecc_set_signal(aries_of(dev), buf) ?: count;
}
static DEVICE_ATTR_RW(signal);

/* filled by aries_sysfs_init() */
static struct attribute *aries_ras_attrs[ARRAY_SIZE(aries_ras_files) + 3] = {
	[ARRAY_SIZE(aries_ras_files)] = &dev_attr_limit.attr,
	[ARRAY_SIZE(aries_ras_files) + 1] = &dev_attr_signal.attr,
};

static const struct attribute_group aries_ras_group = {
	.name = "ras",
	.attrs = aries_ras_attrs,
};

static const struct attribute_group *aries_groups[] = {
	&aries_group,
	&aries_res_group,
	&aries_stat_group,
	&aries_counter_group,
	&aries_ras_group,
	NULL,
};

/* Any user may open the device: a communication domain is protected by its cookie. */
static char *aries_devnode(aries_devnode_arg *dev, umode_t *mode)
{
	if (mode)
		*mode = 0666;
	return NULL;
}

/* What tools of the field read of all NICs together. */
static ssize_t class_version_show(aries_class_arg *class, aries_class_attr_arg *attr, char *buf)
{
	return sysfs_emit(buf, "%#010x\n%s\n%u\n", ARIES_DRIVER_VERSION, aries_build,
			  KGNI_ABI_VERSION);
}

static ssize_t class_nic_type_show(aries_class_arg *class, aries_class_attr_arg *attr, char *buf)
{
	return sysfs_emit(buf, "0\n");
}

#define ARIES_CLASS_ATTR(file)                                            \
	struct class_attribute aries_class_##file =                       \
		__ATTR(file, 0444, class_##file##_show, NULL)

static ARIES_CLASS_ATTR(version);
static ARIES_CLASS_ATTR(nic_type);

static struct attribute *aries_class_attrs[] = {
	&aries_class_version.attr,
	&aries_class_nic_type.attr,
	NULL,
};
ATTRIBUTE_GROUPS(aries_class);

struct class aries_class = {
	.name = "gni",
	.class_groups = aries_class_groups,
	.devnode = aries_devnode,
	.dev_groups = aries_groups,
};

/** aries_sysfs_init() - fill the lists of counters; call before the class is used */
void aries_sysfs_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(aries_stats); i++)
		aries_stat_attrs[i] = &aries_stats[i].attr.attr;
	for (i = 0; i < ARRAY_SIZE(aries_ras_files); i++)
		aries_ras_attrs[i] = &aries_ras_files[i].attr.attr;
}
