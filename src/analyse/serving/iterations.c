/* iterations.c: prefill, decode and mixed iterations of a server, with their tokens.
 *
 * One pass over the operators finds the embedding of each step; training looks up tokens, too,
 * so only a trace without backward work counts, and one with decodes. Rates are tokens by the
 * time of the iterations themselves (adjusted for device work), not of the gaps between
 * them. */
#include "analyse/serving/iterations.h"

#include "analyse/lexicon.h"

#include "analyse/analysis.h"
#include "analyse/rules.h"
#include "base/num.h"
#include "store/op_text.h"

#define COL_I(name) COL(steps, iterations, name)
#define COL_V(name) COL(steps, serving, name)

enum { LEAST_DECODES = 2 };

static const char *const kind_names[N_ITERATIONS] = {[ITERATION_UNKNOWN] = "unknown",
                                                     [ITERATION_PREFILL] = "prefill",
                                                     [ITERATION_DECODE] = "decode",
                                                     [ITERATION_MIXED] = "mixed"};

/* ---- names ------------------------------------------------------------------------------- */

/* The number after a word, ABSENT_I64 when there is none. */
static int64_t number_after(str name, str word, size_t from) {
    size_t at = str_find(name, word, from), end;
    int64_t v;
    if (at == SIZE_MAX) return ABSENT_I64;
    at += word.n;
    for (end = at; end < name.n && name.p[end] >= '0' && name.p[end] <= '9';) end++;
    return str_to_i64(str_n(name.p + at, end - at), &v) ? v : ABSENT_I64;
}

/* Tokens of "context_1(888_788544)" or "context_1(sq888sk…)": the first number in the
 * brackets. */
static int64_t tokens_of(str name, str word) {
    size_t at = str_find(name, word, 0), open;
    if (at == SIZE_MAX || (open = str_find(name, STR("("), at)) == SIZE_MAX) return 0;
    int64_t v = number_after(name, STR("(sq"), open);
    if (str_starts(str_from(name, open), STR("(sq")) && v != ABSENT_I64) return v;
    v = number_after(name, STR("("), open);
    return v == ABSENT_I64 ? 0 : v;
}

const char *iteration_kind_name(iteration_kind kind) {
    return kind_names[kind];
}

static iteration of_counts(int64_t prompts, int64_t decodes, int64_t tokens) {
    iteration made = {.kind = prompts && decodes ? ITERATION_MIXED
                              : prompts          ? ITERATION_PREFILL
                              : decodes          ? ITERATION_DECODE
                                                 : ITERATION_UNKNOWN,
                      .batch = add_i64(prompts, decodes),
                      .tokens = tokens,
                      .prompts = prompts,
                      .prompt_tokens = prompts ? ABSENT_I64 : 0,
                      .decodes = decodes};
    return made;
}

static iteration of_vllm(str name) {
    int64_t prompts = number_after(name, STR("context_"), 0),
            decodes = number_after(name, STR("generation_"), 0);
    if (prompts == ABSENT_I64 || decodes == ABSENT_I64) return (iteration){0};
    int64_t context = tokens_of(name, STR("context_")),
            tokens = add_i64(context, tokens_of(name, STR("generation_")));
    iteration made = of_counts(prompts, decodes, tokens ? tokens : ABSENT_I64);
    if (prompts && context) made.prompt_tokens = context;
    return made;
}

/* SGLang: step[DECODE bs=16], step[EXTEND bs=15 toks=15360]; ATOM: prefill[bs=2 tok=14721 …].
 */
static iteration of_batch(str name, iteration_kind kind) {
    iteration made = {.kind = kind,
                      .batch = number_after(name, STR("bs="), 0),
                      .tokens = number_after(name, STR("toks="), 0)};
    if (made.batch == ABSENT_I64) return (iteration){0};
    if (made.tokens == ABSENT_I64) made.tokens = number_after(name, STR(" tok="), 0);
    if (made.tokens == ABSENT_I64 && kind == ITERATION_DECODE) made.tokens = made.batch;
    bool mixed = kind == ITERATION_MIXED, prefill = kind == ITERATION_PREFILL;
    made.prompts = mixed ? ABSENT_I64 : prefill ? made.batch : 0;
    made.decodes = mixed ? ABSENT_I64 : prefill ? 0 : made.batch;
    made.prompt_tokens = mixed ? ABSENT_I64 : prefill ? made.tokens : 0;
    return made;
}

