/* advice_line_test.c: the line of the program that a piece of advice is about. A step of 100:
 * `main` around it, `save` from 30 to 80 before a launch at 82. */
#include "analyse/advise/advice_line.h"

#include "fake_trace.h"

static const char *find(fake *f, const trace *t, event_list *l) {
    static char text[64];
    line_view v;
    uint32_t site;
    assert_int_equal(line_view_init(&v, t, &f->arena, NULL), OK);
    assert_int_equal(advice_line_find(&v, l, &site, NULL), OK);
    str line = site ? line_short(t, site, &f->arena) : STR("none");
    snprintf(text, sizeof text, "%.*s", STR_ARG(line));
    return text;
}

static void the_line_of_most_of_the_time_is_named(void **state) {
    fake f;
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    fake_add(&f, host, KIND_PYTHON, "train.py(7): main", 0, 100);
    fake_add(&f, host, KIND_PYTHON, "train.py(88): save", 30, 50);
    int call = fake_add(&f, host, KIND_RUNTIME, "cudaLaunchKernel", 82, 2);
    int work = fake_work(&f, gpu, KIND_KERNEL, "gemm", 86, 4, call);
    fake_step(&f, 1, 0, 100);
    const trace *t = fake_seal(&f);
    event_list gap = {.n = 1};
    gap.v[0] =
        (advice_event){.range = {25, 86}, .cost_ns = 61, .slice = f.id[work], .is_gap = true};
    assert_string_equal(find(&f, t, &gap), "train.py:88");
    event_list kernel = {.n = 1};
    kernel.v[0] = (advice_event){.range = {86, 90}, .cost_ns = 4, .slice = f.id[work]};
    assert_string_equal(find(&f, t, &kernel), "none"); /* main is around the step */
    event_list nothing = {.n = 0};
    assert_string_equal(find(&f, t, &nothing), "none");
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_line_of_most_of_the_time_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
