/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copyright (c) 2026 The OpenGNI authors */
/* Small file systems that only the process that made them sees. */
#ifndef ARIES_TESTS_SCRATCH_MOUNT_HPP
#define ARIES_TESTS_SCRATCH_MOUNT_HPP

#include <sched.h>
#include <string>
#include <sys/mount.h>

namespace aries_test
{

/** Gives this process mounts of its own; with them what @flags say. False if this machine does not permit it. */
inline bool own_namespaces(int flags = 0)
{
	return (unshare(CLONE_NEWNS | flags) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNS | flags) == 0) &&
	       mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

/** An empty file system of @type over folder @where; call own_namespaces() before. */
inline bool scratch_mount(const char *type, const char *where, const std::string &options)
{
	return mount(type, where, type, 0, options.c_str()) == 0;
}

} // namespace aries_test

#endif
