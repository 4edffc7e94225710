/* rec_paddle_test.c: blocks of Paddle's allocators, from a fake libphi_core
 * (tests/fake/phi_core.c); the real one is tested by tests/frameworks/run. */
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include "unit/record/record_helper.h"

enum { CPU = 1, GPU = 2, PINNED = 3 };
enum { OUT, BACK, RESERVE_OUT, RESERVE_BACK };
static void (*block)(uint64_t, int, int, uint64_t, int);
static void (*reserve)(int64_t);
static int *constructed;
static int64_t *reserved;
static const tacho_block NONE = {.size = sizeof NONE, .device = -1};

static int load(void **state) {
    char path[1024];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 64);
    if (n <= 0) return -1;
    path[n] = 0;
    *strrchr(path, '/') = 0;
    *strrchr(path, '/') = 0;
    strcat(path, "/fake/libphi_core.so");
    void *lib = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!lib) return -1;
    *(void **)&block = dlsym(lib, "fake_block");
    *(void **)&reserve = dlsym(lib, "fake_reserve");
    constructed = dlsym(lib, "fake_constructed");
    reserved = dlsym(lib, "fake_reserved");
    return block && reserve && constructed && reserved ? 0 : -1;
}

static void without_paddle_nothing_is_promised(void **state) {
    assert_int_equal(tacho_paddle(&NONE, 1), 0);
    assert_int_equal(tacho_paddle(NULL, 0), 0);
}

#if defined(__x86_64__) || defined(__aarch64__)

static void blocks_have_the_totals_of_their_device(void **state) {
    const tacho_block before[] = {
        {.size = sizeof *before, .device = -1, .allocated = 1000, .reserved = 4000},
        {.size = sizeof *before, .device = 1, .allocated = 50, .reserved = 60},
        {.size = sizeof *before, .device = 64, .allocated = 7, .reserved = 7}}; /* beyond all */
    fresh_folder();
    assert_int_equal(tacho_paddle(before, 3), 1);
    start_all();
    block(0x1000, CPU, 0, 100, OUT);
    block(0x9000, GPU, 1, 512, RESERVE_OUT);
    block(0x2000, GPU, 1, 256, OUT);
    block(0x3000, PINNED, 0, 10, OUT);
    block(0x1000, CPU, 0, 100, BACK);
    reserve(-4000);
    block(0x8000, CPU, 0, 4000, RESERVE_BACK); /* reported twice: counted once */
    block(0x3000, PINNED, 0, 10, BACK);
    trace *t = stop_and_read();
    assert_int_equal(tacho_paddle(NULL, 0), 0);
    static const int64_t WANTED[][4] = {{-1, 100, 1100, 4000},
                                        {1, 256, 306, 572},
                                        {-1, 10, 1110, 4000},
                                        {-1, -100, 1010, 4000},
                                        {-1, -10, 1000, 0}};
    assert_int_equal(*reserved, -4000);
    assert_int_equal(t->memory.n - 1, 5);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(t->memory.device[i + 1] != 0, WANTED[i][0] >= 0); /* 0: the host */
        assert_int_equal(t->memory.bytes[i + 1], WANTED[i][1]);
        assert_int_equal(t->memory.allocated[i + 1], WANTED[i][2]);
        assert_int_equal(t->memory.reserved[i + 1], WANTED[i][3]);
    }
    trace_release(t);
}

static void its_own_profiler_is_called_as_before(void **state) {
    fresh_folder();
    *constructed = 0;
    assert_int_equal(tacho_paddle(&NONE, 1), 1);
    assert_int_equal(tacho_paddle(&NONE, 1), 1); /* again: still one */
    block(0x1000, CPU, 0, 100, OUT);
    assert_int_equal(*constructed, 1);
    tacho_paddle(NULL, 0);
    start_all();
    block(0x1000, CPU, 0, 100, BACK); /* no listener any more */
    assert_int_equal(*constructed, 2);
    trace *t = stop_and_read();
    assert_int_equal(t->memory.n - 1, 0);
    trace_release(t);
}

static void totals_go_on_while_nothing_is_recorded(void **state) {
    fresh_folder();
    assert_int_equal(tacho_paddle(&NONE, 1), 1);
    block(0x1000, CPU, 0, 100, OUT);
    start_all();
    block(0x2000, CPU, 0, 1, OUT);
    trace *t = stop_and_read();
    tacho_paddle(NULL, 0);
    assert_int_equal(t->memory.n - 1, 1);
    assert_int_equal(t->memory.allocated[1], 101);
    trace_release(t);
}

#endif

int main(void) {
    const struct CMUnitTest first[] = {cmocka_unit_test(without_paddle_nothing_is_promised)};
    int failed = cmocka_run_group_tests_name("rec_paddle (none)", first, NULL, NULL);
#if defined(__x86_64__) || defined(__aarch64__)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_have_the_totals_of_their_device),
        cmocka_unit_test(its_own_profiler_is_called_as_before),
        cmocka_unit_test(totals_go_on_while_nothing_is_recorded),
    };
    failed += cmocka_run_group_tests_name("rec_paddle", tests, load, NULL);
#endif
    remove_folder();
    return failed;
}
