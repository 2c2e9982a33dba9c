// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two sides of a NIC that is taken away under traffic; the cluster's tests run them, alone they are
 * no test.
 *
 *   reset_peer watch COOKIE MIB FILLERS FILLER_MIB
 *       Registers MIB MiB of pages that nobody but the registration holds, and lets FILLERS other
 *       processes register FILLER_MIB each, so that taking everything away takes a while. Then maps
 *       fresh memory again and again: whoever finds foreign data there has found a page that was
 *       given back while somebody still wrote to it. SIGUSR1 closes the file of the registration,
 *       SIGTERM ends the whole. Lines: "region MDH BYTES", "ready", "closed", "rounds N hits N".
 *   reset_peer free COOKIE MIB
 *       Registers a region like that. SIGUSR1 lets one thread free a queue and a collective
 *       engine, while another makes calls on the same file. SIGTERM ends it. Lines: "region MDH
 *       BYTES", "ready", "freed MS_FOR_THE_QUEUE calls N queues N": calls that were made while the
 *       queue was freed, and queues that the domain pays for afterwards.
 *   reset_peer queue COOKIE
 *       Makes a queue and ends: it is held back if somebody is in the middle of an access.
 *   reset_peer put COOKIE PE MDH BYTES
 *       Puts into each page of the region until SIGTERM. Lines: "status N at PUT" whenever the
 *       outcome changes, "puts N refused N".
 *
 * Exit status: 0 fine, 1 foreign data was found, 2 wrong usage or a call that failed.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "raw.h"

#define LINE 64
#define FRESH (8ul << 20)

static const uint64_t pattern = 0xdeadbeefcafef00dull;
static volatile sig_atomic_t over, close_now;

static void note(int sig)
{
	if (sig == SIGUSR1)
		close_now = 1;
	else
		over = 1;
}

static void must(int rc, const char *what)
{
	if (!rc)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(rc));
	exit(2);
}

static uint64_t number(const char *text)
{
	return strtoull(text, NULL, 0);
}

static uint8_t *small_pages(size_t bytes)
{
	uint8_t *p = aries_pages(bytes / ARIES_PAGE);

	must(p ? 0 : ENOMEM, "memory");
	madvise(p, bytes, MADV_NOHUGEPAGE);
	return p;
}

/* Every other page of twice as many: neither is contiguous, and none stays with the process. */
static uint32_t region(struct raw *r, size_t bytes)
{
	const size_t count = bytes / ARIES_PAGE;
	struct kgni_mem_segment *segments = calloc(count, sizeof(*segments));
	struct kgni_mem_segments arg = { .argsz = sizeof(arg), .count = count, .cq = KGNI_NO_CQ };
	uint8_t *p = small_pages(2 * bytes);
	size_t i;

	must(segments ? 0 : ENOMEM, "memory");
	for (i = 0; i < count; i++) {
		segments[i].address = (uintptr_t)p + 2 * i * ARIES_PAGE;
		segments[i].length = ARIES_PAGE;
	}
	arg.segments = (uintptr_t)segments;
	must(aries_ioctl(r->fd, KGNI_IOC_MEM_SEGMENTS, &arg), "register");
	must(munmap(p, 2 * bytes) ? errno : 0, "munmap");
	free(segments);
	return arg.mdh;
}

static void filler(uint32_t cookie, size_t bytes, int ready)
{
	struct kgni_mem_register mem;
	uint8_t *p = small_pages(bytes);
	struct raw r;

	signal(SIGTERM, SIG_DFL);
	must(raw_open(&r, cookie), "filler attaches");
	must(aries_register(r.fd, p, bytes, 0, KGNI_NO_CQ, &mem), "filler registers");
	if (write(ready, "", 1) != 1)
		exit(2);
	pause();
	_exit(0);
}

static void fill(uint32_t cookie, unsigned int fillers, size_t bytes)
{
	int ready[2];
	char byte;

	must(pipe(ready) ? errno : 0, "pipe");
	while (fillers--) {
		if (!fork())
			filler(cookie, bytes, ready[1]);
		must(read(ready[0], &byte, 1) == 1 ? 0 : EIO, "filler");
	}
}

/* Pages of a fresh mapping that hold what nobody has stored there. */
static unsigned long look(void)
{
	volatile uint64_t *words = (volatile uint64_t *)small_pages(FRESH);
	const size_t page = ARIES_PAGE / sizeof(*words);
	unsigned long hits = 0;
	size_t i, k;

	for (i = 0; i < FRESH / sizeof(*words); i += page)
		words[i + page / 2] = 1; /* the page is there now; its first line stays as it came */
	usleep(10000);
	for (i = 0; i < FRESH / sizeof(*words); i += page) {
		for (k = 0; k < LINE / sizeof(*words) && !words[i + k]; k++)
			;
		hits += k < LINE / sizeof(*words);
	}
	munmap((void *)words, FRESH);
	return hits;
}

