/* advice_answer.c: what to change first: every rule of advice_rules.def asked, most saving
 * first.
 *
 * A rule whose input was not recorded is not asked; a note for each thing that is missing names
 * these rules and says how to record it. A rule that holds gives one row: title, evidence,
 * suggestion and how the saving was estimated are sentences with the same named values, which
 * are in `values` once more for programs. `from`, `to` and `step` say where to look.
 *
 * With the summaries of a run (all workers at once) only the rules that compare workers are
 * evaluated now; all others were evaluated for each trace when it was reduced, and the summary
 * has what they found in the worker that loses the most time (advice_evidence.h), and how many
 * workers they hold for.
 *
 * Savings are estimates for the average step. Two rules may point at the same lost time: it
 * counts for the first of them, the other names that one and keeps what is left
 * (advice_claims.c), so what all rules save together is at most the step. A rule that cannot
 * estimate it (memory, effects of the recording) comes after the others. The verdict is the
 * evidence of the first row. Severity follows from the saving: a fifth of the step is critical,
 * a twentieth a warning. */
#include <math.h>

#include "analyse/advise/advice.h"
#include "analyse/advise/advice_code.h"
#include "analyse/advise/advice_evidence.h"
#include "analyse/advise/advice_line.h"
#include "analyse/device/other_traces.h"
#include "analyse/input_quality.h"
#include "analyse/kind_names.h"
#include "analyse/replay/typical_step.h"
#include "analyse/steps/lost_work.h"
#include "analyse/steps/partial_recording.h"
#include "base/buf.h"
#include "base/message_ids_advice.h"
#include "store/traits.h"

#define COL_A(name) COL(advise, advice, name)
#define COL_E(name) COL(advise, events, name)

typedef struct {
    const char *id;
    uint32_t needs;
    double threshold;
    claim_sort claim;
    bool (*holds)(const advice_facts *f, double limit, advice *out);
    uint16_t title, evidence, suggestion, basis;
} advice_rule;

const advice_limits advice_limit = {
#define ADVICE(id, NAME, needs, threshold, claim) .id = (threshold),
#include "analyse/advise/advice_rules.def"
};

static const advice_rule rules[] = {
#define ADVICE(id, NAME, needs, threshold, claim) \
    {#id,                                         \
     needs,                                       \
     threshold,                                   \
     CLAIM_##claim,                               \
     advice_##id,                                 \
     MSG_ADVICE_##NAME,                           \
     MSG_ADVICE_##NAME##_EVIDENCE,                \
     MSG_ADVICE_##NAME##_SUGGEST,                 \
     MSG_ADVICE_##NAME##_BASIS},
#include "analyse/advise/advice_rules.def"
};

enum { N_RULES = sizeof rules / sizeof *rules };

typedef struct {
    const advice_rule *rule;
    advice advice;
    /* From a summary: how many workers it holds for, and what was found in the worst of
     * them. */
    const summary_advice *kept;
    advice_evidence evidence;
    const char *included_in; /* the rule that claims some of the same time before it, or NULL */
    int64_t at_most; /* as if it saved no more than this: it follows its cause; 0: no limit */
} finding;

/* ---- asking ------------------------------------------------------------------------------ */

static severity severity_of(const advice_facts *f, const advice *a) {
    if (a->saves == ABSENT_I64) return a->severity;
    double share = advice_saved_share(f, a->saves);
    return share >= 0.2 ? SEVERITY_CRITICAL : share >= 0.05 ? SEVERITY_WARNING : SEVERITY_INFO;
}

/* What is sure of the saving: at most what waits for it, and part of an upper bound. */
static int64_t sure_ns(const finding *one) {
    int64_t saves = one->advice.saves;
    if (one->advice.bounded && saves > 0) saves = mul_i64(saves / 3, 2);
    return one->at_most ? min_i64(one->at_most, saves) : saves;
}

/* Is `x` to come before `y`? */
static bool is_before(const finding *x, const finding *y) {
    int64_t sure = sure_ns(x), others = sure_ns(y);
    if ((x->advice.weighs || y->advice.weighs) && x->advice.severity != y->advice.severity)
        return x->advice.severity > y->advice.severity;
    if (sure != others) return sure > others;
    if (!x->at_most != !y->at_most) return !x->at_most;
    return x->advice.severity > y->advice.severity;
}

/* Insertion: there are a few dozen rules. ABSENT_I64 is less than any saving. */
static void insert(finding *found, uint32_t *n, const finding *one) {
    uint32_t at = (*n)++;
    for (; at > 0 && is_before(one, &found[at - 1]); at--) found[at] = found[at - 1];
    found[at] = *one;
}

/* A picture of memory: rules about anything else are not for it. */
static bool is_memory_only(const advice_facts *f) {
    return !f->run && f->has & NEED_MEMORY && trace_is_memory_alone(f->t);
}

/* Of summaries only what compares workers can be asked: the rest was asked of each trace. */
static uint32_t ask_rules(const advice_facts *f, finding *found) {
    uint32_t n = 0;
    bool is_other = trace_has(f->t, OTHER_TRACES), is_memory = is_memory_only(f);
    for (int i = 0; i < N_RULES; i++) {
        finding one = {.rule = &rules[i],
                       .advice = {.saves = ABSENT_I64, .severity = SEVERITY_INFO}};
        if ((rules[i].needs & f->has) != rules[i].needs ||
            (f->run && !(rules[i].needs & NEED_WORKERS)) ||
            (is_other && !(rules[i].needs & NEED_REQUESTS)) ||
            (is_memory && !(rules[i].needs & NEED_MEMORY)) ||
            !rules[i].holds(f, rules[i].threshold, &one.advice))
            continue;
        one.advice.severity = severity_of(f, &one.advice);
        insert(found, &n, &one);
    }
    return n;
}

#define NOTABLE 0.05    /* of the step: how much shorter it is without the profiler */
#define SURE_SHARE 0.05 /* of the step: what a rule below its limit must save by the replay */

/* What they save is what the step loses when it is replayed with the remedy. */
static status replay(const advice_facts *f, finding *found, uint32_t *n, error *err) {
    finding *old = ARENA_ARRAY(f->arena, finding, (size_t)*n + 1);
    advice **of = ARENA_ARRAY(f->arena, advice *, (size_t)*n + 1);
    uint32_t kept = 0;
    if (!old || !of) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < *n; i++) {
        old[i] = found[i];
        of[i] = &old[i].advice;
        advice_take_recording_off(f, old[i].rule->claim, of[i]);
    }
    TRY(advice_replay(f, of, *n, err));
    for (uint32_t i = 0; i < *n; i++) {
        const advice *a = &old[i].advice;
        if (a->unsure && (!a->holds_back || advice_saved_share(f, a->saves) < SURE_SHARE))
            continue;
        old[i].advice.severity = severity_of(f, a);
        if (f->bare.sound && lengths_differ(f->bare.average_ns, f->step_ns, NOTABLE))
            verdict_add(&old[i].advice.words, arg_time("unprofiled", f->bare.average_ns));
        insert(found, &kept, &old[i]);
    }
    *n = kept;
    return OK;
}

