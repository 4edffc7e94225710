/* answer_cache_test.c: an answer is made once for each question and generation. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "serve/answer_cache.h"

static bool finds(answer_cache *c, const char *question, uint64_t generation,
                  const char *body) {
    buf out = {0};
    bool found = answer_cache_find(c, str_of(question), generation, &out);
    if (found) assert_true(str_eq(buf_str(&out), str_of(body)));
    buf_fini(&out);
    return found;
}

static void an_answer_is_found_again(void **state) {
    answer_cache *c = answer_cache_new();
    assert_false(finds(c, "overview", 1, NULL));
    answer_cache_keep(c, STR("overview"), 1, STR("{}"));
    assert_true(finds(c, "overview", 1, "{}"));
    assert_true(finds(c, "overview", 1, "{}"));
    answer_cache_free(c);
}

static void another_question_or_a_new_trace_is_asked_again(void **state) {
    answer_cache *c = answer_cache_new();
    assert_false(finds(c, "overview", 1, NULL));
    answer_cache_keep(c, STR("overview"), 1, STR("{}"));
    assert_false(finds(c, "overview&lang=zh", 1, NULL));
    assert_false(finds(c, "overview", 2, NULL));
    answer_cache_free(c);
}

static void a_failure_and_a_large_answer_are_not_kept(void **state) {
    static char large[1 << 20];
    answer_cache *c = answer_cache_new();
    assert_false(finds(c, "memory", 1, NULL));
    answer_cache_keep(c, STR("memory"), 1, STR_NONE);
    assert_false(finds(c, "memory", 1, NULL));
    answer_cache_keep(c, STR("memory"), 1, str_n(large, sizeof large));
    assert_false(finds(c, "memory", 1, NULL));
    answer_cache_free(c);
}

static void the_one_longest_unused_makes_room(void **state) {
    answer_cache *c = answer_cache_new();
    for (int i = 0; i < 60; i++) {
        char question[16];
        snprintf(question, sizeof question, "q%d", i);
        assert_false(finds(c, question, 1, NULL));
        answer_cache_keep(c, str_of(question), 1, STR("x"));
        if (i > 0) assert_true(finds(c, "q0", 1, "x")); /* in use all the time */
    }
    assert_true(finds(c, "q59", 1, "x"));
    assert_false(finds(c, "q1", 1, NULL));
    answer_cache_free(c);
}

static void *ask_too(void *context) {
    buf out = {0};
    bool found = answer_cache_find(context, STR("slow"), 1, &out);
    bool same = str_eq(buf_str(&out), STR("at last"));
    buf_fini(&out);
    return found && same ? context : NULL;
}

static void who_asks_the_same_waits_for_it(void **state) {
    answer_cache *c = answer_cache_new();
    pthread_t other;
    void *result;
    assert_false(finds(c, "slow", 1, NULL));
    assert_int_equal(pthread_create(&other, NULL, ask_too, c), 0);
    answer_cache_keep(c, STR("slow"), 1, STR("at last"));
    pthread_join(other, &result);
    assert_ptr_equal(result, c);
    answer_cache_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_is_found_again),
        cmocka_unit_test(another_question_or_a_new_trace_is_asked_again),
        cmocka_unit_test(a_failure_and_a_large_answer_are_not_kept),
        cmocka_unit_test(the_one_longest_unused_makes_room),
        cmocka_unit_test(who_asks_the_same_waits_for_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
