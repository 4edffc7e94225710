/* facts.c: a few numbers of each trace that was ever loaded.
 *
 * They are written down as JSON once, in both languages where there are words, because they are
 * asked for with every look at the list of runs and never change for a loaded file. */
#include "serve/facts.h"

#include <pthread.h>

#include "base/mem.h"
#include "base/num.h"
#include "serve/json_put.h"

/* Of one entry. */
typedef struct {
    buf text;
    uint64_t generation; /* of the trace */
} known;

struct facts {
    pthread_mutex_t lock; /* guards what follows */
    known *of;            /* by entry */
    uint32_t n;
};

facts *facts_new(void) {
    facts *f = mem_zalloc(sizeof *f);
    if (f) pthread_mutex_init(&f->lock, NULL);
    return f;
}

void facts_free(facts *f) {
    if (!f) return;
    for (uint32_t i = 0; i < f->n; i++) buf_fini(&f->of[i].text);
    mem_free(f->of);
    pthread_mutex_destroy(&f->lock);
    mem_free(f);
}

/* Mean of the steps as the overview counts them; else of the host intervals. */
static int64_t mean_step(const answer *a, const trace *t) {
    int64_t sum = 0, n = 0;
    for (uint32_t i = 0; a && i < a->n_tables; i++) {
        if (strcmp(a->tables[i]->name, "steps") != 0) continue;
        uint32_t total = table_column(a->tables[i], STR("total"));
        for (size_t row = 0; total != UINT32_MAX && row < a->tables[i]->n_rows; row++, n++)
            sum = add_i64(sum, a->tables[i]->columns[total].v.i[row]);
    }
    for (uint32_t i = 1; n == 0 && i < t->step.n; i++)
        sum = add_i64(sum, sub_i64(t->step.end[i], t->step.start[i]));
    if (n == 0) n = t->step.n > 1 ? (int64_t)t->step.n - 1 : 0;
    return n ? mean_i64(sum, n) : ABSENT_I64;
}

static bool is_damaged(const trace *t) {
    static const cause causes[] = {CAUSE_TRUNCATED, CAUSE_STREAM_DAMAGED, CAUSE_BAD_SYNTAX};
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
        if (trace_quality(t, causes[i]) > 0) return true;
    return false;
}

static void put_verdict(buf *b, const answer *a) {
    put_key(b, "verdict");
    if (!a || !a->verdict.id) {
        buf_add_cstr(b, "null");
        return;
    }
    buf_add_byte(b, '{');
    put_text(b, "id", str_of(a->verdict.id));
    put_text(b, "severity", str_of(severity_name(a->verdict.severity)));
    put_key(b, "text");
    buf_add_byte(b, '{');
    for (int l = 0; l < N_LANGS; l++) {
        buf words = {0};
        text_format(&words, (lang)l, a->verdict.message, a->verdict.args, a->verdict.n_args);
        put_text(b, lang_name((lang)l), buf_str(&words));
        if (!buf_ok(&words)) b->failed = true;
        buf_fini(&words);
    }
    buf_add_cstr(b, "}}");
}

static void put_facts(buf *b, const trace *t, const answer *a) {
    int64_t mean = mean_step(a, t);
    buf_add_byte(b, '{');
    put_text(b, "format", t->format);
    put_int(b, "events", sat_i64(t->events_read));
    put_int(b, "duration", max_i64(0, sub_i64(t->end_ns, t->start_ns)));
    put_big(b, "start_unix_ns",
            t->base_unix_ns == ABSENT_I64 ? ABSENT_I64 : add_i64(t->base_unix_ns, t->start_ns));
    put_int(b, "steps", t->step.n ? (int64_t)t->step.n - 1 : 0);
    put_key(b, "mean_step");
    if (mean == ABSENT_I64)
        buf_add_cstr(b, "null");
    else
        buf_add_i64(b, mean);
    put_bool(b, "damaged", is_damaged(t));
    put_verdict(b, a);
    buf_add_byte(b, '}');
}

static void keep(facts *f, uint32_t entry, uint64_t generation, buf *text) {
    pthread_mutex_lock(&f->lock);
    if (entry >= f->n) {
        uint32_t n = entry * 2 + 16;
        known *grown = mem_grow(f->of, n * sizeof *grown);
        if (grown) {
            memset(grown + f->n, 0, (n - f->n) * sizeof *grown);
            f->of = grown;
            f->n = n;
        }
    }
    if (entry < f->n) {
        buf_fini(&f->of[entry].text);
        f->of[entry] = (known){*text, generation};
        *text = (buf){0};
    }
    pthread_mutex_unlock(&f->lock);
    buf_fini(text);
}

void facts_take(facts *f, uint32_t entry, const held_trace *h, const answer *overview) {
    buf text = {0};
    put_facts(&text, h->trace, overview);
    if (buf_ok(&text)) keep(f, entry, h->generation, &text);
    buf_fini(&text);
}

bool facts_are_of(facts *f, uint32_t entry, const held_trace *h) {
    pthread_mutex_lock(&f->lock);
    bool there =
        entry < f->n && f->of[entry].text.n && f->of[entry].generation == h->generation;
    pthread_mutex_unlock(&f->lock);
    return there;
}

void facts_make(facts *f, uint32_t entry, const held_trace *h, pool *p) {
    arena a;
    answer overview;
    analysis_trace one = {.trace = h->trace, .rank = ABSENT_I64};
    analysis_input in = {.traces = &one, .n_traces = 1};
    params whole = PARAMS_WHOLE;
    whole.pool = p;
    const analysis_info *info = registry_find(STR("overview"));
    arena_init(&a, (size_t)1 << 30);
    bool ok = info && info->run(&in, &whole, &a, &overview, NULL) == OK;
    facts_take(f, entry, h, ok ? &overview : NULL);
    arena_fini(&a);
}

void facts_put(facts *f, uint32_t entry, buf *out) {
    pthread_mutex_lock(&f->lock);
    if (entry < f->n && f->of[entry].text.n)
        buf_add_str(out, buf_str(&f->of[entry].text));
    else
        buf_add_cstr(out, "null");
    pthread_mutex_unlock(&f->lock);
}
