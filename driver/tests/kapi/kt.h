/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * aries_kapi_test.ko: a client of aries.ko that tests its kernel interface (aries_kapi.h).
 *
 *   kt_main     the module, its files in debugfs, its binding
 *   kt_side     the NIC; an owner with one object of each kind, and its operations
 *   kt_context  the same operations in process, spinlock, softirq and interrupt context
 *   kt_objects  memory, held numbers, access rights, order, errors
 *   kt_events   datagrams, and events delivered to an owner
 *   kt_traffic  traffic that continues while the NIC is reset
 */
#ifndef KT_H
#define KT_H

#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "aries_compat.h"
#include "aries_kapi.h"

#define KT_COOKIE 0x6b74e570u
#define KT_BYTES (16 * PAGE_SIZE)
#define KT_BLOCK 40000u
#define KT_WAIT (60 * HZ) /* far longer than any test takes */
#define KT_EVENT_LOCAL 0x00115500u
#define KT_EVENT_REMOTE 0x00225500u

/**
 * struct kt_side - an owner with one object of each kind
 * @own: owner
 * @port: its FMA descriptor
 * @source: queue for local events, polled
 * @target: queue for remote events; its handler polls it
 * @region: registration of @mem
 * @info: information about @region
 * @mem: memory of KT_BYTES bytes
 * @came: number of entries that the handler has found
 * @last: the last entry
 */
struct kt_side {
	struct aries_owner *own;
	struct aries_port *port;
	struct aries_cq *source;
	struct aries_cq *target;
	struct aries_region *region;
	struct aries_region_info info;
	u8 *mem;
	atomic_t came;
	u64 last;
};

/* kt_side.c */
extern struct aries_dev *kt_dev;
extern struct aries_info kt_info;

__printf(3, 4) int kt_fail(struct seq_file *m, int line, const char *format, ...);
#define KT_FAIL(m, ...) kt_fail(m, __LINE__, __VA_ARGS__)

int kt_open(struct kt_side *s, u32 cookie, u32 inst);
int kt_open_told(struct kt_side *s, const struct aries_owner_args *args);
int kt_close(struct kt_side *s);
int kt_put8(struct kt_side *from, struct kt_side *to, u64 at, u64 value);
int kt_block(struct kt_side *from, struct kt_side *to, u32 bytes);
int kt_done(u64 entry, unsigned int source);

/* kt_context.c */
int kt_test_process(struct seq_file *m);
int kt_test_spinlock(struct seq_file *m);
int kt_test_softirq(struct seq_file *m);
int kt_test_hardirq(struct seq_file *m);

/* kt_objects.c */
int kt_test_memory(struct seq_file *m);
int kt_test_hold(struct seq_file *m);
int kt_test_errors(struct seq_file *m);
int kt_test_order(struct seq_file *m);
int kt_test_domains(struct seq_file *m);

/* kt_events.c */
int kt_test_datagrams(struct seq_file *m);
int kt_test_told(struct seq_file *m);

/* kt_traffic.c */
int kt_traffic_start(void);
void kt_traffic_stop(void);
void kt_traffic_counts(struct seq_file *m);

#endif /* KT_H */
