/* xplane_cpu.c: programs that XLA runs on the CPU, as work of a device.
 *
 * To JAX a CPU is a device like any other: a call hands a program over and returns, threads of
 * XLA run it later. Each instruction is an event of such a thread, with the number of its run
 * and of its device:
 *
 *     python    PjitFunction(step) ▐Execute▌  PjitFunction(step) ▐Execute▌      calls
 *     threads                        ▐ dot ▌ ▐ add ▌   ▐ dot ▌ ▐ add ▌          run 7, run 8
 *
 * An instruction runs from the start of its event until its result is there, which an event
 * "end: dot" tells: other threads may go on with it. All threads are one stream of the device:
 * they share its cores, and a program waits for the results of the one before. Loops and calls
 * contain other instructions and are not work themselves.
 *
 * The call of a run is given where several devices take part. For one device, calls of a
 * function and runs of its program are put together in their order; the first runs may belong
 * to calls before the profile, since no call is later than what it launched.
 *
 * In a profile with an accelerator the CPU is only the host, as it is in those of versions that
 * do not number runs. */
#include <stdio.h>
#include <stdlib.h>

#include "base/num.h"
#include "ingest/xplane/xplane_int.h"

enum { EVENT_FUNCTION, EVENT_CALL, EVENT_INSTRUCTION, EVENT_OTHER };

/* An event of the current line, for what is around it. */
typedef struct {
    int64_t start, end;
    uint64_t offset;
    uint64_t function;  /* key of its name */
    uint32_t row;       /* of a call: in cpu_calls; of an instruction: in works */
    int64_t quiet_from; /* of a call: where the last event inside of it ended */
    uint8_t kind;
} cpu_event;

/* An instruction that ran. */
typedef struct {
    int64_t start, end;
    uint64_t offset, number; /* number: what the event at its end has, too */
    str body;
    uint32_t meta; /* row in the plane's events */
    int32_t device;
    bool is_around;
} cpu_work;

typedef struct {
    reader *r;
    plane *p;
    vec events;  /* cpu_event, of one line */
    vec open;    /* uint32_t: events around the current one */
    vec works;   /* cpu_work */
    vec ends;    /* int64_t: when an instruction ended */
    map end_map; /* its number → ends */
} cpu_scan;

/* "PjitFunction(<lambda>)" and "jit__lambda" have one key: XLA allows fewer characters. */
WRAPS static uint64_t key_of(str name) {
    static const str fronts[] = {STR("PjitFunction("), STR("PmapFunction("), STR("jit("),
                                 STR("pmap("),         STR("jit_"),          STR("pmap_")};
    uint64_t key = 14695981039346656037u;
    for (size_t i = 0; i < N_OF(fronts); i++)
        if (str_starts(name, fronts[i])) name = str_from(name, fronts[i].n);
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        bool kept = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (kept) key = (key ^ (uint8_t)c) * 1099511628211u;
    }
    return key;
}

static uint64_t run_key(const stat_set *s) {
    return hash_pair((uint64_t)stat_int(s, STAT_PROGRAM, 0),
                     (uint64_t)stat_int(s, STAT_RUN, 0));
}

/* ---- what is there ---- */

static status add_event(cpu_scan *c, const event *e, uint8_t kind, uint64_t function) {
    cpu_event *to = vec_push(&c->events);
    if (!to) return ERR_MEMORY;
    *to = (cpu_event){.start = e->start,
                      .end = add_i64(e->start, e->dur),
                      .offset = e->offset,
                      .function = function,
                      .quiet_from = e->start,
                      .kind = kind};
    return OK;
}

/* `recorded`: the function is the number of its run. */
static status add_call(cpu_scan *c, const event *e, bool recorded) {
    reader *r = c->r;
    uint64_t run = recorded ? (uint64_t)stat_int(&r->set, STAT_RUN, 0) : 0;
    TRY(add_event(c, e, EVENT_CALL, run));
    VEC(&c->events, cpu_event)[c->events.n - 1].row = (uint32_t)r->cpu_calls.n;
    cpu_call_row *row = vec_push(&r->cpu_calls);
    if (!row) return ERR_MEMORY;
    *row = (cpu_call_row){.start = e->start,
                          .offset = e->offset,
                          .function = run,
                          .quiet = {e->start, e->start},
                          .run = CPU_NO_RUN,
                          .is_recorded = recorded};
    return OK;
}

