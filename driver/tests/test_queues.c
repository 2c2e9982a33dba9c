// SPDX-License-Identifier: GPL-2.0-only
/*
 * Completion queues of processes and of clients in the kernel: what the NIC is told, when a queue
 * may end, and until when its memory and its number stay.
 */
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "aries_obj.h"
#include "aries_kapi.h"

#define COOKIE 0x11110000u

static struct aries_dev *ad;
static struct aries_owner own;
static unsigned int handled, armed;

static void handler(void *data)
{
	assert_ptr_equal(data, &handled);
	handled++;
}

static void written(struct aries_dev *dev, u32 reg, u64 value)
{
	armed += reg == ARIES_CQI_ARM;
}

static int begin(void **state)
{
	ad = sim_nic_begin();
	sim_nic.written = written;
	sim_owner_begin(ad, &own, COOKIE);
	handled = 0;
	armed = 0;
	return 0;
}

static int end(void **state)
{
	assert_int_equal(own.dom->used[ARIES_RES_CQ], 0);
	assert_int_equal(aries_pool_used(&ad->cqs), 0);
	sim_owner_end(&own);
	return sim_nic_end(ad);
}

static u64 ctl(u32 nr)
{
	return aries_rd64(ad, ARIES_CQ_CTL_N(nr));
}

static int create(u32 entries, u32 flags, u32 delay, struct kgni_cq_create *arg)
{
	*arg = (struct kgni_cq_create){ .entries = entries, .flags = flags, .delay = delay };
	return aries_cq_create(&own, arg);
}

static int destroy(u32 nr)
{
	struct kgni_cq_destroy arg = { .cq = nr };

	return aries_cq_destroy(&own, &arg);
}

static struct aries_cq *find(u32 nr)
{
	struct aries_cq *cq;

	mutex_lock(&own.lock);
	cq = aries_cq_find(&own, nr);
	mutex_unlock(&own.lock);
	return cq;
}

/* The NIC writes an entry, and publishes it last. */
static void event(struct aries_cq *cq, u64 n, u64 entry)
{
	u64 *slots = cq->mem + ARIES_CQ_HEADER_BYTES;

	slots[n & ((1ull << cq->log2) - 1)] = entry;
}

static void sizes(void **state)
{
	struct kgni_cq_create arg;
	struct aries_cq *cq;

	assert_int_equal(create(1, 0, 0, &arg), 0);
	assert_int_equal(arg.entries, 1u << ARIES_CQ_LOG2_MIN);
	assert_int_equal(destroy(arg.cq), 0);
	/* one more than wanted: a queue that is full has a slot that is free */
	assert_int_equal(create(512, KGNI_CQ_BLOCKING, 7, &arg), 0);
	assert_int_equal(arg.entries, 1024);
	assert_int_equal(arg.mmap_size, ARIES_CQ_HEADER_BYTES + 8192);
	cq = find(arg.cq);
	assert_int_equal(sim_nic.charged, 3);
	assert_int_equal(aries_rd64(ad, ARIES_CQ_BASE_N(arg.cq)), cq->dma);
	assert_int_equal(ctl(arg.cq), FIELD_PREP(ARIES_CQ_CTL_VALID_MASK, 1ull) |
					      FIELD_PREP(ARIES_CQ_CTL_IRQ_MASK, 1ull) |
					      FIELD_PREP(ARIES_CQ_CTL_LOG2_MASK, 10ull) |
					      FIELD_PREP(ARIES_CQ_CTL_OWNER_MASK, (u64)own.nr) |
					      FIELD_PREP(ARIES_CQ_CTL_VECTOR_MASK, 2ull) |
					      FIELD_PREP(ARIES_CQ_CTL_DELAY_MASK, 7ull));
	assert_int_equal(destroy(arg.cq), 0);
	assert_int_equal(ctl(arg.cq), 0);
	assert_int_equal(destroy(arg.cq), -ENOENT);
	/* nobody waits for one that does not interrupt */
	assert_int_equal(create(511, 0, 7, &arg), 0);
	assert_int_equal(arg.entries, 512);
	assert_int_equal(FIELD_GET(ARIES_CQ_CTL_DELAY_MASK, ctl(arg.cq)), 0);
	assert_int_equal(destroy(arg.cq), 0);
}

static void refused(void **state)
{
	struct kgni_cq_create arg;
	unsigned int i;

	assert_int_equal(create(0, 0, 0, &arg), -EINVAL);
	assert_int_equal(create(1, ~KGNI_CQ_BLOCKING, 0, &arg), -EINVAL);
	assert_int_equal(create(4, KGNI_CQ_BLOCKING, 5, &arg), -EINVAL);
	assert_int_equal(create(1u << ARIES_CQ_LOG2_MAX, 0, 0, &arg), -EFBIG);
	for (i = 1; i <= 2; i++) {
		sim_fail_in = i;
		assert_int_equal(create(16, 0, 0, &arg), -ENOMEM);
	}
	sim_nic.room = 1;
	assert_int_equal(create(16, 0, 0, &arg), -EPERM);
	sim_nic.room = 100;
	own.dom->limit[ARIES_RES_CQ] = 0;
	assert_int_equal(create(16, 0, 0, &arg), -ENOSPC);
	own.dom->limit[ARIES_RES_CQ] = 100;
	for (i = 0; i < aries_pool_total(&ad->cqs); i++)
		assert_int_equal(create(16, 0, 0, &arg), 0);
	assert_int_equal(create(16, 0, 0, &arg), -ENOSPC);
	for (i = 1; i < ad->ncq; i++)
		assert_int_equal(destroy(i), 0);
	WRITE_ONCE(own.dead, true);
	assert_int_equal(create(16, 0, 0, &arg), -EIO);
}

