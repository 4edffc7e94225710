/* rec_itt_test.c: the table that ITT's static part hands over, and what its functions record. */
#include "unit/record/record_helper.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    const char *name;
    void **function;
    void *init, *none;
    int group;
} entry;
typedef struct {
    uint8_t magic[8];
    unsigned long version[3];
    long flags[3];
    pthread_mutex_t mutex;
    void *library, *error_handler;
    const char **path;
    entry *entries;
} global;
typedef struct {
    int flags;
    const char *name;
} domain;
typedef struct {
    uint64_t words[3];
} id;
extern void __itt_api_init(global *g, int groups);

static domain *(*create_domain)(const char *);
static void *(*create_name)(const char *);
static void (*begin)(const domain *, id, id, void *);
static void (*end)(const domain *);
static void *(*other)(void);

static void *none(void) {
    return NULL;
}

static int hand_over(void **state) {
    static entry entries[] = {
        {"__itt_domain_create", (void **)&create_domain, NULL, NULL, 1},
        {"__itt_string_handle_create", (void **)&create_name, NULL, NULL, 1},
        {"__itt_task_begin", (void **)&begin, NULL, NULL, 1},
        {"__itt_task_end", (void **)&end, NULL, NULL, 1},
        {"__itt_frame_create", (void **)&other, NULL, (void *)(uintptr_t)none, 1},
        {NULL, NULL, NULL, NULL, 0},
    };
    static global g = {.entries = entries};
    int before = tacho_itt();
    __itt_api_init(&g, 0);
    return tacho_itt() == before + 1 ? 0 : -1;
}

static void tasks_are_ranges_and_operators_are_known(void **state) {
    fresh_folder();
    domain *d = create_domain("PyTorch");
    assert_int_equal(d->flags, 1);
    id no = {{0, 0, 0}};
    begin(d, no, no, create_name("before")); /* nothing records */
    end(d);
    start_all();
    begin(d, no, no, create_name("aten::mm"));
    begin(d, no, no, create_name("mine"));
    end(d);
    end(d);
    trace *t = stop_and_read();
    assert_int_equal(count_slices(t, "before"), 0);
    assert_int_equal(t->slice.kind[one_slice(t, "aten::mm")], KIND_OP);
    assert_int_equal(t->slice.kind[one_slice(t, "mine")], KIND_ANNOTATION);
    assert_int_equal(t->slice.parent[one_slice(t, "mine")], one_slice(t, "aten::mm"));
    trace_release(t);
}

static void parts_of_operators_are_left_out_and_the_rest_does_nothing(void **state) {
    fresh_folder();
    domain *d = create_domain("dnnl::primitive::execute");
    id no = {{0, 0, 0}};
    start_all();
    tacho_begin_text("around", TACHO_RANGE_PLAIN);
    begin(d, no, no, create_name("convolution"));
    end(d);
    tacho_end_range();
    trace *t = stop_and_read();
    assert_int_equal(count_slices(t, "convolution"), 0);
    assert_int_equal(count_slices(t, "around"), 1);
    assert_int_equal(trace_quality(t, CAUSE_UNMATCHED_END), 0);
    trace_release(t);
    assert_ptr_equal((void *)(uintptr_t)other, (void *)(uintptr_t)none);
    __itt_api_init(NULL, 0);
}

static void a_name_made_again_is_the_same(void **state) {
    assert_ptr_equal(create_name("again"), create_name("again"));
}

enum { THREADS = 4, TASKS = 3000 };

static void *run_tasks(void *unused) {
    id no = {{0, 0, 0}};
    char name[32];
    for (int i = 0; i < TASKS; i++) {
        snprintf(name, sizeof name, "aten::op%d", i % 40);
        domain *d = i % 100 == 0 ? create_domain("PyTorch") : &(domain){1, "PyTorch"};
        begin(d, no, no, create_name(name));
        end(d);
    }
    return NULL;
}

static void tasks_of_many_threads_do_not_mix(void **state) {
    pthread_t them[THREADS];
    fresh_folder();
    start_all();
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&them[i], NULL, run_tasks, NULL), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(them[i], NULL);
    trace *t = stop_and_read();
    assert_int_equal(t->slice.n - 1, THREADS * TASKS);
    assert_int_equal(count_slices(t, "aten::op7"), THREADS * TASKS / 40);
    assert_int_equal(trace_quality(t, CAUSE_UNMATCHED_END), 0);
    trace_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_are_ranges_and_operators_are_known),
        cmocka_unit_test(parts_of_operators_are_left_out_and_the_rest_does_nothing),
        cmocka_unit_test(tasks_of_many_threads_do_not_mix),
        cmocka_unit_test(a_name_made_again_is_the_same),
    };
    int failed = cmocka_run_group_tests(tests, hand_over, NULL);
    remove_folder();
    return failed;
}
