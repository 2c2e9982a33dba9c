/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * Guest memory: collects the pieces of RAM that the guest sees and tells them
 * to the model, which accesses them directly and lets peers map them.
 */
#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "qapi/error.h"
#include "aries-nic.h"
#include "trace.h"

/*
 * The firmware switches this range between RAM, ROM and bus all the time, and
 * no operating system takes it for memory: it is cut out of every piece.
 */
#define LEGACY_START 0xa0000
#define LEGACY_END 0x100000

/*
 * Guest memory is what a memory backend holds: RAM of devices (a frame buffer,
 * our own descriptor areas), ROM and mapped host devices are not. A backend that
 * is read-only is wanted as well: it takes the place of memory that is, and is
 * refused by name.
 */
static bool aries_ram_wanted(const MemoryRegionSection *section)
{
    MemoryRegion *mr = section->mr;

    return memory_region_is_ram(mr) && !memory_region_is_ram_device(mr) &&
           (!section->readonly || memory_region_is_rom(mr)) && !memory_region_has_ram_discard_manager(mr) &&
           object_dynamic_cast(memory_region_owner(mr), TYPE_MEMORY_BACKEND);
}

/* Guest memory from an address on, or some of it, is left out. */
static void aries_ram_problem(AriesNic *s, hwaddr from, char *text)
{
    s->left_out = MIN(s->left_out, from);
    if (s->ram_problem) {
        g_free(text);
    } else {
        s->ram_problem = text;
    }
}

/* Adds the part of a section that lies in [start, end). */
static void aries_ram_piece(AriesNic *s, const MemoryRegionSection *section, hwaddr start, hwaddr end)
{
    hwaddr base = section->offset_within_address_space;
    hwaddr offset;

    start = MAX(start, base);
    end = MIN(end, base + int128_get64(section->size));
    if (start >= end) {
        return;
    }
    if (s->next_count == ARIES_RAM_MAX) {
        aries_ram_problem(s, start,
                          g_strdup_printf("guest memory has more than %d pieces; from %#" PRIx64
                                          " on none of it can be registered: use fewer and larger memory devices",
                                          ARIES_RAM_MAX, (uint64_t)start));
        return;
    }
    offset = section->offset_within_region + start - base;
    s->next_ram[s->next_count++] = (struct aries_ram){
        .gpa = start,
        .size = end - start,
        .host = (uint8_t *)memory_region_get_ram_ptr(section->mr) + offset,
        .fd = memory_region_get_fd(section->mr),
        .fd_offset = offset,
    };
}

static void aries_ram_add(MemoryListener *listener, MemoryRegionSection *section)
{
    AriesNic *s = container_of(listener, AriesNic, listener);
    MemoryRegion *mr = section->mr;

    if (!aries_ram_wanted(section)) {
        return;
    }
    if (memory_region_is_rom(mr)) {
        aries_ram_problem(s, section->offset_within_address_space,
                          g_strdup_printf("guest memory '%s' is read-only, so peers cannot write to it; use "
                                          "readonly=off for its memory backend",
                                          memory_region_name(mr)));
        return;
    }
    if (memory_region_get_fd(mr) < 0 || !qemu_ram_is_shared(mr->ram_block)) {
        aries_ram_problem(s, section->offset_within_address_space,
                          g_strdup_printf("guest memory '%s' is not shared, so peers cannot reach it; use -object "
                                          "memory-backend-memfd,id=mem,size=SIZE,share=on -machine "
                                          "memory-backend=mem",
                                          memory_region_name(mr)));
        return;
    }
    aries_ram_piece(s, section, 0, LEGACY_START);
    aries_ram_piece(s, section, LEGACY_END, UINT64_MAX);
}

static void aries_ram_begin(MemoryListener *listener)
{
    AriesNic *s = container_of(listener, AriesNic, listener);

    s->next_count = 0;
    s->left_out = ARIES_RAM_ALL;
    g_free(s->ram_problem);
    s->ram_problem = NULL;
}

static bool aries_ram_same(const AriesNic *s)
{
    if (s->ram_count != s->next_count) {
        return false;
    }
    for (unsigned i = 0; i < s->ram_count; i++) {
        const struct aries_ram *a = &s->ram[i], *b = &s->next_ram[i];

        if (a->gpa != b->gpa || a->size != b->size || a->host != b->host || a->fd != b->fd ||
            a->fd_offset != b->fd_offset) {
            return false;
        }
    }
    return true;
}

/** Tells the model the map collected last. */
bool aries_ram_publish(AriesNic *s, Error **errp)
{
    char err[256] = "";

    for (unsigned i = 0; i < s->next_count; i++) {
        const struct aries_ram *p = &s->next_ram[i];

        trace_aries_ram(s->node, i, p->gpa, p->size, p->fd, p->fd_offset);
    }
    if (aries_nic_set_ram(s->nic, s->next_ram, s->next_count, err, sizeof(err)) < 0) {
        trace_aries_err_ram(s->node, err);
        error_setg(errp, "%s", err);
        return false;
    }
    memcpy(s->ram, s->next_ram, sizeof(s->ram));
    s->ram_count = s->next_count;
    return true;
}

/* Tells what is left out of the map: once, for a guest can change the map as often as it likes. */
static void aries_ram_warn(AriesNic *s)
{
    if (!s->ram_problem || g_strcmp0(s->ram_problem, s->ram_told) == 0) {
        return;
    }
    trace_aries_err_ram(s->node, s->ram_problem);
    warn_report("aries-nic %u: %s", s->node, s->ram_problem);
    g_free(s->ram_told);
    s->ram_told = g_strdup(s->ram_problem);
}

static void aries_ram_commit(MemoryListener *listener)
{
    AriesNic *s = container_of(listener, AriesNic, listener);
    Error *err = NULL;

    /* Registering and unregistering also commit, the latter with an empty map. */
    if (!s->listening || !s->nic) {
        return;
    }
    aries_ram_warn(s);
    if (!aries_ram_same(s) && !aries_ram_publish(s, &err)) {
        error_reportf_err(err, "aries-nic %u: ", s->node);
    }
    aries_nic_set_ram_left_out(s->nic, s->left_out);
}

/**
 * Collects the guest's memory and keeps watching it. Fails if some of it
 * cannot be reached by peers. The model gets it by aries_ram_publish(), and
 * after that by itself when the map changes.
 */
bool aries_ram_start(AriesNic *s, Error **errp)
{
    s->listener = (MemoryListener){
        .name = TYPE_ARIES_NIC,
        .begin = aries_ram_begin,
        .commit = aries_ram_commit,
        .region_add = aries_ram_add,
        .region_nop = aries_ram_add,
    };
    memory_listener_register(&s->listener, &address_space_memory);
    s->listening = true;
    if (s->ram_problem) {
        trace_aries_err_ram(s->node, s->ram_problem);
        error_setg(errp, "%s", s->ram_problem);
        return false;
    }
    return true;
}

void aries_ram_stop(AriesNic *s)
{
    if (s->listening) {
        s->listening = false;
        memory_listener_unregister(&s->listener);
    }
    g_free(s->ram_problem);
    s->ram_problem = NULL;
    g_free(s->ram_told);
    s->ram_told = NULL;
}