static status note_run(cpu_scan *c, const event *e) {
    reader *r = c->r;
    uint32_t *at = map_at(&r->cpu_run_map, run_key(&r->set));
    if (!at) return ERR_MEMORY;
    if (*at == MAP_NONE) {
        *at = (uint32_t)r->cpu_runs.n;
        cpu_run *fresh = vec_push(&r->cpu_runs);
        if (!fresh) return ERR_MEMORY;
        *fresh = (cpu_run){.start = INT64_MAX,
                           .id = stat_int(&r->set, STAT_RUN, 0),
                           .function = key_of(stat_text(&r->set, STAT_HLO_MODULE))};
    }
    cpu_run *run = &VEC(&r->cpu_runs, cpu_run)[*at];
    run->start = min_i64(run->start, e->start);
    return OK;
}

static bool is_loop_or_call(str name) {
    static const str words[] = {STR("while"), STR("conditional"), STR("call")};
    for (size_t i = 0; i < N_OF(words); i++)
        if (str_eq(hlo_without_number(name), words[i])) return true;
    return false;
}

/* Number of the first CPU: in a recording, GPUs may come before it. */
static int32_t first_cpu(const reader *r) {
    return r->in ? r->in->first_cpu : 0;
}

static status add_work(cpu_scan *c, const event *e) {
    const stat_set *s = &c->r->set;
    TRY(note_run(c, e));
    TRY(add_event(c, e, EVENT_INSTRUCTION, 0));
    VEC(&c->events, cpu_event)[c->events.n - 1].row = (uint32_t)c->works.n;
    cpu_work *w = vec_push(&c->works);
    if (!w) return ERR_MEMORY;
    *w = (cpu_work){.start = e->start,
                    .end = add_i64(e->start, e->dur),
                    .offset = e->offset,
                    .number = (uint64_t)stat_int(s, STAT_PRODUCER, 0),
                    .body = e->body,
                    .meta = e->row,
                    .device = sat_i32(add_i64(stat_int(s, STAT_ORDINAL, 0), first_cpu(c->r))),
                    .is_around = is_loop_or_call(stat_text(s, STAT_HLO_OP))};
    return OK;
}

static status note_end(cpu_scan *c, const event *e) {
    if (!stat_has(&c->r->set, STAT_CONSUMER)) return OK;
    uint32_t *at = map_at(&c->end_map, (uint64_t)stat_int(&c->r->set, STAT_CONSUMER, 0));
    int64_t *end = at ? vec_push(&c->ends) : NULL;
    if (!end) return ERR_MEMORY;
    *end = e->start;
    *at = (uint32_t)(c->ends.n - 1);
    return OK;
}

static status take_event(cpu_scan *c, const event *e) {
    reader *r = c->r;
    str name = intern_get(r->strings, e->meta->name);
    if (str_starts(name, STR("PjitFunction(")) || str_starts(name, STR("PmapFunction(")))
        return add_event(c, e, EVENT_FUNCTION, key_of(name));
    TRY(event_stats(r, c->p, e));
    if (stat_has(&r->set, STAT_RUN) && stat_has(&r->set, STAT_HLO_OP)) return add_work(c, e);
    if (str_find(name, STR("Executable::ExecuteHelper"), 0) != SIZE_MAX)
        return add_call(c, e, false);
    if (stat_has(&r->set, STAT_RUN) &&
        str_find(name, STR("Executable::Execute ("), 0) != SIZE_MAX)
        return add_call(c, e, true);
    if (str_starts(name, STR("end: "))) return note_end(c, e);
    return e->dur ? add_event(c, e, EVENT_OTHER, 0) : OK;
}

/* ---- one line ---- */

