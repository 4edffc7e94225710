/* cmd_prove.c: `tacho prove -- PROGRAM`: tries its own advice as an experiment.
 *
 * The program is recorded once, and `advise` says what to change and what that would save. Each
 * change that can be made from outside (prove_changes.def) then runs next to the plain program,
 * in turns: blocks of steps of one and of the other, alternately first, so that whatever else
 * the machine does slows down both. Changes that proved to save time run once more together.
 *
 * The program's files are not touched. Exit status 4: nothing saves time. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analyse/ask.h"
#include "analyse/rules.h"
#include "base/message_ids_cli.h"
#include "base/message_ids_columns.h"
#include "base/num.h"
#include "base/temporary.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/open.h"
#include "cli/prove_run.h"
#include "cli/record_run.h"
#include "cli/shape.h"

enum {
    RECORDED_STEPS = 8,
    USUAL_PAIRS = 9,
    MOST_BLOCK = 50,  /* steps */
    MOST_RESTARTS = 8 /* of a short program, which ends before all pairs are there */
};
#define BLOCK_NS 200000000 /* so long at least, if that is not too many steps */
#define USUAL_LIMIT_NS ((int64_t)600 * 1000000000)
#define SAME_LOSS 0.01 /* share by which the mean loss may differ */

typedef struct {
    const char *id;
    uint16_t title;
    const char *advice, *environment, *code;
} prove_change;

