// SPDX-License-Identifier: GPL-2.0-or-later
/* aries-sim-mpi: the processes of MPI_COMM_WORLD. If a call of MPI fails, MPI ends all processes. */
#include <climits>
#include <cstdlib>
#include <mpi.h>
#include <stdexcept>

#include "ranks.hpp"

namespace aries::sim
{

namespace
{

/* MPI counts in int. */
int count_of(size_t bytes)
{
	if (bytes > INT_MAX)
		throw std::length_error("more than 2 GiB for one message between processes");
	return static_cast<int>(bytes);
}

/* Pieces for or from all processes, one behind the other. */
struct Pieces {
	explicit Pieces(const std::vector<int> &of) : counts(of)
	{
		for (const int count : counts) {
			places.push_back(count_of(bytes.size()));
			bytes.resize(bytes.size() + static_cast<size_t>(count));
		}
		count_of(bytes.size());
	}

	std::vector<Bytes> split() const
	{
		std::vector<Bytes> pieces;

		for (size_t i = 0; i < counts.size(); i++)
			pieces.emplace_back(bytes.begin() + places[i], bytes.begin() + places[i] + counts[i]);
		return pieces;
	}

	std::vector<int> counts, places;
	Bytes bytes;
};

class MpiRanks : public Ranks
{
public:
	MpiRanks(int &argc, char **&argv)
	{
		int threads = 0, number = 0;
		MPI_Comm host = MPI_COMM_NULL;

		/* Whichever thread ends a window last talks to the others. */
		MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &threads);
		if (threads < MPI_THREAD_SERIALIZED)
			throw std::runtime_error("this MPI allows no threads");
		MPI_Comm_rank(MPI_COMM_WORLD, &number);
		rank_ = static_cast<uint32_t>(number);
		MPI_Comm_size(MPI_COMM_WORLD, &number);
		count_ = static_cast<uint32_t>(number);
		MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
		MPI_Comm_size(host, &number);
		on_this_host_ = static_cast<uint32_t>(number);
		MPI_Comm_free(&host);
	}

	MpiRanks(const MpiRanks &) = delete;
	MpiRanks &operator=(const MpiRanks &) = delete;
	~MpiRanks() override { MPI_Finalize(); }

	uint32_t rank() const noexcept override { return rank_; }
	uint32_t count() const noexcept override { return count_; }
	uint32_t on_this_host() const noexcept override { return on_this_host_; }

	std::vector<Bytes> exchange(const std::vector<Bytes> &out) override
	{
		std::vector<int> sizes(count_), its_sizes(count_);
		Bytes all;

		for (uint32_t rank = 0; rank < count_; rank++) {
			sizes[rank] = count_of(out[rank].size());
			all.insert(all.end(), out[rank].begin(), out[rank].end());
		}
		MPI_Alltoall(sizes.data(), 1, MPI_INT, its_sizes.data(), 1, MPI_INT, MPI_COMM_WORLD);

		const Pieces mine(sizes);
		Pieces its(its_sizes);

		MPI_Alltoallv(all.data(), mine.counts.data(), mine.places.data(), MPI_BYTE, its.bytes.data(),
			      its.counts.data(), its.places.data(), MPI_BYTE, MPI_COMM_WORLD);
		return its.split();
	}

	void sum(std::span<uint64_t> numbers) override
	{
		MPI_Allreduce(MPI_IN_PLACE, numbers.data(), count_of(numbers.size()), MPI_UINT64_T, MPI_SUM,
			      MPI_COMM_WORLD);
	}

	std::vector<Bytes> gather(const Bytes &mine) override
	{
		const int size = count_of(mine.size());
		std::vector<int> sizes(count_);

		MPI_Allgather(&size, 1, MPI_INT, sizes.data(), 1, MPI_INT, MPI_COMM_WORLD);

		Pieces all(sizes);

		MPI_Allgatherv(mine.data(), size, MPI_BYTE, all.bytes.data(), all.counts.data(), all.places.data(),
			       MPI_BYTE, MPI_COMM_WORLD);
		return all.split();
	}

	[[noreturn]] void abort() noexcept override
	{
		MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
		std::abort();
	}

private:
	uint32_t rank_ = 0, count_ = 1, on_this_host_ = 1;
};

} // namespace

std::unique_ptr<Ranks> join_ranks(int &argc, char **&argv)
{
	return std::make_unique<MpiRanks>(argc, argv);
}

} // namespace aries::sim
