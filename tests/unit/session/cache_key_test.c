/* cache_key_test.c: the key changes with whatever changes in the file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/fault.h"
#include "session/cache.h"
#include "unit/session/session_helper.h"

static bool same(cache_key a, cache_key b) {
    return a.n == b.n && memcmp(a.text, b.text, a.n) == 0;
}

/* Changes one byte and puts the time back. */
static void change_byte(const char *path, off_t at) {
    struct stat st;
    char c;
    int fd = open(path, O_RDWR);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(pread(fd, &c, 1, at), 1);
    c = (char)(c + 1);
    assert_int_equal(pwrite(fd, &c, 1, at), 1);
    assert_int_equal(futimens(fd, (struct timespec[]){st.st_atim, st.st_mtim}), 0);
    close(fd);
}

static void the_same_file_has_the_same_key(void **state) {
    folder f = folder_new();
    const char *path = put_file(&f, "x.json", small_trace(10));
    cache_key a = cache_key_of(path), b = cache_key_of(path);
    assert_true(a.n > 0);
    assert_int_equal(a.text[a.n], 0);
    assert_true(same(a, b));
    folder_gone(&f);
}

static void every_byte_of_a_small_file_counts(void **state) {
    folder f = folder_new();
    str text = small_trace(100);
    const char *path = put_file(&f, "x.json", text);
    for (size_t at = 0; at < text.n; at += 513) {
        cache_key before = cache_key_of(path);
        change_byte(path, (off_t)at);
        assert_false(same(before, cache_key_of(path)));
    }
    folder_gone(&f);
}

static void head_tail_and_samples_of_a_large_file_count(void **state) {
    folder f = folder_new();
    buf b = {0};
    buf_add_repeat(&b, 'x', 5000000);
    const char *path = put_file(&f, "x.json", buf_str(&b));
    int seen = 0;
    for (off_t at = 0; at < 5000000; at += 2000) {
        cache_key before = cache_key_of(path);
        change_byte(path, at);
        bool changed = !same(before, cache_key_of(path));
        if (at < 4096 || at >= 5000000 - 4096) assert_true(changed);
        seen += changed;
    }
    assert_in_range(seen, 30, 60); /* 18 samples of 4 KiB, one try each 2000 bytes */
    buf_fini(&b);
    folder_gone(&f);
}

static void size_time_and_inode_count(void **state) {
    folder f = folder_new();
    const char *path = put_file(&f, "x.json", small_trace(10));
    cache_key first = cache_key_of(path);
    struct timespec then[2] = {{.tv_sec = 1000, .tv_nsec = 5}, {.tv_sec = 1000, .tv_nsec = 5}};
    assert_int_equal(utimensat(AT_FDCWD, path, then, 0), 0);
    cache_key second = cache_key_of(path);
    assert_false(same(first, second));
    then[1].tv_nsec = 6; /* one nanosecond */
    assert_int_equal(utimensat(AT_FDCWD, path, then, 0), 0);
    assert_false(same(second, cache_key_of(path)));
    const char *copy = put_file(&f, "copy.json", small_trace(10));
    assert_int_equal(utimensat(AT_FDCWD, copy, then, 0), 0);
    assert_false(same(cache_key_of(path), cache_key_of(copy)));
    folder_gone(&f);
}

static void set_old(const char *path, time_t seconds) {
    struct timespec both[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
    assert_int_equal(utimensat(AT_FDCWD, path, both, 0), 0);
}

/* A worker of MindSpore is read from many files, some of them deep below its folder. */
static void files_below_a_worker_count(void **state) {
    static const char *const deep[] = {"msadvisor/device_0/recommendation/a.json",
                                       "hccl_info/AllReduce-op1/iter1.trace",
                                       "host_info/host_info_0.csv"};
    folder f = folder_new();
    const char *path = put_file(&f, "flops_0.txt", STR("full_op_name, FLOPs\n"));
    set_old(path, 1000);
    for (int i = 0; i < 3; i++) {
        cache_key before = cache_key_of(path);
        const char *other = put_file(&f, deep[i], STR("{}"));
        assert_int_equal(utimensat(AT_FDCWD, other, NULL, 0), 0);
        assert_int_equal(cache_key_of(path).n, 0); /* it is being written */
        set_old(other, 1000);
        cache_key with = cache_key_of(path);
        assert_true(before.n > 0 && with.n > 0);
        assert_false(same(before, with));
        set_old(other, 2000);
        assert_false(same(with, cache_key_of(path)));
    }
    folder_gone(&f);
}

static void a_file_that_just_changed_has_none(void **state) {
    folder f = folder_new();
    const char *path = put_file(&f, "x.json", small_trace(10));
    assert_int_equal(utimensat(AT_FDCWD, path, NULL, 0), 0);
    assert_int_equal(cache_key_of(path).n, 0);
    folder_gone(&f);
}

static void what_is_not_a_plain_file_has_none(void **state) {
    folder f = folder_new();
    assert_int_equal(cache_key_of(f.path).n, 0);
    assert_int_equal(cache_key_of("/nowhere/at/all").n, 0);
    assert_int_equal(cache_key_of(put_file(&f, "empty", STR_NONE)).n, 0);
    assert_int_equal(mkfifo(in_folder(&f, "fifo"), 0600), 0);
    assert_int_equal(cache_key_of(in_folder(&f, "fifo")).n, 0); /* and it does not wait */
    const char *path = put_file(&f, "x.json", small_trace(10));
    fault_arm(FAULT_READ, 1);
    assert_int_equal(cache_key_of(path).n, 0);
    fault_arm(FAULT_READ, 0);
    folder_gone(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_file_has_the_same_key),
        cmocka_unit_test(every_byte_of_a_small_file_counts),
        cmocka_unit_test(head_tail_and_samples_of_a_large_file_count),
        cmocka_unit_test(size_time_and_inode_count),
        cmocka_unit_test(files_below_a_worker_count),
        cmocka_unit_test(a_file_that_just_changed_has_none),
        cmocka_unit_test(what_is_not_a_plain_file_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