static bool is_straggler(const finding *one) {
    return strcmp(one->rule->id, "straggler") == 0;
}

/* A known cause comes before what it leads to: a late worker (of the rules that find one, the
 * one that knows what it does), calls that hold the host back. */
static int claims_before(const finding *one) {
    if (is_straggler(one)) return 2;
    return one->rule->claim == CLAIM_EXPOSED_FIRST || one->advice.holds_back ||
           one->advice.is_cause;
}

#define LEAST_SAVED 0.005 /* of the step: less is nothing that a reader could measure */

/* Is the step as long without it? When another rule already saves that time, the finding names
 * that rule and has no number: it still has its own remedy. */
static bool saves_nothing(const advice_facts *f, finding *one) {
    advice *a = &one->advice;
    if (a->saves == ABSENT_I64 || advice_saved_share(f, a->saves) >= LEAST_SAVED) return false;
    bool without_number =
        one->included_in || one->rule->claim == CLAIM_INTERVAL; /* the producer's own */
    if (without_number) a->saves = ABSENT_I64;
    return !without_number;
}

/* What only the rank does that the others wait for saves the job nothing more; their exposed
 * communication, much of which is waiting for it, comes after it. */
static void include_in_straggler(finding *found, uint32_t n) {
    const finding *late = NULL;
    for (uint32_t i = 0; i < n; i++)
        if (is_straggler(&found[i])) late = &found[i];
    for (uint32_t i = 0; late && i < n; i++)
        if (found[i].included_in && strcmp(found[i].included_in, late->rule->id) == 0)
            found[i].at_most = max_i64(1, late->advice.saves);
    const arg *who = late ? verdict_value(&late->advice.words, "worker") : NULL;
    for (uint32_t i = 0; who && i < n; i++) {
        finding *one = &found[i];
        if (!one->kept || one->kept->workers != 1 ||
            !str_eq(one->kept->worst_worker, who->u.text))
            continue;
        one->included_in = late->rule->id;
        one->advice.saves = ABSENT_I64;
    }
}

/* A sentence that names the saving has the number of the column. */
static void say_saving(const advice_facts *f, advice *a) {
    verdict *v = &a->words;
    for (uint32_t i = 0; i < v->n_args; i++) {
        if (strcmp(v->args[i].name, "held") != 0) continue;
        if (a->saves > 0)
            v->args[i] = arg_time("held", advice_shown_ns(f, a->saves));
        else
            v->args[i] = v->args[--v->n_args];
        return;
    }
}

/* Lets every moment be saved once, drops what saves nothing then, and puts the findings in
 * order again. */
