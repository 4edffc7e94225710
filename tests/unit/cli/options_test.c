/* options_test.c: the command line as values, and the message when it is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/options.h"

static arena memory;

static int make(void **state) {
    arena_init(&memory, 0);
    return 0;
}

static int unmake(void **state) {
    arena_fini(&memory);
    return 0;
}

/* Parses "COMMAND WORD WORD…". */
static status parse(const char *line, options *o, error *err) {
    char *words[32];
    int n = 0;
    str copy = arena_str(&memory, str_of(line));
    for (char *p = strtok((char *)(uintptr_t)copy.p, " "); p; p = strtok(NULL, " "))
        words[n++] = p;
    *o = (options){.words = LANG_EN};
    assert_true(command_find(str_of(words[0]), &o->command));
    return options_parse(&memory, n - 1, words + 1, o, err);
}

static void assert_refused(const char *line, const char *sentence) {
    options o;
    error err = {0};
    buf b = {0};
    assert_int_equal(parse(line, &o, &err), ERR_ARG);
    text_error(&b, LANG_EN, &err);
    buf_add_byte(&b, '\0');
    assert_string_equal(b.p, sentence);
    buf_fini(&b);
}

static void options_and_traces_mix(void **state) {
    options o;
    assert_int_equal(parse("kernels a.json --limit 5 --sort=mean:asc - --json -q", &o, NULL),
                     OK);
    assert_int_equal(o.n_traces, 2);
    assert_string_equal(o.traces[0], "a.json");
    assert_string_equal(o.traces[1], "-");
    assert_int_equal(o.question.limit, 5);
    assert_true(str_eq(o.question.sort, STR("mean:asc")));
    assert_int_equal(options_form(&o), FORM_JSON);
    assert_true(o.quiet);
    assert_false(o.strict);
}

static void what_is_not_given_is_absent(void **state) {
    options o;
    assert_int_equal(parse("operators", &o, NULL), OK);
    assert_int_equal(o.question.limit, ABSENT_I64);
    assert_true(window_is_open((time_window){o.question.from, o.question.to}));
    assert_true(steps_are_all(o.question.step));
    assert_null(o.question.search.p);
    assert_int_equal(options_form(&o), FORM_TEXT);
    assert_int_equal(options_params(&o, NULL).group, GROUP_NAME);
}

static void after_two_dashes_everything_is_a_trace(void **state) {
    options o;
    assert_int_equal(parse("info -- --json -x", &o, NULL), OK);
    assert_int_equal(o.n_traces, 2);
    assert_string_equal(o.traces[0], "--json");
    assert_false(o.json);
}

static void after_a_program_every_word_is_its_own(void **state) {
    options o;
    assert_int_equal(parse("record -o runs --steps 10..20 python3 -o x --lr 1", &o, NULL), OK);
    assert_true(str_eq(o.record_output, STR("runs")));
    assert_int_equal(o.steps.first, 10);
    assert_int_equal(o.steps.last, 20);
    assert_int_equal(o.n_traces, 5);
    assert_string_equal(o.traces[0], "python3");
    assert_string_equal(o.traces[1], "-o");
    assert_int_equal(parse("record --flight 30s -- -x", &o, NULL), OK);
    assert_int_equal(o.flight, (int64_t)30 * 1000000000);
    assert_string_equal(o.traces[0], "-x");
}

static void logdir_is_a_trace(void **state) {
    options o;
    assert_int_equal(parse("info --logdir runs", &o, NULL), OK);
    assert_int_equal(o.n_traces, 1);
    assert_string_equal(o.traces[0], "runs");
}

static void to_means_the_window_or_the_form(void **state) {
    options o;
    assert_int_equal(parse("operators --from 1ms --to 12.5ms", &o, NULL), OK);
    assert_int_equal(o.question.from, 1000000);
    assert_int_equal(o.question.to, 12500000);
    assert_int_equal(parse("export x --to chrome -o out --until 2us", &o, NULL), OK);
    assert_true(str_eq(o.export_to, STR("chrome")));
    assert_true(str_eq(o.output, STR("out")));
    assert_int_equal(o.question.to, 2000);
    assert_int_equal(parse("export x --to chrome -oout", &o, NULL), OK);
    assert_true(str_eq(o.output, STR("out")));
}

