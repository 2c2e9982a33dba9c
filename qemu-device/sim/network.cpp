// SPDX-License-Identifier: GPL-2.0-or-later
#include "network.hpp"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstring>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <type_traits>

namespace aries::sim
{

namespace
{

constexpr uint32_t MOST_THREADS = 256;

template <typename T> void put(Bytes &bytes, const std::vector<T> &values)
{
	static_assert(std::is_trivially_copyable_v<T>);

	const uint64_t count = values.size();
	const auto *from = reinterpret_cast<const std::byte *>(&count);

	bytes.insert(bytes.end(), from, from + sizeof(count));
	from = reinterpret_cast<const std::byte *>(values.data());
	bytes.insert(bytes.end(), from, from + count * sizeof(T));
}

template <typename T> void get(const Bytes &bytes, size_t &at, std::vector<T> &values)
{
	uint64_t count = 0;

	std::memcpy(&count, bytes.data() + at, sizeof(count));
	at += sizeof(count);
	values.resize(count);
	if (count)
		std::memcpy(static_cast<void *>(values.data()), bytes.data() + at, count * sizeof(T));
	at += count * sizeof(T);
}

} // namespace

/* The threads of one call of run(). The barrier sleeps after a short while: a machine may be shared. */
struct Network::Crew {
	Crew(uint32_t count, uint32_t end, std::function<void()> at_end)
		: threads(count), until(end), windows(count, Completion{std::move(at_end)})
	{
	}

	struct Completion {
		std::function<void()> end;
		void operator()() noexcept { end(); }
	};

	/* The first that went wrong; the others stop at the end of the window. */
	void fail(std::exception_ptr of)
	{
		const std::lock_guard guard(lock);

		if (!error)
			error = std::move(of);
	}

