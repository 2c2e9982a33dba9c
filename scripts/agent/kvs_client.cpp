// SPDX-License-Identifier: GPL-2.0-or-later
// Copyright (c) 2026 The OpenGNI authors
/** @file gni-kvs: the key-value service of the cluster, from a shell in the guest. */
#include "kvs.hpp"

#include "client.hpp"

#include <cstdio>
#include <cstdlib>

namespace agent
{

int kvs_main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: gni-kvs put KEY VALUE | get KEY [MS] | add KEY N | "
				"barrier NAME COUNT [MS] | del KEY\n");
		return 2;
	}
	const char *path = getenv("OPENGNI_KVS");
	const char *job = getenv("OPENGNI_JOB");
	std::string line(argv[1]);
	for (int i = 2; i < argc; i++)
		line.append(" ").append(argv[i]);
	try {
		kvs::Client client(kvs::Line(kvs::connect_unix(path ? path : "/run/opengni/kvs.sock")), job ? job : "",
				   kvs::forever);
		const std::string answer = client.ask(line, kvs::forever);
		if (!answer.empty())
			printf("%s\n", answer.c_str());
		return 0;
	} catch (const kvs::Error &error) {
		fprintf(stderr, "gni-kvs: %s\n", error.what());
		return 1;
	}
}

} // namespace agent