static status settle(const advice_facts *f, finding *found, uint32_t *n_found, error *err) {
    uint32_t n = *n_found;
    advice_claim *claims = ARENA_ARRAY(f->arena, advice_claim, (size_t)n + 1);
    finding *old = ARENA_ARRAY(f->arena, finding, (size_t)n + 1);
    uint32_t *of = ARENA_ARRAY(f->arena, uint32_t, (size_t)n + 1), used = 0, kept = 0;
    if (!claims || !old || !of) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < n; i++) old[i] = found[i];
    for (int turn = 2; turn >= 0; turn--)
        for (uint32_t i = 0; i < n; i++) {
            if (claims_before(&old[i]) != turn) continue;
            of[used] = i;
            claims[used++] = (advice_claim){
                .id = old[i].rule->id, .sort = old[i].rule->claim, .advice = &old[i].advice};
        }
    TRY(advice_claims_settle(f, claims, n, err));
    for (uint32_t i = 0; i < n; i++) old[of[i]].included_in = claims[i].included_in;
    include_in_straggler(old, n);
    for (uint32_t i = 0; i < n; i++) {
        if (saves_nothing(f, &old[i])) continue;
        if (!old[i].kept) say_saving(f, &old[i].advice);
        if (!old[i].kept) old[i].advice.severity = severity_of(f, &old[i].advice);
        insert(found, &kept, &old[i]);
    }
    *n_found = kept;
    return OK;
}

/* The mean of the workers a rule holds for: each trace has counted every moment once, and means
 * of what was counted once still fit into the step; the largest of each rule do not. */
static int64_t saving_of(const summary_advice *row) {
    if (row->worst == ABSENT_I64 || row->workers <= 0) return row->worst;
    return min_i64(row->worst, row->saves / row->workers);
}

/* What was found in each trace when it was reduced, one row a rule. */
static status take_kept(const advice_facts *f, finding *found, uint32_t *n, error *err) {
    for (uint32_t i = 0; i < SUMMARY_N(f->run, advice); i++) {
        const summary_advice *row = &SUMMARY_ROWS(f->run, advice)[i];
        finding one = {.kept = row, .advice = {.saves = ABSENT_I64}};
        for (int k = 0; k < N_RULES && !one.rule; k++)
            if (str_eq(row->id, str_of(rules[k].id))) one.rule = &rules[k];
        if (!one.rule || one.rule->needs & NEED_WORKERS) continue;
        /* Silent where the stages of a pipeline are known, which one trace does not show. */
        if (one.rule->holds == advice_communication_exposed && advice_is_split(f)) continue;
        TRY(evidence_read(row->evidence, f->arena, &one.evidence, err));
        one.advice.words = one.evidence.words;
        one.advice.severity = one.evidence.words.severity;
        one.advice.name = one.evidence.name;
        one.advice.saves = saving_of(row);
        insert(found, n, &one);
    }
    return OK;
}

/* ---- writing ----------------------------------------------------------------------------- */

/* A remedy is not the same everywhere: words for compiled graphs, and for all but PyTorch. */
typedef struct {
    uint16_t usual, other;
} other_words;

static const other_words graph_words[] = {
    {MSG_ADVICE_COMMUNICATION_EXPOSED_SUGGEST, MSG_ADVICE_COMMUNICATION_GRAPH_SUGGEST},
    {MSG_ADVICE_SMALL_KERNELS_SUGGEST, MSG_ADVICE_SMALL_KERNELS_GRAPH_SUGGEST},
    {MSG_ADVICE_STEP_VARIANCE_SUGGEST, MSG_ADVICE_STEP_VARIANCE_GRAPH_SUGGEST},
    {MSG_ADVICE_FIRST_STEP_SUGGEST, MSG_ADVICE_FIRST_STEP_GRAPH_SUGGEST},
    {MSG_NONE, MSG_NONE},
};

