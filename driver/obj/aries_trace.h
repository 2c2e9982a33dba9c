/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints, events/aries/ in tracefs, by topic:
 *
 *   aries_ioctl                                      every request
 *   aries_attach aries_detach                        attachments
 *   aries_fmad_enable aries_fmad_disable             FMA descriptors
 *   aries_job_create _destroy _suspend _resume       jobs
 *   aries_mem_register _deregister _update           memory domains
 *   aries_cq_create _destroy _wait _irq              completion queues
 *   aries_ce_start aries_ce_stop                     collective engines
 *   aries_recv_post _done _cancel _suspend           receives for channel sends
 *   aries_dgram_post _cancel _end                    datagrams
 *   aries_error                                      error events of the NIC
 *   aries_reset                                      resets, removal and return of the NIC
 *
 * Every line begins with kgniN. Numbers are those of debugfs. Cookies and kernel addresses are
 * never shown.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM aries

#if !defined(ARIES_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define ARIES_TRACE_H

#include <linux/tracepoint.h>
#include <linux/types.h>

#include "aries_obj.h"

TRACE_EVENT(aries_ioctl,
	    TP_PROTO(int id, unsigned int owner, unsigned int nr, int rc),
	    TP_ARGS(id, owner, nr, rc),
	    TP_STRUCT__entry(__field(int, id)
			     __field(unsigned int, owner)
			     __field(unsigned int, nr)
			     __field(int, rc)),
	    TP_fast_assign(__entry->id = id;
			   __entry->owner = owner;
			   __entry->nr = nr;
			   __entry->rc = rc;),
	    TP_printk("kgni%d owner=%u nr=%u rc=%d", __entry->id, __entry->owner, __entry->nr,
		      __entry->rc)
);

DECLARE_EVENT_CLASS(aries_ctx,
		    TP_PROTO(const struct aries_owner *own),
		    TP_ARGS(own),
		    TP_STRUCT__entry(__field(int, id)
				     __field(pid_t, pid)
				     __field(u32, inst)
				     __field(u32, modes)
				     __field(u16, owner)
				     __field(u16, fmad)
				     __field(u8, ptag)),
		    TP_fast_assign(__entry->id = own->ad->id;
				   __entry->pid = own->pid;
				   __entry->inst = own->inst_id;
				   __entry->modes = own->modes;
				   __entry->owner = own->nr;
				   __entry->fmad = own->fmad;
				   __entry->ptag = own->dom->ptag;),
		    TP_printk("kgni%d owner=%u pid=%d ptag=%u inst=%u fmad=%u modes=%#x",
			      __entry->id, __entry->owner, __entry->pid, __entry->ptag,
			      __entry->inst, __entry->fmad, __entry->modes)
);

DEFINE_EVENT(aries_ctx, aries_attach, TP_PROTO(const struct aries_owner *own), TP_ARGS(own));
DEFINE_EVENT(aries_ctx, aries_detach, TP_PROTO(const struct aries_owner *own), TP_ARGS(own));

DECLARE_EVENT_CLASS(aries_fmad,
		    TP_PROTO(const struct aries_owner *own, unsigned int nr),
		    TP_ARGS(own, nr),
		    TP_STRUCT__entry(__field(int, id)
				     __field(unsigned int, nr)
				     __field(u16, owner)
				     __field(u8, ptag)),
		    TP_fast_assign(__entry->id = own->ad->id;
				   __entry->nr = nr;
				   __entry->owner = own->nr;
				   __entry->ptag = own->dom->ptag;),
		    TP_printk("kgni%d owner=%u fmad=%u ptag=%u",
			      __entry->id, __entry->owner, __entry->nr, __entry->ptag)
);

DEFINE_EVENT(aries_fmad, aries_fmad_enable,
	     TP_PROTO(const struct aries_owner *own, unsigned int nr), TP_ARGS(own, nr));
DEFINE_EVENT(aries_fmad, aries_fmad_disable,
	     TP_PROTO(const struct aries_owner *own, unsigned int nr), TP_ARGS(own, nr));

