/* picture.c: a part of the timeline as a picture, for `tacho export` and for agents. */
#include "cli/picture.h"

#include "analyse/ask.h"
#include "analyse/timeline/step_window.h"
#include "base/message_ids_columns.h"
#include "base/num.h"

status picture_check(const options *o, error *err) {
    if (o->width == ABSENT_I64) return OK;
    if (!str_eq(o->export_to, STR("svg")))
        FAIL(err, ERR_ARG, NOPOS, MSG_PICTURE_NO_WIDTH, arg_text("name", o->export_to));
    if (o->width < TIMELINE_SVG_LEAST_PX || o->width > TIMELINE_SVG_MOST_PX)
        FAIL0(err, ERR_ARG, NOPOS, MSG_PICTURE_BAD_WIDTH);
    return OK;
}

status picture_window(const options *o, const trace *t, time_window *out, error *err) {
    const analysis_trace one = {.trace = t};
    const analysis_input in = {.traces = &one, .n_traces = 1};
    const params p = options_params(o, NULL);
    *out = (time_window){o->question.from, o->question.to};
    TRY(part_check(&in, &p, err));
    if (steps_are_all(o->question.step)) return OK;
    TRY(trace_require(t, TRACE_ALL, err));
    if (!steps_window(t, o->question.step, out)) FAIL0(err, ERR_ARG, NOPOS, MSG_PICTURE_EMPTY);
    return OK;
}

str picture_title(opened_input *x) {
    const analysis_trace *of = &x->input.traces[0];
    bool one = x->input.n_traces == 1 && of->worker.n && !str_eq(of->run, of->worker);
    if (!one) return arena_str(&x->arena, of->run);
    return arena_printf(&x->arena, "%.*s \xC2\xB7 %.*s", STR_ARG(of->run), STR_ARG(of->worker));
}

status picture_draw(const options *o, opened_input *x, size_t max_bytes, buf *svg,
                    timeline_svg_options *how, timeline_svg_facts *facts, error *err) {
    const trace *t = x->input.traces[0].trace;
    time_window w, whole = {t->start_ns, t->end_ns};
    lod *l;
    TRY(picture_check(o, err));
    TRY(picture_window(o, t, &w, err));
    w = window_closed(window_at(w, t->start_ns), whole);
    *how = (timeline_svg_options){.words = o->words,
                                  .title = picture_title(x),
                                  .from_ns = max_i64(w.from_ns, t->start_ns),
                                  .to_ns = min_i64(w.to_ns, t->end_ns),
                                  .width_px =
                                      o->width == ABSENT_I64 ? 0 : sat_u32((uint64_t)o->width),
                                  .max_bytes = max_bytes};
    if (!how->title.p) FAIL_MEMORY(err);
    if (how->from_ns >= how->to_ns) FAIL0(err, ERR_ARG, NOPOS, MSG_PICTURE_EMPTY);
    TRY(trace_require(t, TRACE_ALL, err));
    TRY(lod_new(t, x->pool, &l, err));
    status s = timeline_svg(l, how, svg, facts, err);
    lod_free(l);
    return s;
}
