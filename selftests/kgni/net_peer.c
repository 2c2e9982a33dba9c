// SPDX-License-Identifier: GPL-2.0-only
/*
 * Traffic over IP between two nodes, with contents that are checked.
 *
 *   net_peer sink PORT                     answers all of the following, until it is killed
 *   net_peer tcp ADDRESS PORT SECONDS      a stream; "bytes N seconds S"
 *   net_peer flows ADDRESS PORT N SECONDS  N streams at once; "bytes N seconds S", N is that of all of them
 *   net_peer udp ADDRESS PORT BYTES COUNT  datagrams as fast as it goes; "sent N received N wrong N seconds S"
 *   net_peer echo ADDRESS PORT BYTES COUNT a datagram there and back; "median N ns wrong N"
 *
 * Exit status: 0, 1 if contents were wrong or the other side did not answer.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BLOCK 65536
#define LONGEST 65507
#define FLOWS_MOST 512
#define ANSWER_MS 60000 /* far more than an answer takes */

enum kind { DATA, ECHO, COUNT };

struct head {
	uint32_t kind;
	uint32_t seed;
	uint64_t number;
};

struct count {
	struct head head;
	uint64_t received, wrong, ns;
};

static uint8_t pattern[2 * BLOCK];

static void die(const char *what)
{
	fprintf(stderr, "net_peer: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void make_pattern(void)
{
	uint64_t x = 1;
	int i;

	for (i = 0; i < BLOCK; i++) {
		x = x * 6364136223846793005ull + 1442695040888963407ull;
		pattern[i] = pattern[i + BLOCK] = x >> 56;
	}
}

static struct sockaddr_in address(const char *host, int port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port) };

	if (inet_pton(AF_INET, host, &a.sin_addr) != 1)
		die(host);
	return a;
}

static int sock(int type, const char *host, int port, int listens)
{
	struct sockaddr_in a = address(host, port);
	int fd = socket(AF_INET, type, 0), one = 1, room = 4 << 20;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (type == SOCK_DGRAM)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	if (listens ? bind(fd, (void *)&a, sizeof(a)) : connect(fd, (void *)&a, sizeof(a)))
		die(host);
	if (listens && type == SOCK_STREAM && listen(fd, FLOWS_MOST))
		die("listen");
	return fd;
}

/* Reads a stream to its end; the answer is how much came, 0 if some of it was wrong. */
static void tcp_child(int fd)
{
	static uint8_t got[BLOCK];
	uint64_t bytes = 0;
	ssize_t n;

	while ((n = read(fd, got, sizeof(got))) > 0) {
		if (memcmp(got, pattern + bytes % BLOCK, n)) {
			bytes = 0;
			break;
		}
		bytes += n;
	}
	if (n == 0)
		n = write(fd, &bytes, sizeof(bytes));
	exit(0);
}

static void udp_one(int fd)
{
	static struct count count = { .head.kind = COUNT };
	static uint8_t got[BLOCK];
	static uint64_t first;
	struct head *head = (void *)got;
	struct sockaddr_in from;
	socklen_t length = sizeof(from);
	ssize_t n = recvfrom(fd, got, sizeof(got), 0, (void *)&from, &length);

	if (n < (ssize_t)sizeof(*head))
		return;
	if (head->kind == ECHO) {
		sendto(fd, got, n, 0, (void *)&from, length);
		return;
	}
	if (head->seed != count.head.seed) {
		count = (struct count){ .head = { COUNT, head->seed } };
		first = now();
	}
	if (head->kind == COUNT) {
		sendto(fd, &count, sizeof(count), 0, (void *)&from, length);
		return;
	}
	count.received++;
	count.ns = now() - first;
	count.wrong += memcmp(got + sizeof(*head), pattern + head->number % BLOCK,
			      n - sizeof(*head)) != 0;
}

static int sink(int port)
{
	struct pollfd p[2] = { { sock(SOCK_STREAM, "0.0.0.0", port, 1), POLLIN },
			       { sock(SOCK_DGRAM, "0.0.0.0", port, 1), POLLIN } };

	signal(SIGCHLD, SIG_IGN);
	while (poll(p, 2, -1) > 0) {
		if (p[1].revents)
			udp_one(p[1].fd);
		if (p[0].revents) {
			int fd = accept(p[0].fd, NULL, NULL);

			if (fd >= 0 && !fork())
				tcp_child(fd);
			close(fd);
		}
	}
	return 1;
}

static int tcp(const char *host, int port, double seconds)
{
	int fd = sock(SOCK_STREAM, host, port, 0);
	uint64_t begin = now(), bytes = 0, there = 0;

	while (now() - begin < seconds * 1e9) {
		ssize_t n = write(fd, pattern + bytes % BLOCK, BLOCK);

		if (n < 0)
			die("write");
		bytes += n;
	}
	shutdown(fd, SHUT_WR);
	if (read(fd, &there, sizeof(there)) != sizeof(there))
		die("no answer");
	printf("bytes %llu seconds %.3f\n", (unsigned long long)bytes, (now() - begin) / 1e9);
	if (there != bytes)
		fprintf(stderr, "net_peer: %llu bytes arrived as they were\n",
			(unsigned long long)there);
	return there != bytes;
}

/* Writes to those of the streams that take something, until the time is over. */
static void flows_write(struct pollfd *p, uint64_t *bytes, int count, double seconds)
{
	uint64_t begin = now();
	int i;

	while (now() - begin < seconds * 1e9) {
		if (poll(p, count, 100) < 0)
			die("poll");
		for (i = 0; i < count; i++) {
			const uint8_t *next = pattern + bytes[i] % BLOCK;
			ssize_t n = p[i].revents ? write(p[i].fd, next, BLOCK) : 0;

			if (n < 0 && errno != EAGAIN)
				die("write");
			bytes[i] += n < 0 ? 0 : n;
		}
	}
}

