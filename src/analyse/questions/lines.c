/* lines.c: what each line of the program costs.
 *
 * Sums by call stack (why/line_sums.h) become rows:
 *
 *   lines      by the line of the stack: its innermost frame in the program's own files
 *   functions, files   the same, by coarser keys
 *   stacks     every frame by its callers, as a tree for a flame graph
 *
 * Self values and those that have no other kind (idle, critical, peak, syncs, samples) count
 * for one row alone, so each column adds up to its whole together with the row of what is not
 * known (no file). Values with everything that is called count for all rows on the stack, for
 * each once, however often it calls itself. */
#include "analyse/group.h"
#include "analyse/kind_names.h"
#include "analyse/rules.h"
#include "analyse/why/line_sums.h"
#include "base/intern.h"
#include "base/message_ids_advice.h"
#include "base/sort.h"

/* Frames around one: a hostile file has more. */
enum { MOST_CALLERS = 512 };
/* Rows of a flame graph: parts below a ten-thousandth of the whole are not seen anyway. */
enum { FEW_STACKS = 4096, SMALL_PART = 10000 };

typedef struct {
    str text;           /* of a function its name; empty: the file or line says all */
    uint32_t key, site; /* string of the line or file; a frame of it */
    line_values self, total;
    uint32_t longest; /* slice */
} line_row;

typedef struct {
    const trace *t;
    arena *arena;
    line_sums sums;
    line_values *total; /* by frame: with everything it calls */
    uint32_t n_steps;
} question;

/* ---- rows -------------------------------------------------------------------------------- */

typedef enum { BY_LINE, BY_FUNCTION, BY_FILE } row_key;

static bool same_row(const void *row, const void *key) {
    const line_row *x = row, *y = key;
    return x->key == y->key && str_eq(x->text, y->text);
}

static line_row key_of(const question *q, uint32_t frame, row_key by) {
    const trace *t = q->t;
    line_row key = {.key = by == BY_LINE ? t->frame.name[frame] : t->frame.file[frame],
                    .text = by == BY_FUNCTION ? line_function(t, frame) : STR("")};
    return key;
}

/* The row of a frame; GROUP_NONE when out of memory. */
static uint32_t row_at(groups *rows, const question *q, uint32_t frame, row_key by) {
    line_row key = frame ? key_of(q, frame, by) : (line_row){.text = STR("")};
    bool is_new;
    uint64_t hash = hash_pair(key.key, intern_hash(key.text));
    uint32_t at = groups_at(rows, hash, same_row, &key, &is_new);
    if (at == GROUP_NONE) return at;
    line_row *row = GROUP_ROW(rows, line_row, at);
    if (is_new) {
        *row = key;
        row->site = frame;
    }
    return at;
}

static void add_values(line_values *to, const line_values *by) {
    for (int i = 0; i < N_LINE_VALUES; i++) to->v[i] = add_i64(to->v[i], by->v[i]);
}

static bool is_empty(const line_values *v) {
    for (int i = 0; i < N_LINE_VALUES; i++)
        if (v->v[i]) return false;
    return true;
}

/* What counts for one row alone. A call is one of the function that was called, whatever the
 * line of its stack is. */
static status add_self(question *q, groups *rows, row_key by, error *err) {
    const line_view *v = &q->sums.view;
    for (uint32_t i = 0; i < q->t->frame.n || i == 0; i++) {
        line_values self = q->sums.self[i];
        int64_t calls = self.v[LINE_CALLS];
        self.v[LINE_CALLS] = 0;
        if (!is_empty(&self)) {
            uint32_t row = row_at(rows, q, line_site(v, i), by);
            if (row == GROUP_NONE) FAIL_MEMORY(err);
            add_values(&GROUP_ROW(rows, line_row, row)->self, &self);
        }
        if (!calls || line_site(v, i) != i) continue;
        uint32_t row = row_at(rows, q, i, by);
        if (row == GROUP_NONE) FAIL_MEMORY(err);
        line_row *of = GROUP_ROW(rows, line_row, row);
        of->self.v[LINE_CALLS] = add_i64(of->self.v[LINE_CALLS], calls);
        uint32_t longest = q->sums.longest[i];
        if (!of->longest || q->t->slice.dur[longest] > q->t->slice.dur[of->longest])
            of->longest = longest;
    }
    return OK;
}