iteration iteration_of_name(str name) {
    if (str_starts(name, STR("execute_new_"))) {
        int64_t prompts = number_after(name, STR("new_"), 0),
                decodes = number_after(name, STR("cached_"), 0);
        if (prompts == ABSENT_I64 || decodes == ABSENT_I64) return (iteration){0};
        return of_counts(prompts, decodes, prompts ? ABSENT_I64 : decodes);
    }
    if (str_starts(name, STR("execute_"))) return of_vllm(name);
    if (str_starts(name, STR("step[DECODE")) || str_starts(name, STR("decode[")))
        return of_batch(name, ITERATION_DECODE);
    if (str_starts(name, STR("step[EXTEND")) || str_starts(name, STR("prefill[")))
        return of_batch(name, ITERATION_PREFILL);
    if (str_starts(name, STR("step[MIXED"))) return of_batch(name, ITERATION_MIXED);
    return (iteration){0};
}

/* ---- shapes ------------------------------------------------------------------------------ */

/* Dimensions of a shape: how many there are; the first two by v. */
static int dimensions(str shape, int64_t v[2]) {
    op_list it = op_list_open(shape);
    str value;
    int n = 0;
    for (int64_t d; op_list_next(&it, &value) && op_item_i64(value, &d); n++)
        if (n < 2) v[n] = d;
    return n;
}

iteration iteration_of_shapes(str shapes, int64_t *table_rows) {
    op_list it = op_list_open(shapes);
    str value;
    int64_t weight[2], ids[2];
    if (!op_list_next(&it, &value) || dimensions(value, weight) != 2 ||
        !op_list_next(&it, &value) || dimensions(value, ids) != 2 || ids[0] <= 0 || ids[1] <= 0)
        return (iteration){0};
    *table_rows = weight[0];
    bool prefill = ids[1] > 1;
    int64_t tokens = ids[0] > INT64_MAX / ids[1] ? ABSENT_I64 : mul_i64(ids[0], ids[1]);
    return (iteration){.kind = prefill ? ITERATION_PREFILL : ITERATION_DECODE,
                       .batch = ids[0],
                       .tokens = tokens,
                       .prompts = prefill ? ids[0] : 0,
                       .prompt_tokens = prefill ? tokens : 0,
                       .decodes = prefill ? 0 : ids[0]};
}

typedef struct {
    iteration *v; /* by row of table step */
    uint32_t n_decodes, n_known;
} iteration_found;

/* Does it train? Then lookups are not requests. */
static bool trains(const trace *t) {
    if (t->kind_count[KIND_OPTIMIZER] || t->kind_count[KIND_BACKWARD]) return true;
    for (uint32_t i = 1; i < t->op.n; i++)
        if (t->op.forward_thread[i] > 0 || t->op.phase[i] == PHASE_BACKWARD) return true;
    return false;
}

/* A step that was found begins with some work near its first, not always with the lookup: one
 * in the last quarter of a step belongs to the next. */
static uint32_t step_of_lookup(const trace *t, uint32_t slice) {
    int64_t at = t->slice.start[slice], end;
    uint32_t step = trace_step_at(t, at);
    if (!step || t->step.how[step] == STEP_MARKED || step + 1 >= t->step.n) return step;
    end = t->step.end[step];
    return at < sub_i64(end, sub_i64(end, t->step.start[step]) / 4) ? step : step + 1;
}

/* The first lookup in the largest table of each step. */
static void look_at_shapes(const trace *t, iteration_found *f, int64_t *rows) {
    for (uint32_t i = 1; i < t->op.n; i++) {
        uint32_t slice = t->op.slice[i];
        int64_t table_rows = 0;
        if (!t->op.shapes[i] || !lexicon_means(trace_slice_name(t, slice), MEANS_EMBEDS))
            continue;
        uint32_t step = step_of_lookup(t, slice);
        if (!step) continue;
        iteration one = iteration_of_shapes(trace_str(t, t->op.shapes[i]), &table_rows);
        if (one.kind == ITERATION_UNKNOWN || table_rows <= rows[step]) continue;
        rows[step] = table_rows;
        f->v[step] = one;
    }
}