static const prove_change CHANGES[] = {
#define PROVE(id, NAME, advice, environment, code) \
    {#id, MSG_PROVE_##NAME, advice, environment, code},
#include "cli/prove_changes.def"
};
enum { N_CHANGES = sizeof CHANGES / sizeof *CHANGES };

/* What came of a change; the order is that of the answer's rows. */
typedef enum { PROVEN, OTHER_LOSS, UNSURE, NO_GAIN, SLOWER, FAILED, NOTHING_TO_CHANGE } outcome;
static const char *const OUTCOMES[] = {"proven", "other_loss", "unsure",           "no_gain",
                                       "slower", "failed",     "nothing_to_change"};

typedef struct {
    const prove_change *change; /* NULL: several at once */
    const char *ids;            /* for the program */
    str title, code;
    outcome how;
    prove_pairs pairs;
    prove_saving saving;
    double loss_change;
    char unit[16];
    str printed;     /* what a program that failed said last */
    uint32_t advice; /* row of the advice + 1 */
} trial;

typedef struct {
    options *o;
    arena *arena;
    prove_setup setup;
    opened_input x; /* the recording */
    answer advice;
    table *rows; /* of the advice */
    trial *trials;
    uint32_t n;
    uint8_t *tried;            /* by row of the advice */
    prove_losses first_losses; /* of the program as it is, when it ran first */
    double loss_noise;         /* how much they differ from run to run */
} prover;

/* ---- the recording ----------------------------------------------------------------------- */

static void say(const prover *p, uint16_t message, str what, int64_t n, int64_t of) {
    buf line = {0};
    if (p->o->quiet) return;
    text_put(&line, p->o->words, message, arg_text("what", what), arg_int("n", n),
             arg_int("of", of));
    if (buf_ok(&line)) cli_say(p->o, buf_str(&line));
    buf_fini(&line);
}

static status record(prover *p, const char *folder, error *err) {
    arena *a = p->arena;
    char exe[4096];
    ssize_t length = readlink("/proc/self/exe", exe, sizeof exe - 1);
    uint32_t n = 0;
    const char **argv = ARENA_ARRAY(a, const char *, (size_t)p->o->n_traces + 16);
    if (!argv) FAIL_MEMORY(err);
    exe[length > 0 ? length : 0] = 0;
    const char *words[] = {exe, "record", "--quiet", "--shapes", "-o", folder, "--"};
    for (size_t i = 0; i < N_OF(words); i++) argv[n++] = words[i];
    for (uint32_t i = 0; i < p->o->n_traces; i++) argv[n++] = p->o->traces[i];
    prove_setup setup = p->setup;
    setup.argv = (char *const *)(uintptr_t)argv; /* execvp wants it so and does not write */
    prove_program program;
    prove_block block;
    prove_losses losses = {0};
    say(p, MSG_PROVE_RECORDS, STR(""), 0, 0);
    TRY(prove_start(&setup, "", NULL, &program, err));
    bool warm = prove_warm(&program, &block, &losses);
    /* A program that ends sooner is recorded, too. `tacho record` ends the others at the signal
     * and writes the recording. */
    bool lives = warm && prove_go(&program, RECORDED_STEPS, &block, &losses);
    if (warm) (void)prove_wait(&program, lives);
    str last = warm ? STR_NONE : prove_last_line(&program, a);
    prove_end(&program);
    if (!warm) FAIL(err, ERR_NOT_FOUND, NOPOS, MSG_PROVE_NO_STEPS, arg_text("printed", last));
    return OK;
}

static status ask_advice(prover *p, const char *recording, error *err) {
    options o = *p->o;
    const char **traces = ARENA_ARRAY(p->arena, const char *, 1);
    if (!traces) FAIL_MEMORY(err);
    traces[0] = recording;
    o.traces = traces;
    o.n_traces = 1;
    o.quiet = true;
    o.command.analysis = registry_find(STR("advise"));
    o.command.name = o.command.analysis->name;
    TRY(open_traces(&o, &p->x, err));
    params asked = options_params(&o, p->x.pool);
    TRY(analysis_ask(o.command.analysis, &p->x.input, &asked, &p->x.arena, &p->advice, err));
    TRY(present_resolve(&p->advice, o.words, err));
    p->rows = p->advice.tables[0];
    p->tried = ARENA_ARRAY(p->arena, uint8_t, p->rows->n_rows + 1);
    if (!p->tried) FAIL_MEMORY(err);
    return OK;
}

static str cell(const prover *p, size_t row, const char *name) {
    uint32_t at = table_column(p->rows, str_of(name));
    return at == UINT32_MAX || table_is_null(p->rows, row, at) ? STR_NONE
                                                               : p->rows->columns[at].v.s[row];
}

/* ---- which changes ----------------------------------------------------------------------- */

/* Is it one of the words? */
static bool has_word(const char *words, str word) {
    for (const char *at = words; *at;) {
        size_t n = strcspn(at, " ,");
        if (str_eq(str_n(at, n), word)) return true;
        at += n + (at[n] != 0);
    }
    return false;
}

/* The first piece of advice that suggests it: row + 1. */
static uint32_t suggested_by(const prover *p, const prove_change *c) {
    for (size_t row = 0; row < p->rows->n_rows; row++)
        if (has_word(c->advice, cell(p, row, "id"))) return (uint32_t)row + 1;
    return 0;
}

static status add_trial(prover *p, const prove_change *c, uint32_t advice, error *err) {
    str title = arena_str(p->arena, str_of(text_get(c->title, p->o->words)));
    if (!title.p) FAIL_MEMORY(err);
    p->trials[p->n++] = (trial){
        .change = c, .ids = c->id, .title = title, .code = str_of(c->code), .advice = advice};
    return OK;
}

static status check_names(const options *o, error *err) {
    char list[2048];
    if (!o->prove_try.p || o->prove_try.n >= sizeof list) return OK;
    memcpy(list, o->prove_try.p, o->prove_try.n);
    list[o->prove_try.n] = 0;
    for (char *at = list; *at;) {
        size_t n = strcspn(at, ",");
        bool known = str_eq(str_n(at, n), STR("all"));
        for (int i = 0; i < N_CHANGES; i++)
            known |= str_eq(str_n(at, n), str_of(CHANGES[i].id));
        if (!known)
            FAIL(err, ERR_ARG, NOPOS, MSG_PROVE_UNKNOWN, arg_text("value", str_n(at, n)));
        at += n + (at[n] != 0);
    }
    return OK;
}

/* Those that the user names; else those that are advised, the largest saving first, and those
 * that no advice could suggest. */
static status choose(prover *p, error *err) {
    const options *o = p->o;
    bool all = o->prove_try.p && str_eq(o->prove_try, STR("all"));
    p->trials = ARENA_ARRAY(p->arena, trial, N_CHANGES + 1);
    if (!p->trials) FAIL_MEMORY(err);
    for (size_t row = 0; row <= p->rows->n_rows; row++)
        for (int i = 0; i < N_CHANGES; i++) {
            const prove_change *c = &CHANGES[i];
            uint32_t by = suggested_by(p, c);
            bool is_its_turn = by ? by == row + 1 : row == p->rows->n_rows;
            bool named = all || (o->prove_try.p && o->prove_try.n < 2048 &&
                                 has_word(arena_str(p->arena, o->prove_try).p, str_of(c->id)));
            bool wanted = o->prove_try.p ? named : by || has_word(c->advice, STR("*"));
            if (is_its_turn && wanted) TRY(add_trial(p, c, by, err));
        }
    return OK;
}

/* ---- one experiment ---------------------------------------------------------------------- */

typedef struct {
    prover *p;
    trial *t;
    const char *environment;
    prove_program plain, changed;
    prove_losses plain_losses, changed_losses;
    uint32_t steps; /* of a block */
} experiment;

static uint32_t steps_of_block(int64_t step_ns) {
    if (step_ns <= 0) return 1;
    int64_t n = BLOCK_NS / step_ns;
    return (uint32_t)(n < 1 ? 1 : n > MOST_BLOCK ? MOST_BLOCK : n);
}

/* Starts one and lets it warm up, while the other one is stopped. */
static bool start(experiment *e, bool changed, prove_block *block, error *err) {
    prove_program *of = changed ? &e->changed : &e->plain;
    prove_losses *losses = changed ? &e->changed_losses : &e->plain_losses;
    losses->n = 0;
    if (prove_start(&e->p->setup, changed ? e->t->ids : "", changed ? e->environment : NULL, of,
                    err) != OK)
        return false;
    return prove_warm(of, block, losses);
}

static bool begin(experiment *e, prove_block *changed, error *err) {
    prove_block plain;
    return start(e, true, changed, err) && changed->applied > 0 && start(e, false, &plain, err);
}

static void end(experiment *e) {
    prove_end(&e->plain);
    prove_end(&e->changed);
}

/* A block of each; who is first changes. */
static bool run_pair(experiment *e, bool changed_first) {
    prove_block plain, changed;
    trial *t = e->t;
    for (int i = 0; i < 2; i++) {
        bool is_changed = changed_first == (i == 0);
        if (is_changed && !prove_go(&e->changed, e->steps, &changed, &e->changed_losses))
            return false;
        if (!is_changed && !prove_go(&e->plain, e->steps, &plain, &e->plain_losses))
            return false;
    }
    if (strcmp(plain.unit, changed.unit) != 0) return false;
    if (strcmp(t->unit, plain.unit) != 0) t->pairs.n = 0; /* they were calls before a step */
    snprintf(t->unit, sizeof t->unit, "%s", plain.unit);
    t->pairs.first_ns[t->pairs.n] = plain.ns / e->steps;
    t->pairs.second_ns[t->pairs.n++] = changed.ns / e->steps;
    return true;
}

/* How long a step takes decides how many are a block. */
static bool try_step(experiment *e) {
    prove_block plain;
    if (!prove_go(&e->plain, 1, &plain, &e->plain_losses)) return false;
    e->steps = steps_of_block(plain.ns);
    return true;
}

static void keep_losses(experiment *e) {
    prover *p = e->p;
    e->t->loss_change = prove_loss_change(&e->plain_losses, &e->changed_losses);
    if (!p->first_losses.n) {
        p->first_losses = e->plain_losses;
        return;
    }
    double noise = prove_loss_change(&p->first_losses, &e->plain_losses);
    if (noise > p->loss_noise) p->loss_noise = noise;
}

/* A program that ends too soon begins again, until there are enough pairs. */
static void run_pairs(experiment *e, uint32_t wanted, error *err) {
    trial *t = e->t;
    bool known = false, lives = true;
    for (int i = 0; i <= MOST_RESTARTS && t->pairs.n < wanted && !prove_is_cancelled(); i++) {
        prove_block warm;
        uint32_t before = t->pairs.n;
        lives = begin(e, &warm, err);
        if (lives && !known) known = lives = try_step(e);
        while (lives && t->pairs.n < wanted) lives = run_pair(e, t->pairs.n % 2 == 1);
        if (!isnan(prove_loss_change(&e->plain_losses, &e->changed_losses))) keep_losses(e);
        bool nothing = !lives && e->changed.talks >= 0 && e->plain.pid == 0;
        if (!t->pairs.n && !nothing) t->printed = prove_last_line(&e->changed, e->p->arena);
        end(e);
        if (nothing && t->pairs.n == 0) t->how = NOTHING_TO_CHANGE;
        if (t->pairs.n == before && known && e->steps > 1)
            e->steps = 1; /* it is too short for more */
        else if (t->pairs.n == before)
            return;
    }
}

static outcome judge(const prover *p, const trial *t) {
    const prove_saving *s = &t->saving;
    double same = SAME_LOSS > 2 * p->loss_noise ? SAME_LOSS : 2 * p->loss_noise;
    if (t->how == NOTHING_TO_CHANGE) return t->how;
    if (!t->pairs.n) return FAILED;
    if (!s->sure) return UNSURE;
    if (s->high < 0) return SLOWER;
    if (s->low <= 0) return NO_GAIN;
    return !isnan(t->loss_change) && t->loss_change > same ? OTHER_LOSS : PROVEN;
}

static void try_change(prover *p, trial *t, error *err) {
    experiment *e = ARENA_ARRAY(p->arena, experiment, 1);
    uint32_t wanted =
        p->o->prove_pairs == ABSENT_I64 ? USUAL_PAIRS : (uint32_t)p->o->prove_pairs;
    if (!e) return;
    e->p = p;
    e->t = t;
    e->plain.waits = e->plain.talks = e->changed.waits = e->changed.talks = -1;
    e->environment = t->change && t->change->environment[0] ? t->change->environment : NULL;
    t->loss_change = NAN;
    run_pairs(e, wanted, err);
    t->saving = prove_saving_of(&t->pairs);
    t->how = judge(p, t);
    if (t->how == PROVEN && t->advice) p->tried[t->advice - 1] = 1;
}

/* ---- all of them ------------------------------------------------------------------------- */

/* Those that are proven and need nothing before the program begins. */
static status add_together(prover *p, error *err) {
    buf ids = {0};
    int64_t n = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        const trial *t = &p->trials[i];
        if (t->how != PROVEN || t->change->environment[0]) continue;
        if (n++) buf_add_byte(&ids, ',');
        buf_add_cstr(&ids, t->ids);
    }
    str list = n > 1 && buf_ok(&ids) ? arena_str(p->arena, buf_str(&ids)) : STR_NONE;
    buf_fini(&ids);
    if (n < 2) return OK;
    if (!list.p) FAIL_MEMORY(err);
    p->trials[p->n++] =
        (trial){.ids = list.p, .title = str_of(text_get(MSG_PROVE_TOGETHER, p->o->words))};
    return OK;
}