#define ELSEWHERE(NAME) \
    { MSG_ADVICE_##NAME##_SUGGEST, MSG_ADVICE_##NAME##_OTHER_SUGGEST }
static const other_words general_words[] = {
    ELSEWHERE(DATA_LOADER_NO_WORKERS),
    ELSEWHERE(DATA_LOADER_SLOW),
    ELSEWHERE(DATA_LOADER_UNMARKED),
    ELSEWHERE(HOST_PAUSE),
    ELSEWHERE(HOST_LATE),
    ELSEWHERE(BLOCKING_SYNC),
    ELSEWHERE(ITEM_SYNC),
    ELSEWHERE(OPTIMIZER_NOT_FUSED),
    ELSEWHERE(FIRST_STEP),
    ELSEWHERE(PROFILER_OVERHEAD),
    ELSEWHERE(OCCUPANCY_LOW),
    ELSEWHERE(SMALL_KERNELS),
    ELSEWHERE(TENSOR_CORES_UNUSED),
    ELSEWHERE(FLOAT32_MATMUL),
    ELSEWHERE(LAYOUT_CONVERSION),
    ELSEWHERE(REPEATED_CALLS),
    ELSEWHERE(CPU_REPEATED_CALLS),
    ELSEWHERE(FORWARD_AGAIN),
    ELSEWHERE(ATTENTION_UNFUSED),
    ELSEWHERE(CHAIN_UNFUSED),
    ELSEWHERE(PAGEABLE_COPIES),
    ELSEWHERE(SYNCHRONOUS_COPIES),
    ELSEWHERE(COPIES_EXPOSED),
    ELSEWHERE(ALLOCATOR_CALLS),
    ELSEWHERE(MEMORY_NEAR_CAPACITY),
    ELSEWHERE(FRAGMENTATION),
    ELSEWHERE(COMMUNICATION_EXPOSED),
    {MSG_NONE, MSG_NONE},
};

/* The values that choose a clause of such a sentence. */
static const char *const DIALECT_CLAUSES[N_DIALECTS] = {[FOR_PADDLE] = "paddle",
                                                        [FOR_MEGENGINE] = "megengine",
                                                        [FOR_JAX] = "jax",
                                                        [FOR_TENSORFLOW] = "tensorflow"};

static uint16_t find_other(const other_words *list, uint16_t usual) {
    while (list->usual != MSG_NONE && list->usual != usual) list++;
    return list->other;
}

static bool has_other(const other_words *list, uint16_t message) {
    while (list->other != MSG_NONE && list->other != message) list++;
    return list->other != MSG_NONE;
}

static uint16_t suggestion_of(advice_dialect dialect, const advice_rule *r) {
    uint16_t graph = find_other(graph_words, r->suggestion),
             general = find_other(general_words, r->suggestion);
    if (dialect == FOR_GRAPHS && graph != MSG_NONE) return graph;
    return dialect != FOR_PYTORCH && general != MSG_NONE ? general : r->suggestion;
}

advice_dialect advice_dialect_of(const verdict *suggestion) {
    if (has_other(graph_words, suggestion->message)) return FOR_GRAPHS;
    if (!has_other(general_words, suggestion->message)) return FOR_PYTORCH;
    for (int d = 0; d < N_DIALECTS; d++)
        for (uint32_t i = 0; i < suggestion->n_args && DIALECT_CLAUSES[d]; i++)
            if (strcmp(suggestion->args[i].name, DIALECT_CLAUSES[d]) == 0)
                return (advice_dialect)d;
    return FOR_OTHERS;
}

static verdict sentence(const finding *one, uint16_t message) {
    verdict v = one->advice.words;
    v.id = one->rule->id;
    v.message = message;
    v.severity = one->advice.severity;
    return v;
}

/* What happens in every step is looked at in the longest one. */
static interval longest_step(const advice_facts *f) {
    step_span longest = {0};
    for (uint32_t i = 0; i < f->steps.n; i++)
        if (step_span_ns(&f->steps.v[i]) > step_span_ns(&longest)) longest = f->steps.v[i];
    return (interval){longest.start, longest.end};
}

/* The number of the step that holds a moment, ABSENT_I64 when none is marked. */
static int64_t step_number_at(const advice_facts *f, int64_t ns) {
    for (uint32_t i = 0; f->steps.marked && i < f->steps.n; i++)
        if (ns >= f->steps.v[i].start && ns < f->steps.v[i].end) return f->steps.v[i].number;
    return ABSENT_I64;
}

static status write_event(table *t, const advice_facts *f, const char *id,
                          const advice_event *e, error *err) {
    size_t row;
    int64_t step = step_number_at(f, e->range.start);
    TRY(table_add_row(t, &row, err));
    table_set_text(t, row, COL_E(advice), str_of(id));
    if (e->slice) {
        table_set_int(t, row, COL_E(slice), e->slice);
        table_set_text(t, row, COL_E(name), trace_slice_name(f->t, e->slice));
    }
    table_set_text(t, row, COL_E(kind),
                   e->is_gap || !e->slice ? STR("gap") : kind_name(f->t->slice.kind[e->slice]));
    if (step != ABSENT_I64) table_set_int(t, row, COL_E(step), step);
    table_set_int(t, row, COL_E(from), sub_i64(e->range.start, f->t->start_ns));
    table_set_int(t, row, COL_E(to), sub_i64(e->range.end, f->t->start_ns));
    table_set_int(t, row, COL_E(cost), e->cost_ns);
    return OK;
}

/* The evidence of each finding, in the order of the findings. */
static status write_events(const advice_facts *f, const finding *found, uint32_t n, answer *out,
                           error *err) {
    table *t = answer_table(out, f->arena, "events");
    if (!t) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < n && !f->run; i++)
        for (uint32_t k = 0; k < found[i].advice.events.n; k++)
            TRY(write_event(t, f, found[i].rule->id, &found[i].advice.events.v[k], err));
    return OK;
}

static void set_place(table *t, size_t row, const advice_facts *f, interval place) {
    if (place.end <= place.start) place = longest_step(f);
    if (place.end <= place.start) return;
    table_set_int(t, row, COL_A(from), sub_i64(place.start, f->t->start_ns));
    table_set_int(t, row, COL_A(to), sub_i64(place.end, f->t->start_ns));
    int64_t step = step_number_at(f, place.start);
    if (step != ABSENT_I64) table_set_int(t, row, COL_A(step), step);
}

static void set_kept(table *t, size_t row, const finding *one) {
    const advice_evidence *e = &one->evidence;
    if (e->from != ABSENT_I64) table_set_int(t, row, COL_A(from), e->from);
    if (e->to != ABSENT_I64) table_set_int(t, row, COL_A(to), e->to);
    if (e->step != ABSENT_I64) table_set_int(t, row, COL_A(step), e->step);
    table_set_int(t, row, COL_A(workers), one->kept->workers);
    table_set_text(t, row, COL_A(worker), one->kept->worst_worker);
}

