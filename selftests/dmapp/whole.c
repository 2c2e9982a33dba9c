/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every family of functions of DMAPP between the PEs of a job, any number on any number of nodes, as programs of the
 * field use them. Prints a line for each part from PE 0; the first thing that is not as it should be ends the job.
 */
#include <dmapp.h>
#include <pmi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 4096, BIG = 1 << 20, ROUNDS = 200, SETS_NAME = 77 };

static dmapp_jobinfo_t job;
static uint64_t statics[16];
static dmapp_lock_desc_t lock;
static uint64_t guarded;

#define CHECK(condition)                                                                                               \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			fprintf(stderr, "PE %d: line %d: %s\n", job.pe, __LINE__, #condition);                         \
			PMI_Abort(1, #condition);                                                                      \
		}                                                                                                      \
	} while (0)
#define GOOD(call) CHECK((call) == DMAPP_RC_SUCCESS)

static void meet(const char *part)
{
	CHECK(PMI_Barrier() == PMI_SUCCESS);
	if (job.pe == 0 && part)
		printf("%s\n", part);
}

static dmapp_pe_t after(void)
{
	return (job.pe + 1) % job.npes;
}

static dmapp_pe_t before(void)
{
	return (job.pe + job.npes - 1) % job.npes;
}

static void *heap_block(size_t bytes)
{
	void *block = dmapp_sheap_malloc(bytes);

	CHECK(block);
	memset(block, 0, bytes);
	meet(NULL);
	return block;
}

static void begin(void)
{
	dmapp_rma_attrs_ext_t wanted, actual;
	int flag = 7;

	CHECK(dmapp_initialized(&flag) == DMAPP_RC_SUCCESS && flag == 0);
	GOOD(dmapp_get_rma_attrs_ext(&wanted));
	wanted.max_outstanding_nb = 1024;
	wanted.offload_threshold = 2048;
	wanted.put_relaxed_ordering = DMAPP_ROUTING_ADAPTIVE;
	wanted.get_relaxed_ordering = DMAPP_ROUTING_ADAPTIVE;
	wanted.max_concurrency = 1;
	wanted.PI_ordering = DMAPP_PI_ORDERING_RELAXED;
	GOOD(dmapp_init_ext(&wanted, &actual));
	CHECK(actual.max_outstanding_nb == 1024 && actual.offload_threshold == 2048 && actual.max_concurrency == 1);
	GOOD(dmapp_get_jobinfo(&job));
	CHECK(dmapp_initialized(&flag) == DMAPP_RC_SUCCESS && flag == 1);
	meet("begin");
}

/* The same address everywhere, and what is put there arrives. */
static void heap_and_statics(void)
{
	uint64_t *block = heap_block(WORDS * sizeof(*block));
	uint64_t value = (uint64_t)job.pe + 100, got = 0;
	void *address = block, **all = malloc((size_t)job.npes * sizeof(*all));
	int pe;

	CHECK(all && PMI_Allgather(&address, all, sizeof(address)) == PMI_SUCCESS);
	for (pe = 0; pe < job.npes; pe++)
		CHECK(all[pe] == address);
	free(all);
	GOOD(dmapp_put(&block[job.pe], &job.sheap_seg, after(), &value, 1, DMAPP_QW));
	GOOD(dmapp_put(&statics[3], &job.data_seg, after(), &value, 1, DMAPP_QW));
	meet(NULL);
	CHECK(block[before()] == (uint64_t)before() + 100 && statics[3] == (uint64_t)before() + 100);
	GOOD(dmapp_get(&got, &statics[3], &job.data_seg, after(), 1, DMAPP_QW));
	CHECK(got == value);
	dmapp_sheap_free(block);
	meet("heap and statics");
}

