/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * What the model needs of its host: interrupts, log, trace, wake-ups, time.
 */
#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "qemu/log.h"
#include "qemu/main-loop.h"
#include "hw/core/cpu.h"
#include "hw/pci/msix.h"
#include "hw/pci/pcie_aer.h"
#include "aries-nic.h"
#include "trace.h"

static void aries_irq_deliver(AriesNic *s)
{
    uint32_t pending;

    if (!s->live || s->delivering) {
        return;
    }
    qatomic_set(&s->delivering, true);
    pending = qatomic_xchg(&s->irq_pending, 0);
    /* With MSI-X or power off the message is lost, as on a bus; it must not arrive when a driver later turns it on. */
    while (pending && msix_enabled(PCI_DEVICE(s)) && aries_may_master(s)) {
        unsigned vector = ctz32(pending);

        pending &= pending - 1;
        trace_aries_irq(s->node, vector);
        msix_notify(PCI_DEVICE(s), vector);
    }
    qatomic_set(&s->delivering, false);
}

void aries_irq_flush_slow(AriesNic *s)
{
    bool locked = bql_locked();

    if (!locked) {
        bql_lock();
    }
    aries_irq_deliver(s);
    if (!locked) {
        bql_unlock();
    }
}

void aries_irq_bh(void *opaque)
{
    aries_irq_deliver(opaque);
}

/*
 * A vCPU or a holder of the iothread lock is in one of our callbacks, which
 * delivers when the model has returned. Any other thread is one of the model's.
 */
static void aries_host_irq(void *opaque, unsigned int vector)
{
    AriesNic *s = opaque;

    if (vector >= ARIES_MSIX_VECTORS) {
        trace_aries_err_vector(s->node, vector);
        return;
    }
    qatomic_or(&s->irq_pending, 1u << vector);
    if (!current_cpu && !bql_locked()) {
        qemu_bh_schedule(s->irq_bh);
    }
}

static void aries_host_log(void *opaque, enum aries_log_level level, const char *line)
{
    AriesNic *s = opaque;

    switch (level) {
    case ARIES_LOG_GUEST_ERROR:
        trace_aries_ub_model(s->node, line);
        qemu_log_mask(LOG_GUEST_ERROR, "aries-nic %u: %s\n", s->node, line);
        break;
    case ARIES_LOG_WARN:
        trace_aries_err_warn(s->node, line);
        /* A guest may be able to provoke a warning; it must not fill the host's disk. */
        if (qatomic_fetch_dec(&s->warn_budget) > 0) {
            warn_report("aries-nic %u: %s", s->node, line);
        } else {
            qatomic_set(&s->warn_budget, 0);
        }
        break;
    default:
        trace_aries_info(s->node, line);
        break;
    }
}

static void aries_host_trace(void *opaque, const char *event, uint64_t a, uint64_t b, uint64_t c)
{
    AriesNic *s = opaque;

    trace_aries_model(s->node, event, a, b, c);
}

/* timer_mod_ns() and timer_del() may be called by any thread. */
static void aries_host_timer(void *opaque, uint64_t delay_ns)
{
    AriesNic *s = opaque;

    if (delay_ns == UINT64_MAX) {
        timer_del(s->alarm);
    } else {
        timer_mod_ns(s->alarm, qemu_clock_get_ns(QEMU_CLOCK_REALTIME) + MIN(delay_ns, ARIES_ALARM_MAX_NS));
    }
}

/* The clock is the fabric's: it goes on while this guest is stopped. */
static void aries_alarm(void *opaque)
{
    AriesNic *s = opaque;

    if (s->live) {
        aries_nic_timer(s->nic);
        aries_irq_flush(s);
    }
}

/** Makes the timer behind aries_host_ops.timer; it lives until no vCPU can be in the model. */
void aries_host_init(AriesNic *s)
{
    s->alarm = timer_new_ns(QEMU_CLOCK_REALTIME, aries_alarm, s);
}

/*
 * Wrong bits in a memory of the NIC have stopped it: an uncorrectable internal error, fatal or not as the guest has set
 * it in the severity register of the AER capability (at first fatal). The model calls from its tick and its wake-up,
 * with the iothread lock held.
 */
static void aries_host_uncorrectable(void *opaque)
{
    AriesNic *s = opaque;
    PCIEAERErr err = {
        .status = PCI_ERR_UNC_INTN,
        .source_id = pci_requester_id(PCI_DEVICE(s)),
    };
    int rc = pcie_aer_inject_error(PCI_DEVICE(s), &err);

    trace_aries_uncorrectable(s->node, rc);
    if (rc < 0) {
        warn_report("aries-nic %u: an error has stopped the NIC, and its bus does not carry the message", s->node);
    }
}

