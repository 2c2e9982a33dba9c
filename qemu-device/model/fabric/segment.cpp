/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/segment.hpp"
#include "fabric/member_socket.hpp"
#include "fabric/tables_store.hpp"

#include <cerrno>
#include <ctime>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace aries
{

namespace
{

constexpr int CREATE_TRIES = 500; /* of 10 ms: how long another member may take to create the file */

uint64_t round_up(uint64_t value, uint64_t unit)
{
	return (value + unit - 1) / unit * unit;
}

/** MiB with one decimal, rounded up. */
std::string mib(uint64_t bytes)
{
	const uint64_t tenths = (bytes * 10 + (1 << 20) - 1) >> 20;

	return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
}

std::string errno_text(const std::string &what)
{
	return what + ": " + std::generic_category().message(errno);
}

struct flock member_lock(short type, off_t first, off_t count)
{
	struct flock fl = {};

	fl.l_type = type;
	fl.l_whence = SEEK_SET;
	fl.l_start = first;
	fl.l_len = count;
	return fl;
}

/** Short-term lock on the whole file: creation and removal. */
void lock_file(int fd, const std::string &path)
{
	for (int i = 0; i < CREATE_TRIES; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return;
		usleep(10000);
	}
	throw Error("fabric " + path + " stays locked by another process: stop it or use another fabric path");
}

} // namespace

uint64_t now_ns() noexcept
{
	timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return uint64_t(ts.tv_sec) * 1'000'000'000u + uint64_t(ts.tv_nsec);
}

Segment::Segment(const std::string &path, const SegmentShape &shape, uint32_t node)
	: path_(path), nodes_(shape.nodes), node_(node)
{
	stride_ = round_up(sizeof(NodeSlot) + uint64_t(shape.nodes) * sizeof(Flights), 4096);
	total_ = round_up(network_offset() + shape.network_bytes, 4096) + nodes_ * sizeof(CarryArea);
	try {
		/* The last member may remove the file between our open and our lock. */
		while (!open_file())
			release();
		adopt_or_create(shape);
		if (!lock_member(node))
			throw Error("node address " + std::to_string(node) + " of fabric " + path_ +
				    " is in use: give this NIC another address or stop the other member");
	} catch (...) {
		release();
		throw;
	}
}

void Segment::remove_files_beside() const noexcept
{
	TablesStore::remove_all(path_);
	remove_beside(path_, NEWS_BESIDE);
	remove_beside(path_, UNFINISHED_NEWS_BESIDE);
}

Segment::~Segment()
{
	if (fd_ >= 0 && flock(fd_, LOCK_EX | LOCK_NB) == 0) {
		struct flock fl = member_lock(F_UNLCK, node_, 1);

		fcntl(fd_, F_OFD_SETLK, &fl);
		if (!any_member() && named()) {
			remove_sockets();
			unlink(path_.c_str());
			remove_files_beside(); /* after the segment: see FileBeside::write() */
		}
	}
	release();
}

void Segment::let_others_in() noexcept
{
	flock(fd_, LOCK_UN);
}

/* Removes sockets of members that were killed. */
void Segment::remove_sockets() const noexcept
{
	for (uint32_t n = 0; n < nodes_; n++) {
		for (const char *kind : SOCKET_KINDS)
			remove_socket(AT_FDCWD, SocketName(path_, kind, n).text);
	}
}

void Segment::release() noexcept
{
	if (base_)
		munmap(base_, total_);
	if (fd_ >= 0)
		close(fd_);
	base_ = nullptr;
	fd_ = -1;
}

/* Return: false if the name belongs to another file by now. */
bool Segment::open_file()
{
	struct stat mine;

	fd_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd_ < 0)
		throw Error(errno_text("cannot open fabric " + path_) +
			    ": give a path that can be written, as under /dev/shm");
	lock_file(fd_, path_);
	if (fstat(fd_, &mine) < 0)
		throw Error(errno_text("cannot examine fabric " + path_));
	if (!S_ISREG(mine.st_mode))
		throw Error("fabric " + path_ + " is not a file: give the path of a file to be created");
	return named();
}

/* Whether the file that we have open still has the fabric's name. */
bool Segment::named() const noexcept
{
	struct stat mine, now;

	return fstat(fd_, &mine) == 0 && lstat(path_.c_str(), &now) == 0 && mine.st_dev == now.st_dev &&
	       mine.st_ino == now.st_ino;
}

bool Segment::any_member() const
{
	struct flock fl = member_lock(F_WRLCK, 0, MEMBERS_MAX);

	return fcntl(fd_, F_OFD_GETLK, &fl) < 0 || fl.l_type != F_UNLCK;
}

bool Segment::member_locked(uint32_t node) const noexcept
{
	struct flock fl = member_lock(F_WRLCK, node, 1);

	if (node == node_ || held_[node])
		return true; /* locks of our own file description do not conflict with each other */
	return fcntl(fd_, F_OFD_GETLK, &fl) < 0 || fl.l_type != F_UNLCK;
}

bool Segment::lock_member(uint32_t node)
{
	struct flock fl = member_lock(F_WRLCK, node, 1);

	return fcntl(fd_, F_OFD_SETLK, &fl) == 0;
}

