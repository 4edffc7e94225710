/* paddle_tables.c: the nine tables of Paddle's `Profiler.summary()`, column for column.
 *
 * Titles and headings are words of that report, which people read by habit and programs by
 * pattern, so they are the same in every language; only the notes below some tables are ours.
 * The layout is the original's: columns left-aligned, two blanks after each, also the last; a
 * heading longer than its column is not cut; widths count characters, not cells; times have two
 * decimals.
 *
 *     ---------------Model Summary---------------
 *     Time unit: ms
 *     ---------------  ------  ------------------
 *     Name             Calls   CPU Total / …
 *     ---------------  ------  ------------------
 *     ProfileStep      2       4.88 / 2.44 / …
 *
 * What it adds: a trace without steps is measured against its whole length instead of ending
 * after the first table, and devices keep their own names. */
#include "compat/paddle_tables.h"

#include <stdarg.h>
#include <stdio.h>

#include "analyse/kind_names.h"
#include "base/nearest.h"
#include "base/sort.h"
#include "compat/paddle_report.h"
#include "store/traits.h"

#define HOST_TIMES "CPU Total / Avg / Max / Min / Ratio(%)"
#define MAX_COLUMNS 7
enum { CALLS_WIDTH = 6, TIMES_WIDTH = 40, OP_WIDTH = 52, KERNEL_WIDTH = 90, MEMORY_WIDTH = 50 };

typedef enum {
    VIEW_Device,
    VIEW_Over,
    VIEW_Model,
    VIEW_Distributed,
    VIEW_Kernel,
    VIEW_Operator,
    VIEW_Memory,
    VIEW_MemoryManipulation,
    VIEW_UDF,
    N_VIEWS
} view;

typedef enum {
    BY_CPUTotal,
    BY_CPUAvg,
    BY_CPUMax,
    BY_CPUMin,
    BY_GPUTotal,
    BY_GPUAvg,
    BY_GPUMax,
    BY_GPUMin,
    N_ORDERS
} order_by;

typedef struct {
    str cells[MAX_COLUMNS]; /* a separate line when the second is NULL and `title` is set */
    bool title;
} line;

typedef struct {
    lang words;
    const paddle_report *r;
    arena *arena;
    buf *out;
    double unit; /* ns */
    const char *unit_name;
    const char *work_times, *work_time; /* headings with the device's own name */
    order_by order;
    bool detail, by_thread;
    double total;
    /* The table being made. */
    line *lines;
    size_t n_lines, cap_lines;
    uint32_t n_columns;
    size_t width[MAX_COLUMNS];
    bool failed;
} printer;

/* ---- lines ---- */

static size_t characters(str s) {
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) n += ((uint8_t)s.p[i] & 0xc0) != 0x80;
    return n;
}

/* The first n characters. */
static str first_characters(str s, size_t n) {
    size_t i = 0;
    for (; i < s.n; i++)
        if (((uint8_t)s.p[i] & 0xc0) != 0x80 && n-- == 0) break;
    return str_n(s.p, i);
}

static size_t line_width(const printer *p) {
    size_t n = 0;
    for (uint32_t i = 0; i < p->n_columns; i++) n += p->width[i] + 2;
    return n - 2;
}

static void put_title(const printer *p, str text) {
    size_t width = line_width(p), n = characters(text), rest = width > n ? width - n : 0;
    buf_add_repeat(p->out, '-', rest / 2);
    buf_add_str(p->out, text);
    buf_add_repeat(p->out, '-', rest - rest / 2);
    buf_add_byte(p->out, '\n');
}

static void put_dashes(const printer *p) {
    for (uint32_t i = 0; i < p->n_columns; i++) {
        buf_add_repeat(p->out, '-', p->width[i]);
        buf_add_cstr(p->out, "  ");
    }
    buf_add_byte(p->out, '\n');
}

static void put_cells(const printer *p, const str *cells) {
    for (uint32_t i = 0; i < p->n_columns; i++) {
        size_t n = characters(cells[i]);
        buf_add_str(p->out, cells[i]);
        buf_add_repeat(p->out, ' ', (n < p->width[i] ? p->width[i] - n : 0) + 2);
    }
    buf_add_byte(p->out, '\n');
}

static void begin_table(printer *p) {
    p->n_lines = 0;
    p->n_columns = 0;
}

static void add_column(printer *p, size_t width) {
    p->width[p->n_columns++] = width;
}