static int watch(uint32_t cookie, char **arg)
{
	const size_t bytes = number(arg[0]) << 20;
	unsigned long hits = 0, rounds = 0;
	struct raw r;

	must(raw_open(&r, cookie), "attach");
	printf("region %u %zu\n", region(&r, bytes), bytes);
	fill(cookie, number(arg[1]), number(arg[2]) << 20);
	puts("ready");
	fflush(stdout);
	for (; !over; rounds++) {
		if (close_now) {
			close_now = 0;
			raw_close(&r);
			puts("closed");
			fflush(stdout);
		}
		hits += look();
	}
	printf("rounds %lu hits %lu\n", rounds, hits);
	fflush(stdout);
	signal(SIGTERM, SIG_IGN);
	kill(0, SIGTERM);
	while (wait(NULL) > 0)
		;
	return hits ? 1 : 0;
}

struct freed {
	int fd;
	uint32_t cq, ce;
	uint64_t ms;
	volatile int begun, queue_over;
};

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ull + now.tv_nsec / 1000000;
}

static void *free_all(void *arg)
{
	struct freed *f = arg;
	struct kgni_cq_destroy queue = { .argsz = sizeof(queue), .cq = f->cq };
	struct kgni_ce_free engine = { .argsz = sizeof(engine), .ce = f->ce };

	f->ms = now_ms();
	f->begun = 1;
	must(aries_ioctl(f->fd, KGNI_IOC_CQ_DESTROY, &queue), "queue");
	f->queue_over = 1;
	f->ms = now_ms() - f->ms;
	must(aries_ioctl(f->fd, KGNI_IOC_CE_FREE, &engine), "engine");
	return NULL;
}

static void free_under_others(struct raw *r, struct freed *f)
{
	struct kgni_ce_free none = { .argsz = sizeof(none), .ce = ARIES_CE_CHANNELS };
	struct kgni_res res = { .argsz = sizeof(res), .kind = 5, .ptag = r->at.ptag };
	unsigned long calls = 0;
	pthread_t thread;

	must(pthread_create(&thread, NULL, free_all, f), "thread");
	while (!f->begun)
		;
	while (!f->queue_over) {
		aries_ioctl(r->fd, KGNI_IOC_CE_FREE, &none);
		calls += !f->queue_over;
	}
	pthread_join(thread, NULL);
	must(aries_ioctl(r->fd, KGNI_IOC_RES, &res), "use of queues");
	printf("freed %llu calls %lu queues %llu\n", (unsigned long long)f->ms, calls,
	       (unsigned long long)res.used);
	fflush(stdout);
}

static int free_objects(uint32_t cookie, char **arg)
{
	const size_t bytes = number(arg[0]) << 20;
	struct kgni_ce_alloc engine = { .argsz = sizeof(engine) };
	struct kgni_cq_create queue;
	struct freed f = {};
	struct raw r;

	must(raw_open(&r, cookie), "attach");
	printf("region %u %zu\n", region(&r, bytes), bytes);
	must(aries_cq(r.fd, 100, 0, &queue), "queue");
	must(aries_ioctl(r.fd, KGNI_IOC_CE_ALLOC, &engine), "engine");
	f.fd = r.fd;
	f.cq = queue.cq;
	f.ce = engine.ce;
	puts("ready");
	fflush(stdout);
	while (!over) {
		if (close_now) {
			close_now = 0;
			free_under_others(&r, &f);
		}
		usleep(1000);
	}
	return 0;
}

static int queue(uint32_t cookie)
{
	struct kgni_cq_create queue;
	struct raw r;

	must(raw_open(&r, cookie), "attach");
	must(aries_cq(r.fd, 100, 0, &queue), "queue");
	return 0;
}

static int put(uint32_t cookie, char **arg)
{
	const uint64_t bytes = number(arg[2]);
	struct aries_fma_desc desc = { .pe = number(arg[0]), .mdh = number(arg[1]) };
	unsigned long puts = 0, refused = 0;
	uint64_t data[LINE / 8];
	uint32_t status, last = 0;
	struct raw r;
	size_t i;

	for (i = 0; i < LINE / 8; i++)
		data[i] = pattern;
	must(raw_open(&r, cookie), "attach");
	for (; !over; puts++) {
		desc.offset = puts * ARIES_PAGE % bytes;
		memcpy((void *)(r.area + ARIES_DESC_FMA), &desc, sizeof(desc));
		memcpy((void *)(r.area + ARIES_DESC_LINE), data, LINE);
		__sync_synchronize();
		r.bell[ARIES_DB_FMA / 8] = (uint64_t)LINE << ARIES_DB_LEN_SHIFT |
					   (uint64_t)ARIES_FMA_PUT_LINE << ARIES_DB_OP_SHIFT;
		__sync_synchronize();
		status = raw_status(&r);
		refused += status != 0;
		if (status != last || !puts) {
			printf("status %#x at %lu\n", status, puts);
			fflush(stdout);
		}
		last = status;
		/* who is refused tries again, without keeping the other machine from its work */
		if (status)
			usleep(1000);
	}
	printf("puts %lu refused %lu\n", puts, refused);
	return 0;
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = note };

	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	if (argc == 6 && !strcmp(argv[1], "watch"))
		return watch(number(argv[2]), argv + 3);
	if (argc == 4 && !strcmp(argv[1], "free"))
		return free_objects(number(argv[2]), argv + 3);
	if (argc == 3 && !strcmp(argv[1], "queue"))
		return queue(number(argv[2]));
	if (argc == 6 && !strcmp(argv[1], "put"))
		return put(number(argv[2]), argv + 3);
	fputs("usage: reset_peer watch|free|queue|put COOKIE ...\n", stderr);
	return 2;
}
