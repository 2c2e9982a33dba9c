/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What must hold of all that a worker and an owner have done and seen. */
#include <cinttypes>
#include <cstdarg>

#include "fuzz/churn.hpp"

using namespace aries_test;

namespace aries_fuzz
{

namespace
{

/* Refused before the rights to a queue were looked at, or because there are none: there is no event. */
bool has_no_event(const Op &op)
{
	return op.status == ARIES_ST_CQ_OWNER || op.status == ARIES_ST_DISABLED || op.status == ARIES_ST_QUEUE_FULL ||
	       op.status == ARIES_ST_CE_BUSY;
}

unsigned int source_of(Kind kind)
{
	switch (kind) {
	case Kind::BLOCK:
	case Kind::SEND:
		return ARIES_SRC_BTE;
	default:
		return ARIES_SRC_FMA;
	}
}

void found(unsigned int &count, uint8_t wanted, const Op &op, size_t number, const char *what)
{
	if (!wanted)
		wrong("operation %zu, of kind %d: a %s event that nobody asked for", number, int(op.kind), what);
	if (++count > 1)
		wrong("operation %zu, of kind %d, status 0x%x: its %s event came twice, the second time with status "
		      "0x%x",
		      number, int(op.kind), unsigned(op.status), what, unsigned(op.outcome));
}

} // namespace

void wrong(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "not so: ");
	vfprintf(stderr, format, args);
	fprintf(stderr, "\n");
	va_end(args);
	abort();
}

void Record::source_event(const QueueLife &queue, const Event &event)
{
	const size_t number = event.data();

	if (!number || number > ops.size())
		wrong("queue %u of node %u: an event of nobody, %#llx", queue.number, queue.node,
		      static_cast<unsigned long long>(event.word));
	Op &op = ops[number - 1];

	if (op.cq != queue.number || !Span{op.begin, op.rung}.meets(queue.possible))
		wrong("operation %zu of a former owner of queue %u: its event is in the queue of another one", number,
		      queue.number);
	if (event.source() != source_of(op.kind) && !(op.kind == Kind::COLLECTIVE && event.source() == ARIES_SRC_CE))
		wrong("operation %zu: an event of source %u", number, event.source());
	op.outcome = uint8_t(event.status());
	if (event.info() == ARIES_INFO_LOCAL)
		found(op.local, op.mode & ARIES_EV_LOCAL, op, number, "local");
	else
		found(op.global, op.mode & ARIES_EV_GLOBAL, op, number, "global");
}

/** Whether an operation may have an event in queue life @queue of the home node. */
bool Record::has_way(const Op &op, size_t queue) const
{
	for (const DomainLife &domain : domains) {
		if (domain.node == HOME && domain.queue == int(queue) && op.names(domain.number) &&
		    Span{op.begin, op.done}.meets(domain.possible))
			return true;
	}
	return false;
}

void Record::remote_event(size_t index, const Event &event)
{
	const QueueLife &queue = queues[index];
	const size_t number = event.data() & ~POSTING;

	if (event.data() & POSTING) {
		if (queue.number != STEADY_CQ || number >= postings.size())
			wrong("queue %u: an event of receive posting %zu", queue.number, number);
		postings[number].events++;
		return;
	}
	if (!number || number > ops.size() || !has_way(ops[number - 1], index))
		wrong("queue %u: remote event of operation %zu, which named no region with that queue", queue.number,
		      number);
	Op &op = ops[number - 1];

	found(op.remote, op.kind == Kind::CQWRITE ? 1 : op.mode & ARIES_EV_REMOTE, op, number, "remote");
}

void Record::sort_events()
{
	for (size_t i = 0; i < queues.size(); i++) {
		for (const Event &event : queues[i].events) {
			if (queues[i].node == WORKER)
				source_event(queues[i], event);
			else
				remote_event(i, event);
		}
	}
}

