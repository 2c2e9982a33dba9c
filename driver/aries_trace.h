/* SPDX-License-Identifier: GPL-2.0-only */
/* Tracepoints, events/aries/ in tracefs: error, ioctl, fmad, cq, mem, ce, state. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM aries

#if !defined(ARIES_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define ARIES_TRACE_H

#include <linux/tracepoint.h>
#include <linux/types.h>

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

TRACE_EVENT(aries_fmad,
	    TP_PROTO(int id, unsigned int owner, unsigned int fmad, unsigned int ptag, bool on),
	    TP_ARGS(id, owner, fmad, ptag, on),
	    TP_STRUCT__entry(__field(int, id)
			     __field(unsigned int, owner)
			     __field(unsigned int, fmad)
			     __field(unsigned int, ptag)
			     __field(bool, on)),
	    TP_fast_assign(__entry->id = id;
			   __entry->owner = owner;
			   __entry->fmad = fmad;
			   __entry->ptag = ptag;
			   __entry->on = on;),
	    TP_printk("kgni%d owner=%u fmad=%u ptag=%u %s", __entry->id, __entry->owner,
		      __entry->fmad, __entry->ptag, __entry->on ? "enabled" : "disabled")
);

TRACE_EVENT(aries_cq,
	    TP_PROTO(int id, unsigned int owner, unsigned int cq, unsigned int log2, bool on),
	    TP_ARGS(id, owner, cq, log2, on),
	    TP_STRUCT__entry(__field(int, id)
			     __field(unsigned int, owner)
			     __field(unsigned int, cq)
			     __field(unsigned int, log2)
			     __field(bool, on)),
	    TP_fast_assign(__entry->id = id;
			   __entry->owner = owner;
			   __entry->cq = cq;
			   __entry->log2 = log2;
			   __entry->on = on;),
	    TP_printk("kgni%d owner=%u cq=%u log2=%u %s", __entry->id, __entry->owner, __entry->cq,
		      __entry->log2, __entry->on ? "created" : "stopped")
);

TRACE_EVENT(aries_mem,
	    TP_PROTO(int id, unsigned int owner, unsigned int mdh, unsigned long start,
		     unsigned long pages, unsigned int shift, bool on),
	    TP_ARGS(id, owner, mdh, start, pages, shift, on),
	    TP_STRUCT__entry(__field(int, id)
			     __field(unsigned int, owner)
			     __field(unsigned int, mdh)
			     __field(unsigned long, start)
			     __field(unsigned long, pages)
			     __field(unsigned int, shift)
			     __field(bool, on)),
	    TP_fast_assign(__entry->id = id;
			   __entry->owner = owner;
			   __entry->mdh = mdh;
			   __entry->start = start;
			   __entry->pages = pages;
			   __entry->shift = shift;
			   __entry->on = on;),
	    TP_printk("kgni%d owner=%u mdh=%u start=%#lx pages=%lu shift=%u %s", __entry->id,
		      __entry->owner, __entry->mdh, __entry->start, __entry->pages, __entry->shift,
		      __entry->on ? "registered" : "invalidated")
);

TRACE_EVENT(aries_ce,
	    TP_PROTO(int id, unsigned int owner, unsigned int ce, unsigned int children,
		     u64 parent),
	    TP_ARGS(id, owner, ce, children, parent),
	    TP_STRUCT__entry(__field(int, id)
			     __field(unsigned int, owner)
			     __field(unsigned int, ce)
			     __field(unsigned int, children)
			     __field(u64, parent)),
	    TP_fast_assign(__entry->id = id;
			   __entry->owner = owner;
			   __entry->ce = ce;
			   __entry->children = children;
			   __entry->parent = parent;),
	    TP_printk("kgni%d owner=%u ce=%u children=%u parent=%#llx %s", __entry->id,
		      __entry->owner, __entry->ce, __entry->children, __entry->parent,
		      __entry->children ? "enabled" : "stopped")
);

TRACE_EVENT(aries_job,
	    TP_PROTO(int id, unsigned int ptag, u64 job, const char *what),
	    TP_ARGS(id, ptag, job, what),
	    TP_STRUCT__entry(__field(int, id)
			     __field(unsigned int, ptag)
			     __field(u64, job)
			     __field(const char *, what)),
	    TP_fast_assign(__entry->id = id;
			   __entry->ptag = ptag;
			   __entry->job = job;
			   __entry->what = what;),
	    TP_printk("kgni%d ptag=%u job=%llu %s", __entry->id, __entry->ptag, __entry->job,
		      __entry->what)
);

TRACE_EVENT(aries_state,
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