/* Called with the file locked. A file without living members is made anew, whatever its version. */
void Segment::adopt_or_create(const SegmentShape &shape)
{
	struct stat st;

	if (fstat(fd_, &st) < 0)
		throw Error(errno_text("cannot examine fabric " + path_));
	if (any_member()) {
		check_header(shape);
		if (uint64_t(st.st_size) < total_)
			throw Error("fabric " + path_ + " is shorter than its header says: stop its members and retry");
		map();
		return;
	}
	if (st.st_size > 0)
		check_ours();
	remove_files_beside();
	allocate(shape.router_bytes);
	map();
	write_header(shape);
}

/*
 * Prevents writing to a foreign file that was named by mistake: a file with contents must begin with the magic number
 * of a fabric, or of a fabric whose creator died.
 */
void Segment::check_ours() const
{
	uint64_t magic = 0;

	if (pread(fd_, &magic, sizeof(magic), 0) != ssize_t(sizeof(magic)) ||
	    (magic != SEGMENT_MAGIC && magic != SEGMENT_BEING_MADE))
		throw Error("fabric " + path_ + " exists and is not a fabric: give another path, or remove the file");
}

void Segment::check_header(const SegmentShape &shape) const
{
	uint8_t raw[sizeof(SegmentHeader)];
	auto *head = reinterpret_cast<const SegmentHeader *>(raw);
	auto differs = [this](const char *what, uint64_t theirs, uint64_t ours) {
		if (theirs != ours)
			throw Error("fabric " + path_ + " has " + what + " " + std::to_string(theirs) +
				    ", this program wants " + std::to_string(ours) +
				    ": stop its members first or use another fabric path");
	};

	if (pread(fd_, raw, sizeof(raw), 0) != ssize_t(sizeof(raw)) ||
	    head->magic.load(std::memory_order_relaxed) != SEGMENT_MAGIC)
		throw Error("fabric " + path_ + " is not a fabric: give another path");
	differs("layout version", head->version, SEGMENT_VERSION);
	differs("layout hash", head->layout, layout_hash());
	differs("nodes", head->nodes, shape.nodes);
	differs("machine nodes", head->machine_nodes, shape.machine_nodes);
	differs("routers per chassis", head->routers_per_chassis, shape.routers_per_chassis);
	differs("chassis per group", head->chassis_per_group, shape.chassis_per_group);
	differs("bytes per node", head->node_stride, stride_);
	differs("bytes of network state", head->network_bytes, shape.network_bytes);
	differs("bytes in total", head->total_bytes, total_);
}

int Segment::make_room(uint64_t offset, uint64_t bytes) const noexcept
{
	int why = EINTR;

	while (why == EINTR)
		why = posix_fallocate(fd_, off_t(offset), off_t(bytes));
	return why;
}

bool Segment::reserve_network(uint64_t offset, uint64_t bytes) const noexcept
{
	return make_room(network_offset() + offset, bytes) == 0;
}

bool Segment::reserve_carry(uint32_t node) const noexcept
{
	return make_room(network_end() + node * sizeof(CarryArea), sizeof(CarryArea)) == 0;
}

/*
 * Allocates the file now, including the parts of later members, because a store into a file that cannot grow ends the
 * process. Two parts stay holes: the routers (@hole_bytes), thousands of which may never be used, and the areas for
 * requests to other hosts, which most nodes never use. After a crash in between, the file is empty or begins with
 * SEGMENT_BEING_MADE.
 */
void Segment::allocate(uint64_t hole_bytes)
{
	const uint64_t magic = SEGMENT_BEING_MADE, hole_end = network_offset() + hole_bytes;
	const bool marked = ftruncate(fd_, 0) == 0 && pwrite(fd_, &magic, sizeof(magic), 0) == ssize_t(sizeof(magic));
	int why = marked ? make_room(0, network_offset()) : errno;

	if (!why)
		why = make_room(hole_end, network_end() - hole_end);
	if (!why && ftruncate(fd_, off_t(total_)) < 0)
		why = errno;
	if (!why)
		return;
	struct statvfs fs = {};
	const bool known = why == ENOSPC && ftruncate(fd_, 0) == 0 && fstatvfs(fd_, &fs) == 0;

	unlink(path_.c_str());
	throw Error("no space for fabric " + path_ + ": " + std::generic_category().message(why) +
		    (known ? " (needs " + mib(network_end() - hole_bytes) + " MiB, free are " +
				     mib(fs.f_bavail * fs.f_frsize) + ")"
			   : "") +
		    ": make room there, give another path or fewer nodes");
}

void Segment::write_header(const SegmentShape &shape)
{
	SegmentHeader *head = &header();

	head->version = SEGMENT_VERSION;
	head->layout = layout_hash();
	head->nodes = shape.nodes;
	head->routers_per_chassis = shape.routers_per_chassis;
	head->chassis_per_group = shape.chassis_per_group;
	head->machine_nodes = shape.machine_nodes;
	head->node_stride = stride_;
	head->network_bytes = shape.network_bytes;
	head->total_bytes = total_;
	head->origin_ns = now_ns();
	head->magic.store(SEGMENT_MAGIC, std::memory_order_release);
}

void Segment::map()
{
	void *p = mmap(nullptr, total_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd_, 0);

	if (p == MAP_FAILED)
		throw Error(errno_text("cannot map fabric " + path_));
	base_ = static_cast<uint8_t *>(p);
}

} // namespace aries
