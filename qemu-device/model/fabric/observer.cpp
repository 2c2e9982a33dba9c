/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/observer.hpp"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace aries
{

namespace
{

bool locked(int fd, off_t first, off_t count) noexcept
{
	struct flock fl = {};

	fl.l_type = F_WRLCK;
	fl.l_whence = SEEK_SET;
	fl.l_start = first;
	fl.l_len = count;
	return fcntl(fd, F_OFD_GETLK, &fl) < 0 || fl.l_type != F_UNLCK;
}

} // namespace

Observer::Observer(const std::string &path, Access access) : path_(path)
{
	const bool change = access == Access::Change;
	const auto failed = [&](const char *what) {
		const int why = errno;

		release();
		throw Error(std::string(what) + " fabric " + path + ": " + std::generic_category().message(why));
	};

	fd_ = open(path.c_str(), (change ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd_ < 0)
		failed("cannot open");
	try {
		read_header();
	} catch (...) {
		release();
		throw;
	}
	void *p = mmap(nullptr, total_, PROT_READ | (change ? PROT_WRITE : 0), MAP_SHARED | MAP_NORESERVE, fd_, 0);

	if (p == MAP_FAILED)
		failed("cannot map");
	base_ = static_cast<uint8_t *>(p);
}

Observer::~Observer()
{
	release();
}

void Observer::release() noexcept
{
	if (base_)
		munmap(base_, total_);
	if (fd_ >= 0)
		close(fd_);
	base_ = nullptr;
	fd_ = -1;
}

/* Values of the header are used only after they were checked against each other and the file. */
void Observer::read_header()
{
	uint8_t raw[sizeof(SegmentHeader)];
	const auto *head = reinterpret_cast<const SegmentHeader *>(raw);
	struct stat st = {};

	if (fstat(fd_, &st) < 0 || !S_ISREG(st.st_mode) || pread(fd_, raw, sizeof(raw), 0) != ssize_t(sizeof(raw)) ||
	    head->magic.load(std::memory_order_relaxed) != SEGMENT_MAGIC)
		throw Error(path_ + " is not a fabric: give the path of one that has members");
	if (head->version != SEGMENT_VERSION || head->layout != layout_hash())
		throw Error("fabric " + path_ +
			    " is of another version of the device: use the tool that was built with it");
	shape_ = {.nodes = head->nodes,
		  .routers_per_chassis = head->routers_per_chassis,
		  .chassis_per_group = head->chassis_per_group,
		  .machine_nodes = head->machine_nodes,
		  .network_bytes = head->network_bytes,
		  .router_bytes = 0};
	stride_ = head->node_stride;
	total_ = head->total_bytes;
	if (shape_.nodes < 1 || shape_.nodes > MEMBERS_MAX || stride_ < sizeof(NodeSlot) ||
	    stride_ >= uint64_t(1) << 32 || shape_.network_bytes >= uint64_t(1) << 40 ||
	    total_ < SEGMENT_NODES_OFFSET + shape_.nodes * stride_ + shape_.network_bytes ||
	    uint64_t(st.st_size) < total_)
		throw Error("fabric " + path_ + " is damaged: its header does not agree with its length");
	if (!any_member())
		throw Error("fabric " + path_ + " has no members: start a node first");
}

bool Observer::member_locked(uint32_t node) const noexcept
{
	return locked(fd_, node, 1);
}

bool Observer::any_member() const noexcept
{
	return locked(fd_, 0, MEMBERS_MAX);
}

/* Locks of offices are on bytes after the bytes of members. */
bool Observer::set_lock(Office office, short type) const noexcept
{
	struct flock fl = {};

	fl.l_type = type;
	fl.l_whence = SEEK_SET;
	fl.l_start = off_t(MEMBERS_MAX) + off_t(office);
	fl.l_len = 1;
	return fcntl(fd_, F_OFD_SETLK, &fl) == 0;
}

bool Observer::take(Office office) const noexcept
{
	return set_lock(office, F_WRLCK);
}

void Observer::give_back(Office office) const noexcept
{
	set_lock(office, F_UNLCK);
}

bool Observer::taken(Office office) const noexcept
{
	return locked(fd_, off_t(MEMBERS_MAX) + off_t(office), 1);
}

bool Observer::reserve_network(uint64_t offset, uint64_t bytes) const noexcept
{
	const uint64_t first = SEGMENT_NODES_OFFSET + shape_.nodes * stride_ + offset;
	int why = EINTR;

	while (why == EINTR)
		why = posix_fallocate(fd_, off_t(first), off_t(bytes));
	return why == 0;
}

} // namespace aries
