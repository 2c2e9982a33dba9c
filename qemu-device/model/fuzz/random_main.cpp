/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a fuzz target without libFuzzer: random inputs for a while or a number of them, or the files named.
 * fuzz_x [--seconds=N | --inputs=N] [FILE...]; with OPENGNI_SLOW 50 times as many; ARIES_FUZZ_SEED repeats a run.
 */
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

#include "fuzz/input.hpp"

namespace
{

constexpr size_t LONGEST = 2048;
constexpr unsigned int SLOW_TIMES = 50;

void run(const std::vector<uint8_t> &input)
{
	LLVMFuzzerTestOneInput(input.data(), input.size());
}

/* @count: 0 for as many as there is time for */
void random_inputs(unsigned int seconds, unsigned int count)
{
	const char *text = getenv("ARIES_FUZZ_SEED"); // NOLINT(concurrency-mt-unsafe)
	const uint64_t seed = text ? strtoull(text, nullptr, 0) : std::random_device()();
	const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
	std::mt19937_64 random(seed);
	std::vector<uint8_t> input;
	unsigned int inputs = 0;

	printf("seed %llu\n", static_cast<unsigned long long>(seed));
	fflush(stdout);
	for (; count ? inputs < count : std::chrono::steady_clock::now() < end; inputs++) {
		input.resize(random() % LONGEST);
		for (uint8_t &byte : input)
			byte = uint8_t(random() >> 24);
		run(input);
	}
	printf("%u inputs\n", inputs);
}

} // namespace

int main(int argc, char **argv)
{
	const unsigned int times = getenv("OPENGNI_SLOW") ? SLOW_TIMES : 1; // NOLINT(concurrency-mt-unsafe)
	unsigned int seconds = 3, inputs = 0;
	bool files = false;

	for (int i = 1; i < argc; i++) {
		if (!strncmp(argv[i], "--seconds=", 10)) {
			seconds = unsigned(strtoul(argv[i] + 10, nullptr, 10));
			continue;
		}
		if (!strncmp(argv[i], "--inputs=", 9)) {
			inputs = unsigned(strtoul(argv[i] + 9, nullptr, 10));
			continue;
		}
		std::ifstream file(argv[i], std::ios::binary);

		if (!file) {
			fprintf(stderr, "%s: cannot be read\n", argv[i]);
			return 2;
		}
		run({std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
		files = true;
	}
	if (!files)
		random_inputs(seconds * times, inputs * times);
	return 0;
}
