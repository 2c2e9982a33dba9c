// SPDX-License-Identifier: GPL-2.0-only
/*
 * ECC of the NIC's memories: their names, and which errors stop the NIC. The errors themselves are
 * handled in aries_ras.c.
 */
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "aries_core.h"

#define ARIES_ECC_ROW(NAME, name, entries, row, text) { #name, row, text },
const struct aries_ecc_row aries_ecc_rows[ARIES_RAS_MEMORY_COUNT] = {
	ARIES_RAS_MEMORIES(ARIES_ECC_ROW)
};

/**
 * aries_ecc_program() - tell the NIC which errors stop it
 * @ad: the device
 *
 * Context: state_sem held, or nothing else uses the NIC.
 */
void aries_ecc_program(struct aries_dev *ad)
{
	u32 limit = FIELD_PREP(ARIES_RAS_LIMIT_COUNT_MASK, READ_ONCE(ad->ecc_limit)) |
		    FIELD_PREP(ARIES_RAS_LIMIT_WINDOW_MASK, READ_ONCE(ad->ecc_window_ms));
	unsigned int i;

	for (i = 0; i < ARIES_RAS_MEMORY_COUNT; i++)
		aries_wr32(ad, ARIES_RAS_LIMIT_N(i), limit);
	aries_wr32(ad, ARIES_RAS_SIGNAL, READ_ONCE(ad->ecc_signal));
}

static unsigned int aries_ecc_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARIES_RAS_MEMORY_COUNT; i++)
		if (!strcmp(name, aries_ecc_rows[i].name))
			break;
	return i;
}

/**
 * aries_ecc_set_limit() - set how many errors within how many milliseconds stop the NIC
 * @ad: the device
 * @text: both numbers
 *
 * Context: sleeps. Return: 0, or -EINVAL.
 */
int aries_ecc_set_limit(struct aries_dev *ad, const char *text)
{
	u16 count, ms;
	char more;

	if (sscanf(text, "%hu %hu %c", &count, &ms, &more) != 2)
		return -EINVAL;
	down_read(&ad->state_sem);
	WRITE_ONCE(ad->ecc_limit, count);
	WRITE_ONCE(ad->ecc_window_ms, ms);
	aries_ecc_program(ad);
	up_read(&ad->state_sem);
	return 0;
}

/**
 * aries_ecc_set_signal() - set the memories whose double-bit errors stop the NIC
 * @ad: the device
 * @text: their names, separated by blanks; may be empty
 *
 * Context: sleeps. Return: 0, -EINVAL for an unknown name, or -ENOMEM.
 */
int aries_ecc_set_signal(struct aries_dev *ad, const char *text)
{
	char *copy = kstrdup(text, GFP_KERNEL), *rest = copy, *name;
	u32 signal = 0;
	int rc = 0;

	if (!copy)
		return -ENOMEM;
	while (!rc && (name = strsep(&rest, "\n "))) {
		unsigned int memory = aries_ecc_find(name);

		if (memory < ARIES_RAS_MEMORY_COUNT)
			signal |= BIT(memory);
		else if (*name)
			rc = -EINVAL;
	}
	kfree(copy);
	if (rc)
		return rc;
	down_read(&ad->state_sem);
	WRITE_ONCE(ad->ecc_signal, signal);
	aries_ecc_program(ad);
	up_read(&ad->state_sem);
	return 0;
}

/** aries_ecc_show_signal() - list these memories in @buf, a page. Return: number of bytes. */
int aries_ecc_show_signal(struct aries_dev *ad, char *buf)
{
	u32 signal = READ_ONCE(ad->ecc_signal);
	unsigned int i;
	int at = 0;

	for (i = 0; i < ARIES_RAS_MEMORY_COUNT; i++)
		if (signal & BIT(i))
			at += sysfs_emit_at(buf, at, "%s%s", at ? " " : "", aries_ecc_rows[i].name);
	return at + sysfs_emit_at(buf, at, "\n");
}
