// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random datagrams between three simulated nodes, with every failure that can be injected. In all
 * cases: no datagram receives data of another domain or of a partner that it did not match, two
 * wildcards never match, and when the failures stop, no two pending datagrams match each other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "node.h"

#define ENDPOINTS 3
#define STEPS 6000
#define POSTS (STEPS + 1)
#define SEEDS 12

enum progress {
	FREE,
	OUT,
	ENDED, /* with a final state */
	GONE, /* removed with its process, or by a cancel */
};

/* One datagram. Its data contain its number. */
struct post {
	enum progress progress;
	u32 pe, file, ep, state, partner;
	bool wild, cancelled;
};

static struct post posts[POSTS];
static u32 nposts;

static struct post *find_post(u32 pe, u32 file, u32 ep)
{
	u32 n;

	for (n = nposts; n > 0; n--)
		if (posts[n].progress == OUT && posts[n].pe == pe && posts[n].file == file &&
		    posts[n].ep == ep)
			return &posts[n];
	return NULL;
}

static void do_post(u32 pe, u32 file, u32 ep, bool wild)
{
	struct kgni_dgram_post arg = { .flags = KGNI_DGRAM_ID, .ep = ep, .id = nposts + 1 };
	const u32 data[] = { nposts + 1, sim_cookie(file), pe, sim_instance(file) };
	int rc;

	arg.length = sizeof(data);
	memcpy(arg.data, data, sizeof(data));
	if (wild) {
		arg.flags |= KGNI_DGRAM_WILDCARD;
	} else {
		arg.pe = sim_pick(SIM_NODES);
		arg.inst_id = sim_pick(SIM_INSTANCES);
	}
	rc = aries_dgram_post(sim_node[pe].own[file], &arg);
	if (rc == -EBUSY || (rc == -ENOMEM && sim_trouble & SIM_NOMEM))
		return;
	assert_int_equal(rc, 0);
	posts[++nposts] = (struct post){ .progress = OUT, .pe = pe, .file = file, .ep = ep,
					 .wild = wild };
}

static void check_completed(struct post *p, const struct kgni_dgram_test *t)
{
	u32 data[4], me = (u32)(p - posts);

	if (sim_trouble & SIM_HOSTILE)
		return;
	assert_int_equal(t->length, sizeof(data));
	memcpy(data, t->data, sizeof(data));
	assert_in_range(data[0], 1, nposts);
	assert_int_not_equal(data[0], me);
	assert_int_equal(data[1], sim_cookie(p->file));
	assert_int_equal(data[2], t->pe);
	assert_int_equal(data[3], t->inst_id);
	assert_false(p->wild && posts[data[0]].wild);
	p->partner = data[0];
}

static void do_test(u32 pe, u32 file, u32 ep)
{
	struct kgni_dgram_test t = { .ep = ep };
	struct post *p = find_post(pe, file, ep);
	int rc = aries_dgram_test(sim_node[pe].own[file], &t);

	assert_int_equal(rc, p ? 0 : -ENOENT);
	if (rc || t.state == KGNI_DGRAM_PENDING || t.state == KGNI_DGRAM_REMOTE_DATA)
		return;
	p->progress = ENDED;
	p->state = t.state;
	if (t.state == KGNI_DGRAM_COMPLETED)
		check_completed(p, &t);
}

static void do_cancel(u32 pe, u32 file, u32 ep)
{
	struct kgni_dgram_cancel c = { .ep = ep };
	struct post *p = find_post(pe, file, ep);
	int rc = aries_dgram_cancel(sim_node[pe].own[file], &c);

	if (!p || !p->cancelled)
		assert_int_equal(rc, p ? 0 : -ENOENT);
	if (p)
		p->cancelled = true;
	if (!rc && c.gone)
		p->progress = GONE;
}

static void forget(u32 pe, u32 file)
{
	u32 n;

	for (n = 1; n <= nposts; n++)
		if (posts[n].progress == OUT && posts[n].pe == pe && posts[n].file == file)
			posts[n].progress = GONE;
}

static void take_down(u32 pe)
{
	u32 file;

	for (file = 0; file < SIM_FILES; file++)
		forget(pe, file);
	sim_down(pe);
}

static void act(u32 pe, u32 file, u32 ep)
{
	switch (sim_pick(8)) {
	case 0:
	case 1:
	case 2:
		do_post(pe, file, ep, !sim_pick(3));
		break;
	case 3:
		if (sim_trouble & SIM_CANCEL && !sim_pick(3))
			do_cancel(pe, file, ep);
		break;
	case 4:
		if (sim_trouble & SIM_EXIT && !sim_pick(50)) {
			forget(pe, file);
			sim_detach(pe, file);
			sim_attach(pe, file);
		}
		break;
	case 5:
		if (sim_trouble & SIM_HOSTILE)
			sim_tamper(&sim_node[pe]);
		break;
	case 6:
		if (sim_trouble & SIM_RESTART && !sim_pick(200))
			take_down(pe);
		break;
	}
}

static void step(void)
{
	u32 pe = sim_pick(SIM_NODES), file = sim_pick(SIM_FILES), ep;

	if (sim_node[pe].up)
		act(pe, file, sim_pick(ENDPOINTS));
	else if (!sim_pick(20))
		sim_up(pe);
	for (ep = 0; ep < ENDPOINTS && sim_node[pe].up; ep++)
		do_test(pe, file, ep);
	for (pe = 0; pe < SIM_NODES; pe++)
		if (sim_pick(3))
			sim_work(&sim_node[pe]);
	if (!sim_pick(4))
		jiffies += sim_pick(3) ? 1 : sim_pick(HZ);
}