static line *add_line(printer *p) {
    static line lost;
    if (p->n_lines == p->cap_lines) {
        size_t cap = p->cap_lines ? 2 * p->cap_lines : 64;
        line *grown =
            arena_grow(p->arena, p->lines, p->cap_lines * sizeof(line), cap * sizeof(line));
        if (!grown) {
            p->failed = true;
            return &lost;
        }
        p->lines = grown;
        p->cap_lines = cap;
    }
    line *l = &p->lines[p->n_lines++];
    *l = (line){.title = false};
    return l;
}

/* Grows a column to its longest cell. */
static void fit_column(printer *p, uint32_t c) {
    for (size_t i = 0; i < p->n_lines; i++)
        if (!p->lines[i].title) {
            size_t n = characters(p->lines[i].cells[c]);
            if (n > p->width[c]) p->width[c] = n;
        }
}

static void put_heading(const printer *p, const char *const *words) {
    str cells[MAX_COLUMNS];
    for (uint32_t i = 0; i < p->n_columns; i++) cells[i] = str_of(words[i]);
    put_dashes(p);
    put_cells(p, cells);
    put_dashes(p);
}

static void put_lines(const printer *p) {
    for (size_t i = 0; i < p->n_lines; i++) {
        if (p->lines[i].title)
            put_title(p, p->lines[i].cells[0]);
        else
            put_cells(p, p->lines[i].cells);
    }
}

static void put_unit(const printer *p) {
    buf_printf(p->out, "Time unit: %s\n", p->unit_name);
}

static void put_gap(const printer *p) {
    buf_add_cstr(p->out, "\n\n");
}

/* The end of the tables that have a note. */
static void put_note(const printer *p, uint16_t note) {
    put_dashes(p);
    buf_add_cstr(p->out, text_get(note, p->words));
    buf_add_byte(p->out, '\n');
    buf_add_repeat(p->out, '-', line_width(p));
    buf_add_byte(p->out, '\n');
    put_gap(p);
}

/* ---- cells ---- */