/* NULL: there is none. */
static const arg *find_value(const verdict *v, const char *name) {
    for (uint32_t i = 0; i < v->n_args; i++)
        if (strcmp(v->args[i].name, name) == 0) return &v->args[i];
    return NULL;
}

static bool has_value(const verdict *v, const char *name) {
    return find_value(v, name) != NULL;
}

/* How the saving was found. */
static uint16_t basis_of(const finding *one) {
    const advice *a = &one->advice;
    if (one->kept || !a->summed) return one->rule->basis;
    /* A replay that leaves the sum as it is was no better reason than the rule's own. */
    return a->replayed != a->summed ? MSG_ADVICE_REPLAYED_BASIS : one->rule->basis;
}

/* What the saving is a share of is among the words of a finding that a summary has kept. */
static double shown_share(const advice_facts *f, const finding *one) {
    const verdict *words = &one->advice.words;
    for (uint32_t i = 0; i < words->n_args && one->kept; i++)
        if (strcmp(words->args[i].name, "unprofiled") == 0 && words->args[i].u.i > 0)
            return (double)one->advice.saves / (double)words->args[i].u.i;
    return advice_saved_share(f, one->advice.saves);
}

/* Names the line of the program first, where most of the evidence is in one. */
static status name_lines(const advice_facts *f, finding *found, uint32_t n, error *err) {
    line_view lines;
    if (f->run || !n) return OK;
    TRY(trace_require(f->t, LINE_TABLES, err));
    TRY(line_view_init(&lines, f->t, f->arena, err));
    for (uint32_t i = 0; i < n; i++) {
        uint32_t site;
        TRY(advice_line_find(&lines, &found[i].advice.events, &site, err));
        str line = site ? line_short(f->t, site, f->arena) : STR_NONE;
        if (site && !line.p) FAIL_MEMORY(err);
        if (!site || has_value(&found[i].advice.words, "line")) continue;
        str code = line_code(f->t, site, f->arena);
        verdict_add(&found[i].advice.words, arg_text("line", line));
        if (code.n) verdict_add(&found[i].advice.words, arg_text("code", code));
    }
    return OK;
}

static status write_finding(table *t, const advice_facts *f, const finding *one, error *err) {
    advice_dialect dialect = one->kept ? one->evidence.dialect : f->dialect;
    uint16_t suggestion = suggestion_of(dialect, one->rule), usual = suggestion;
    if (one->rule->holds == advice_host_late && has_value(&one->advice.words, "replays"))
        suggestion = MSG_ADVICE_HOST_LATE_REPLAY_SUGGEST;
    if (one->rule->holds == advice_host_late && has_value(&one->advice.words, "compiles"))
        suggestion = MSG_ADVICE_HOST_LATE_COMPILE_SUGGEST;
    if (one->rule->holds == advice_host_late && has_value(&one->advice.words, "operator"))
        suggestion = MSG_ADVICE_HOST_LATE_OPERATOR_SUGGEST;
    const uint16_t messages[] = {one->rule->title, one->rule->evidence, suggestion,
                                 basis_of(one)};
    const uint32_t columns[] = {COL_A(title), COL_A(evidence), COL_A(suggestion), COL_A(basis)};
    verdict *words = ARENA_ARRAY(f->arena, verdict, 4);
    size_t row;
    if (!words) FAIL_MEMORY(err);
    TRY(table_add_row(t, &row, err));
    for (int i = 0; i < 4; i++) {
        words[i] = sentence(one, messages[i]);
        table_set_sentence(t, row, columns[i], &words[i]);
    }
    if (messages[3] != one->rule->basis)
        verdict_add(&words[3], arg_time("summed", one->advice.summed));
    if (DIALECT_CLAUSES[dialect]) verdict_add(&words[2], arg_int(DIALECT_CLAUSES[dialect], 1));
    table_set_sentence(t, row, COL_A(values), &words[0]);
    str code = STR_NONE;
    if (suggestion == usual)
        TRY(advice_code(one->rule->id, dialect, &words[0], f->arena, &code, err));
    if (code.n) table_set_text(t, row, COL_A(code), code);
    table_set_text(t, row, COL_A(id), str_of(one->rule->id));
    table_set_text(t, row, COL_A(severity), str_of(severity_name(one->advice.severity)));
    if (one->advice.saves != ABSENT_I64) {
        table_set_int(t, row, COL_A(saves), advice_shown_ns(f, one->advice.saves));
        table_set_real(t, row, COL_A(share), shown_share(f, one));
    }
    if (one->advice.name.n) table_set_text(t, row, COL_A(name), one->advice.name);
    const arg *line = find_value(&one->advice.words, "line");
    if (line) table_set_text(t, row, COL_A(line), line->u.text);
    if (one->advice.events.n && one->advice.events.v[0].slice)
        table_set_int(t, row, COL_A(slice), one->advice.events.v[0].slice);
    if (one->included_in) table_set_text(t, row, COL_A(included_in), str_of(one->included_in));
    if (one->kept)
        set_kept(t, row, one);
    else
        set_place(t, row, f, one->advice.place);
    return OK;
}

