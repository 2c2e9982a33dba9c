/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * Properties: configuration (set once, on the command line), faults (at any
 * time, by qom-set), counters and state (read only, by qom-get).
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qapi/visitor.h"
#include "aries-nic.h"
#include "aries_hw.h"
#include "trace.h"

#define ARIES_MACHINE_MAX 92544 /* T12 */
/* The model puts sockets beside the segment; a socket's path has 107 bytes. */
#define ARIES_FABRIC_PATH_MAX 80
#define ARIES_FABRIC_DIR "/dev/shm/aries-"

/* No default: what the instance begins with. */
#define ARIES_NO_DEFAULT UINT64_MAX

/* A property that is a number: its field, its range, and what it means. */
typedef struct AriesNumber {
    const char *name;
    size_t field;
    uint64_t min, max, def;
    const char *text;
} AriesNumber;

static const AriesNumber aries_config[] = {
    {"node", offsetof(AriesNic, node), 0, ARIES_NODES_MAX - 1, 0, "node address of this NIC, less than nodes"},
    {"nodes", offsetof(AriesNic, nodes), 1, ARIES_NODES_MAX, 2,
     "node addresses in the fabric, the same at every member"},
    {"machine-nodes", offsetof(AriesNic, machine_nodes), 0, ARIES_MACHINE_MAX, 0,
     "nodes of the machine that the fabric is a part of, the same at every member; 0: as many as the fabric"},
    {"place", offsetof(AriesNic, place), 0, ARIES_MACHINE_MAX - 1, ARIES_NO_DEFAULT,
     "number of the machine's node where this NIC sits, no other member's; default: that of node"},
    {"routers-per-chassis", offsetof(AriesNic, routers_per_chassis), 1, 16, 16,
     "routers in a chassis of the dragonfly, 4 NICs each"},
    {"chassis-per-group", offsetof(AriesNic, chassis_per_group), 1, 6, 6, "chassis in a group of the dragonfly"},
    {"lease-ms", offsetof(AriesNic, lease_ms), 50, 60000, 500,
     "milliseconds of silence after which a peer is checked for being alive"},
};

/* The memories with ECC by number, in the order of aries_hw.h. */
#define ARIES_RAS_HELP(NAME, name, entries, row, text) ", " #name
#define ARIES_ECC_MAX ((uint64_t)(ARIES_RAS_MEMORY_COUNT - 1) << 32 | ARIES_LINK_NONE)

static const AriesNumber aries_faults[ARIES_FAULTS] = {
    [ARIES_FAULT_DROP] = {"drop", 0, 0, UINT32_MAX, 0, "fault: packets to lose from now on"},
    [ARIES_FAULT_DROP_RESPONSE] = {"drop-response", 0, 0, UINT32_MAX, 0, "fault: responses to lose from now on"},
    [ARIES_FAULT_CORRUPT] = {"corrupt", 0, 0, UINT32_MAX, 0, "fault: packets to damage from now on"},
    [ARIES_FAULT_DELAY] = {"delay-ns", 0, 0, 1000000000, 0, "fault: nanoseconds added to a packet's modelled latency"},
    [ARIES_FAULT_LINK] = {"link", 0, 0, 1, 1, "fault: 0 cuts the NIC off the fabric, 1 connects it"},
    [ARIES_FAULT_REORDER] = {"reorder", 0, 0, 1, 0, "fault: 1 shuffles the packets of each transaction"},
    [ARIES_FAULT_DUPLICATE] = {"duplicate", 0, 0, UINT32_MAX, 0, "fault: packets that come twice from now on"},
    [ARIES_FAULT_CUT_LINK] = {"cut-link", 0, 0, ARIES_LINK_NONE, ARIES_LINK_NONE,
                              "fault: takes down a link between routers, for all: router * 64 + tile of either end"},
    [ARIES_FAULT_MEND_LINK] = {"mend-link", 0, 0, ARIES_LINK_NONE, ARIES_LINK_NONE,
                               "fault: takes a link between routers up again, as cut-link"},
    [ARIES_FAULT_NOISY_LINK] = {"noisy-link", 0, 0, 18ull << 32 | ARIES_LINK_NONE, ARIES_LINK_NONE,
                                "fault: bit errors on a link, as cut-link + 2^32 * N: one in 10^N bits; N = 0: none"},
    [ARIES_FAULT_LINK_LANES] = {"link-lanes", 0, 0, 3ull << 32 | ARIES_LINK_NONE, ARIES_LINK_NONE,
                                "fault: lanes of a link that work, as cut-link + 2^32 * lanes, 1 to 3"},
    [ARIES_FAULT_ECC_SINGLE] = {"ecc-single", 0, 0, ARIES_ECC_MAX, ARIES_LINK_NONE,
                                "fault: a wrong bit in an entry of a memory: entry + 2^32 * memory" ARIES_RAS_MEMORIES(
                                    ARIES_RAS_HELP)},
    [ARIES_FAULT_ECC_DOUBLE] = {"ecc-double", 0, 0, ARIES_ECC_MAX, ARIES_LINK_NONE,
                                "fault: two wrong bits in an entry of a memory, as ecc-single"},
};

