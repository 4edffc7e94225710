/* speedscope_test.c: a profile for each thread and one for the device, in the viewer's words. */
#include "unit/analyse/fake_trace.h"

#include "unit/export/export_helper.h"

static const trace *make_trace(fake *f) {
    fake_init(f);
    int one = fake_thread(f), two = fake_thread(f), gpu = fake_stream(f, 0);
    fake_add(f, one, KIND_PYTHON, "net.py(3): forward", 0, 1000);
    fake_add(f, one, KIND_OP, "aten::\"mm\"", 100, 100);
    int call = fake_add(f, one, KIND_RUNTIME, "launch", 110, 20);
    fake_work(f, gpu, KIND_KERNEL, "gemm", 130, 300, call);
    fake_add(f, two, KIND_OP, "Backward", 0, 90);
    fake_add(f, two, KIND_OP, "aten::\"mm\"", 10, 40);
    call = fake_add(f, two, KIND_RUNTIME, "launch", 20, 5);
    fake_work(f, gpu, KIND_KERNEL, "gemm", 500, 60, call);
    return fake_seal(f);
}

static void the_file_is_exactly_this(void **state) {
    fake f;
    const trace *t = make_trace(&f);
    char *text = export_text(t, &(export_options){.form = STR("speedscope")});
    assert_true(is_json(text));
    assert_string_equal(
        text,
        "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
        "\"exporter\":\"tacho\",\n"
        "\"shared\":{\"frames\":[\n"
        "{\"name\":\"forward\",\"file\":\"net.py\",\"line\":3},\n"
        "{\"name\":\"aten::\\\"mm\\\"\"},\n"
        "{\"name\":\"Backward\"}]},\n"
        "\"profiles\":[\n"
        "{\"type\":\"sampled\",\"unit\":\"nanoseconds\",\"name\":\"host: 1, 101\",\n"
        "\"samples\":[[0,1]],\n\"weights\":[80],\n\"startValue\":0,\"endValue\":80},\n"
        "{\"type\":\"sampled\",\"unit\":\"nanoseconds\",\"name\":\"host: 1, 102\",\n"
        "\"samples\":[[2],[2,1]],\n\"weights\":[50,35],\n\"startValue\":0,\"endValue\":85},\n"
        "{\"type\":\"sampled\",\"unit\":\"nanoseconds\",\"name\":\"device\",\n"
        "\"samples\":[[2,1],[0,1]],\n\"weights\":[60,300],\n"
        "\"startValue\":0,\"endValue\":360}],\n"
        "\"activeProfileIndex\":0}\n");
    free(text);
    fake_fini(&f);
}

static void the_value_asked_for_is_shown_first(void **state) {
    fake f;
    const trace *t = make_trace(&f);
    export_options o = {.form = STR("speedscope"), .value = EXPORT_VALUE_DEVICE, NULL};
    char *text = export_text(t, &o);
    assert_int_equal(count_of(text, "\"activeProfileIndex\":2}"), 1);
    free(text);
    fake_fini(&f);
}

static void a_window_leaves_threads_out_that_did_nothing_in_it(void **state) {
    fake f;
    const trace *t = make_trace(&f);
    export_options o = {.form = STR("speedscope"), .window = &(time_window){140, 200}};
    char *text = export_text(t, &o);
    assert_true(is_json(text));
    assert_int_equal(count_of(text, "\"host: "), 1);
    assert_int_equal(count_of(text, "\"weights\":[60],"), 2); /* both host and device */
    free(text);
    fake_fini(&f);
}

static void a_trace_without_operators_gives_an_empty_file_that_is_valid(void **state) {
    fake f;
    fake_init(&f);
    fake_add(&f, fake_thread(&f), KIND_PYTHON, "main", 0, 10);
    export_options o = {.form = STR("speedscope"), .value = EXPORT_VALUE_DEVICE, NULL};
    char *text = export_text(fake_seal(&f), &o);
    assert_true(is_json(text));
    assert_int_equal(count_of(text, "\"profiles\":[]"), 1);
    assert_int_equal(count_of(text, "\"activeProfileIndex\":0"), 1);
    free(text);
    fake_fini(&f);
}

static void only_a_name_of_the_form_file_line_function_is_taken_apart(void **state) {
    static const char *const whole[] = {"f(x): g", "(3): g", "a.py(3): ", "a.py(3)",
                                        "a.py(99999999999999999999): g"};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        fake f;
        fake_init(&f);
        fake_add(&f, fake_thread(&f), KIND_OP, whole[i], 0, 10);
        char *text = export_text(fake_seal(&f), &(export_options){.form = STR("speedscope")});
        char want[64];
        snprintf(want, sizeof want, "{\"name\":\"%s\"}", whole[i]);
        assert_int_equal(count_of(text, want), 1);
        free(text);
        fake_fini(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_file_is_exactly_this),
        cmocka_unit_test(the_value_asked_for_is_shown_first),
        cmocka_unit_test(a_window_leaves_threads_out_that_did_nothing_in_it),
        cmocka_unit_test(a_trace_without_operators_gives_an_empty_file_that_is_valid),
        cmocka_unit_test(only_a_name_of_the_form_file_line_function_is_taken_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