	uint32_t threads;
	uint32_t until;
	std::mutex lock;
	std::exception_ptr error;
	bool stop = false; // written in the barrier's completion only
	std::barrier<Completion> windows;
};

std::string check_workers(const Layout &layout, const Workers &workers)
{
	if (!workers.threads || workers.threads > MOST_THREADS)
		return std::to_string(workers.threads) + " threads: there are 1 to " + std::to_string(MOST_THREADS);
	if (workers.all_parts() < workers.processes())
		return std::to_string(workers.all_parts()) + " parts for " + std::to_string(workers.processes()) +
		       " processes: each has at least one";
	return check_parts(layout, workers.all_parts());
}

Network::Network(const topology::Machine &machine, TablesOf tables, uint32_t class_channels,
		 const Parameters &parameters, const Workload &workload, uint64_t seed, const Workers &workers,
		 FaultPlan plan)
	: machine_(machine), parameters_(parameters), workers_(workers), layout_(machine, parameters, class_channels),
	  traffic_(workload, layout_, seed), division_(layout_, workers.all_parts()), parts_(division_.parts()),
	  first_mine_(first_of(workers.rank())), end_mine_(first_of(workers.rank() + 1)), plan_(std::move(plan)),
	  state_(machine, layout_), group_nodes_(SwitchGroups::nodes_of(workload))
{
	make_room_for_lanes();

	const PartPlan plan_of_part{layout_, division_, parameters_, traffic_, seed};

	for (uint32_t part = first_mine_; part < end_mine_; part++)
		parts_[part] = make_part(plan_of_part, part, tables);
	for (Mails &mails : mails_)
		mails.assign(division_.parts(), std::vector<Mail>(division_.parts()));
	make_groups();
	expect_faults();
}

void Network::run(uint32_t until)
{
	while (now_ < until) {
		change_now();
		run_windows(std::min(until, next_change()));
	}
}

void Network::run_windows(uint32_t until)
{

	const uint32_t threads = std::min(workers_.threads, end_mine_ - first_mine_);
	Crew crew(threads, until, [this, &crew] { end_window(crew); });
	std::vector<std::jthread> others;

	try {
		others.reserve(threads);
		for (uint32_t thread = 1; thread < threads; thread++)
			others.emplace_back([this, &crew, thread] { work(crew, thread); });
	} catch (...) {
		crew.fail(std::current_exception());
		for (size_t missing = others.size() + 1; missing < threads; missing++)
			crew.windows.arrive_and_drop();
	}
	work(crew, 0);
	others.clear();
	if (crew.error)
		std::rethrow_exception(crew.error);
}

/* Every thread has parts of its own, which it runs for a window; behind the barrier their mail is there. */
void Network::work(Crew &crew, uint32_t thread)
{
	const auto with_mine = [this, &crew, thread](auto function) {
		try {
			for (uint32_t part = first_mine_ + thread; part < end_mine_; part += crew.threads)
				function(part);
		} catch (...) {
			crew.fail(std::current_exception());
		}
	};

	while (now_ < crew.until && !crew.stop) {
		const uint32_t end = now_ + std::min(division_.window, crew.until - now_);

		with_mine([this, end](uint32_t part) { parts_[part]->run(end, mails_[written_][part].data()); });
		crew.windows.arrive_and_wait();
		with_mine([this](uint32_t part) { collect(part); });
	}
}

/* Run by one thread while the other threads wait. */
void Network::end_window(Crew &crew)
{
	now_ += std::min(division_.window, crew.until - now_);
	try {
		if (workers_.processes() > 1)
			exchange(mails_[written_]);
	} catch (...) {
		crew.fail(std::current_exception());
	}
	written_ ^= 1;
	crew.stop = crew.error != nullptr;
}

void Network::collect(uint32_t part)
{
	Mails &mails = mails_[written_ ^ 1];

	for (uint32_t from = 0; from < division_.parts(); from++) {
		if (from == part)
			continue;
		parts_[part]->receive_mail(from, mails[from][part]);
		mails[from][part].clear();
	}
}

/* What is for parts of other processes goes to them, in the order of senders and receivers. */
void Network::exchange(Mails &mails)
{
	std::vector<Bytes> out(workers_.processes());

	for (uint32_t rank = 0; rank < workers_.processes(); rank++) {
		if (rank == workers_.rank())
			continue;
		for (uint32_t from = first_mine_; from < end_mine_; from++) {
			for (uint32_t to = first_of(rank); to < first_of(rank + 1); to++) {
				put(out[rank], mails[from][to].packets);
				put(out[rank], mails[from][to].credits);
				put(out[rank], mails[from][to].loads);
				put(out[rank], mails[from][to].expiries);
				mails[from][to].clear();
			}
		}
	}

	const std::vector<Bytes> in = workers_.ranks->exchange(out);

	for (uint32_t rank = 0; rank < workers_.processes(); rank++) {
		size_t at = 0;

		if (rank == workers_.rank())
			continue;
		for (uint32_t from = first_of(rank); from < first_of(rank + 1); from++) {
			for (uint32_t to = first_mine_; to < end_mine_; to++) {
				get(in[rank], at, mails[from][to].packets);
				get(in[rank], at, mails[from][to].credits);
				get(in[rank], at, mails[from][to].loads);
				get(in[rank], at, mails[from][to].expiries);
			}
		}
	}
}

void Network::stop_traffic(uint32_t cycle)
{
	for (uint32_t part = first_mine_; part < end_mine_; part++)
		parts_[part]->stop_traffic(cycle);
}

void Network::measure(uint32_t from, uint32_t until)
{
	for (uint32_t part = first_mine_; part < end_mine_; part++)
		parts_[part]->measure(from, until);
}

void Network::reverse_events() noexcept
{
	for (uint32_t part = first_mine_; part < end_mine_; part++)
		parts_[part]->reverse_events();
}

size_t Network::live() const noexcept
{
	size_t live = 0;

	for (uint32_t part = first_mine_; part < end_mine_; part++)
		live += parts_[part]->live();
	return live;
}

bool Network::idle() const noexcept
{
	return std::all_of(parts_.begin() + first_mine_, parts_.begin() + end_mine_,
			   [](const auto &part) { return part->idle(); });
}

Census Network::census() const
{
	std::array<uint64_t, 3> numbers{live(), 0, !idle()};

	for (uint32_t part = first_mine_; part < end_mine_; part++)
		numbers[1] += parts_[part]->statistics().hops;
	if (workers_.processes() > 1)
		workers_.ranks->sum(numbers);
	return {numbers[0], numbers[1], numbers[2] == 0};
}

Statistics Network::statistics() const
{
	Statistics all;

	for (uint32_t part = first_mine_; part < end_mine_; part++)
		all.add(parts_[part]->statistics());
	if (workers_.processes() == 1)
		return all;

	std::vector<uint64_t> words;
	Bytes mine;

	all.save(words);
	put(mine, words);
	all = {};
	for (const Bytes &bytes : workers_.ranks->gather(mine)) {
		Statistics one;
		size_t at = 0;

		get(bytes, at, words);
		one.load(words);
		all.add(one);
	}
	return all;
}

std::vector<LinkCount> Network::link_counts() const
{
	static_assert(sizeof(LinkCount) == 5 * sizeof(uint64_t));

	std::vector<LinkCount> counts(layout_.places());

	for (uint32_t place = division_.first[first_mine_] * layout_.tiles;
	     place < division_.first[end_mine_] * layout_.tiles; place++)
		counts[place] = part_at(place).count_of(place);
	if (workers_.processes() > 1)
		workers_.ranks->sum({&counts[0].flits, counts.size() * 5});
	return counts;
}

std::string Network::leftover() const
{
	for (uint32_t part = first_mine_; part < end_mine_; part++) {
		const std::string left = parts_[part]->leftover();

		if (!left.empty())
			return left;
	}
	return {};
}

} // namespace aries::sim