/* Is a frame of the same row among the callers? Then they have counted it. */
static bool is_counted(const uint32_t *row_of, const trace *t, uint32_t frame) {
    uint32_t up = t->frame.parent[frame];
    for (int i = 0; up && i < MOST_CALLERS; i++, up = t->frame.parent[up])
        if (row_of[up] == row_of[frame]) return true;
    return false;
}

/* With everything that is called: of the program's own lines, and of those that stand for
 * stacks without one. */
static status add_totals(question *q, groups *rows, row_key by, error *err) {
    const trace *t = q->t;
    const line_view *v = &q->sums.view;
    uint32_t *row_of = ARENA_ARRAY(q->arena, uint32_t, (size_t)t->frame.n + 1); /* + 1 */
    if (!row_of) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < t->frame.n; i++) {
        bool own = v->owner[i] == OWNER_OWN;
        if ((!own && line_site(v, i) != i) || is_empty(&q->total[i])) continue;
        uint32_t row = row_at(rows, q, i, by);
        if (row == GROUP_NONE) FAIL_MEMORY(err);
        row_of[i] = row + 1;
        if (is_counted(row_of, t, i)) continue;
        add_values(&GROUP_ROW(rows, line_row, row)->total, &q->total[i]);
    }
    uint32_t none = row_at(rows, q, 0, by);
    if (none == GROUP_NONE) FAIL_MEMORY(err);
    line_row *unknown = GROUP_ROW(rows, line_row, none);
    unknown->total = unknown->self;
    return OK;
}

static status make_rows(question *q, groups *rows, row_key by, error *err) {
    TRY(groups_init(rows, q->arena, sizeof(line_row), err));
    TRY(add_self(q, rows, by, err));
    return add_totals(q, rows, by, err);
}

/* A caller has a smaller row than those it calls. */
static status add_callees(question *q, error *err) {
    uint32_t n = q->t->frame.n;
    q->total = ARENA_ARRAY(q->arena, line_values, (size_t)n + 1);
    if (!q->total) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < n; i++) q->total[i] = q->sums.self[i];
    for (uint32_t i = n; i-- > 1;) {
        uint32_t caller = q->t->frame.parent[i];
        if (caller) add_values(&q->total[caller], &q->total[i]);
    }
    return OK;
}

/* ---- tables ------------------------------------------------------------------------------ */

/* What is not known comes last; else the largest part of the path, then of the device. */
static int compare_lines(uint32_t a, uint32_t b, const void *context) {
    static const line_value by[] = {LINE_CRITICAL, LINE_IDLE, LINE_GPU, LINE_CPU, LINE_PEAK};
    const groups *rows = context;
    const line_row *x = GROUP_ROW(rows, line_row, a), *y = GROUP_ROW(rows, line_row, b);
    if (!x->site != !y->site) return x->site ? -1 : 1;
    for (size_t i = 0; i < N_OF(by); i++) {
        int64_t p = x->self.v[by[i]], r = y->self.v[by[i]];
        if (p != r) return p > r ? -1 : 1;
    }
    int64_t p = x->total.v[LINE_CPU], r = y->total.v[LINE_CPU];
    return p != r ? p > r ? -1 : 1 : 0;
}

/* Ties are decided by the texts, which the frames' order does not follow. */
typedef struct {
    const groups *rows;
    const trace *t;
} row_order;

static int compare_rows(uint32_t a, uint32_t b, const void *context) {
    const row_order *o = context;
    int by_value = compare_lines(a, b, o->rows);
    if (by_value) return by_value;
    const line_row *x = GROUP_ROW(o->rows, line_row, a), *y = GROUP_ROW(o->rows, line_row, b);
    int by_key = str_cmp(trace_str(o->t, x->key), trace_str(o->t, y->key));
    return by_key ? by_key : str_cmp(x->text, y->text);
}

static const uint32_t *sort_rows(question *q, const groups *rows) {
    uint32_t *order = groups_order(rows), *scratch = groups_order(rows);
    if (order && scratch)
        sort_index(order, scratch, rows->n, compare_rows, &(row_order){rows, q->t});
    return scratch ? order : NULL;
}

/* Where the values of a table are. */
typedef struct {
    uint32_t calls, cpu, cpu_self, gpu, gpu_self, backward, idle, critical, share, peak, syncs,
        samples;
} value_columns;

