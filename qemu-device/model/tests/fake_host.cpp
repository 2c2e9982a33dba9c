/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/fake_host.hpp"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

namespace aries_test
{

namespace
{

/*
 * A test that fails is left by longjmp, without destructors: threads of what it had on its stack would go on in the
 * frames of the next one.
 */
[[maybe_unused]] const int abort_on_failure = setenv("CMOCKA_TEST_ABORT", "1", 0);

void on_irq(void *opaque, unsigned int vector)
{
	static_cast<FakeHost *>(opaque)->irqs[vector % 64]++;
}

void on_log(void *opaque, aries_log_level level, const char *line)
{
	auto *host = static_cast<FakeHost *>(opaque);

	if (level == ARIES_LOG_GUEST_ERROR) {
		host->guest_errors++;
	} else if (level == ARIES_LOG_WARN && !strncmp(line, "trace ", 6)) {
		host->trace_lines++;
		host->trace_line = line;
	} else if (level == ARIES_LOG_WARN) {
		std::lock_guard guard(host->warning_mutex);

		host->warnings++;
		host->warning = line;
	}
}

void on_trace(void *opaque, const char *event, uint64_t a, uint64_t, uint64_t)
{
	static_cast<FakeHost *>(opaque)->on_trace(event, a);
}

void on_timer(void *opaque, uint64_t delay_ns)
{
	auto *host = static_cast<FakeHost *>(opaque);

	host->timer_delay = delay_ns;
	host->timer_requests++;
}

void on_uncorrectable(void *opaque)
{
	static_cast<FakeHost *>(opaque)->uncorrectable++;
}

/*
 * The segments of this program and of the processes that it forks. They end in the middle of things, by a failed
 * assertion or by a signal, so what is left of all of them is removed when the program ends, and what a program left
 * that was killed itself when the next one begins.
 */
class Segments
{
public:
	Segments()
	{
		sweep([](pid_t owner) { return kill(owner, 0) && errno == ESRCH; });
	}

	~Segments()
	{
		if (getpid() == owner_)
			sweep([this](pid_t owner) { return owner == owner_; });
	}

	std::string prefix() const { return std::string(FOLDER) + "/" + NAME + std::to_string(owner_); }

private:
	static constexpr const char *FOLDER = "/dev/shm", *NAME = "aries-test.";
	const pid_t owner_ = getpid();