static void registered(void)
{
	uint64_t *memory = malloc(BIG), value = 4711 + (uint64_t)job.pe, got = 0;
	dmapp_seg_desc_t mine, *all = malloc((size_t)job.npes * sizeof(*all));
	int pe;

	CHECK(memory && all);
	memset(memory, 0, BIG);
	GOOD(dmapp_mem_register(memory, BIG, &mine));
	CHECK(PMI_Allgather(&mine, all, sizeof(mine)) == PMI_SUCCESS);
	for (pe = 0; pe < job.npes; pe++)
		GOOD(dmapp_put_nbi((uint64_t *)all[pe].addr + job.pe, &all[pe], pe, &value, 1, DMAPP_QW));
	GOOD(dmapp_gsync_wait());
	meet(NULL);
	for (pe = 0; pe < job.npes; pe++)
		CHECK(memory[pe] == 4711 + (uint64_t)pe);
	GOOD(dmapp_get(&got, (uint64_t *)all[after()].addr + job.pe, &all[after()], after(), 1, DMAPP_QW));
	CHECK(got == value);
	CHECK(job.npes == 1 ||
	      dmapp_put(all[after()].addr, &all[after()], job.pe, &value, 1, DMAPP_QW) == DMAPP_RC_INVALID_PARAM);
	meet(NULL);
	GOOD(dmapp_mem_unregister(&mine));
	meet(NULL);
	CHECK(dmapp_get(&got, all[after()].addr, &all[after()], after(), 1, DMAPP_QW) == DMAPP_RC_TRANSACTION_ERROR);
	free(memory);
	free(all);
	meet("registered memory");
}

static void pattern(unsigned char *at, size_t bytes, int pe)
{
	size_t n;

	for (n = 0; n < bytes; n++)
		at[n] = (unsigned char)(n * 13 + n / 251 + (size_t)pe);
}

/* Long ones, from memory that the NIC knows and from memory that it does not, in all forms. */
static void long_transfers(void)
{
	unsigned char *from = heap_block(BIG), *to = heap_block(BIG), *plain = malloc(BIG), *want = malloc(BIG);
	dmapp_syncid_handle_t id;
	int flag = 0;

	CHECK(plain && want);
	pattern(want, BIG, before());
	pattern(from, BIG, job.pe);
	pattern(plain, BIG, job.pe);
	meet(NULL);
	GOOD(dmapp_put_nb(to, &job.sheap_seg, after(), from, BIG / 16, DMAPP_DQW, &id));
	while (!flag)
		GOOD(dmapp_syncid_test(&id, &flag));
	CHECK(dmapp_syncid_wait(&id) == DMAPP_RC_INVALID_PARAM);
	meet(NULL);
	CHECK(!memcmp(to, want, BIG));
	memset(to, 0, BIG);
	meet(NULL);
	GOOD(dmapp_put_nbi(to + 3, &job.sheap_seg, after(), plain + 3, BIG - 3, DMAPP_BYTE));
	GOOD(dmapp_gsync_wait());
	meet(NULL);
	CHECK(!memcmp(to + 3, want + 3, BIG - 3) && !to[0]);
	memset(to, 0, BIG);
	GOOD(dmapp_get(to, from, &job.sheap_seg, before(), BIG / 8, DMAPP_QW));
	CHECK(!memcmp(to, want, BIG));
	memset(plain, 0, BIG);
	GOOD(dmapp_get_nb(plain + 1, from + 1, &job.sheap_seg, before(), BIG - 1, DMAPP_BYTE, &id));
	GOOD(dmapp_syncid_wait(&id));
	CHECK(!memcmp(plain + 1, want + 1, BIG - 1) && !plain[0]);
	meet(NULL);
	dmapp_sheap_free(to);
	dmapp_sheap_free(from);
	free(plain);
	free(want);
	meet("long transfers");
}

