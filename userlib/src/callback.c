// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "callback.h"

#include <stddef.h>

struct call {
	void (*left)(void *);
	void *argument;
};

static void at_end(struct call *c)
{
	if (c->left)
		c->left(c->argument);
}

void ugni_call(void (*body)(void *), void (*left)(void *), void *argument)
{
	/* With -fexceptions the clean-up is run by the unwinder, too. */
	struct call c __attribute__((cleanup(at_end))) = {left, argument};

	body(argument);
	c.left = NULL;
}