#define VALUE_COLUMNS(table)                                                                 \
    {                                                                                        \
        COL(lines, table, calls), COL(lines, table, cpu_ns), COL(lines, table, cpu_self_ns), \
            COL(lines, table, gpu_ns), COL(lines, table, gpu_self_ns),                       \
            COL(lines, table, backward_gpu_ns), COL(lines, table, idle_ns),                  \
            COL(lines, table, critical_ns), COL(lines, table, share),                        \
            COL(lines, table, peak_bytes), COL(lines, table, syncs),                         \
            COL(lines, table, samples),                                                      \
    }

/* A cell to fill. */
typedef struct {
    const question *q;
    table *out;
    size_t row;
} line_cells;

static void set_known(const line_cells *to, uint32_t at, const line_values *v,
                      line_value value) {
    if (to->q->sums.known[value]) table_set_int(to->out, to->row, at, v->v[value]);
}

static void set_values(const line_cells *to, const value_columns *c, const line_row *r) {
    const line_sums *sums = &to->q->sums;
    set_known(to, c->calls, &r->self, LINE_CALLS);
    set_known(to, c->cpu, &r->total, LINE_CPU);
    set_known(to, c->cpu_self, &r->self, LINE_CPU);
    set_known(to, c->gpu, &r->total, LINE_GPU);
    set_known(to, c->gpu_self, &r->self, LINE_GPU);
    set_known(to, c->backward, &r->total, LINE_BACKWARD);
    set_known(to, c->idle, &r->self, LINE_IDLE);
    set_known(to, c->critical, &r->self, LINE_CRITICAL);
    set_known(to, c->peak, &r->self, LINE_PEAK);
    set_known(to, c->syncs, &r->self, LINE_SYNCS);
    set_known(to, c->samples, &r->self, LINE_SAMPLES);
    if (!sums->known[LINE_CRITICAL]) return;
    table_set_real(to->out, to->row, c->share,
                   (double)r->self.v[LINE_CRITICAL] / (double)sums->all.v[LINE_CRITICAL]);
}

/* A row of a table: whose it is, and its values. */
static status write_row(const question *q, table *out, row_key by, const line_row *r,
                        error *err) {
    static const value_columns columns[] = {[BY_LINE] = VALUE_COLUMNS(lines),
                                            [BY_FUNCTION] = VALUE_COLUMNS(functions),
                                            [BY_FILE] = VALUE_COLUMNS(files)};
    static const uint32_t file[] = {COL(lines, lines, file), COL(lines, functions, file),
                                    COL(lines, files, file)};
    static const uint32_t owner[] = {COL(lines, lines, owner), COL(lines, functions, owner),
                                     COL(lines, files, owner)};
    const trace *t = q->t;
    size_t row;
    TRY(table_add_row(out, &row, err));
    set_values(&(line_cells){q, out, row}, &columns[by], r);
    uint8_t whose = r->site ? q->sums.view.owner[r->site] : (uint8_t)OWNER_UNKNOWN;
    table_set_text(out, row, owner[by], line_owner_name(whose));
    if (!r->site) return OK;
    table_set_text(out, row, file[by], trace_str(t, t->frame.file[r->site]));
    if (by == BY_FUNCTION) table_set_text(out, row, COL(lines, functions, function), r->text);
    if (by != BY_LINE) return OK;
    table_set_int(out, row, COL(lines, lines, line), t->frame.line[r->site]);
    table_set_text(out, row, COL(lines, lines, function), line_function(t, r->site));
    if (r->longest) table_set_int(out, row, COL(lines, lines, slice), r->longest);
    return OK;
}

static status write_rows(question *q, table *out, const groups *rows, row_key by, error *err) {
    const uint32_t *order = sort_rows(q, rows);
    if (!order) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < rows->n; i++) {
        const line_row *r = GROUP_ROW(rows, line_row, order[i]);
        if (is_empty(&r->self) && is_empty(&r->total)) continue;
        TRY(write_row(q, out, by, r, err));
    }
    return OK;
}

/* ---- the flame graph --------------------------------------------------------------------- */

/* "train.py:88" or "/home/a/train.py:88"; a file alone means all of its lines. */
typedef struct {
    str file;
    int64_t line; /* ABSENT_I64: any */
} wanted_line;

