/* request_test.c: request lines, good and bad. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/message_ids_cli.h"
#include "serve/request.h"

static arena memory;

static int begin(void **state) {
    arena_init(&memory, 0);
    return 0;
}

static int end(void **state) {
    arena_fini(&memory);
    return 0;
}

static request ask(const char *target) {
    request r;
    error err = {.status = OK};
    if (request_parse(&memory, str_of(target), &r, &err) != OK)
        fail_msg("%s: message %d", target, err.message);
    return r;
}

static void refuse(const char *target, status expected, uint16_t message) {
    request r;
    error err = {.status = OK};
    assert_int_equal(request_parse(&memory, str_of(target), &r, &err), expected);
    assert_int_equal(err.message, message);
}

#define assert_str(got, expected) assert_true(str_eq(got, str_of(expected)))

static void a_line_has_a_longest_length(void **state) {
    char line[REQUEST_LINE_BYTES + 2] = "";
    memset(line, '/', REQUEST_LINE_BYTES);
    assert_int_equal(ask(line).route, ROUTE_FILE);
    line[REQUEST_LINE_BYTES] = '/';
    refuse(line, ERR_ARG, MSG_HTTP_LONG_TARGET);
}

static void routes_analyses_and_files_are_distinguished(void **state) {
    request r = ask("/api/v1/runs");
    assert_int_equal(r.route, NUMBER_runs);
    assert_int_equal(r.work, WORK_QUICK);
    r = ask("/api/v1/operators");
    assert_int_equal(r.route, ROUTE_ANALYSIS);
    assert_string_equal(r.analysis->name, "operators");
    assert_int_equal(r.work, WORK_TRACE);
    r = ask("/main-12345678.js?anything=x");
    assert_int_equal(r.route, ROUTE_FILE);
    assert_str(r.path, "/main-12345678.js");
    refuse("/api/v1/nothing", ERR_NOT_FOUND, MSG_HTTP_NO_ROUTE);
    refuse("/api/v1/", ERR_NOT_FOUND, MSG_HTTP_NO_ROUTE);
    refuse("", ERR_ARG, MSG_HTTP_BAD_TARGET);
    refuse("no slash", ERR_ARG, MSG_HTTP_BAD_TARGET);
}

static void values_are_read_by_their_kind(void **state) {
    request r = ask("/api/v1/operators?run=a%2Fb+c&step=3..5&limit=10&offset=20&sort=calls:desc"
                    "&group-by=name%2Bshape&lang=zh&all-workers=0");
    assert_str(r.question.run, "a/b c");
    assert_int_equal(r.question.step.first, 3);
    assert_int_equal(r.question.step.last, 5);
    assert_int_equal(r.question.params.first_step, 3);
    assert_int_equal(r.question.limit, 10);
    assert_int_equal(r.question.offset, 20);
    assert_int_equal(r.question.params.group, GROUP_NAME_SHAPE);
    assert_int_equal(r.words, LANG_ZH);
    assert_false(r.question.all_workers);
    assert_int_equal(r.question.from, OPEN_START);
    assert_int_equal(r.question.to, OPEN_END);
    r = ask("/api/v1/viewport?from=12.5ms&to=20000000&lanes=1,2&seq=7&client=x");
    assert_int_equal(r.question.from, 12500000);
    assert_int_equal(r.question.to, 20000000);
    assert_int_equal(r.question.params.from_ns, 12500000);
    assert_int_equal(r.seq, 7);
    r = ask("/api/v1/steps?step=..4");
    assert_int_equal(r.question.step.first, 0);
    assert_int_equal(r.question.step.last, 4);
    assert_int_equal(ask("/api/v1/operators?group_by=type").question.params.group, GROUP_TYPE);
}

static void wrong_values_get_a_sentence(void **state) {
    refuse("/api/v1/operators?limit=many", ERR_ARG, MSG_CLI_BAD_NUMBER);
    refuse("/api/v1/operators?limit=-1", ERR_ARG, MSG_CLI_BAD_NUMBER);
    refuse("/api/v1/operators?from=5parsecs", ERR_ARG, MSG_CLI_BAD_TIME);
    refuse("/api/v1/operators?step=5..3", ERR_ARG, MSG_CLI_BAD_STEPS);
    refuse("/api/v1/operators?format=xml", ERR_ARG, MSG_CLI_BAD_CHOICE);
    refuse("/api/v1/operators?group-by=color", ERR_ARG, MSG_CLI_BAD_CHOICE);
    refuse("/api/v1/operators?all-workers=maybe", ERR_ARG, MSG_CLI_BAD_CHOICE);
    refuse("/api/v1/operators?from=9&to=3", ERR_ARG, MSG_CLI_EMPTY_WINDOW);
    refuse("/api/v1/operators?from=1&step=3", ERR_ARG, MSG_CLI_STEP_AND_TIME);
    refuse("/api/v1/viewport?width=8193", ERR_ARG, MSG_CLI_BAD_FORM);
    refuse("/api/v1/operators?sort=name:up", ERR_ARG, MSG_CLI_BAD_FORM);
    refuse("/api/v1/memory?at=noon", ERR_ARG, MSG_CLI_BAD_TIME);
    refuse("/api/v1/memory?points=-3", ERR_ARG, MSG_CLI_BAD_NUMBER);
    refuse("/api/v1/viewport?width=99999999999999999999", ERR_ARG, MSG_CLI_BAD_NUMBER);
}

static void an_error_has_the_words_of_the_url(void **state) {
    static const char *const cases[][2] = {
        {"/api/v1/operators?from=5parsecs",
         "from=5parsecs: not a time; use 250us, 12.5ms, 1.2s, or whole nanoseconds"},
        {"/api/v1/kernels?group_by=color",
         "group_by=color: unknown value; available: name, name+op, launch"},
        {"/api/v1/operators?from=1&step=3", "step and from/to cannot be used together"},
        {"/api/v1/viewport?width=8193", "width=8193: must be 0…8192"},
        {"/api/v1/kernels?serach=x", "kernels has no parameter serach; did you mean search?"},
        {"/api/v1/kernel", "there is no route kernel; did you mean kernels?"},
    };
    for (size_t i = 0; i < N_OF(cases); i++) {
        request r;
        error err = {.status = OK};
        buf words = {0};
        assert_int_not_equal(request_parse(&memory, str_of(cases[i][0]), &r, &err), OK);
        text_error(&words, LANG_EN, &err);
        buf_add_byte(&words, '\0');
        assert_string_equal(words.p, cases[i][1]);
        buf_fini(&words);
    }
}

static void unknown_and_repeated_parameters_are_refused(void **state) {
    refuse("/api/v1/operators?color=red", ERR_ARG, MSG_HTTP_UNKNOWN_PARAMETER);
    refuse("/api/v1/operators?width=5", ERR_ARG, MSG_HTTP_UNKNOWN_PARAMETER);
    refuse("/api/v1/operators?limit=1&limit=2", ERR_ARG, MSG_HTTP_TWICE);
    refuse("/api/v1/whatif?no_sync=yes&no_sync=no", ERR_ARG, MSG_HTTP_TWICE);
    refuse("/api/v1/operators?group-by=name&group_by=type", ERR_ARG, MSG_HTTP_TWICE);
    refuse("/api/v1/operators?=x", ERR_ARG, MSG_HTTP_UNKNOWN_PARAMETER);
    assert_int_equal(ask("/api/v1/operators?&&limit=3&").question.limit, 3);
}

static void changes_of_whatif_may_be_several(void **state) {
    request r = ask("/api/v1/whatif?scale=op:a%3D0.5&scale=kernel:b%3D0&remove=op:c");
    assert_int_equal(r.question.params.n_extra, 3);
    assert_str(r.question.params.extra[1].value, "kernel:b=0");
}

static void broken_escapes_are_refused(void **state) {
    refuse("/api/v1/operators?run=%", ERR_ARG, MSG_HTTP_BAD_ESCAPE);
    refuse("/api/v1/operators?run=%4", ERR_ARG, MSG_HTTP_BAD_ESCAPE);
    refuse("/api/v1/operators?run=%zz", ERR_ARG, MSG_HTTP_BAD_ESCAPE);
    refuse("/api/v1/operators?run=%00", ERR_ARG, MSG_HTTP_BAD_ESCAPE);
    refuse("/%00", ERR_ARG, MSG_HTTP_BAD_ESCAPE);
    assert_str(ask("/a%20b+c").path, "/a b+c"); /* a plus is a plus in a path */
}

