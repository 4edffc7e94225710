/* ascend_db_comm.c: collectives as CANN adds them up, from the database next to it.
 *
 *     analysis.db  CommAnalyzerTime    hccl_op_name, group_name, step, transit_time, wait_time
 *                  CommAnalyzerMatrix  hccl_op_name, src_rank, dst_rank, transport_type, …
 *
 * The same facts as in communication.json and communication_matrix.json
 * (mindspore/mindspore_comm.c), and the same tables of them: comm_cost and comm_cost_op the
 * times, link the matrix. Rows are in no order and are sorted by step. Only the sums of the
 * matrix (NAME-total) count, where a step has any. Times are in ms, sizes in MB.
 *
 * CommAnalyzerBandwidth (packets of each size and transport) is only named: no question asks
 * for it. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "ingest/ascend/ascend_db_int.h"

enum { MOST_ROWS = 1 << 20 };

/* A row of either table. */
typedef struct {
    int64_t step;        /* ABSENT_I64: the whole recording */
    uint32_t name, kind; /* string ids; kind: of transport, of the matrix */
    uint32_t place;      /* among the rows, for an order that is always the same */
    int64_t source, target;
    double moved_ms, waited_ms, megabytes;
    bool p2p, total;
} comm_row;

typedef struct comm_rows {
    vec times, links; /* comm_row */
} comm_rows;

enum { OP, GROUP, STEP, TYPE, TRANSIT, WAIT, SIZE = WAIT, SOURCE, TARGET, TRANSPORT };

static double positive_real(db_rows *row, int column) {
    double v = db_real(row, column);
    return isfinite(v) && v >= 0 ? v : 0;
}

/* "step6" or 6. */
static int64_t step_of(db_rows *row) {
    int64_t v = db_int(row, STEP, ABSENT_I64);
    str text = db_text(row, STEP);
    size_t n = 0;
    if (v != ABSENT_I64) return v;
    while (n < text.n && !(text.p[n] >= '0' && text.p[n] <= '9')) n++;
    return n < text.n && str_to_i64(str_from(text, n), &v) ? v : ABSENT_I64;
}

/* OP@GROUP, as the files of text call it. */
static uint32_t name_of(reader *r, db_rows *row) {
    str group = db_text(row, GROUP);
    buf text = {0};
    buf_add_str(&text, db_text(row, OP));
    bool whole = str_find(buf_str(&text), STR("@"), 0) != SIZE_MAX;
    if (group.n && !whole) buf_add_byte(&text, '@');
    if (!whole) buf_add_str(&text, group);
    return ascend_take_text(r, &text);
}

static comm_row *add_row(reader *r, db_rows *row, vec *to) {
    if (to->n >= MOST_ROWS) return NULL;
    uint32_t place = (uint32_t)to->n;
    comm_row *c = vec_push(to);
    r->failed |= !c;
    if (c)
        *c = (comm_row){.step = step_of(row),
                        .name = name_of(r, row),
                        .place = place,
                        .moved_ms = positive_real(row, TRANSIT),
                        .p2p = str_eq(db_text(row, TYPE), STR("p2p"))};
    part_count(r->part, 1, 0);
    return c;
}

static status take_time(void *context, db_rows *row) {
    reader *r = context;
    if (str_starts(db_text(row, OP), STR("Total Op Info"))) return OK;
    comm_row *c = add_row(r, row, &r->comms->times);
    if (c) c->waited_ms = positive_real(row, WAIT);
    return OK;
}

static status take_link(void *context, db_rows *row) {
    reader *r = context;
    int64_t from = ascend_int(row, SOURCE), to = ascend_int(row, TARGET);
    str kind = db_text(row, TRANSPORT);
    if (from == ABSENT_I64 || to == ABSENT_I64 || !kind.n) {
        part_count(r->part, 1, 1);
        part_lost(r->part, CAUSE_BAD_SYNTAX, NOPOS, 0);
        return OK;
    }
    comm_row *c = add_row(r, row, &r->comms->links);
    if (!c) return OK;
    c->source = from;
    c->target = to;
    c->kind = ascend_string(r, kind);
    c->megabytes = positive_real(row, SIZE);
    c->total = str_find(db_text(row, OP), STR("-total"), 0) != SIZE_MAX;
    return OK;
}

/* ---- what is put ---- */

static int compare_steps(const void *pa, const void *pb) {
    const comm_row *a = pa, *b = pb;
    if (a->step != b->step) return a->step < b->step ? -1 : 1;
    if (a->p2p != b->p2p) return a->p2p - b->p2p;
    return (a->place > b->place) - (a->place < b->place);
}

static size_t end_of_step(const comm_row *v, size_t i, size_t n, bool kinds) {
    size_t end = i + 1;
    while (end < n && v[end].step == v[i].step && (!kinds || v[end].p2p == v[i].p2p)) end++;
    return end;
}

static int64_t ns_of(double time_ms) {
    return time_ms < 9e12 ? round_i64(time_ms * 1e6) : ABSENT_I64;
}

