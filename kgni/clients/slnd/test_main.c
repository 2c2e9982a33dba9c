// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/*
 * slnd_test.ko: messages and bulk data between nodes that have it, in debugfs:
 *
 *   echo test=put peer=0x1 bytes=1048576 count=100 threads=2 >slnd_test/run; cat slnd_test/result
 *   echo stop >slnd_test/run
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "test.h"

#define ST_TEXT 512

static DEFINE_MUTEX(st_lock); /* one run at a time */
static char st_text[ST_TEXT];
static struct dentry *st_dir;

/** st_result() - append to the result of the run. Context: any; the thread of the run. */
void st_result(const char *format, ...)
{
	va_list args;
	size_t used = strlen(st_text);

	va_start(args, format);
	vscnprintf(st_text + used, sizeof(st_text) - used, format, args);
	va_end(args);
}

static ssize_t run_write(struct file *file, const char __user *data, size_t bytes, loff_t *at)
{
	char *text;
	int rc;

	if (bytes >= ST_TEXT)
		return -E2BIG;
	text = memdup_user_nul(data, bytes);
	if (IS_ERR(text))
		return PTR_ERR(text);
	if (!strncmp(text, "stop", 4)) {
		st_stop();
		rc = 0;
	} else {
		rc = mutex_lock_interruptible(&st_lock);
		if (!rc) {
			st_text[0] = '\0';
			rc = st_run_text(text);
			mutex_unlock(&st_lock);
		}
	}
	kfree(text);
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
	seq_puts(m, st_text);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(result);

static int peer_show(struct seq_file *m, void *unused)
{
	seq_printf(m, "received %llu\ndamaged %llu\naddress %#x\n",
		   (u64)atomic64_read(&st_received), (u64)atomic64_read(&st_damaged),
		   slnd_address());
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(peer);

static const struct slnd_user st_user = {
	.message = st_message,
	.expose = st_expose,
	.exposed = st_exposed,
};

static int __init st_init(void)
{
	int rc = slnd_register(&st_user);

	if (rc)
		return rc;
	st_dir = debugfs_create_dir("slnd_test", NULL);
	debugfs_create_file("run", 0200, st_dir, NULL, &run_fops);
	debugfs_create_file("result", 0400, st_dir, NULL, &result_fops);
	debugfs_create_file("peer", 0400, st_dir, NULL, &peer_fops);
	return 0;
}
module_init(st_init);

static void __exit st_exit(void)
{
	debugfs_remove_recursive(st_dir);
	slnd_unregister();
	st_memory_free();
}
module_exit(st_exit);

MODULE_DESCRIPTION("Message test on top of the sample LND");
MODULE_LICENSE("GPL");