static status try_all(prover *p, error *err) {
    uint32_t n = p->n;
    for (uint32_t i = 0; i < n && !prove_is_cancelled(); i++) {
        say(p, MSG_PROVE_TRIES, str_of(p->trials[i].ids), i + 1, n);
        try_change(p, &p->trials[i], err);
    }
    TRY(add_together(p, err));
    if (p->n > n && !prove_is_cancelled()) {
        say(p, MSG_PROVE_TRIES, str_of(p->trials[n].ids), n + 1, n + 1);
        try_change(p, &p->trials[n], err);
    }
    if (prove_is_cancelled()) FAIL0(err, ERR_CANCELLED, NOPOS, MSG_PROVE_CANCELLED);
    return OK;
}

/* ---- the answer -------------------------------------------------------------------------- */

enum {
    C_CHANGE,
    C_TITLE,
    C_RESULT,
    C_ADVICE,
    C_PROMISED,
    C_MEASURED,
    C_LOW,
    C_HIGH,
    C_STEP,
    C_PAIRS,
    C_LOSS,
    C_PRINTED,
    C_CODE
};
static const column_spec TRIED[] = {
    [C_CHANGE] = {"change", TYPE_TEXT, UNIT_NONE, MSG_COL_PROVE_CHANGE},
    [C_TITLE] = {"title", TYPE_TEXT, UNIT_WORDS, MSG_COL_PROVE_TITLE},
    [C_RESULT] = {"result", TYPE_TEXT, UNIT_NONE, MSG_COL_PROVE_RESULT},
    [C_ADVICE] = {"advice", TYPE_TEXT, UNIT_NONE, MSG_COL_PROVE_ADVICE},
    [C_PROMISED] = {"promised", TYPE_REAL, UNIT_SHARE, MSG_COL_PROVE_PROMISED},
    [C_MEASURED] = {"measured", TYPE_REAL, UNIT_SHARE, MSG_COL_PROVE_MEASURED},
    [C_LOW] = {"low", TYPE_REAL, UNIT_SHARE, MSG_COL_PROVE_LOW},
    [C_HIGH] = {"high", TYPE_REAL, UNIT_SHARE, MSG_COL_PROVE_LOW},
    [C_STEP] = {"step", TYPE_INT, UNIT_NS, MSG_COL_PROVE_STEP},
    [C_PAIRS] = {"pairs", TYPE_INT, UNIT_COUNT, MSG_COL_PROVE_PAIRS},
    [C_LOSS] = {"loss_change", TYPE_REAL, UNIT_SHARE, MSG_COL_PROVE_LOSS},
    [C_PRINTED] = {"printed", TYPE_TEXT, UNIT_NONE, MSG_COL_PROVE_PRINTED},
    [C_CODE] = {"code", TYPE_TEXT, UNIT_NONE, MSG_COL_PROVE_CODE},
};

