/* rec_nvtx_test.c: a library that marks its ranges through NVTX, as the header of NVTX does it. */
#include "unit/record/record_helper.h"

#include <stdio.h>
#include <wchar.h>

#include "record/rec_int.h"

/* What a copy of the header holds: tables of pointers to slots. */
typedef void (*any_function)(void);
static any_function core[16], core2[16];
static any_function *core_slots[16], *core2_slots[16];
int InitializeInjectionNvtx2(const void *(*get)(uint32_t which));

static int get_table(int module, any_function ***out, unsigned *n) {
    for (int i = 1; i < 16; i++) core_slots[i] = &core[i];
    for (int i = 1; i < 16; i++) core2_slots[i] = &core2[i];
    *n = 16;
    if (module == 1) *out = core_slots;
    if (module == 5) *out = core2_slots;
    return module == 1 || module == 5;
}

static struct {
    size_t struct_size;
    int (*get_table)(int, any_function ***, unsigned *);
} callbacks = {sizeof callbacks, get_table};

static const void *export_table(uint32_t which) {
    return which == 1 ? &callbacks : NULL;
}

typedef struct {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    const void *message;
} attributes;

enum { START_A = 5, END = 7, PUSH_EX = 8, PUSH_A = 9, PUSH_W = 10, POP = 11, MARK_A = 2 };
enum { DOMAIN_PUSH = 4, DOMAIN_POP = 5, REGISTER_A = 10, CREATE_A = 12 };

static int push(const char *text) {
    return ((int (*)(const char *))core[PUSH_A])(text);
}

static int pop(void) {
    return ((int (*)(void))core[POP])();
}

static void the_slots_we_know_are_filled(void **state) {
    assert_int_equal(InitializeInjectionNvtx2(export_table), 1);
    for (int i = 1; i <= 11; i++) assert_non_null(core[i]);
    assert_null(core[12]);
    for (int i = 1; i <= 5; i++) assert_non_null(core2[i]);
    assert_null(core2[6]);
}

static void a_table_that_is_too_small_is_left_alone(void **state) {
    size_t before = callbacks.struct_size;
    callbacks.struct_size = 8;
    assert_int_equal(InitializeInjectionNvtx2(export_table), 0);
    callbacks.struct_size = before;
    assert_int_equal(InitializeInjectionNvtx2(NULL), 0);
}

static void pushed_ranges_nest(void **state) {
    fresh_folder();
    start_all();
    push("outer");
    ((int (*)(const wchar_t *))core[PUSH_W])(L"w\u00e9\u4e2d");
    pop();
    attributes e = {.version = 3, .message_type = 1, .message = "with attributes"};
    ((int (*)(const attributes *))core[PUSH_EX])(&e);
    pop();
    ((void (*)(const char *))core[MARK_A])("here");
    pop();
    trace *t = stop_and_read();
    uint32_t outer = one_slice(t, "outer");
    assert_int_equal(t->slice.parent[one_slice(t, "w\u00e9\u4e2d")], outer);
    assert_int_equal(t->slice.parent[one_slice(t, "with attributes")], outer);
    assert_int_equal(t->instant.n - 1, 1);
    trace_release(t);
}

static void operators_of_pytorch_have_their_sequence(void **state) {
    fresh_folder();
    start_all();
    push("aten::mm, seq = 12, op_id = 345");
    pop();
    push("MmBackward0, seq = 12, op_id = 400");
    pop();
    push("aten::empty");
    pop();
    push("aten::detach, op_id = 401");
    pop();
    trace *t = stop_and_read();
    uint32_t mm = trace_op_of(t, one_slice(t, "aten::mm")),
             back = trace_op_of(t, one_slice(t, "MmBackward0"));
    assert_true(mm && back && trace_op_of(t, one_slice(t, "aten::empty")));
    assert_true(trace_op_of(t, one_slice(t, "aten::detach")) > 0);
    assert_int_equal(t->op.sequence[mm], 12);
    assert_int_equal(t->op.sequence[back], 12);
    assert_true(t->op.forward_thread[back] > 0);
    trace_release(t);
}

static void domains_and_registered_texts_work(void **state) {
    fresh_folder();
    start_all();
    void *domain = ((void *(*)(const char *))core2[CREATE_A])("library");
    void *text = ((void *(*)(void *, const char *))core2[REGISTER_A])(domain, "registered");
    attributes e = {.version = 3, .message_type = 3, .message = text};
    ((int (*)(void *, const attributes *))core2[DOMAIN_PUSH])(domain, &e);
    ((int (*)(void *))core2[DOMAIN_POP])(domain);
    trace *t = stop_and_read();
    (void)one_slice(t, "registered");
    trace_release(t);
}

/* Its own profiler, which the hooks of JAX run, gets the names of operations only then. */
static void xla_learns_that_there_is_no_listener(void **state) {
    void *(*create)(const char *) = (void *(*)(const char *))core2[CREATE_A];
    fresh_folder();
    start_all();
    assert_null(create("TSL"));
    assert_non_null(create("NCCL"));
    assert_int_equal(tacho_stop(), TACHO_OK);
    tacho_options flight = {.size = sizeof flight, .path = fresh_folder(), .flight_seconds = 5};
    assert_int_equal(tacho_start(&flight), TACHO_OK);
    assert_non_null(create("TSL")); /* a profiler that must stop is of no use there */
}

static void started_ranges_are_joined_by_their_number(void **state) {
    fresh_folder();
    start_all();
    uint64_t a = ((uint64_t(*)(const char *))core[START_A])("first");
    uint64_t b = ((uint64_t(*)(const char *))core[START_A])("second");
    ((void (*)(uint64_t))core[END])(a);
    ((void (*)(uint64_t))core[END])(b);
    trace *t = stop_and_read();
    assert_int_equal(t->slice.kind[one_slice(t, "first")], KIND_ASYNC);
    (void)one_slice(t, "second");
    assert_int_equal(trace_quality(t, CAUSE_UNMATCHED_END), 0);
    trace_release(t);
}

static void nothing_happens_while_nothing_is_recorded(void **state) {
    push("before");
    assert_int_equal(((uint64_t(*)(const char *))core[START_A])("before"), 0);
    pop();
    ((int (*)(const attributes *))core[PUSH_EX])(NULL);
    pop();
}

static int tear_down(void **state) {
    (void)tacho_stop();
    remove_folder();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_slots_we_know_are_filled),
        cmocka_unit_test(a_table_that_is_too_small_is_left_alone),
        cmocka_unit_test_teardown(pushed_ranges_nest, tear_down),
        cmocka_unit_test_teardown(operators_of_pytorch_have_their_sequence, tear_down),
        cmocka_unit_test_teardown(domains_and_registered_texts_work, tear_down),
        cmocka_unit_test_teardown(xla_learns_that_there_is_no_listener, tear_down),
        cmocka_unit_test_teardown(started_ranges_are_joined_by_their_number, tear_down),
        cmocka_unit_test(nothing_happens_while_nothing_is_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
