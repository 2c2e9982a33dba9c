// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "list.h"

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <vector>

#include "common/device_file.h"
#include "common/failure.h"
#include "common/json.h"
#include "gni_pub.h"

namespace domain
{

using tools::format;
using tools::Json;
using Words = std::map<std::string, std::string>;

namespace
{

struct Resource {
	uint32_t kind;
	const char *name;
};

/* Those that an Aries has, and two that GNI does not name. */
constexpr Resource resources[] = {{GNI_JOB_RES_MDD, "mdd"},
				  {GNI_JOB_RES_CQ, "cq"},
				  {GNI_JOB_RES_FMA, "fma"},
				  {GNI_JOB_RES_SFMA, "fma_users"},
				  {GNI_JOB_RES_RMDA, "bte"},
				  {GNI_JOB_RES_CE, "ce"},
				  {GNI_JOB_RES_IOMMU, "pinned_bytes"},
				  {KGNI_RES_DGRAM, "datagrams"},
				  {KGNI_RES_RECV, "receives"}};

struct Use {
	const char *name;
	uint64_t used, limit;
};

struct Domain {
	uint8_t ptag;
	std::vector<Use> uses;
	Words job;                  /* words of the driver's view; empty without rights */
	std::vector<Words> holders; /* the same */
};

/* A view of the driver, line by line; false without rights, or where debugfs is not mounted. */
bool read_view(uint32_t device, const char *view, std::vector<Words> &lines)
{
	std::ifstream file(format("/sys/kernel/debug/aries/kgni%u/%s", device, view));
	if (!file)
		return false;
	for (std::string line; std::getline(file, line);)
		lines.push_back(words_of_line(line));
	return true;
}

std::string word(const Words &words, const char *name)
{
	const auto found = words.find(name);
	return found == words.end() ? std::string() : found->second;
}

std::vector<Domain> read_domains(uint32_t device)
{
	const tools::DeviceFile file(device);
	std::vector<Domain> domains;
	for (unsigned ptag = 1; ptag <= GNI_PTAG_MAX; ptag++) {
		Domain domain = {static_cast<uint8_t>(ptag), {}, {}, {}};
		for (const Resource &r : resources)
			if (const auto res = file.resource(r.kind, domain.ptag))
				domain.uses.push_back({r.name, res->used, res->total});
		if (!domain.uses.empty())
			domains.push_back(domain);
	}
	return domains;
}

void add_views(std::vector<Domain> &domains, const std::vector<Words> &jobs, const std::vector<Words> &contexts)
{
	for (Domain &domain : domains) {
		const std::string tag = std::to_string(domain.ptag);
		for (const Words &job : jobs)
			if (word(job, "ptag") == tag)
				domain.job = job;
		for (const Words &context : contexts)
			if (word(context, "ptag") == tag)
				domain.holders.push_back(context);
	}
}

/* A view's number, as one. */
Json number(const std::string &text)
{
	char *end = nullptr;
	const unsigned long long value = strtoull(text.c_str(), &end, 0);
	return text.empty() || *end ? Json() : Json(value);
}

Json to_json(const Domain &domain, bool views)
{
	Json resources = Json::object(), holders = views ? Json::array() : Json();
	for (const Use &use : domain.uses)
		resources.set(use.name, Json{{"used", use.used}, {"limit", use.limit}});
	for (const Words &holder : domain.holders)
		holders.add({{"pid", number(word(holder, "pid"))},
			     {"command", word(holder, "comm")},
			     {"state", word(holder, "state")},
			     {"instance", number(word(holder, "inst"))}});
	return {{"ptag", domain.ptag},
		{"resources", resources},
		{"job", number(word(domain.job, "job"))},
		{"attached", number(word(domain.job, "attached"))},
		{"holders", holders}};
}

void print_text(const std::vector<Domain> &domains, bool views)
{
	for (const Domain &domain : domains) {
		printf("ptag %u", domain.ptag);
		if (!word(domain.job, "job").empty())
			printf(", job %s, %s attached", word(domain.job, "job").c_str(),
			       word(domain.job, "attached").c_str());
		printf("\n   ");
		for (const Use &use : domain.uses)
			printf(" %s %" PRIu64 "/%" PRIu64, use.name, use.used, use.limit);
		putchar('\n');
		for (const Words &holder : domain.holders)
			printf("    held by %s, pid %s, instance %s, %s\n", word(holder, "comm").c_str(),
			       word(holder, "pid").c_str(), word(holder, "inst").c_str(),
			       word(holder, "state").c_str());
	}
	if (domains.empty())
		puts("no domains on this node");
	else if (!views)
		puts("who holds them is told to root only, where debugfs is mounted");
}

} // namespace

Words words_of_line(const std::string &line)
{
	std::istringstream text(line);
	std::vector<std::string> all;
	for (std::string one; text >> std::ws && text.good();) {
		if (text.peek() != '"') {
			text >> one;
			/* remarks belong to no name */
			const bool remark = one == "(implicit)" || one == "suspended";
			if (!remark || (!all.empty() && all.back() == "state"))
				all.push_back(one);
			continue;
		}
		text.get();
		std::getline(text, one, '"');
		all.push_back(one);
	}
	Words words;
	for (size_t n = 0; n + 1 < all.size(); n += 2)
		words[all[n]] = all[n + 1];
	return words;
}

void list(uint32_t device, bool json)
{
	std::vector<Domain> domains = read_domains(device);
	std::vector<Words> jobs, contexts;
	const bool views = read_view(device, "domains", jobs) && read_view(device, "contexts", contexts);
	add_views(domains, jobs, contexts);
	if (json) {
		Json all = Json::array();
		for (const Domain &domain : domains)
			all.add(to_json(domain, views));
		const Json out = {{"device", device}, {"holders_known", views}, {"domains", all}};
		std::cout << out.text(2) << '\n';
	} else {
		print_text(domains, views);
	}
}

} // namespace domain
