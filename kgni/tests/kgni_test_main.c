// SPDX-License-Identifier: GPL-2.0-only
/*
 * A client of kGNI that tests it on one node. Each file in kgni_test/ in debugfs is a test, which
 * runs when the file is read. The file then says "ok" or what was wrong. selftests/kgni/kgni.c
 * reads them.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "kgni_test.h"

static DEFINE_MUTEX(kt_lock); /* one test at a time */
static struct dentry *kt_dir;

struct kt_test {
	const char *name;
	int (*run)(struct seq_file *m);
};

static const struct kt_test kt_tests[] = {
	{ "process", kt_test_process },	    { "spinlock", kt_test_spinlock },
	{ "softirq", kt_test_softirq },	    { "hardirq", kt_test_hardirq },
	{ "transfers", kt_test_transfers }, { "segments", kt_test_segments },
	{ "vmalloc", kt_test_vmalloc },	    { "hold", kt_test_hold },
	{ "later", kt_test_later },	    { "messages", kt_test_messages },
	{ "threads", kt_test_threads },	    { "refusals", kt_test_refusals },
	{ "datagrams", kt_test_datagrams }, { "errors", kt_test_errors },
	{ "errors_end", kt_test_errors_end },
	{ "release", kt_test_release },	    { "destroy", kt_test_destroy },
	{ "reset", kt_test_reset },	    { "traffic", kt_test_traffic },
#ifdef CONFIG_FAULT_INJECTION
	{ "fail_attach", kt_fail_attach },
	{ "fail_queue", kt_fail_queue },
	{ "fail_endpoint", kt_fail_endpoint },
	{ "fail_registration", kt_fail_registration },
	{ "fail_segments", kt_fail_segments },
	{ "fail_mailbox", kt_fail_mailbox },
	{ "fail_datagram", kt_fail_datagram },
	{ "fail_posts", kt_fail_posts },
	{ "fail_messages", kt_fail_messages },
	{ "fail_errors", kt_fail_errors },
#endif
};

static int kt_begin(struct seq_file *m)
{
	int rc = kt_open(m, 0);

	rc = rc ?: kt_open(m, 1);
	rc = rc ?: kt_connect(m, 0);
	return rc ?: kt_connect(m, 1);
}

static int kt_run(struct seq_file *m, const struct kt_test *test)
{
	int rc = kt_begin(m);

	rc = rc ?: test->run(m);
	if (rc > 0)
		return rc; /* it has closed the sides itself, or still uses them */
	rc = rc ?: kt_close(m, 0);
	rc = rc ?: kt_close(m, 1);
	return rc;
}

/* Release everything, even in the middle of traffic. */
static void kt_end(void)
{
	unsigned int i;

	kt_traffic_stop();
	for (i = 0; i < 2; i++) {
		WARN_ON(kt[i].cdm && gni_cdm_destroy(kt[i].cdm) != GNI_RC_SUCCESS);
		kfree(kt[i].mem);
		memset(&kt[i], 0, sizeof(kt[i]));
	}
	kt_traffic_free();
}

int kt_renew(struct seq_file *m)
{
	int rc = kt_close(m, 0);

	rc = rc ?: kt_close(m, 1);
	if (rc)
		return rc;
	kt_end();
	return kt_begin(m);
}

static int kt_show(struct seq_file *m, void *unused)
{
	int rc;

	mutex_lock(&kt_lock);
	kt_end();
	rc = kt_run(m, m->private);
	if (rc >= 0)
		seq_puts(m, "ok\n");
	if (rc != KT_GOES_ON)
		kt_end();
	mutex_unlock(&kt_lock);
	return 0;
}

static int kt_open_file(struct inode *inode, struct file *file)
{
	return single_open(file, kt_show, inode->i_private);
}

static const struct file_operations kt_fops = {
	.owner = THIS_MODULE,
	.open = kt_open_file,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = single_release,
};

static int __init kt_init(void)
{
	unsigned int i;

	kt_dir = debugfs_create_dir("kgni_test", NULL);
	for (i = 0; i < ARRAY_SIZE(kt_tests); i++)
		debugfs_create_file(kt_tests[i].name, 0400, kt_dir, (void *)&kt_tests[i], &kt_fops);
	return 0;
}
module_init(kt_init);

static void __exit kt_exit(void)
{
	debugfs_remove_recursive(kt_dir);
	kt_end();
	kt_context_end();
}
module_exit(kt_exit);

MODULE_DESCRIPTION("Tests of kGNI");
MODULE_LICENSE("GPL");
