/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/peerfiles.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "fabric/quiet_thread.hpp"

namespace aries
{

namespace
{

constexpr uint64_t JOIN_NS = 2'000'000'000;     /* for all members that are there when this one joins */
constexpr uint64_t PATIENCE_NS = 1'000'000'000; /* for a member whose memory is needed and that has not answered */
constexpr uint64_t ASK_NS = 50'000'000;
constexpr uint64_t ASK_AGAIN_NS = 1'000'000'000;
constexpr std::chrono::milliseconds STEP(5);
constexpr useconds_t GARBAGE_US = 100; /* pause after an invalid datagram, so that a flood of them costs little */

constexpr uint32_t bit(MapCause cause)
{
	return uint32_t(1) << uint32_t(cause);
}

} // namespace

PeerFiles::PeerFiles(Segment &segment, Membership &members, Wake &wake)
	: segment_(segment), members_(members), wake_(wake), node_(members.node()),
	  socket_(segment.path(), RAM_SOCKET, node_, 0), peers_(std::make_unique<Peer[]>(segment.nodes()))
{
}

PeerFiles::~PeerFiles()
{
	stop_.store(true);
	shutdown(socket_.fd(), SHUT_RDWR);
	if (thread_.joinable())
		thread_.join();
}

void PeerFiles::serve()
{
	thread_ = quiet_thread([this] { receive(); });
}

bool PeerFiles::present(uint32_t node) noexcept
{
	/* Memory of a node on another host cannot be mapped here. */
	return node != node_ && !segment_.node(node).carrier.load() &&
	       members_.presence(node, now_ns()) == Presence::ALIVE;
}

/* Mutex held. */
bool PeerFiles::introduced(uint32_t node) const noexcept
{
	return peers_[node].incarnation == uint32_t(segment_.node(node).member.load() >> 32);
}

void PeerFiles::introduce() noexcept
{
	const uint64_t deadline = now_ns() + JOIN_NS;
	std::unique_lock guard(mutex_);
	bool missing = true;

	while (missing && now_ns() < deadline) {
		missing = false;
		segment_.for_each_joined([&](uint32_t n) {
			if (!present(n) || introduced(n))
				return;
			ask(n, now_ns(), ASK_NS);
			missing = true;
		});
		if (missing)
			arrived_.wait_for(guard, STEP);
	}
}

void PeerFiles::give(const aries_ram *ram, size_t count)
{
	std::vector<FileId> ids;
	std::vector<Descriptor> files;

	for (size_t i = 0; i < count; i++) {
		FileId id;
		uint64_t size;
		const MapCause cause = check_ram_file(ram[i].fd, id, size);

		if (cause != MapCause::NONE)
			throw Error(std::string("guest memory cannot be given to peers: ") + map_cause_text(cause));
		if (std::find(ids.begin(), ids.end(), id) != ids.end())
			continue;
		Descriptor ours(fcntl(ram[i].fd, F_DUPFD_CLOEXEC, 0));

		if (!ours)
			throw Error("guest memory cannot be given to peers: " + std::generic_category().message(errno));
		ids.push_back(id);
		files.push_back(std::move(ours));
	}
	const std::lock_guard guard(mutex_);

	own_.swap(files);
	segment_.for_each_joined([this](uint32_t n) {
		if (present(n))
			send(n, false);
	});
}

/* Mutex held. If the introduction cannot be delivered, the peer asks when it needs the memory. */
bool PeerFiles::send(uint32_t node, bool answer) noexcept
{
	Introduction head;
	std::array<int, ARIES_RAM_MAX> files;
	const Descriptor &door = peers_[node].door;
	sockaddr_un addr;

	head.node = node_;
	head.incarnation = uint32_t(segment_.node(node_).member.load() >> 32);
	head.answer = answer;
	head.files = uint32_t(own_.size());
	for (size_t i = 0; i < own_.size(); i++)
		files[i] = own_[i].get();
	if (introduced(node) && door)
		return send_introduction(door.get(), nullptr, 0, head, wake_.bell(), socket_.door(), files.data());
	return socket_.address(node, addr) &&
	       send_introduction(socket_.fd(), reinterpret_cast<const sockaddr *>(&addr), sizeof(addr), head,
				 wake_.bell(), socket_.door(), files.data());
}

/* Mutex held. */
void PeerFiles::ask(uint32_t node, uint64_t now, uint64_t pause_ns) noexcept
{
	Peer &peer = peers_[node];

	if (peer.asked_ns && now < peer.asked_ns + pause_ns)
		return;
	peer.asked_ns = now;
	send(node, true);
}

void PeerFiles::receive() noexcept
{
	while (!stop_.load()) {
		Introduction head;
		Passed passed;

		if (receive_introduction(socket_.fd(), head, passed))
			take(head, passed);
		else
			usleep(GARBAGE_US);
	}
}

/* The sender is not trusted: its values are checked only for fitting into our tables. */
void PeerFiles::take(const Introduction &head, Passed &passed) noexcept
{
	if (head.node >= segment_.nodes() || head.node == node_)
		return;
	const uint64_t member = segment_.node(head.node).member.load();
	Peer &peer = peers_[head.node];
	const std::lock_guard guard(mutex_);

	if (uint32_t(member >> 32) != head.incarnation ||
	    (uint32_t(member) != MEMBER_ALIVE && uint32_t(member) != MEMBER_JOINING))
		return;
	if (peer.incarnation != head.incarnation) {
		pending_.fetch_sub(uint32_t(std::popcount(peer.pending)));
		peer = Peer();
		peer.incarnation = head.incarnation;
	}
	if (passed.bell)
		wake_.learn(head.node, std::move(passed.bell));
	if (passed.door)
		peer.door = std::move(passed.door);
	const auto known = std::move(peer.files);

	peer.files = {};
	peer.count = 0;
	peer.refused = passed.lost ? MapCause::NO_DESCRIPTORS : MapCause::NONE;
	for (uint32_t i = 0; i < head.files; i++) {
		FileId id;
		uint64_t size;
		MapCause cause = check_ram_file(passed.files[i].get(), id, size);
		const auto same = std::find_if(known.begin(), known.end(), [&](const auto &file) {
			return file && file->id == id && file->size == size && !file->lossy();
		});

		if (cause == MapCause::NONE)
			peer.files[peer.count] =
				same != known.end() ? *same : PeerFile::map(passed.files[i].get(), cause);
		if (cause == MapCause::NONE)
			peer.count++;
		else if (peer.refused == MapCause::NONE)
			peer.refused = cause;
	}
	if (head.answer)
		send(head.node, false);
	arrived_.notify_all();
}

std::shared_ptr<const PeerFile> PeerFiles::find(uint32_t node, FileId id, MapCause &cause) noexcept
{
	const std::lock_guard guard(mutex_);
	const Peer &peer = peers_[node];

	cause = MapCause::NO_ANSWER;
	if (!introduced(node))
		return nullptr;
	for (uint32_t i = 0; i < peer.count; i++) {
		if (peer.files[i]->id == id && peer.files[i]->lossy()) {
			cause = MapCause::NOT_GIVEN; /* our descriptor is closed, so the peer has to pass the file again
						      */
			return nullptr;
		}
		if (peer.files[i]->id == id) {
			cause = MapCause::NONE;
			return peer.files[i];
		}
	}
	cause = peer.refused != MapCause::NONE ? peer.refused : MapCause::NOT_GIVEN;
	return nullptr;
}

bool PeerFiles::wait(uint32_t node, MapCause cause) noexcept
{
	if (cause != MapCause::CHANGING && cause != MapCause::NO_ANSWER && cause != MapCause::NOT_GIVEN)
		return false;
	std::unique_lock guard(mutex_);
	Peer &peer = peers_[node];
	const uint64_t now = now_ns();

	if (!peer.patience_ns)
		peer.patience_ns = now + PATIENCE_NS;
	if (now >= peer.patience_ns)
		return false;
	if (cause != MapCause::CHANGING)
		ask(node, now, ASK_NS);
	arrived_.wait_for(guard, STEP);
	return true;
}

void PeerFiles::reached(uint32_t node) noexcept
{
	const std::lock_guard guard(mutex_);

	peers_[node].patience_ns = 0;
	peers_[node].last = MapCause::NONE;
}

void PeerFiles::complain(uint32_t node, MapCause cause) noexcept
{
	const std::lock_guard guard(mutex_);
	Peer &peer = peers_[node];

	peer.failures++;
	peer.last = cause;
	if (cause == MapCause::NO_MEMORY_YET || (peer.told & bit(cause)))
		return;
	peer.told |= bit(cause);
	peer.pending |= bit(cause);
	pending_.fetch_add(1);
}

/* A peer that does not renew its lease does not run: datagrams would only wait in its socket. */
void PeerFiles::tick(uint64_t now) noexcept
{
	const std::lock_guard guard(mutex_);

	segment_.for_each_joined([&](uint32_t n) {
		const NodeSlot &slot = segment_.node(n);

		if (n != node_ && !slot.carrier.load() && uint32_t(slot.member.load()) == MEMBER_ALIVE &&
		    (!introduced(n) || peers_[n].last == MapCause::NOT_GIVEN ||
		     peers_[n].last == MapCause::TOO_SHORT) &&
		    now < slot.lease_ns.load() + members_.lease_ns())
			ask(n, now, ASK_AGAIN_NS);
	});
}

bool PeerFiles::poll(char *line, size_t len) noexcept
{
	if (!pending_.load())
		return false;
	const std::lock_guard guard(mutex_);

	for (uint32_t n = 0; n < segment_.nodes(); n++) {
		Peer &peer = peers_[n];

		if (!peer.pending)
			continue;
		const auto cause = MapCause(std::countr_zero(peer.pending));

		peer.pending &= peer.pending - 1;
		pending_.fetch_sub(1);
		snprintf(line, len, "memory of node %u (pid %u) cannot be reached, operations to it end with %s: %s", n,
			 segment_.node(n).pid.load(), cause == MapCause::PAGE_LOST ? "TRANSLATION" : "TIMEOUT",
			 map_cause_text(cause));
		return true;
	}
	return false;
}

void PeerFiles::describe(uint32_t node, char *text, size_t len) noexcept
{
	const std::lock_guard guard(mutex_);
	const Peer &peer = peers_[node];

	if (node == node_)
		snprintf(text, len, "memory in %zu files", own_.size());
	else if (peer.last != MapCause::NONE)
		snprintf(text, len, "memory not reached %llu times: %s", static_cast<unsigned long long>(peer.failures),
			 map_cause_text(peer.last));
	else
		snprintf(text, len, "memory in %u files", introduced(node) ? peer.count : 0);
}

} // namespace aries
