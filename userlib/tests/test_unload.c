// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* A program that opens the libraries, uses them and closes them, again and again, as plugins do: it does not grow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 16

/* Pages of address space: neighbours may be one mapping. */
static unsigned long pages(void)
{
	FILE *statm = fopen("/proc/self/statm", "re");
	unsigned long n = 0;

	assert_non_null(statm);
	assert_int_equal(1, fscanf(statm, "%lu", &n));
	(void)fclose(statm);
	return n;
}

/* POSIX wants a function's address from dlsym(), C has no conversion of one. */
union symbol {
	void *object;
	int (*cdm_create)(uint32_t, uint8_t, uint32_t, uint32_t, void **);
	int (*cdm_destroy)(void *);
	int (*pmi_rank)(int *);
	int (*cache_access)(char *, void **);
};

static union symbol find(void *library, const char *name)
{
	union symbol s;

	s.object = dlsym(library, name);
	assert_non_null(s.object);
	return s;
}

static void use_ugni(void *library)
{
	void *cdm = NULL;

	assert_int_equal(0, find(library, "GNI_CdmCreate").cdm_create(1, 255, 0x1000, 0, &cdm));
	assert_int_equal(0, find(library, "GNI_CdmDestroy").cdm_destroy(cdm));
}

static void use_pmi(void *library)
{
	int rank;

	assert_int_not_equal(0, find(library, "PMI_Get_rank").pmi_rank(&rank));
}

static void use_udreg(void *library)
{
	char name[] = "none";
	void *handle;

	assert_int_not_equal(0, find(library, "UDREG_CacheAccess").cache_access(name, &handle));
}

static void use(const char *path, void (*how)(void *))
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	int status = 0;
	pid_t child;

	if (!library)
		fail_msg("%s", dlerror());
	how(library);
	assert_int_equal(0, dlclose(library));
	/* handlers that the library has left for forks do no harm */
	child = fork();
	if (child == 0)
		_exit(7);
	assert_int_equal(child, waitpid(child, &status, 0));
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

static void check(const char *path, void (*how)(void *))
{
	unsigned long before;

	use(path, how);
	before = pages();
	for (int i = 0; i < ROUNDS; i++)
		use(path, how);
	assert_int_equal(before, pages());
}

static void ugni(void **state)
{
	(void)state;
	check(LIBUGNI, use_ugni);
}

static void pmi(void **state)
{
	(void)state;
	check(LIBPMI, use_pmi);
}

static void udreg(void **state)
{
	(void)state;
	check(LIBUDREG, use_udreg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ugni),
		cmocka_unit_test(pmi),
		cmocka_unit_test(udreg),
	};

	return cmocka_run_group_tests_name("opened and closed again and again", tests, NULL, NULL);
}
