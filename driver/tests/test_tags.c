// SPDX-License-Identifier: GPL-2.0-only
/* Protection tags: who gets which, what the NIC is told of them, and what a domain may use. */
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "aries_obj.h"
#include "aries_ptag.h"

#define COOKIE 0x11110000u
#define OTHER 0x22220000u

static struct aries_dev *ad;

static int begin(void **state)
{
	ad = sim_nic_begin();
	return 0;
}

static int end(void **state)
{
	return sim_nic_end(ad);
}

static struct aries_domain *join(u8 ptag, u32 cookie)
{
	struct aries_domain *dom = aries_domain_join(ad, ptag, cookie, false);

	assert_false(IS_ERR(dom));
	return dom;
}

static void refused(u8 ptag, u32 cookie, bool trusted, int error)
{
	struct aries_domain *dom = aries_domain_join(ad, ptag, cookie, trusted);

	assert_true(IS_ERR(dom));
	assert_int_equal(PTR_ERR(dom), error);
}

static u64 key(u8 ptag)
{
	return aries_rd64(ad, ARIES_PTAG_KEY_N(ptag));
}

static u64 valid_key(u32 cookie)
{
	return FIELD_PREP(ARIES_PTAG_KEY_KEY_MASK, (u64)cookie) |
	       FIELD_PREP(ARIES_PTAG_KEY_VALID_MASK, 1ull);
}

/* One cookie, one tag: whoever has the cookie gets the tag, and nobody else does. */
static void a_cookie_has_one_tag(void **state)
{
	struct aries_domain *one = join(ARIES_PTAG_ANY, COOKIE), *two;

	assert_int_equal(one->ptag, ARIES_PTAG_USER_FIRST);
	assert_int_equal(key(one->ptag), valid_key(COOKIE));
	assert_ptr_equal(join(ARIES_PTAG_ANY, COOKIE), one);
	assert_ptr_equal(join(one->ptag, COOKIE), one);
	refused(one->ptag + 1, COOKIE, false, -EACCES);
	refused(one->ptag, OTHER, false, -EACCES);
	refused(one->ptag, OTHER, true, -EACCES);
	two = join(ARIES_PTAG_ANY, OTHER);
	assert_int_equal(two->ptag, ARIES_PTAG_USER_FIRST + 1);
	aries_domain_leave(ad, two);
	aries_domain_leave(ad, one);
	aries_domain_leave(ad, one);
	assert_ptr_equal(ad->domain[one->ptag], one);
	aries_domain_leave(ad, one);
}

static void who_may(void **state)
{
	struct aries_domain *dom, *kernel = join(1, OTHER);

	refused(0, COOKIE, true, -EINVAL);
	refused(ARIES_CHAN_PTAG, COOKIE, true, -EACCES);
	refused(ARIES_PTAG_ANY, ARIES_CHAN_COOKIE, true, -EACCES);
	sim_privileged = false;
	refused(ARIES_PTAG_ANY, COOKIE, false, -EPERM);
	refused(7, COOKIE, false, -EPERM);
	/* a tag of the kernel, by its number and by its cookie */
	refused(1, OTHER, false, -EINVAL);
	refused(ARIES_PTAG_BOOT, COOKIE, false, -EINVAL);
	refused(ARIES_PTAG_ANY, OTHER, false, -EACCES);
	assert_int_equal(PTR_ERR(aries_domain_enter(ad, ARIES_PTAG_ANY, COOKIE)), -ENOENT);
	/* the kernel itself asks nobody, and then a process needs the cookie alone */
	dom = aries_domain_join(ad, ARIES_PTAG_ANY, COOKIE, true);
	assert_ptr_equal(join(ARIES_PTAG_ANY, COOKIE), dom);
	assert_ptr_equal(aries_domain_enter(ad, dom->ptag, COOKIE), dom);
	assert_int_equal(dom->attached, 3);
	aries_domain_leave(ad, dom);
	aries_domain_leave(ad, dom);
	aries_domain_leave(ad, dom);
	aries_domain_leave(ad, kernel);
}