static str text(printer *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

static str text(printer *p, const char *format, ...) {
    char room[512];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(room, sizeof room, format, args);
    va_end(args);
    size_t length = n < 0 ? 0 : (size_t)n < sizeof room ? (size_t)n : sizeof room - 1;
    str s = arena_str(p->arena, str_n(room, length));
    p->failed |= !s.p;
    return s.p ? s : str_n("", 0);
}

static double ratio(double part, double whole) {
    return whole > 0 ? 100 * (part / whole) : 0;
}

static str time_cell(printer *p, double ns) {
    return text(p, "%.2f", ns / p->unit);
}

/* total / mean / max / min / share of `whole` */
static str times_cell(printer *p, const report_time *t, int64_t calls, double whole) {
    double total = (double)t->total, mean = calls ? total / (double)calls : 0;
    return text(p, "%.2f / %.2f / %.2f / %.2f / %.2f", total / p->unit, mean / p->unit,
                (double)t->max / p->unit, (double)t->min / p->unit, ratio(total, whole));
}

/* A name after `indent` blanks, cut to the width of its column. */
static str name_cell(printer *p, str name, int indent, size_t width) {
    if (characters(name) + (size_t)indent <= width)
        return indent ? arena_printf(p->arena, "%*s%.*s", indent, "", STR_ARG(name)) : name;
    str cut = first_characters(name, width - 3 - (size_t)indent);
    return arena_printf(p->arena, "%*s%.*s...", indent, "", STR_ARG(cut));
}

/* ---- device, overview, model, distribution ---- */

static str utilization(printer *p, fact f) {
    double share;
    return str_to_f64(trace_fact(p->r->t, f), &share) ? text(p, "%.2f", share * 100) : STR("-");
}

static void put_devices(printer *p) {
    static const char *const heading[] = {"Device", "Utilization (%)"};
    begin_table(p);
    add_column(p, 30);
    add_column(p, 20);
    *add_line(p) = (line){{STR("CPU(Process)"), utilization(p, FACT_PROCESS_CPU_USE)}, false};
    *add_line(p) = (line){{STR("CPU(System)"), utilization(p, FACT_SYSTEM_CPU_USE)}, false};
    for (uint32_t i = 0; i < p->r->devices.n; i++) {
        const report_device *d = GROUP_ROW(&p->r->devices, report_device, i);
        str share = text(p, "%.2f", ratio((double)d->busy_ns, p->total));
        *add_line(p) = (line){{d->name, share}, false};
    }
    put_title(p, STR("Device Summary"));
    put_heading(p, heading);
    put_lines(p);
    put_note(p, MSG_PADDLE_NOTE_DEVICE);
}

static line type_line(printer *p, const report_type *t, bool indented) {
    return (line){{text(p, "%s%s", indented ? "  " : "", paddle_type_name(t->type)),
                   text(p, "%lld", (long long)t->calls), time_cell(p, (double)t->ns),
                   text(p, "%.2f", ratio((double)t->ns, p->total))},
                  false};
}

static int compare_types(uint32_t a, uint32_t b, const void *context) {
    const paddle_report *r = context;
    if (r->host[a].ns != r->host[b].ns) return r->host[a].ns > r->host[b].ns ? -1 : 1;
    return a < b ? -1 : a > b;
}

static void put_overview(printer *p) {
    static const char *const heading[] = {"Event Type", "Calls", "CPU Time", "Ratio (%)"};
    const char *const second[] = {"", "Calls", p->work_time, "Ratio (%)"};
    uint32_t order[N_PADDLE_TYPES], scratch[N_PADDLE_TYPES];
    begin_table(p);
    for (int i = 0; i < 4; i++) add_column(p, 25);
    for (uint32_t i = 0; i < p->r->n_host; i++) order[i] = i;
    sort_index(order, scratch, p->r->n_host, compare_types, p->r);
    for (uint32_t i = 0; i < p->r->n_host; i++)
        *add_line(p) = type_line(p, &p->r->host[order[i]], i > 0);
    put_title(p, STR("Overview Summary"));
    put_unit(p);
    put_heading(p, heading);
    put_lines(p);
    p->n_lines = 0;
    for (uint32_t i = 0; i < p->r->n_work; i++)
        *add_line(p) = type_line(p, &p->r->work[i], true);
    put_heading(p, second);
    put_lines(p);
    put_note(p, MSG_PADDLE_NOTE_OVERVIEW);
}

static line others_line(printer *p, int64_t host, int64_t work, int64_t all_work) {
    double left = p->total - (double)host, rest = (double)(all_work - work);
    return (line){
        {STR("  Others"), STR("-"),
         text(p, "%.2f / - / - / - / %.2f", left / p->unit, ratio(left, p->total)),
         text(p, "%.2f / - / - / - / %.2f", rest / p->unit, ratio(rest, (double)all_work))},
        false};
}

static void put_model(printer *p) {
    static const paddle_type rows[] = {TYPE_ProfileStep, TYPE_Dataloader, TYPE_Forward,
                                       TYPE_Backward, TYPE_Optimization};
    const char *const heading[] = {"Name", "Calls", HOST_TIMES, p->work_times};
    int64_t host = 0, work = 0, all_work = p->r->stage[TYPE_ProfileStep].kernel.total;
    begin_table(p);
    add_column(p, 15);
    add_column(p, CALLS_WIDTH);
    add_column(p, TIMES_WIDTH);
    add_column(p, TIMES_WIDTH);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const report_item *s = &p->r->stage[rows[i]];
        if (!s->calls) continue;
        *add_line(p) = (line){{text(p, "%s%s", i ? "  " : "", paddle_type_name(rows[i])),
                               text(p, "%lld", (long long)s->calls),
                               times_cell(p, &s->host, s->calls, p->total),
                               times_cell(p, &s->kernel, s->calls, (double)all_work)},
                              false};
        if (i) host = add_i64(host, s->host.total);
        if (i) work = add_i64(work, s->kernel.total);
    }
    if (p->n_lines < 2) return;
    *add_line(p) = others_line(p, host, work, all_work);
    for (uint32_t i = 1; i < 4; i++) fit_column(p, i);
    put_title(p, STR("Model Summary"));
    put_unit(p);
    put_heading(p, heading);
    put_lines(p);
    put_note(p, MSG_PADDLE_NOTE_MODEL);
}

