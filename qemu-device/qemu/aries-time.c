/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * Properties of modelled time: how fast it goes, whether completions are held
 * until it has come, and what others do on the network meanwhile. All may be
 * set on the command line and, by qom-set, at any time.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qapi/visitor.h"
#include "aries-nic.h"
#include "trace.h"

static bool aries_time_failed(AriesNic *s, const char *name, const char *err, Error **errp)
{
    trace_aries_err_property(s->node, err);
    error_setg(errp, "%s: %s", name, err);
    return false;
}

static bool aries_rate_apply(AriesNic *s, double rate, Error **errp)
{
    char err[256] = "";

    return aries_nic_set_time_rate(s->nic, rate, err, sizeof(err)) == 0 || aries_time_failed(s, "time-rate", err, errp);
}

static void aries_rate_get(Object *obj, Visitor *v, const char *name, void *opaque, Error **errp)
{
    AriesNic *s = ARIES_NIC(obj);
    double rate = s->live ? aries_nic_time_rate(s->nic) : s->time_rate ?: 1;

    visit_type_number(v, name, &rate, errp);
}

static void aries_rate_set(Object *obj, Visitor *v, const char *name, void *opaque, Error **errp)
{
    AriesNic *s = ARIES_NIC(obj);
    double rate;

    if (!visit_type_number(v, name, &rate, errp)) {
        return;
    }
    if (!s->live && rate == 0) {
        error_setg(errp, "time-rate=0: modelled time cannot stand still");
        return;
    }
    if (!s->live || aries_rate_apply(s, rate, errp)) {
        s->time_rate = rate;
    }
}

static bool aries_hold_get(Object *obj, Error **errp)
{
    AriesNic *s = ARIES_NIC(obj);

    return s->live ? aries_nic_hold(s->nic) : s->hold;
}

static void aries_hold_set(Object *obj, bool on, Error **errp)
{
    AriesNic *s = ARIES_NIC(obj);

    s->hold = on;
    if (s->live) {
        aries_nic_set_hold(s->nic, on);
    }
}

static bool aries_background_apply(AriesNic *s, const char *what, Error **errp)
{
    char err[512] = "";

    return aries_nic_set_background(s->nic, what, err, sizeof(err)) == 0 ||
           aries_time_failed(s, "background", err, errp);
}

static char *aries_background_get(Object *obj, Error **errp)
{
    return g_strdup(ARIES_NIC(obj)->background ?: "");
}

static void aries_background_set(Object *obj, const char *value, Error **errp)
{
    AriesNic *s = ARIES_NIC(obj);

    if (!s->live || aries_background_apply(s, value, errp)) {
        g_free(s->background);
        s->background = value[0] ? g_strdup(value) : NULL;
    }
}

/** Hands what was given on the command line to the model. What was not given leaves the fabric as others have it. */
bool aries_time_apply(AriesNic *s, Error **errp)
{
    if ((s->time_rate != 0 && !aries_rate_apply(s, s->time_rate, errp)) ||
        (s->background && !aries_background_apply(s, s->background, errp))) {
        return false;
    }
    if (s->hold) {
        aries_nic_set_hold(s->nic, true);
    }
    return true;
}

void aries_time_class_init(ObjectClass *klass)
{
    object_class_property_add(klass, "time-rate", "number", aries_rate_get, aries_rate_set, NULL, NULL);
    object_class_property_set_description(klass, "time-rate",
                                          "modelled nanoseconds in a nanosecond of the host, for the whole fabric, "
                                          "1e-6 to 1000 (default: as the fabric has it, 1 at first)");
    object_class_property_add_bool(klass, "hold-completions", aries_hold_get, aries_hold_set);
    object_class_property_set_description(klass, "hold-completions",
                                          "on: data and events of the whole fabric come when modelled time has; off: "
                                          "as soon as the host has done it (default: as the fabric has it, off at "
                                          "first)");
    object_class_property_add_str(klass, "background", aries_background_get, aries_background_set);
    object_class_property_set_description(klass, "background",
                                          "what others do on the network, for what this NIC sends: uniform:SHARE of "
                                          "each link, 0 to 1, or a file of aries-sim --background; empty: nothing");
}