static void elements(void)
{
	uint64_t *block = heap_block(WORDS * sizeof(*block)), local[64], got[64];
	ptrdiff_t index[64];
	dmapp_pe_t *pes = malloc((size_t)job.npes * sizeof(*pes));
	uint64_t *slices = malloc((size_t)job.npes * 2 * sizeof(*slices));
	int n;

	CHECK(pes && slices);
	for (n = 0; n < 64; n++) {
		local[n] = (uint64_t)(job.pe * 1000 + n);
		index[n] = 63 - n;
	}
	GOOD(dmapp_iput(block, &job.sheap_seg, after(), local, 3, 2, 32, DMAPP_QW));
	GOOD(dmapp_ixput(block + 1000, &job.sheap_seg, after(), local, index, 64, DMAPP_QW));
	meet(NULL);
	for (n = 0; n < 32; n++)
		CHECK(block[n * 3] == (uint64_t)(before() * 1000 + n * 2));
	for (n = 0; n < 64; n++)
		CHECK(block[1000 + 63 - n] == (uint64_t)(before() * 1000 + n));
	GOOD(dmapp_iget(got, block, &job.sheap_seg, after(), 1, 3, 32, DMAPP_QW));
	for (n = 0; n < 32; n++)
		CHECK(got[n] == local[n * 2]);
	for (n = 0; n < job.npes; n++) {
		pes[n] = job.npes - 1 - n;
		slices[n * 2] = (uint64_t)(job.pe * 100 + n);
		slices[n * 2 + 1] = ~slices[n * 2];
	}
	GOOD(dmapp_scatter_ixpe(block + 2000 + job.pe * 2, &job.sheap_seg, pes, (uint32_t)job.npes, slices, 2,
				DMAPP_QW));
	GOOD(dmapp_put_ixpe_nbi(block + 3000 + job.pe, &job.sheap_seg, pes, (uint32_t)job.npes, slices, 1, DMAPP_QW));
	GOOD(dmapp_gsync_wait());
	meet(NULL);
	for (n = 0; n < job.npes; n++) {
		CHECK(block[2000 + n * 2] == (uint64_t)(n * 100 + job.npes - 1 - job.pe));
		CHECK(block[3000 + n] == (uint64_t)(n * 100));
	}
	GOOD(dmapp_gather_ixpe(slices, block + 3000, &job.sheap_seg, pes, (uint32_t)job.npes, 1, DMAPP_QW));
	for (n = 0; n < job.npes; n++)
		CHECK(slices[n] == 0);
	meet(NULL);
	dmapp_sheap_free(block);
	free(pes);
	free(slices);
	meet("elements");
}

/* A receiver that only loads sees the data when it sees the flag; and a signal without a wait. */
static void flags(void)
{
	volatile uint64_t *block = heap_block(1024 * sizeof(*block));
	uint64_t data[512];
	int round, n;

	for (round = 1; round <= 20; round++) {
		for (n = 0; n < 512; n++)
			data[n] = (uint64_t)(round * 1000 + n);
		GOOD(dmapp_put_flag_nbi((void *)(block + 1), &job.sheap_seg, after(), data, 512, DMAPP_QW,
					(void *)block, (uint64_t)round));
		while (block[0] != (uint64_t)round)
			;
		for (n = 0; n < 512; n++)
			CHECK(block[1 + n] == (uint64_t)(round * 1000 + n));
		GOOD(dmapp_aadd_qw_nbi((void *)(block + 1000), &job.sheap_seg, before(), 1));
		while (block[1000] < (uint64_t)round)
			;
	}
	GOOD(dmapp_gsync_wait());
	meet(NULL);
	dmapp_sheap_free((void *)block);
	meet("flags");
}

static void atomics(void)
{
	uint64_t *block = heap_block(64);
	int64_t old = 0, tickets = 0;
	int n;

	for (n = 0; n < ROUNDS; n++) {
		GOOD(dmapp_aadd_qw_nbi(block, &job.sheap_seg, 0, 2));
		GOOD(dmapp_afadd_qw(&old, block + 1, &job.sheap_seg, 0, 1));
		tickets += old;
		do {
			GOOD(dmapp_get(&old, block + 2, &job.sheap_seg, 0, 1, DMAPP_QW));
			const int64_t expected = old;
			GOOD(dmapp_acswap_qw(&old, block + 2, &job.sheap_seg, 0, expected, expected + 3));
			if (old == expected)
				break;
		} while (1);
	}
	GOOD(dmapp_gsync_wait());
	GOOD(dmapp_aadd_qw(block + 3, &job.sheap_seg, 0, tickets));
	meet(NULL);
	if (job.pe == 0) {
		const uint64_t all = (uint64_t)job.npes * ROUNDS;

		CHECK(block[0] == 2 * all && block[1] == all && block[2] == 3 * all && block[3] == all * (all - 1) / 2);
	}
	GOOD(dmapp_afax_qw(&old, block + 4, &job.sheap_seg, job.pe, 0, 99));
	CHECK(old == 0 && block[4] == 99);
	meet(NULL);
	dmapp_sheap_free(block);
	meet("atomics");
}