/* Gets a number that the row allows; the message names property, value and range. */
static bool aries_number_visit(Visitor *v, const AriesNumber *row, const char *name, uint64_t *value, Error **errp)
{
    Error *err = NULL;

    if (!visit_type_uint64(v, name, value, &err)) {
        error_setg(errp, "%s must be a number from %" PRIu64 " to %" PRIu64 " (%s): %s", name, row->min, row->max,
                   row->text, error_get_pretty(err));
        error_free(err);
        return false;
    }
    if (*value < row->min || *value > row->max) {
        error_setg(errp, "%s=%" PRIu64 " is out of range %" PRIu64 " to %" PRIu64 " (%s)", name, *value, row->min,
                   row->max, row->text);
        return false;
    }
    return true;
}

static void aries_config_get(Object *obj, Visitor *v, const char *name, void *opaque, Error **errp)
{
    const AriesNumber *row = opaque;

    visit_type_uint32(v, name, (uint32_t *)((char *)ARIES_NIC(obj) + row->field), errp);
}

static void aries_config_set(Object *obj, Visitor *v, const char *name, void *opaque, Error **errp)
{
    const AriesNumber *row = opaque;
    uint64_t value;

    if (DEVICE(obj)->realized) {
        error_setg(errp, "%s cannot be changed while the device exists", name);
        return;
    }
    if (aries_number_visit(v, row, name, &value, errp)) {
        *(uint32_t *)((char *)ARIES_NIC(obj) + row->field) = value;
    }
}

static const char *const aries_doorbells[] = {"trapped", "polled"};

static char *aries_doorbell_get(Object *obj, Error **errp)
{
    return g_strdup(aries_doorbells[ARIES_NIC(obj)->polled]);
}

static void aries_doorbell_set(Object *obj, const char *value, Error **errp)
{
    if (DEVICE(obj)->realized) {
        error_setg(errp, "doorbell cannot be changed while the device exists");
        return;
    }
    for (unsigned i = 0; i < ARRAY_SIZE(aries_doorbells); i++) {
        if (g_str_equal(value, aries_doorbells[i])) {
            ARIES_NIC(obj)->polled = i;
            return;
        }
    }
    error_setg(errp, "doorbell=%s is neither trapped nor polled", value);
}

static bool aries_fault_apply(AriesNic *s, const char *name, uint64_t value, Error **errp)
{
    char err[256] = "";

    if (aries_nic_set_fault(s->nic, name, value, err, sizeof(err)) < 0) {
        trace_aries_err_property(s->node, err);
        error_setg(errp, "%s=%" PRIu64 ": %s", name, value, err);
        return false;
    }
    trace_aries_fault(s->node, name, value);
    return true;
}

static void aries_fault_get(Object *obj, Visitor *v, const char *name, void *opaque, Error **errp)
{
    AriesNic *s = ARIES_NIC(obj);
    const AriesNumber *row = opaque;
    uint64_t value = s->fault[row - aries_faults];

    if (s->live && aries_nic_get_fault(s->nic, name, &value) < 0) {
        error_setg(errp, "%s is not known to the model", name);
        return;
    }
    visit_type_uint64(v, name, &value, errp);
}

static void aries_fault_set(Object *obj, Visitor *v, const char *name, void *opaque, Error **errp)
{
    AriesNic *s = ARIES_NIC(obj);
    const AriesNumber *row = opaque;
    uint64_t value;

    if (!aries_number_visit(v, row, name, &value, errp)) {
        return;
    }
    if (!s->live || aries_fault_apply(s, name, value, errp)) {
        s->fault[row - aries_faults] = value;
    }
}