static status find_all(const trace *t, arena *a, iteration_found *f, error *err) {
    f->v = ARENA_ARRAY(a, iteration, (size_t)t->step.n + 1);
    int64_t *rows = ARENA_ARRAY(a, int64_t, (size_t)t->step.n + 1);
    if (!f->v || !rows) FAIL_MEMORY(err);
    uint32_t named = 0;
    for (uint32_t i = 1; i < t->step.n; i++) {
        if (t->step.slice[i])
            f->v[i] = iteration_of_name(trace_slice_name(t, t->step.slice[i]));
        named += f->v[i].kind != ITERATION_UNKNOWN;
    }
    if (!named && !trains(t)) look_at_shapes(t, f, rows);
    for (uint32_t i = 1; i < t->step.n; i++) {
        f->n_known += f->v[i].kind != ITERATION_UNKNOWN;
        f->n_decodes += f->v[i].kind == ITERATION_DECODE;
    }
    if (!named && f->n_decodes < LEAST_DECODES) f->n_known = 0;
    return OK;
}

status iterations_find(const trace *t, arena *a, iteration **by_step, uint32_t *n, error *err) {
    iteration_found f = {0};
    TRY(find_all(t, a, &f, err));
    *by_step = f.v;
    *n = f.n_known;
    return OK;
}

/* ---- tables ------------------------------------------------------------------------------ */

typedef struct {
    int64_t n, batch, tokens, prompt_tokens, time, busy;
    bool all_tokens, all_prompts; /* of all of them these are known */
} serving_sum;

static void add_sum(serving_sum *s, const iteration *one, int64_t time, int64_t busy) {
    s->all_tokens = (s->n == 0 || s->all_tokens) && one->tokens != ABSENT_I64;
    s->all_prompts = (s->n == 0 || s->all_prompts) && one->prompt_tokens != ABSENT_I64;
    if (one->prompt_tokens != ABSENT_I64)
        s->prompt_tokens = add_i64(s->prompt_tokens, one->prompt_tokens);
    s->n++;
    s->batch = add_i64(s->batch, one->batch);
    if (one->tokens != ABSENT_I64) s->tokens = add_i64(s->tokens, one->tokens);
    s->time = add_i64(s->time, time);
    s->busy = add_i64(s->busy, busy);
}

static double per_second(int64_t count, int64_t ns) {
    return ns > 0 ? (double)count * 1e9 / (double)ns : 0;
}

static status write_sum(table *t, const char *kind, const serving_sum *s, bool is_decode,
                        error *err) {
    size_t row;
    if (!s->n) return OK;
    TRY(table_add_row(t, &row, err));
    table_set_text(t, row, COL_V(kind), str_of(kind));
    table_set_int(t, row, COL_V(iterations), s->n);
    if (s->all_tokens) table_set_int(t, row, COL_V(tokens), s->tokens);
    table_set_int(t, row, COL_V(output_tokens), s->batch);
    table_set_int(t, row, COL_V(time), s->time);
    table_set_int(t, row, COL_V(mean), mean_i64(s->time, s->n));
    if (s->all_tokens)
        table_set_real(t, row, COL_V(tokens_per_s), per_second(s->tokens, s->time));
    table_set_real(t, row, COL_V(output_tokens_per_s), per_second(s->batch, s->time));
    if (is_decode) table_set_int(t, row, COL_V(time_per_output_token), mean_i64(s->time, s->n));
    if (s->time > 0)
        table_set_real(t, row, COL_V(busy_share), (double)s->busy / (double)s->time);
    return OK;
}

static status write_iteration(table *t, const trace *tr, uint32_t step, const iteration *one,
                              const step_span *span, int64_t busy, error *err) {
    size_t row;
    TRY(table_add_row(t, &row, err));
    table_set_int(t, row, COL_I(step), tr->step.number[step]);
    table_set_text(t, row, COL_I(kind), str_of(kind_names[one->kind]));
    table_set_int(t, row, COL_I(batch), one->batch);
    if (one->tokens != ABSENT_I64) table_set_int(t, row, COL_I(tokens), one->tokens);
    table_set_int(t, row, COL_I(start), sub_i64(span->start, tr->start_ns));
    table_set_int(t, row, COL_I(duration), step_span_ns(span));
    table_set_int(t, row, COL_I(busy), busy);
    return OK;
}