/* Whose queue was there all the time finds all of its events, or is told that some are lost. */
void Record::expect_source(const Op &op)
{
	QueueLife *only = nullptr;
	unsigned int lives = 0;

	if (has_no_event(op) || op.kind == Kind::COLLECTIVE)
		return;
	for (QueueLife &queue : queues) {
		if (queue.node == WORKER && queue.number == op.cq && Span{op.begin, op.rung}.meets(queue.possible)) {
			only = &queue;
			lives++;
		}
	}
	if (lives != 1 || only->stop < op.done)
		return;
	only->missing += (op.mode & ARIES_EV_LOCAL && !op.local) + (op.mode & ARIES_EV_GLOBAL && !op.global);
}

void Record::expect_remote(const Op &op)
{
	const DomainLife *only = nullptr;
	unsigned int lives = 0;
	const bool block = op.kind == Kind::BLOCK;
	const bool wanted = op.kind == Kind::CQWRITE || (op.mode & ARIES_EV_REMOTE);

	if (!wanted || op.remote || op.kind == Kind::SEND || op.kind == Kind::COLLECTIVE ||
	    (block ? op.outcome : op.status) != ARIES_ST_OK)
		return;
	for (const DomainLife &domain : domains) {
		if (domain.node == HOME && op.names(domain.number) && Span{op.begin, op.done}.meets(domain.possible)) {
			only = &domain;
			lives++;
		}
	}
	if (!lives)
		wrong("an operation of kind %d succeeded in a region that was not there", int(op.kind));
	if (lives == 1 && only->stop > op.done && only->queue >= 0 && queues[size_t(only->queue)].stop > op.done)
		queues[size_t(only->queue)].missing++;
}

void Record::count_atomic(const Op &op)
{
	std::vector<DomainLife *> lives;

	if (op.kind != Kind::ATOMIC || op.status != ARIES_ST_OK)
		return;
	for (DomainLife &domain : domains) {
		if (domain.node == HOME && op.names(domain.number) && Span{op.begin, op.rung}.meets(domain.possible))
			lives.push_back(&domain);
	}
	for (DomainLife *domain : lives)
		(lives.size() == 1 ? domain->surely : domain->perhaps)++;
}

void Record::judge(uint64_t sends)
{
	uint64_t arrived = 0, lost = 0, told = 0;

	sort_events();
	for (const Op &op : ops) {
		expect_source(op);
		expect_remote(op);
		count_atomic(op);
	}
	for (const QueueLife &queue : queues) {
		if (queue.missing > queue.dropped)
			wrong("queue %u of node %u: %llu events are missing, %llu were dropped", queue.number,
			      queue.node, static_cast<unsigned long long>(queue.missing),
			      static_cast<unsigned long long>(queue.dropped));
		if (!queue.dropped != !queue.marks)
			wrong("queue %u of node %u: %llu events were dropped, and %llu marks say so", queue.number,
			      queue.node, static_cast<unsigned long long>(queue.dropped),
			      static_cast<unsigned long long>(queue.marks));
		if (queue.node == HOME && queue.number == STEADY_CQ)
			lost = queue.dropped;
	}
	for (const DomainLife &domain : domains) {
		if (domain.counted &&
		    (domain.atomics < domain.surely || domain.atomics > domain.surely + domain.perhaps))
			wrong("%" PRIu64 " atomics were done, between %" PRIu64 " and %" PRIu64 " were told to be",
			      domain.atomics, domain.surely, domain.surely + domain.perhaps);
	}
	for (const Posting &posting : postings) {
		if (posting.events > (posting.done ? 1u : 0u))
			wrong("a receive that %s has %u events", posting.done ? "is done" : "was taken back",
			      posting.events);
		arrived += posting.done;
		told += posting.events;
	}
	if (arrived != sends || told + lost < arrived)
		wrong("%llu messages were sent, %llu receives are done, and %llu events say so",
		      static_cast<unsigned long long>(sends), static_cast<unsigned long long>(arrived),
		      static_cast<unsigned long long>(told));
}

} // namespace aries_fuzz
