/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * The nodes of the machine for programs (pkg-config cray-rca): who is there, and where.
 *
 * The library reads what the driver and the kernel's command line say, and keeps nothing between calls: any thread may
 * call any function at any time, and so may a child of fork(). The first NIC is the source, /sys/class/gni/kgni0.
 * Numbers and layouts are this project's own: programs are compiled against this header.
 */
#ifndef RCA_LIB_H
#define RCA_LIB_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum rs_node_type { rt_node = 1 };

/* State of a node; programs of the field compare with the numbers. */
enum rs_node_state {
	rns_absent = 0, /* it is not up: it was never there, was shut down, or has died */
	rns_ready = 7   /* it is up: its NIC serves requests */
};

/* A node. */
typedef union rs_node {
	uint64_t rs_node_flat; /* all of it in a word */
	struct {
		uint32_t _node_id;    /* which is also the address of its NIC */
		uint8_t _node_type;   /* rt_node */
		uint8_t _node_state;  /* enum rs_node_state */
		uint8_t _node_is_svc; /* 1: every node may provide services */
		uint8_t _node_rsvd;   /* 0 */
	} rs_node_s;
} rs_node_t;

/* Nodes. */
typedef struct rs_node_array {
	int na_len;
	rs_node_t *na_ids; /* for the caller to free() */
} rs_node_array_t;

/* Where the router of a node is. Nodes of one router have the same coordinates. */
typedef struct rca_mesh_coord {
	uint16_t mesh_x; /* group */
	uint16_t mesh_y; /* chassis in the group */
	uint16_t mesh_z; /* slot in the chassis */
} rca_mesh_coord_t;

typedef rca_mesh_coord_t mesh_coord_t;

/*
 * This node. 0; -EINVAL node is null, -ENODEV there is no NIC. While the NIC does not take part in its fabric, as in a
 * reset, the state is what it was before.
 */
int rca_get_nodeid(rs_node_t *node);

/*
 * All nodes of the machine in the order of their numbers, present or not. 0; -EINVAL, -ENODEV, -ENOMEM, each with an
 * empty list that may be freed as well.
 */
int rca_get_sysnodes(rs_node_array_t *nodes);

/*
 * Where a node is. 0; -EINVAL coordinates is null, -ENODEV, -ENOENT there is no such node, or nobody has said where it
 * is, -EIO what the machine has been told about its places (opengni.places) makes no sense.
 */
int rca_get_meshcoord(uint16_t nid, rca_mesh_coord_t *coordinates);

#ifdef __cplusplus
}
#endif

#endif /* RCA_LIB_H */
