/* rec_names_test.c: the same text is the same number, and stacks lead somewhere. */
#include "unit/record/record_helper.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "record/rec_int.h"

static void the_same_text_has_the_same_number(void **state) {
    char copy[] = "a name";
    uint32_t id = tacho_name("a name");
    assert_true(id != 0);
    assert_int_equal(tacho_name(copy), id);
    assert_true(tacho_name("another") != id);
    assert_true(tacho_name("") != 0);
    assert_int_equal(tacho_name(NULL), tacho_name(""));
}

static void an_address_whose_text_has_changed_has_another_number(void **state) {
    char place[32] = "first text";
    uint32_t first = rec_name_at(place);
    assert_int_equal(rec_name_at(place), first);
    assert_int_equal(first, tacho_name("first text"));
    strcpy(place, "second");
    assert_int_equal(rec_name_at(place), tacho_name("second"));
    strcpy(place, "first text");
    assert_int_equal(rec_name_at(place), first);
    assert_int_equal(rec_name_at(NULL), tacho_name(""));
}

static void names_survive_the_growth_of_the_table(void **state) {
    enum { N = 5000 };
    static uint32_t ids[N];
    char text[32];
    for (int i = 0; i < N; i++) {
        snprintf(text, sizeof text, "name %d", i);
        ids[i] = tacho_name(text);
        assert_true(ids[i] != 0);
    }
    for (int i = 0; i < N; i++) {
        snprintf(text, sizeof text, "name %d", i);
        assert_int_equal(tacho_name(text), ids[i]);
    }
}

static void *make_names(void *unused) {
    char text[32];
    for (int i = 0; i < 2000; i++) {
        snprintf(text, sizeof text, "shared %d", i);
        (void)tacho_name(text);
    }
    return NULL;
}

static void threads_that_make_the_same_names_agree(void **state) {
    pthread_t id[4];
    for (int i = 0; i < 4; i++) pthread_create(&id[i], NULL, make_names, NULL);
    for (int i = 0; i < 4; i++) pthread_join(id[i], NULL);
    uint32_t first = tacho_name("shared 0"), last = first;
    for (int i = 1; i < 2000; i++) {
        char text[32];
        snprintf(text, sizeof text, "shared %d", i);
        uint32_t this = tacho_name(text);
        if (this > last) last = this;
        if (this < first) first = this;
    }
    assert_int_equal(last - first, 1999); /* each once */
}

static void names_made_before_the_start_are_in_every_file(void **state) {
    fresh_folder();
    uint32_t id = tacho_name("made before");
    for (int i = 0; i < 2; i++) {
        start_all();
        tacho_begin_id(id, TACHO_RANGE_PLAIN);
        tacho_end_range();
        trace *t = stop_and_read();
        (void)one_slice(t, "made before");
        trace_release(t);
    }
}

__attribute__((noinline)) static void called_from_here(void) {
    tacho_op_begin(&(tacho_op){.size = sizeof(tacho_op), .name = "op", .sequence = -1});
    tacho_op_end();
    __asm__ volatile("");
}

static void stacks_are_named_after_their_libraries(void **state) {
    tacho_options o = {.size = sizeof o, .path = fresh_folder(), .stacks = 1};
    assert_int_equal(tacho_start(&o), TACHO_OK);
    called_from_here();
    usleep(100000); /* the helper names frames in its own time */
    trace *t = stop_and_read();
    uint32_t op = trace_op_of(t, one_slice(t, "op")), depth = 0;
    bool found = false;
    for (uint32_t f = t->op.frame[op]; f; f = t->frame.parent[f], depth++)
        found |= str_find(trace_str(t, t->frame.name[f]), STR("rec_names_test"), 0) != SIZE_MAX;
    assert_true(depth >= 3);
    assert_true(found);
    trace_release(t);
}

static int tear_down(void **state) {
    (void)tacho_stop();
    remove_folder();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_text_has_the_same_number),
        cmocka_unit_test(an_address_whose_text_has_changed_has_another_number),
        cmocka_unit_test(names_survive_the_growth_of_the_table),
        cmocka_unit_test(threads_that_make_the_same_names_agree),
        cmocka_unit_test_teardown(names_made_before_the_start_are_in_every_file, tear_down),
        cmocka_unit_test_teardown(stacks_are_named_after_their_libraries, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
