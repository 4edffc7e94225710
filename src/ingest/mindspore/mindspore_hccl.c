/* mindspore_hccl.c: the traces of collectives as a device wrote them:
 * hccl_info/OPERATOR/iterN.trace.
 *
 *   {"device id": "6", "traceEvents": [{"tid": 2, "ts": us, "dur": us, "args": {
 *        "task type": "Memcpy", "src rank": 1, "dst rank": 0, "transport type": "SDMA",
 *        "size": 47178496}}]}
 *
 * MindSpore makes hccl_raw_#.csv of them; where that table is, they are not looked at. A file
 * is one run of one operator, and belongs to the step it starts in. What counts:
 *
 *   SDMA   Reduce Inline and Memcpy: their time and bytes
 *   RDMA   on one thread RDMASend, RDMASend, Notify Wait after each other: the time of all
 *          three, the bytes of the sends; the wait is separate
 *   wait   every other Notify Wait; Notify Record costs nothing
 *
 * Communication and wait of an operator are those of its main thread, the one with the largest
 * number; links are those of all threads. A rank that is not reported (0xffffffff) is the other
 * one of the pair; a LOCAL event is on the receiver's side, its ranks are exchanged. The result
 * are the tables that hccl_raw_#.csv becomes (mindspore_cluster.c), with the mean of all steps
 * as the last row. */
#include <math.h>
#include <stdlib.h>

#include "base/bisect.h"
#include "base/json.h"
#include "base/num.h"
#include "ingest/mindspore/mindspore_int.h"

enum { MOST_FILES = 4096, MOST_LINKS = 4096, MOST_THREADS = 4096 };

typedef enum { SDMA, RDMA, N_TRANSPORTS } transport;

static const char *const TRANSPORTS[N_TRANSPORTS] = {"SDMA", "RDMA"};

typedef struct {
    int64_t src, dst;
    double ms[N_TRANSPORTS], kb[N_TRANSPORTS], wait_ms;
    bool any[N_TRANSPORTS];
} hccl_link;

typedef struct {
    int64_t tid;
    double comm_ms, wait_ms;
    int sends; /* RDMASend after each other */
    double sent_ms, sent_kb;
} hccl_thread;

typedef struct {
    vec links; /* hccl_link */
    map by_pair;
} link_sums;

/* One run of one operator. */
typedef struct {
    uint32_t op;   /* string id of its name */
    int64_t start; /* ns */
    int64_t step;
    double comm_ms, wait_ms;
    uint32_t first_link, n_links; /* in ms.hccl_links */
} collective;

/* ---- one file ---------------------------------------------------------------------------- */

typedef struct {
    ms *m;
    vec threads; /* hccl_thread */
    map by_tid;
    link_sums links;
} trace_file;

/* The row of a key, made when it is new; NULL when there is no room for it, and then every
 * time. */
static void *row_of(map *by_key, vec *rows, uint64_t key, size_t most, bool *is_new) {
    uint32_t *at = map_at(by_key, key);
    if (!at) return NULL;
    *is_new = *at == MAP_NONE;
    if (!*is_new) return (char *)rows->p + *at * rows->elem_bytes;
    void *row = rows->n < most ? vec_push(rows) : NULL;
    if (row) *at = (uint32_t)(rows->n - 1);
    return row;
}

static hccl_link *link_of(link_sums *s, int64_t src, int64_t dst) {
    uint64_t pair = (uint64_t)src << 32 ^ (uint64_t)dst;
    bool is_new;
    hccl_link *l = row_of(&s->by_pair, &s->links, pair, MOST_LINKS, &is_new);
    if (l && is_new) *l = (hccl_link){.src = src, .dst = dst};
    return l;
}

static hccl_thread *thread_of(trace_file *f, int64_t tid) {
    bool is_new;
    hccl_thread *t = row_of(&f->by_tid, &f->threads, (uint64_t)tid, MOST_THREADS, &is_new);
    if (t && is_new) *t = (hccl_thread){.tid = tid};
    return t;
}

