/* matmul_shapes_test.c: sizes of matrix products and odd dimensions. */
#include "fake_trace.h"

#include "analyse/operators/matmul_shapes.h"

static void sizes_are_read_from_the_shapes(void **state) {
    matmul_size s;
    assert_true(matmul_read(STR("[[4096, 768], [768, 50257]]"), &s));
    assert_int_equal(s.m, 4096);
    assert_int_equal(s.k, 768);
    assert_int_equal(s.n, 50257);
    assert_int_equal(s.batch, 1);
    assert_near(matmul_flops(&s), 2.0 * 4096 * 768 * 50257);
    assert_int_equal(matmul_odd_dimension(&s), 50257);
    assert_true(matmul_read(STR("[[3072],[8,64],[64,3072],[],[]]"),
                            &s)); /* addmm: the bias is not a factor */
    assert_int_equal(s.n, 3072);
    assert_int_equal(matmul_odd_dimension(&s), 0);
    assert_true(matmul_read(STR("[[12,16,64],[12,64,16]]"), &s));
    assert_int_equal(s.batch, 12);
    assert_false(matmul_read(STR("[[16,64],[32,16]]"), &s)); /* they do not fit together */
    assert_false(matmul_read(STR("[]"), &s));
    assert_false(matmul_read(STR(""), &s));
    assert_false(matmul_read(STR("[[1,2"), &s));
    assert_false(matmul_read(STR("[[[1,2],[3]]]"), &s));
    assert_false(matmul_read(STR("[[99999999999999999999,2],[2,3]]"), &s));
}

static void small_odd_dimensions_do_not_count(void **state) {
    assert_int_equal(matmul_odd_dimension(&(matmul_size){1, 3, 64, 1}), 0);
    assert_int_equal(matmul_odd_dimension(&(matmul_size){1, 100, 64, 9}), 100);
}

static void the_slowdown_comes_from_the_trace(void **state) {
    fake f;
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    for (int i = 0; i < 4; i++) {
        int op = fake_add(&f, host, KIND_OP, "aten::mm", 1000 * i, 100);
        f.slices[op].shapes = i < 2 ? "[[64,64],[64,64]]" : "[[64,64],[64,63]]";
        int call = fake_add(&f, host, KIND_RUNTIME, "launch", 1000 * i + 10, 5);
        fake_work(&f, gpu, KIND_KERNEL, "k", 1000 * i + 50, i < 2 ? 100 : 630, call);
    }
    const trace *t = fake_seal(&f);
    params p = fake_params();
    selection s;
    matmul_odd odd;
    select_init(&s, t, &p);
    assert_true(matmul_find_odd(&s, t->slice.name[f.id[0]], &f.arena, &odd));
    assert_int_equal(odd.dimension, 63);
    assert_near(odd.time_share, 1260.0 / 1460);
    assert_near(odd.slowdown, (64.0 / 100) / (63.0 / 630));
    assert_false(matmul_find_odd(&s, fake_str(&f, "other"), &f.arena, &odd));
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_read_from_the_shapes),
        cmocka_unit_test(small_odd_dimensions_do_not_count),
        cmocka_unit_test(the_slowdown_comes_from_the_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
