/* op_phases_test.c: the parts of operators. */
#include "fake_trace.h"

#include "analyse/questions/op_phases.h"

static void parts_are_added_up_under_their_operator(void **state) {
    (void)state;
    fake f;
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    for (int i = 0; i < 2; i++) {
        int64_t at = 1000 * i;
        fake_add(&f, host, KIND_OP, "conv", at, 100);
        fake_add(&f, host, KIND_OP_PHASE, "conv infer_meta", at + 10, 5 + i);
        fake_add(&f, host, KIND_OP_PHASE, "conv compute", at + 30, 50);
        int call = fake_add(&f, host, KIND_RUNTIME, "launch", at + 40, 5);
        fake_work(&f, gpu, KIND_KERNEL, "k", at + 200, 20, call);
    }
    const trace *t = fake_seal(&f);
    params p = fake_params();
    answer out = fake_ask(analyse_operators, t, &p, &f.arena);
    table *phases = fake_table(&out, "phases");
    assert_int_equal(phases->n_rows, 2);
    assert_text(fake_text(phases, 0, "name"), "conv compute");
    assert_text(fake_text(phases, 0, "phase"), "compute");
    assert_text(fake_text(phases, 0, "op"), "conv");
    assert_int_equal(fake_int(phases, 0, "host_total"), 100);
    assert_int_equal(fake_int(phases, 0, "device_total"), 40);
    assert_near(fake_real(phases, 0, "host_share"), 0.5);
    assert_near(fake_real(phases, 0, "device_share"), 1);
    assert_text(fake_text(phases, 1, "phase"), "infer_shape");
    assert_int_equal(fake_int(phases, 1, "calls"), 2);
    assert_int_equal(fake_int(phases, 1, "host_max"), 6);
    assert_int_equal(fake_int(phases, 1, "host_min"), 5);
    fake_fini(&f);
}

static void parts_inside_parts_name_what_is_around_them(void **state) {
    (void)state;
    fake f;
    fake_init(&f);
    int host = fake_thread(&f);
    fake_add(&f, host, KIND_OP, "Global_Add", 0, 100);
    fake_add(&f, host, KIND_OP_PHASE, "Local_Add", 10, 80);
    fake_add(&f, host, KIND_OP_PHASE, "add kernel launch", 20, 60);
    fake_add(&f, host, KIND_OP_PHASE, "outside every operator", 200, 10);
    const trace *t = fake_seal(&f);
    params p = fake_params();
    answer out = fake_ask(analyse_operators, t, &p, &f.arena);
    table *phases = fake_table(&out, "phases");
    assert_int_equal(phases->n_rows, 2);
    assert_text(fake_text(phases, 0, "name"), "Local_Add");
    assert_text(fake_text(phases, 0, "phase"), "other");
    assert_text(fake_text(phases, 0, "parent"), "Global_Add");
    assert_text(fake_text(phases, 1, "name"), "add kernel launch");
    assert_text(fake_text(phases, 1, "phase"), "compute");
    assert_text(fake_text(phases, 1, "parent"), "Local_Add");
    assert_true(fake_null(phases, 0, "device_total"));
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_added_up_under_their_operator),
        cmocka_unit_test(parts_inside_parts_name_what_is_around_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