static void the_language_is_known_for_the_error_after_it(void **state) {
    request r;
    error err;
    str target = STR("/api/v1/operators?lang=zh&color=red");
    assert_int_equal(request_parse(&memory, target, &r, &err), ERR_ARG);
    assert_int_equal(r.words, LANG_ZH);
    target = STR("/api/v1/operators?color=red&lang=zh");
    assert_int_equal(request_parse(&memory, target, &r, &err), ERR_ARG);
    assert_int_equal(r.words, LANG_ZH);
}

static void a_long_line_is_refused(void **state) {
    char *line = arena_alloc(&memory, REQUEST_LINE_BYTES + 10);
    memset(line, 'x', REQUEST_LINE_BYTES + 10);
    line[0] = '/';
    request r;
    error err;
    str target = {line, REQUEST_LINE_BYTES + 1};
    assert_int_equal(request_parse(&memory, target, &r, &err), ERR_ARG);
    target.n--;
    assert_int_equal(request_parse(&memory, target, &r, &err), OK);
}

static bool collect(void *context, uint32_t first, uint32_t last, uint32_t coarser) {
    uint32_t *sum = context;
    if (last > 1000) return false;
    *sum = *sum * 100 + first * 10 + last - first + coarser;
    return true;
}

static void lists_of_lanes_are_read(void **state) {
    uint32_t sum = 0;
    assert_int_equal(request_lanes(STR("1,4-9,7:2"), collect, &sum, NULL), OK);
    assert_int_equal(sum, (10 * 100 + 45) * 100 + 72);
    static const char *const wrong[] = {"x",   "1,", "1-", "5-3",  "1:",   "1:99",
                                        "1 2", "-1", ",",  "2000", "1,,2", "99999999999"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        error err;
        if (strcmp(wrong[i], "1,") == 0) continue; /* a comma at the end does no harm */
        assert_int_equal(request_lanes(str_of(wrong[i]), collect, &sum, &err), ERR_ARG);
    }
}

