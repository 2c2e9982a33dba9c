// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * rca-helper: what librca says, for scripts and monitors that start a program and read its output.
 */
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include <rca_lib.h>

#include "common/command_line.h"
#include "common/failure.h"
#include "common/output.h"

namespace
{

using tools::Failure;
using tools::format;
using tools::UsageError;

constexpr const char *about = "Prints the number of this node, or the coordinates of a node in the machine.";

constexpr const char *footer =
	"Coordinates are three numbers in a line: group, chassis in the group, slot in the chassis.\n"
	"\n"
	"Exit status: 0 done, 1 there is no NIC or no such node, 2 wrong usage.";

void check(int rc, const char *what)
{
	if (rc)
		throw Failure(format("%s: %s", what, tools::errno_text(-rc)));
}

void print_node()
{
	rs_node_t node;

	check(rca_get_nodeid(&node), "this node");
	printf("%u\n", node.rs_node_s._node_id);
}

void print_coordinates(uint16_t nid)
{
	rca_mesh_coord_t at;

	check(rca_get_meshcoord(nid, &at), format("node %u", nid).c_str());
	printf("%d %d %d\n", at.mesh_x, at.mesh_y, at.mesh_z);
}

void run(int argc, char **argv)
{
	tools::CommandLine line("rca-helper", about, {"-i", "-C NID"}, footer);
	bool own = false;
	uint16_t nid = 0;

	line.flag("-i,--id", "prints the number of this node", own);
	line.number({"-C,-O,--coordinates", "NID", "prints the coordinates of node NID"}, nid, UINT16_MAX);
	if (!line.parse(argc, argv))
		return;
	if (own == line.given("--coordinates"))
		throw UsageError("say either -i or -C; see --help");
	if (own)
		print_node();
	else
		print_coordinates(nid);
}

} // namespace

int main(int argc, char **argv)
{
	int status = 0;

	try {
		run(argc, argv);
	} catch (const UsageError &error) {
		fprintf(stderr, "rca-helper: %s\n", error.what());
		status = 2;
	} catch (const std::exception &error) {
		fprintf(stderr, "rca-helper: %s\n", error.what());
		status = 1;
	}
	return tools::finish("rca-helper", status);
}