static void a_time_without_a_unit_is_nanoseconds(void **state) {
    options o;
    assert_int_equal(parse("operators --from 20000000 --to 1.5s", &o, NULL), OK);
    assert_int_equal(options_params(&o, NULL).from_ns, 20000000);
    assert_int_equal(options_params(&o, NULL).to_ns, 1500000000);
    assert_int_equal(parse("export x --to csv --from 5 --until 7", &o, NULL), OK);
    assert_int_equal(o.question.from, 5);
    assert_int_equal(o.question.to, 7);
    assert_int_equal(parse("memory --at 20000000", &o, NULL), OK);
    params p = options_params(&o, NULL);
    int64_t at = 0;
    assert_int_equal(param_time(&p, STR("at"), &at, NULL), OK);
    assert_int_equal(at, 20000000);
    assert_refused("memory --at noon",
                   "--at noon: not a time; use 250us, 12.5ms, 1.2s, or whole nanoseconds");
}

static void steps_are_one_or_a_range(void **state) {
    options o;
    assert_int_equal(parse("operators --step 3", &o, NULL), OK);
    assert_int_equal(o.question.step.first, 3);
    assert_int_equal(o.question.step.last, 3);
    assert_int_equal(parse("operators --step 3..5", &o, NULL), OK);
    params p = options_params(&o, NULL);
    assert_int_equal(p.first_step, 3);
    assert_int_equal(p.last_step, 5);
    assert_int_equal(parse("operators --step 3..", &o, NULL), OK);
    assert_int_equal(o.question.step.last, INT64_MAX);
    assert_refused("operators --step 5..3", "--step 5..3: not a step range; use 3 or 3..5");
    assert_refused("operators --step ..", "--step ..: not a step range; use 3 or 3..5");
    assert_refused("operators --step 3..x", "--step 3..x: not a step range; use 3 or 3..5");
}

static void parameters_of_the_registry_are_options(void **state) {
    options o;
    assert_int_equal(parse("operators --group-by name+shape --group-by type", &o, NULL), OK);
    assert_int_equal(options_params(&o, NULL).group, GROUP_TYPE);
    assert_refused("operators --group-by launch",
                   "--group-by launch: unknown value; available: "
                   "name, name+shape, name+stack, name+shape+stack, type, subgraph");
    assert_refused("operators --group-by typ",
                   "--group-by typ: unknown value; did you mean type? "
                   "(name, name+shape, name+stack, name+shape+stack, type, subgraph)");
    assert_refused("info --group-by name",
                   "info has no option --group-by; run tacho info --help for a list");
}

static void assert_unknown(const char *name, bool is_path, const char *sentence) {
    error err = {0};
    buf b = {0};
    assert_int_equal(command_unknown(str_of(name), is_path, &err), ERR_ARG);
    text_error(&b, LANG_EN, &err);
    assert_true(str_eq(buf_str(&b), str_of(sentence)));
    buf_fini(&b);
}

static void a_slip_is_answered_with_the_nearest_name(void **state) {
    assert_refused("operators --serch x",
                   "operators has no option --serch; did you mean --search?");
    assert_refused("operators --gruop-by x",
                   "operators has no option --gruop-by; did you mean --group-by?");
    assert_refused(
        "operators --frobnicate=3",
        "operators has no option --frobnicate; run tacho operators --help for a list");
    assert_refused("operators -x",
                   "operators has no option -x; run tacho operators --help for a list");
    assert_refused("export --o x",
                   "export has no option --o; run tacho export --help for a list");
    assert_unknown("kernel", false, "there is no command kernel; did you mean kernels?");
    assert_unknown("inof", true, "there is no command and no file inof; did you mean info?");
    assert_unknown("frobnicate", false,
                   "there is no command frobnicate; run tacho --help for a list");
}

static void values_are_checked_by_kind(void **state) {
    assert_refused("operators --limit -1", "--limit -1: not a whole number ≥ 0");
    assert_refused("operators --limit 99999999999999999999",
                   "--limit 99999999999999999999: not a whole number ≥ 0");
    assert_refused(
        "operators --from=5parsecs",
        "--from 5parsecs: not a time; use 250us, 12.5ms, 1.2s, or whole nanoseconds");
    assert_refused("record --flight 30",
                   "--flight 30: not a time with a unit; use 500ms, 30s, or 2min");
    assert_refused("operators --sort name:up",
                   "--sort name:up: must be COLUMN, COLUMN:asc, COLUMN:desc");
    assert_refused("operators --memory-limit lots",
                   "--memory-limit lots: not a size; use 512M or 4G");
    assert_refused("operators --format xml",
                   "--format xml: unknown value; available: text, json, csv, md, columns, "
                   "arrow");
    assert_refused("operators --limit", "option --limit needs a value: --limit N");
    assert_refused("operators --json=1", "option --json takes no value");
}