	template <typename Which> static void sweep(Which which)
	{
		std::error_code error; /* others sweep as well */

		for (const auto &entry : std::filesystem::directory_iterator(FOLDER, error)) {
			const std::string name = entry.path().filename();

			if (name.rfind(NAME, 0) == 0 && which(atoi(name.c_str() + strlen(NAME))))
				unlink(entry.path().c_str());
		}
	}
};

const Segments mine;

} // namespace

std::string fabric_path()
{
	static std::atomic<unsigned int> number;

	return mine.prefix() + "." + std::to_string(getpid()) + "." + std::to_string(number++);
}

FakeHost::FakeHost(const std::string &fabric, uint32_t node, const Options &options)
	: on_trace(options.on_trace), legacy_hole_(options.legacy_hole), used_(legacy_hole_ ? LEGACY_END : PAGE),
	  desc_area_(ARIES_BAR_DESC_SIZE + PAGE)
{
	const aries_host_ops ops = {
		ARIES_MODEL_API_VERSION, on_irq, on_log, on_trace ? aries_test::on_trace : nullptr, on_timer,
		on_uncorrectable};
	aries_config cfg = {};
	char err[256] = "";

	warning.reserve(sizeof(err)); /* the log must not fail */
	desc_base_ = desc_area_.data() + PAGE - reinterpret_cast<uintptr_t>(desc_area_.data()) % PAGE;
	cfg.api_version = ARIES_MODEL_API_VERSION;
	cfg.node = node;
	cfg.nodes = options.nodes;
	cfg.machine_nodes = options.machine_nodes;
	cfg.place = options.place;
	cfg.routers_per_chassis = options.routers_per_chassis;
	cfg.chassis_per_group = options.chassis_per_group;
	cfg.lease_ms = options.lease_ms;
	cfg.polled = options.polled;
	cfg.fabric = fabric.c_str();
	cfg.desc_area = desc_base_;
	nic_ = aries_nic_create(&cfg, &ops, this, err, sizeof(err));
	if (!nic_)
		throw std::string(err);

	fd_ = options.ram_file ? open(options.ram_file, O_RDWR | O_CREAT | O_CLOEXEC, 0600)
			       : memfd_create("ram", MFD_CLOEXEC | MFD_ALLOW_SEALING | options.memfd_flags);
	if (fd_ < 0 || ftruncate(fd_, LOW_BYTES + HIGH_BYTES) < 0 ||
	    (!options.ram_file && fcntl(fd_, F_ADD_SEALS, F_SEAL_SHRINK) < 0))
		throw std::string("no memory");
	void *p = mmap(nullptr, LOW_BYTES + HIGH_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);

	if (p == MAP_FAILED)
		throw std::string("no memory");
	memory_ = static_cast<uint8_t *>(p);
	if (options.share_ram)
		set_ram();
	aries_nic_set_bus_master(nic_, true);
	write32(ARIES_CTL_CONTROL, ARIES_CTL_CONTROL_ENABLE_MASK);
}

FakeHost::~FakeHost()
{
	if (nic_)
		aries_nic_destroy(nic_);
	if (memory_)
		munmap(memory_, LOW_BYTES + HIGH_BYTES);
	if (fd_ >= 0)
		close(fd_);
}

void FakeHost::set_ram(const aries_ram *more, size_t count) const
{
	std::vector<aries_ram> ram;
	char err[256] = "";

	if (legacy_hole_)
		ram = {{0, LEGACY_START, memory_, fd_, 0},
		       {LEGACY_END, LOW_BYTES - LEGACY_END, memory_ + LEGACY_END, fd_, LEGACY_END}};
	else
		ram = {{0, LOW_BYTES, memory_, fd_, 0}};
	ram.push_back({HIGH_GPA, HIGH_BYTES, memory_ + LOW_BYTES, fd_, LOW_BYTES});
	ram.insert(ram.end(), more, more + count);
	if (aries_nic_set_ram(nic_, ram.data(), ram.size(), err, sizeof(err)))
		throw std::string(err);
}

void FakeHost::restart()
{
	aries_nic_set_bus_master(nic_, true);
	aries_nic_reset(nic_);
	memset(desc_base_, 0, ARIES_BAR_DESC_SIZE);
	used_ = legacy_hole_ ? LEGACY_END : PAGE;
	queues_ = {};
	write32(ARIES_CTL_CONTROL, ARIES_CTL_CONTROL_ENABLE_MASK);
}

uint8_t *FakeHost::ram(uint64_t gpa) const
{
	return gpa >= HIGH_GPA ? memory_ + LOW_BYTES + (gpa - HIGH_GPA) : memory_ + gpa;
}

uint64_t FakeHost::alloc(uint64_t bytes)
{
	const uint64_t gpa = used_;

	used_ += (bytes + PAGE - 1) / PAGE * PAGE;
	assert_true(used_ <= LOW_BYTES);
	memset(ram(gpa), 0, bytes);
	return gpa;
}

void FakeHost::set_key(unsigned int ptag, uint32_t key) const
{
	write64(ARIES_PTAG_KEY_N(uint64_t(ptag)), ARIES_PTAG_KEY_VALID_MASK | key);
}

void FakeHost::enable_fmad(unsigned int index, unsigned int ptag, unsigned int owner, uint64_t extra) const
{
	write64(ARIES_FMAD_CTL_N(uint64_t(index)),
		ARIES_FMAD_CTL_ENABLE_MASK | uint64_t(ptag) << 8 | uint64_t(owner) << 16 | extra);
}

void FakeHost::make_cq(unsigned int cq, unsigned int log2, unsigned int owner, uint64_t extra)
{
	place_cq(cq, alloc(ARIES_CQ_HEADER_BYTES + (uint64_t(8) << log2)), log2, owner, extra);
}

void FakeHost::place_cq(unsigned int cq, uint64_t gpa, unsigned int log2, unsigned int owner, uint64_t extra)
{
	queues_[cq] = {gpa, log2, 0};
	write64(ARIES_CQ_BASE_N(uint64_t(cq)), gpa);
	write64(ARIES_CQ_CTL_N(uint64_t(cq)),
		ARIES_CQ_CTL_VALID_MASK | uint64_t(log2) << 8 | uint64_t(owner) << 16 | extra);
	assert_true(read(ARIES_CQ_CTL_N(uint64_t(cq)), 8) & ARIES_CQ_CTL_VALID_MASK);
}

Event FakeHost::next_event(unsigned int cq)
{
	Queue &queue = queues_[cq];
	auto *header = reinterpret_cast<uint64_t *>(ram(queue.gpa));
	auto *slots = reinterpret_cast<uint64_t *>(ram(queue.gpa + ARIES_CQ_HEADER_BYTES));
	uint64_t *slot = &slots[queue.consumed & ((uint64_t(1) << queue.log2) - 1)];
	const uint64_t word = __atomic_load_n(slot, __ATOMIC_ACQUIRE);

	if (word) {
		__atomic_store_n(slot, 0, __ATOMIC_RELAXED);
		__atomic_store_n(header, ++queue.consumed, __ATOMIC_RELEASE);
	}
	return Event{word};
}

Event FakeHost::wait_event(unsigned int cq, unsigned int ms)
{
	for (unsigned int i = 0; i < ms * 10; i++) {
		if (const Event event = next_event(cq))
			return event;
		usleep(100);
	}
	return Event{};
}

uint64_t FakeHost::make_mdd(unsigned int mdh, unsigned int ptag, uint64_t gpa, uint64_t bytes, uint64_t base,
			    uint64_t extra, bool writable)
{
	const uint64_t skew = base % PAGE;
	const uint64_t pages = (skew + bytes + PAGE - 1) / PAGE;
	const uint64_t leaves = (pages + ARIES_PTES_PER_PAGE - 1) / ARIES_PTES_PER_PAGE;
	const uint64_t directory = alloc(leaves * 8);
	const uint64_t table = alloc(leaves * PAGE);
	auto *dir = reinterpret_cast<uint64_t *>(ram(directory));
	auto *pte = reinterpret_cast<uint64_t *>(ram(table));

	assert_int_equal(gpa % PAGE, skew);
	for (uint64_t i = 0; i < leaves; i++)
		dir[i] = (table + i * PAGE) | ARIES_PTE_VALID;
	for (uint64_t i = 0; i < pages; i++)
		pte[i] = (gpa - skew + i * PAGE) | ARIES_PTE_VALID | (writable ? ARIES_PTE_WRITE : 0);
	write64(ARIES_MDD_BASE_N(uint64_t(mdh)), base & MASK40);
	write64(ARIES_MDD_LENGTH_N(uint64_t(mdh)), bytes);
	write64(ARIES_MDD_TABLE_N(uint64_t(mdh)), directory);
	write64(ARIES_MDD_CTL_N(uint64_t(mdh)), ARIES_MDD_CTL_VALID_MASK | ARIES_MDD_CTL_TWO_LEVEL_MASK |
							uint64_t(ptag) << 8 | uint64_t(12) << 16 | extra);
	assert_true(read(ARIES_MDD_CTL_N(uint64_t(mdh)), 8) & ARIES_MDD_CTL_VALID_MASK);
	return table;
}

bool FakeHost::invalidate(unsigned int mdh) const
{
	write32(ARIES_INV_MDD, mdh);
	for (int i = 0; i < 10000; i++) {
		if (!read(ARIES_INV_STATUS, 4))
			return true;
		usleep(100);
	}
	return false;
}

aries_fma_desc &FakeHost::desc(unsigned int index) const
{
	return *reinterpret_cast<aries_fma_desc *>(desc_base_ + index * ARIES_DESC_STRIDE + ARIES_DESC_FMA);
}

aries_fma_window &FakeHost::window(unsigned int index) const
{
	return *reinterpret_cast<aries_fma_window *>(desc_base_ + index * ARIES_DESC_STRIDE + ARIES_DESC_WINDOW);
}

uint32_t FakeHost::done(unsigned int index) const
{
	return *reinterpret_cast<uint32_t *>(desc_base_ + index * ARIES_DESC_STRIDE + ARIES_DESC_DONE);
}

uint8_t *FakeHost::line(unsigned int index) const
{
	return desc_base_ + index * ARIES_DESC_STRIDE + ARIES_DESC_LINE;
}

aries_bte_desc &FakeHost::slot(unsigned int index, unsigned int slot) const
{
	return reinterpret_cast<aries_bte_desc *>(desc_base_ + index * ARIES_DESC_STRIDE + ARIES_DESC_BTE)[slot];
}

uint32_t FakeHost::status(unsigned int index) const
{
	return reinterpret_cast<aries_fma_status *>(desc_base_ + index * ARIES_DESC_STRIDE + ARIES_DESC_STATUS)->status;
}

uint64_t *FakeHost::polled(unsigned int index) const
{
	return reinterpret_cast<uint64_t *>(desc_base_ + index * ARIES_DESC_STRIDE + ARIES_DESC_POLL);
}

bool FakeHost::awake(unsigned int index) const
{
	return __atomic_load_n(
		reinterpret_cast<const uint32_t *>(desc_base_ + index * ARIES_DESC_STRIDE + ARIES_DESC_AWAKE),
		__ATOMIC_ACQUIRE);
}

void FakeHost::store(unsigned int index, uint64_t at, unsigned int size, uint64_t value) const
{
	aries_nic_write(nic_, 2, uint64_t(index) * ARIES_FMA_STRIDE + at, size, value);
}

uint32_t FakeHost::ring(unsigned int index, unsigned int op, unsigned int bytes, unsigned int mode, unsigned int tid,
			unsigned int amo) const
{
	store(index, ARIES_FMA_DOORBELL + ARIES_DB_FMA, 8,
	      uint64_t(tid) | uint64_t(bytes) << 16 | uint64_t(op) << 32 | uint64_t(mode) << 40 | uint64_t(amo) << 48);
	return status(index);
}

uint32_t FakeHost::ring_bte(unsigned int index, unsigned int slot) const
{
	store(index, ARIES_FMA_DOORBELL + ARIES_DB_BTE, 8, slot);
	return status(index);
}

void FakeHost::main_loop(int wait_ms) const
{
	pollfd pfd = {aries_nic_wake_fd(nic_), POLLIN, 0};

	if (poll(&pfd, 1, wait_ms) > 0)
		aries_nic_wake(nic_);
	aries_nic_tick(nic_);
}

} // namespace aries_test
