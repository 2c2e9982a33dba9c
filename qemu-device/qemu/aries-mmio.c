/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * BAR 0 and BAR 2: every access goes to the model at once, without the
 * iothread lock.
 */
#include "qemu/osdep.h"
#include "qemu/log.h"
#include "qemu/main-loop.h"
#include "aries-nic.h"
#include "aries_hw.h"
#include "aries_regs_table.h"
#include "trace.h"

static const char *aries_reg_name(hwaddr offset)
{
    static const struct {
        const char *name;
        uint32_t offset, count, stride, bytes;
    } regs[] = {
#define ARIES_REG_NAME(name, offset, width, access, count, stride, reset, mask, dump, text)                            \
    {#name, offset, count, stride, (width) / 8},
        ARIES_REGISTERS(ARIES_REG_NAME)
#undef ARIES_REG_NAME
    };

    for (size_t i = 0; i < ARRAY_SIZE(regs); i++) {
        hwaddr at = offset - regs[i].offset;

        if (offset >= regs[i].offset && at / regs[i].stride < regs[i].count && at % regs[i].stride < regs[i].bytes) {
            return regs[i].name;
        }
    }
    return "unknown";
}

/*
 * A guest can aim an interrupt message at this NIC's own BARs. Such a store
 * arrives while the vector is being delivered, and could raise the next one
 * without end; it is refused.
 */
static bool aries_nested(AriesNic *s, unsigned bar, hwaddr addr)
{
    if (likely(!qatomic_read(&s->delivering)) || !bql_locked()) {
        return false;
    }
    trace_aries_ub_nested(s->node, bar, addr);
    qemu_log_mask(LOG_GUEST_ERROR,
                  "aries-nic %u: interrupt message aimed at the NIC itself, BAR %u offset 0x%" PRIx64 "\n", s->node,
                  bar, (uint64_t)addr);
    return true;
}

static uint64_t aries_regs_read(void *opaque, hwaddr addr, unsigned size)
{
    AriesNic *s = opaque;
    uint64_t value;

    if (aries_nested(s, ARIES_BAR_REGS, addr)) {
        return UINT64_MAX;
    }
    value = aries_nic_read(s->nic, ARIES_BAR_REGS, addr, size);
    if (trace_event_get_state_backends(TRACE_ARIES_REG_READ)) {
        trace_aries_reg_read(s->node, aries_reg_name(addr), addr, size, value);
    }
    aries_irq_flush(s);
    return value;
}

static void aries_regs_write(void *opaque, hwaddr addr, uint64_t value, unsigned size)
{
    AriesNic *s = opaque;

    if (aries_nested(s, ARIES_BAR_REGS, addr)) {
        return;
    }
    if (trace_event_get_state_backends(TRACE_ARIES_REG_WRITE)) {
        trace_aries_reg_write(s->node, aries_reg_name(addr), addr, size, value);
    }
    aries_nic_write(s->nic, ARIES_BAR_REGS, addr, size, value);
    aries_irq_flush(s);
}

static uint64_t aries_fma_read(void *opaque, hwaddr addr, unsigned size)
{
    AriesNic *s = opaque;
    uint64_t value;

    if (aries_nested(s, ARIES_BAR_FMA, addr)) {
        return UINT64_MAX;
    }
    value = aries_nic_read(s->nic, ARIES_BAR_FMA, addr, size);
    trace_aries_fma_read(s->node, addr / ARIES_FMA_STRIDE, addr % ARIES_FMA_STRIDE, size, value);
    aries_irq_flush(s);
    return value;
}

static void aries_fma_write(void *opaque, hwaddr addr, uint64_t value, unsigned size)
{
    AriesNic *s = opaque;

    if (aries_nested(s, ARIES_BAR_FMA, addr)) {
        return;
    }
    trace_aries_fma_write(s->node, addr / ARIES_FMA_STRIDE, addr % ARIES_FMA_STRIDE, size, value);
    aries_nic_write(s->nic, ARIES_BAR_FMA, addr, size, value);
    aries_irq_flush(s);
}

/* The model judges size and alignment of a register access, so all of them get there. */
const MemoryRegionOps aries_regs_ops = {
    .read = aries_regs_read,
    .write = aries_regs_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = {.min_access_size = 1, .max_access_size = 8, .unaligned = true},
    .impl = {.min_access_size = 1, .max_access_size = 8, .unaligned = true},
};

const MemoryRegionOps aries_fma_ops = {
    .read = aries_fma_read,
    .write = aries_fma_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = {.min_access_size = 1, .max_access_size = 8, .unaligned = true},
    .impl = {.min_access_size = 1, .max_access_size = 8, .unaligned = true},
};