/** Hands faults that were given on the command line to the model. */
bool aries_props_apply_faults(AriesNic *s, Error **errp)
{
    for (unsigned i = 0; i < ARIES_FAULTS; i++) {
        if (s->fault[i] != aries_faults[i].def && !aries_fault_apply(s, aries_faults[i].name, s->fault[i], errp)) {
            return false;
        }
    }
    return true;
}

static const AriesNumber aries_trace_numbers[] = {
    {"trace-limit", offsetof(AriesNic, trace_limit), ARIES_TRACE_LIMIT_MIN, ARIES_TRACE_LIMIT_MAX,
     ARIES_TRACE_LIMIT_DEFAULT, "bytes at which a packet trace ends; for the next one that trace-file starts"},
    {"trace-packets", offsetof(AriesNic, trace_packets), 1, ARIES_TRACE_PACKETS_MAX, ARIES_TRACE_PACKETS_DEFAULT,
     "packets that a trace records of one operation, the first ones; for the next trace"},
};

static void aries_trace_number_get(Object *obj, Visitor *v, const char *name, void *opaque, Error **errp)
{
    const AriesNumber *row = opaque;

    visit_type_uint64(v, name, (uint64_t *)((char *)ARIES_NIC(obj) + row->field), errp);
}

static void aries_trace_number_set(Object *obj, Visitor *v, const char *name, void *opaque, Error **errp)
{
    const AriesNumber *row = opaque;
    uint64_t value;

    if (aries_number_visit(v, row, name, &value, errp)) {
        *(uint64_t *)((char *)ARIES_NIC(obj) + row->field) = value;
    }
}

static bool aries_trace_apply(AriesNic *s, const char *path, Error **errp)
{
    char err[512] = "";

    if (aries_nic_set_trace(s->nic, path, s->trace_limit, s->trace_packets, err, sizeof(err)) < 0) {
        trace_aries_err_property(s->node, err);
        error_setg(errp, "trace-file: %s", err);
        return false;
    }
    return true;
}

/* Empty also when the trace has ended by itself. */
static char *aries_trace_file_get(Object *obj, Error **errp)
{
    AriesNic *s = ARIES_NIC(obj);

    return g_strdup(s->trace_file && (!s->live || aries_nic_tracing(s->nic)) ? s->trace_file : "");
}

static void aries_trace_file_set(Object *obj, const char *value, Error **errp)
{
    AriesNic *s = ARIES_NIC(obj);
    const char *path = value[0] ? value : NULL;

    if (!s->live || aries_trace_apply(s, path, errp)) {
        g_free(s->trace_file);
        s->trace_file = g_strdup(path);
    }
}

/** Starts the trace that was asked for on the command line. */
bool aries_props_start_trace(AriesNic *s, Error **errp)
{
    return !s->trace_file || aries_trace_apply(s, s->trace_file, errp);
}

static char *aries_fabric_get(Object *obj, Error **errp)
{
    return g_strdup(ARIES_NIC(obj)->fabric ?: "default");
}

static void aries_fabric_set(Object *obj, const char *value, Error **errp)
{
    AriesNic *s = ARIES_NIC(obj);

    if (DEVICE(obj)->realized) {
        error_setg(errp, "fabric cannot be changed while the device exists");
        return;
    }
    g_free(s->fabric);
    s->fabric = g_strdup(value);
}

/** Path of the segment file that the fabric property means, to be freed; NULL with an error. */
char *aries_props_fabric_path(const AriesNic *s, Error **errp)
{
    const char *name = s->fabric ?: "default";
    g_autofree char *path = NULL;

    if (name[0] == '/') {
        path = g_strdup(name);
    } else if (name[0] &&
               strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == strlen(name)) {
        path = g_strconcat(ARIES_FABRIC_DIR, name, NULL);
    } else {
        error_setg(errp, "fabric=%s is neither an absolute path nor a name of letters, digits, '.', '_' and '-'", name);
        return NULL;
    }
    if (strlen(path) > ARIES_FABRIC_PATH_MAX) {
        error_setg(errp, "fabric=%s is too long: its path has %zu bytes of at most %d", name, strlen(path),
                   ARIES_FABRIC_PATH_MAX);
        return NULL;
    }
    return g_steal_pointer(&path);
}