static void locks(void)
{
	dmapp_lock_handle_t handle;
	uint64_t value;
	int n;

	for (n = 0; n < 25; n++) {
		GOOD(dmapp_lock_acquire(&lock, &job.data_seg, 0, 0, &handle));
		GOOD(dmapp_get(&value, &guarded, &job.data_seg, 0, 1, DMAPP_QW));
		value++;
		GOOD(dmapp_put(&guarded, &job.data_seg, 0, &value, 1, DMAPP_QW));
		GOOD(dmapp_lock_release(handle, 0));
	}
	meet(NULL);
	CHECK(job.pe != 0 || (guarded == 25 * (uint64_t)job.npes && lock.word == 0));
	meet("locks");
}

static void sets(void)
{
	dmapp_c_pset_desc_t desc;
	dmapp_c_pset_handle_t set;
	uint64_t *block = heap_block(64), value;
	int64_t in[2], out[2];
	double first, most;
	int n;

	memset(&desc, 0, sizeof(desc));
	desc.concat_buf = block;
	desc.concat_buf_size = 8;
	desc.type = DMAPP_C_PSET_DELIMITER_STRIDED;
	desc.u.stride_type.n_pes = job.npes;
	desc.u.stride_type.base_pe = 0;
	desc.u.stride_type.stride_pe = 1;
	GOOD(dmapp_c_pset_create(&desc, SETS_NAME, DMAPP_C_PSET_MODE_CONCAT, NULL, &set));
	meet(NULL);
	GOOD(dmapp_c_pset_export(set));
	for (n = 1; n <= 50; n++) {
		value = (uint64_t)n;
		GOOD(dmapp_put(block, &job.sheap_seg, after(), &value, 1, DMAPP_QW));
		GOOD(dmapp_c_barrier_join(set));
		GOOD(dmapp_c_pset_wait(set));
		CHECK(block[0] == (uint64_t)n);
		GOOD(dmapp_c_barrier_join(set));
		while (dmapp_c_pset_test(set) == DMAPP_RC_NOT_DONE)
			;
		GOOD(dmapp_c_pset_test(set));
	}
	in[0] = job.pe;
	in[1] = -job.pe;
	GOOD(dmapp_c_greduce_start(set, in, out, 2, DMAPP_C_INT64, DMAPP_C_MAX));
	GOOD(dmapp_c_pset_wait(set));
	CHECK(out[0] == job.npes - 1 && out[1] == 0);
	first = 0.5 * job.pe;
	GOOD(dmapp_c_greduce_start(set, &first, &most, 1, DMAPP_C_DOUBLE, DMAPP_C_MAX));
	GOOD(dmapp_c_pset_wait(set));
	CHECK(most == 0.5 * (job.npes - 1));
	meet(NULL);
	GOOD(dmapp_c_pset_destroy(set));
	dmapp_sheap_free(block);
	meet("sets");
}

/* A child has nothing of it, harms nothing, and may become another program. */
static void children(void)
{
	uint64_t *block = heap_block(64), value = 5;
	int status = 0, flag = 1;
	const pid_t child = fork();

	if (child == 0) {
		if (dmapp_initialized(&flag) || flag ||
		    dmapp_put(block, &job.sheap_seg, job.pe, &value, 1, DMAPP_QW) == DMAPP_RC_SUCCESS)
			_exit(2);
		statics[0]++;
		execl("/bin/sh", "sh", "-c", "exit 3", (char *)NULL);
		_exit(4);
	}
	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 3);
	meet(NULL);
	GOOD(dmapp_put(block, &job.sheap_seg, after(), &value, 1, DMAPP_QW));
	meet(NULL);
	CHECK(block[0] == 5);
	dmapp_sheap_free(block);
	meet("children");
}

int main(void)
{
	begin();
	heap_and_statics();
	registered();
	long_transfers();
	elements();
	flags();
	atomics();
	locks();
	sets();
	children();
	meet(NULL);
	GOOD(dmapp_finalize());
	return 0;
}
