/* period_test.c: a sequence of names that repeats. Letters are symbols; a capital ends a round as a loop
 * does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "store/period.h"

enum { ROOM = 4096 };

typedef struct {
    arena a;
    uint32_t symbols[ROOM], calls[ROOM], n;
    uint8_t ends[ROOM];
} sequence;

static void add(sequence *s, const char *text, int times) {
    for (int k = 0; k < times; k++)
        for (const char *c = text; *c; c++) {
            assert_in_range(s->n, 0, ROOM - 1);
            s->symbols[s->n] = (uint8_t)*c;
            s->ends[s->n] = *c >= 'A' && *c <= 'Z';
            s->calls[s->n] = s->n + 1;
            s->n++;
        }
}

static period find(sequence *s) {
    period found;
    error err = {0};
    period_question q = {s->symbols, s->calls, s->ends, s->n, 256};
    assert_int_equal(period_find(&q, &s->a, &found, &err), OK);
    return found;
}

static int setup(void **state) {
    sequence *s = calloc(1, sizeof *s);
    if (s) arena_init(&s->a, 0);
    *state = s;
    return s ? 0 : -1;
}

static int teardown(void **state) {
    sequence *s = *state;
    arena_reset(&s->a);
    free(s);
    return 0;
}

static void equal_rounds_are_found(void **state) {
    sequence *s = *state;
    add(s, "abccdefg", 9);
    period p = find(s);
    assert_int_equal(p.n, 9);
    assert_true(p.last_is_whole);
    assert_int_equal(p.starts[0], 0);
    assert_int_equal(p.starts[8], 64);
    assert_true(p.confidence > 0.99);
}

static void warm_up_and_other_branches_cost_only_themselves(void **state) {
    sequence *s = *state;
    add(s, "zzzyyxwwabcdefghijklmnopqrS", 1);
    add(s, "abcdefghijklmnopqrS", 4);
    add(s, "abcdefgtuvhijklmnopqrS", 1);
    add(s, "abcdefghijklmnopqrS", 3);
    assert_int_equal(find(s).n, 9);
}

static void layers_in_a_round_are_not_rounds(void **state) {
    sequence *s = *state;
    for (int i = 0; i < 6; i++) {
        add(s, "eh", 1);
        add(s, "abcda", 12);
        add(s, "nl", 1);
    }
    assert_int_equal(find(s).n, 6);
}

static void one_pass_through_equal_layers_has_no_rounds(void **state) {
    sequence *s = *state;
    add(s, "eh", 1);
    add(s, "abcdfa", 32);
    add(s, "nl", 1);
    assert_int_equal(find(s).n, 0);
}

static void a_round_that_was_cut_off_does_not_count(void **state) {
    sequence *s = *state;
    add(s, "abcdefghij", 5);
    add(s, "abcd", 1);
    period p = find(s);
    assert_int_equal(p.n, 6);
    assert_false(p.last_is_whole);
}

static void a_rare_event_does_not_merge_rounds(void **state) {
    sequence *s = *state;
    for (int i = 0; i < 4; i++) {
        add(s, "abcdefghijklmnopqrst", 2);
        add(s, "abcdefghijklmnopqrstu", 1);
    }
    assert_int_equal(find(s).n, 12);
}

static void generation_is_cut_into_tokens(void **state) {
    sequence *s = *state;
    for (int i = 0; i < 4; i++) {
        add(s, "epqpqpqpqrstX", 1);
        add(s, "eabababababcX", 15);
    }
    assert_int_equal(find(s).n, 64);
}

static void what_one_call_launches_is_not_cut(void **state) {
    sequence *s = *state;
    add(s, "abcdef", 30);
    for (uint32_t i = 0; i < s->n; i++) s->calls[i] = 1;
    assert_int_equal(find(s).n, 0);
    for (uint32_t i = 0; i < s->n; i++) s->calls[i] = 1 + i / 6;
    assert_int_equal(find(s).n, 30);
}

static void what_does_not_repeat_has_no_rounds(void **state) {
    sequence *s = *state;
    add(s, "abcdefghijklmnopqrstuvwxyz", 1);
    assert_int_equal(find(s).n, 0);
    add(s, "qwertzuiopasdfghjklyxcvbnm", 1);
    assert_int_equal(find(s).n, 0);
    s->n = 0;
    assert_int_equal(find(s).n, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(equal_rounds_are_found, setup, teardown),
        cmocka_unit_test_setup_teardown(warm_up_and_other_branches_cost_only_themselves, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(layers_in_a_round_are_not_rounds, setup, teardown),
        cmocka_unit_test_setup_teardown(one_pass_through_equal_layers_has_no_rounds, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_round_that_was_cut_off_does_not_count, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_rare_event_does_not_merge_rounds, setup, teardown),
        cmocka_unit_test_setup_teardown(generation_is_cut_into_tokens, setup, teardown),
        cmocka_unit_test_setup_teardown(what_one_call_launches_is_not_cut, setup, teardown),
        cmocka_unit_test_setup_teardown(what_does_not_repeat_has_no_rounds, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
