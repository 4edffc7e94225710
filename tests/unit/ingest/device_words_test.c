/* device_words_test.c: device work of unknown tracers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ingest/trace_events/device_words.h"
#include "unit/ingest/read_helper.h"

#define KIND(category, name, says) device_words_kind(STR(category), STR(name), says)

static void test_words_need_an_argument(void **state) {
    (void)state;
    assert_int_equal(KIND("", "[MEMCPY] HtoD", SAYS_CORRELATION), KIND_MEMCPY);
    assert_int_equal(KIND("", "[MEMCPY] HtoD", 0), KIND_OTHER);
    assert_int_equal(KIND("GPU Memset", "fill", SAYS_PLACE), KIND_MEMSET);
    assert_int_equal(KIND("Concurrent Kernel", "add", SAYS_PLACE), KIND_KERNEL);
    assert_int_equal(KIND("Concurrent Kernel", "add", 0), KIND_OTHER);
    assert_int_equal(KIND("CUDA kernel", "Memcpy DtoH", SAYS_PLACE), KIND_MEMCPY);
}

static void test_the_form_of_a_name_tells_a_kernel(void **state) {
    (void)state;
    assert_int_equal(KIND("", "void k<4>(float*)", SAYS_CORRELATION), KIND_KERNEL);
    assert_int_equal(KIND("", "void memcpy_like<4>(float*)", SAYS_CORRELATION), KIND_KERNEL);
    assert_int_equal(KIND("", "_Z3addPf", SAYS_CORRELATION), KIND_KERNEL);
    assert_int_equal(KIND("", "sgemm_128x64_nn", SAYS_CORRELATION | SAYS_PLACE), KIND_KERNEL);
    assert_int_equal(KIND("", "sgemm_128x64_nn", SAYS_GRID | SAYS_PLACE), KIND_KERNEL);
}

static void test_others_have_correlations_and_devices_too(void **state) {
    (void)state;
    assert_int_equal(KIND("", "GET /users", SAYS_CORRELATION), KIND_OTHER);
    assert_int_equal(KIND("io", "read", SAYS_PLACE), KIND_OTHER);
    assert_int_equal(KIND("", "cudaMemcpyAsync", SAYS_CORRELATION), KIND_RUNTIME);
    assert_int_equal(KIND("", "hipLaunchKernel", SAYS_CORRELATION), KIND_RUNTIME);
    assert_int_equal(KIND("", "customer", SAYS_CORRELATION), KIND_OTHER);
}

static void test_work_finds_its_call(void **state) {
    (void)state;
    trace *t = read_events(EVENTS(
        "{\"ph\":\"X\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2,"
        "\"args\":{\"correlationId\":7}}",
        "{\"ph\":\"X\",\"name\":\"void k<1>(int)\",\"cat\":\"GPU\",\"pid\":0,\"tid\":9,"
        "\"ts\":5,\"dur\":3,\"args\":{\"correlationId\":7,\"streamId\":13,\"deviceId\":2}}"));
    assert_int_equal(t->kernel.n - 1, 1);
    assert_int_equal(t->kernel.launch[1], find_slice(t, "cudaLaunchKernel"));
    assert_int_equal(t->kernel.stream[1], 13);
    assert_int_equal(t->kernel.device[1], 2);
    trace_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_need_an_argument),
        cmocka_unit_test(test_the_form_of_a_name_tells_a_kernel),
        cmocka_unit_test(test_others_have_correlations_and_devices_too),
        cmocka_unit_test(test_work_finds_its_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