/* ---- what could not be asked ------------------------------------------------------------- */

static const struct {
    uint32_t need;
    uint16_t message;
} needs[] = {
    {NEED_DEVICE, MSG_NOTE_ADVICE_DEVICE}, {NEED_SHAPES, MSG_NOTE_ADVICE_SHAPES},
    {NEED_BLOCKS, MSG_NOTE_ADVICE_BLOCKS}, {NEED_OCCUPANCY, MSG_NOTE_ADVICE_OCCUPANCY},
    {NEED_MEMORY, MSG_NOTE_ADVICE_MEMORY}, {NEED_CAPACITY, MSG_NOTE_ADVICE_CAPACITY},
    {NEED_STEPS, MSG_NOTE_ADVICE_STEPS},   {NEED_WORKERS, MSG_NOTE_ADVICE_WORKERS},
};

/* What a program that computes on the CPU has none of, and so cannot lack. */
#define OF_DEVICE (NEED_DEVICE | NEED_BLOCKS | NEED_OCCUPANCY | NEED_MEMORY | NEED_CAPACITY)

/* The first thing a rule lacks, 0 when it has all, or is not for such a program. */
static uint32_t first_lack(const advice_facts *f, const advice_rule *r) {
    if (f->has & NEED_CPU && r->needs & OF_DEVICE) return 0;
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (r->needs & ~f->has & needs[i].need) return needs[i].need;
    return 0;
}

/* Launches without any work of the device: it was asked for, and its records were lost. */
static status count_launches(const advice_facts *f, int64_t *launches, error *err) {
    lost_work w = {0};
    if (!f->run && !(f->has & NEED_DEVICE)) TRY(lost_work_count(f->t, f->arena, &w, err));
    *launches = w.launches;
    return OK;
}

static status note_lacks(const advice_facts *f, answer *out, error *err) {
    int64_t launches;
    if (trace_has(f->t, OTHER_TRACES) || is_memory_only(f)) return OK;
    TRY(count_launches(f, &launches, err));
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        buf names = {0};
        /* A run of one process has no other workers that could be looked at. */
        if (needs[i].need == NEED_WORKERS && !f->collective.n) continue;
        for (int k = 0; k < N_RULES; k++) {
            if (first_lack(f, &rules[k]) != needs[i].need) continue;
            if (names.n) buf_add_cstr(&names, ", ");
            buf_add_cstr(&names, rules[k].id);
        }
        str list = names.n && buf_ok(&names) ? arena_str(f->arena, buf_str(&names)) : STR_NONE;
        bool failed = !buf_ok(&names) || (names.n && !list.p);
        buf_fini(&names);
        if (failed) FAIL_MEMORY(err);
        if (!list.n) continue;
        verdict note = {.id = "not_checked",
                        .message = needs[i].message,
                        .severity = SEVERITY_INFO,
                        .n_args = 1,
                        .args = {arg_text("rules", list)}};
        if (needs[i].need == NEED_DEVICE && launches) {
            note.message = MSG_NOTE_ADVICE_DEVICE_LOST;
            verdict_add(&note, arg_int("launches", launches));
        } else if (!f->run) {
            verdict_add_recorder(&note, f->t);
        }
        TRY(answer_note(out, f->arena, &note, err));
    }
    return OK;
}

uint32_t advice_lacks(const answer *a) {
    uint32_t missing = 0;
    for (uint32_t i = 0; i < a->quality.n_notes; i++) {
        uint16_t message = a->quality.notes[i].message;
        if (message == MSG_NOTE_ADVICE_DEVICE_LOST) missing |= NEED_DEVICE;
        for (size_t k = 0; k < sizeof needs / sizeof *needs; k++)
            if (message == needs[k].message) missing |= needs[k].need;
    }
    return missing;
}

/* Of summaries: what every worker recorded is there. */
static status find_facts(const analysis_input *in, const params *p,
                         const advice_workers *workers, arena *a, advice_facts *f, error *err) {
    if (!workers->run) return advice_facts_find(in, p, workers, a, f, err);
    TRY(advice_facts_of_run(in, p, workers, a, f, err));
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (needs[i].need != NEED_WORKERS) f->has |= needs[i].need;
    for (uint32_t i = 0; i < SUMMARY_N(f->run, lack); i++)
        f->has &= ~(uint32_t)(SUMMARY_ROWS(f->run, lack)[i].need & ~(int64_t)NEED_WORKERS);
    return OK;
}

/* Kept advice is of whole recordings. */
static status note_whole(const advice_facts *f, bool is_part, answer *out, error *err) {
    verdict note = {
        .id = "whole_recording", .message = MSG_NOTE_ADVICE_WHOLE, .severity = SEVERITY_INFO};
    if (!f->run || !is_part) return OK;
    return answer_note(out, f->arena, &note, err);
}

/* Everything the rows and verdicts come from. */
typedef struct {
    advice_facts facts;
    finding *found; /* what costs most first */
    uint32_t n;
    verdict decided; /* without an id when no damage and nothing missing decides */
} findings;