static void put_distribution(printer *p) {
    static const char *const heading[] = {"Name", "Total Time", "Ratio (%)"};
    const struct {
        const char *name;
        double ns;
    } rows[] = {{"ProfileStep", p->total},
                {"  Communication", (double)p->r->communication_ns},
                {"  Computation", (double)p->r->computation_ns},
                {"  Overlap", (double)p->r->overlap_ns}};
    if (!p->r->has_communication) return;
    begin_table(p);
    for (int i = 0; i < 3; i++) add_column(p, 25);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        *add_line(p) = (line){{str_of(rows[i].name), time_cell(p, rows[i].ns),
                               text(p, "%.2f", ratio(rows[i].ns, p->total))},
                              false};
    put_title(p, STR("Distribution Summary"));
    put_unit(p);
    put_heading(p, heading);
    put_lines(p);
    put_note(p, MSG_PADDLE_NOTE_DISTRIBUTION);
}

/* ---- operators, kernels, ranges ---- */

/* What rows are sorted by; a smaller one first when `ascending`. */
static double sort_value(const report_item *i, order_by by) {
    double calls = i->calls ? (double)i->calls : 1;
    switch (by) {
    case BY_CPUAvg: return (double)i->host.total / calls;
    case BY_CPUMax: return (double)i->host.max;
    case BY_CPUMin: return (double)i->host.min;
    case BY_GPUTotal: return (double)i->work.total;
    case BY_GPUAvg: return (double)i->work.total / calls;
    case BY_GPUMax: return (double)i->work.max;
    case BY_GPUMin: return (double)i->work.min;
    default: return (double)i->host.total;
    }
}

typedef struct {
    const groups *g;
    order_by by;
} paddle_sort;

static int compare_items(uint32_t a, uint32_t b, const void *context) {
    const paddle_sort *s = context;
    double x = sort_value(GROUP_ROW(s->g, report_item, a), s->by),
           y = sort_value(GROUP_ROW(s->g, report_item, b), s->by);
    bool ascending = s->by == BY_CPUMin || s->by == BY_GPUMin;
    if (x != y) return (x < y) == ascending ? -1 : 1;
    return a < b ? -1 : a > b; /* in the order in which they were met */
}

/* The rows of a thread in order; *n of them. NULL when out of memory. */
static uint32_t *sort_items(printer *p, const groups *g, uint32_t thread, order_by by,
                            uint32_t *n) {
    uint32_t *order = groups_order(g), *scratch = groups_order(g);
    paddle_sort s = {g, by};
    *n = 0;
    p->failed |= !order || !scratch;
    if (!order || !scratch) return NULL;
    for (uint32_t i = 0; i < g->n; i++)
        if (GROUP_ROW(g, report_item, i)->thread == thread) order[(*n)++] = i;
    sort_index(order, scratch, *n, compare_items, &s);
    return order;
}

static str item_name(const printer *p, const report_item *i) {
    return trace_str(p->r->t, i->name);
}

static str calls_cell(printer *p, const report_item *i) {
    return text(p, "%lld", (long long)i->calls);
}

static void add_thread_line(printer *p, uint32_t thread) {
    const trace *t = p->r->t;
    line *l = add_line(p);
    l->title = true;
    l->cells[0] = STR("Thread: All threads merged");
    if (!p->by_thread) return;
    uint32_t track = *GROUP_ROW(&p->r->threads, uint32_t, thread);
    l->cells[0] = t->track.tid[track] == ABSENT_I64
                      ? arena_printf(p->arena, "Thread: %.*s",
                                     STR_ARG(trace_str(t, t->track.tid_text[track])))
                      : text(p, "Thread: %lld", (long long)t->track.tid[track]);
}

/* Device work below an operator or below an inner range of it. */
static void add_work_lines(printer *p, uint32_t owner, bool inner, double whole) {
    const groups *g = &p->r->works;
    for (uint32_t i = 0; i < g->n; i++) {
        const report_item *w = GROUP_ROW(g, report_item, i);
        if (w->owner != owner || w->is_inner_work != inner) continue;
        str name = name_cell(p, item_name(p, w), inner ? 4 : 2, OP_WIDTH);
        *add_line(p) = (line){{name, calls_cell(p, w), STR("- / - / - / - / -"),
                               times_cell(p, &w->work, w->calls, whole), STR("-")},
                              false};
    }
}