const struct aries_host_ops aries_host_ops = {
    .api_version = ARIES_MODEL_API_VERSION,
    .irq = aries_host_irq,
    .log = aries_host_log,
    .trace = aries_host_trace,
    .timer = aries_host_timer,
    .uncorrectable = aries_host_uncorrectable,
};

static void aries_wake(void *opaque)
{
    AriesNic *s = opaque;

    trace_aries_wake(s->node);
    aries_nic_wake(s->nic);
    aries_irq_flush(s);
}

static void aries_tick(void *opaque)
{
    AriesNic *s = opaque;

    qatomic_set(&s->warn_budget, ARIES_WARN_BUDGET);
    aries_nic_tick(s->nic);
    aries_irq_flush(s);
    if (s->held && aries_ready(s)) {
        s->held = false;
        vm_start();
    }
    timer_mod(s->tick, qemu_clock_get_ms(QEMU_CLOCK_REALTIME) + ARIES_TICK_MS);
}

/*
 * What runs after a system reset does not know that somebody may still write to its memory. It has to wait until
 * nobody can; the monitor goes on to answer.
 */
static void aries_run_state(void *opaque, bool running, RunState state)
{
    AriesNic *s = opaque;

    if (running && s->live && !aries_ready(s)) {
        s->held = true;
        qemu_system_vmstop_request_prepare();
        qemu_system_vmstop_request(RUN_STATE_PAUSED);
    }
}

static QLIST_HEAD(, AriesNic) aries_nics = QLIST_HEAD_INITIALIZER(aries_nics);

/*
 * Of the whole machine, and for all NICs: one that is unplugged by the reset must not take a handler off the list that
 * is being gone through. Devices are reset another time, before or after this, which finds nothing to do.
 */
static void aries_system_reset(void *opaque)
{
    AriesNic *s;

    QLIST_FOREACH (s, &aries_nics, next) {
        device_cold_reset(DEVICE(s));
        if (!aries_ready(s) && runstate_is_running()) {
            trace_aries_hold(s->node);
            s->held = true;
            vm_stop(RUN_STATE_PAUSED);
        }
    }
}

/*
 * QEMU ends without finalizing its devices. Leaving the fabric here spares the
 * peers the wait for the end of the lease. A vCPU that may still run (QEMU ends
 * after an error) keeps us from it; then the lease does its work.
 */
static void aries_quit(Notifier *notifier, void *data)
{
    AriesNic *s = container_of(notifier, AriesNic, quit);

    /* Whatever comes: what the trace has gathered goes to its file. */
    aries_nic_set_trace(s->nic, NULL, 0, 0, NULL, 0);
    if (!runstate_is_running()) {
        aries_host_stop(s);
        aries_nic_destroy(s->nic);
        s->nic = NULL;
    }
}

/** Begins to serve the model: wake-ups by peers, ticks, interrupts. Iothread lock. */
void aries_host_start(AriesNic *s)
{
    static bool registered;

    s->live = true;
    s->warn_budget = ARIES_WARN_BUDGET;
    s->wake_fd = aries_nic_wake_fd(s->nic);
    if (s->wake_fd >= 0) {
        qemu_set_fd_handler(s->wake_fd, aries_wake, NULL, s);
    }
    /* Leases are about hosts being alive: they run on while the guest is stopped. */
    s->tick = timer_new_ms(QEMU_CLOCK_REALTIME, aries_tick, s);
    timer_mod(s->tick, qemu_clock_get_ms(QEMU_CLOCK_REALTIME) + ARIES_TICK_MS);
    s->quit.notify = aries_quit;
    qemu_add_exit_notifier(&s->quit);
    s->run_state = qemu_add_vm_change_state_handler(aries_run_state, s);
    QLIST_INSERT_HEAD(&aries_nics, s, next);
    if (!registered) {
        qemu_register_reset(aries_system_reset, NULL);
        registered = true;
    }
}

/** Undoes aries_host_start(); afterwards no interrupt is raised. Iothread lock. */
void aries_host_stop(AriesNic *s)
{
    if (!s->live) {
        return;
    }
    s->live = false;
    if (s->wake_fd >= 0) {
        qemu_set_fd_handler(s->wake_fd, NULL, NULL, NULL);
    }
    timer_free(s->tick);
    s->tick = NULL;
    qemu_remove_exit_notifier(&s->quit);
    qemu_del_vm_change_state_handler(s->run_state);
    QLIST_REMOVE(s, next);
}