/* A profiler that takes more than all else comes first. */
static void put_first(findings *v, const char *id) {
    for (uint32_t i = 1; i < v->n; i++) {
        if (strcmp(v->found[i].rule->id, id) != 0) continue;
        finding one = v->found[i];
        one.advice.severity = v->decided.severity;
        for (; i > 0; i--) v->found[i] = v->found[i - 1];
        v->found[0] = one;
        return;
    }
}

/* A recording that lacks too much keeps the advice that needs no idle time. */
static void keep_sure(findings *v) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < v->n; i++)
        if (advice_is_sure(v->found[i].rule->claim)) v->found[kept++] = v->found[i];
    v->n = kept;
}

static status find_decided(const advice_facts *f, findings *v, error *err) {
    const finding *first = v->n && v->found[0].advice.saves > 0 ? v->found : NULL;
    advice_claim claim = {0};
    if (v->decided.id) return OK;
    if (first)
        claim =
            (advice_claim){first->rule->id, first->rule->claim, &v->found[0].advice, NULL, {0}};
    bool incomplete;
    lost_work lost = {.all = false};
    TRY(advice_decide(f, first ? &claim : NULL, &v->decided, &incomplete, err));
    if (!f->run && f->has & NEED_DEVICE) TRY(lost_work_count(f->t, f->arena, &lost, err));
    if (incomplete || lost.all) keep_sure(v);
    if (v->decided.id) put_first(v, v->decided.id);
    return OK;
}

static status find_all(const analysis_input *in, const params *p, const advice_workers *workers,
                       arena *a, findings *v, error *err) {
    advice_facts *f = &v->facts;
    bool cut = false;
    v->found = ARENA_ARRAY(a, finding, 2 * N_RULES);
    if (!v->found) FAIL_MEMORY(err);
    TRY(find_facts(in, p, workers, a, f, err));
    TRY(advice_unprofiled_find(f, err));
    v->n = ask_rules(f, v->found);
    if (!f->run) TRY(quality_cut(f->t, &cut, &v->decided, err));
    /* Without the device's half nothing is known about what the host costs. */
    if (cut && !(f->has & NEED_DEVICE)) v->n = 0;
    if (trace_has(in->traces[0].trace, TRAIT_ONLY_COLLECTIVES)) {
        v->n = 0; /* when a job hangs, what would make it faster does not matter */
        v->decided = (verdict){.id = "only_collectives",
                               .message = MSG_VERDICT_ONLY_COLLECTIVES,
                               .severity = SEVERITY_INFO};
        return OK;
    }
    if (trace_has(in->traces[0].trace, OTHER_TRACES))
        return other_traces_judge(in->traces[0].trace, a, &v->decided, err);
    if (!f->run) TRY(trace_require(f->t, PARTIAL_TABLES, err));
    if (!f->run && !v->decided.id && partial_recording_judge(f->t, &v->decided)) {
        v->n = 0; /* what its numbers would save is unknown */
        return OK;
    }
    if (!f->run && !v->decided.id && cold_start_judge(f->t, &f->steps.cold, &v->decided)) {
        v->n = 0; /* a warm program has none of this, and little else was recorded */
        return OK;
    }
    TRY(replay(f, v->found, &v->n, err));
    if (f->run) TRY(take_kept(f, v->found, &v->n, err));
    TRY(settle(f, v->found, &v->n, err));
    return find_decided(f, v, err);
}

/* The operator that a sentence names: without a device the CPU computes in it. Less than a
 * twentieth of the step tells nothing. */
static host_operator named_operator(const advice_facts *f) {
    if (f->run || f->has & NEED_DEVICE) return (host_operator){0};
    host_operator range = advice_largest_range(f);
    return range.name.n ? range
                        : advice_largest_operator(f, advice_ns(0.05 * (double)f->step_ns));
}

static void say_operator(const advice_facts *f, verdict *out) {
    host_operator most = named_operator(f);
    if (!most.name.n || most.of_all > 0) return;
    verdict_add(out, arg_text("op", most.name));
    verdict_add(out, arg_share("op_share", advice_share(f, most.ns)));
}

/* For a trace; a verdict about the recording comes before it. */
static step_limit limit_of(const findings *v) {
    const advice_facts *f = &v->facts;
    if (f->run || v->decided.id) return (step_limit){LIMIT_UNKNOWN, 0};
    return step_limit_of(f->t, &f->steps, &f->idle);
}

/* Less is not worth the headline. */
#define CAUSE_SHARE 0.05

status advice_cause_find(const analysis_input *in, const params *p,
                         const advice_workers *workers, arena *a, advice_cause *out,
                         error *err) {
    findings v = {0};
    *out = (advice_cause){.id = NULL};
    TRY(find_all(in, p, workers, a, &v, err));
    out->decided = v.decided;
    out->limit = limit_of(&v);
    out->bare = v.facts.bare;
    out->uses = v.facts.uses;
    out->bare_idle = fmax(0, 1 - advice_saved_share(&v.facts, v.facts.busy_ns));
    out->host = named_operator(&v.facts);
    if (!v.n) return OK;
    const finding *first = &v.found[0];
    out->evidence = sentence(first, first->rule->evidence);
    if (first->advice.saves == ABSENT_I64 ||
        advice_saved_share(&v.facts, first->advice.saves) < CAUSE_SHARE)
        return OK;
    out->id = first->rule->id;
    out->title = first->rule->title;
    out->claim = first->rule->claim;
    out->severity = first->advice.severity;
    out->share = shown_share(&v.facts, first);
    out->words = first->advice.words;
    return OK;
}