static void add_detail(printer *p, uint32_t op) {
    const groups *g = &p->r->inner;
    const report_item *around = GROUP_ROW(&p->r->ops, report_item, op);
    for (uint32_t i = 0; i < g->n; i++) {
        const report_item *x = GROUP_ROW(g, report_item, i);
        if (x->owner != op) continue;
        *add_line(p) =
            (line){{name_cell(p, item_name(p, x), 2, OP_WIDTH), calls_cell(p, x),
                    times_cell(p, &x->host, x->calls, (double)around->host.total),
                    times_cell(p, &x->work, x->calls, (double)around->work.total), STR("-")},
                   false};
        add_work_lines(p, i, true, (double)x->work.total);
    }
    add_work_lines(p, op, false, (double)around->work.total);
}

static void add_operators(printer *p, uint32_t thread) {
    const groups *g = &p->r->ops;
    uint32_t n, *order = sort_items(p, g, thread, p->order, &n);
    double host = 0, work = 0;
    if (n == 0 || !order) return;
    add_thread_line(p, thread);
    for (uint32_t i = 0; i < n; i++) {
        host += (double)GROUP_ROW(g, report_item, order[i])->host.total;
        work += (double)GROUP_ROW(g, report_item, order[i])->work.total;
    }
    for (uint32_t i = 0; i < n; i++) {
        const report_item *x = GROUP_ROW(g, report_item, order[i]);
        *add_line(p) =
            (line){{item_name(p, x), calls_cell(p, x), times_cell(p, &x->host, x->calls, host),
                    times_cell(p, &x->work, x->calls, work), text(p, "%.0f", x->flops)},
                   false};
        if (p->detail) add_detail(p, order[i]);
    }
}

static void put_operators(printer *p) {
    const char *const heading[] = {"Name", "Calls", HOST_TIMES, p->work_times, "FLOPs"};
    if (!p->r->ops.n) return;
    begin_table(p);
    add_column(p, OP_WIDTH);
    add_column(p, CALLS_WIDTH);
    add_column(p, TIMES_WIDTH);
    add_column(p, TIMES_WIDTH);
    add_column(p, 10);
    for (uint32_t i = 0; i < (p->by_thread ? p->r->threads.n : 1); i++) add_operators(p, i);
    for (uint32_t i = 1; i < 4; i++) fit_column(p, i);
    put_title(p, STR("Operator Summary"));
    put_unit(p);
    put_heading(p, heading);
    put_lines(p);
    put_dashes(p);
    put_gap(p);
}

/* f<T>(args) is f<T>. */
static str without_parameters(str name) {
    size_t open = str_find(name, STR("<"), 1);
    for (size_t at = name.n; open != SIZE_MAX && at-- > open + 1;)
        if (name.p[at] == '(' && name.p[at - 1] == '>' &&
            str_find(name, STR(")"), at) != SIZE_MAX)
            return str_n(name.p, at);
    return name;
}

static void put_kernels(printer *p) {
    const char *const heading[] = {"Name", "Calls", p->work_times};
    const groups *g = &p->r->kernels;
    double all = 0;
    bool asked = p->order >= BY_GPUAvg;
    uint32_t n, *order = sort_items(p, g, 0, asked ? p->order : BY_GPUTotal, &n);
    if (!order || n == 0) return;
    begin_table(p);
    add_column(p, KERNEL_WIDTH);
    add_column(p, CALLS_WIDTH);
    add_column(p, TIMES_WIDTH);
    for (uint32_t i = 0; i < n; i++)
        all += (double)GROUP_ROW(g, report_item, order[i])->work.total;
    for (uint32_t i = 0; i < n; i++) {
        const report_item *x = GROUP_ROW(g, report_item, order[i]);
        str name = name_cell(p, without_parameters(item_name(p, x)), 0, KERNEL_WIDTH);
        *add_line(p) =
            (line){{name, calls_cell(p, x), times_cell(p, &x->work, x->calls, all)}, false};
    }
    fit_column(p, 1);
    fit_column(p, 2);
    put_title(p, STR("Kernel Summary"));
    put_unit(p);
    put_heading(p, heading);
    put_lines(p);
    put_dashes(p);
    put_gap(p);
}

static line range_line(printer *p, const report_item *x) {
    double steps = (double)p->r->stage[TYPE_ProfileStep].work.total;
    return (line){{item_name(p, x), calls_cell(p, x),
                   times_cell(p, &x->host, x->calls, p->total),
                   times_cell(p, &x->work, x->calls, steps)},
                  false};
}

static void begin_ranges(printer *p) {
    begin_table(p);
    add_column(p, 0);
    add_column(p, CALLS_WIDTH);
    add_column(p, TIMES_WIDTH);
    add_column(p, TIMES_WIDTH);
}

