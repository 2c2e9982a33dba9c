// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * Descriptors that a child of fork() closes at once: an attachment, and a place
 * in a group of the node, end with the last process that has the file, and they
 * are the parent's.
 */
#ifndef UGNI_OPEN_FILES_HPP
#define UGNI_OPEN_FILES_HPP

namespace ugni::sys
{

/** @fd has been opened. Any thread. */
void open_files_add(int fd);
/** @fd is about to be closed. */
void open_files_remove(int fd);

} // namespace ugni::sys

#endif
