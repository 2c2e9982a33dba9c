/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declarations that the files of kgni_test.ko share: two clients that communicate, and macros by
 * which a test reports a failure.
 */
#ifndef KGNI_TEST_H
#define KGNI_TEST_H

#include <linux/mm.h>
#include <linux/seq_file.h>

#include "gni_pub.h"

#define KT_COOKIE \
	GNI_JOB_CREATE_COOKIE(GNI_PKEY_LND, 0) /* like an LND: tags of users may be used up */
#define KT_BYTES (64 * PAGE_SIZE)
#define KT_CREDITS 16
#define KT_LARGEST 2048
#define KT_WAIT_MS 60000 /* much longer than anything here takes */

/**
 * struct kt_side - one of two clients that communicate
 * @cdm: domain
 * @nic: attachment of the domain
 * @tx: queue for local events
 * @rx: queue for remote events
 * @ep: endpoint to the other side
 * @mem: memory of KT_BYTES
 * @handle: registration of @mem
 * @smsg: its mailbox, at the end of @mem
 * @address: address of this node
 * @tx_calls: calls of the handler of @tx
 * @rx_calls: calls of the handler of @rx
 */
struct kt_side {
	gni_cdm_handle_t cdm;
	gni_nic_handle_t nic;
	gni_cq_handle_t tx, rx;
	gni_ep_handle_t ep;
	u8 *mem;
	gni_mem_handle_t handle;
	gni_smsg_attr_t smsg;
	u32 address;
	atomic_t tx_calls, rx_calls;
};

extern struct kt_side kt[2];

/* Report a failure, and leave the test. */
#define KT_CHECK(m, condition)                                                         \
	do {                                                                           \
		if (!(condition)) {                                                    \
			seq_printf(m, "not ok: %s (line %d)\n", #condition, __LINE__); \
			return -EIO;                                                   \
		}                                                                      \
	} while (0)

#define KT_IS(m, call, code)                                                                 \
	do {                                                                                 \
		gni_return_t kt_rc = (call);                                                 \
		if (kt_rc != (code)) {                                                       \
			seq_printf(m, "not ok: %s: %d (line %d)\n", #call, kt_rc, __LINE__); \
			return -EIO;                                                         \
		}                                                                            \
	} while (0)

/* of kgni_test_side.c; functions that take a file report failures in it, and return -EIO then */
int kt_open(struct seq_file *m, unsigned int i);
int kt_connect(struct seq_file *m, unsigned int i);
int kt_close(struct seq_file *m, unsigned int i);
gni_return_t kt_event(gni_cq_handle_t cq, gni_cq_entry_t *entry);
int kt_completes(struct seq_file *m, gni_post_descriptor_t *d);
gni_post_descriptor_t kt_post_of(gni_post_type_t type, u64 local, u64 remote, u64 length);

#define KT_GOES_ON 2

/*
 * the tests; they return 0 if they passed, 1 if they passed and have closed the sides already,
 * KT_GOES_ON if they passed so far and traffic continues, or a negative errno
 */
int kt_test_process(struct seq_file *m);
int kt_test_spinlock(struct seq_file *m);
int kt_test_softirq(struct seq_file *m);
int kt_test_hardirq(struct seq_file *m);
int kt_test_transfers(struct seq_file *m);
int kt_test_segments(struct seq_file *m);
int kt_test_vmalloc(struct seq_file *m);
int kt_test_hold(struct seq_file *m);
int kt_test_later(struct seq_file *m);
int kt_test_messages(struct seq_file *m);
int kt_test_threads(struct seq_file *m);
int kt_test_refusals(struct seq_file *m);
int kt_test_datagrams(struct seq_file *m);
int kt_test_errors(struct seq_file *m);
int kt_test_errors_end(struct seq_file *m);
int kt_test_release(struct seq_file *m);
int kt_test_destroy(struct seq_file *m);
int kt_test_reset(struct seq_file *m);
int kt_test_traffic(struct seq_file *m);

/* of kgni_test_failing.c, for kernels with fault injection */
int kt_fail_attach(struct seq_file *m);
int kt_fail_queue(struct seq_file *m);
int kt_fail_endpoint(struct seq_file *m);
int kt_fail_registration(struct seq_file *m);
int kt_fail_segments(struct seq_file *m);
int kt_fail_mailbox(struct seq_file *m);
int kt_fail_datagram(struct seq_file *m);
int kt_fail_posts(struct seq_file *m);
int kt_fail_messages(struct seq_file *m);
int kt_fail_errors(struct seq_file *m);

/* of kgni_test_main.c: close both sides and open them again, with new queues and memory */
int kt_renew(struct seq_file *m);

/*
 * of kgni_test_flow.c: the sides are closed between the two calls; without traffic they do nothing
 */
void kt_traffic_stop(void);
void kt_traffic_free(void);

/* of kgni_test_context.c: wait until nothing of it runs any more */
void kt_context_end(void);

#endif
