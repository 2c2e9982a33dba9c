/* SPDX-License-Identifier: GPL-2.0-or-later */
/* No memory, at any point: what is asked for fails with a status or a text, and nothing ends the process. */
#include <atomic>
#include <cstdlib>
#include <new>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/child.hpp"
#include "tests/pair.hpp"

namespace
{

std::atomic<int> left{-1}; /* allocations until one fails; negative: none does */
std::atomic<bool> failed{false};
bool for_ever = false; /* all that follow fail too */

void *allocate(std::size_t bytes)
{
	const int now = left.load() < 0 ? -1 : left.fetch_sub(1);

	if (now == 0 || (for_ever && failed.load())) {
		failed.store(true);
		return nullptr;
	}
	return std::malloc(bytes ? bytes : 1);
}

} // namespace

void *operator new(std::size_t bytes)
{
	if (void *p = allocate(bytes))
		return p;
	throw std::bad_alloc();
}

void *operator new(std::size_t bytes, std::align_val_t align)
{
	const std::size_t unit = std::size_t(align);

	if (void *p = allocate(0)) {
		std::free(p);
		return std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit);
	}
	throw std::bad_alloc();
}

void operator delete(void *p) noexcept
{
	std::free(p);
}

void operator delete(void *p, std::size_t) noexcept
{
	std::free(p);
}

void operator delete(void *p, std::align_val_t) noexcept
{
	std::free(p);
}

void operator delete(void *p, std::size_t, std::align_val_t) noexcept
{
	std::free(p);
}

using namespace aries_test;

namespace
{

void on_irq(void *, unsigned int) {}

/** Operations of each kind to node 1, as far as they get. */
void operations(FakeHost &a)
{
	a.ring(FMAD, ARIES_FMA_PUT_LINE, 8, ARIES_EV_GLOBAL | ARIES_EV_REMOTE);
	for (unsigned int i = 0; i < 8; i++) {
		a.slot(FMAD, i) = block_transfer(ARIES_BTE_PUT, MDH, LOCAL_MDH, i % 2 ? BYTES : 64);
		a.ring_bte(FMAD, i);
	}
	a.disable_fmad(FMAD);
	a.main_loop();
	a.write32(ARIES_INV_MDD, LOCAL_MDH);
	a.read(ARIES_INV_STATUS, 4);
}

/* The way of a host through the C interface, while allocations fail. Texts must be there where something failed. */
void call_everything(Pair &p, const std::string &path, const std::string &trace)
{
	const aries_host_ops ops = {ARIES_MODEL_API_VERSION, on_irq, nullptr, nullptr, nullptr, nullptr};
	static uint8_t area[ARIES_BAR_DESC_SIZE];
	aries_config cfg = {};
	char err[256] = "", text[8192];

	cfg.api_version = ARIES_MODEL_API_VERSION;
	cfg.nodes = 2;
	cfg.fabric = path.c_str();
	cfg.desc_area = area;
	operations(p.a);
	if (aries_nic *nic = aries_nic_create(&cfg, &ops, nullptr, err, sizeof(err))) {
		aries_nic_tick(nic);
		aries_nic_destroy(nic);
	} else {
		assert_true(failed.load() && *err);
	}
	aries_nic_describe(p.a.nic(), text, sizeof(text));
	aries_nic_set_fault(p.a.nic(), "reorder", 1, err, sizeof(err));
	aries_nic_set_fault(p.a.nic(), "nonsense", 1, err, sizeof(err));
	if (!aries_nic_set_trace(p.a.nic(), trace.c_str(), ARIES_TRACE_LIMIT_MIN, 8, err, sizeof(err))) {
		for (unsigned int i = 0; i < 40; i++)
			p.a.ring(FMAD, ARIES_FMA_PUT_LINE, 64);
		p.a.main_loop();
		aries_nic_set_trace(p.a.nic(), nullptr, 0, 0, err, sizeof(err));
	}
	unlink(trace.c_str());
	aries_nic_set_ram(p.b.nic(), nullptr, 0, err, sizeof(err));
	operations(p.a);
	aries_nic_reset(p.a.nic());
	for (uint64_t at = 0; at < ARIES_BAR_REGS_SIZE; at += 4096)
		p.a.read(at, 8);
}

/** In a child: the @nth allocation fails. Answers whether there was one. */
bool nth_fails(int nth)
{
	const pid_t child = quiet_fork();
	int status;

	if (child == 0) {
		Pair p;

		const std::string path = fabric_path(), trace = path + ".pcapng";

		left.store(nth);
		call_everything(p, path, trace);
		left.store(-1);
		_exit(failed.load() ? 1 : 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (!WIFEXITED(status))
		fail_msg("allocation %d%s fails: signal %d", nth, for_ever ? " and all that follow" : "",
			 WTERMSIG(status));
	assert_in_range(WEXITSTATUS(status), 0, 1);
	return WEXITSTATUS(status);
}

void each_one()
{
	int nth = 0;

	while (nth < 100000 && nth_fails(nth))
		nth++;
	assert_in_range(nth, 20, 99999);
	print_message("%d allocations\n", nth);
}

TEST(test_each_allocation)
{
	for_ever = false;
	each_one();
}

TEST(test_each_allocation_and_all_that_follow)
{
	for_ever = true;
	failed.store(false);
	each_one();
	for_ever = false;
}

} // namespace

TEST_MAIN("tests")