DECLARE_EVENT_CLASS(aries_job,
		    TP_PROTO(int id, const struct aries_domain *dom),
		    TP_ARGS(id, dom),
		    TP_STRUCT__entry(__field(int, id)
				     __field(u64, job)
				     __field(u32, mdd)
				     __field(u32, cq)
				     __field(u32, fma)
				     __field(u8, ptag)),
		    TP_fast_assign(__entry->id = id;
				   __entry->job = dom->job_id;
				   __entry->mdd = dom->limit[ARIES_RES_MDD];
				   __entry->cq = dom->limit[ARIES_RES_CQ];
				   __entry->fma = dom->limit[ARIES_RES_FMA];
				   __entry->ptag = dom->ptag;),
		    TP_printk("kgni%d ptag=%u job=%llu mdd=%u cq=%u fma=%u",
			      __entry->id, __entry->ptag, __entry->job, __entry->mdd, __entry->cq,
			      __entry->fma)
);

DEFINE_EVENT(aries_job, aries_job_create,
	     TP_PROTO(int id, const struct aries_domain *dom), TP_ARGS(id, dom));
DEFINE_EVENT(aries_job, aries_job_destroy,
	     TP_PROTO(int id, const struct aries_domain *dom), TP_ARGS(id, dom));
DEFINE_EVENT(aries_job, aries_job_suspend,
	     TP_PROTO(int id, const struct aries_domain *dom), TP_ARGS(id, dom));
DEFINE_EVENT(aries_job, aries_job_resume,
	     TP_PROTO(int id, const struct aries_domain *dom), TP_ARGS(id, dom));

DECLARE_EVENT_CLASS(aries_recv,
		    TP_PROTO(const struct aries_owner *own, unsigned int nr, unsigned int channel),
		    TP_ARGS(own, nr, channel),
		    TP_STRUCT__entry(__field(int, id)
				     __field(unsigned int, nr)
				     __field(unsigned int, channel)
				     __field(u16, owner)
				     __field(u8, ptag)),
		    TP_fast_assign(__entry->id = own->ad->id;
				   __entry->nr = nr;
				   __entry->channel = channel;
				   __entry->owner = own->nr;
				   __entry->ptag = own->dom->ptag;),
		    TP_printk("kgni%d owner=%u receive=%u channel=%u ptag=%u", __entry->id,
			      __entry->owner, __entry->nr, __entry->channel, __entry->ptag)
);

DEFINE_EVENT(aries_recv, aries_recv_post,
	     TP_PROTO(const struct aries_owner *own, unsigned int nr, unsigned int channel),
	     TP_ARGS(own, nr, channel));
DEFINE_EVENT(aries_recv, aries_recv_done,
	     TP_PROTO(const struct aries_owner *own, unsigned int nr, unsigned int channel),
	     TP_ARGS(own, nr, channel));
DEFINE_EVENT(aries_recv, aries_recv_cancel,
	     TP_PROTO(const struct aries_owner *own, unsigned int nr, unsigned int channel),
	     TP_ARGS(own, nr, channel));
DEFINE_EVENT(aries_recv, aries_recv_suspend,
	     TP_PROTO(const struct aries_owner *own, unsigned int nr, unsigned int channel),
	     TP_ARGS(own, nr, channel));

DECLARE_EVENT_CLASS(aries_mem,
		    TP_PROTO(const struct aries_owner *own, const struct aries_region *mem),
		    TP_ARGS(own, mem),
		    TP_STRUCT__entry(__field(int, id)
				     __field(unsigned long, start)
				     __field(unsigned long, pages)
				     __field(unsigned long, pinned)
				     __field(unsigned int, shift)
				     __field(int, cq)
				     __field(u16, owner)
				     __field(u16, mdh)),
		    TP_fast_assign(__entry->id = own->ad->id;
				   __entry->start = aries_shown_address(own, mem->start);
				   __entry->pages = mem->npages;
				   __entry->pinned = mem->accounted;
				   __entry->shift = mem->page_shift;
				   __entry->cq = mem->cq ? mem->cq->nr : -1;
				   __entry->owner = own->nr;
				   __entry->mdh = mem->mdh;),
		    TP_printk("kgni%d owner=%u mdh=%u start=%#lx pages=%lu pinned=%lu shift=%u cq=%d",
			      __entry->id, __entry->owner, __entry->mdh, __entry->start,
			      __entry->pages, __entry->pinned, __entry->shift, __entry->cq)
);

