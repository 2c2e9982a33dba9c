// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module, and its files in debugfs:
 *
 *   node0# modprobe gni_pingpong peer=1 &
 *   node1# modprobe gni_pingpong peer=0
 *   node0# echo message 2000 >gni_pingpong/run; cat gni_pingpong/result
 */
#include <linux/debugfs.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include "pp.h"

module_param_named(peer, pp.peer, uint, 0444);
MODULE_PARM_DESC(peer, "address of the other node's NIC; loading waits for it");

static DEFINE_MUTEX(pp_lock); /* one run at a time */
static char pp_result[128];
static struct dentry *pp_dir;

static ssize_t run_write(struct file *file, const char __user *data, size_t bytes, loff_t *at)
{
	char text[32] = "", test[16];
	u32 count;
	int rc;

	if (bytes >= sizeof(text))
		return -E2BIG;
	if (copy_from_user(text, data, bytes))
		return -EFAULT;
	if (sscanf(text, "%15s %u", test, &count) != 2)
		return -EINVAL;
	rc = mutex_lock_interruptible(&pp_lock);
	if (rc)
		return rc;
	pp_result[0] = '\0';
	rc = pp_run(test, count, pp_result, sizeof(pp_result));
	mutex_unlock(&pp_lock);
	return rc ? rc : bytes;
}

static const struct file_operations run_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = run_write,
	.llseek = noop_llseek,
};

static int result_show(struct seq_file *m, void *unused)
{
	seq_puts(m, pp_result);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(result);

static void pp_end(void)
{
	/* the thread may wait for space for an answer */
	WRITE_ONCE(pp.failed, -ESHUTDOWN);
	if (!IS_ERR_OR_NULL(pp.thread))
		kthread_stop(pp.thread);
	pp_close();
}

static int __init pp_init(void)
{
	int rc = pp_open();

	if (!rc)
		rc = pp_meet();
	if (!rc) {
		pp.thread = kthread_run(pp_thread, NULL, "gni_pingpong");
		rc = PTR_ERR_OR_ZERO(pp.thread);
	}
	if (rc) {
		pp_end();
		return rc;
	}
	pp_dir = debugfs_create_dir("gni_pingpong", NULL);
	debugfs_create_file("run", 0200, pp_dir, NULL, &run_fops);
	debugfs_create_file("result", 0400, pp_dir, NULL, &result_fops);
	return 0;
}
module_init(pp_init);

static void __exit pp_exit(void)
{
	debugfs_remove_recursive(pp_dir);
	pp_end();
}
module_exit(pp_exit);

MODULE_DESCRIPTION("Ping-pong by kGNI: how long puts and messages take");
MODULE_LICENSE("GPL");
