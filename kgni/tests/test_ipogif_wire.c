// SPDX-License-Identifier: GPL-2.0-only
/*
 * What ipogif believes of a message that a peer has written into its mailbox. The mailbox is a
 * block of memory of its own here, so the address sanitizer sees each access beyond its end.
 */
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "sim_kernel.h"

/* what ipogif_wire.h needs of the kernel's headers */
#define ETH_HLEN 14
struct virtio_net_hdr {
	u8 bytes[10];
};

#include "../clients/ipogif/ipogif_wire.h"

#define BUFFERS 8u

/* A message at the end of a mailbox, with so much space behind its beginning. */
static bool accepted(struct ipogif_wire wire, size_t space)
{
	const size_t size = 256 + sizeof(wire) + space;
	u8 *mailbox = kzalloc(size, GFP_KERNEL);
	struct ipogif_wire got;
	unsigned int i, sum = 0;
	bool sound;

	memcpy(mailbox + 256, &wire, sizeof(wire));
	sound = ipogif_wire_read(&got, mailbox + 256, mailbox + size, BUFFERS);
	if (sound) {
		assert_memory_equal(&got, &wire, sizeof(wire));
		/* the receiver reads all of the data */
		for (i = 0; i < got.bytes; i++)
			sum += mailbox[256 + sizeof(wire) + i];
		assert_int_equal(sum, 0);
	}
	kfree(mailbox);
	return sound;
}

/* A frame may end where the mailbox ends, and not one byte later. */
static void end_of_the_mailbox(void **state)
{
	struct ipogif_wire wire = { .type = IPOGIF_FRAME };
	unsigned int space;

	(void)state;
	for (space = ETH_HLEN; space <= IPOGIF_INLINE; space += 331) {
		wire.bytes = space;
		assert_true(accepted(wire, space));
		wire.bytes = space + 1;
		assert_false(accepted(wire, space));
		wire.bytes = IPOGIF_INLINE;
		assert_int_equal(accepted(wire, space), space == IPOGIF_INLINE);
		wire.bytes = UINT16_MAX;
		assert_false(accepted(wire, space));
	}
}

/* Even the beginning of a message may be cut off. */
static void end_within_the_beginning(void **state)
{
	size_t room;

	(void)state;
	for (room = 0; room <= sizeof(struct ipogif_wire); room++) {
		u8 *mailbox = kzalloc(room + 1, GFP_KERNEL);
		struct ipogif_wire got;

		memset(mailbox, IPOGIF_STATE, room > 0);
		assert_int_equal(ipogif_wire_read(&got, mailbox, mailbox + room, BUFFERS),
				 room == sizeof(got));
		kfree(mailbox);
	}
}

static void frames(void **state)
{
	struct ipogif_wire wire = { .type = IPOGIF_FRAME, .bytes = ETH_HLEN };

	(void)state;
	assert_true(accepted(wire, IPOGIF_INLINE));
	wire.bytes = ETH_HLEN - 1;
	assert_false(accepted(wire, IPOGIF_INLINE));
	wire.bytes = IPOGIF_INLINE + 1;
	assert_false(accepted(wire, 2 * IPOGIF_INLINE));
	wire.bytes = IPOGIF_HEADERS;
	wire.rest = IPOGIF_BUFFER;
	wire.buffer = BUFFERS - 1;
	assert_true(accepted(wire, IPOGIF_INLINE));
	wire.rest = IPOGIF_BUFFER + 1;
	assert_false(accepted(wire, IPOGIF_INLINE));
	wire.rest = IPOGIF_BUFFER;
	wire.buffer = BUFFERS;
	assert_false(accepted(wire, IPOGIF_INLINE));
}

static void other_messages(void **state)
{
	struct ipogif_wire wire = { .type = IPOGIF_OFFER, .bytes = sizeof(struct ipogif_offer) };
	unsigned int type;

	(void)state;
	assert_true(accepted(wire, sizeof(struct ipogif_offer)));
	assert_false(accepted(wire, sizeof(struct ipogif_offer) - 1));
	wire.bytes--;
	assert_false(accepted(wire, IPOGIF_INLINE));
	for (type = 0; type <= UINT8_MAX; type++) {
		if (type == IPOGIF_FRAME || type == IPOGIF_OFFER)
			continue;
		wire.type = type;
		wire.bytes = 0;
		assert_true(accepted(wire, 0));
		wire.bytes = 1;
		assert_false(accepted(wire, IPOGIF_INLINE));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(end_of_the_mailbox),
		cmocka_unit_test(end_within_the_beginning),
		cmocka_unit_test(frames),
		cmocka_unit_test(other_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
