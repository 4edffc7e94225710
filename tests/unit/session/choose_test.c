/* choose_test.c: the rules of --run, --worker and --span, and their complaints. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "session/discover.h"

#define S(text) \
    { text, sizeof(text) - 1 }

static span_entry three[] = {{.path = S("a"), .stamp = S(""), .number = 1},
                             {.path = S("b"), .stamp = S("900"), .number = 2},
                             {.path = S("c"), .stamp = S("1000"), .number = 3}};
static span_entry one[] = {{.path = S("d"), .stamp = S("7"), .number = 1}};
static worker_entry workers[] = {
    {.name = S("host_rank0"), .rank = 0, .spans = three, .n_spans = 3},
    {.name = S("host_rank1"), .rank = 1, .spans = one, .n_spans = 1},
    {.name = S("0"), .rank = 5, .spans = one, .n_spans = 1},
};
static run_entry runs[] = {
    {.name = S("x/first"), .workers = workers, .n_workers = 3, .newest_ns = 20},
    {.name = S("y/second"), .workers = workers, .n_workers = 2, .newest_ns = 30},
    {.name = S("z/second"), .workers = workers, .n_workers = 1, .newest_ns = 10},
};
static const catalogue ALL = {.path = S("logs"), .runs = runs, .n_runs = 3};
static const catalogue SINGLE = {.path = S("logs"), .runs = runs, .n_runs = 1};

/* The run of a choice that can be made. */
static const char *pick_run(const catalogue *c, str name) {
    span_choice ch;
    error err = {0};
    status s = span_choose(c, &(choice){.run = name}, &ch, &err);
    return s == OK ? ch.run->name.p : "ERR";
}

static const char *pick(const catalogue *c, choice wanted) {
    span_choice ch;
    error err = {0};
    status s = span_choose(c, &wanted, &ch, &err);
    return s == OK ? ch.span->path.p : s == ERR_ARG ? "ERR_ARG" : "?";
}

static error complaint(const catalogue *c, choice wanted) {
    span_choice ch = {0};
    static error err;
    assert_int_equal(span_choose(c, &wanted, &ch, &err), ERR_ARG);
    assert_null(ch.span);
    return err;
}

static bool list_is(const error *e, const char *expected) {
    for (int i = 0; i < e->n_args; i++)
        if (strcmp(e->args[i].name, "list") == 0)
            return str_eq(str_n(e->args[i].u.text.p, e->args[i].u.text.n), str_of(expected));
    return false;
}

static void without_a_wish_it_is_the_first_worker_and_its_last_span(void **state) {
    assert_string_equal(pick(&SINGLE, (choice){0}), "c");
}

static void of_several_runs_the_newest_is_meant(void **state) {
    assert_string_equal(pick_run(&ALL, STR_NONE), "y/second");
    assert_string_equal(pick_run(&ALL, STR("1")), "z/second");
    assert_string_equal(pick_run(&ALL, STR("3")), "y/second");
    assert_string_equal(pick_run(&ALL, STR("4")), "ERR");
    assert_string_equal(pick_run(&ALL, STR("z")), "z/second"); /* the newest of a folder */
    assert_int_equal(run_number(&ALL, &runs[0]), 2);
    assert_string_equal(pick(&ALL, (choice){.run = STR("y/second")}), "c");
    assert_string_equal(pick(&ALL, (choice){.run = STR("first")}), "c");
    assert_string_equal(pick(&ALL, (choice){.run = STR("second")}), "ERR_ARG"); /* two end so */
    error e = complaint(&ALL, (choice){.run = STR("third")});
    assert_int_equal(e.message, MSG_NO_SUCH_RUN);
    assert_true(list_is(&e, "x/first, y/second, z/second"));
}

static void a_worker_is_named_or_ranked_and_the_name_wins(void **state) {
    assert_string_equal(pick(&SINGLE, (choice){.worker = STR("host_rank1")}), "d");
    assert_string_equal(pick(&SINGLE, (choice){.worker = STR("1")}), "d");
    assert_string_equal(pick(&SINGLE, (choice){.worker = STR("0")}), "d");
    error e = complaint(&SINGLE, (choice){.worker = STR("9")});
    assert_int_equal(e.message, MSG_NO_SUCH_WORKER);
    assert_true(list_is(&e, "host_rank0, host_rank1, 0"));
}

static void a_span_is_numbered_or_stamped(void **state) {
    assert_string_equal(pick(&SINGLE, (choice){.span = STR("1")}), "a");
    assert_string_equal(pick(&SINGLE, (choice){.span = STR("2")}), "b");
    assert_string_equal(pick(&SINGLE, (choice){.span = STR("900")}), "b");
    error e = complaint(&SINGLE, (choice){.span = STR("4")});
    assert_int_equal(e.message, MSG_NO_SUCH_SPAN);
    assert_true(list_is(&e, "1, 2 (900), 3 (1000)"));
    assert_string_equal(pick(&SINGLE, (choice){.span = STR("-1")}), "ERR_ARG");
    assert_string_equal(pick(&SINGLE, (choice){.span = STR("99999999999999999999")}),
                        "ERR_ARG");
}

static void a_long_list_is_cut(void **state) {
    static run_entry many[500];
    static char names[500][32];
    for (int i = 0; i < 500; i++) {
        snprintf(names[i], sizeof names[i], "run_number_%d", i);
        many[i] = (run_entry){.name = str_of(names[i]),
                              .workers = workers,
                              .n_workers = 1,
                              .start_ns = INT64_MIN};
    }
    error e = complaint(&(catalogue){.path = S("logs"), .runs = many, .n_runs = 500},
                        (choice){.run = STR("none")});
    assert_true(list_is(&e, "run_number_0, run_number_1, run_number_2, run_number_3, "
                            "run_number_4, run_number_5"));
}

static void another_worker_gives_the_same_cycle_or_its_last(void **state) {
    assert_string_equal(worker_span(&workers[0], 2)->path.p, "b");
    assert_string_equal(worker_span(&workers[1], 2)->path.p, "d");
    assert_string_equal(worker_span(&workers[0], 0)->path.p, "c");
}

int main(void) {
    setenv("TZ", "UTC", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_wish_it_is_the_first_worker_and_its_last_span),
        cmocka_unit_test(of_several_runs_the_newest_is_meant),
        cmocka_unit_test(a_worker_is_named_or_ranked_and_the_name_wins),
        cmocka_unit_test(a_span_is_numbered_or_stamped),
        cmocka_unit_test(a_long_list_is_cut),
        cmocka_unit_test(another_worker_gives_the_same_cycle_or_its_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
