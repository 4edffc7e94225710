/* rec_megengine_test.c: blocks of MegEngine's allocators, from a fake libmegengine_shared
 * (tests/fake/megengine_shared.c); the real one is tested by tests/frameworks/run. */
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include "unit/record/record_helper.h"

enum { CUDA = 1, CPU = 2, THREADS = 11 };
static const int HOST_KINDS[] = {CPU, THREADS};
static void *(*allocate)(int, size_t);
static void (*give_back)(int, void *);
static int *live;

static int load(void **state) {
    char path[1024];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 64);
    if (n <= 0) return -1;
    path[n] = 0;
    *strrchr(path, '/') = 0;
    *strrchr(path, '/') = 0;
    strcat(path, "/fake/libmegengine_shared.so");
    void *lib = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!lib) return -1;
    *(void **)&allocate = dlsym(lib, "fake_allocate");
    *(void **)&give_back = dlsym(lib, "fake_free");
    live = dlsym(lib, "fake_live");
    return allocate && give_back && live ? 0 : -1;
}

static void without_megengine_nothing_is_promised(void **state) {
    assert_int_equal(tacho_megengine(HOST_KINDS, 2, 0), 0);
    assert_int_equal(tacho_megengine(NULL, 0, 0), 0);
}

#if defined(__x86_64__) || defined(__aarch64__)

static void blocks_have_addresses_sizes_and_devices(void **state) {
    fresh_folder();
    assert_int_equal(tacho_megengine(HOST_KINDS, 2, 3), 1);
    start_all();
    void *a = allocate(CPU, 100), *b = allocate(CUDA, 256), *c = allocate(THREADS, 10);
    assert_null(allocate(CPU, 1 << 20)); /* nothing happened: nothing is reported */
    give_back(CPU, a);
    give_back(CUDA, b);
    give_back(THREADS, c);
    give_back(CPU, NULL);
    trace *t = stop_and_read();
    assert_int_equal(tacho_megengine(NULL, 0, 0), 0);
    static const int64_t BYTES[] = {100, 256, 10, -100, -256, -10};
    static const int64_t ALLOCATED[] = {100, 256, 110, 10, 0, 0};
    assert_int_equal(t->memory.n - 1, 6);
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(t->memory.bytes[i + 1], BYTES[i]);
        assert_int_equal(t->memory.allocated[i + 1], ALLOCATED[i]);
        assert_int_equal(t->memory.device[i + 1] != 0, i == 1 || i == 4); /* 0: the host */
    }
    assert_int_equal(t->memory.address[1], (uintptr_t)a);
    trace_release(t);
}

static void its_own_work_is_done_and_afterwards_unwatched(void **state) {
    fresh_folder();
    *live = 0;
    assert_int_equal(tacho_megengine(HOST_KINDS, 2, 0), 1);
    assert_int_equal(tacho_megengine(HOST_KINDS, 2, 0), 1); /* again: still once */
    void *a = allocate(CPU, 8);
    assert_int_equal(*live, 1);
    tacho_megengine(NULL, 0, 0);
    start_all();
    give_back(CPU, a);
    assert_int_equal(*live, 0);
    trace *t = stop_and_read();
    assert_int_equal(t->memory.n - 1, 0);
    trace_release(t);
}

#endif

int main(void) {
    const struct CMUnitTest first[] = {cmocka_unit_test(without_megengine_nothing_is_promised)};
    int failed = cmocka_run_group_tests_name("rec_megengine (none)", first, NULL, NULL);
#if defined(__x86_64__) || defined(__aarch64__)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_have_addresses_sizes_and_devices),
        cmocka_unit_test(its_own_work_is_done_and_afterwards_unwatched),
    };
    failed += cmocka_run_group_tests_name("rec_megengine", tests, load, NULL);
#endif
    remove_folder();
    return failed;
}