/* A number, or a text with one: 47178496, "0x2cfe000". */
static double bytes_of(str json) {
    str text = json_text(json);
    double v;
    if (json_f64(json, &v) || str_to_f64(text, &v)) return v >= 0 && isfinite(v) ? v : 0;
    if (!str_starts(text, STR("0x"))) return 0;
    v = 0;
    for (size_t i = 2; i < text.n && i < 18; i++) {
        char c = text.p[i] | 0x20;
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return 0;
        v = v * 16 + (c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return v;
}

typedef struct {
    str task, transport;
    int64_t src, dst;
    double ms, kb;
} task;

/* False: nothing that can be counted. */
static bool parse_task(str event, task *t, int64_t *tid) {
    const int64_t unknown = UINT32_MAX, most = INT32_MAX;
    str args = json_member(event, STR("args"));
    double us;
    if (!json_f64(json_member(event, STR("dur")), &us) || !(us >= 0 && us < 1e15) ||
        !json_i64(json_member(event, STR("tid")), tid) ||
        !json_i64(json_member(args, STR("src rank")), &t->src) ||
        !json_i64(json_member(args, STR("dst rank")), &t->dst))
        return false;
    t->task = json_text(json_member(args, STR("task type")));
    t->transport = json_text(json_member(args, STR("transport type")));
    t->ms = us / 1000;
    t->kb = bytes_of(json_member(args, STR("size"))) / 1000;
    if (t->src == unknown) t->src = t->dst;
    if (t->dst == unknown) t->dst = t->src;
    if (t->src < 0 || t->src > most || t->dst < 0 || t->dst > most) return false;
    if (str_eq(t->transport, STR("LOCAL"))) {
        int64_t src = t->src;
        t->src = t->dst;
        t->dst = src;
    }
    return true;
}

static bool add_to_link(trace_file *f, const task *t, transport kind, const hccl_link *add) {
    hccl_link *l = link_of(&f->links, t->src, t->dst);
    if (!l) return false;
    l->ms[kind] += add->ms[kind];
    l->kb[kind] += add->kb[kind];
    l->wait_ms += add->wait_ms;
    l->any[kind] = true;
    return true;
}

/* False: there is no room for it. */
static bool take_task(trace_file *f, const task *t, int64_t tid) {
    hccl_thread *th = thread_of(f, tid);
    if (!th) return false;
    if (str_eq(t->task, STR("Notify Record"))) return true;
    if (str_eq(t->task, STR("RDMASend")) && th->sends < 2) {
        th->sends++;
        th->sent_ms += t->ms;
        th->sent_kb += t->kb;
        return true;
    }
    bool wait = str_eq(t->task, STR("Notify Wait")), sent = th->sends == 2;
    hccl_link add = {.ms = {t->ms, th->sent_ms + t->ms},
                     .kb = {t->kb, th->sent_kb},
                     .wait_ms = wait ? t->ms : 0};
    th->sends = 0;
    th->sent_ms = th->sent_kb = 0;
    if (wait && sent) {
        th->comm_ms += add.ms[RDMA];
        return add_to_link(f, t, RDMA, &add);
    }
    if (wait) {
        th->wait_ms += t->ms;
        return true;
    }
    if (!str_eq(t->task, STR("Reduce Inline")) && !str_eq(t->task, STR("Memcpy"))) return true;
    th->comm_ms += t->ms;
    return add_to_link(f, t, SDMA, &add);
}

static status keep_file(trace_file *f, int64_t start, error *err) {
    ms *m = f->m;
    const hccl_thread *main = NULL, *all = VEC(&f->threads, hccl_thread);
    for (size_t i = 0; i < f->threads.n; i++)
        if (!main || all[i].tid > main->tid) main = &all[i];
    if (!main) return OK;
    if (m->comm.hccl.n >= MOST_FILES) {
        ms_lost(m, CAUSE_TRUNCATED, NOPOS, str_of(m->file));
        return OK;
    }
    m->comm.hccl.elem_bytes = sizeof(collective);
    m->comm.links.elem_bytes = sizeof(hccl_link);
    collective *c = vec_push(&m->comm.hccl);
    if (!c) FAIL_MEMORY(err);
    *c = (collective){.op = ms_string(m, str_of(m->folder)),
                      .start = start,
                      .comm_ms = main->comm_ms,
                      .wait_ms = main->wait_ms,
                      .first_link = (uint32_t)m->comm.links.n,
                      .n_links = (uint32_t)f->links.links.n};
    if (c->op == MS_NO_STRING) FAIL_MEMORY(err);
    for (size_t i = 0; i < f->links.links.n; i++) {
        hccl_link *l = vec_push(&m->comm.links);
        if (!l) FAIL_MEMORY(err);
        *l = VEC(&f->links.links, hccl_link)[i];
    }
    return OK;
}

static bool is_of_device(const ms *m, str text) {
    int64_t id;
    return m->id == MINDSPORE_ANY_ID ||
           !str_to_i64(json_text(json_member(text, STR("device id"))), &id) || id == m->id;
}

status read_hccl_trace(ms *m, str text, error *err) {
    trace_file f = {
        .m = m, .threads = VEC_INIT(hccl_thread), .links = {.links = VEC_INIT(hccl_link)}};
    json_iter it = json_open(json_member(text, STR("traceEvents")));
    str key, event;
    int64_t start = ABSENT_I64, tid;
    if (m->seen[MS_HCCL] || m->seen[MS_COMMUNICATION] || !is_of_device(m, text)) return OK;
    while (json_next(&it, &key, &event)) {
        task t;
        int64_t ts;
        part_count(m->part, 1, 0);
        bool ok = parse_task(event, &t, &tid) &&
                  scaled_i64(json_text(json_member(event, STR("ts"))), 3, &ts);
        if (ok && start == ABSENT_I64) start = ts;
        if (!ok || !take_task(&f, &t, tid))
            ms_lost(m, CAUSE_MISSING_TIME, NOPOS, str_of(m->file));
    }
    status st = start == ABSENT_I64 ? OK : keep_file(&f, start, err);
    if (start == ABSENT_I64) ms_lost(m, CAUSE_BAD_SYNTAX, 0, str_of(m->file));
    vec_fini(&f.threads);
    map_fini(&f.by_tid);
    vec_fini(&f.links.links);
    map_fini(&f.links.by_pair);
    return st;
}

/* ---- steps ------------------------------------------------------------------------------- */

typedef struct {
    int64_t start, number;
} step_start;

static int compare_starts(const void *a, const void *b) {
    const step_start *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

/* Steps are named Step 12. */
static status list_steps(const ms *m, vec *out, error *err) {
    for (size_t i = 0; i < m->exec.rows.n; i++) {
        const ms_exec *e = &VEC(&m->exec.rows, ms_exec)[i];
        str name = e->lane == LANE_STEP ? ms_text(m, e->name) : STR_NONE;
        int64_t number;
        if (!str_starts(name, STR("Step ")) || !str_to_i64(str_from(name, 5), &number))
            continue;
        step_start *s = vec_push(out);
        if (!s) FAIL_MEMORY(err);
        *s = (step_start){e->start, number};
    }
    if (out->n > 1) qsort(out->p, out->n, out->elem_bytes, compare_starts);
    return OK;
}

/* The last step that has started; before the first the first, 1 when there are none. */
static int64_t step_at(const vec *steps, int64_t time) {
    const step_start *all = VEC(steps, step_start);
    size_t low = SEARCH_FIRST(i, 0, steps->n, all[i].start <= time);
    return steps->n ? all[low ? low - 1 : 0].number : 1;
}

/* ---- names ------------------------------------------------------------------------------- */

/* Folders count the collectives of a kind (allReduce_1_2), the step trace numbers operators
 * (stream_24_0_AllReduce-op3143): the first of a kind is the first of the other. */
typedef struct {
    uint32_t name;
    str kind;
    uint64_t order;
} numbered;

static uint64_t number_at(str s, size_t *at) {
    uint64_t v = 0;
    for (; *at < s.n && s.p[*at] >= '0' && s.p[*at] <= '9' && v < UINT32_MAX / 10; ++*at)
        v = v * 10 + (uint64_t)(s.p[*at] - '0');
    return v;
}

static numbered folder_name(const ms *m, uint32_t id) {
    str s = ms_text(m, id);
    size_t line = str_find(s, STR("_"), 0), at = line == SIZE_MAX ? s.n : line + 1;
    uint64_t first = number_at(s, &at);
    at += at < s.n;
    return (numbered){id, str_n(s.p, line == SIZE_MAX ? s.n : line),
                      first << 32 | number_at(s, &at)};
}

static numbered column_name(const ms *m, uint32_t id) {
    str s = ms_text(m, id);
    size_t line = str_rfind_byte(s, '_'), from = line == SIZE_MAX ? 0 : line + 1;
    size_t end = str_find(s, STR("-op"), from), at = end == SIZE_MAX ? s.n : end + 3;
    return (numbered){id, str_n(s.p + from, (end == SIZE_MAX ? s.n : end) - from),
                      number_at(s, &at)};
}

static status add_name(vec *list, map *seen, numbered name, error *err) {
    uint32_t *at = map_at(seen, name.name);
    if (!at) FAIL_MEMORY(err);
    if (*at != MAP_NONE || list->n >= MOST_FILES) return OK;
    *at = 1;
    numbered *to = vec_push(list);
    if (!to) FAIL_MEMORY(err);
    *to = name;
    return OK;
}

/* How many of the list are of its kind and before it. */
static size_t rank_of(const vec *list, const numbered *one) {
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++) {
        const numbered *o = &VEC(list, numbered)[i];
        n += str_eq_nocase(o->kind, one->kind) && o->order < one->order;
    }
    return n;
}

/* The column that is in the folder's place; the folder itself when there is none. */
static uint32_t partner_of(const vec *columns, const numbered *folder, size_t rank) {
    for (size_t i = 0; i < columns->n; i++) {
        const numbered *c = &VEC(columns, numbered)[i];
        if (str_eq_nocase(c->kind, folder->kind) && rank_of(columns, c) == rank) return c->name;
    }
    return folder->name;
}

static status list_names(const ms *m, vec *folders, vec *columns, error *err) {
    map seen = {0};
    status st = OK;
    for (size_t i = 0; i < m->comm.hccl.n && st == OK; i++)
        st =
            add_name(folders, &seen, folder_name(m, VEC(&m->comm.hccl, collective)[i].op), err);
    map_fini(&seen);
    for (size_t i = 0; i < m->exec.rows.n && st == OK; i++) {
        const ms_exec *e = &VEC(&m->exec.rows, ms_exec)[i];
        if (e->lane == LANE_COMM) st = add_name(columns, &seen, column_name(m, e->name), err);
    }
    map_fini(&seen);
    return st;
}

static status name_operators(ms *m, error *err) {
    vec folders = VEC_INIT(numbered), columns = VEC_INIT(numbered);
    map partner = {0};
    status st = list_names(m, &folders, &columns, err);
    for (size_t i = 0; i < folders.n && st == OK; i++) {
        const numbered *f = &VEC(&folders, numbered)[i];
        uint32_t *at = map_at(&partner, f->name);
        if (at)
            *at = partner_of(&columns, f, rank_of(&folders, f));
        else
            st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    }
    for (size_t i = 0; i < m->comm.hccl.n && st == OK; i++) {
        collective *c = &VEC(&m->comm.hccl, collective)[i];
        uint32_t name = map_get(&partner, c->op);
        if (name != MAP_NONE) c->op = name;
    }
    vec_fini(&folders);
    vec_fini(&columns);
    map_fini(&partner);
    return st;
}

/* ---- the table --------------------------------------------------------------------------- */

typedef struct {
    double comm_ms, wait_ms;
    link_sums links;
} step_sum;

static bool add_links(link_sums *to, const hccl_link *from, size_t n) {
    for (size_t i = 0; i < n; i++) {
        hccl_link *l = link_of(to, from[i].src, from[i].dst);
        if (!l) return false;
        for (int k = 0; k < N_TRANSPORTS; k++) {
            l->ms[k] += from[i].ms[k];
            l->kb[k] += from[i].kb[k];
            l->any[k] |= from[i].any[k];
        }
        l->wait_ms += from[i].wait_ms;
    }
    return true;
}

/* Divided by n: of one step, or the mean of several. */
static status put_links(ms *m, int64_t step, const link_sums *links, double n, error *err) {
    for (size_t i = 0; i < links->links.n; i++) {
        const hccl_link *l = &VEC(&links->links, hccl_link)[i];
        for (int k = 0; k < N_TRANSPORTS; k++) {
            if (!l->any[k]) continue;
            row_link row = {.step = step,
                            .source = l->src,
                            .target = l->dst,
                            .time = ms_ns(l->ms[k] / n),
                            .bytes = ms_kb_bytes(l->kb[k] / n),
                            .waiting = k == RDMA ? ms_ns(l->wait_ms / n) : ABSENT_I64};
            TRY(ms_put_link(m, &row, str_of(TRANSPORTS[k]), err));
        }
    }
    return OK;
}

static int compare_collectives(const void *a, const void *b) {
    const collective *x = a, *y = b;
    if (x->step != y->step) return x->step < y->step ? -1 : 1;
    return x->op < y->op ? -1 : x->op > y->op;
}

static int compare_by_op(const void *a, const void *b) {
    const collective *x = a, *y = b;
    if (x->op != y->op) return x->op < y->op ? -1 : 1;
    return x->step < y->step ? -1 : x->step > y->step;
}

static void free_sum(step_sum *s) {
    vec_fini(&s->links.links);
    map_fini(&s->links.by_pair);
    *s = (step_sum){.links.links = VEC_INIT(hccl_link)};
}

static bool add_collective(const ms *m, const collective *c, step_sum *s) {
    s->comm_ms += c->comm_ms;
    s->wait_ms += c->wait_ms;
    if (!c->n_links) return true; /* where no collective has any there is no list */
    return add_links(&s->links, &VEC(&m->comm.links, hccl_link)[c->first_link], c->n_links);
}

/* Of collectives [at, end), which are sorted so that those of one operator are together: one
 * past the last of the first operator, and what they have together. */
static size_t sum_operator(const ms *m, size_t at, size_t end, step_sum *s) {
    const collective *c = VEC(&m->comm.hccl, collective);
    size_t i = at;
    for (; i < end && c[i].op == c[at].op; i++) {
        s->comm_ms += c[i].comm_ms;
        s->wait_ms += c[i].wait_ms;
    }
    return i;
}

/* Collectives [at, end) and what they have together: of a step, or of n steps, whose mean is
 * meant. */
typedef struct {
    int64_t step;
    size_t at, end;
    double n;
    step_sum sum;
} cost_span;

static status put_cost(ms *m, const cost_span *c, error *err) {
    row_comm_cost row = {.step = c->step,
                         .communication = ms_ns(c->sum.comm_ms / c->n),
                         .waiting = ms_ns(c->sum.wait_ms / c->n)};
    step_sum s = {0};
    for (size_t i = c->at; i < c->end; row.operators++) i = sum_operator(m, i, c->end, &s);
    TRY(ms_put_cost(m, &row, err));
    for (size_t i = c->at; i < c->end;) {
        str name = ms_text(m, VEC(&m->comm.hccl, collective)[i].op);
        s = (step_sum){0};
        i = sum_operator(m, i, c->end, &s);
        TRY(ms_put_cost_op(m, name, ms_ns(s.comm_ms / c->n), ms_ns(s.wait_ms / c->n), err));
    }
    return put_links(m, c->step, &c->sum.links, c->n, err);
}

/* The collectives from `at` on that are of one step; *end: one past the last. */
static status put_step(ms *m, size_t at, size_t *end, step_sum *all, error *err) {
    const collective *c = VEC(&m->comm.hccl, collective);
    cost_span span = {.step = c[at].step,
                      .at = at,
                      .end = at,
                      .n = 1,
                      .sum.links.links = VEC_INIT(hccl_link)};
    status st = OK;
    for (; span.end < m->comm.hccl.n && c[span.end].step == span.step && st == OK; span.end++)
        if (!add_collective(m, &c[span.end], &span.sum) ||
            !add_collective(m, &c[span.end], all))
            st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    if (st == OK) st = put_cost(m, &span, err);
    free_sum(&span.sum);
    *end = span.end;
    return st;
}

static status put_table(ms *m, error *err) {
    cost_span all = {
        .step = ABSENT_I64, .end = m->comm.hccl.n, .sum.links.links = VEC_INIT(hccl_link)};
    status st = OK;
    qsort(m->comm.hccl.p, m->comm.hccl.n, m->comm.hccl.elem_bytes, compare_collectives);
    for (size_t i = 0; i < m->comm.hccl.n && st == OK; all.n++)
        st = put_step(m, i, &i, &all.sum, err);
    qsort(m->comm.hccl.p, m->comm.hccl.n, m->comm.hccl.elem_bytes, compare_by_op);
    if (st == OK) st = put_cost(m, &all, err);
    free_sum(&all.sum);
    return st;
}

status ms_finish_hccl(ms *m, error *err) {
    vec steps = VEC_INIT(step_start);
    if (!m->comm.hccl.n) return OK;
    status st = list_steps(m, &steps, err);
    for (size_t i = 0; i < m->comm.hccl.n && st == OK; i++) {
        collective *c = &VEC(&m->comm.hccl, collective)[i];
        c->step = step_at(&steps, c->start);
    }
    vec_fini(&steps);
    if (st == OK) st = name_operators(m, err);
    return st == OK ? put_table(m, err) : st;
}
