// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* An attached domain with a queue and an endpoint bound to node 6, over the fake kernel. */
#ifndef UGNI_TESTS_SESSION_HPP
#define UGNI_TESTS_SESSION_HPP

#include "cmocka_cpp.hpp"
#include "fake_kernel.hpp"
#include "objects.hpp"

struct Session {
	gni_cdm_handle_t cdm = nullptr;
	gni_nic_handle_t nic = nullptr;
	gni_cq_handle_t cq = nullptr;
	gni_ep_handle_t ep = nullptr;
	gni_mem_handle_t memory = {}; /* of the bytes below */
	alignas(64) unsigned char bytes[8192] = {};

	explicit Session(uint32_t modes = 0, uint32_t entries = 32)
	{
		uint32_t address = 0;

		fake::reset();
		fake::kernel().on_doorbell = [](fake::File &f, const fake::Doorbell &d) { fake::complete(f, d); };
		assert_rc(SUCCESS, GNI_CdmCreate(77, GNI_FIND_ALLOC_PTAG, 0x1234, modes, &cdm));
		assert_rc(SUCCESS, GNI_CdmAttach(cdm, 0, &address, &nic));
		assert_rc(SUCCESS, GNI_CqCreate(nic, entries, 0, GNI_CQ_BLOCKING, nullptr, nullptr, &cq));
		assert_rc(SUCCESS, GNI_EpCreate(nic, cq, &ep));
		assert_rc(SUCCESS, GNI_EpBind(ep, 6, 88));
		assert_rc(SUCCESS, GNI_MemRegister(nic, reinterpret_cast<uint64_t>(bytes), sizeof(bytes), nullptr, 0,
						   ~0U, &memory));
	}
	~Session() { (void)GNI_CdmDestroy(cdm); }
	Session(const Session &) = delete;
	Session &operator=(const Session &) = delete;

	fake::File &file() const { return fake::kernel().file(); }
	fake::Queue &queue() const { return *file().queues.begin()->second; }
	static fake::Doorbell last() { return fake::kernel().doorbells.back(); }

	/** Posts until there are ids to be used again: from then on the common posts, some at once, take the short
	 * ways.
	 */
	void post_a_while()
	{
		constexpr int32_t kAtOnce = 16;

		while (nic->requests.spare() < kAtOnce - 1) {
			gni_post_descriptor_t d[kAtOnce], *back = nullptr;
			gni_cq_entry_t e = 0;

			for (auto &one : d) {
				one = post(GNI_POST_FMA_PUT);
				assert_rc(SUCCESS, GNI_PostFma(ep, &one));
			}
			for (int32_t n = 0; n < kAtOnce; n++) {
				assert_rc(SUCCESS, GNI_CqGetEvent(cq, &e));
				assert_rc(SUCCESS, GNI_GetCompleted(cq, e, &back));
			}
		}
	}

	/** A mailbox of @size bytes, from @at on in the memory. */
	gni_smsg_attr_t mailbox(uint32_t at, uint32_t size, uint16_t credits)
	{
		gni_smsg_attr_t box = {};

		box.msg_type = GNI_SMSG_TYPE_MBOX;
		box.msg_buffer = bytes;
		box.mbox_offset = at;
		box.buff_size = size;
		box.mem_hndl = memory;
		box.mbox_maxcredit = credits;
		box.msg_maxsize = 64;
		return box;
	}

	/** A message queue for one other node, as small as can be. */
	static gni_msgq_attr_t small_queue(uint32_t messages)
	{
		gni_msgq_attr_t a = {};

		a.max_msg_sz = 64;
		a.smsg_q_sz = messages;
		a.rcv_pool_sz = 1;
		a.num_msgq_eps = 1;
		a.nloc_insts = 1;
		a.rcv_cq_sz = 8;
		return a;
	}
	static int ignore(uint32_t, uint32_t, void *, uint8_t, void *) { return 1; }

	/** A descriptor that is right in all points. */
	gni_post_descriptor_t post(gni_post_type_t type, uint64_t length = 8, uint16_t events = GNI_CQMODE_GLOBAL_EVENT)
	{
		gni_post_descriptor_t d = {};

		d.type = type;
		d.cq_mode = events;
		d.local_addr = reinterpret_cast<uint64_t>(bytes);
		d.local_mem_hndl = memory;
		d.remote_addr = 0x7f0000001000;
		d.remote_mem_hndl = memory;
		d.length = length;
		return d;
	}
};

#endif
