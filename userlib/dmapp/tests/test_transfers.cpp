// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file Puts and gets between two PEs of the model, in all forms, and what is refused. */
#include "model_kernel.hpp"
#include "symmetric.hpp"

#include <ctime>

namespace
{

void fill(unsigned char *at, size_t bytes, unsigned seed)
{
	for (size_t n = 0; n < bytes; n++)
		at[n] = static_cast<unsigned char>(n * 7 + n / 256 + seed);
}

void job_information(void **)
{
	for (int pe : {0, 1}) {
		const dmapp_jobinfo_t &info = job::info(pe);

		assert_int_equal(info.pe, pe);
		assert_int_equal(info.npes, 2);
		assert_ptr_equal(info.data_seg.addr, job::data(pe));
		assert_int_equal(info.data_seg.len, job::kDataBytes);
		assert_int_equal(info.sheap_seg.len, 4 << 20);
	}
	static_assert(sizeof(dmapp_jobinfo_t) <= 176 && sizeof(dmapp_seg_desc_t) % 8 == 0 &&
		      sizeof(dmapp_lock_desc_t) == 8);
}

/* Every width, skews of both sides, and lengths about the line and the threshold. */
void blocking_put_and_get(void **)
{
	constexpr size_t kBytes = 40000;
	const Symmetric block(kBytes + 64);
	std::vector<unsigned char> source(kBytes + 64), back(kBytes + 64);
	struct {
		dmapp_type_t type;
		size_t width;
	} const types[] = {{DMAPP_DQW, 16}, {DMAPP_QW, 8}, {DMAPP_DW, 4}, {DMAPP_BYTE, 1}};

	for (const auto &t : types) {
		for (size_t bytes : {t.width, t.width * 3, size_t{2048}, size_t{4096}, size_t{4112}, size_t{39984}}) {
			for (size_t skew : {size_t{0}, t.width == 1 ? size_t{3} : t.width}) {
				fill(source.data(), source.size(), static_cast<unsigned>(bytes));
				memset(block.at[1], 0, kBytes + 64);
				assert_dmapp(SUCCESS, dmapp_put(block.at[0] + skew, heap(), 1, source.data() + 1,
								bytes / t.width, t.type));
				assert_memory_equal(block.at[1] + skew, source.data() + 1, bytes / t.width * t.width);
				assert_int_equal(block.at[1][skew + bytes / t.width * t.width], 0);
				memset(back.data(), 0, back.size());
				assert_dmapp(SUCCESS, dmapp_get(back.data() + 5, block.at[0] + skew, heap(), 1,
								bytes / t.width, t.type));
				assert_memory_equal(back.data() + 5, source.data() + 1, bytes / t.width * t.width);
				assert_int_equal(back[5 + bytes / t.width * t.width], 0);
			}
		}
	}
}

/* Local memory that is registered: block transfers from the threshold on, which change nothing for the caller. */
void block_transfers(void **)
{
	constexpr size_t kBytes = 1 << 20;
	const Symmetric from(kBytes), to(kBytes);
	dmapp_syncid_handle_t id = 0;
	int flag = 0;

	fill(from.at[0], kBytes, 1);
	assert_dmapp(SUCCESS, dmapp_put(to.at[0], heap(), 1, from.at[0], kBytes / 8, DMAPP_QW));
	assert_memory_equal(to.at[1], from.at[0], kBytes);
	fill(from.at[1], kBytes, 2);
	assert_dmapp(SUCCESS, dmapp_get(to.at[0], from.at[0], heap(), 1, kBytes / 16, DMAPP_DQW));
	assert_memory_equal(to.at[0], from.at[1], kBytes);
	fill(from.at[0], kBytes, 3);
	assert_dmapp(SUCCESS, dmapp_put_nb(to.at[0], heap(), 1, from.at[0], kBytes / 8, DMAPP_QW, &id));
	while (!flag)
		assert_dmapp(SUCCESS, dmapp_syncid_test(&id, &flag));
	assert_memory_equal(to.at[1], from.at[0], kBytes);
	fill(from.at[0], kBytes, 4);
	assert_dmapp(SUCCESS, dmapp_put_nbi(to.at[0], heap(), 1, from.at[0], kBytes / 8, DMAPP_QW));
	assert_dmapp(SUCCESS, dmapp_gsync_wait());
	assert_memory_equal(to.at[1], from.at[0], kBytes);
}

void static_data(void **)
{
	uint64_t value = 0x1122334455667788, back = 0;

	job::choose(1);
	assert_dmapp(SUCCESS, dmapp_put(job::data(1) + 80, data_segment(1), 0, &value, 1, DMAPP_QW));
	job::choose(0);
	assert_memory_equal(job::data(0) + 80, &value, 8);
	/* The own PE is a PE as any other. */
	assert_dmapp(SUCCESS, dmapp_get(&back, job::data(0) + 80, data_segment(0), 0, 1, DMAPP_QW));
	assert_int_equal(back, value);
}

/* The descriptor of another PE names the same places by that PE's addresses. */
void descriptor_of_another_pe(void **)
{
	const Symmetric block(64);
	uint64_t value = 42;

	assert_dmapp(SUCCESS, dmapp_put(block.at[1] + 8, heap(1), 1, &value, 1, DMAPP_QW));
	assert_memory_equal(block.at[1] + 8, &value, 8);
}

void registered_memory(void **)
{
	constexpr size_t kBytes = 10000;
	dmapp_seg_desc_t seg{}, sent{}, other{};
	unsigned char *memory = model::memory(1, kBytes);
	uint64_t value = 0x77, back = 0;
	int same = 0;

	job::choose(1);
	assert_dmapp(SUCCESS, dmapp_mem_register(memory, kBytes, &seg));
	memcpy(&sent, &seg, sizeof(sent));
	job::choose(0);
	assert_dmapp(SUCCESS, dmapp_put(memory + 4000, &sent, 1, &value, 1, DMAPP_QW));
	assert_memory_equal(memory + 4000, &value, 8);
	assert_dmapp(SUCCESS, dmapp_get(&back, memory + 4000, &sent, 1, 1, DMAPP_QW));
	assert_int_equal(back, value);
	assert_dmapp(INVALID_PARAM, dmapp_mem_unregister(&sent));
	/* Who has merged descriptors has changed what stands before the key. */
	job::choose(1);
	assert_dmapp(SUCCESS, dmapp_segdesc_compare(&seg, &sent, &same));
	assert_int_equal(same, 1);
	assert_dmapp(SUCCESS, dmapp_mem_register(memory, kBytes, &other));
	assert_dmapp(SUCCESS, dmapp_segdesc_compare(&seg, &other, &same));
	assert_int_equal(same, 0);
	sent.len = 1;
	sent.addr = nullptr;
	assert_dmapp(SUCCESS, dmapp_mem_unregister(&sent));
	assert_dmapp(NOT_FOUND, dmapp_mem_unregister(&seg));
	assert_dmapp(SUCCESS, dmapp_mem_unregister(&other));
	/* Nobody tells other PEs: their operations fail. */
	job::choose(0);
	assert_dmapp(TRANSACTION_ERROR, dmapp_put(memory, &seg, 1, &value, 1, DMAPP_QW));
	assert_dmapp(TRANSACTION_ERROR, dmapp_get(&back, memory, &seg, 1, 1, DMAPP_QW));
}

void refused(void **)
{
	const Symmetric block(64);
	unsigned char *end = static_cast<unsigned char *>(heap()->addr) + heap()->len;
	dmapp_seg_desc_t none{}, mine{};
	uint64_t value = 1;
	dmapp_syncid_handle_t id = 77;
	int flag = 0;

	assert_dmapp(INVALID_PARAM, dmapp_put(block.at[0], nullptr, 1, &value, 1, DMAPP_QW));
	assert_dmapp(INVALID_PARAM, dmapp_put(block.at[0], &none, 1, &value, 1, DMAPP_QW));
	assert_dmapp(INVALID_PARAM, dmapp_put(block.at[0], heap(), 2, &value, 1, DMAPP_QW));
	assert_dmapp(INVALID_PARAM, dmapp_put(block.at[0], heap(), -1, &value, 1, DMAPP_QW));
	assert_dmapp(INVALID_PARAM, dmapp_put(block.at[0], heap(), 1, nullptr, 1, DMAPP_QW));
	assert_dmapp(INVALID_PARAM, dmapp_put(block.at[0], heap(), 1, &value, 1, static_cast<dmapp_type_t>(4)));
	assert_dmapp(INVALID_PARAM, dmapp_put(block.at[0], heap(), 1, &value, UINT64_MAX / 8 + 2, DMAPP_QW));
	assert_dmapp(INVALID_PARAM, dmapp_put(end - 4, heap(), 1, &value, 1, DMAPP_QW));
	assert_dmapp(INVALID_PARAM, dmapp_put(end, heap(), 1, &value, 1, DMAPP_QW));
	assert_dmapp(INVALID_PARAM,
		     dmapp_put(static_cast<unsigned char *>(heap()->addr) - 8, heap(), 1, &value, 1, DMAPP_QW));
	assert_dmapp(SUCCESS, dmapp_put(end - 8, heap(), 1, &value, 1, DMAPP_QW));
	assert_dmapp(SUCCESS, dmapp_put(block.at[0], heap(), 1, &value, 0, DMAPP_QW));
	assert_dmapp(INVALID_PARAM, dmapp_get(&value, block.at[0], heap(), 1, 0, DMAPP_QW));
	assert_dmapp(INVALID_PARAM, dmapp_get(&value, end - 4, heap(), 1, 1, DMAPP_QW));
	assert_dmapp(INVALID_PARAM, dmapp_put_nb(block.at[0], heap(), 1, &value, 1, DMAPP_QW, nullptr));
	assert_dmapp(INVALID_PARAM, dmapp_put_nb(end, heap(), 1, &value, 1, DMAPP_QW, &id));
	assert_int_equal(id, 77);
	assert_dmapp(INVALID_PARAM, dmapp_put_nbi(end, heap(), 1, &value, 1, DMAPP_QW));
	assert_dmapp(SUCCESS, dmapp_gsync_test(&flag));
	assert_int_equal(flag, 1);
	/* Registered memory is its owner's. */
	assert_dmapp(SUCCESS, dmapp_mem_register(job::data(0), 64, &mine));
	assert_dmapp(INVALID_PARAM, dmapp_put(job::data(0), &mine, 1, &value, 1, DMAPP_QW));
	assert_dmapp(SUCCESS, dmapp_put(job::data(0), &mine, 0, &value, 1, DMAPP_QW));
	assert_dmapp(INVALID_PARAM, dmapp_put(job::data(0) + 60, &mine, 0, &value, 1, DMAPP_QW));
	assert_dmapp(SUCCESS, dmapp_mem_unregister(&mine));
	assert_dmapp(INVALID_PARAM, dmapp_mem_register(nullptr, 64, &mine));
	assert_dmapp(INVALID_PARAM, dmapp_mem_register(job::data(0), 0, &mine));
	assert_dmapp(INVALID_PARAM, dmapp_mem_unregister(heap()));
}

void ids(void **)
{
	const Symmetric block(64);
	std::vector<dmapp_syncid_handle_t> open(DMAPP_DEF_OUTSTANDING_NB);
	dmapp_syncid_handle_t one_more = 0;
	uint64_t value = 5;
	int flag = 7;

	for (auto &id : open)
		assert_dmapp(SUCCESS, dmapp_put_nb(block.at[0], heap(), 1, &value, 1, DMAPP_QW, &id));
	assert_dmapp(RESOURCE_ERROR, dmapp_put_nb(block.at[0], heap(), 1, &value, 1, DMAPP_QW, &one_more));
	/* All of them are other ids. */
	for (size_t n = 1; n < open.size(); n++)
		assert_int_not_equal(open[n - 1], open[n]);
	for (size_t n = 0; n < open.size(); n++) {
		if (n % 2)
			assert_dmapp(SUCCESS, dmapp_syncid_wait(&open[n]));
		else
			assert_dmapp(SUCCESS, dmapp_syncid_test(&open[n], &flag));
		assert_int_equal(flag, 1);
	}
	assert_memory_equal(block.at[1], &value, 8);
	/* Once more, and ids that never were. */
	assert_dmapp(INVALID_PARAM, dmapp_syncid_wait(open.data()));
	assert_dmapp(INVALID_PARAM, dmapp_syncid_test(open.data(), &flag));
	for (dmapp_syncid_handle_t wild : {uint64_t{0}, uint64_t{1} << 40, ~uint64_t{0}})
		assert_dmapp(INVALID_PARAM, dmapp_syncid_wait(&wild));
	assert_dmapp(INVALID_PARAM, dmapp_syncid_wait(nullptr));
	assert_dmapp(SUCCESS, dmapp_get_nb(&value, block.at[0], heap(), 1, 1, DMAPP_QW, &one_more));
	assert_dmapp(INVALID_PARAM, dmapp_syncid_test(&one_more, nullptr));
	assert_dmapp(SUCCESS, dmapp_syncid_wait(&one_more));
}

/* As many words as fill batches, of both widths and to both PEs; all are there after gsync, in the order they were put.
 */
void implicit_words(void **)
{
	constexpr size_t kWords = 1000;
	const Symmetric block(kWords * 8 + 8);

	for (uint64_t n = 0; n < kWords; n++) {
		uint64_t first = ~n, value = n | n << 32;

		assert_dmapp(SUCCESS,
			     dmapp_put_nbi(block.at[0] + n * 8, heap(), static_cast<int>(n % 2), &first, 1, DMAPP_QW));
		assert_dmapp(SUCCESS, dmapp_put_nbi(block.at[0] + n * 8, heap(), static_cast<int>(n % 2), &value, 1,
						    n % 3 ? DMAPP_QW : DMAPP_DW));
	}
	assert_dmapp(SUCCESS, dmapp_gsync_wait());
	for (uint64_t n = 0; n < kWords; n++) {
		const uint64_t want = n % 3 ? n | n << 32 : (~n & 0xffffffff00000000) | n;

		assert_memory_equal(block.at[n % 2] + n * 8, &want, 8);
	}
}

/* They go when their PE looks at an id: whoever looks all the time leaves nobody else a turn. */
void implicit_words_and_ids(void **)
{
	const Symmetric block(64);
	uint64_t value = 6;
	dmapp_syncid_handle_t id = 0;
	int flag = 0;

	assert_dmapp(SUCCESS, dmapp_put_nb(block.at[0] + 8, heap(), 1, &value, 1, DMAPP_QW, &id));
	assert_dmapp(SUCCESS, dmapp_put_nbi(block.at[0], heap(), 1, &value, 1, DMAPP_QW));
	assert_dmapp(SUCCESS, dmapp_syncid_test(&id, &flag));
	assert_memory_equal(block.at[1], &value, 8);
	assert_dmapp(SUCCESS, dmapp_gsync_wait());
}

/* Of every length; what is got is there after gsync, whoever has put it. */
void implicit_gets(void **)
{
	const Symmetric block(16384);
	std::vector<unsigned char> back(16384);

	for (size_t bytes : {size_t{1}, size_t{8}, size_t{4096}, size_t{16383}}) {
		fill(block.at[1], bytes, static_cast<unsigned>(bytes));
		assert_dmapp(SUCCESS, dmapp_get_nbi(back.data(), block.at[0], heap(), 1, bytes, DMAPP_BYTE));
		assert_dmapp(SUCCESS, dmapp_gsync_wait());
		assert_memory_equal(back.data(), block.at[1], bytes);
	}
	fill(block.at[1], 8192, 99);
	assert_dmapp(SUCCESS, dmapp_get_nbi(block.at[0] + 8192, block.at[0], heap(), 1, 1024, DMAPP_QW));
	assert_dmapp(SUCCESS, dmapp_gsync_wait());
	assert_memory_equal(block.at[0] + 8192, block.at[1], 8192);
}

/* Nobody calls the library again, and the word arrives all the same. */
void implicit_words_make_progress(void **)
{
	const Symmetric block(8);
	const auto *word = reinterpret_cast<const volatile uint64_t *>(block.at[1]);
	uint64_t value = 1;

	for (; value < 4; value++) {
		assert_dmapp(SUCCESS, dmapp_put_nbi(block.at[0], heap(), 1, &value, 1, DMAPP_QW));
		for (int n = 0; *word != value && n < 20000; n++) {
			const timespec nap = {0, 1000000};

			nanosleep(&nap, nullptr);
		}
		assert_int_equal(*word, value);
	}
	assert_dmapp(SUCCESS, dmapp_gsync_wait());
}

void flag_after_data(void **)
{
	const Symmetric block(20000);
	std::vector<unsigned char> source(16384);
	dmapp_syncid_handle_t id = 0;
	uint64_t flag = 0;

	for (size_t bytes : {size_t{0}, size_t{8}, size_t{2048}, size_t{5000}, size_t{16384}}) {
		fill(source.data(), bytes, static_cast<unsigned>(bytes));
		flag++;
		assert_dmapp(SUCCESS, dmapp_put_flag(block.at[0] + 16, heap(), 1, source.data(), bytes, DMAPP_BYTE,
						     block.at[0], flag));
		assert_memory_equal(block.at[1], &flag, 8);
		assert_memory_equal(block.at[1] + 16, source.data(), bytes);
		flag++;
		assert_dmapp(SUCCESS, dmapp_put_flag_nb(block.at[0] + 16, heap(), 1, source.data(), bytes, DMAPP_BYTE,
							block.at[0] + 8, flag, &id));
		assert_dmapp(SUCCESS, dmapp_syncid_wait(&id));
		assert_memory_equal(block.at[1] + 8, &flag, 8);
		assert_dmapp(SUCCESS, dmapp_put_flag_nbi(block.at[0] + 16, heap(), 1, source.data(), bytes, DMAPP_BYTE,
							 block.at[0], flag));
		assert_dmapp(SUCCESS, dmapp_gsync_wait());
		assert_memory_equal(block.at[1], &flag, 8);
	}
	assert_dmapp(ALIGNMENT_ERROR,
		     dmapp_put_flag(block.at[0] + 16, heap(), 1, source.data(), 1, DMAPP_QW, block.at[0] + 4, 1));
	assert_dmapp(INVALID_PARAM,
		     dmapp_put_flag(block.at[0] + 16, heap(), 1, source.data(), 1, DMAPP_QW, nullptr, 1));
}

/* What is on its way when its call returns ends in the same way, and what is lost is told. */
void held_completions(void **)
{
	const Symmetric block(8192);
	uint64_t value = 9, back = 0;
	dmapp_syncid_handle_t id = 0;
	int flag = 0;

	model::hold(true);
	assert_dmapp(SUCCESS, dmapp_put(block.at[0], heap(), 1, &value, 1, DMAPP_QW));
	assert_memory_equal(block.at[1], &value, 8);
	assert_dmapp(SUCCESS, dmapp_get(&back, block.at[0], heap(), 1, 1, DMAPP_QW));
	assert_int_equal(back, value);
	value++;
	assert_dmapp(SUCCESS, dmapp_put_nb(block.at[0], heap(), 1, &value, 1, DMAPP_QW, &id));
	while (!flag)
		assert_dmapp(SUCCESS, dmapp_syncid_test(&id, &flag));
	assert_memory_equal(block.at[1], &value, 8);
	value++;
	assert_dmapp(SUCCESS, dmapp_put_nbi(block.at[0], heap(), 1, &value, 1, DMAPP_QW));
	for (flag = 0; !flag;)
		assert_dmapp(SUCCESS, dmapp_gsync_test(&flag));
	assert_memory_equal(block.at[1], &value, 8);
	assert_dmapp(SUCCESS,
		     dmapp_put_flag(block.at[0] + 64, heap(), 1, block.at[0], 5000, DMAPP_BYTE, block.at[0] + 8, 77));
	model::hold(false);
}

void lost(bool hold)
{
	const Symmetric block(8192);
	uint64_t value = 9;
	dmapp_syncid_handle_t id = 0;

	model::hold(hold);
	model::fault(0, "drop", 100000);
	assert_dmapp(TRANSACTION_ERROR, dmapp_put(block.at[0], heap(), 1, &value, 1, DMAPP_QW));
	assert_dmapp(TRANSACTION_ERROR, dmapp_get(&value, block.at[0], heap(), 1, 1, DMAPP_QW));
	assert_dmapp(SUCCESS, dmapp_put_nb(block.at[0], heap(), 1, &value, 1, DMAPP_QW, &id));
	assert_dmapp(TRANSACTION_ERROR, dmapp_syncid_wait(&id));
	assert_dmapp(SUCCESS, dmapp_put_nbi(block.at[0], heap(), 1, &value, 1, DMAPP_QW));
	assert_dmapp(SUCCESS, dmapp_put_nbi(block.at[0], heap(), 1, block.at[0], 100, DMAPP_QW));
	assert_dmapp(TRANSACTION_ERROR, dmapp_gsync_wait());
	assert_dmapp(SUCCESS, dmapp_put_nb(block.at[0], heap(), 1, block.at[0], 8192, DMAPP_BYTE, &id));
	assert_dmapp(TRANSACTION_ERROR, dmapp_syncid_wait(&id));
	assert_dmapp(TRANSACTION_ERROR,
		     dmapp_put_flag(block.at[0] + 64, heap(), 1, block.at[0], 5000, DMAPP_BYTE, block.at[0] + 8, 77));
	model::fault(0, "drop", 0);
	/* What has failed was told once. */
	assert_dmapp(SUCCESS, dmapp_gsync_wait());
	assert_dmapp(SUCCESS, dmapp_put(block.at[0], heap(), 1, &value, 1, DMAPP_QW));
	assert_memory_equal(block.at[1], &value, 8);
	model::hold(false);
}

void lost_at_once(void **)
{
	lost(false);
}

void lost_on_the_way(void **)
{
	lost(true);
}

/* What a call has told is not told once more, of a later one that went well. */
void told_once(void **)
{
	const Symmetric block(64);
	uint64_t value = 9;

	model::hold(true);
	for (int n = 0; n < 3; n++) {
		model::fault(0, "drop", 100000);
		assert_dmapp(TRANSACTION_ERROR, dmapp_get(&value, block.at[0], heap(), 1, 1, DMAPP_QW));
		model::fault(0, "drop", 0);
		assert_dmapp(SUCCESS, dmapp_put(block.at[0], heap(), 1, &value, 1, DMAPP_QW));
	}
	assert_memory_equal(block.at[1], &value, 8);
	model::hold(false);
}

/* An implicit word that is lost is gsync's to tell; what comes behind it and waits has gone well. */
void lost_before(void **)
{
	const Symmetric block(8192);
	const timespec nap = {0, 100000};
	uint64_t value = 9;
	int64_t old = 0;

	model::hold(true);
	for (int n = 0; n < 3; n++) {
		model::fault(0, "drop", 100000);
		assert_dmapp(SUCCESS, dmapp_put_nbi(block.at[0], heap(), 1, &value, 1, DMAPP_QW));
		/* Until the NIC has given it up. */
		for (int look = 0; look < 1000; look++) {
			assert_dmapp(SUCCESS, dmapp_progress());
			nanosleep(&nap, nullptr);
		}
		model::fault(0, "drop", 0);
		if (n == 0)
			assert_dmapp(SUCCESS, dmapp_put(block.at[0], heap(), 1, &value, 1, DMAPP_QW));
		else if (n == 1)
			assert_dmapp(SUCCESS, dmapp_put_flag(block.at[0] + 64, heap(), 1, block.at[0], 5000, DMAPP_BYTE,
							     block.at[0] + 8, 77));
		else
			assert_dmapp(SUCCESS, dmapp_afadd_qw(&old, block.at[0] + 16, heap(), 1, 1));
		assert_dmapp(TRANSACTION_ERROR, dmapp_gsync_wait());
		assert_dmapp(SUCCESS, dmapp_gsync_wait());
	}
	model::hold(false);
}

/* One word of many fails: the others arrive. */
void one_of_a_batch(void **)
{
	const Symmetric block(64);
	unsigned char *memory = model::memory(1, 4096);
	dmapp_seg_desc_t gone{}, seg{};
	uint64_t value = 3;

	job::choose(1);
	assert_dmapp(SUCCESS, dmapp_mem_register(memory, 4096, &seg));
	gone = seg;
	/* Says that it is longer than what the NIC knows of. */
	gone.key[3] = 1 << 20;
	job::choose(0);
	assert_dmapp(SUCCESS, dmapp_put_nbi(memory, &gone, 1, &value, 1, DMAPP_QW));
	assert_dmapp(SUCCESS, dmapp_put_nbi(memory + 8192, &gone, 1, &value, 1, DMAPP_QW));
	assert_dmapp(SUCCESS, dmapp_put_nbi(memory + 8, &gone, 1, &value, 1, DMAPP_QW));
	assert_dmapp(TRANSACTION_ERROR, dmapp_gsync_wait());
	assert_memory_equal(memory, &value, 8);
	assert_memory_equal(memory + 8, &value, 8);
	job::choose(1);
	assert_dmapp(SUCCESS, dmapp_mem_unregister(&seg));
}

void peer_that_dies(void **)
{
	uint64_t value = 1;
	dmapp_syncid_handle_t id = 0;
	void *at = heap()->addr;

	job::kill(1);
	job::choose(0);
	assert_dmapp(TRANSACTION_ERROR, dmapp_put(at, heap(), 1, &value, 1, DMAPP_QW));
	assert_dmapp(TRANSACTION_ERROR, dmapp_get(&value, at, heap(), 1, 1, DMAPP_QW));
	assert_dmapp(SUCCESS, dmapp_put_nb(at, heap(), 1, at, 1 << 20, DMAPP_BYTE, &id));
	assert_dmapp(TRANSACTION_ERROR, dmapp_syncid_wait(&id));
	assert_dmapp(SUCCESS, dmapp_put_nbi(at, heap(), 1, &value, 1, DMAPP_QW));
	assert_dmapp(TRANSACTION_ERROR, dmapp_gsync_wait());
	assert_dmapp(SUCCESS, dmapp_put(at, heap(), 0, &value, 1, DMAPP_QW));
}

} // namespace