/* What is promised of a change: by the advice that suggests it. */
static double promised(const prover *p, const trial *t) {
    uint32_t share = table_column(p->rows, STR("share"));
    if (!t->advice || share == UINT32_MAX || table_is_null(p->rows, t->advice - 1, share))
        return NAN;
    return p->rows->columns[share].v.d[t->advice - 1];
}

static status put_trial(const prover *p, table *to, const trial *t, error *err) {
    size_t row;
    TRY(table_add_row(to, &row, err));
    table_set_text(to, row, C_CHANGE, str_of(t->ids));
    table_set_text(to, row, C_TITLE, t->title);
    table_set_text(to, row, C_RESULT, str_of(OUTCOMES[t->how]));
    if (t->advice) table_set_text(to, row, C_ADVICE, cell(p, t->advice - 1, "id"));
    table_set_real(to, row, C_PROMISED, promised(p, t));
    if (t->printed.n) table_set_text(to, row, C_PRINTED, t->printed);
    if (t->code.n) table_set_text(to, row, C_CODE, t->code);
    if (!t->pairs.n) return OK;
    table_set_real(to, row, C_MEASURED, t->saving.saved);
    table_set_real(to, row, C_LOW, t->saving.low);
    table_set_real(to, row, C_HIGH, t->saving.high);
    table_set_int(to, row, C_STEP, t->saving.first_ns);
    table_set_int(to, row, C_PAIRS, t->pairs.n);
    table_set_real(to, row, C_LOSS, t->loss_change);
    return OK;
}

