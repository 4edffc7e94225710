/* file_map_test.c: windows of a map: padding at every file size, pages given back, shrinking.
 * */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fault.h"
#include "unit/io/io_helper.h"

static file_map *map_of(str s, char **path, int *fd) {
    *path = file_of(s);
    *fd = open(*path, O_RDONLY);
    file_map *m;
    error err = {0};
    assert_int_equal(file_map_open(*fd, s.n, *path, &m, &err), OK);
    return m;
}

static void unmap(file_map *m, char *path, int fd) {
    file_map_close(m);
    close(fd);
    file_gone(path);
}

static void the_padding_is_readable_at_any_distance_from_a_page_border(void **state) {
    const size_t page = 4096, sizes[] = {1,        page - 257, page - 256, page - 255,
                                         page - 1, page,       page + 1,   3 * page};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        buf text = text_of(sizes[i], 1);
        char *path;
        int fd;
        file_map *m = map_of(buf_str(&text), &path, &fd);
        piece pc;
        assert_int_equal(file_map_next(m, 1 << 20, 0, &pc, NULL), OK);
        assert_int_equal(pc.n, sizes[i]);
        assert_memory_equal(pc.p, text.p, text.n);
        for (size_t k = 0; k < SOURCE_PAD; k++) assert_int_equal(pc.p[pc.n + k], 0);
        file_map_release(m, &pc);
        assert_int_equal(file_map_next(m, 1 << 20, 100, &pc, NULL), OK);
        assert_int_equal(pc.n, 0);
        unmap(m, path, fd);
        buf_fini(&text);
    }
}

static bool is_resident(const char *p) {
    /* Whether this process has the page mapped, not whether the page cache has it. */
    uint64_t entry = 0;
    int fd = open("/proc/self/pagemap", O_RDONLY);
    if (fd < 0) return true;
    ssize_t n = pread(fd, &entry, 8, (off_t)((uintptr_t)p / 4096 * 8));
    close(fd);
    return n == 8 && (entry >> 63);
}

static void touch(const piece *pc) {
    volatile char sum = 0;
    for (size_t i = 0; i < pc->n; i += 64) sum = (char)(sum + pc->p[i]);
}

static void pages_go_back_behind_the_oldest_piece_still_held(void **state) {
    buf text = text_of(4 << 20, 1);
    char *path;
    int fd;
    file_map *m = map_of(buf_str(&text), &path, &fd);
    piece pc[4];
    for (int i = 0; i < 4; i++) {
        assert_int_equal(file_map_next(m, 1 << 20, i ? 100 : 0, &pc[i], NULL), OK);
        touch(&pc[i]);
    }
    const char *first = pc[0].p, *second = pc[1].p + 8192;
    if (!is_resident(second)) skip(); /* no pagemap here */
    file_map_release(m, &pc[1]);
    assert_true(is_resident(first)); /* the oldest is still held */
    file_map_release(m, &pc[0]);
    assert_false(is_resident(first));
    assert_false(is_resident(second));
    assert_true(is_resident(pc[2].p + 8192));
    assert_memory_equal(pc[2].p, text.p + pc[2].offset, pc[2].n);
    file_map_release(m, &pc[2]);
    file_map_release(m, &pc[3]);
    assert_true(is_resident(pc[3].p + 8192)); /* its end may be asked for again */
    unmap(m, path, fd);
    buf_fini(&text);
}

static void a_file_that_shrinks_ends_early_and_tells_it(void **state) {
    buf text = text_of(1 << 20, 1);
    char *path;
    int fd;
    file_map *m = map_of(buf_str(&text), &path, &fd);
    piece pc;
    assert_int_equal(file_map_next(m, 4096, 0, &pc, NULL), OK);
    file_map_release(m, &pc);
    assert_int_equal(truncate(path, 10000), 0);
    assert_int_equal(file_map_next(m, 1 << 20, 0, &pc, NULL), OK);
    assert_int_equal(pc.n, 10000 - 4096);
    touch(&pc);
    file_map_release(m, &pc);
    assert_int_equal(file_map_next(m, 1 << 20, 0, &pc, NULL), OK);
    assert_int_equal(pc.n, 0);
    assert_int_equal(file_map_damage(m), MSG_STREAM_SHRANK);
    unmap(m, path, fd);
    buf_fini(&text);
}

static void the_nth_read_fails_when_it_shall(void **state) {
    buf text = text_of(10000, 1);
    char *path;
    int fd;
    file_map *m = map_of(buf_str(&text), &path, &fd);
    piece pc;
    error err = {0};
    fault_arm(FAULT_READ, 1);
    assert_int_equal(file_map_next(m, 4096, 0, &pc, &err), ERR_IO);
    assert_int_equal(err.message, MSG_CANNOT_READ);
    fault_arm(FAULT_ALLOC, 1);
    assert_int_equal(file_map_next(m, 4096, 0, &pc, &err), ERR_MEMORY);
    fault_arm(FAULT_ALLOC, 0);
    assert_int_equal(file_map_position(m), 0);
    unmap(m, path, fd);
    buf_fini(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_padding_is_readable_at_any_distance_from_a_page_border),
        cmocka_unit_test(pages_go_back_behind_the_oldest_piece_still_held),
        cmocka_unit_test(a_file_that_shrinks_ends_early_and_tells_it),
        cmocka_unit_test(the_nth_read_fails_when_it_shall),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