static wanted_line parse_line(str text) {
    wanted_line w = {text, ABSENT_I64};
    size_t colon = text.n;
    while (colon && text.p[colon - 1] != ':') colon--;
    int64_t line;
    if (colon < 2 || !str_to_i64(str_from(text, colon), &line)) return w;
    return (wanted_line){str_n(text.p, colon - 1), line};
}

/* The file itself, or the end of its path. */
static bool is_wanted(const trace *t, const wanted_line *w, uint32_t frame) {
    str file = trace_str(t, t->frame.file[frame]);
    if (!file.n || !str_ends(file, w->file)) return false;
    bool whole = file.n == w->file.n || file.p[file.n - w->file.n - 1] == '/';
    return whole && (w->line == ABSENT_I64 || t->frame.line[frame] == w->line);
}

/* Frames on a stack with the line: those it calls, and those that call it. The values of a
 * caller are the part that goes through the line. */
static bool choose_stacks(const question *q, str text, line_values *shown, bool *chosen) {
    const trace *t = q->t;
    wanted_line w = parse_line(text);
    bool any = false, *below = chosen;
    for (uint32_t i = 1; i < t->frame.n; i++) {
        below[i] = below[t->frame.parent[i]] || is_wanted(t, &w, i);
        any |= below[i];
        shown[i] = below[i] ? q->sums.self[i] : (line_values){0};
    }
    for (uint32_t i = t->frame.n; i-- > 1;) {
        uint32_t caller = t->frame.parent[i];
        if (!chosen[i] || !caller) continue;
        chosen[caller] = true;
        add_values(&shown[caller], &shown[i]);
    }
    return any;
}

static bool is_large(const question *q, const line_values *v) {
    static const line_value by[] = {LINE_CPU, LINE_GPU, LINE_SAMPLES};
    if (q->t->frame.n <= FEW_STACKS) return !is_empty(v);
    for (size_t i = 0; i < N_OF(by); i++)
        if (v->v[by[i]] > q->sums.all.v[by[i]] / SMALL_PART) return true;
    return false;
}

static status write_stacks(question *q, table *out, const line_values *shown, error *err) {
    const trace *t = q->t;
    for (uint32_t i = 1; i < t->frame.n; i++) {
        size_t row;
        if (!is_large(q, &shown[i])) continue;
        TRY(table_add_row(out, &row, err));
        table_set_int(out, row, COL(lines, stacks, id), i);
        if (t->frame.parent[i])
            table_set_int(out, row, COL(lines, stacks, parent), t->frame.parent[i]);
        if (t->frame.file[i]) {
            table_set_text(out, row, COL(lines, stacks, file), trace_str(t, t->frame.file[i]));
            table_set_int(out, row, COL(lines, stacks, line), t->frame.line[i]);
        }
        table_set_text(out, row, COL(lines, stacks, function), line_function(t, i));
        table_set_text(out, row, COL(lines, stacks, owner),
                       line_owner_name(q->sums.view.owner[i]));
        set_known(&(line_cells){q, out, row}, COL(lines, stacks, cpu_ns), &shown[i], LINE_CPU);
        set_known(&(line_cells){q, out, row}, COL(lines, stacks, gpu_ns), &shown[i], LINE_GPU);
        set_known(&(line_cells){q, out, row}, COL(lines, stacks, samples), &shown[i],
                  LINE_SAMPLES);
    }
    return OK;
}

static status answer_stacks(question *q, const params *p, table *out, error *err) {
    str text = param_text(p, STR("stack"));
    if (!text.n) return write_stacks(q, out, q->total, err);
    line_values *shown = ARENA_ARRAY(q->arena, line_values, (size_t)q->t->frame.n + 1);
    bool *chosen = ARENA_ARRAY(q->arena, bool, (size_t)q->t->frame.n + 1);
    if (!shown || !chosen) FAIL_MEMORY(err);
    if (!choose_stacks(q, text, shown, chosen))
        return param_fail(p, STR("stack"), "FILE:LINE", err);
    return write_stacks(q, out, shown, err);
}

/* ---- verdict ----------------------------------------------------------------------------- */

typedef struct {
    const question *q;
    const groups *rows;
    const line_row *first; /* the line with the largest part; NULL: none */
} line_facts;

