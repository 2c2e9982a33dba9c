// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What monitors' transports, staging libraries and mappers do with librca: this node, the states of all, places. A line
 * for each node: its number, its state, its coordinates, and a star at this node.
 */
#include <rca_lib.h>

#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	rs_node_array_t nodes;
	rs_node_t own;
	int i;

	if (rca_get_nodeid(&own) || rca_get_sysnodes(&nodes))
		return 1;
	for (i = 0; i < nodes.na_len; i++) {
		const int nid = (int)nodes.na_ids[i].rs_node_s._node_id;
		mesh_coord_t at;

		if (rca_get_meshcoord((uint16_t)nid, &at))
			return 2;
		printf("%d %d %d %d %d%s\n", nid, nodes.na_ids[i].rs_node_s._node_state, at.mesh_x, at.mesh_y,
		       at.mesh_z, nid == (int)own.rs_node_s._node_id ? " *" : "");
	}
	free(nodes.na_ids);
	return 0;
}
