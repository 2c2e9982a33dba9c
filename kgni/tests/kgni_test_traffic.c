// SPDX-License-Identifier: GPL-2.0-only
/* Many messages, and many threads that share a queue. */
#include <linux/delay.h>
#include <linux/kthread.h>

#include "kgni_test.h"

int kt_test_messages(struct seq_file *m)
{
	static u8 text[KT_LARGEST];
	u32 sent = 0, got = 0, events = 0, bytes, i;
	gni_cq_entry_t entry;
	gni_return_t rc;
	void *header;

	while (got < 5000) {
		bytes = sent % 7 ? sent % 100 : sent * 37 % (KT_LARGEST + 1);
		memset(text, sent, bytes);
		rc = sent < 5000 ? gni_smsg_send(kt[0].ep, text, bytes / 2, text, bytes - bytes / 2,
						 sent)
				 : GNI_RC_NOT_DONE;
		KT_CHECK(m, rc == GNI_RC_SUCCESS || rc == GNI_RC_NOT_DONE);
		sent += rc == GNI_RC_SUCCESS;
		while (gni_cq_get_event(kt[0].tx, &entry) == GNI_RC_SUCCESS)
			events += GNI_CQ_GET_MSG_ID(entry) == events;
		if (rc == GNI_RC_SUCCESS && sent % 5)
			continue;
		while (gni_smsg_getnext(kt[1].ep, &header) == GNI_RC_SUCCESS) {
			bytes = got % 7 ? got % 100 : got * 37 % (KT_LARGEST + 1);
			for (i = 0; i < bytes; i++)
				KT_CHECK(m, ((u8 *)header)[i] == (u8)got);
			KT_IS(m, gni_smsg_release(kt[1].ep), GNI_RC_SUCCESS);
			got++;
		}
		while (gni_cq_get_event(kt[1].rx, &entry) == GNI_RC_SUCCESS)
			KT_CHECK(m, GNI_CQ_GET_REM_INST_ID(entry) == 0x2000);
	}
	while (events < sent) {
		KT_IS(m, kt_event(kt[0].tx, &entry), GNI_RC_SUCCESS);
		events++;
	}
	return 0;
}

#define KT_THREADS 4
#define KT_PUTS 2000

struct kt_thread {
	struct task_struct *task;
	gni_ep_handle_t ep;
	unsigned int place;
	u32 wrong;
};

/* Post on an endpoint of its own, and complete all events of the queue that the threads share. */
static int kt_thread_run(void *data)
{
	struct kt_thread *t = data;
	gni_post_descriptor_t d, *done;
	unsigned int n;
	gni_cq_entry_t entry;
	u64 value;

	for (n = 0; n < KT_PUTS; n++) {
		value = n;
		d = kt_post_of(GNI_POST_FMA_PUT, (uintptr_t)&value,
			       (uintptr_t)kt[1].mem + 8 * t->place, 8);
		WRITE_ONCE(d.prev_descr, NULL);
		while (gni_post_fma(t->ep, &d) == GNI_RC_ERROR_RESOURCE)
			cond_resched();
		while (!READ_ONCE(d.prev_descr)) {
			if (gni_cq_get_event(kt[0].tx, &entry) == GNI_RC_SUCCESS) {
				if (gni_get_completed(kt[0].tx, entry, &done) == GNI_RC_SUCCESS)
					WRITE_ONCE(done->prev_descr, done);
				else
					t->wrong++;
			}
			cond_resched();
		}
	}
	while (!kthread_should_stop())
		msleep(1);
	return 0;
}

int kt_test_threads(struct seq_file *m)
{
	struct kt_thread t[KT_THREADS] = {};
	unsigned int i, wrong = 0;

	for (i = 0; i < KT_THREADS; i++) {
		KT_IS(m, gni_ep_create(kt[0].nic, kt[0].tx, &t[i].ep), GNI_RC_SUCCESS);
		KT_IS(m, gni_ep_bind(t[i].ep, kt[1].address, 1), GNI_RC_SUCCESS);
		t[i].place = i;
		t[i].task = kthread_run(kt_thread_run, &t[i], "kgni-test/%u", i);
		KT_CHECK(m, !IS_ERR(t[i].task));
	}
	for (i = 0; i < KT_THREADS; i++) {
		kthread_stop(t[i].task);
		wrong += t[i].wrong;
		KT_IS(m, gni_ep_destroy(t[i].ep), GNI_RC_SUCCESS);
	}
	KT_CHECK(m, !wrong);
	return 0;
}