static void in_use(void **state)
{
	struct kgni_cq_create arg;
	unsigned int *uses[3], i;
	struct aries_cq *cq;

	assert_int_equal(create(16, 0, 0, &arg), 0);
	cq = find(arg.cq);
	uses[0] = &cq->mem_refs;
	uses[1] = &cq->ce_refs;
	uses[2] = &cq->waiters;
	for (i = 0; i < ARRAY_SIZE(uses); i++) {
		(*uses[i])++;
		assert_int_equal(destroy(arg.cq), -EBUSY);
		assert_int_not_equal(ctl(arg.cq), 0);
		(*uses[i])--;
	}
	assert_int_equal(destroy(arg.cq), 0);
}

/* The NIC may write until it says that it does not: the memory stays, and the number is not reused. */
static void until_the_nic_has_ended(void **state)
{
	struct kgni_cq_create arg, other;
	struct aries_cq *cq;
	unsigned int before;

	assert_int_equal(create(16, 0, 0, &arg), 0);
	cq = find(arg.cq);
	kref_get(&cq->ref);
	before = sim_allocated;
	sim_nic.busy = true;
	assert_int_equal(destroy(arg.cq), 0);
	assert_null(find(arg.cq));
	assert_null(ad->cq_table[arg.cq]);
	assert_null(cq->mem);
	assert_int_equal(sim_allocated, before);
	assert_int_equal(sim_mapped, 1);
	assert_int_equal(own.dom->used[ARIES_RES_CQ], 1);
	assert_int_equal(create(16, 0, 0, &other), 0);
	assert_int_not_equal(other.cq, arg.cq);
	aries_kept_work(&ad->kept_work.work);
	assert_int_equal(sim_mapped, 2);
	sim_nic.busy = false;
	aries_kept_work(&ad->kept_work.work);
	assert_int_equal(sim_mapped, 1);
	assert_int_equal(own.dom->used[ARIES_RES_CQ], 1);
	assert_int_equal(destroy(other.cq), 0);
	aries_cq_put(cq);
}

static void all_of_an_owner(void **state)
{
	struct kgni_cq_create arg;
	LIST_HEAD(gone);
	unsigned int i;

	for (i = 0; i < 3; i++)
		assert_int_equal(create(16, 0, 0, &arg), 0);
	down_read(&ad->state_sem);
	mutex_lock(&own.lock);
	aries_cq_teardown(&own, &gone);
	for (i = 1; i <= 3; i++)
		assert_int_equal(ctl(i), 0);
	aries_owner_exit_free(&own, &gone);
	assert_true(list_empty(&gone));
}

/* A client's queue: its entries once and in order, and an interrupt only if it has found none. */
static void of_the_kernel(void **state)
{
	const struct aries_queue_args args = { .entries = 3, .handler = handler, .data = &handled };
	struct aries_cq *cq = aries_queue_create(&own, &args);
	const u64 slots = aries_queue_entries(cq);
	struct aries_cq_header *header = cq->mem;
	u64 n, entry;

	assert_int_equal(sim_nic.charged, 0);
	assert_int_equal(armed, 1);
	assert_int_equal(aries_queue_poll(cq, &entry), -EAGAIN);
	assert_int_equal(armed, 1);
	for (n = 0; n < 3 * slots; n++) {
		event(cq, n, 0x100 + n);
		aries_cq_wake(ad, aries_queue_nr(cq));
		assert_int_equal(aries_queue_poll(cq, &entry), 0);
		assert_int_equal(entry, 0x100 + n);
		assert_int_equal(header->consumed, n + 1);
		assert_int_equal(armed, n + 1);
		assert_int_equal(aries_queue_poll(cq, &entry), -EAGAIN);
		assert_int_equal(armed, n + 2);
	}
	assert_int_equal(handled, 3 * slots);
	/* other numbers, of queues that there are not */
	aries_cq_wake(ad, aries_queue_nr(cq) + 1);
	aries_cq_wake(ad, 60000);
	assert_int_equal(handled, 3 * slots);
	cq->mem_refs++;
	assert_int_equal(aries_queue_destroy(cq), -EBUSY);
	cq->mem_refs--;
	assert_int_equal(aries_queue_destroy(cq), 0);
}

static void of_the_kernel_when_it_is_gone(void **state)
{
	const struct aries_queue_args args = { .entries = 3 };
	struct aries_cq *cq = aries_queue_create(&own, &args);
	LIST_HEAD(gone);
	u64 entry;

	event(cq, 0, 1);
	down_read(&ad->state_sem);
	mutex_lock(&own.lock);
	aries_cq_teardown(&own, &gone);
	aries_owner_exit_free(&own, &gone);
	assert_int_equal(aries_queue_poll(cq, &entry), -EIO);
	ad->state = ARIES_STATE_GONE;
	assert_int_equal(aries_queue_poll(cq, &entry), -ENODEV);
	ad->state = ARIES_STATE_UP;
	assert_int_equal(armed, 0);
	assert_int_equal(aries_queue_destroy(cq), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(sizes, begin, end),
		cmocka_unit_test_setup_teardown(refused, begin, end),
		cmocka_unit_test_setup_teardown(in_use, begin, end),
		cmocka_unit_test_setup_teardown(until_the_nic_has_ended, begin, end),
		cmocka_unit_test_setup_teardown(all_of_an_owner, begin, end),
		cmocka_unit_test_setup_teardown(of_the_kernel, begin, end),
		cmocka_unit_test_setup_teardown(of_the_kernel_when_it_is_gone, begin, end),
	};

	return cmocka_run_group_tests_name("queues", tests, NULL, NULL);
}
