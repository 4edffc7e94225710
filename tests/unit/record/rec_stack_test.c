/* rec_stack_test.c: stacks of an interpreter whose memory is in any state (the memory is that of
 * tests/fake/python_memory.c); those of real ones are tested by tests/python/lines. */
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/rec_stack.h"
#include "unit/record/record_helper.h"

enum { WORDS = 4096, AREA = WORDS * 8, FRAMES = 40 };

static uint64_t *runtime, *code_type, *text_type;
static char *version;
static uint8_t
    *area; /* what a test calls the interpreter's memory; nothing is mapped after it */

static int load(void **state) {
    char path[1024];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 64);
    if (n <= 0) return -1;
    path[n] = 0;
    *strrchr(path, '/') = 0;
    *strrchr(path, '/') = 0;
    strcat(path, "/fake/libpython_memory.so");
    void *lib = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!lib) return -1;
    runtime = dlsym(lib, "_PyRuntime");
    code_type = dlsym(lib, "PyCode_Type");
    text_type = dlsym(lib, "PyUnicode_Type");
    version = dlsym(lib, "fake_version");
    area = mmap(NULL, AREA + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (area == MAP_FAILED || munmap(area + AREA, 4096) != 0) return -1;
    return runtime && code_type && text_type && version ? 0 : -1;
}

static uint64_t address(const void *p) {
    return (uint64_t)(uintptr_t)p;
}

static void put(uint32_t at, uint64_t word) {
    memcpy(area + at, &word, sizeof word);
}

/* ---- an interpreter of 3.12 with one thread ---- */

enum {
    INTERPRETER = 0,
    LOCK = 512,
    THREAD = 1024,
    CFRAME = 1536,
    FILE_NAME = 2048,
    FUNCTION = 2304,
    LINES = 2560,
    CODE = 3072,
    FRAME = 4096,
    FRAME_BYTES = 128
};

static void put_text(uint32_t at, const char *text) {
    enum { COMPACT_ASCII = 1 << 5 | 1 << 6 | 1 << 2 };
    put(at + 8, address(text_type));
    put(at + 16, strlen(text));
    put(at + 32, COMPACT_ASCII);
    memcpy(area + at + 40, text, strlen(text));
}

static void put_frame(uint32_t i, bool is_last) {
    uint32_t at = FRAME + i * FRAME_BYTES;
    put(at, address(area + CODE));
    put(at + 8, is_last ? 0 : address(area + at + FRAME_BYTES));
    put(at + 56, address(area + CODE) + 192 + 2 * (uint64_t)i);
}

static void build(void) {
    static const uint8_t lines[] = {0x80 | 11 << 3 | 7, 0, 0, 0x80 | 14 << 3 | 7, 4, 0, 0, 0,
                                    0x80 | 13 << 3 | 7, 6};
    memset(area, 0, AREA);
    strcpy(version, "3.12.0");
    runtime[5] = address(area + INTERPRETER);
    put(INTERPRETER + 72, address(area + THREAD));
    put(INTERPRETER + 384, address(area + LOCK));
    put(THREAD + 56, address(area + CFRAME));
    put(THREAD + 136, address((void *)pthread_self()));
    put(CFRAME, address(area + FRAME));
    put(CODE + 8, address(code_type));
    put(CODE + 68, 7);
    put(CODE + 112, address(area + FILE_NAME));
    put(CODE + 120, address(area + FUNCTION));
    put(CODE + 136, address(area + LINES));
    put_text(FILE_NAME, "/home/me/train.py");
    put_text(FUNCTION, "work");
    put(LINES + 16, sizeof lines);
    memcpy(area + LINES + 32, lines, sizeof lines);
    for (uint32_t i = 0; i < FRAMES; i++) put_frame(i, i + 1 == FRAMES);
}

static uint32_t walk(rec_place *to) {
    return rec_stack_walk(address(area + FRAME), to, REC_MOST_FRAMES);
}

static void stacks_of_good_memory_are_read(void **state) {
    rec_place places[REC_MOST_FRAMES];
    build();
    start_all();
    assert_true(rec_stack_ready(rec_current));
    assert_int_equal(walk(places), FRAMES);
    assert_true(rec_stack_number(rec_current->epoch, places, FRAMES) > 0);
    for (int i = 0; i < 4; i++) {
        (void)rec_stack_tick(rec_current, 100);
        usleep(20000);
    }
    trace *t = stop_and_read();
    assert_true(t->sample.n > 1);
    str name = trace_str(t, t->frame.name[t->sample.frame[1]]);
    assert_true(str_starts(name, STR("/home/me/train.py(")) &&
                str_find(name, STR("): work"), 0) != SIZE_MAX);
    trace_release(t);
}

/* ---- and in any other state ---- */