static bool no_lines(const void *facts, verdict *v) {
    const line_facts *f = facts;
    if (f->first) return false;
    verdict_add_recorder(v, f->q->t);
    return true;
}

static void add_line(const line_facts *f, verdict *v) {
    const trace *t = f->q->t;
    verdict_add(v, arg_text("line", line_short(t, f->first->site, f->q->arena)));
    verdict_add(v, arg_text("function", line_function(t, f->first->site)));
    str code = line_code(t, f->first->site, f->q->arena);
    if (code.n) verdict_add(v, arg_text("code", code));
    if (f->first->longest) verdict_add(v, arg_id("slice", f->first->longest));
}

/* What the line calls directly and spends most of its time in; 0: nothing stands out. */
static uint32_t find_callee(const line_facts *f, line_value value) {
    const question *q = f->q;
    const trace *t = q->t;
    uint32_t most = 0;
    for (uint32_t i = 1; i < t->frame.n; i++) {
        uint32_t caller = t->frame.parent[i];
        if (!caller || t->frame.name[caller] != f->first->key ||
            q->sums.view.owner[i] == OWNER_OWN)
            continue;
        if (!most || q->total[i].v[value] > q->total[most].v[value]) most = i;
    }
    return most && q->total[most].v[value] >= f->first->self.v[value] / 4 ? most : 0;
}

static void add_callee(const line_facts *f, line_value value, int64_t n, verdict *v) {
    const question *q = f->q;
    uint32_t callee = find_callee(f, value);
    if (!callee) return;
    verdict_add(v, arg_text("callee", line_function(q->t, callee)));
    if (q->t->frame.file[callee])
        verdict_add(v, arg_text("where", line_short(q->t, callee, q->arena)));
    verdict_add(v, arg_time("callee_time", mean_i64(q->total[callee].v[value], n)));
}

static bool line_leads(const void *facts, verdict *v) {
    const line_facts *f = facts;
    const line_sums *s = &f->q->sums;
    int64_t ns = f->first->self.v[LINE_CRITICAL], all = s->all.v[LINE_CRITICAL];
    if (!s->known[LINE_CRITICAL] || ns <= 0) return false;
    add_line(f, v);
    verdict_add(v, arg_share("share", (double)ns / (double)all));
    verdict_add(v, arg_time("time", mean_i64(ns, max_i64(1, s->n_path_steps))));
    verdict_add(v, arg_time("step", mean_i64(all, max_i64(1, s->n_path_steps))));
    if (f->q->t->step.n < 2) verdict_add(v, arg_int("recording", 1));
    int64_t idle = mean_i64(f->first->self.v[LINE_IDLE],
                            max_i64(1, (int64_t)s->n_idle_steps * s->n_devices));
    if (idle >= mean_i64(ns, max_i64(1, s->n_path_steps)) / 10 && idle > 0) {
        verdict_add(v, arg_text("device", device_noun(f->q->t)));
        verdict_add(v, arg_time("idle", idle));
    }
    add_callee(f, LINE_CRITICAL, max_i64(1, s->n_path_steps), v);
    return true;
}

/* Most of the path is of no known line: then that comes first. */
static bool lines_are_unknown(const void *facts, verdict *v) {
    const line_facts *f = facts;
    const line_sums *s = &f->q->sums;
    int64_t ns = f->first->self.v[LINE_CRITICAL], all = s->all.v[LINE_CRITICAL];
    int64_t unknown = s->self[0].v[LINE_CRITICAL];
    for (uint32_t i = 1; i < f->q->t->frame.n; i++)
        if (!line_site(&s->view, i)) unknown = add_i64(unknown, s->self[i].v[LINE_CRITICAL]);
    if (!s->known[LINE_CRITICAL] || ns <= 0 || unknown < all / 2) return false;
    add_line(f, v);
    verdict_add(v, arg_share("unknown", (double)unknown / (double)all));
    verdict_add(v, arg_share("share", (double)ns / (double)all));
    verdict_add(v, arg_time("time", mean_i64(ns, max_i64(1, s->n_path_steps))));
    verdict_add(v, arg_time("step", mean_i64(all, max_i64(1, s->n_path_steps))));
    return true;
}