static status put_times(reader *r, vec *rows, error *err) {
    comm_row *v = VEC(rows, comm_row);
    uint32_t cost = 0;
    if (rows->n > 1) qsort(v, rows->n, sizeof *v, compare_steps);
    for (size_t i = 0, end; i < rows->n; i = end) {
        row_comm_cost sum = row_comm_cost_none();
        double moved = 0, waited = 0;
        end = end_of_step(v, i, rows->n, false);
        for (size_t k = i; k < end; k++) moved += v[k].moved_ms, waited += v[k].waited_ms;
        sum.step = v[i].step;
        sum.communication = ns_of(moved);
        sum.waiting = ns_of(waited);
        sum.operators = (int64_t)(end - i);
        TRY(builder_put_comm_cost(r->b, &sum, err));
        cost++;
        for (size_t k = i; k < end; k++) {
            row_comm_cost_op op = {.cost = cost,
                                   .name = v[k].name,
                                   .communication = ns_of(v[k].moved_ms),
                                   .waiting = ns_of(v[k].waited_ms)};
            TRY(builder_put_comm_cost_op(r->b, &op, err));
        }
    }
    return OK;
}

static bool same_link(const comm_row *a, const comm_row *b) {
    return a->step == b->step && a->source == b->source && a->target == b->target &&
           a->kind == b->kind;
}

static int compare_links(const void *pa, const void *pb) {
    const comm_row *a = pa, *b = pb;
    if (a->step != b->step) return a->step < b->step ? -1 : 1;
    if (a->source != b->source) return a->source < b->source ? -1 : 1;
    if (a->target != b->target) return a->target < b->target ? -1 : 1;
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

/* Removes rows that a sum of the same step includes. */
static void keep_sums(vec *rows) {
    comm_row *v = VEC(rows, comm_row);
    size_t left = 0;
    if (rows->n > 1) qsort(v, rows->n, sizeof *v, compare_steps);
    for (size_t i = 0, end; i < rows->n; i = end) {
        bool totals = false;
        end = end_of_step(v, i, rows->n, true);
        for (size_t k = i; k < end; k++) totals |= v[k].total;
        for (size_t k = i; k < end; k++)
            if (!totals || v[k].total) v[left++] = v[k];
    }
    rows->n = left;
}

static status put_links(reader *r, vec *rows, error *err) {
    comm_row *v = VEC(rows, comm_row);
    keep_sums(rows);
    if (rows->n > 1) qsort(v, rows->n, sizeof *v, compare_links);
    for (size_t i = 0, end; i < rows->n; i = end) {
        double moved = 0, megabytes = 0;
        for (end = i; end < rows->n && same_link(&v[i], &v[end]); end++)
            moved += v[end].moved_ms, megabytes += v[end].megabytes;
        row_link row = row_link_none();
        row.step = v[i].step;
        row.source = v[i].source;
        row.target = v[i].target;
        row.kind = v[i].kind;
        row.time = ns_of(moved);
        row.bytes = megabytes < 9e12 ? round_i64(megabytes * 1e6) : ABSENT_I64;
        if (row.time != ABSENT_I64 && row.bytes != ABSENT_I64)
            TRY(builder_put_link(r->b, &row, err));
    }
    return OK;
}

/* ---- where they are ---- */

static status read_both(reader *r, error *err) {
    static const char *const times[] = {"hccl_op_name", "group_name",   "step",
                                        "type",         "transit_time", "wait_time"};
    static const char *const links[] = {"hccl_op_name", "group_name",   "step",
                                        "type",         "transit_time", "transit_size",
                                        "src_rank",     "dst_rank",     "transport_type"};
    TRY(ascend_table(r, "CommAnalyzerTime", times, N_OF(times), take_time, err));
    TRY(ascend_table(r, "CommAnalyzerMatrix", links, N_OF(links), take_link, err));
    TRY(ascend_name_unread(r, "CommAnalyzerBandwidth", err));
    TRY(put_times(r, &r->comms->times, err));
    return put_links(r, &r->comms->links, err);
}

status ascend_read_comm(reader *r, error *err) {
    comm_rows rows = {VEC_INIT(comm_row), VEC_INIT(comm_row)};
    r->comms = &rows;
    status st = read_both(r, err);
    r->any_comm |= rows.times.n || rows.links.n;
    r->comms = NULL;
    vec_fini(&rows.times);
    vec_fini(&rows.links);
    if (st == OK && r->failed) FAIL_MEMORY(err);
    return st;
}

static status read_comm_file(reader *r, const ingest_options *o, str path, error *err) {
    source *s = NULL;
    ingest_options options = *o;
    if (access(path.p, F_OK) != 0) return OK;
    TRY(source_open(path.p, &s, err));
    options.path = path.p;
    status st = database_open(s, &options, r->b, r->part, &r->db, err);
    if (st == ERR_FORMAT)
        st = OK; /* it is not a database of sums: the run is read without
                                      it */
    if (st == OK && r->db) st = ascend_read_comm(r, err);
    database_close(r->db);
    r->db = NULL;
    source_close(s);
    return st;
}

const char *const ASCEND_SUMS[N_ASCEND_SUMS] = {"analysis.db", "communication_analyzer.db"};

status ascend_read_comm_file(reader *r, const ingest_options *o, error *err) {
    str path = o->path ? str_of(o->path) : STR_NONE;
    size_t slash = str_rfind_byte(path, '/');
    if (!path.n || str_eq(path, STR("-"))) return OK;
    for (int i = 0; i < N_ASCEND_SUMS && !r->any_comm; i++) {
        buf text = {0};
        if (slash != SIZE_MAX) buf_add_str(&text, str_n(path.p, slash + 1));
        buf_add_cstr(&text, ASCEND_SUMS[i]);
        buf_add_byte(&text, 0);
        status st = buf_ok(&text)
                        ? read_comm_file(r, o, str_n(text.p, text.n - 1), err)
                        : error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
        buf_fini(&text);
        TRY(st);
    }
    return OK;
}
