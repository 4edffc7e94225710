/* emit_text.c: a whole answer as text: the verdict first, all tables, what it is based on.
 *
 * Colors only where the caller says that a terminal is listening. screen.c writes what fits on
 * a screen. */
#include "base/message_ids_cli.h"
#include "present/present_int.h"
#include "present/width.h"

/* ---- color ------------------------------------------------------------------------------- */

static const char *const SEVERITY_COLORS[] = {
    [SEVERITY_GOOD] = "32",
    [SEVERITY_INFO] = "0",
    [SEVERITY_WARNING] = "33",
    [SEVERITY_CRITICAL] = "31",
};

/* The answer itself, the first thing to be read. */
static const char *const VERDICT_COLORS[] = {
    [SEVERITY_GOOD] = "1;32",
    [SEVERITY_INFO] = "1",
    [SEVERITY_WARNING] = "1;33",
    [SEVERITY_CRITICAL] = "1;31",
};

const char *severity_sgr_of(str name) {
    for (int s = SEVERITY_GOOD; s <= SEVERITY_CRITICAL; s++)
        if (str_eq(name, str_of(severity_name((severity)s)))) return SEVERITY_COLORS[s];
    return NULL;
}

void color_begin(buf *out, const present_options *o, const char *sgr) {
    if (o->color) buf_printf(out, "\033[%sm", sgr);
}

void color_end(buf *out, const present_options *o) {
    if (o->color) buf_add_cstr(out, "\033[0m");
}

void present_title_text(str title, const present_options *o, buf *out) {
    color_begin(out, o, SGR_BOLD);
    width_put(out, title);
    color_end(out, o);
    buf_add_byte(out, '\n');
}

/* ---- around the tables ------------------------------------------------------------------- */

/* One part of the line that says which trace this is. */
static void put_part(buf *out, lang l, uint16_t message, str name) {
    if (name.n == 0) return;
    text_put(out, l, message, arg_text("name", name));
    buf_add_cstr(out, ", ");
}

/* What follows the path: a screen has no room for run and span, which --help can choose by. */
static void put_about(buf *out, const answer *a, const present_options *o) {
    const answer_source *s = &a->source;
    if (s->path.n != 0) buf_add_cstr(out, ", ");
    if (o->lines == 0) put_part(out, o->lang, MSG_TEXT_RUN, s->run);
    if (s->ranks > 1) {
        text_put(out, o->lang, MSG_TEXT_RANKS, arg_int("count", s->ranks));
        buf_add_cstr(out, ", ");
    } else {
        put_part(out, o->lang, MSG_TEXT_WORKER, s->worker);
    }
    if (o->lines == 0) put_part(out, o->lang, MSG_TEXT_SPAN, s->span);
    width_put(out, s->format);
    if (s->format.n != 0) buf_add_cstr(out, ", ");
    arg duration = arg_time("duration", s->duration_ns);
    text_value(out, &duration);
    buf_add_cstr(out, ", ");
    /* The whole input is not the basis of an answer about a part of it. */
    if (a->part.id)
        text_format(out, o->lang, a->part.message, a->part.args, a->part.n_args);
    else
        text_put(out, o->lang, MSG_TEXT_EVENTS_READ, arg_int("count", a->quality.events_read));
}

/* Which trace, in one line: on a screen it is the path that gets shorter first. */
static void put_source(buf *out, const answer *a, const present_options *o) {
    enum { LEAST_PATH = 16 };
    buf about = {0}, line = {0};
    bool screen = o->lines != 0 && o->width != 0;
    if (a->source.path.n == 0 && a->source.format.n == 0) return; /* not of a trace */
    put_about(&about, a, o);
    size_t rest = width_of(buf_str(&about));
    size_t room = o->width > rest + LEAST_PATH ? o->width - rest : LEAST_PATH;
    width_put_short(&line, a->source.path, screen ? room : SIZE_MAX);
    buf_add_str(&line, buf_str(&about));
    color_begin(out, o, SGR_DIM);
    width_put_short(out, buf_str(&line), screen ? o->width : SIZE_MAX);
    color_end(out, o);
    buf_add_byte(out, '\n');
    if (!buf_ok(&about) || !buf_ok(&line)) out->failed = true;
    buf_fini(&about);
    buf_fini(&line);
}

void sentence_put(buf *out, const present_options *o, const char *sgr, const verdict *v) {
    buf text = {0};
    text_format(&text, o->lang, v->message, v->args, v->n_args);
    if (sgr) color_begin(out, o, sgr);
    if (o->terminal) {
        width_put_lines(out, buf_str(&text), 0, o->width);
        if (sgr && out->n && out->p[out->n - 1] == '\n') out->n--; /* the color ends first */
    } else {
        buf_add_str(out, buf_str(&text));
    }
    if (sgr) color_end(out, o);
    if (sgr || !o->terminal) buf_add_byte(out, '\n');
    if (!buf_ok(&text)) out->failed = true;
    buf_fini(&text);
}

