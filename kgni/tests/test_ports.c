// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which descriptor of the NIC an operation uses. No processor waits for another one, and no FMA
 * operation waits for a block transfer.
 */
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "sim_kernel.h"

#include "fabric.h"

#define COOKIE 0x1234
#define PTAG 7
#define ENDPOINTS 4

static struct {
	gni_cdm_handle_t cdm;
	gni_nic_handle_t nic;
	gni_cq_handle_t cq;
	gni_ep_handle_t ep[ENDPOINTS];
	gni_mem_handle_t mem;
	u64 data[16];
} node;

static void open_node(unsigned int ports)
{
	unsigned int i;
	u32 address;

	fabric_begin(1);
	fabric_ports_most = ports;
	assert_int_equal(gni_cdm_create(0, PTAG, COOKIE, 0, &node.cdm), GNI_RC_SUCCESS);
	assert_int_equal(gni_cdm_attach(node.cdm, 0, &address, &node.nic), GNI_RC_SUCCESS);
	assert_int_equal(gni_cq_create(node.nic, 64, 0, NULL, 0, &node.cq), GNI_RC_SUCCESS);
	assert_int_equal(gni_mem_register(node.nic, (uintptr_t)node.data, sizeof(node.data), NULL,
					  GNI_MEM_READWRITE, &node.mem),
			 GNI_RC_SUCCESS);
	for (i = 0; i < ENDPOINTS; i++) {
		assert_int_equal(gni_ep_create(node.nic, node.cq, &node.ep[i]), GNI_RC_SUCCESS);
		assert_int_equal(gni_ep_bind(node.ep[i], 0, 0), GNI_RC_SUCCESS);
	}
}

static void close_node(void)
{
	unsigned int i;

	for (i = 0; i < ENDPOINTS; i++)
		assert_int_equal(gni_ep_destroy(node.ep[i]), GNI_RC_SUCCESS);
	assert_int_equal(gni_mem_deregister(node.nic, &node.mem, 0), GNI_RC_SUCCESS);
	assert_int_equal(gni_cq_destroy(node.cq), GNI_RC_SUCCESS);
	assert_int_equal(gni_cdm_destroy(node.cdm), GNI_RC_SUCCESS);
	fabric_end();
}

/* Do a put and complete it. Return: number of the port that it has used. */
static int put(unsigned int ep, gni_post_type_t type)
{
	const bool block = type == GNI_POST_RDMA_PUT;
	gni_post_descriptor_t *done, d = { .type = type,
					   .cq_mode = GNI_CQMODE_GLOBAL_EVENT,
					   .local_addr = (uintptr_t)&node.data[0],
					   .local_mem_hndl = node.mem,
					   .remote_addr = (uintptr_t)&node.data[8],
					   .remote_mem_hndl = node.mem,
					   .length = 8 };
	gni_cq_entry_t entry;

	node.data[0]++;
	fabric_fma_port = -1;
	fabric_bte_port = -1;
	assert_int_equal(block ? gni_post_rdma(node.ep[ep], &d) : gni_post_fma(node.ep[ep], &d),
			 GNI_RC_SUCCESS);
	assert_int_equal(gni_cq_get_event(node.cq, &entry), GNI_RC_SUCCESS);
	assert_int_equal(gni_get_completed(node.cq, entry, &done), GNI_RC_SUCCESS);
	assert_ptr_equal(done, &d);
	assert_int_equal(node.data[8], node.data[0]);
	assert_int_equal(block ? fabric_fma_port : fabric_bte_port, -1);
	return block ? fabric_bte_port : fabric_fma_port;
}

/* FMA operations choose their port by processor, independent of the endpoint. */
static void processors(void **state)
{
	unsigned int ep;
	int port[2];

	(void)state;
	open_node(UINT_MAX);
	for (sim_processor = 0; sim_processor < 2; sim_processor++) {
		port[sim_processor] = put(0, GNI_POST_FMA_PUT);
		for (ep = 1; ep < ENDPOINTS; ep++)
			assert_int_equal(put(ep, GNI_POST_FMA_PUT), port[sim_processor]);
	}
	assert_int_not_equal(port[0], port[1]);
	close_node();
}

/*
 * Block transfers choose their port by endpoint, independent of the processor, because a fence
 * orders the transfers of one descriptor. Different endpoints use more than one port.
 */
static void transfers(void **state)
{
	unsigned int ep, used = 0;

	(void)state;
	open_node(UINT_MAX);
	for (ep = 0; ep < ENDPOINTS; ep++) {
		int port, fma;

		sim_processor = 0;
		port = put(ep, GNI_POST_RDMA_PUT);
		fma = put(ep, GNI_POST_FMA_PUT);
		assert_int_not_equal(port, fma);
		sim_processor = 1;
		assert_int_equal(put(ep, GNI_POST_RDMA_PUT), port);
		assert_int_not_equal(put(ep, GNI_POST_FMA_PUT), port);
		used |= 1u << port;
	}
	assert_true(used & (used - 1));
	close_node();
}

/* A single port is shared. With two, FMA operations and block transfers use different ones. */
static void scarce(void **state)
{
	(void)state;
	open_node(1);
	for (sim_processor = 0; sim_processor < 2; sim_processor++) {
		assert_int_equal(put(1, GNI_POST_FMA_PUT), 0);
		assert_int_equal(put(1, GNI_POST_RDMA_PUT), 0);
	}
	close_node();
	for (sim_processor = 0; sim_processor < 2; sim_processor++) {
		const unsigned int here = sim_processor;

		open_node(2);
		sim_processor = here;
		assert_int_not_equal(put(1, GNI_POST_FMA_PUT), put(1, GNI_POST_RDMA_PUT));
		close_node();
	}
	fabric_begin(1);
	fabric_ports_most = 0;
	assert_int_equal(gni_cdm_create(0, PTAG, COOKIE, 0, &node.cdm), GNI_RC_SUCCESS);
	assert_int_equal(gni_cdm_attach(node.cdm, 0, &(u32){ 0 }, &node.nic),
			 GNI_RC_ERROR_RESOURCE);
	assert_int_equal(gni_cdm_destroy(node.cdm), GNI_RC_SUCCESS);
	fabric_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processors),
		cmocka_unit_test(transfers),
		cmocka_unit_test(scarce),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
