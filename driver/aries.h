/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * aries.ko: declarations for its top level.
 *
 * Folders. Each uses only those below it in this list (see Kbuild):
 *   .        module, PCI function, interrupts, errors, resets: the code that uses all others
 *   view     files in sysfs and debugfs
 *   user     open files: ioctls, mappings, memory of processes, jobs
 *   client   clients in the kernel: the interface of include/aries_kapi.h
 *   dgram    datagrams, and the messages between drivers that they need
 *   obj      objects of the NIC, their domains and owners
 *   core     registers, numbers, invalidation
 */
#ifndef ARIES_H
#define ARIES_H

#include "aries_chan.h"
#include "aries_client.h"
#include "aries_user.h"
#include "aries_view.h"

/* aries_dev.c: the device in its class */
int aries_dev_init(void);
void aries_dev_exit(void);
struct aries_dev *aries_dev_new(struct pci_dev *pdev);
void aries_dev_drop(struct aries_dev *ad);

/* aries_irq.c */
int aries_irq_init(struct aries_dev *ad);
void aries_irq_exit(struct aries_dev *ad);

/* aries_err.c */
void aries_err_drain(struct aries_dev *ad);

/* aries_devlink.c */
#if IS_ENABLED(CONFIG_NET_DEVLINK)
int aries_devlink_add(struct aries_dev *ad);
void aries_devlink_del(struct aries_dev *ad);
void aries_devlink_failed(struct aries_dev *ad);
void aries_devlink_up(struct aries_dev *ad);
#else
static inline int aries_devlink_add(struct aries_dev *ad)
{
	return 0;
}

static inline void aries_devlink_del(struct aries_dev *ad)
{
}

static inline void aries_devlink_failed(struct aries_dev *ad)
{
}

static inline void aries_devlink_up(struct aries_dev *ad)
{
}
#endif

/* aries_qsc.c */
void aries_qsc_init(struct aries_dev *ad);
void aries_qsc_drain(struct aries_dev *ad);
void aries_qsc_start(struct aries_dev *ad);
void aries_qsc_stop(struct aries_dev *ad);

/* aries_ras.c */
void aries_ras_start(struct aries_dev *ad);
bool aries_ras_capture(struct aries_dev *ad);
void aries_ras_event(struct aries_dev *ad, const struct kgni_err_event *event);
void aries_ras_partial(struct aries_dev *ad);

/* aries_revoke.c */
void aries_revoke(struct aries_dev *ad, enum aries_state state);

/* aries_pci.c */
extern struct pci_driver aries_pci_driver;

#endif /* ARIES_H */
