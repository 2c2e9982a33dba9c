// SPDX-License-Identifier: GPL-2.0-or-later
/** @file gni-kvs: the key-value service of the cluster, from a shell in the guest. */
#include "kvs.hpp"

#include "client.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace agent
{

namespace
{

constexpr char help_text[] = R"(usage: gni-kvs REQUEST

A request to the key-value service of the cluster, from a shell in the guest; its answer is printed.

  put KEY VALUE              sets a key; the value may have blanks
  get KEY [MS]               prints its value; waits so many milliseconds for one (default 60000)
  add KEY N                  adds to a number, from 0, and prints the sum
  barrier NAME COUNT [MS]    returns when COUNT callers are in
  del KEY                    forgets a key
  -h, --help                 this text
  -V, --version              prints the version

Keys and barriers have names of 1 to 128 letters, digits and ._:/- and belong to the job that OPENGNI_JOB names;
OPENGNI_KVS is the path of the socket.

Exit status: 0 done, 1 refused, timed out, or no service; 2 the command line is wrong.
)";

struct Verb {
	const char *name;
	int least, most; /* words after it */
};

constexpr Verb verbs[] = {{"put", 2, 1 << 20}, {"get", 1, 2}, {"add", 2, 2}, {"barrier", 2, 3}, {"del", 1, 1}};

bool complete(const std::string &verb, int words)
{
	return std::any_of(std::begin(verbs), std::end(verbs),
			   [&](const Verb &v) { return verb == v.name && words >= v.least && words <= v.most; });
}

} // namespace

int kvs_main(int argc, char **argv)
{
	const std::string word = argc > 1 ? argv[1] : "";
	if (word == "-h" || word == "--help") {
		fputs(help_text, stdout);
		return 0;
	}
	if (word == "-V" || word == "--version") {
		puts("gni-kvs (OpenGNI) " OPENGNI_VERSION);
		return 0;
	}
	if (!complete(word, argc - 2)) {
		fprintf(stderr, "gni-kvs: '%s' with %d words is not a request; see --help\n", word.c_str(),
			std::max(argc - 2, 0));
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