/* Most rules are about device work: without it, to have found nothing says little. */
static void say_unchecked(const advice_facts *f, verdict *out) {
    int64_t unchecked = 0, n_rules = 0;
    for (int i = 0; i < N_RULES; i++) {
        unchecked += first_lack(f, &rules[i]) != 0;
        n_rules += !(rules[i].needs & (NEED_REQUESTS | NEED_CPU));
    }
    *out = (verdict){.id = "little_checked",
                     .message = MSG_VERDICT_ADVISE_UNCHECKED,
                     .severity = SEVERITY_INFO};
    verdict_add(out, arg_int("unchecked", unchecked));
    verdict_add(out, arg_int("rules", n_rules));
    say_operator(f, out);
    if (!verdict_value(out, "op")) return;
    verdict_add(out, arg_time("step_time", f->step_ns));
    step_spans_say(&f->steps, f->step_ns, out);
}

/* A device that is idle for so much of the steps has a reason, known or not. */
#define MUCH_IDLE 0.3

static bool is_unexplained(const advice_facts *f, verdict *out) {
    double idle = 1 - advice_share(f, f->busy_ns);
    if (f->run || !(f->has & NEED_DEVICE) || f->step_ns <= 0 || idle < MUCH_IDLE) return false;
    *out = (verdict){.id = "idle_unexplained",
                     .message = MSG_VERDICT_ADVISE_UNEXPLAINED,
                     .severity = SEVERITY_WARNING};
    verdict_add(out, arg_text("device", device_noun(f->t)));
    verdict_add(out, arg_share("idle_share", idle));
    verdict_add(out, arg_time("step_time", f->step_ns));
    if (f->coverage.without_ops) verdict_add(out, arg_int("without_ops", 1));
    step_spans_say(&f->steps, f->step_ns, out);
    return true;
}

/* Does what was found cost too little to be the reason for so much idle time? */
static bool leaves_idle(const findings *v, verdict *out) {
    const advice *a = &v->found[0].advice;
    return a->saves != ABSENT_I64 && advice_saved_share(&v->facts, a->saves) < CAUSE_SHARE &&
           is_unexplained(&v->facts, out);
}

static void judge(const findings *v, answer *out) {
    if (v->decided.id) {
        out->verdict = v->decided;
    } else if (v->n && !leaves_idle(v, &out->verdict)) {
        out->verdict = sentence(&v->found[0], v->found[0].rule->evidence);
    } else if (v->n) {
        return;
    } else if (!(v->facts.has & (NEED_DEVICE | NEED_CPU)) && !is_memory_only(&v->facts)) {
        say_unchecked(&v->facts, &out->verdict);
    } else if (!is_unexplained(&v->facts, &out->verdict)) {
        out->verdict = (verdict){.id = "nothing_to_advise",
                                 .message = MSG_VERDICT_ADVISE_NONE,
                                 .severity = SEVERITY_GOOD};
        if (v->facts.step_ns > 0 && !is_memory_only(&v->facts)) {
            say_operator(&v->facts, &out->verdict);
            verdict_add(&out->verdict, arg_time("step_time", v->facts.step_ns));
            step_spans_say(&v->facts.steps, v->facts.step_ns, &out->verdict);
        }
    }
    step_limit limit = limit_of(v);
    step_limit_name(&limit, &out->verdict);
}

status advice_answer(const analysis_input *in, const params *p, const advice_workers *workers,
                     arena *a, answer *out, error *err) {
    findings v = {0};
    const advice_facts *f = &v.facts;
    TRY(answer_begin("advise", in, a, out, err));
    TRY(find_all(in, p, workers, a, &v, err));
    TRY(name_lines(f, v.found, v.n, err));
    table *t = answer_table(out, a, "advice");
    if (!t) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < v.n; i++) TRY(write_finding(t, f, &v.found[i], err));
    if (param_flag(p, STR("evidence"))) TRY(write_events(f, v.found, v.n, out, err));
    if (!f->run) { /* the last two: of all workers */
        table_drop_column(t, COL_A(worker));
        table_drop_column(t, COL_A(workers));
    }
    TRY(unprofiled_step_note(&f->bare, true, a, out, err));
    TRY(note_lacks(f, out, err));
    if (!f->run) TRY(host_coverage_note(f->t, &f->coverage, a, out, err));
    TRY(note_whole(f, workers->is_part, out, err));
    bool replaced = false;
    if (!f->run) TRY(lost_work_judge(f->t, a, out, &replaced, err));
    if (!replaced) judge(&v, out);
    answer_finish(out, p);
    return OK;
}
