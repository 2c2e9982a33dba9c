// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file librca on a host whose /sys and /proc are files of the test. */
#include "../../tests/cmocka_cpp.hpp"

#include "../src/rca.h"
#include "rca_lib.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace
{

std::string root;

void write(const std::string &path, const std::string &text)
{
	const std::filesystem::path full = root + path;
	std::filesystem::create_directories(full.parent_path());
	std::ofstream(full) << text;
}

void write_nic(const std::string &name, const std::string &text)
{
	write("/sys/class/gni/kgni0/" + name, text + "\n");
}

void write_places(const std::string &value)
{
	write("/proc/cmdline", "console=ttyS0 quiet opengni.nodes=9 opengni.places=" + value + " norandmaps\n");
}

/* Nine nodes, of which this is the third. */
int set_up(void **)
{
	char folder[] = "/tmp/test-rca-XXXXXX";
	assert_non_null(mkdtemp(folder));
	root = folder;
	rca_root = root.c_str();
	write_nic("address", "0x2");
	write_nic("nodes", "9");
	write_nic("nodes_up", "0-2,7");
	write("/proc/cmdline", "console=ttyS0 quiet opengni.nodes=9\n");
	return 0;
}

int tear_down(void **)
{
	std::filesystem::remove_all(root);
	return 0;
}

std::string states()
{
	rs_node_array_t nodes;
	std::string text;

	assert_int_equal(0, rca_get_sysnodes(&nodes));
	for (int nid = 0; nid < nodes.na_len; nid++) {
		assert_int_equal(nid, nodes.na_ids[nid].rs_node_s._node_id);
		assert_int_equal(rt_node, nodes.na_ids[nid].rs_node_s._node_type);
		text += std::to_string(nodes.na_ids[nid].rs_node_s._node_state);
	}
	free(nodes.na_ids);
	return text;
}

std::string place(uint16_t nid)
{
	rca_mesh_coord_t at;

	assert_int_equal(0, rca_get_meshcoord(nid, &at));
	return std::to_string(at.mesh_x) + " " + std::to_string(at.mesh_y) + " " + std::to_string(at.mesh_z);
}

void no_nic()
{
	rs_node_t node = {.rs_node_flat = 5};
	rs_node_array_t nodes = {3, &node};
	rca_mesh_coord_t at;

	assert_int_equal(-ENODEV, rca_get_nodeid(&node));
	assert_int_equal(5, node.rs_node_flat);
	assert_int_equal(-ENODEV, rca_get_sysnodes(&nodes));
	assert_int_equal(0, nodes.na_len);
	assert_null(nodes.na_ids);
	assert_int_equal(-ENODEV, rca_get_meshcoord(0, &at));
}

} // namespace

TEST_BETWEEN(own_node, set_up, tear_down)
{
	rs_node_t node;

	static_assert(sizeof(node) == sizeof(node.rs_node_flat));
	assert_int_equal(0, rca_get_nodeid(&node));
	assert_int_equal(2, node.rs_node_s._node_id);
	assert_int_equal(7, node.rs_node_s._node_state);
	write_nic("address", "0x1f");
	write_nic("nodes_up", "0-2,7,30");
	assert_int_equal(0, rca_get_nodeid(&node));
	assert_int_equal(31, node.rs_node_s._node_id);
	assert_int_equal(0, node.rs_node_s._node_state);
}

TEST_BETWEEN(all_nodes_with_their_states, set_up, tear_down)
{
	assert_string_equal("777000070", states().c_str());
	write_nic("nodes_up", "2");
	assert_string_equal("007000000", states().c_str());
	write_nic("nodes_up", "0-8");
	assert_string_equal("777777777", states().c_str());
	write_nic("nodes_up", "");
	assert_string_equal("000000000", states().c_str());
	write_nic("nodes", "3");
	write_nic("nodes_up", "1-200");
	assert_string_equal("077", states().c_str());
}

TEST_BETWEEN(places_of_a_machine_that_is_told_nothing, set_up, tear_down)
{
	write_nic("nodes", "1000");
	assert_string_equal("0 0 0", place(3).c_str());
	assert_string_equal("0 0 1", place(4).c_str());
	assert_string_equal("0 0 15", place(63).c_str());
	assert_string_equal("0 1 0", place(64).c_str());
	assert_string_equal("0 5 15", place(383).c_str());
	assert_string_equal("1 0 0", place(384).c_str());
}

TEST_BETWEEN(places_that_are_told, set_up, tear_down)
{
	write_places("4x2:0,30-32,95,5-7,1");
	assert_string_equal("0 0 0", place(0).c_str());
	assert_string_equal("0 1 3", place(1).c_str());
	assert_string_equal("0 1 3", place(2).c_str());
	assert_string_equal("1 0 0", place(3).c_str());
	assert_string_equal("2 1 3", place(4).c_str());
	assert_string_equal("0 0 1", place(7).c_str());
	assert_string_equal("0 0 0", place(8).c_str());
	write("/proc/cmdline", "quiet opengni.places=1x1:0-8\n"); /* the last word */
	assert_string_equal("2 0 0", place(8).c_str());
	assert_string_equal("1 0 0", place(7).c_str());
	write("/proc/cmdline", "quiet opengni.places=1x1:3\n");
	rca_mesh_coord_t at;
	assert_int_equal(-ENOENT, rca_get_meshcoord(8, &at));
}

TEST_BETWEEN(places_that_make_no_sense, set_up, tear_down)
{
	rca_mesh_coord_t at = {1, 2, 3};

	for (const char *bad :
	     {"", "4", "4x", "4x2", "4,2:0-8", "x2:0-8", "4x2:9-1,0-9", "4x2:0,x", "0x2:0-8", "4x0:0-8"}) {
		write_places(bad);
		assert_int_equal(-EIO, rca_get_meshcoord(8, &at));
	}
	assert_int_equal(1, at.mesh_x);
	for (const char *shorter : {"4x2:", "4x2:0-7"}) {
		write_places(shorter);
		assert_int_equal(-ENOENT, rca_get_meshcoord(8, &at));
	}
	write_places("4x2:0-9");
	assert_int_equal(-ENOENT, rca_get_meshcoord(9, &at));
	assert_int_equal(0, rca_get_meshcoord(8, &at));
	assert_int_equal(2, at.mesh_z);
}

TEST_BETWEEN(without_a_nic, set_up, tear_down)
{
	for (const char *bad : {"", "0", "x", "99999999999999999999"}) {
		rs_node_array_t nodes;
		write_nic("nodes", bad);
		assert_int_equal(-ENODEV, rca_get_sysnodes(&nodes));
	}
	std::filesystem::remove_all(root + "/sys");
	no_nic();
}

TEST_BETWEEN(nowhere_to_put_it, set_up, tear_down)
{
	assert_int_equal(-EINVAL, rca_get_nodeid(nullptr));
	assert_int_equal(-EINVAL, rca_get_sysnodes(nullptr));
	assert_int_equal(-EINVAL, rca_get_meshcoord(0, nullptr));
}

TEST_MAIN("librca")