/* Starts all nodes, stops the failures, and lets enough time pass. */
static void calm_down(void)
{
	u32 pe, file, ep;
	int n;

	sim_trouble &= ~(SIM_LOSE | SIM_NOMEM);
	for (pe = 0; pe < SIM_NODES; pe++)
		if (!sim_node[pe].up)
			sim_up(pe);
	for (n = 0; n < 3000; n++) {
		for (pe = 0; pe < SIM_NODES; pe++)
			sim_work(&sim_node[pe]);
		jiffies += HZ / 10;
	}
	for (pe = 0; pe < SIM_NODES; pe++)
		for (file = 0; file < SIM_FILES; file++)
			for (ep = 0; ep < ENDPOINTS; ep++)
				do_test(pe, file, ep);
}

static bool would_meet(const struct aries_dgram *dg, const struct aries_dgram *other)
{
	const struct aries_dgrams *mine = &dg->own->dg, *theirs = &other->own->dg;
	u32 pe = dg->own->ad->pe;

	if (dg == other || dg->flags & KGNI_DGRAM_WILDCARD || mine->cookie != theirs->cookie ||
	    dg->to_pe != other->own->ad->pe || dg->to_inst != theirs->inst_id)
		return false;
	return other->flags & KGNI_DGRAM_WILDCARD ||
	       (other->to_pe == pe && other->to_inst == mine->inst_id);
}

static void check_against_all(const struct aries_dgram *dg)
{
	struct aries_dgram *other;
	u32 pe, file;

	for (pe = 0; pe < SIM_NODES; pe++)
		for (file = 0; file < SIM_FILES; file++)
			list_for_each_entry(other, &sim_node[pe].own[file]->dg.pending, node)
				assert_false(would_meet(dg, other));
}

static void check_pending(void)
{
	struct aries_dgram *dg;
	u32 pe, file;

	for (pe = 0; pe < SIM_NODES; pe++)
		for (file = 0; file < SIM_FILES; file++)
			list_for_each_entry(dg, &sim_node[pe].own[file]->dg.pending, node) {
				assert_int_equal(dg->state, KGNI_DGRAM_PENDING);
				check_against_all(dg);
			}
}

/* A match must be mutual. */
static void check_pairs(void)
{
	u32 n;

	for (n = 1; n <= nposts; n++) {
		const struct post *p = &posts[n], *partner = &posts[p->partner];

		if (p->progress != ENDED || p->state != KGNI_DGRAM_COMPLETED)
			continue;
		assert_int_equal(partner->progress, ENDED);
		assert_int_equal(partner->state, KGNI_DGRAM_COMPLETED);
		assert_int_equal(partner->partner, n);
	}
}

static u32 count(u32 state)
{
	u32 n, found = 0;

	for (n = 1; n <= nposts; n++)
		found += posts[n].progress == ENDED && posts[n].state == state;
	return found;
}

static void run(unsigned int trouble, u64 seed)
{
	u32 pe;
	int n;

	sim_seed(seed);
	nposts = 0;
	memset(posts, 0, sizeof(posts));
	sim_trouble = 0;
	for (pe = 0; pe < SIM_NODES; pe++)
		sim_up(pe);
	sim_trouble = trouble;
	for (n = 0; n < STEPS; n++)
		step();
	calm_down();
	check_pending();
	if (!(trouble & ~SIM_NOMEM))
		check_pairs();
	assert_true(count(KGNI_DGRAM_COMPLETED) > nposts / 3);
	if (!trouble)
		assert_int_equal(count(KGNI_DGRAM_TIMEOUT) + count(KGNI_DGRAM_TERMINATED), 0);
	/* a fifth of all puts fail, but retries hardly ever fail for 10 s in a row */
	if (trouble == SIM_LOSE)
		assert_true(count(KGNI_DGRAM_TIMEOUT) <= nposts / 50);
	for (pe = 0; pe < SIM_NODES; pe++)
		sim_down(pe);
}

static void run_seeds(unsigned int trouble)
{
	u64 seed;

	for (seed = 1; seed <= SEEDS; seed++)
		run(trouble, seed);
}

static void undisturbed(void **state)
{
	run_seeds(0);
}

static void packets_get_lost(void **state)
{
	run_seeds(SIM_LOSE);
}

static void memory_is_scarce(void **state)
{
	run_seeds(SIM_NOMEM);
}

static void nodes_restart(void **state)
{
	run_seeds(SIM_RESTART);
}

static void processes_end(void **state)
{
	run_seeds(SIM_EXIT);
}

static void datagrams_are_cancelled(void **state)
{
	run_seeds(SIM_CANCEL);
}

static void everything_but_malice(void **state)
{
	run_seeds(SIM_LOSE | SIM_NOMEM | SIM_RESTART | SIM_EXIT | SIM_CANCEL);
}

/*
 * A malicious driver may disturb any datagram, but nothing may break, and afterwards all must work.
 */
static void a_driver_lies(void **state)
{
	run_seeds(SIM_HOSTILE);
	run_seeds(SIM_HOSTILE | SIM_LOSE | SIM_NOMEM | SIM_RESTART | SIM_EXIT | SIM_CANCEL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(undisturbed),
		cmocka_unit_test(packets_get_lost),
		cmocka_unit_test(memory_is_scarce),
		cmocka_unit_test(nodes_restart),
		cmocka_unit_test(processes_end),
		cmocka_unit_test(datagrams_are_cancelled),
		cmocka_unit_test(everything_but_malice),
		cmocka_unit_test(a_driver_lies),
	};

	return cmocka_run_group_tests_name("datagrams of drivers", tests, NULL, NULL);
}