DEFINE_EVENT(aries_mem, aries_mem_register,
	     TP_PROTO(const struct aries_owner *own, const struct aries_region *mem),
	     TP_ARGS(own, mem));
DEFINE_EVENT(aries_mem, aries_mem_deregister,
	     TP_PROTO(const struct aries_owner *own, const struct aries_region *mem),
	     TP_ARGS(own, mem));
DEFINE_EVENT(aries_mem, aries_mem_update,
	     TP_PROTO(const struct aries_owner *own, const struct aries_region *mem),
	     TP_ARGS(own, mem));

DECLARE_EVENT_CLASS(aries_cq,
		    TP_PROTO(const struct aries_owner *own, const struct aries_cq *cq),
		    TP_ARGS(own, cq),
		    TP_STRUCT__entry(__field(int, id)
				     __field(u32, flags)
				     __field(u16, owner)
				     __field(u16, nr)
				     __field(u8, log2)),
		    TP_fast_assign(__entry->id = own->ad->id;
				   __entry->flags = cq->flags;
				   __entry->owner = own->nr;
				   __entry->nr = cq->nr;
				   __entry->log2 = cq->log2;),
		    TP_printk("kgni%d owner=%u cq=%u slots=%u flags=%#x",
			      __entry->id, __entry->owner, __entry->nr, 1u << __entry->log2,
			      __entry->flags)
);

DEFINE_EVENT(aries_cq, aries_cq_create,
	     TP_PROTO(const struct aries_owner *own, const struct aries_cq *cq), TP_ARGS(own, cq));
DEFINE_EVENT(aries_cq, aries_cq_destroy,
	     TP_PROTO(const struct aries_owner *own, const struct aries_cq *cq), TP_ARGS(own, cq));

TRACE_EVENT(aries_cq_wait,
	    TP_PROTO(const struct aries_owner *own, unsigned int count, int cq, int rc),
	    TP_ARGS(own, count, cq, rc),
	    TP_STRUCT__entry(__field(int, id)
			     __field(unsigned int, count)
			     __field(int, cq)
			     __field(int, rc)
			     __field(u16, owner)),
	    TP_fast_assign(__entry->id = own->ad->id;
			   __entry->count = count;
			   __entry->cq = cq;
			   __entry->rc = rc;
			   __entry->owner = own->nr;),
	    TP_printk("kgni%d owner=%u count=%u cq=%d rc=%d", __entry->id, __entry->owner,
		      __entry->count, __entry->cq, __entry->rc)
);

TRACE_EVENT(aries_cq_irq,
	    TP_PROTO(int id, const struct aries_cq *cq),
	    TP_ARGS(id, cq),
	    TP_STRUCT__entry(__field(int, id)
			     __field(unsigned long, irqs)
			     __field(u16, nr)),
	    TP_fast_assign(__entry->id = id;
			   __entry->irqs = cq->irqs;
			   __entry->nr = cq->nr;),
	    TP_printk("kgni%d cq=%u irqs=%lu", __entry->id, __entry->nr, __entry->irqs)
);

DECLARE_EVENT_CLASS(aries_ce,
		    TP_PROTO(const struct aries_owner *own, unsigned int nr, u64 ctl, u64 parent),
		    TP_ARGS(own, nr, ctl, parent),
		    TP_STRUCT__entry(__field(int, id)
				     __field(unsigned int, nr)
				     __field(unsigned int, children)
				     __field(u32, parent)
				     __field(u16, owner)),
		    TP_fast_assign(__entry->id = own->ad->id;
				   __entry->nr = nr;
				   __entry->children = FIELD_GET(ARIES_CE_CTL_CHILDREN_MASK, ctl);
				   __entry->parent = parent;
				   __entry->owner = own->nr;),
		    TP_printk("kgni%d owner=%u ce=%u children=%u parent=%#x",
			      __entry->id, __entry->owner, __entry->nr, __entry->children,
			      __entry->parent)
);

