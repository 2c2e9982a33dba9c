// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/class/gni/kgniN/counters: the counters of the router, and those counters of the NIC that
 * have a name there, under the names that monitoring tools of XC systems use.
 */
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "aries_view.h"

#define ARIES_RTR_ROW 8 /* tiles per row of the router */
#define ARIES_NIC_PREFIX "AR_NIC_NETMON_ORB_EVENT_CNTR_"

struct aries_named {
	const char *name;
	unsigned int first;
	unsigned int count;
};

#define ARIES_NAMED(name, first, count) { #name, first, count },
static const struct aries_named aries_network_names[] = { ARIES_RTR_NETWORK_NAMES(ARIES_NAMED) };
static const struct aries_named aries_processor_names[] = {
	ARIES_RTR_PROCESSOR_NAMES(ARIES_NAMED)
};

#define ARIES_NIC_NAMED(name, counter) { ARIES_NIC_PREFIX #name, ARIES_CNT_##counter, 1 },
static const struct aries_named aries_nic_names[] = { ARIES_NIC_NAMES(ARIES_NIC_NAMED) };

#define ARIES_NETWORK_TILES (ARIES_RTR_TILES - ARIES_RTR_ROW)
#define ARIES_COUNTER_FILES                                           \
	(ARIES_NETWORK_TILES * ARRAY_SIZE(aries_network_names) +      \
	 ARIES_RTR_ROW * ARRAY_SIZE(aries_processor_names) + ARRAY_SIZE(aries_nic_names))

/* The sum of @count registers from BAR offset @first on. */
struct aries_counter_file {
	struct device_attribute attr;
	unsigned int first;
	unsigned int count;
	char name[56];
};

static struct aries_counter_file *aries_counter_files;
static struct attribute **aries_counter_attrs;

struct attribute_group aries_counter_group = {
	.name = "counters",
};

static ssize_t aries_counter_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct aries_counter_file *file = container_of(attr, struct aries_counter_file, attr);
	struct aries_dev *ad = container_of(dev, struct aries_dev, dev);
	u64 sum = 0, value = 0;
	unsigned int i;

	down_read(&ad->state_sem);
	for (i = 0; i < file->count && value != ~0ull; i++) {
		value = aries_rd64(ad, file->first + i * sizeof(u64));
		sum += value;
	}
	up_read(&ad->state_sem);
	if (value == ~0ull)
		return -ENODEV;
	return sysfs_emit(buf, "%llu\n", sum);
}

static void aries_counter_file_add(unsigned int *n, const struct aries_named *named,
				   const char *prefix, unsigned int first)
{
	struct aries_counter_file *file = &aries_counter_files[*n];

	snprintf(file->name, sizeof(file->name), "%s%s", prefix, named->name);
	file->first = first;
	file->count = named->count;
	sysfs_attr_init(&file->attr.attr);
	file->attr.attr.name = file->name;
	file->attr.attr.mode = 0444;
	file->attr.show = aries_counter_show;
	aries_counter_attrs[(*n)++] = &file->attr.attr;
}

static void aries_counter_tile_add(unsigned int *n, unsigned int tile)
{
	bool network = tile < ARIES_NETWORK_TILES;
	const struct aries_named *named = network ? aries_network_names : aries_processor_names;
	unsigned int count = network ? ARRAY_SIZE(aries_network_names) :
				       ARRAY_SIZE(aries_processor_names);
	char prefix[24];
	unsigned int i;

	snprintf(prefix, sizeof(prefix), "AR_RTR_%s%u_%u_", network ? "" : "PT_",
		 tile / ARIES_RTR_ROW, tile % ARIES_RTR_ROW);
	for (i = 0; i < count; i++)
		aries_counter_file_add(n, &named[i], prefix,
				       ARIES_RTR_COUNTER_N(tile * ARIES_RTR_ELEMENTS +
							   named[i].first));
}

/**
 * aries_counters_init() - create the files of the group; call before the class is used
 *
 * Return: 0 or -ENOMEM
 */
int aries_counters_init(void)
{
	unsigned int i, n = 0;

	aries_counter_files = kcalloc(ARIES_COUNTER_FILES, sizeof(*aries_counter_files),
				      GFP_KERNEL);
	aries_counter_attrs = kcalloc(ARIES_COUNTER_FILES + 1, sizeof(*aries_counter_attrs),
				      GFP_KERNEL);
	if (!aries_counter_files || !aries_counter_attrs) {
		aries_counters_exit();
		return -ENOMEM;
	}
	for (i = 0; i < ARIES_RTR_TILES; i++)
		aries_counter_tile_add(&n, i);
	for (i = 0; i < ARRAY_SIZE(aries_nic_names); i++)
		aries_counter_file_add(&n, &aries_nic_names[i], "",
				       ARIES_CNT_VALUE_N(aries_nic_names[i].first));
	aries_counter_group.attrs = aries_counter_attrs;
	return 0;
}

/** aries_counters_exit() - undo aries_counters_init(); call after the last device is gone */
void aries_counters_exit(void)
{
	aries_counter_group.attrs = NULL;
	kfree(aries_counter_attrs);
	kfree(aries_counter_files);
	aries_counter_attrs = NULL;
	aries_counter_files = NULL;
}
