// SPDX-License-Identifier: GPL-2.0-only
/* Two clients on one node, each with queues, memory and an endpoint to the other. */
#include <linux/delay.h>
#include <linux/slab.h>

#include "kgni_test.h"

struct kt_side kt[2];

static void kt_handler(uint32_t device_id, uint64_t data)
{
	struct kt_side *s = &kt[data >> 1];

	atomic_inc(data & 1 ? &s->rx_calls : &s->tx_calls);
}

int kt_open(struct seq_file *m, unsigned int i)
{
	struct kt_side *s = &kt[i];
	unsigned int bytes;

	s->mem = kzalloc(KT_BYTES, GFP_KERNEL);
	KT_CHECK(m, s->mem);
	KT_IS(m, gni_cdm_create(i, GNI_PTAG_LND, KT_COOKIE, 0, &s->cdm), GNI_RC_SUCCESS);
	KT_IS(m, gni_cdm_attach(s->cdm, 0, &s->address, &s->nic), GNI_RC_SUCCESS);
	KT_IS(m, gni_cq_create(s->nic, 256, 0, kt_handler, 2 * i, &s->tx), GNI_RC_SUCCESS);
	KT_IS(m, gni_cq_create(s->nic, 4096, 0, kt_handler, 2 * i + 1, &s->rx), GNI_RC_SUCCESS);
	KT_IS(m,
	      gni_mem_register(s->nic, (uintptr_t)s->mem, KT_BYTES, s->rx, GNI_MEM_READWRITE,
			       &s->handle),
	      GNI_RC_SUCCESS);
	s->smsg = (gni_smsg_attr_t){
		.msg_type = GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT,
		.mbox_maxcredit = KT_CREDITS,
		.msg_maxsize = KT_LARGEST,
		.mem_hndl = s->handle,
	};
	KT_IS(m, gni_smsg_buff_size_needed(&s->smsg, &bytes), GNI_RC_SUCCESS);
	KT_CHECK(m, bytes < KT_BYTES / 2);
	s->smsg.msg_buffer = s->mem;
	s->smsg.mbox_offset = KT_BYTES / 2;
	s->smsg.buff_size = bytes;
	return 0;
}

int kt_connect(struct seq_file *m, unsigned int i)
{
	struct kt_side *s = &kt[i];

	KT_IS(m, gni_ep_create(s->nic, s->tx, &s->ep), GNI_RC_SUCCESS);
	KT_IS(m, gni_ep_bind(s->ep, kt[!i].address, !i), GNI_RC_SUCCESS);
	KT_IS(m, gni_ep_set_eventdata(s->ep, 0x1000 + i, 0x2000 + i), GNI_RC_SUCCESS);
	KT_IS(m, gni_smsg_init(s->ep, &s->smsg, &kt[!i].smsg), GNI_RC_SUCCESS);
	return 0;
}

int kt_close(struct seq_file *m, unsigned int i)
{
	struct kt_side *s = &kt[i];

	KT_IS(m, gni_ep_destroy(s->ep), GNI_RC_SUCCESS);
	KT_IS(m, gni_mem_deregister(s->nic, &s->handle, 0), GNI_RC_SUCCESS);
	KT_IS(m, gni_cq_destroy(s->rx), GNI_RC_SUCCESS);
	KT_IS(m, gni_cq_destroy(s->tx), GNI_RC_SUCCESS);
	return 0;
}

/* Wait for the next event of a queue. */
gni_return_t kt_event(gni_cq_handle_t cq, gni_cq_entry_t *entry)
{
	gni_return_t rc;
	int i;

	for (i = 0; i < KT_WAIT_MS; i++) {
		rc = gni_cq_get_event(cq, entry);
		if (rc != GNI_RC_NOT_DONE)
			return rc;
		msleep(1);
	}
	return GNI_RC_TIMEOUT;
}

int kt_completes(struct seq_file *m, gni_post_descriptor_t *d)
{
	gni_post_descriptor_t *done;
	gni_cq_entry_t entry;

	KT_IS(m, kt_event(kt[0].tx, &entry), GNI_RC_SUCCESS);
	KT_CHECK(m, GNI_CQ_GET_INST_ID(entry) == 0x1000);
	KT_IS(m, gni_get_completed(kt[0].tx, entry, &done), GNI_RC_SUCCESS);
	KT_CHECK(m, done == d && d->status == GNI_RC_SUCCESS && d->post_id == 0x7e57);
	KT_IS(m, gni_get_completed(kt[0].tx, entry, &done), GNI_RC_DESCRIPTOR_ERROR);
	return 0;
}

gni_post_descriptor_t kt_post_of(gni_post_type_t type, u64 local, u64 remote, u64 length)
{
	return (gni_post_descriptor_t){
		.type = type,
		.post_id = 0x7e57,
		.cq_mode = GNI_CQMODE_GLOBAL_EVENT,
		.local_addr = local,
		.local_mem_hndl = kt[0].handle,
		.remote_addr = remote,
		.remote_mem_hndl = kt[1].handle,
		.length = length,
	};
}