DEFINE_EVENT(aries_ce, aries_ce_start,
	     TP_PROTO(const struct aries_owner *own, unsigned int nr, u64 ctl, u64 parent),
	     TP_ARGS(own, nr, ctl, parent));
DEFINE_EVENT(aries_ce, aries_ce_stop,
	     TP_PROTO(const struct aries_owner *own, unsigned int nr, u64 ctl, u64 parent),
	     TP_ARGS(own, nr, ctl, parent));

DECLARE_EVENT_CLASS(aries_dgram,
		    TP_PROTO(const struct aries_owner *own, u64 ep, u32 pe, u32 inst, u32 state),
		    TP_ARGS(own, ep, pe, inst, state),
		    TP_STRUCT__entry(__field(u64, ep)
				     __field(int, id)
				     __field(u32, pe)
				     __field(u32, inst)
				     __field(u32, state)
				     __field(u16, owner)),
		    TP_fast_assign(__entry->ep = ep;
				   __entry->id = own->ad->id;
				   __entry->pe = pe;
				   __entry->inst = inst;
				   __entry->state = state;
				   __entry->owner = own->nr;),
		    TP_printk("kgni%d owner=%u ep=%#llx node=%u inst=%u %s",
			      __entry->id, __entry->owner, __entry->ep, __entry->pe, __entry->inst,
			      __print_symbolic(__entry->state, { KGNI_DGRAM_PENDING, "PENDING" },
					       { KGNI_DGRAM_REMOTE_DATA, "REMOTE_DATA" },
					       { KGNI_DGRAM_COMPLETED, "COMPLETED" },
					       { KGNI_DGRAM_TERMINATED, "TERMINATED" },
					       { KGNI_DGRAM_TIMEOUT, "TIMEOUT" }))
);

DEFINE_EVENT(aries_dgram, aries_dgram_post,
	     TP_PROTO(const struct aries_owner *own, u64 ep, u32 pe, u32 inst, u32 state),
	     TP_ARGS(own, ep, pe, inst, state));
DEFINE_EVENT(aries_dgram, aries_dgram_cancel,
	     TP_PROTO(const struct aries_owner *own, u64 ep, u32 pe, u32 inst, u32 state),
	     TP_ARGS(own, ep, pe, inst, state));
DEFINE_EVENT(aries_dgram, aries_dgram_end,
	     TP_PROTO(const struct aries_owner *own, u64 ep, u32 pe, u32 inst, u32 state),
	     TP_ARGS(own, ep, pe, inst, state));

TRACE_EVENT(aries_error,
	    TP_PROTO(int id, u64 event, u64 time, const u64 *info),
	    TP_ARGS(id, event, time, info),
	    TP_STRUCT__entry(__field(int, id)
			     __field(u64, event)
			     __field(u64, time)
			     __array(u64, info, 4)),
	    TP_fast_assign(__entry->id = id;
			   __entry->event = event;
			   __entry->time = time;
			   memcpy(__entry->info, info, sizeof(__entry->info));),
	    TP_printk("kgni%d code=%#llx ptag=%llu time=%llu info=%#llx,%#llx,%#llx,%#llx",
		      __entry->id,
		      __entry->event & 0xffff, __entry->event >> 24 & 0xff, __entry->time,
		      __entry->info[0], __entry->info[1], __entry->info[2], __entry->info[3])
);

TRACE_EVENT(aries_reset,
	    TP_PROTO(int id, int state, bool hw_ok),
	    TP_ARGS(id, state, hw_ok),
	    TP_STRUCT__entry(__field(int, id)
			     __field(int, state)
			     __field(bool, hw_ok)),
	    TP_fast_assign(__entry->id = id;
			   __entry->state = state;
			   __entry->hw_ok = hw_ok;),
	    TP_printk("kgni%d %s%s", __entry->id,
		      __print_symbolic(__entry->state, { 0, "up" }, { 1, "reset" }, { 2, "gone" }),
		      __entry->hw_ok ? "" : ", does not answer")
);

#endif /* ARIES_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE aries_trace
#include <trace/define_trace.h>
