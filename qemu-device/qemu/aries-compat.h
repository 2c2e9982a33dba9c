/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * What differs between the versions of QEMU that these files are compiled
 * in: 7.2 and 10. The other files are written for the newest; this one goes
 * away with 7.2.
 */
#ifndef HW_ARIES_COMPAT_H
#define HW_ARIES_COMPAT_H

#include "qapi/error.h"
#include "qemu/main-loop.h"
#include "hw/qdev-core.h"
#include "migration/blocker.h"

/* Headers on the way from exec/ and sysemu/ to system/. */
#if __has_include("system/memory.h")
#include "system/address-spaces.h"
#include "system/memory.h"
#include "system/ramblock.h"
#else
#include "exec/address-spaces.h"
#include "exec/memory.h"
#include "exec/ramblock.h"
#endif

#if QEMU_VERSION_MAJOR >= 10

#include "hw/pci/pci_device.h"
#include "system/hostmem.h"
#include "system/reset.h"
#include "system/runstate.h"
#include "system/system.h"

#else

#include "hw/pci/pci.h"
#include "sysemu/hostmem.h"
#include "sysemu/reset.h"
#include "sysemu/runstate.h"
#include "sysemu/sysemu.h"

/* The BQL by its former name. */
static inline bool bql_locked(void)
{
    return qemu_mutex_iothread_locked();
}

static inline void bql_lock(void)
{
    qemu_mutex_lock_iothread();
}

static inline void bql_unlock(void)
{
    qemu_mutex_unlock_iothread();
}

static inline void device_class_set_legacy_reset(DeviceClass *dc, void (*reset)(DeviceState *dev))
{
    dc->reset = reset;
}

#endif

/* The data of a class's init function. */
#if QEMU_VERSION_MAJOR > 10 || (QEMU_VERSION_MAJOR == 10 && QEMU_VERSION_MINOR >= 1)
typedef const void AriesClassData;
#else
typedef void AriesClassData;
#endif

/** Blocks migration for the reason *blocker, which is gone when that fails. */
static inline bool aries_block_migration(Error **blocker, Error **errp)
{
#if QEMU_VERSION_MAJOR >= 10
    return migrate_add_blocker(blocker, errp) == 0;
#else
    if (migrate_add_blocker(*blocker, errp) < 0) {
        error_free(*blocker);
        *blocker = NULL;
        return false;
    }
    return true;
#endif
}

/** Undoes aries_block_migration(), if it was called. */
static inline void aries_unblock_migration(Error **blocker)
{
#if QEMU_VERSION_MAJOR >= 10
    migrate_del_blocker(blocker);
#else
    if (*blocker) {
        migrate_del_blocker(*blocker);
        error_free(*blocker);
        *blocker = NULL;
    }
#endif
}

#endif /* HW_ARIES_COMPAT_H */
