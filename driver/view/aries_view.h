/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * aries.ko, folder view: sysfs and debugfs.
 */
#ifndef ARIES_VIEW_H
#define ARIES_VIEW_H

#include "aries_user.h"

/* aries_sysfs.c */
extern struct class aries_class;
void aries_sysfs_init(void);
const char *aries_state_name(enum aries_state state);

/* aries_counters.c */
extern struct attribute_group aries_counter_group;
int aries_counters_init(void);
void aries_counters_exit(void);

/* aries_views.c: debugfs, one line per object */
void aries_views_add(struct aries_dev *ad, struct dentry *dir);

/* aries_debugfs.c */
void aries_debugfs_init(void);
void aries_debugfs_exit(void);
void aries_debugfs_add(struct aries_dev *ad);
void aries_debugfs_del(struct aries_dev *ad);

#endif /* ARIES_VIEW_H */