/* By what came of it, then by what it saves. */
static bool is_before(const trial *x, const trial *y) {
    if (x->how != y->how) return x->how < y->how;
    return x->saving.saved > y->saving.saved;
}

static status put_trials(prover *p, answer *out, error *err) {
    table *t = table_new(p->arena, "changes", TRIED, N_OF(TRIED));
    uint32_t *order = ARENA_ARRAY(p->arena, uint32_t, (size_t)p->n + 1);
    if (!t || !order) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < p->n; i++) {
        uint32_t at = i;
        for (; at > 0 && is_before(&p->trials[i], &p->trials[order[at - 1]]); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    for (uint32_t i = 0; i < p->n; i++) TRY(put_trial(p, t, &p->trials[order[i]], err));
    static const uint32_t SHOWN[] = {C_CHANGE, C_RESULT, C_MEASURED, C_LOW,
                                     C_HIGH,   C_STEP,   C_PROMISED, C_LOSS};
    for (uint16_t i = 0; i < N_OF(SHOWN); i++) t->columns[SHOWN[i]].rank = (uint16_t)(i + 1);
    out->tables[out->n_tables++] = t;
    return OK;
}

/* Advice that needs the reader's hand: a patch to copy. */
static status put_rest(prover *p, answer *out, error *err) {
    static const char *const TAKEN[] = {"id",    "title",      "line", "saves",
                                        "share", "suggestion", "code"};
    uint32_t *kept = ARENA_ARRAY(p->arena, uint32_t, p->rows->n_rows + 1);
    size_t n = 0;
    if (!kept) FAIL_MEMORY(err);
    for (uint32_t row = 0; row < p->rows->n_rows; row++)
        if (!p->tried[row]) kept[n++] = row;
    table *t = p->rows;
    TRY(table_keep(t, kept, n, err));
    t->total_rows = n;
    t->name = "by_hand";
    for (uint32_t i = t->n_columns; i > 0; i--) {
        bool taken = false;
        for (size_t k = 0; k < N_OF(TAKEN); k++)
            taken |= strcmp(t->columns[i - 1].name, TAKEN[k]) == 0;
        if (!taken) table_drop_column(t, i - 1);
    }
    out->tables[out->n_tables++] = t;
    return OK;
}

/* The trial that saves most. */
static const trial *best_of(const prover *p) {
    const trial *best = NULL;
    for (uint32_t i = 0; i < p->n; i++) {
        const trial *t = &p->trials[i];
        if (t->how == PROVEN && (!best || t->saving.saved > best->saving.saved)) best = t;
    }
    return best;
}

static void conclude(const prover *p, answer *out) {
    const trial *t = best_of(p);
    verdict *v = &out->verdict;
    if (!t) {
        *v = (verdict){.id = "nothing_proven",
                       .message = MSG_VERDICT_PROVE_NOTHING,
                       .severity = SEVERITY_INFO};
        verdict_add(v, arg_int("count", p->n));
        return;
    }
    *v = (verdict){.id = "proven", .message = MSG_VERDICT_PROVEN, .severity = SEVERITY_GOOD};
    verdict_add(v, arg_text("change", str_of(t->ids)));
    verdict_add(v, arg_share("saved", t->saving.saved));
    verdict_add(v, arg_share("low", t->saving.low));
    verdict_add(v, arg_share("high", t->saving.high));
    verdict_add(v, arg_time("before", t->saving.first_ns));
    verdict_add(
        v, arg_time("after", real_i64((double)t->saving.first_ns * (1 - t->saving.saved))));
    if (!isnan(t->loss_change)) verdict_add(v, arg_share("loss", t->loss_change));
    if (strcmp(t->unit, "call") == 0) verdict_add(v, arg_int("call", 1));
}

static status prove(prover *p, const char *folder, output *out, error *err) {
    answer a;
    str recording = arena_printf(p->arena, "%s/recording", folder);
    if (!recording.p) FAIL_MEMORY(err);
    TRY(record(p, recording.p, err));
    TRY(ask_advice(p, recording.p, err));
    TRY(choose(p, err));
    TRY(try_all(p, err));
    TRY(answer_begin("prove", &p->x.input, p->arena, &a, err));
    a.source.path = STR_NONE; /* it is gone afterwards */
    TRY(put_trials(p, &a, err));
    TRY(put_rest(p, &a, err));
    conclude(p, &a);
    TRY(present_resolve(&a, p->o->words, err));
    TRY(shape_answer(&a, p->o, err));
    present_options present = cli_present(p->o, out);
    return present_answer(options_form(p->o), &a, &present, &out->buf, err);
}

static status prepare(prover *p, char *folder, int *held, error *err) {
    char **argv = ARENA_ARRAY(p->arena, char *, (size_t)p->o->n_traces + 1);
    if (!argv) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < p->o->n_traces; i++) {
        str word = arena_str(p->arena, str_of(p->o->traces[i]));
        if (!word.p) FAIL_MEMORY(err);
        argv[i] = (char *)(uintptr_t)word.p; /* execvp wants it so and does not write */
    }
    TRY(check_names(p->o, err));
    if (p->o->prove_pairs != ABSENT_I64 &&
        (p->o->prove_pairs < PAIRS_LEAST || p->o->prove_pairs > PAIRS_MOST))
        FAIL(err, ERR_ARG, NOPOS, MSG_PROVE_PAIRS, arg_int("least", PAIRS_LEAST),
             arg_int("most", PAIRS_MOST));
    *held = temporary_folder(folder);
    if (*held < 0)
        FAIL(err, ERR_IO, NOPOS, MSG_RECORD_FOLDER, arg_cstr("path", folder),
             arg_cstr("reason", strerror(errno)));
    p->setup = (prove_setup){.argv = argv,
                             .python = record_python(p->arena),
                             .folder = folder,
                             .limit_ns = p->o->prove_limit == ABSENT_I64 ? USUAL_LIMIT_NS
                                                                         : p->o->prove_limit};
    if (!p->setup.python) FAIL0(err, ERR_NOT_FOUND, NOPOS, MSG_PROVE_NO_PYTHON);
    return OK;
}

int cmd_prove(options *o) {
    error err = {0};
    arena a;
    char folder[] = "/tmp/tacho-prove-XXXXXX";
    int held = -1;
    output out = {.fd = STDOUT_FILENO, .name = text_get(MSG_CLI_STDOUT, o->words)};
    if (o->n_traces == 0) {
        (void)error_set(&err, ERR_ARG, NOPOS, MSG_PROVE_NO_PROGRAM, 0, NULL);
        return cli_complain(o, &err);
    }
    arena_init(&a, 0);
    prover *p = ARENA_ARRAY(&a, prover, 1);
    status s = p ? OK : error_set(&err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    if (s == OK) {
        p->o = o;
        p->arena = &a;
        s = prepare(p, folder, &held, &err);
    }
    if (s == OK) s = prove(p, folder, &out, &err);
    bool found = s == OK && best_of(p) != NULL;
    if (p && p->x.pool) open_end(&p->x, &err);
    int code = output_end(&out, o, s, &err);
    if (held >= 0) {
        temporary_remove(folder);
        close(held);
    }
    arena_fini(&a);
    return code == EXIT_DONE && !found ? EXIT_REGRESSION : code;
}