static void put_ranges(printer *p, const char *title) {
    const char *const heading[] = {"Name", "Calls", HOST_TIMES, p->work_times};
    for (uint32_t i = 0; i < 4; i++) fit_column(p, i);
    put_title(p, str_of(title));
    put_unit(p);
    put_heading(p, heading);
    put_lines(p);
}

static void put_copies(printer *p) {
    if (!p->r->copies.n) return;
    begin_ranges(p);
    for (uint32_t i = 0; i < p->r->copies.n; i++)
        *add_line(p) = range_line(p, GROUP_ROW(&p->r->copies, report_item, i));
    put_ranges(p, "Memory Manipulation Summary");
    put_dashes(p);
    put_gap(p);
}

static void put_users(printer *p) {
    const groups *g = &p->r->users;
    if (!g->n) return;
    begin_ranges(p);
    for (uint32_t thread = 0; thread < (p->by_thread ? p->r->threads.n : 1); thread++) {
        uint32_t n, *order = sort_items(p, g, thread, p->order, &n);
        if (n == 0 || !order) continue;
        add_thread_line(p, thread);
        for (uint32_t i = 0; i < n; i++)
            *add_line(p) = range_line(p, GROUP_ROW(g, report_item, order[i]));
    }
    put_ranges(p, "UserDefined Summary");
    put_gap(p);
}

/* ---- memory ---- */

static int compare_memory(uint32_t a, uint32_t b, const void *context) {
    const groups *g = context;
    const report_memory *x = GROUP_ROW(g, report_memory, a),
                        *y = GROUP_ROW(g, report_memory, b);
    int64_t grown = sub_i64(x->allocated, x->released),
            other = sub_i64(y->allocated, y->released);
    if (x->reserved != y->reserved) return x->reserved ? 1 : -1;
    if (grown != other) return grown > other ? -1 : 1;
    return a < b ? -1 : a > b;
}

static line memory_line(printer *p, const report_memory *x) {
    return (line){
        {trace_str(p->r->t, x->name), x->reserved ? STR("Reserved") : STR("Allocated"),
         text(p, "%lld", (long long)x->allocations), text(p, "%lld", (long long)x->releases),
         text(p, "%lld", (long long)x->allocated), text(p, "%lld", (long long)x->released),
         text(p, "%lld", (long long)sub_i64(x->allocated, x->released))},
        false};
}

static void put_place(printer *p, uint32_t place) {
    static const char *const heading[] = {
        "Name",      "Type",          "Allocation Count", "Free Count", "Allocation Size",
        "Free Size", "Increased Size"};
    const groups *g = &p->r->memory;
    const report_place *where = GROUP_ROW(&p->r->places, report_place, place);
    uint32_t *order = groups_order(g), *scratch = groups_order(g), n = 0;
    p->failed |= !order || !scratch;
    if (!order || !scratch) return;
    for (uint32_t i = 0; i < g->n; i++)
        if (GROUP_ROW(g, report_memory, i)->device == place) order[n++] = i;
    sort_index(order, scratch, n, compare_memory, g);
    begin_table(p);
    add_column(p, MEMORY_WIDTH);
    add_column(p, 12);
    for (int i = 0; i < 5; i++) add_column(p, 15);
    for (uint32_t i = 0; i < n; i++)
        *add_line(p) = memory_line(p, GROUP_ROW(g, report_memory, order[i]));
    put_title(p, arena_printf(p->arena, "Memory Summary - %.*s", STR_ARG(where->name)));
    buf_printf(p->out, "Peak Allocated Memory: %lld\n", (long long)where->peak_allocated);
    buf_printf(p->out, "Peak Reserved Memory: %lld\n", (long long)where->peak_reserved);
    put_heading(p, heading);
    put_lines(p);
    put_gap(p);
}

static void put_memory(printer *p) {
    for (uint32_t i = 0; i < p->r->places.n; i++) put_place(p, i);
}

/* ---- the whole ---- */

static const struct {
    const char *name;
    view view;
    void (*put)(printer *p);
} VIEWS[N_VIEWS] = {
    /* In the order of the report. */
    {"DeviceView", VIEW_Device, put_devices},
    {"OverView", VIEW_Over, put_overview},
    {"ModelView", VIEW_Model, put_model},
    {"DistributedView", VIEW_Distributed, put_distribution},
    {"OperatorView", VIEW_Operator, put_operators},
    {"KernelView", VIEW_Kernel, put_kernels},
    {"MemoryManipulationView", VIEW_MemoryManipulation, put_copies},
    {"UDFView", VIEW_UDF, put_users},
    {"MemoryView", VIEW_Memory, put_memory},
};

