/* recording_stacks_test.c: stacks of Python and source files whose records say anything; good ones
 * are tested with the recorder itself (tests/unit/record, tests/python/lines). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "unit/ingest/made_recording.h"

enum { MS = 1000000 };

static void put_code(made_recording *m, uint64_t id, const char *file, const char *function) {
    char both[600];
    uint64_t fixed[2] = {id, 1};
    memcpy(both, fixed, sizeof fixed);
    strcpy(both + sizeof fixed, file);
    made_side(m, TACHO_SIDE_CODE, both, sizeof fixed + strlen(file) + 1, function);
}

static void put_stack(made_recording *m, uint32_t id, uint32_t caller, uint32_t code,
                      uint32_t line) {
    uint32_t fixed[4] = {id, caller, code, line};
    made_side(m, TACHO_SIDE_STACK, fixed, sizeof fixed, "");
}

static void put_sample(made_recording *m, uint64_t ns, uint32_t stack) {
    tacho_sample_slots s = {
        .from_tick = 1000000 + ns, .to_tick = 1000000 + ns + 10, .tid = 77, .n = 1};
    made_event(m, ns + 20, stack, TACHO_EVENT_SAMPLE, 0, &s, sizeof s);
}

static trace *read_made(made_recording *m) {
    error err = {0};
    trace *t = made_read(m, &err);
    if (!t) fail_msg("refused with message %d", err.message);
    made_free(m);
    return t;
}

static uint32_t depth_of(const trace *t, uint32_t frame) {
    uint32_t n = 0;
    for (; frame; frame = t->frame.parent[frame]) n++;
    return n;
}

static void ids_may_be_any_number_in_any_order(void **state) {
    made_recording m = made_new();
    put_stack(&m, UINT32_MAX, 1u << 24, UINT32_MAX, 30);
    put_stack(&m, 1u << 24, 0, 7, 20);
    put_code(&m, UINT32_MAX, "b.py", "inner");
    put_code(&m, 7, "a.py", "outer");
    put_sample(&m, MS, UINT32_MAX);
    put_sample(&m, 2 * MS, 5); /* which has no record */
    trace *t = read_made(&m);
    assert_int_equal(t->sample.n - 1, 2);
    uint32_t frame = t->sample.frame[1];
    assert_true(str_eq(trace_str(t, t->frame.name[frame]), STR("b.py(30): inner")));
    assert_int_equal(depth_of(t, frame), 2);
    assert_int_equal(t->sample.frame[2], 0);
    trace_release(t);
}

static void a_wrong_caller_is_left_out(void **state) {
    made_recording m = made_new();
    put_code(&m, 1, "a.py", "f");
    put_stack(&m, 3, 3, 1, 1); /* its own caller */
    put_stack(&m, 4, 9, 1, 1); /* a later one */
    put_stack(&m, 5, 2, 1, 1); /* one that does not exist */
    put_stack(&m, 6, 0, 8, 1); /* code that does not exist */
    for (uint32_t i = 3; i <= 6; i++) put_sample(&m, i * MS, i);
    trace *t = read_made(&m);
    for (uint32_t i = 1; i <= 4; i++) assert_int_equal(depth_of(t, t->sample.frame[i]), i == 3);
    trace_release(t);
}

static void callers_come_first(void **state) {
    made_recording m = made_new();
    put_code(&m, 1, "a.py", "f");
    for (uint32_t i = 1; m.side + 64 < TACHO_FILE_HEADER_BYTES + TACHO_CHUNK_BYTES; i++)
        put_stack(&m, i, i - 1, 1, i);
    put_sample(&m, MS, 100);
    trace *t = read_made(&m);
    assert_int_equal(depth_of(t, t->sample.frame[1]), 100);
    for (uint32_t i = 1; i < t->frame.n; i++) assert_true(t->frame.parent[i] < i);
    trace_release(t);
}

static void names_in_stacks_are_cut(void **state) {
    char name[600] = "";
    made_recording m = made_new();
    memset(name, 'f', 599);
    put_code(&m, 1, "a.py", name);
    put_stack(&m, 1, 0, 1, 1);
    put_sample(&m, MS, 1);
    trace *t = read_made(&m);
    assert_int_equal(trace_str(t, t->frame.name[t->sample.frame[1]]).n,
                     strlen("a.py(1): ") + 512);
    trace_release(t);
}

static void put_source(made_recording *m, uint64_t size, uint64_t at, uint64_t n,
                       const char *path, const char *text) {
    char both[256];
    uint64_t fixed[4] = {size, at, n, 0};
    memcpy(both, fixed, sizeof fixed);
    strcpy(both + sizeof fixed, path);
    made_side(m, TACHO_SIDE_SOURCE, both, sizeof fixed + strlen(path) + 1, text);
}

static void pieces_of_a_source_fit_together_or_are_left_out(void **state) {
    made_recording m = made_new();
    put_source(&m, 8, 0, 4, "a.py", "x = ");
    put_source(&m, 8, 4, 4, "a.py", "one\n");
    put_source(&m, 8, 4, 4, "b.py", "lost"); /* its first piece is missing */
    put_source(&m, 2, 0, UINT64_MAX, "c.py", "yy");
    put_source(&m, UINT64_MAX, 0, 2, "d.py", "yy");
    put_source(&m, 2, UINT64_MAX, 4, "e.py", "yy");
    put_source(&m, 1, 0, 2, "f.py", "yy"); /* more than the file has */
    put_source(&m, 0, 0, 0, "", "");
    trace *t = read_made(&m);
    assert_int_equal(t->source.n - 1, 1);
    assert_true(str_eq(trace_str(t, t->source.file[1]), STR("a.py")));
    assert_true(str_eq(trace_str(t, t->source.text[1]), STR("x = one\n")));
    trace_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_may_be_any_number_in_any_order),
        cmocka_unit_test(a_wrong_caller_is_left_out),
        cmocka_unit_test(callers_come_first),
        cmocka_unit_test(names_in_stacks_are_cut),
        cmocka_unit_test(pieces_of_a_source_fit_together_or_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