int main()
{
	const CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(job_information, job_start, job_stop),
		cmocka_unit_test_setup_teardown(blocking_put_and_get, job_start, job_stop),
		cmocka_unit_test_setup_teardown(block_transfers, job_start, job_stop),
		cmocka_unit_test_setup_teardown(static_data, job_start, job_stop),
		cmocka_unit_test_setup_teardown(descriptor_of_another_pe, job_start, job_stop),
		cmocka_unit_test_setup_teardown(registered_memory, job_start, job_stop),
		cmocka_unit_test_setup_teardown(refused, job_start, job_stop),
		cmocka_unit_test_setup_teardown(ids, job_start, job_stop),
		cmocka_unit_test_setup_teardown(implicit_words, job_start, job_stop),
		cmocka_unit_test_setup_teardown(implicit_words_and_ids, job_start, job_stop),
		cmocka_unit_test_setup_teardown(implicit_gets, job_start, job_stop),
		cmocka_unit_test_setup_teardown(implicit_words_make_progress, job_start, job_stop),
		cmocka_unit_test_setup_teardown(flag_after_data, job_start, job_stop),
		cmocka_unit_test_setup_teardown(held_completions, job_start, job_stop),
		cmocka_unit_test_setup_teardown(lost_at_once, job_start, job_stop),
		cmocka_unit_test_setup_teardown(lost_on_the_way, job_start, job_stop),
		cmocka_unit_test_setup_teardown(told_once, job_start, job_stop),
		cmocka_unit_test_setup_teardown(lost_before, job_start, job_stop),
		cmocka_unit_test_setup_teardown(one_of_a_batch, job_start, job_stop),
		cmocka_unit_test_setup_teardown(peer_that_dies, job_start, job_stop),
	};

	return cmocka_run_group_tests_name("transfers of DMAPP", tests, nullptr, nullptr);
}