/* How much of the trace could be linked, where something is missing. */
static void put_links(const quality *q, const present_options *o, buf *out) {
    for (uint32_t i = 0; i < q->n_links; i++) {
        const quality_link *k = &q->links[i];
        if (!o->details && k->linked == k->total) continue;
        color_begin(out, o, SGR_DIM);
        text_put(out, o->lang, MSG_TEXT_LINK, arg_cstr("what", text_get(k->message, o->lang)),
                 arg_int("linked", k->linked), arg_int("total", k->total));
        color_end(out, o);
        buf_add_byte(out, '\n');
    }
}

/* A note for each of a thousand ranks would fill screens: the first ones say it. */
static void put_notes(const quality *q, const present_options *o, buf *out) {
    enum { SCREEN_NOTES = 3 };
    bool cut = o->lines != 0 && q->n_notes > SCREEN_NOTES;
    uint32_t n = cut ? SCREEN_NOTES : q->n_notes;
    for (uint32_t i = 0; i < n; i++) sentence_put(out, o, NULL, &q->notes[i]);
    if (!cut) return;
    verdict more = {.message = MSG_TEXT_MORE_NOTES,
                    .n_args = 1,
                    .args = {arg_int("count", q->n_notes - n)}};
    sentence_put(out, o, SGR_DIM, &more);
}

void present_quality_text(const answer *a, const present_options *o, buf *out) {
    const quality *q = &a->quality;
    put_source(out, a, o);
    put_links(q, o, out);
    for (uint32_t i = 0; i < q->n_dropped; i++) {
        if (q->dropped[i].harmless && !o->details) continue;
        const char *text = text_get(q->dropped[i].message, o->lang);
        verdict dropped = {
            .message = MSG_TEXT_DROPPED,
            .n_args = 2,
            .args = {arg_int("count", q->dropped[i].count), arg_cstr("text", text)}};
        sentence_put(out, o, SEVERITY_COLORS[SEVERITY_WARNING], &dropped);
    }
    put_notes(q, o, out);
}

static void put_workers(const answer *a, const present_options *o, buf *out) {
    const answer_source *s = &a->source;
    bool one = s->ranks <= 1;
    if (s->run_ranks <= 1 && s->run_traces <= 1 && one) return;
    bool ranks = s->run_ranks > 1 || s->run_traces <= 1;
    uint16_t message = one ? (ranks ? MSG_TEXT_SCOPE_RANK : MSG_TEXT_SCOPE_TRACE)
                           : (ranks ? MSG_TEXT_SCOPE_RANKS : MSG_TEXT_SCOPE_TRACES);
    verdict scope = {.message = message,
                     .n_args = 3,
                     .args = {arg_text("name", s->worker), arg_text("run", s->run),
                              arg_int("count", !one    ? s->ranks
                                               : ranks ? s->run_ranks
                                                       : s->run_traces)}};
    sentence_put(out, o, SGR_DIM, &scope);
}

void present_scope_text(const answer *a, const present_options *o, buf *out) {
    put_workers(a, o, out);
    if (a->match.id) sentence_put(out, o, SGR_BOLD, &a->match);
}

void present_verdict_text(const verdict *v, const present_options *o, buf *out) {
    if (!v->id) return;
    sentence_put(out, o,
                 o->terminal ? VERDICT_COLORS[v->severity] : SEVERITY_COLORS[v->severity], v);
    buf_add_byte(out, '\n');
}

void title_put(const table *t, const present_options *o, buf *out) {
    const char *words = o->terminal ? text_title(t->name, o->lang) : t->name;
    color_begin(out, o, SGR_BOLD);
    buf_add_cstr(out, words);
    color_end(out, o);
    if (strcmp(words, t->name) != 0) { /* the name is what --table takes */
        color_begin(out, o, SGR_DIM);
        buf_printf(out, "  %s", t->name);
        color_end(out, o);
    }
    buf_add_byte(out, '\n');
}

/* An answer has tables that few traces fill: those without rows share one line at the end. The
 * first is what was asked for, and says itself that it is empty. */
static bool is_left_out(const answer *a, uint32_t i) {
    return i > 0 && a->tables[i]->total_rows == 0;
}

static void put_left_out(const answer *a, const present_options *o, buf *out) {
    buf names = {0};
    for (uint32_t i = 0; i < a->n_tables; i++) {
        if (!is_left_out(a, i)) continue;
        if (names.n) buf_add_cstr(&names, ", ");
        buf_add_cstr(&names, a->tables[i]->name);
    }
    if (names.n) {
        color_begin(out, o, SGR_DIM);
        text_put(out, o->lang, MSG_TEXT_EMPTY_TABLES, arg_text("tables", buf_str(&names)));
        color_end(out, o);
        buf_add_cstr(out, "\n\n");
    }
    if (!buf_ok(&names)) out->failed = true;
    buf_fini(&names);
}

status emit_text(const answer *a, const present_options *o, buf *out, error *err) {
    present_scope_text(a, o, out);
    if (o->lines != 0) return emit_screen(a, o, out, err);
    present_verdict_text(&a->verdict, o, out);
    for (uint32_t i = 0; i < a->n_tables; i++) {
        if (is_left_out(a, i)) continue;
        if (a->n_tables > 1) title_put(a->tables[i], o, out);
        TRY(present_table_text(a->tables[i], o, out, err));
        buf_add_byte(out, '\n');
    }
    if (o->details) put_left_out(a, o, out);
    present_quality_text(a, o, out);
    return OK;
}