static void addresses_at_the_end_of_all_memory_have_no_frame(void **state) {
    rec_place places[REC_MOST_FRAMES];
    build();
    assert_true(rec_python_at.version == 0x030c);
    for (uint64_t i = 0; i < 600; i++) {
        assert_int_equal(rec_stack_walk(UINT64_MAX - i, places, REC_MOST_FRAMES), 0);
        put(FRAME + 8, UINT64_MAX - i); /* the caller, with a page that has been read */
        assert_int_equal(walk(places), 0);
    }
}

static void frames_in_a_circle_end(void **state) {
    rec_place places[REC_MOST_FRAMES];
    build();
    put(FRAME + 3 * FRAME_BYTES + 8, address(area + FRAME));
    assert_int_equal(walk(places), REC_MOST_FRAMES);
    for (uint32_t i = 0; i < FRAMES; i++) area[FRAME + i * FRAME_BYTES + 70] = 3; /* of C */
    assert_int_equal(walk(places), 0);
}

static uint64_t random_word(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    uint64_t r = *seed >> 33, inside = address(area) + r % AREA;
    switch (*seed >> 28 & 15) {
    case 0: return 0;
    case 1: return UINT64_MAX - r % 300;
    case 2: return address(code_type);
    case 3: return address(text_type);
    case 4: return address(area) + AREA - r % 300;
    case 5: return r % 4096;
    case 6: return INT64_MAX - r % 300;
    case 7: return *seed;
    default: return r & 1 ? inside & ~UINT64_C(7) : inside;
    }
}

static void changed_memory_is_read_without_a_fault(void **state) {
    enum { ROUNDS = 60000 };
    rec_place places[REC_MOST_FRAMES];
    uint64_t seed = 42;
    uint32_t n_numbered = 0;
    start_all();
    build();
    assert_true(rec_stack_ready(rec_current));
    for (uint32_t i = 0; i < ROUNDS; i++) {
        if (i % 16 == 0) build();
        put((uint32_t)(random_word(&seed) % (i % 3 ? 4096 + 1024 : AREA - 8)),
            random_word(&seed));
        uint32_t n = walk(places);
        assert_true(n <= REC_MOST_FRAMES);
        n_numbered += rec_stack_number(rec_current->epoch, places, n) != 0;
        if (i % 500 == 0) (void)rec_stack_tick(rec_current, 100);
    }
    assert_true(n_numbered > ROUNDS / 10); /* not all was refused at once */
    trace_release(stop_and_read());
}

/* From 3.13 on the interpreter says where things are. */
static void wrong_places_are_refused(void **state) {
    const char *why = NULL;
    rec_python_layout layout;
    const uint8_t *at;
    uint64_t seed = 7;
    uint32_t n_found = 0;
    strcpy(version, "3.13.0");
    for (int i = 0; i < 20000; i++) {
        for (int k = 0; k < 96; k++) runtime[k] = random_word(&seed) % (k % 2 ? 300 : 200);
        memcpy(runtime, "xdebugpy", 8);
        runtime[1] = 0x030d << 16;
        runtime[2] = 0;
        if (i % 2) runtime[23] = 1 << 20;
        bool is = rec_python_find(&layout, &at, &why);
        assert_true(is != (why != NULL));
        assert_true(!is || (layout.thread_frame <= 240 && layout.frame_back <= 240));
        n_found += is;
    }
    assert_true(n_found > 0 && n_found <= 10000);
    memset(runtime, 0, 1024 * sizeof *runtime);
    build();
}

/* ---- lines ---- */

static void tables_of_any_bytes_have_lines(void **state) {
    uint8_t table[512];
    uint64_t seed = 3;
    for (int i = 0; i < 30000; i++) {
        size_t n = random_word(&seed) % sizeof table;
        for (size_t k = 0; k < n; k++)
            table[k] = (uint8_t)(random_word(&seed) >> (i % 2 ? 3 : 0));
        for (int format = 0; format < 3; format++)
            (void)rec_python_line((rec_lines_format)format, table, n, UINT32_MAX - (uint32_t)i,
                                  (int32_t)(random_word(&seed) % 2000));
    }
    memset(table, 0xff, sizeof table); /* long numbers alone */
    for (size_t k = 0; k < sizeof table; k += 16) table[k] = 0x80 | 14 << 3;
    for (size_t k = 1; k < sizeof table; k++)
        if (k % 16) table[k] = 0x7e;
    (void)rec_python_line(REC_LINES_LOCATIONS, table, sizeof table, 1, INT32_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacks_of_good_memory_are_read),
        cmocka_unit_test(addresses_at_the_end_of_all_memory_have_no_frame),
        cmocka_unit_test(frames_in_a_circle_end),
        cmocka_unit_test(changed_memory_is_read_without_a_fault),
        cmocka_unit_test(wrong_places_are_refused),
        cmocka_unit_test(tables_of_any_bytes_have_lines),
    };
    int failed = cmocka_run_group_tests(tests, load, NULL);
    remove_folder();
    return failed;
}