/** Checks what no single property can: how they fit together. */
bool aries_props_check(AriesNic *s, Error **errp)
{
    if (s->node >= s->nodes) {
        error_setg(errp, "node=%u is out of range 0 to %u (nodes=%u)", s->node, s->nodes - 1, s->nodes);
        return false;
    }
    if (s->place == ARIES_PLACE_OF_NODE) {
        s->place = s->node;
    }
    return true;
}

static void aries_counter_get(Object *obj, Visitor *v, const char *name, void *opaque, Error **errp)
{
    uint64_t value = aries_nic_counter(ARIES_NIC(obj)->nic, (uintptr_t)opaque);

    visit_type_uint64(v, name, &value, errp);
}

static char *aries_describe_get(Object *obj, Error **errp)
{
    AriesNic *s = ARIES_NIC(obj);
    size_t size = aries_nic_describe(s->nic, NULL, 0) + 256; /* it may grow meanwhile */
    char *text = g_malloc0(size + 1);

    aries_nic_describe(s->nic, text, size);
    if (s->ram_problem) {
        char *more = g_strdup_printf("%sproblem: %s\n", text, s->ram_problem);

        g_free(text);
        text = more;
    }
    return text;
}

/**
 * Adds the read-only properties of a NIC that exists. They belong to the
 * object, not to the class, so that the help of -device lists only what can be
 * given there.
 */
void aries_props_add_state(AriesNic *s)
{
    static const struct {
        const char *name, *text;
    } counters[] = {
#define ARIES_COUNTER_ROW(NAME, name, text) {#name, text},
        ARIES_COUNTERS(ARIES_COUNTER_ROW)
#undef ARIES_COUNTER_ROW
    };
    Object *obj = OBJECT(s);

    for (uintptr_t i = 0; i < ARRAY_SIZE(counters); i++) {
        g_autofree char *name = g_strdelimit(g_strconcat("counter-", counters[i].name, NULL), "_", '-');

        object_property_add(obj, name, "uint64", aries_counter_get, NULL, NULL, (void *)i);
        object_property_set_description(obj, name, counters[i].text);
    }
    object_property_add_str(obj, "describe", aries_describe_get, NULL);
    object_property_set_description(obj, "describe", "members, links and tables in use, in readable form");
}

static void aries_number_add(ObjectClass *klass, const AriesNumber *row, ObjectPropertyAccessor *get,
                             ObjectPropertyAccessor *set)
{
    ObjectProperty *prop = object_class_property_add(klass, row->name, "uint64", get, set, NULL, (void *)row);

    g_autofree char *help = g_strdup_printf("%s, %" PRIu64 " to %" PRIu64, row->text, row->min, row->max);

    if (row->def != ARIES_NO_DEFAULT) {
        object_property_set_default_uint(prop, row->def);
    }
    object_class_property_set_description(klass, row->name, help);
}

void aries_props_class_init(ObjectClass *klass)
{
    for (unsigned i = 0; i < ARRAY_SIZE(aries_config); i++) {
        aries_number_add(klass, &aries_config[i], aries_config_get, aries_config_set);
    }
    for (unsigned i = 0; i < ARIES_FAULTS; i++) {
        aries_number_add(klass, &aries_faults[i], aries_fault_get, aries_fault_set);
    }
    for (unsigned i = 0; i < ARRAY_SIZE(aries_trace_numbers); i++) {
        aries_number_add(klass, &aries_trace_numbers[i], aries_trace_number_get, aries_trace_number_set);
    }
    object_class_property_add_str(klass, "trace-file", aries_trace_file_get, aries_trace_file_set);
    object_class_property_set_description(klass, "trace-file",
                                          "pcapng file for the packets that this NIC sends and gets back, created or "
                                          "emptied; at any time, empty ends the trace (default: none)");
    aries_time_class_init(klass);
    object_class_property_add_str(klass, "doorbell", aries_doorbell_get, aries_doorbell_set);
    object_class_property_set_description(
        klass, "doorbell",
        "how processes ring: trapped, by a store to the NIC, or polled, also by one to "
        "memory that a thread of the NIC looks at, without a trap (default: trapped)");
    object_class_property_add_str(klass, "fabric", aries_fabric_get, aries_fabric_set);
    object_class_property_set_description(klass, "fabric",
                                          "segment file that the NICs of a fabric share: an absolute path of at most "
                                          "80 bytes, or a NAME for " ARIES_FABRIC_DIR "NAME (default: default)");
}