static void every_parameter_has_words(void **state) {
    const term *p;
    for (uint32_t i = 0; (p = parameter_at(i)) != NULL; i++) {
        assert_true(text_get(p->help, LANG_EN)[0] != '\0');
        assert_true(text_get(p->help, LANG_ZH)[0] != '\0');
        assert_true(p->groups != 0);
    }
    assert_string_equal(route_name(NUMBER_tape), "tape");
    assert_string_equal(route_name(ROUTE_FILE), "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(routes_analyses_and_files_are_distinguished, begin,
                                        end),
        cmocka_unit_test_setup_teardown(values_are_read_by_their_kind, begin, end),
        cmocka_unit_test_setup_teardown(wrong_values_get_a_sentence, begin, end),
        cmocka_unit_test_setup_teardown(an_error_has_the_words_of_the_url, begin, end),
        cmocka_unit_test_setup_teardown(unknown_and_repeated_parameters_are_refused, begin,
                                        end),
        cmocka_unit_test_setup_teardown(changes_of_whatif_may_be_several, begin, end),
        cmocka_unit_test_setup_teardown(broken_escapes_are_refused, begin, end),
        cmocka_unit_test_setup_teardown(the_language_is_known_for_the_error_after_it, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_line_has_a_longest_length, begin, end),
        cmocka_unit_test_setup_teardown(a_long_line_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(lists_of_lanes_are_read, begin, end),
        cmocka_unit_test_setup_teardown(every_parameter_has_words, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
