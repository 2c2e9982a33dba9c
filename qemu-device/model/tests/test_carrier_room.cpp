/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A host whose /dev/shm is full when the first request to another host wants its memory there. */
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/child.hpp"
#include "tests/scratch_mount.hpp"
#include "tests/two_hosts.hpp"

using namespace aries_test;

namespace
{

constexpr const char *REST = "/dev/shm/rest";

/* All that is left of the file system. */
bool fill_up()
{
	const std::string page(4096, 'x');
	const int fd = open(REST, O_WRONLY | O_CREAT, 0600);

	while (write(fd, page.data(), page.size()) > 0)
		;
	return fd >= 0 && close(fd) == 0;
}

/* Ticks, after which the last warning of host 0 has to say this. */
bool told(TwoHosts &p, const std::string &text)
{
	for (unsigned int i = 0; i < 3; i++)
		aries_nic_tick(p.a.nic());
	const std::lock_guard guard(p.a.warning_mutex);

	return p.a.warning.find(text + p.path[0]) != std::string::npos;
}

Outcome on_a_full_disk()
{
	if (!own_namespaces() || !scratch_mount("tmpfs", "/dev/shm", "size=24m"))
		return NO_MOUNT;
	TwoHosts p;

	if (!fill_up())
		return WRONG;
	for (unsigned int i = 0; i < 10; i++) {
		if (p.send(i) != ARIES_ST_QUEUE_FULL)
			return WRONG;
	}
	if (!told(p, "no space in fabric "))
		return WRONG;
	const unsigned int before = p.a.warnings;

	if (!told(p, "no space in fabric ") || p.a.warnings != before)
		return WRONG;
	unlink(REST);
	while (p.a.next_event(20))
		;
	if (p.send(11) != ARIES_ST_OK || p.event().status() != ARIES_ST_OK || p.there() != 11)
		return WRONG;
	return told(p, "there is space in fabric ") ? PASSED : WRONG;
}

/* Requests are refused as if too many were under way, one line tells why, and with room they go. No SIGBUS. */
TEST(no_room_for_requests)
{
	pass_in_child(on_a_full_disk);
}

} // namespace

TEST_MAIN("tests")