static void contradictions_are_refused(void **state) {
    assert_refused("operators --step 1 --from 1ms",
                   "--step and --from/--to cannot be used together");
    assert_refused("operators --from 2ms --to 1ms",
                   "the time window is empty: it ends before it starts");
    assert_refused("export --from 2ms --until 2ms",
                   "the time window is empty: it ends before it starts");
}

static void the_language_is_known_to_every_error(void **state) {
    options o;
    assert_int_equal(parse("operators --lang zh --limit x", &o, NULL), ERR_ARG);
    assert_int_equal(o.words, LANG_ZH);
    assert_int_equal(parse("operators --limit x --lang=zh", &o, NULL), ERR_ARG);
    assert_int_equal(o.words, LANG_ZH);
    assert_int_equal(parse("record --ring x program --lang zh", &o, NULL), ERR_ARG);
    assert_int_equal(o.words, LANG_EN);
}

static void every_command_has_help_and_every_analysis_is_one(void **state) {
    command c;
    uint32_t n = 0, analyses = 0;
    for (; command_at(n, &c); n++) {
        assert_true(text_get(c.help, LANG_EN)[0] != '\0');
        assert_non_null(c.run);
        if (c.analysis) analyses++;
    }
    assert_null(registry_analysis(analyses));
    assert_true(n > analyses);
    assert_false(command_at(UINT32_MAX, &c));
    for (uint32_t i = 0; option_at(i); i++)
        assert_true(text_get(option_at(i)->help, LANG_EN)[0] != '\0');
}

static void no_command_has_two_options_of_one_name(void **state) {
    command c;
    for (uint32_t n = 0; command_at(n, &c); n++)
        for (uint32_t i = 0; option_at(i); i++)
            for (uint32_t k = 0; k < i; k++) {
                const term *a = option_at(i), *b = option_at(k);
                bool both = (a->groups & c.groups) && (b->groups & c.groups);
                if (both && strcmp(a->name, b->name) == 0)
                    fail_msg("%s: --%s", c.name, a->name);
            }
}

/* What the question says of the steps of both sides. */
static void assert_sides(const char *line, int64_t first, int64_t last, const char *other) {
    options o;
    assert_int_equal(parse(line, &o, NULL), OK);
    assert_int_equal(o.question.params.first_step, first);
    assert_int_equal(o.question.params.last_step, last);
    str given = param_text(&o.question.params, STR("other_step"));
    if (!other) assert_null(given.p);
    if (other) assert_true(str_eq(given, str_of(other)));
    assert_string_equal(o.traces[0], "nowhere/a");
    if (o.n_traces > 1) assert_string_equal(o.traces[1], "nowhere/b@x");
}

static void each_side_of_a_comparison_has_its_steps(void **state) {
    options o;
    assert_sides("diff nowhere/a@3..9 nowhere/b@x@20..25", 3, 9, "20..25");
    assert_sides("diff nowhere/a@3.. nowhere/b@x", 3, OPEN_END, "all");
    assert_sides("diff nowhere/a@..3 nowhere/b@x --step 5", 0, 3, "5..5");
    assert_sides("diff nowhere/a nowhere/b@x@7 --step 5", 5, 5, "7");
    assert_sides("diff nowhere/a nowhere/b@x --step 5", 5, 5, NULL);
    assert_sides("diff nowhere/a --other nowhere/b@4", OPEN_START, OPEN_END, "4");
    assert_int_equal(parse("steps nowhere/a@3", &o, NULL), OK);
    assert_string_equal(o.traces[0], "nowhere/a@3"); /* not a comparison */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_and_traces_mix),
        cmocka_unit_test(what_is_not_given_is_absent),
        cmocka_unit_test(after_two_dashes_everything_is_a_trace),
        cmocka_unit_test(after_a_program_every_word_is_its_own),
        cmocka_unit_test(logdir_is_a_trace),
        cmocka_unit_test(to_means_the_window_or_the_form),
        cmocka_unit_test(a_time_without_a_unit_is_nanoseconds),
        cmocka_unit_test(steps_are_one_or_a_range),
        cmocka_unit_test(parameters_of_the_registry_are_options),
        cmocka_unit_test(a_slip_is_answered_with_the_nearest_name),
        cmocka_unit_test(values_are_checked_by_kind),
        cmocka_unit_test(contradictions_are_refused),
        cmocka_unit_test(the_language_is_known_to_every_error),
        cmocka_unit_test(every_command_has_help_and_every_analysis_is_one),
        cmocka_unit_test(each_side_of_a_comparison_has_its_steps),
        cmocka_unit_test(no_command_has_two_options_of_one_name),
    };
    return cmocka_run_group_tests(tests, make, unmake);
}
