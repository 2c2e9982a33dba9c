/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an LND that was written for the kernels of Cray's machines expects of a kernel, and newer
 * ones do not have: seconds as time_t, struct timespec, and files in /proc that are described by
 * struct file_operations. The compiler is told to include it before everything else.
 */
#ifndef GNILND_COMPAT_H
#define GNILND_COMPAT_H

#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/proc_fs.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 6, 0)

typedef long time_t;

struct timespec {
	time_t tv_sec;
	long tv_nsec;
};

static inline void getnstimeofday(struct timespec *ts)
{
	struct timespec64 now;

	ktime_get_real_ts64(&now);
	*ts = (struct timespec){ now.tv_sec, now.tv_nsec };
}

static inline const struct proc_ops *gnilnd_compat_proc_ops(struct proc_ops *ops,
							    const struct file_operations *fops)
{
	*ops = (struct proc_ops){
		.proc_open = fops->open,
		.proc_read = fops->read,
		.proc_write = fops->write,
		.proc_lseek = fops->llseek,
		.proc_release = fops->release,
		.proc_poll = fops->poll,
		.proc_ioctl = fops->unlocked_ioctl,
		.proc_mmap = fops->mmap,
	};
	return ops;
}

/* Each call has its own, which lives as long as the module. */
#define proc_create(name, mode, parent, fops)                                    \
	({                                                                       \
		static struct proc_ops compat_ops;                               \
		proc_create(name, mode, parent,                                  \
			    gnilnd_compat_proc_ops(&compat_ops, fops));          \
	})

#endif

#endif