static bool line_leads_cpu(const void *facts, verdict *v) {
    const line_facts *f = facts;
    int64_t ns = f->first->self.v[LINE_CPU], all = f->q->sums.all.v[LINE_CPU];
    if (ns <= 0) return false;
    add_line(f, v);
    verdict_add(v, arg_share("share", (double)ns / (double)all));
    verdict_add(v, arg_time("time", ns));
    add_callee(f, LINE_CPU, 1, v);
    return true;
}

static bool line_leads_memory(const void *facts, verdict *v) {
    const line_facts *f = facts;
    int64_t bytes = f->first->self.v[LINE_PEAK];
    if (bytes <= 0) return false;
    add_line(f, v);
    verdict_add(v, arg_bytes("bytes", bytes));
    verdict_add(v, arg_bytes("peak", f->q->sums.all.v[LINE_PEAK]));
    return true;
}

static const rule rules[] = {
    {"lines_not_recorded", MSG_VERDICT_LINES_NONE, SEVERITY_INFO, no_lines},
    {"lines_mostly_unknown", MSG_VERDICT_LINES_UNKNOWN, SEVERITY_INFO, lines_are_unknown},
    {"line_leads", MSG_VERDICT_LINE_LEADS, SEVERITY_INFO, line_leads},
    {"line_leads_cpu", MSG_VERDICT_LINE_CPU, SEVERITY_INFO, line_leads_cpu},
    {"line_leads_memory", MSG_VERDICT_LINE_MEMORY, SEVERITY_INFO, line_leads_memory},
};

static status judge(question *q, const groups *lines, answer *out, error *err) {
    line_facts f = {.q = q, .rows = lines};
    const uint32_t *order = sort_rows(q, lines);
    if (!order) FAIL_MEMORY(err);
    if (lines->n) {
        const line_row *first = GROUP_ROW(lines, line_row, order[0]);
        if (first->site && !is_empty(&first->self)) f.first = first;
    }
    rules_apply(rules, N_OF(rules), &f, &out->verdict);
    return OK;
}

/* ---- the answer -------------------------------------------------------------------------- */

/* The table that `by` asks for; all of them when it asks for none. */
static bool is_asked(const params *p, const char *by) {
    str given = param_text(p, STR("by"));
    return !given.n || str_eq(given, STR("all")) || str_eq(given, str_of(by));
}

static status answer_rows(question *q, const params *p, row_key by, answer *out, error *err) {
    static const struct {
        const char *by, *table;
    } named[] = {[BY_LINE] = {"line", "lines"},
                 [BY_FUNCTION] = {"function", "functions"},
                 [BY_FILE] = {"file", "files"}};
    table *to = is_asked(p, named[by].by) ? answer_table(out, q->arena, named[by].table) : NULL;
    bool wanted = to && q->sums.view.has_lines && params_want(p, named[by].table);
    if (is_asked(p, named[by].by) && !to) FAIL_MEMORY(err);
    if (by != BY_LINE && !wanted) return OK;
    groups rows;
    TRY(make_rows(q, &rows, by, err));
    if (by == BY_LINE) TRY(judge(q, &rows, out, err));
    return wanted ? write_rows(q, to, &rows, by, err) : OK;
}

static status write_tables(question *q, const params *p, answer *out, error *err) {
    TRY(answer_rows(q, p, BY_LINE, out, err));
    TRY(answer_rows(q, p, BY_FUNCTION, out, err));
    TRY(answer_rows(q, p, BY_FILE, out, err));
    if (!is_asked(p, "stack")) return OK;
    table *stacks = answer_table(out, q->arena, "stacks");
    if (!stacks) FAIL_MEMORY(err);
    bool wanted = q->sums.view.has_lines && params_want(p, "stacks");
    return wanted ? answer_stacks(q, p, stacks, err) : OK;
}

status analyse_lines(const analysis_input *in, const params *p, arena *a, answer *out,
                     error *err) {
    question q = {.t = in->traces[0].trace, .arena = a};
    TRY(answer_begin("lines", in, a, out, err));
    TRY(trace_require(q.t, LINE_SUMS_TABLES, err));
    TRY(line_sums_make(q.t, p, a, &q.sums, err));
    TRY(add_callees(&q, err));
    TRY(write_tables(&q, p, out, err));
    answer_finish(out, p);
    return OK;
}
