/* cmd_baseline.c: `tacho baseline`: what is kept of a run to compare others with.
 *
 * All ranks of the run, in one small file (analyse/check/baseline.h), with the commit it was
 * made of and the time at which it was recorded, by which `history` orders such files. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "analyse/ask.h"
#include "analyse/check/baseline.h"
#include "analyse/check/measures.h"
#include "base/clock.h"
#include "base/message_ids_check.h"
#include "base/message_ids_cli.h"
#include "base/num.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/open.h"
#include "cli/output_path.h"

enum { COMMIT_BYTES = 128 };

/* ---- commit and time --------------------------------------------------------------------- */

static bool is_hash(str s) {
    for (size_t i = 0; i < s.n; i++)
        if (!strchr("0123456789abcdef", s.p[i]) || !s.p[i]) return false;
    return s.n >= 7;
}

/* What git says of the working folder; empty when there is no git or no repository. */
static str ask_git(char out[COMMIT_BYTES]) {
    FILE *git = popen("git rev-parse HEAD 2>/dev/null", "r"); /* NOLINT: nothing of the user */
    if (!git) return STR("");
    size_t n = fread(out, 1, COMMIT_BYTES - 1, git);
    pclose(git);
    str said = str_trim(str_n(out, n));
    return is_hash(said) ? said : STR("");
}

/* --commit, else what the CI says, else git. */
static str find_commit(const options *o, char scratch[COMMIT_BYTES]) {
    static const char *const variables[] = {"GITHUB_SHA", "CI_COMMIT_SHA"};
    if (o->commit.p) return o->commit;
    for (size_t i = 0; i < N_OF(variables); i++) {
        const char *value = getenv(variables[i]);
        if (value && *value) return str_of(value);
    }
    return ask_git(scratch);
}

/* When the first worker began, in Unix ns; now, where no clock of the day was recorded. */
static int64_t recorded_at(const summary *s) {
    int64_t first = ABSENT_I64;
    for (uint32_t i = 0; i < SUMMARY_N(s, worker); i++) {
        const summary_worker *w = &SUMMARY_ROWS(s, worker)[i];
        if (w->base == ABSENT_I64 || w->base <= 0) continue;
        int64_t start = add_i64(w->base, w->start);
        first = first == ABSENT_I64 ? start : min_i64(first, start);
    }
    if (first != ABSENT_I64) return first;
    return clock_ns(CLOCK_REALTIME);
}

static status add_origin(const options *o, summary *s, error *err) {
    char scratch[COMMIT_BYTES], digits[32];
    bool known = baseline_about(s, STR("time")).n != 0; /* a baseline of a baseline */
    if (o->commit.p || !baseline_about(s, STR("commit")).n)
        TRY(baseline_say(s, STR("commit"), find_commit(o, scratch), err));
    if (known) return OK;
    snprintf(digits, sizeof digits, "%lld", (long long)recorded_at(s));
    return baseline_say(s, STR("time"), str_of(digits), err);
}

/* ---- the command ------------------------------------------------------------------------- */

static void say_done(const options *o, const summary *s, int64_t steps) {
    buf line = {0};
    struct stat st = {0};
    const char *path = o->baseline_output.p;
    if (o->quiet) return;
    (void)stat(path, &st);
    str commit = baseline_about(s, STR("commit"));
    arg args[] = {arg_cstr("path", path), arg_int("workers", SUMMARY_N(s, worker)),
                  arg_int("steps", steps), arg_bytes("size", st.st_size),
                  arg_text("commit", commit)};
    text_format(&line, o->words, MSG_BASELINE_DONE, args, commit.n ? 5 : 4);
    if (buf_ok(&line)) fprintf(stderr, "%.*s\n", STR_ARG(buf_str(&line)));
    buf_fini(&line);
}

/* In a folder, such as one of `history`, there is one for each commit. */
static status choose_output(options *o, opened_input *x, const summary *s, error *err) {
    str commit = baseline_about(s, STR("commit")), given = o->baseline_output;
    if (given.p && output_is_folder(given) && is_hash(commit)) {
        str name = arena_printf(&x->arena, "%.*s.tacho", STR_ARG(commit));
        if (!name.p) FAIL_MEMORY(err);
        TRY(output_in_folder(&x->arena, given, name, &o->baseline_output, err));
    } else {
        TRY(output_choose(&x->arena, o, given, ".baseline.tacho", &o->baseline_output, err));
    }
    return cli_check_output(o, o->baseline_output, err);
}

static status write_baseline(options *o, opened_input *x, summary *s, bool *writing,
                             error *err) {
    measures m;
    TRY(measures_make(s, &x->arena, &m, err));
    if (!m.steps)
        FAIL(err, ERR_FORMAT, NOPOS, MSG_BASELINE_NO_STEPS,
             arg_text("path", x->input.traces[0].path));
    TRY(add_origin(o, s, err));
    *writing = true;
    TRY(choose_output(o, x, s, err));
    TRY(summary_write(s, o->baseline_output.p, STR_NONE, err));
    say_done(o, s, m.steps);
    return OK;
}

static status make_baseline(const options *given, opened_input *x, bool *writing, error *err) {
    options o = *given;
    summary *s;
    o.command.analysis = registry_find(STR("check")); /* opens what a check would open */
    TRY(open_traces(&o, x, err));
    params p = options_params(&o, x->pool);
    TRY(part_check(&x->input, &p, err));
    TRY(baseline_make(&x->input, &p, 0, &s, err));
    status st = write_baseline(&o, x, s, writing, err);
    summary_free(s);
    return st;
}

int cmd_baseline(options *o) {
    error err = {0};
    opened_input x = {.pool = NULL};
    bool writing = false;
    status st = make_baseline(o, &x, &writing, &err);
    open_end(&x, &err);
    int code = st == OK ? EXIT_DONE : cli_complain(o, &err);
    return writing && st == ERR_IO ? EXIT_RESOURCES : code;
}
