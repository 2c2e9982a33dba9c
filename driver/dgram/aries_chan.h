/* SPDX-License-Identifier: GPL-2.0-only */
/* The channel between the drivers of all nodes: its interface for other folders. */
#ifndef ARIES_CHAN_H
#define ARIES_CHAN_H

#include <linux/types.h>

struct aries_dev;
struct seq_file;

int aries_chan_init(struct aries_dev *ad);
void aries_chan_exit(struct aries_dev *ad);
void aries_chan_start(struct aries_dev *ad);
void aries_chan_go(struct aries_dev *ad);
void aries_chan_stop(struct aries_dev *ad);
void aries_chan_irq(struct aries_dev *ad);
void aries_peers_show(struct seq_file *m, struct aries_dev *ad);

#endif /* ARIES_CHAN_H */
