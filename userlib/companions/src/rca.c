// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "rca.h"

#include "rca_lib.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NIC "/sys/class/gni/kgni0/"
#define CMDLINE "/proc/cmdline"
#define PLACES " opengni.places="
#define TEXT_SIZE 4096 /* a page, which is also what sysfs gives at most */
#define NICS_PER_ROUTER 4

/* Most nodes that a fabric can name; what says more is no number of nodes. */
#define NODES_MOST 65536ul

struct shape {
	unsigned long slots, chassis;
};

struct range {
	unsigned long first, last;
};

const char *rca_root = "";

/* Reads a file whole, without its last newline. 0, or a negative errno. */
static int read_text(const char *path, char *text)
{
	char full[PATH_MAX];
	ssize_t got;
	int fd;

	if (snprintf(full, sizeof(full), "%s%s", rca_root, path) >= (int)sizeof(full))
		return -ENAMETOOLONG;
	fd = open(full, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	got = read(fd, text, TEXT_SIZE - 1);
	close(fd);
	if (got < 0)
		return -EIO;
	text[got] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return 0;
}

/* A number at the start of a text; null if there is none. Returns what is behind it. */
static const char *number(const char *text, unsigned long *value)
{
	char *end;

	if (*text < '0' || *text > '9')
		return NULL;
	*value = strtoul(text, &end, 10);
	return end;
}

/* The first range of a list such as "0-2,7"; null if there is none. Returns what is behind it and its comma. */
static const char *next_range(const char *list, struct range *range)
{
	list = number(list, &range->first);
	if (!list)
		return NULL;
	range->last = range->first;
	if (*list == '-')
		list = number(list + 1, &range->last);
	if (!list || range->last < range->first)
		return NULL;
	return *list == ',' ? list + 1 : list;
}

/* Nodes of the machine; -ENODEV if there is no NIC that says it. */
static long count_nodes(void)
{
	char text[TEXT_SIZE];
	unsigned long nodes;

	if (read_text(NIC "nodes", text) || !number(text, &nodes) || !nodes || nodes > NODES_MOST)
		return -ENODEV;
	return (long)nodes;
}

static rs_node_t absent(unsigned long nid)
{
	rs_node_t node = {.rs_node_flat = 0};

	node.rs_node_s._node_id = (uint32_t)nid;
	node.rs_node_s._node_type = rt_node;
	node.rs_node_s._node_state = rns_absent;
	node.rs_node_s._node_is_svc = 1;
	return node;
}

/* Marks which of the nodes from a number on are up. 0, -ENODEV. */
static int mark_up(rs_node_t *nodes, unsigned long from, unsigned long count)
{
	char text[TEXT_SIZE];
	const char *list = text;
	struct range range;

	if (read_text(NIC "nodes_up", text))
		return -ENODEV;
	while ((list = next_range(list, &range)))
		for (unsigned long i = 0; i < count; i++)
			if (range.first <= from + i && from + i <= range.last)
				nodes[i].rs_node_s._node_state = rns_ready;
	return 0;
}

int rca_get_nodeid(rs_node_t *node)
{
	char text[TEXT_SIZE];
	rs_node_t own;
	int rc;

	if (!node)
		return -EINVAL;
	if (read_text(NIC "address", text) || !*text)
		return -ENODEV;
	own = absent(strtoul(text, NULL, 0));
	rc = mark_up(&own, own.rs_node_s._node_id, 1);
	if (!rc)
		*node = own;
	return rc;
}

int rca_get_sysnodes(rs_node_array_t *nodes)
{
	rs_node_t *ids;
	long count;
	int rc;

	if (!nodes)
		return -EINVAL;
	nodes->na_len = 0;
	nodes->na_ids = NULL;
	count = count_nodes();
	if (count < 0)
		return (int)count;
	ids = calloc((size_t)count, sizeof(*ids));
	if (!ids)
		return -ENOMEM;
	for (long nid = 0; nid < count; nid++)
		ids[nid] = absent((unsigned long)nid);
	rc = mark_up(ids, 0, (unsigned long)count);
	if (rc) {
		free(ids);
		return rc;
	}
	nodes->na_len = (int)count;
	nodes->na_ids = ids;
	return 0;
}

/* The entry of a list of ranges: its nth number. 0, -ENOENT the list is shorter, -EIO it is none. */
static int entry(const char *list, unsigned long nth, unsigned long *value)
{
	struct range range;

	while (*list && *list != ' ') {
		list = next_range(list, &range);
		if (!list)
			return -EIO;
		if (nth <= range.last - range.first) {
			*value = range.first + nth;
			return 0;
		}
		nth -= range.last - range.first + 1;
	}
	return -ENOENT;
}

/*
 * The place of a node in its machine, and that machine's shape: from "opengni.places=SLOTSxCHASSIS:LIST" of the
 * kernel's command line. A machine that is told nothing has groups of full size, and node N at place N. 0, -ENOENT,
 * -EIO.
 */
static int find_place(unsigned long nid, struct shape *shape, unsigned long *place)
{
	char text[TEXT_SIZE];
	const char *at;

	shape->slots = 16;
	shape->chassis = 6;
	*place = nid;
	if (read_text(CMDLINE, text))
		return -EIO;
	at = strstr(text, PLACES);
	if (!at)
		return 0;
	at = number(at + strlen(PLACES), &shape->slots);
	if (!at || *at != 'x')
		return -EIO;
	at = number(at + 1, &shape->chassis);
	if (!at || *at != ':' || !shape->slots || !shape->chassis)
		return -EIO;
	return entry(at + 1, nid, place);
}

int rca_get_meshcoord(uint16_t nid, rca_mesh_coord_t *coordinates)
{
	unsigned long place, chassis;
	struct shape shape;
	long count;
	int rc;

	if (!coordinates)
		return -EINVAL;
	count = count_nodes();
	if (count < 0)
		return (int)count;
	if (nid >= count)
		return -ENOENT;
	rc = find_place(nid, &shape, &place);
	if (rc)
		return rc;
	chassis = place / NICS_PER_ROUTER / shape.slots;
	coordinates->mesh_x = (uint16_t)(chassis / shape.chassis);
	coordinates->mesh_y = (uint16_t)(chassis % shape.chassis);
	coordinates->mesh_z = (uint16_t)(place / NICS_PER_ROUTER % shape.slots);
	return 0;
}