static status fail_view(str name, error *err) {
    name_hint hint = hint_for(name);
    for (int i = 0; i < N_VIEWS; i++) hint_offer(&hint, str_of(VIEWS[i].name));
    FAIL(err, ERR_ARG, NOPOS, MSG_PADDLE_NO_SUCH_VIEW, arg_text("name", name),
         HINT_ARGS(&hint));
}

/* Bits of the views asked for, all when none is. */
static status read_views(str list, uint32_t *wanted, error *err) {
    *wanted = 0;
    while (list.n) {
        size_t comma = str_find(list, STR(","), 0);
        str name = str_trim(comma == SIZE_MAX ? list : str_n(list.p, comma));
        uint32_t bit = 0;
        for (int i = 0; i < N_VIEWS; i++)
            if (str_eq(name, str_of(VIEWS[i].name))) bit = 1u << i;
        if (!bit) return fail_view(name, err);
        *wanted |= bit;
        list = comma == SIZE_MAX ? str_n("", 0) : str_from(list, comma + 1);
    }
    if (!*wanted) *wanted = (1u << N_VIEWS) - 1;
    return OK;
}

static void read_unit(printer *p, str name) {
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ms", 1e6}, {"s", 1e9}, {"us", 1e3}, {"ns", 1}};
    p->unit = units[0].ns;
    p->unit_name = units[0].name;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (str_eq(name, str_of(units[i].name))) {
            p->unit = units[i].ns;
            p->unit_name = units[i].name;
        }
}

static status read_order(str name, order_by *out, error *err) {
    static const char *const names[N_ORDERS] = {"CPUTotal", "CPUAvg", "CPUMax", "CPUMin",
                                                "GPUTotal", "GPUAvg", "GPUMax", "GPUMin"};
    name_hint hint = hint_for(name);
    if (!name.n) return OK;
    for (int i = 0; i < N_ORDERS; i++) {
        hint_offer(&hint, str_of(names[i]));
        if (!str_eq(name, str_of(names[i]))) continue;
        *out = (order_by)i;
        return OK;
    }
    FAIL(err, ERR_ARG, NOPOS, MSG_PADDLE_NO_SUCH_ORDER, arg_text("name", name),
         HINT_ARGS(&hint));
}

/* GPU, MLU, …; where the device is a CPU the word would be there twice. */
static status name_work(printer *p, const trace *t, error *err) {
    str word = device_word_of_work(t);
    if (str_eq(word, STR("CPU"))) word = STR("Device");
    p->work_times =
        arena_printf(p->arena, "%.*s Total / Avg / Max / Min / Ratio(%%)", STR_ARG(word)).p;
    p->work_time = arena_printf(p->arena, "%.*s Time", STR_ARG(word)).p;
    if (!p->work_times || !p->work_time) FAIL_MEMORY(err);
    return OK;
}

status paddle_tables_write(const trace *t, const paddle_choice *c, arena *a, buf *out,
                           error *err) {
    uint32_t wanted;
    selection s;
    paddle_report r;
    printer p = {.words = c->words,
                 .r = &r,
                 .arena = a,
                 .out = out,
                 .detail = !str_eq(c->op_detail, STR("no")),
                 .by_thread = c->by_thread};
    TRY(name_work(&p, t, err));
    TRY(read_order(c->sorted_by, &p.order, err));
    TRY(read_views(c->views, &wanted, err));
    TRY(trace_require(t, SELECT_TABLES | TRACE_TABLE(op) | TRACE_TABLE(memory), err));
    select_init(&s, t, c->window);
    TRY(paddle_report_make(&s, (report_options){.by_thread = c->by_thread}, a, &r, err));
    read_unit(&p, c->time_unit);
    p.total = (double)(r.total_ns > 0 ? r.total_ns : sub_i64(t->end_ns, t->start_ns));
    for (int i = 0; i < N_VIEWS; i++)
        if (wanted >> i & 1) VIEWS[i].put(&p);
    if (p.failed) FAIL_MEMORY(err);
    return OK;
}
