// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module. Each file in debugfs, aries_kapi_test/, is a test, which runs when the file is read.
 * The file contains "ok" or a description of the failure. Writing 1 to "traffic" starts the traffic
 * and writing 0 stops it, and "counts" shows the results. selftests/aries/kapi.c reads these files.
 */
#include <linux/auxiliary_bus.h>
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/mutex.h>

#include "kt.h"

static DEFINE_MUTEX(kt_lock); /* only one test runs at a time */
static struct dentry *kt_dir;

static const struct kt_file {
	const char *name;
	int (*run)(struct seq_file *m);
} kt_files[] = {
	{ "process", kt_test_process },
	{ "spinlock", kt_test_spinlock },
	{ "softirq", kt_test_softirq },
	{ "hardirq", kt_test_hardirq },
	{ "memory", kt_test_memory },
	{ "hold", kt_test_hold },
	{ "errors", kt_test_errors },
	{ "order", kt_test_order },
	{ "domains", kt_test_domains },
	{ "datagrams", kt_test_datagrams },
	{ "told", kt_test_told },
};

static int kt_traffic_set(void *data, u64 on)
{
	int rc;

	mutex_lock(&kt_lock);
	kt_traffic_stop();
	rc = on ? kt_traffic_start() : 0;
	mutex_unlock(&kt_lock);
	return rc;
}

DEFINE_DEBUGFS_ATTRIBUTE(kt_traffic_fops, NULL, kt_traffic_set, "%llu\n");

static int kt_counts_show(struct seq_file *m, void *unused)
{
	kt_traffic_counts(m);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(kt_counts);

static int kt_file_show(struct seq_file *m, void *unused)
{
	const struct kt_file *file = m->private;
	int rc;

	mutex_lock(&kt_lock);
	rc = kt_dev ? file->run(m) : KT_FAIL(m, "no NIC");
	mutex_unlock(&kt_lock);
	if (!rc)
		seq_puts(m, "ok\n");
	else if (rc != -EIO)
		seq_printf(m, "not ok: %d\n", rc);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(kt_file);

/* ---- binding: the first NIC ---- */

static int kt_probe(struct auxiliary_device *adev, const struct auxiliary_device_id *id)
{
	mutex_lock(&kt_lock);
	if (!kt_dev) {
		kt_dev = aries_client_dev(adev);
		aries_get_info(kt_dev, &kt_info);
		auxiliary_set_drvdata(adev, kt_dev);
	}
	mutex_unlock(&kt_lock);
	return 0;
}

/* Traffic continues: calls on handles of a NIC that is gone return errors. */
static void kt_remove(struct auxiliary_device *adev)
{
	mutex_lock(&kt_lock);
	if (auxiliary_get_drvdata(adev))
		kt_dev = NULL;
	mutex_unlock(&kt_lock);
}

static const struct auxiliary_device_id kt_ids[] = {
	{ .name = ARIES_CLIENT_DEVICE },
	{}
};
MODULE_DEVICE_TABLE(auxiliary, kt_ids);

static struct auxiliary_driver kt_driver = {
	.name = "kapi_test",
	.id_table = kt_ids,
	.probe = kt_probe,
	.remove = kt_remove,
};

static int __init kt_init(void)
{
	unsigned int i;

	kt_dir = debugfs_create_dir("aries_kapi_test", NULL);
	for (i = 0; i < ARRAY_SIZE(kt_files); i++)
		debugfs_create_file(kt_files[i].name, 0400, kt_dir, (void *)&kt_files[i],
				    &kt_file_fops);
	debugfs_create_file_unsafe("traffic", 0200, kt_dir, NULL, &kt_traffic_fops);
	debugfs_create_file("counts", 0400, kt_dir, NULL, &kt_counts_fops);
	return auxiliary_driver_register(&kt_driver);
}
module_init(kt_init);

static void __exit kt_exit(void)
{
	debugfs_remove_recursive(kt_dir);
	mutex_lock(&kt_lock);
	kt_traffic_stop();
	mutex_unlock(&kt_lock);
	auxiliary_driver_unregister(&kt_driver);
}
module_exit(kt_exit);

MODULE_DESCRIPTION("Test of what aries.ko offers to the kernel");
MODULE_AUTHOR("OpenGNI");
MODULE_LICENSE("GPL");
ARIES_IMPORT_NS;
