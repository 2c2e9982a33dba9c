// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file The kinds of stores between two threads, and what a client does when answers are late. */
#include "client.hpp"
#include "server.hpp"

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <setjmp.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

extern "C" {
#include <cmocka.h>
}

namespace
{

template <typename Kind, typename Body> bool throws(Body body)
{
	try {
		body();
	} catch (const Kind &) {
		return true;
	}
	return false;
}

/* A check of a thread that is not the test's. */
void must(bool holds)
{
	if (!holds)
		abort();
}

void exchange(const std::string &place)
{
	std::thread second([&] {
		const auto store = kvs::open_store(place, "job", 1, 20000);
		store->put("from/1", "two words");
		must(store->get("from/0", 20000) == "hello");
		for (int round = 0; round < 3; round++)
			store->barrier("end", 2, 20000);
		store->add("sum", -2);
		store->barrier("end", 2, 20000);
	});
	{
		const auto store = kvs::open_store(place, "job", 0, 20000);
		store->put("from/0", "hello");
		assert_string_equal(store->get("from/1", 20000).value_or("").c_str(), "two words");
		assert_false(store->get("nobody", 50).has_value());
		for (int round = 0; round < 3; round++)
			store->barrier("end", 2, 20000);
		store->add("sum", 5);
		store->barrier("end", 2, 20000);
		assert_int_equal(store->add("sum", 1), 4);
		store->del("from/1");
		assert_false(store->get("from/1", 0).has_value());
		assert_true(throws<kvs::Error>([&] { store->barrier("alone", 2, 50); }));
		second.join();
	}
}

void stores(void **)
{
	char dir[] = "/tmp/test-kvs.XXXXXX";
	assert_non_null(mkdtemp(dir));
	exchange(std::string("dir:") + dir);
	{
		const std::string path = std::string(dir) + "/socket";
		kvs::Server server(kvs::listen_unix(path, false));
		exchange(path);
		assert_int_equal(server.keys(), 2); /* from/0 and sum */
	}
	std::filesystem::remove_all(dir);
	exchange("tcp:127.0.0.1:" + std::to_string(20000 + getpid() % 20000));
}

void places_that_are_none(void **)
{
	for (const char *bad : {"dir:", "ftp:x", "tcp:nowhere", "unix:"})
		assert_true(throws<kvs::BadPlace>([&] { kvs::open_store(bad, "", 1, 50); }));
	for (const char *empty : {"unix:/nowhere", "/nowhere", "tcp:127.0.0.1:1"})
		assert_true(throws<kvs::Error>([&] { kvs::open_store(empty, "", 1, 50); }));
}

/* A service that was stopped for a while answers late: nobody may take that for the answer to the next question. */
void a_late_answer_is_nobodys(void **)
{
	int ends[2];
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	kvs::Client client{kvs::Line(ends[0]), "", 1};
	kvs::Line service(ends[1]);

	for (const char *key : {"a", "b"})
		assert_true(throws<kvs::Error>([&] { client.get(key, 1); }));
	std::string line;
	for (const char *answer : {"ok of-a", "err of-b"}) {
		assert_true(service.receive(line, 1000) == kvs::Line::Outcome::line);
		assert_true(service.send(answer));
	}
	std::thread later([&] {
		std::string asked;
		if (service.receive(asked, 60000) == kvs::Line::Outcome::line && asked.rfind("get c ", 0) == 0)
			service.send("ok of-c");
	});
	const auto got = client.get("c", 60000);
	later.join();
	assert_string_equal(got.value_or("").c_str(), "of-c");
}

/* The same requests as selftests/tool/test_kvs.py has for the launcher's service. */
void nonsense(void **)
{
	int ends[2];
	char dir[] = "/tmp/test-kvs.XXXXXX";
	assert_non_null(mkdtemp(dir));
	const std::string path = std::string(dir) + "/socket";
	{
		kvs::Server server(kvs::listen_unix(path, false));
		kvs::Client client(kvs::Line(kvs::connect_unix(path)), "", 20000);
		const std::string long_key(200, 'x');
		for (const std::string &line :
		     {std::string(), std::string("get"), std::string("put"), std::string("put key"),
		      std::string("put bad!key 1"), "get " + long_key, std::string("add n x"), std::string("barrier b"),
		      std::string("barrier b 0"), std::string("barrier b -1"), std::string("frobnicate"),
		      std::string("space"), std::string("get key many"), std::string("add n 99999999999999999999")})
			assert_true(throws<kvs::Error>([&] { client.ask(line, 0); }));
		client.ask("put key some words", 0);
		assert_string_equal(client.ask("get key", 0).c_str(), "some words");
	}
	std::filesystem::remove_all(dir);
	/* Who never ends a line is a peer that is gone, not memory that grows. */
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	kvs::Line here(ends[0]), there(ends[1]);
	std::thread talker([&] { there.send(std::string(3 * kvs::line_max, 'x')); });
	std::string line;
	assert_true(here.receive(line, 20000) == kvs::Line::Outcome::gone);
	here.close();
	talker.join();
}

} // namespace

int main()
{
	const CMUnitTest tests[] = {
		cmocka_unit_test(stores),
		cmocka_unit_test(places_that_are_none),
		cmocka_unit_test(a_late_answer_is_nobodys),
		cmocka_unit_test(nonsense),
	};
	return cmocka_run_group_tests(tests, nullptr, nullptr);
}
