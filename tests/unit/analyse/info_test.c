/* info_test.c: facts, counts and devices. */
#include "fake_trace.h"

static void events_are_counted_by_kind(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int host = fake_thread(&f);
    fake_add(&f, host, KIND_OP, "a", 0, 10);
    fake_add(&f, host, KIND_OP, "b", 20, 10);
    fake_add(&f, host, KIND_PYTHON, "c", 40, 60);
    params p = fake_params();
    answer out = fake_ask(analyse_info, fake_seal(&f), &p, &a);
    table *t = fake_table(&out, "events");
    assert_int_equal(t->n_rows, 2); /* kinds without events are left out */
    assert_int_equal(fake_int(t, fake_row(t, "op"), "count"), 2);
    assert_int_equal(fake_int(t, fake_row(t, "python"), "count"), 1);
    t = fake_table(&out, "trace");
    assert_text(fake_text(t, fake_row(t, "format"), "value"), "kineto");
    assert_text(fake_text(t, fake_row(t, "duration_ns"), "value"), "100");
    assert_text(fake_text(t, fake_row(t, "threads"), "value"), "1");
    arena_fini(&a);
    fake_fini(&f);
}

static void what_the_program_uses_is_listed_with_its_evidence(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int gpu = fake_stream(&f, 0), host = fake_thread(&f);
    fake_work(&f, gpu, KIND_KERNEL, "void ns::flash_fwd_kernel<1, 2>(int)", 0, 5, -1);
    fake_add(&f, host, KIND_OP, "aten::_fused_adamw_", 0, 10);
    params p = fake_params();
    answer out = fake_ask(analyse_info, fake_seal(&f), &p, &a);
    table *t = fake_table(&out, "in_use");
    assert_int_equal(t->n_rows, 2);
    size_t optimizer = fake_row(t, "fused_optimizer"),
           attention = fake_row(t, "fused_attention");
    assert_int_equal(fake_int(t, optimizer, "count"), 1);
    assert_text(fake_text(t, optimizer, "evidence"), "aten::_fused_adamw_");
    assert_text(fake_text(t, attention, "evidence"), "ns::flash_fwd_kernel");
    arena_fini(&a);
    fake_fini(&f);
}

static void short_plain_keys_of_the_producer_are_facts(void **state) {
    static const char *const keys[][2] = {
        {"with_stack", "1"},        {"traceName", "\"/a/b\""},    {"job", "\"nightly\""},
        {"deviceProperties", "[]"}, {"distributedInfo", "{...}"}, {"host_name", "\"secret\""}};
    fake f;
    arena a = {0};
    fake_init(&f);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        uint32_t row = f.t.meta.n++;
        FAKE_SET(&f, meta, key, row, fake_str(&f, keys[i][0]));
        FAKE_SET(&f, meta, value, row, fake_str(&f, keys[i][1]));
    }
    params p = fake_params();
    answer out = fake_ask(analyse_info, fake_seal(&f), &p, &a);
    table *t = fake_table(&out, "trace");
    assert_text(fake_text(t, fake_row(t, "with_stack"), "value"), "1");
    assert_text(fake_text(t, fake_row(t, "job"), "value"), "nightly");
    for (size_t i = 0; i < t->n_rows; i++) {
        assert_false(str_eq(fake_text(t, i, "key"), STR("traceName")));
        assert_false(str_eq(fake_text(t, i, "key"), STR("host_name")));
        assert_false(str_eq(fake_text(t, i, "key"), STR("distributedInfo")));
    }
    arena_fini(&a);
    fake_fini(&f);
}

static void unknown_properties_of_a_device_are_null(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    f.t.device.n = 3;
    FAKE_SET(&f, device, id, 1, 0);
    FAKE_SET(&f, device, name, 1, fake_str(&f, "NVIDIA H200"));
    FAKE_SET(&f, device, memory, 1, 150000000000);
    FAKE_SET(&f, device, compute_major, 1, 9);
    FAKE_SET(&f, device, compute_minor, 1, 0);
    FAKE_SET(&f, device, sm_count, 1, 132);
    FAKE_SET(&f, device, id, 2, 1);
    FAKE_SET(&f, device, memory, 2, ABSENT_I64);
    FAKE_SET(&f, device, compute_major, 2, ABSENT_I32);
    FAKE_SET(&f, device, compute_minor, 2, ABSENT_I32);
    FAKE_SET(&f, device, sm_count, 2, ABSENT_I32);
    params p = fake_params();
    answer out = fake_ask(analyse_info, fake_seal(&f), &p, &a);
    table *t = fake_table(&out, "devices");
    assert_int_equal(t->n_rows, 2);
    assert_text(fake_text(t, 0, "compute_capability"), "9.0");
    assert_int_equal(fake_int(t, 0, "sm_count"), 132);
    assert_int_equal(fake_int(t, 1, "device"), 1);
    assert_true(fake_null(t, 1, "name") && fake_null(t, 1, "memory_bytes"));
    assert_true(fake_null(t, 1, "compute_capability") && fake_null(t, 1, "sm_count"));
    arena_fini(&a);
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_counted_by_kind),
        cmocka_unit_test(what_the_program_uses_is_listed_with_its_evidence),
        cmocka_unit_test(short_plain_keys_of_the_producer_are_facts),
        cmocka_unit_test(unknown_properties_of_a_device_are_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