static void say(const serving_sum *sums, const serving_sum *all, verdict *v) {
    static const char *const names[N_ITERATIONS] = {[ITERATION_PREFILL] = "prefills",
                                                    [ITERATION_DECODE] = "decodes",
                                                    [ITERATION_MIXED] = "mixed"};
    for (int k = ITERATION_PREFILL; k < N_ITERATIONS; k++)
        if (sums[k].n) verdict_add(v, arg_int(names[k], sums[k].n));
    const serving_sum *d = &sums[ITERATION_DECODE], *p = &sums[ITERATION_PREFILL];
    /* A prefill is there for its prompt: one token comes out of each. */
    bool alone = p->n && p->n == all->n && all->all_prompts && p->tokens > p->batch;
    if (all->all_prompts && all->prompt_tokens)
        verdict_add(
            v, arg_int("prompt_rate", round_i64(per_second(all->prompt_tokens, all->time))));
    if (!alone) verdict_add(v, arg_real("rate", per_second(all->batch, all->time)));
    if (d->n) verdict_add(v, arg_time("per_token", mean_i64(d->time, d->n)));
    if (all->time > 0 && all->busy)
        verdict_add(v, arg_share("idle_share", 1 - (double)all->busy / (double)all->time));
}

status iterations_serve(const trace *t, arena *a, bool *serves, error *err) {
    iteration_found f = {0};
    TRY(find_all(t, a, &f, err));
    *serves = f.n_known > 0;
    return OK;
}

status iterations_differ(const trace *t, arena *a, bool *differ, error *err) {
    iteration_found f = {0};
    int64_t least = INT64_MAX, most = 0;
    TRY(find_all(t, a, &f, err));
    *differ = false;
    for (uint32_t i = 1; i < t->step.n && f.n_known; i++) {
        if (f.v[i].kind == ITERATION_UNKNOWN) continue;
        *differ |= iteration_prefills(&f.v[i]);
        least = min_i64(least, f.v[i].batch);
        most = max_i64(most, f.v[i].batch);
    }
    *differ |= most > 0 && most / 2 >= least;
    return OK;
}

/* Sums by kind and of all; a row for each iteration in `rows` unless that is NULL. */
static status sum_up(const iterations_question *q, arena *a, table *rows, serving_sum *sums,
                     serving_sum *all, error *err) {
    const trace *t = q->t;
    iteration_found f = {0};
    TRY(find_all(t, a, &f, err));
    for (uint32_t i = 1; i < t->step.n && f.n_known; i++) {
        const step_span *span = q->spans[i];
        if (f.v[i].kind == ITERATION_UNKNOWN || !span || !q->shown[i]) continue;
        int64_t time = step_span_ns(span),
                busy = intervals_ns_in(&q->busy, span->start, span->end);
        if (rows) TRY(write_iteration(rows, t, i, &f.v[i], span, busy, err));
        add_sum(&sums[f.v[i].kind], &f.v[i], time, busy);
        add_sum(all, &f.v[i], time, busy);
    }
    return OK;
}

status iterations_judge(const iterations_question *q, arena *a, verdict *v, bool *serves,
                        error *err) {
    serving_sum sums[N_ITERATIONS] = {{0}}, all = {0};
    TRY(sum_up(q, a, NULL, sums, &all, err));
    *serves = all.n > 0;
    if (*serves) say(sums, &all, v);
    return OK;
}

status iterations_write(const iterations_question *q, arena *a, answer *out, verdict *v,
                        bool *serves, error *err) {
    serving_sum sums[N_ITERATIONS] = {{0}}, all = {0};
    table *rows = answer_table(out, a, "iterations"),
          *serving = answer_table(out, a, "serving");
    if (!rows || !serving) FAIL_MEMORY(err);
    TRY(sum_up(q, a, rows, sums, &all, err));
    for (int k = ITERATION_PREFILL; k < N_ITERATIONS; k++)
        TRY(write_sum(serving, kind_names[k], &sums[k], k == ITERATION_DECODE, err));
    TRY(write_sum(serving, "all", &all, false, err));
    *serves = all.n > 0;
    if (*serves) say(sums, &all, v);
    return OK;
}
