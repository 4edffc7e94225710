/* csv_test.c: one row for each slice, quoted where it must be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "unit/export/export_helper.h"
#include "unit/store/sample_trace.h"

static void csv_of_the_sample_is_exactly_this(void **state) {
    trace *t = sample_trace();
    char *text = export_text(t, &(export_options){.form = STR("csv")});
    assert_string_equal(
        text,
        "id,track,process,thread,name,kind,category,start_ns,duration_ns,parent,depth,step,"
        "args\n"
        "1,1,python,thread 100 (python),ProfilerStep#3,step,user_annotation,10000,90500,,0,3,"
        "\"{\"\"External id\"\":1,\"\"Ev Idx\"\":0}\"\n"
        "2,1,python,thread 100 (python),aten::mm,op,cpu_op,20000,15250,1,1,3,"
        "\"{\"\"External id\"\":2,\"\"Ev Idx\"\":1,\"\"Input Dims\"\":[[8, 8], [8, 8]]}\"\n"
        "3,1,python,thread 100 (python),cudaLaunchKernel,runtime,cuda_runtime,25000,4000,2,2,3,"
        "\"{\"\"External id\"\":2,\"\"correlation\"\":7}\"\n"
        "4,2,0,7,sgemm,kernel,kernel,33125,5500,,0,3,"
        "\"{\"\"External id\"\":2,\"\"correlation\"\":7,\"\"blocks per SM\"\":0.007576}\"\n"
        "5,3,Spans,PyTorch Profiler,PyTorch Profiler (0),span,Trace,0,120000,,0,,\n");
    free(text);
    trace_release(t);
}

static void csv_starts_are_offsets_and_the_window_clips(void **state) {
    trace *t = sample_trace();
    t->start_ns = 5000;
    char *text = export_text(
        t, &(export_options){.form = STR("csv"),
                             .window = &(time_window){10000, 20000}}); /* 15 … 25 µs */
    assert_int_equal(count_of(text, "\n"), 4);
    assert_int_equal(count_of(text, ",user_annotation,10000,10000,"), 1);
    assert_int_equal(count_of(text, ",cpu_op,15000,5000,"), 1);
    assert_int_equal(count_of(text, ",Trace,10000,10000,"), 1);
    free(text);
    trace_release(t);
}

static void csv_device_work_belongs_to_the_step_of_its_launch(void **state) {
    trace *t = sample_trace();
    ((int64_t *)(uintptr_t)t->slice.start)[4] = 200000; /* runs after the step */
    char *text = export_text(t, &(export_options){.form = STR("csv")});
    assert_int_equal(count_of(text, ",kernel,200000,5500,,0,3,"), 1);
    free(text);
    ((uint32_t *)(uintptr_t)t->kernel.launch)[1] = 0;
    text = export_text(t, &(export_options){.form = STR("csv")});
    assert_int_equal(count_of(text, ",kernel,200000,5500,,0,,"), 1);
    free(text);
    trace_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_of_the_sample_is_exactly_this),
        cmocka_unit_test(csv_starts_are_offsets_and_the_window_clips),
        cmocka_unit_test(csv_device_work_belongs_to_the_step_of_its_launch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
