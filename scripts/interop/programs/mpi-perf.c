/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Time and bandwidth between ranks 0 and 1, the same for every transport:
 *
 *   mpi-perf [BLOCKS]
 *
 * Prints, each as the median and the least of BLOCKS (default 11) blocks:
 *
 *   latency 8 bytes: half round trip US us, least US us        ping-pong of 200
 *   bandwidth 1048576 bytes: MBS MB/s, most MBS MB/s           16 in flight one way, then an answer
 *   roundtrip 1048576 bytes: MBS MB/s, most MBS MB/s           ping-pong of 10
 *
 * MB is 10^6 bytes. Contents are not looked at here: mpi-check does.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHORT = 8, LONG = 1 << 20, WINDOW = 16, BLOCKS_MAX = 1000 };

static int rank;
static unsigned char *out, *in;

static void pingpong(int bytes, int rounds)
{
	int peer = 1 - rank, i;

	for (i = 0; i < rounds; i++) {
		if (rank == 0)
			MPI_Send(out, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
		MPI_Recv(in, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (rank == 1)
			MPI_Send(out, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
	}
}

static void stream(int bytes, int rounds)
{
	MPI_Request requests[WINDOW];
	int i, j;

	for (i = 0; i < rounds; i++) {
		for (j = 0; j < WINDOW; j++) {
			if (rank == 0)
				MPI_Isend(out, bytes, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &requests[j]);
			else
				MPI_Irecv(in, bytes, MPI_BYTE, 0, 2, MPI_COMM_WORLD, &requests[j]);
		}
		MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
	}
	if (rank == 0)
		MPI_Recv(in, SHORT, MPI_BYTE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	else
		MPI_Send(out, SHORT, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Times one block several times; the times in ascending order, in seconds. */
static void measure(void (*block)(int, int), int bytes, int rounds, double *times, int blocks)
{
	int i;

	block(bytes, rounds);
	for (i = 0; i < blocks; i++) {
		MPI_Barrier(MPI_COMM_WORLD);
		times[i] = MPI_Wtime();
		block(bytes, rounds);
		times[i] = MPI_Wtime() - times[i];
	}
	qsort(times, (size_t)blocks, sizeof(*times), compare);
}

int main(int argc, char **argv)
{
	static double times[BLOCKS_MAX];
	int blocks, size;
	double bytes;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	blocks = argc > 1 ? atoi(argv[1]) : 11;
	out = calloc(1, LONG);
	in = calloc(1, LONG);
	if (size != 2 || blocks < 1 || blocks > BLOCKS_MAX || !out || !in) {
		fprintf(stderr, "mpi-perf: needs 2 ranks, 1 to %d blocks, and memory\n", BLOCKS_MAX);
		MPI_Abort(MPI_COMM_WORLD, 2);
		return 2;
	}
	measure(pingpong, SHORT, 200, times, blocks);
	if (rank == 0)
		printf("latency %d bytes: half round trip %.3f us, least %.3f us\n", SHORT, times[blocks / 2] / 400 * 1e6,
		       times[0] / 400 * 1e6);
	measure(stream, LONG, 1, times, blocks);
	bytes = (double)LONG * WINDOW / 1e6;
	if (rank == 0)
		printf("bandwidth %d bytes: %.1f MB/s, most %.1f MB/s\n", LONG, bytes / times[blocks / 2], bytes / times[0]);
	measure(pingpong, LONG, 10, times, blocks);
	bytes = (double)LONG * 20 / 1e6;
	if (rank == 0)
		printf("roundtrip %d bytes: %.1f MB/s, most %.1f MB/s\n", LONG, bytes / times[blocks / 2], bytes / times[0]);
	free(out);
	free(in);
	MPI_Finalize();
	return 0;
}