static int compare_events(const void *pa, const void *pb) {
    const cpu_event *a = pa, *b = pb;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    if (a->end != b->end) return a->end > b->end ? -1 : 1;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

/* The longest time of a call in which nothing else is drawn: its works are drawn there. */
static void widen_quiet(cpu_scan *c, cpu_event *call, int64_t until) {
    cpu_call_row *row = &VEC(&c->r->cpu_calls, cpu_call_row)[call->row];
    int64_t longest = sub_i64(row->quiet.end, row->quiet.start);
    if (sub_i64(until, call->quiet_from) > longest) {
        row->quiet.start = call->quiet_from;
        row->quiet.end = until;
    }
}

static void close_event(cpu_scan *c, cpu_event *e) {
    if (e->kind == EVENT_CALL) widen_quiet(c, e, e->end);
}

/* What an event means to those around it: open[0 … n-1], innermost last. Instructions are not
 * drawn where they are. */
static void meet(cpu_scan *c, const cpu_event *e, const uint32_t *open, size_t n) {
    cpu_event *all = VEC(&c->events, cpu_event);
    cpu_event *around = n ? &all[open[n - 1]] : NULL;
    if (around && e->kind == EVENT_INSTRUCTION) {
        if (around->kind == EVENT_INSTRUCTION)
            VEC(&c->works, cpu_work)[around->row].is_around = true;
        return;
    }
    while (n && all[open[n - 1]].kind == EVENT_INSTRUCTION) n--;
    around = n ? &all[open[n - 1]] : NULL;
    if (!around || around->kind != EVENT_CALL) return;
    widen_quiet(c, around, e->start);
    around->quiet_from = max_i64(around->quiet_from, e->end);
}

/* The function that makes a call, by its key; 0: none. */
static uint64_t function_around(const cpu_scan *c) {
    const cpu_event *all = VEC(&c->events, cpu_event);
    for (size_t k = c->open.n; k > 0; k--) {
        const cpu_event *around = &all[VEC(&c->open, uint32_t)[k - 1]];
        if (around->kind == EVENT_FUNCTION) return around->function;
    }
    return 0;
}

static status place_event(cpu_scan *c, uint32_t i) {
    cpu_event *all = VEC(&c->events, cpu_event), *e = &all[i];
    const uint32_t *open = VEC(&c->open, uint32_t);
    for (; c->open.n && e->start >= all[open[c->open.n - 1]].end; c->open.n--)
        close_event(c, &all[open[c->open.n - 1]]);
    meet(c, e, open, c->open.n);
    cpu_call_row *call =
        e->kind == EVENT_CALL ? &VEC(&c->r->cpu_calls, cpu_call_row)[e->row] : NULL;
    if (call && !call->is_recorded) call->function = function_around(c);
    uint32_t *to = vec_push(&c->open);
    if (!to) return ERR_MEMORY;
    *to = i;
    return OK;
}

static status read_line(cpu_scan *c, str body) {
    line l;
    event e;
    line_read(c->r, c->p, body, &l);
    c->events.n = c->open.n = 0;
    for (walker w = walk_open(l.body); line_next(c->r, c->p, &l, &w, &e);)
        TRY(take_event(c, &e));
    if (c->events.n) qsort(c->events.p, c->events.n, sizeof(cpu_event), compare_events);
    for (uint32_t i = 0; i < c->events.n; i++) TRY(place_event(c, i));
    for (size_t k = c->open.n; k > 0; k--)
        close_event(c, &VEC(&c->events, cpu_event)[VEC(&c->open, uint32_t)[k - 1]]);
    return c->r->failed ? ERR_MEMORY : OK;
}

/* ---- works on their device ---- */

static int compare_works(const void *pa, const void *pb) {
    const cpu_work *a = pa, *b = pb;
    if (a->device != b->device) return a->device < b->device ? -1 : 1;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

static void set_ends(cpu_scan *c) {
    cpu_work *all = VEC(&c->works, cpu_work);
    for (size_t i = 0; i < c->works.n; i++) {
        uint32_t at = map_get(&c->end_map, all[i].number);
        if (at != MAP_NONE && all[i].number)
            all[i].end = max_i64(all[i].end, VEC(&c->ends, int64_t)[at]);
    }
}

/* The track of a device, and the device itself when it is new. */
static uint32_t find_track(reader *r, int32_t device) {
    char text[40];
    int64_t pid = r->in ? device : PID_DEVICE + (int64_t)device;
    ident tid = {0, false};
    uint32_t track = part_track(r->part, (ident){pid, false}, tid);
    uint32_t *known = map_at(&r->cpu_devices, (uint64_t)device);
    if (track == UINT32_MAX || !known) return UINT32_MAX;
    if (*known != MAP_NONE) return track;
    *known = 1;
    raw_device d = RAW_DEVICE_NONE;
    d.id = device;
    d.type = DEVICE_NAMED;
    d.name = xplane_string(r, STR("CPU"));
    int n = snprintf(text, sizeof text, "/device:CPU:%d",
                     (int)sat_i32(sub_i64(device, first_cpu(r))));
    uint32_t name = xplane_string(r, str_n(text, (size_t)n));
    r->failed |=
        builder_add_device(r->b, &d, NULL) != OK ||
        xplane_label(r, pid, IDENT_NONE, LABEL_PROCESS_NAME, name) != OK ||
        xplane_label(r, pid, tid, LABEL_THREAD_NAME, xplane_string(r, STR("XLA"))) != OK ||
        xplane_label(r, pid, tid, LABEL_THREAD_DEVICE, device) != OK;
    return r->failed ? UINT32_MAX : track;
}

static status put_work(cpu_scan *c, const cpu_work *w, uint16_t category) {
    reader *r = c->r;
    const event e = {.meta = &VEC(&c->p->events, event_meta)[w->meta],
                     .row = w->meta,
                     .body = w->body,
                     .offset = w->offset};
    work_op work;
    bool found = false;
    raw_kernel k = RAW_KERNEL_NONE;
    raw_slice row = {.start = w->start,
                     .dur = sub_i64(w->end, w->start),
                     .name = e.meta->name,
                     .category = category,
                     .kind = KIND_KERNEL};
    r->n_events++; /* stats belong to one event */
    TRY(event_stats(r, c->p, &e));
    k.device = w->device;
    k.stream = 0;
    k.correlation = cpu_run_number(r, map_get(&r->cpu_run_map, run_key(&r->set)));
    row.track = find_track(r, w->device);
    if (row.track == UINT32_MAX) return ERR_MEMORY;
    TRY(work_of_event(r, row.name, &work, &found));
    row.args = event_args(r);
    if (k.correlation != ABSENT_I64) {
        work.args = row.args;
        TRY(launch_add(r, k.correlation, &work));
        k.external = work.external;
    }
    TRY(part_kernel(r->part, &k, &row));
    return part_slice(r->part, &row);
}

static status put_works(cpu_scan *c) {
    uint16_t category = builder_category(c->r->b, xplane_string(c->r, c->p->name));
    const cpu_work *all = c->works.p;
    set_ends(c);
    if (c->works.n) qsort(c->works.p, c->works.n, sizeof(cpu_work), compare_works);
    for (size_t i = 0; i < c->works.n; i++)
        if (!all[i].is_around) TRY(put_work(c, &all[i], category));
    return c->r->failed ? ERR_MEMORY : OK;
}

/* ---- the plane ---- */

static bool has_lines(const plane *p) {
    walker w = walk_open(p->body);
    pb_field f;
    while (walk_next(&w, &f))
        if (f.tag == PB_BYTES(3)) return true;
    return false;
}

static bool has_accelerator(const reader *r) {
    for (size_t i = 0; i < r->planes.n; i++) {
        const plane *p = &VEC(&r->planes, plane)[i];
        if ((p->role == PLANE_GPU || p->role == PLANE_TPU) && has_lines(p)) return true;
    }
    return false;
}

static status scan_lines(cpu_scan *c) {
    walker w = walk_open(c->p->body);
    pb_field f;
    while (walk_next(&w, &f))
        if (f.tag == PB_BYTES(3)) TRY(read_line(c, pb_bytes(&f)));
    return OK;
}

status cpu_read(reader *r, plane *p) {
    cpu_scan c = {.r = r,
                  .p = p,
                  .events = VEC_INIT(cpu_event),
                  .open = VEC_INIT(uint32_t),
                  .works = VEC_INIT(cpu_work),
                  .ends = VEC_INIT(int64_t)};
    if (has_accelerator(r)) return OK;
    r->again = true; /* events are counted with the threads */
    status st = scan_lines(&c);
    r->is_cpu = st == OK && c.works.n > 0;
    if (r->in && r->is_cpu) *r->in->computes_on_cpu = true;
    if (r->is_cpu) st = cpu_tie(r);
    if (r->is_cpu && st == OK) st = put_works(&c);
    r->again = false;
    vec *vecs[] = {&c.events, &c.open, &c.works, &c.ends};
    for (size_t i = 0; i < N_OF(vecs); i++) vec_fini(vecs[i]);
    map_fini(&c.end_map);
    return st;
}
