// SPDX-License-Identifier: GPL-2.0-only
/* Puts and block transfers from a timer, which continue while the NIC is reset or removed. */
#include <linux/timer.h>

#include "kt.h"

static struct kt_side kt_busy;
static struct timer_list kt_busy_timer;
static bool kt_busy_on;
static unsigned long kt_busy_puts, kt_busy_refused, kt_busy_held, kt_busy_wrong;
static unsigned int kt_busy_told[ARIES_EVENT_RESUME + 1];

static void kt_busy_event(void *data, enum aries_event event, const struct aries_event_info *info)
{
	/* not counted if it comes before a reset or a removal, so the counts show that */
	if (event != ARIES_EVENT_QUIET ||
	    kt_busy_told[ARIES_EVENT_RESET] + kt_busy_told[ARIES_EVENT_GONE] >
		    kt_busy_told[ARIES_EVENT_QUIET])
		kt_busy_told[event]++;
}

static void kt_busy_tick(struct timer_list *t)
{
	unsigned int i;
	u64 entry;

	for (i = 0; i < 32; i++) {
		int rc = kt_put8(&kt_busy, &kt_busy, 8 * i, i);

		if (!rc)
			rc = kt_block(&kt_busy, &kt_busy, 4096);
		if (rc == -EIO || rc == -ENODEV)
			kt_busy_refused++;
		else if (rc == -EAGAIN)
			kt_busy_held++;
		else if (rc && rc != ARIES_ST_QUEUE_FULL && rc != ARIES_ST_DISABLED)
			kt_busy_wrong++;
		else
			kt_busy_puts++;
		while (!aries_queue_poll(kt_busy.source, &entry))
			;
	}
	if (READ_ONCE(kt_busy_on))
		mod_timer(&kt_busy_timer, jiffies);
}

/* Handles of a NIC that is gone can be freed, too. */
void kt_traffic_stop(void)
{
	if (!kt_busy_on)
		return;
	WRITE_ONCE(kt_busy_on, false);
	del_timer_sync(&kt_busy_timer);
	kt_close(&kt_busy);
}

int kt_traffic_start(void)
{
	const struct aries_owner_args args = {
		.name = "kapi-busy",
		.ptag = 255,
		.cookie = KT_COOKIE,
		.inst_id = 3,
		.event = kt_busy_event,
	};
	int rc;

	kt_busy_puts = 0;
	kt_busy_refused = 0;
	kt_busy_held = 0;
	kt_busy_wrong = 0;
	memset(kt_busy_told, 0, sizeof(kt_busy_told));
	rc = kt_dev ? kt_open_told(&kt_busy, &args) : -ENODEV;
	if (rc)
		return rc;
	kt_busy_on = true;
	timer_setup(&kt_busy_timer, kt_busy_tick, 0);
	mod_timer(&kt_busy_timer, jiffies);
	return 0;
}

void kt_traffic_counts(struct seq_file *m)
{
	seq_printf(m, "puts %lu refused %lu held %lu wrong %lu", READ_ONCE(kt_busy_puts),
		   READ_ONCE(kt_busy_refused), READ_ONCE(kt_busy_held), READ_ONCE(kt_busy_wrong));
	seq_printf(m, " reset %u quiet %u up %u gone %u quiesce %u resume %u\n",
		   READ_ONCE(kt_busy_told[ARIES_EVENT_RESET]),
		   READ_ONCE(kt_busy_told[ARIES_EVENT_QUIET]),
		   READ_ONCE(kt_busy_told[ARIES_EVENT_UP]),
		   READ_ONCE(kt_busy_told[ARIES_EVENT_GONE]),
		   READ_ONCE(kt_busy_told[ARIES_EVENT_QUIESCE]),
		   READ_ONCE(kt_busy_told[ARIES_EVENT_RESUME]));
}
