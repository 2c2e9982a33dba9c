/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What most tests include, compiled once for all of them where that is worth it (option 'grouped'): headers of the
 * language, and those of the fake host, which change seldom. No test may do without an include because it is here.
 */
#ifndef ARIES_TESTS_PRECOMPILED_HPP
#define ARIES_TESTS_PRECOMPILED_HPP

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/cmocka_cpp.hpp"
#include "tests/fake_host.hpp"
#include "tests/pair.hpp"

#endif
