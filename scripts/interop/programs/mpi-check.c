/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks of an MPI library between nodes, each with verified contents:
 *
 *   mpi-check pingpong | allreduce | alltoall | osc
 *
 * Prints a line per size and "PASS name" from rank 0; exit status 1 for wrong data.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 4 << 20 };

static int rank, size;

static void fail(const char *what, long at)
{
	fprintf(stderr, "mpi-check: rank %d: %s, at %ld\n", rank, what, at);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static void *block(size_t bytes)
{
	void *memory = malloc(bytes ? bytes : 1);

	if (!memory)
		fail("no memory", (long)bytes);
	return memory;
}

static unsigned char mark(int from, int to, long at)
{
	return (unsigned char)(from * 17 + to * 5 + at * 3 + (at >> 8) + 1);
}

static void pingpong(void)
{
	unsigned char *out = block(LARGEST), *in = block(LARGEST);
	int peer = size - 1 - rank, bytes, i, rounds;
	long at;

	for (bytes = 8; bytes <= LARGEST; bytes *= 2) {
		double start, elapsed;

		rounds = bytes <= 4096 ? 100 : 10;
		for (at = 0; at < bytes; at++)
			out[at] = mark(rank, peer, at);
		memset(in, 0, (size_t)bytes);
		MPI_Barrier(MPI_COMM_WORLD);
		start = MPI_Wtime();
		for (i = 0; i < rounds && rank != peer; i++) {
			if (rank < peer)
				MPI_Send(out, bytes, MPI_BYTE, peer, i, MPI_COMM_WORLD);
			MPI_Recv(in, bytes, MPI_BYTE, peer, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			if (rank > peer)
				MPI_Send(out, bytes, MPI_BYTE, peer, i, MPI_COMM_WORLD);
		}
		elapsed = (MPI_Wtime() - start) / rounds / 2;
		for (at = 0; at < bytes && rank != peer; at++)
			if (in[at] != mark(peer, rank, at))
				fail("ping-pong: wrong byte", at);
		if (rank == 0)
			printf("pingpong %d bytes: half round trip %.2f us, %.2f MB/s\n", bytes, elapsed * 1e6,
			       bytes / elapsed / 1e6);
	}
	free(out);
	free(in);
}

static void allreduce(void)
{
	long most = LARGEST / (long)sizeof(long), count, at;
	long *out = block(LARGEST), *in = block(LARGEST);

	for (count = 1; count <= most; count *= 2) {
		for (at = 0; at < count; at++)
			out[at] = at + rank;
		MPI_Allreduce(out, in, (int)count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
		for (at = 0; at < count; at++)
			if (in[at] != at * size + (long)size * (size - 1) / 2)
				fail("allreduce: wrong sum", at);
		if (rank == 0)
			printf("allreduce %ld longs\n", count);
	}
	free(out);
	free(in);
}

static void alltoall(void)
{
	unsigned char *out = block((size_t)LARGEST * (size_t)size), *in = block((size_t)LARGEST * (size_t)size);
	long bytes, at;
	int peer;

	for (bytes = 8; bytes <= LARGEST; bytes *= 2) {
		for (peer = 0; peer < size; peer++)
			for (at = 0; at < bytes; at++)
				out[peer * bytes + at] = mark(rank, peer, at);
		MPI_Alltoall(out, (int)bytes, MPI_BYTE, in, (int)bytes, MPI_BYTE, MPI_COMM_WORLD);
		for (peer = 0; peer < size; peer++)
			for (at = 0; at < bytes; at++)
				if (in[peer * bytes + at] != mark(peer, rank, at))
					fail("alltoall: wrong byte", peer * bytes + at);
		if (rank == 0)
			printf("alltoall %ld bytes\n", bytes);
	}
	free(out);
	free(in);
}

/* 32 bits: Open MPI posts the opcode that is said to return nothing, and reads the old value. */
static void narrow_swaps(MPI_Win win, int peer, MPI_Aint word, int value)
{
	const int wrong = value + 1, next = value + 2;
	const int *const compared[] = {&wrong, &value, &value}, seen[] = {value, value, next};
	int i;

	for (i = 0; i < 3; i++) {
		int old = -1;

		MPI_Compare_and_swap(&next, compared[i], &old, MPI_INT, peer, word, win);
		MPI_Win_flush(peer, win);
		if (old != seen[i])
			fail("compare-and-swap of 32 bits: wrong old value", old);
	}
}

static void one_sided(void)
{
	enum { WORDS = 1024 };
	long *memory, local[WORDS], one = 1, old, zero = 0, mine;
	int peer = (rank + 1) % size, i;
	MPI_Win win;

	MPI_Win_allocate((MPI_Aint)(WORDS * sizeof(long)), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	for (i = 0; i < WORDS; i++) {
		memory[i] = 0;
		local[i] = (long)rank * WORDS + i;
	}
	MPI_Win_fence(0, win);
	MPI_Put(local + 2, WORDS - 2, MPI_LONG, peer, 2, WORDS - 2, MPI_LONG, win);
	MPI_Win_fence(0, win);
	for (i = 2; i < WORDS; i++)
		if (memory[i] != (long)((rank + size - 1) % size) * WORDS + i)
			fail("put: wrong word", i);
	MPI_Get(local, WORDS, MPI_LONG, peer, 0, WORDS, MPI_LONG, win);
	MPI_Win_fence(0, win);
	for (i = 2; i < WORDS; i++)
		if (local[i] != (long)rank * WORDS + i)
			fail("get: wrong word", i);
	MPI_Win_lock_all(0, win);
	for (i = 0; i < 50; i++)
		MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, 0, MPI_SUM, win);
	MPI_Accumulate(&one, 1, MPI_LONG, 0, 1, 1, MPI_LONG, MPI_SUM, win);
	mine = rank + 1;
	MPI_Compare_and_swap(&mine, &zero, &old, MPI_LONG, peer, 2, win); /* word 2 is not zero: nothing happens */
	narrow_swaps(win, peer, 4, rank * WORDS + 4);
	MPI_Win_unlock_all(win);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
	MPI_Get(local, 2, MPI_LONG, 0, 0, 2, MPI_LONG, win);
	MPI_Win_unlock(0, win);
	if (local[0] != 50L * size || local[1] != size)
		fail("fetch-and-op or accumulate: wrong sum", local[0]);
	MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (!strcmp(what, "pingpong"))
		pingpong();
	else if (!strcmp(what, "allreduce"))
		allreduce();
	else if (!strcmp(what, "alltoall"))
		alltoall();
	else if (!strcmp(what, "osc"))
		one_sided();
	else
		fail("say pingpong, allreduce, alltoall or osc", 0);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		printf("PASS %s with %d ranks\n", what, size);
	MPI_Finalize();
	return 0;
}
