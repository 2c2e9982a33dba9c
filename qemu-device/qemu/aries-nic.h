/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * The Aries NIC as a QEMU PCI function. No NIC behaviour lives in these files:
 * they connect PCI, guest memory, interrupts and properties to the model
 * library (aries_model.h).
 *
 * Locks: the callbacks of BAR 0 and BAR 2 run without the iothread lock, on
 * several vCPUs at once, and go straight into the model. Everything else here
 * runs with it. The model never waits for the iothread lock: its interrupt
 * callback only marks the vector, and the vector is delivered after the model
 * has returned. So a wait inside the model (a reset that drains transfers)
 * cannot be a wait for somebody who waits for the lock.
 */
#ifndef HW_ARIES_NIC_H
#define HW_ARIES_NIC_H

#include "qemu/notify.h"
#include "qemu/timer.h"
#include "qom/object.h"

#include "aries-compat.h"
#include "aries_model.h"
#include "aries_regs.h"

#define TYPE_ARIES_NIC "aries-nic"
OBJECT_DECLARE_SIMPLE_TYPE(AriesNic, ARIES_NIC)

/* Configuration space: capability offsets. */
#define ARIES_CFG_PM 0x40
#define ARIES_CFG_MSIX 0x50
#define ARIES_CFG_EXP 0x80
#define ARIES_CFG_AER 0x100
#define ARIES_CFG_DSN 0x150

/* BAR 0: the MSI-X table and pending bits lie over the register space. */
#define ARIES_MSIX_TABLE 0x80000
#define ARIES_MSIX_PBA 0x81000

/* Fault knobs: index into AriesNic.fault. */
enum {
    ARIES_FAULT_DROP,
    ARIES_FAULT_DROP_RESPONSE,
    ARIES_FAULT_CORRUPT,
    ARIES_FAULT_DELAY,
    ARIES_FAULT_LINK,
    ARIES_FAULT_REORDER,
    ARIES_FAULT_DUPLICATE,
    ARIES_FAULT_CUT_LINK,
    ARIES_FAULT_MEND_LINK,
    ARIES_FAULT_NOISY_LINK,
    ARIES_FAULT_LINK_LANES,
    ARIES_FAULT_ECC_SINGLE,
    ARIES_FAULT_ECC_DOUBLE,
    ARIES_FAULTS
};

#define ARIES_PLACE_OF_NODE UINT32_MAX

/* Warnings of the model that are printed per ARIES_TICK_MS; the rest is only traced. */
#define ARIES_WARN_BUDGET 5

/* Longest time that a timer of the model is set for: an hour. The model looks again then. */
#define ARIES_ALARM_MAX_NS (3600 * 1000000000ull)

struct AriesNic {
    PCIDevice parent_obj;

    /* properties, constant after realize */
    char *fabric;
    uint32_t node;
    uint32_t nodes;
    uint32_t machine_nodes; /* 0: nodes */
    uint32_t place;         /* ARIES_PLACE_OF_NODE: the number that node has */
    uint32_t routers_per_chassis;
    uint32_t chassis_per_group;
    uint32_t lease_ms;
    uint64_t fault[ARIES_FAULTS];
    char *trace_file; /* may change at any time, as the faults may; NULL: none */
    uint64_t trace_limit;
    uint64_t trace_packets;
    double time_rate; /* as the command line has it; 0: nothing */
    bool hold;        /* the same */
    bool polled;      /* doorbells in the descriptor areas, too; constant after realize */
    char *background; /* may change at any time; NULL: none */

    /* From realize to finalize: a vCPU may be in a callback until then. */
    aries_nic *nic;
    MemoryRegion regs;
    MemoryRegion fma;
    MemoryRegion desc;
    void *desc_area;
    QEMUBH *irq_bh;
    bool unready;         /* after a reset: earlier accesses are in flight; iothread lock */
    bool held;            /* the machine is stopped until they have ended; iothread lock */
    QEMUTimer *alarm;     /* of the model; any thread sets it */
    uint32_t irq_pending; /* atomic: vectors marked and not yet delivered */

    /* From realize to exit; iothread lock. */
    bool live;
    bool delivering; /* written with the lock held, read by any thread */
    int wake_fd;
    QEMUTimer *tick;
    Notifier quit;
    VMChangeStateEntry *run_state;
    QLIST_ENTRY(AriesNic) next; /* of all NICs */
    int warn_budget;            /* atomic */
    Error *blocker;

    /* Guest memory; iothread lock. */
    MemoryListener listener;
    bool listening;
    struct aries_ram ram[ARIES_RAM_MAX];
    unsigned ram_count;
    struct aries_ram next_ram[ARIES_RAM_MAX];
    unsigned next_count;
    hwaddr left_out;   /* lowest address of guest memory that is not in next_ram */
    char *ram_problem; /* of the map being collected: why it cannot be used */
    char *ram_told;    /* the last one that was printed */
};

/* aries-host.c */
extern const struct aries_host_ops aries_host_ops;
void aries_irq_flush_slow(AriesNic *s);
void aries_irq_bh(void *opaque);
void aries_host_init(AriesNic *s);
void aries_host_start(AriesNic *s);
void aries_host_stop(AriesNic *s);

/** Delivers the vectors that the model has marked; to be called after the model has returned. */
static inline void aries_irq_flush(AriesNic *s)
{
    if (unlikely(qatomic_read(&s->irq_pending))) {
        aries_irq_flush_slow(s);
    }
}

/* aries-pci.c */
bool aries_may_master(AriesNic *s);
bool aries_ready(AriesNic *s);

/* aries-mmio.c */
extern const MemoryRegionOps aries_regs_ops;
extern const MemoryRegionOps aries_fma_ops;

/* aries-ram.c */
bool aries_ram_start(AriesNic *s, Error **errp);
bool aries_ram_publish(AriesNic *s, Error **errp);
void aries_ram_stop(AriesNic *s);

/* aries-props.c, aries-time.c */
void aries_props_class_init(ObjectClass *klass);
void aries_props_add_state(AriesNic *s);
bool aries_props_check(AriesNic *s, Error **errp);
bool aries_props_apply_faults(AriesNic *s, Error **errp);
bool aries_props_start_trace(AriesNic *s, Error **errp);
void aries_time_class_init(ObjectClass *klass);
bool aries_time_apply(AriesNic *s, Error **errp);
char *aries_props_fabric_path(const AriesNic *s, Error **errp);

#endif /* HW_ARIES_NIC_H */