static int flows(const char *host, int port, int count, double seconds)
{
	static struct pollfd p[FLOWS_MOST];
	static uint64_t bytes[FLOWS_MOST];
	uint64_t begin, all = 0, there, wrong = 0;
	int i;

	for (i = 0; i < count; i++)
		p[i] = (struct pollfd){ sock(SOCK_STREAM, host, port, 0), POLLOUT };
	for (i = 0; i < count; i++)
		fcntl(p[i].fd, F_SETFL, O_NONBLOCK);
	begin = now();
	flows_write(p, bytes, count, seconds);
	for (i = 0; i < count; i++) {
		fcntl(p[i].fd, F_SETFL, 0);
		shutdown(p[i].fd, SHUT_WR);
	}
	for (i = 0; i < count; i++) {
		if (read(p[i].fd, &there, sizeof(there)) != sizeof(there))
			die("no answer");
		wrong += there != bytes[i];
		all += bytes[i];
	}
	printf("bytes %llu seconds %.3f\n", (unsigned long long)all, (now() - begin) / 1e9);
	if (wrong)
		fprintf(stderr, "net_peer: %llu of %d streams did not arrive as they were\n",
			(unsigned long long)wrong, count);
	return wrong != 0;
}

/* Asks until there is an answer. */
static int udp_count(int fd, uint32_t seed, struct count *count)
{
	struct head ask = { COUNT, seed };
	int i;

	for (i = 0; i < ANSWER_MS / 100; i++) {
		struct pollfd p = { fd, POLLIN };

		if (send(fd, &ask, sizeof(ask), 0) < 0 && errno != ECONNREFUSED)
			die("send");
		while (poll(&p, 1, 100) > 0)
			if (recv(fd, count, sizeof(*count), 0) == sizeof(*count) &&
			    count->head.seed == seed)
				return 0;
	}
	errno = ETIMEDOUT;
	return -1;
}

static int udp(const char *host, int port, unsigned int bytes, uint64_t number)
{
	int fd = sock(SOCK_DGRAM, host, port, 0);
	uint32_t seed = now();
	struct head head = { DATA, seed };
	uint8_t out[LONGEST];
	struct count count;

	for (head.number = 0; head.number < number; head.number++) {
		memcpy(out, &head, sizeof(head));
		memcpy(out + sizeof(head), pattern + head.number % BLOCK, bytes - sizeof(head));
		if (send(fd, out, bytes, 0) < 0 && errno != ENOBUFS && errno != ECONNREFUSED)
			die("send");
	}
	if (udp_count(fd, seed, &count))
		die("no answer");
	printf("sent %llu received %llu wrong %llu seconds %.6f\n", (unsigned long long)number,
	       (unsigned long long)count.received, (unsigned long long)count.wrong, count.ns / 1e9);
	return count.wrong != 0;
}

static int order(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Sends a datagram and waits for its echo: how long that took, 0 if it was not what was sent. */
static uint64_t echo_one(int fd, const uint8_t *out, unsigned int bytes)
{
	struct pollfd p = { fd, POLLIN };
	uint64_t begin = now();
	uint8_t got[LONGEST];
	ssize_t n = send(fd, out, bytes, 0);

	if (n >= 0 && poll(&p, 1, ANSWER_MS) == 0) {
		errno = ETIMEDOUT;
		n = -1;
	}
	if (n >= 0)
		n = recv(fd, got, sizeof(got), 0);
	if (n < 0)
		die("no echo");
	return n == (ssize_t)bytes && !memcmp(got, out, bytes) ? now() - begin : 0;
}

static int echo(const char *host, int port, unsigned int bytes, uint64_t number)
{
	int fd = sock(SOCK_DGRAM, host, port, 0);
	uint64_t *ns = calloc(number, sizeof(*ns)), n = 0, i;
	uint8_t out[LONGEST] = {};

	for (i = 0; i < number; i++) {
		struct head head = { ECHO, getpid(), i };

		memcpy(out, &head, sizeof(head));
		memcpy(out + sizeof(head), pattern + i, bytes - sizeof(head));
		ns[n] = echo_one(fd, out, bytes);
		n += ns[n] != 0;
	}
	qsort(ns, n, sizeof(*ns), order);
	printf("median %llu ns wrong %llu\n", (unsigned long long)(n ? ns[n / 2] : 0),
	       (unsigned long long)(number - n));
	return n != number;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	make_pattern();
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!strcmp(what, "sink") && argc == 3)
		return sink(atoi(argv[2]));
	if (!strcmp(what, "tcp") && argc == 5)
		return tcp(argv[2], atoi(argv[3]), atof(argv[4]));
	if (!strcmp(what, "flows") && argc == 6 && atoi(argv[4]) <= FLOWS_MOST)
		return flows(argv[2], atoi(argv[3]), atoi(argv[4]), atof(argv[5]));
	if (!strcmp(what, "udp") && argc == 6)
		return udp(argv[2], atoi(argv[3]), atoi(argv[4]), atoll(argv[5]));
	if (!strcmp(what, "echo") && argc == 6)
		return echo(argv[2], atoi(argv[3]), atoi(argv[4]), atoll(argv[5]));
	fprintf(stderr, "usage: see the beginning of net_peer.c\n");
	return 2;
}
