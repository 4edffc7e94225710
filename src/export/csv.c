/* csv.c: one row for each slice, for spreadsheets and data frames.
 *
 *     id,track,process,thread,name,kind,category,start_ns,duration_ns,parent,depth,step,args
 *
 * Fields are quoted by RFC 4180 (only where needed; quotes doubled; lines end in \n). Times are
 * whole nanoseconds, starts are offsets from the start of the trace, the step is the number of
 * the step the slice belongs to (device work: that of its launch call), args is the producer's
 * JSON object. Empty means not recorded. Kinds are tacho's own words, categories the
 * producer's. Control characters and what a spreadsheet would take for a formula are written as
 * in every CSV of ours (fmt_csv). */
#include "analyse/kind_names.h"
#include "base/fmt.h"
#include "export/export_int.h"

/* Empty is not recorded, here, and an empty text no different. */
static void add_field(buf *b, str s) {
    if (s.n) fmt_csv(b, s);
}

/* A name, else the producer's text, else its number. */
static void add_label(buf *b, str name, str text, int64_t number) {
    if (name.n || text.n)
        add_field(b, name.n ? name : text);
    else if (number != ABSENT_I64)
        buf_add_i64(b, number);
}

/* trace_step_of without a search: `kernel` is a cursor over that table. */
static uint32_t find_step(const trace *t, uint32_t slice, uint32_t *kernel) {
    while (*kernel < t->kernel.n && t->kernel.slice[*kernel] < slice) ++*kernel;
    bool is_work = *kernel < t->kernel.n && t->kernel.slice[*kernel] == slice;
    return is_work ? trace_step_of_work(t, *kernel) : trace_step_at(t, t->slice.start[slice]);
}

static void add_place(export_ctx *x, uint32_t slice, uint32_t track) {
    const trace *t = x->t;
    buf *b = &x->out;
    uint32_t process = t->track.process[track];
    buf_add_u64(b, slice);
    buf_add_byte(b, ',');
    buf_add_u64(b, track);
    buf_add_byte(b, ',');
    add_label(b, trace_str(t, t->process.name[process]),
              trace_str(t, t->process.pid_text[process]), t->process.pid[process]);
    buf_add_byte(b, ',');
    add_label(b, trace_str(t, t->track.name[track]), trace_str(t, t->track.tid_text[track]),
              t->track.tid[track]);
}

static void add_what(export_ctx *x, uint32_t slice) {
    const trace *t = x->t;
    buf_add_byte(&x->out, ',');
    add_field(&x->out, trace_slice_name(t, slice));
    buf_add_byte(&x->out, ',');
    add_field(&x->out, kind_name(t->slice.kind[slice]));
    buf_add_byte(&x->out, ',');
    add_field(&x->out, trace_str(t, t->category.name[t->slice.category[slice]]));
}

static void add_when(export_ctx *x, uint32_t slice, int64_t start_ns, int64_t end_ns) {
    const trace *t = x->t;
    buf *b = &x->out;
    buf_add_byte(b, ',');
    buf_add_i64(b, sub_i64(start_ns, t->start_ns));
    buf_add_byte(b, ',');
    buf_add_i64(b, end_ns - start_ns);
    buf_add_byte(b, ',');
    if (t->slice.parent[slice]) buf_add_u64(b, t->slice.parent[slice]);
    buf_add_byte(b, ',');
    buf_add_u64(b, t->slice.depth[slice]);
    buf_add_byte(b, ',');
}

static status add_row(export_ctx *x, uint32_t slice, uint32_t track, uint32_t *kernel,
                      buf *scratch) {
    const trace *t = x->t;
    int64_t start_ns, end_ns;
    if (!export_clip(x, slice, &start_ns, &end_ns)) return OK;
    add_place(x, slice, track);
    add_what(x, slice);
    add_when(x, slice, start_ns, end_ns);
    uint32_t step = find_step(t, slice, kernel);
    if (step) buf_add_i64(&x->out, t->step.number[step]);
    buf_add_byte(&x->out, ',');
    if (t->slice.args[slice]) {
        buf_clear(scratch);
        TRY(args_read_json(x->args, t->slice.args[slice], scratch, x->err));
        add_field(&x->out, buf_str(scratch));
    }
    buf_add_byte(&x->out, '\n');
    return export_row_done(x);
}

status export_csv(export_ctx *x) {
    const trace *t = x->t;
    buf scratch = {0};
    uint32_t kernel = 1;
    status s = OK;
    buf_add_cstr(&x->out,
                 "id,track,process,thread,name,kind,category,start_ns,duration_ns,parent,"
                 "depth,step,args\n");
    for (uint32_t track = 1; track < t->track.n && s == OK; track++)
        for (uint32_t i = t->track.first[track]; i < t->track.end[track] && s == OK; i++)
            s = add_row(x, i, track, &kernel, &scratch);
    buf_fini(&scratch);
    return s;
}
