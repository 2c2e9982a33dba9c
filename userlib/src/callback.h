/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * A function of the program, called where the library must put something right
 * whichever way it ends: by its return, by a C++ exception, with its thread. In
 * C, which has that without a run-time library of C++.
 */
#ifndef UGNI_CALLBACK_H
#define UGNI_CALLBACK_H

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Calls @body(@argument). If that does not return, @left(@argument) is called while the frames above are still there;
 * then the unwinding goes on to the caller's caller.
 */
void ugni_call(void (*body)(void *), void (*left)(void *), void *argument);

#ifdef __cplusplus
}
#endif

#endif