/* With its last attachment a domain loses the tag, unless it is that of a job. */
static void the_last_one_leaves(void **state)
{
	struct aries_domain *dom = join(9, COOKIE), *job = join(10, OTHER);

	dom->bte_limited = true;
	dom->bte_limit = 3;
	aries_ptag_write_limit(ad, dom);
	assert_int_not_equal(aries_rd32(ad, ARIES_PTAG_BTE_N(9)), 0);
	aries_domain_get(dom);
	aries_domain_leave(ad, dom);
	assert_int_equal(key(9), 0);
	assert_int_equal(aries_rd32(ad, ARIES_PTAG_BTE_N(9)), 0);
	assert_null(ad->domain[9]);
	/* what still refers to it keeps the structure, and another domain may have the tag */
	assert_int_equal(dom->cookie, COOKIE);
	assert_ptr_not_equal(join(9, COOKIE), dom);
	aries_domain_put(dom);
	aries_domain_leave(ad, ad->domain[9]);
	job->job = true;
	aries_domain_leave(ad, job);
	assert_ptr_equal(ad->domain[10], job);
	assert_int_equal(key(10), valid_key(OTHER));
	aries_domain_free_all(ad);
	assert_int_equal(key(10), 0);
}

static void none_is_left(void **state)
{
	const unsigned int all = ARIES_PTAG_USER_LAST - ARIES_PTAG_USER_FIRST + 1;
	unsigned int i;

	for (i = 0; i < all; i++)
		join(ARIES_PTAG_ANY, COOKIE + i);
	refused(ARIES_PTAG_ANY, OTHER, false, -ENOSPC);
	aries_domain_leave(ad, ad->domain[100]);
	assert_int_equal(join(ARIES_PTAG_ANY, OTHER)->ptag, 100);
	for (i = 0; i < all; i++)
		aries_domain_leave(ad, ad->domain[ARIES_PTAG_USER_FIRST + i]);
}

static void no_memory(void **state)
{
	sim_fail_in = 1;
	refused(5, COOKIE, false, -ENOMEM);
	assert_int_equal(key(5), 0);
	assert_null(ad->domain[5]);
}

/* A reset clears the NIC, and all keys and limits are written again. */
static void after_a_reset(void **state)
{
	struct aries_domain *dom = join(6, COOKIE);
	u32 limit;

	dom->bte_limited = true;
	dom->bte_limit = 17;
	aries_ptag_write_limit(ad, dom);
	limit = aries_rd32(ad, ARIES_PTAG_BTE_N(6));
	assert_int_equal(FIELD_GET(ARIES_PTAG_BTE_LIMIT_MASK, limit), 17);
	memset(sim_nic.registers, 0, sizeof(sim_nic.registers));
	aries_domain_restore(ad);
	assert_int_equal(key(6), valid_key(COOKIE));
	assert_int_equal(aries_rd32(ad, ARIES_PTAG_BTE_N(6)), limit);
	assert_int_equal(key(5), 0);
	aries_domain_leave(ad, dom);
}

static void charges(void **state)
{
	struct aries_domain *dom = join(5, COOKIE);

	assert_int_equal(dom->limit[ARIES_RES_CQ], aries_pool_total(&ad->cqs));
	dom->limit[ARIES_RES_CQ] = 3;
	assert_int_equal(aries_domain_charge(ad, dom, ARIES_RES_CQ, 2), 0);
	assert_int_equal(aries_domain_charge(ad, dom, ARIES_RES_CQ, 2), -ENOSPC);
	assert_int_equal(aries_domain_charge(ad, dom, ARIES_RES_CQ, 1), 0);
	assert_int_equal(aries_domain_charge(ad, dom, ARIES_RES_CQ, U32_MAX), -ENOSPC);
	aries_domain_uncharge(ad, dom, ARIES_RES_CQ, 2);
	assert_int_equal(dom->used[ARIES_RES_CQ], 1);
	/* more than was charged is a mistake, and changes nothing */
	aries_domain_uncharge(ad, dom, ARIES_RES_CQ, 2);
	assert_int_equal(dom->used[ARIES_RES_CQ], 1);
	assert_int_equal(sim_warnings, 1);
	sim_warnings = 0;
	aries_domain_uncharge(ad, dom, ARIES_RES_CQ, 1);
	aries_domain_leave(ad, dom);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_cookie_has_one_tag, begin, end),
		cmocka_unit_test_setup_teardown(who_may, begin, end),
		cmocka_unit_test_setup_teardown(the_last_one_leaves, begin, end),
		cmocka_unit_test_setup_teardown(none_is_left, begin, end),
		cmocka_unit_test_setup_teardown(no_memory, begin, end),
		cmocka_unit_test_setup_teardown(after_a_reset, begin, end),
		cmocka_unit_test_setup_teardown(charges, begin, end),
	};

	return cmocka_run_group_tests_name("tags", tests, NULL, NULL);
}
