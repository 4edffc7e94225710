/* names_int.h: what the name of a trace file says, and how names are ordered. */
#ifndef SESSION_NAMES_INT_H
#define SESSION_NAMES_INT_H

#include "base/str.h"
#include "session/discover.h"

typedef struct {
    str worker, stamp; /* borrowed from the name; the stamp is digits or empty */
    int packing;       /* 0 as it is, 1 gzip, 2 zstd */
    bool asks_file;    /* the number of the span is in the file */
    bool database;     /* of a profiler that exports SQLite */
    bool perfetto;     /* Perfetto's protobuf */
    bool table;        /* one of several that are read together, whichever is opened */
    bool memory;       /* a picture of memory, not a timeline */
    bool recorded;     /* may be of libtacho: *.tacho, *.pt.trace.json */
    bool host;         /* the worker is a host: all of them in a folder are one run */
} trace_name;

/* WORKER[.DIGITS].pt.trace.json[.gz|.zst], WORKER[.DIGITS].tacho[.gz|.zst], or Paddle's
 * WORKER[_time_STAMP].paddle_trace.json|pb[.gz|.zst], or XLA's HOST.xplane.pb[.gz|.zst]; false
 * for any other name. */
bool name_parse(str file, trace_name *out);
/* HOST.trace.json[.gz|.zst] and perfetto_trace.json[…]: what JAX writes of the profile
 * HOST.xplane.pb for other viewers. *host is empty where the name does not say whose. */
bool name_is_retold(str file, str *host);
/* A name that does not say it but may be a trace: *.json, *.trace, *.pickle, *.pb, *.sqlite,
 * *.db, *.pftrace, *.perfetto-trace, tables of rocprofv3, packed or not. */
bool name_may_be_trace(str file);
/* Any name: the worker is the name without what says its form. */
void name_of_any(str file, trace_name *out);
/* rank3, rank-3, rank_3 as a word of its own inside a worker's name; INT64_MIN when there is
 * none. */
int64_t name_rank(str worker);
/* worker3, worker-3, worker_3 at the start of a worker's name; INT64_MIN when it is not so. */
int64_t name_number(str worker);
/* What the recorder says in the name of a process that is not a rank: OWNER.loader_PID,
 * OWNER.child_PID, NAME.launcher. WORKER_TRACE when the name says nothing; *owner is empty then
 * and for a launcher. */
worker_role name_role(str worker, str *owner);
/* When a file with this stamp was begun, in Unix ns, where the stamp is a time of this century:
 * seconds to nanoseconds by its length; INT64_MIN otherwise. */
int64_t name_stamp_ns(str stamp);
/* Byte order, but runs of digits compare as numbers: rank2 before rank10. */
int name_compare(str a, str b);
/* Digits as numbers of any length; no digits first. */
int name_compare_stamps(str a, str b);

#endif
