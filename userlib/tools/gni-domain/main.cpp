// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * gni-domain: makes the communication domains of a job on this node, and removes them; what a launcher's daemon does
 * on a compute node. Prints the variables that ranks on this node need; lists the domains that there are.
 */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include "gni_pub.h"
#include "uapi/kgni_abi.h"

#include "common/command_line.h"
#include "common/failure.h"
#include "common/gni.h"
#include "common/output.h"
#include "common/wait.h"
#include "list.h"

using namespace tools;

namespace
{

constexpr const char *about =
	"Makes the communication domains of a job on this node, or removes them: what a launcher's daemon does.";

constexpr const char *footer =
	"Verbs:\n"
	"  create    makes a domain for each cookie under the number of a job and prints, for `export`,\n"
	"            PMI_GNI_PTAG, PMI_GNI_COOKIE, PMI_GNI_DEV_ID and PMI_GNI_LOC_ADDR; domains\n"
	"            that are there already stay\n"
	"  destroy   removes them; waits a second for processes that are just ending\n"
	"  list      shows the domains of this node by their protection tags: their limits and how\n"
	"            much of each is in use, and to root also jobs and processes; nobody is shown cookies\n"
	"\n"
	"create and destroy need the rights of an administrator.\n"
	"\n"
	"Exit status: 0 done, 1 refused, 2 wrong usage.";

enum class Verb { Create, Destroy, List };

struct Request {
	bool done = false; /* help or version was printed */
	Verb verb = Verb::List;
	bool json = false;
	uint64_t job = 0;
	std::vector<uint32_t> cookies;
	uint32_t device = 0;
};

std::vector<uint32_t> parse_cookies(const std::string &text)
{
	std::vector<uint32_t> cookies;
	std::istringstream words(text);
	for (std::string word; std::getline(words, word, ',');) {
		cookies.push_back(static_cast<uint32_t>(parse_number(word.c_str(), "--cookie", UINT32_MAX)));
		if (!cookies.back())
			throw UsageError("--cookie: 0 is no cookie");
	}
	return cookies;
}

Verb parse_verb(const std::string &what)
{
	if (what == "create")
		return Verb::Create;
	if (what == "destroy")
		return Verb::Destroy;
	if (what == "list")
		return Verb::List;
	throw UsageError("say create, destroy or list; see --help");
}

/* What goes with which operation. */
void check_request(const Request &request)
{
	if (request.verb == Verb::List && (request.job || !request.cookies.empty()))
		throw UsageError("list shows all domains: neither --job nor --cookie goes with it");
	if (request.verb != Verb::List && request.json)
		throw UsageError("--json is for list");
	if (request.verb != Verb::List && (request.cookies.empty() || !request.job))
		throw UsageError("--job and --cookie are needed");
}

Request parse(int argc, char **argv)
{
	CommandLine line(
		"gni-domain", about,
		{"create|destroy --job=ID --cookie=COOKIE[,COOKIE]... [--device=N]", "list [--json] [--device=N]"},
		footer);
	Request request;
	std::string what;

	line.word("VERB", "create, destroy or list, see below", what);
	line.number({"-j,--job", "ID", "number of the job"}, request.job, UINT64_MAX);
	line.option({"-c,--cookie", "COOKIE,...", "cookies of its domains"},
		    [&](const std::string &text) { request.cookies = parse_cookies(text); });
	line.number({"-d,--device", "N", "N of /dev/kgniN (default 0)"}, request.device, INT_MAX);
	line.flag("--json", "for list: prints JSON", request.json);
	request.done = !line.parse(argc, argv);
	if (request.done)
		return request;
	request.verb = parse_verb(what);
	check_request(request);
	return request;
}

/* What GNI has no call for: removing a domain. Waits for descriptors that the kernel is still closing. */
void remove_domain(int fd, const Request &request, uint32_t cookie)
{
	kgni_job job = {};
	job.argsz = sizeof(job);
	job.flags = KGNI_JOB_DESTROY;
	job.job_id = request.job;
	job.cookie = cookie;
	job.ptag = GNI_FIND_ALLOC_PTAG;
	const Deadline deadline(1.0);
	int error = 0;
	while ((error = ioctl(fd, KGNI_IOC_JOB, &job) == 0 ? 0 : errno) == EBUSY && !deadline.passed())
		usleep(10000);
	if (error)
		throw Failure(format("cookie 0x%08x: %s", cookie, errno_text(error)));
}

void destroy(const Request &request)
{
	const std::string path = format("/dev/kgni%u", request.device);
	const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
	if (fd < 0)
		throw Failure(format("%s: %s", path.c_str(), errno_text(errno)));
	std::string first;
	for (const uint32_t cookie : request.cookies) {
		try {
			remove_domain(fd, request, cookie);
		} catch (const Failure &failure) {
			first = first.empty() ? failure.what() : first; /* the others are removed all the same */
		}
	}
	close(fd);
	if (!first.empty())
		throw Failure(first);
}

void create(const Request &request)
{
	std::string tags, cookies, devices, addresses;
	uint32_t address = 0, cpu = 0;
	check(GNI_CdmGetNicAddress(request.device, &address, &cpu), "GNI_CdmGetNicAddress");
	for (const uint32_t cookie : request.cookies) {
		uint8_t tag = 0;
		check(GNI_ConfigureJob(request.device, request.job, GNI_FIND_ALLOC_PTAG, cookie, nullptr),
		      "GNI_ConfigureJob");
		check(GNI_GetPtag(request.device, cookie, &tag), "GNI_GetPtag");
		const char *mark = tags.empty() ? "" : ":";
		tags += mark + std::to_string(tag);
		cookies += mark + std::to_string(cookie);
		devices += mark + std::to_string(request.device);
		addresses += mark + std::to_string(address);
	}
	printf("PMI_GNI_PTAG=%s\nPMI_GNI_COOKIE=%s\nPMI_GNI_DEV_ID=%s\nPMI_GNI_LOC_ADDR=%s\n", tags.c_str(),
	       cookies.c_str(), devices.c_str(), addresses.c_str());
}

void carry_out(const Request &request)
{
	switch (request.verb) {
	case Verb::Create:
		create(request);
		break;
	case Verb::Destroy:
		destroy(request);
		break;
	case Verb::List:
		domain::list(request.device, request.json);
		break;
	}
}

} // namespace

int main(int argc, char **argv)
{
	try {
		const Request request = parse(argc, argv);
		if (!request.done)
			carry_out(request);
		return tools::finish("gni-domain", 0);
	} catch (const UsageError &error) {
		fprintf(stderr, "gni-domain: %s\n", error.what());
		return 2;
	} catch (const std::exception &error) {
		fprintf(stderr, "gni-domain: %s\n", error.what());
		return 1;
	}
}
