/* load_test.c: files, streams and caches to sealed traces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fault.h"
#include "session/cache.h"
#include "session/load.h"
#include "store/file.h"
#include "unit/io/io_helper.h"
#include "unit/session/session_helper.h"

static const load_options NO_CACHE = {.no_cache = true, .threads = 1};

static loaded_trace loaded_from(const char *path, const load_options *o) {
    loaded_trace l;
    error err = {0};
    assert_int_equal(trace_load(path, o, &l, &err), OK);
    assert_non_null(l.trace);
    return l;
}

static uint32_t slices_of(const char *path, const load_options *o, bool *from_cache) {
    loaded_trace l = loaded_from(path, o);
    uint32_t n = l.trace->slice.n - 1;
    if (from_cache) *from_cache = l.from_cache;
    trace_release(l.trace);
    return n;
}

static status complaint(const char *path, const load_options *o, uint16_t *message) {
    loaded_trace l = {.trace = NULL};
    error err = {0};
    status s = trace_load(path, o, &l, &err);
    assert_null(l.trace);
    *message = err.message;
    return s;
}

static buf bytes_of(const char *path) {
    buf b = {0};
    char bytes[4096];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, file)) > 0;) buf_add(&b, bytes, n);
    fclose(file);
    return b;
}

static void every_form_of_a_trace_is_the_same_trace(void **state) {
    folder f = folder_new();
    str text = small_trace(40);
    buf gz = gzip_of(text, 6), zst = zstd_of(text, 3);
    put_file(&f, "a.json", text);
    put_file(&f, "b", buf_str(&gz));
    put_file(&f, "c.bin", buf_str(&zst));
    loaded_trace l = loaded_from(in_folder(&f, "a.json"), &NO_CACHE);
    assert_int_equal(file_write(l.trace, in_folder(&f, "d.tacho"), STR_NONE, NULL), OK);
    trace_release(l.trace);
    buf ours = bytes_of(in_folder(&f, "d.tacho"));
    buf ours_gz = gzip_of(buf_str(&ours), 6), ours_zst = zstd_of(buf_str(&ours), 3);
    put_file(&f, "e.tacho.gz", buf_str(&ours_gz));
    put_file(&f, "f.tacho.zst", buf_str(&ours_zst));
    for (const char *name = "a.json\0b\0c.bin\0d.tacho\0e.tacho.gz\0f.tacho.zst\0"; *name;
         name += strlen(name) + 1) {
        for (int threads = 0; threads < 4; threads++) {
            load_options o = {.no_cache = true, .threads = threads};
            assert_int_equal(slices_of(in_folder(&f, name), &o, NULL), 40);
        }
    }
    uint16_t message;
    put_file(&f, "cut.tacho.gz", str_n(ours_gz.p, ours_gz.n / 2));
    assert_int_equal(complaint(in_folder(&f, "cut.tacho.gz"), &NO_CACHE, &message), ERR_FORMAT);
    assert_int_equal(message, MSG_FOUND_BROKEN_STREAM);
    buf *all[] = {&gz, &zst, &ours, &ours_gz, &ours_zst};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) buf_fini(all[i]);
    folder_gone(&f);
}

static void the_second_time_comes_from_the_cache(void **state) {
    folder f = folder_new();
    const char *path = put_file(&f, "a.json", small_trace(11));
    bool cached;
    assert_int_equal(slices_of(path, NULL, &cached), 11);
    assert_false(cached);
    assert_int_equal(slices_of(path, NULL, &cached), 11);
    assert_true(cached);
    assert_int_equal(slices_of(path, &NO_CACHE, &cached), 11);
    assert_false(cached);
    folder_gone(&f);
}

static void a_changed_file_is_read_again(void **state) {
    folder f = folder_new();
    bool cached;
    for (int n = 5; n < 9; n++) {
        assert_int_equal(slices_of(put_file(&f, "a.json", small_trace(n)), NULL, &cached), n);
        assert_false(cached);
    }
    folder_gone(&f);
}

static void a_damaged_cache_is_rebuilt(void **state) {
    folder f = folder_new();
    const char *path = put_file(&f, "a.json", small_trace(11));
    bool cached;
    (void)slices_of(path, NULL, &cached);
    assert_int_equal(truncate(first_file(f.cache, ".tacho"), 1000), 0);
    assert_int_equal(slices_of(path, NULL, &cached), 11);
    assert_false(cached);
    assert_int_equal(slices_of(path, NULL, &cached), 11);
    assert_true(cached);
    folder_gone(&f);
}

static void a_file_that_just_changed_is_not_cached(void **state) {
    folder f = folder_new();
    const char *path = put_file(&f, "a.json", small_trace(11));
    assert_int_equal(utimensat(AT_FDCWD, path, NULL, 0), 0);
    (void)slices_of(path, NULL, NULL);
    assert_int_equal(count_files(f.cache, ".tacho"), 0);
    folder_gone(&f);
}

static bool append_to(void *context, uint64_t done, uint64_t total) {
    FILE *file = fopen(context, "a");
    fputc('\n', file);
    fclose(file);
    return false;
}

static void a_file_that_changes_while_it_is_read_is_not_cached(void **state) {
    folder f = folder_new();
    const char *path = put_file(&f, "a.json", small_trace(11));
    char copy[1024];
    snprintf(copy, sizeof copy, "%s", path);
    load_options o = {.threads = 1, .progress = append_to, .progress_context = copy};
    loaded_trace l = loaded_from(path, &o);
    trace_release(l.trace);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    if ((size_t)st.st_size != small_trace(11).n) /* progress may not be called for so little */
        assert_int_equal(count_files(f.cache, ".tacho"), 0);
    folder_gone(&f);
}

static void a_cache_that_cannot_be_written_is_a_note(void **state) {
    folder f = folder_new();
    setenv("XDG_CACHE_HOME", put_file(&f, "a_file", STR("x")), 1);
    loaded_trace l;
    assert_int_equal(trace_load(put_file(&f, "a.json", small_trace(11)), NULL, &l, NULL), OK);
    assert_int_equal(l.note.message, MSG_CACHE_NOT_WRITTEN);
    const char *text = l.note.args[0].u.text.p; /* its own copy */
    assert_true(text >= l.note.text && text < l.note.text + sizeof l.note.text);
    trace_release(l.trace);
    folder_gone(&f);
}

static void our_own_file_is_mapped_and_not_cached(void **state) {
    folder f = folder_new();
    loaded_trace l = loaded_from(put_file(&f, "a.json", small_trace(11)), &NO_CACHE);
    assert_int_equal(file_write(l.trace, in_folder(&f, "a.tacho"), STR_NONE, NULL), OK);
    trace_release(l.trace);
    struct timespec then[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    assert_int_equal(utimensat(AT_FDCWD, in_folder(&f, "a.tacho"), then, 0), 0);
    bool cached;
    assert_int_equal(slices_of(in_folder(&f, "a.tacho"), NULL, &cached), 11);
    assert_false(cached);
    assert_int_equal(count_files(f.cache, ".tacho"), 0);
    folder_gone(&f);
}

static void standard_input_is_read_once_and_never_cached(void **state) {
    folder f = folder_new();
    put_file(&f, "a.json", small_trace(11));
    loaded_trace l = loaded_from(in_folder(&f, "a.json"), &NO_CACHE);
    assert_int_equal(file_write(l.trace, in_folder(&f, "b.tacho"), STR_NONE, NULL), OK);
    trace_release(l.trace);
    int saved = dup(STDIN_FILENO);
    for (const char *name = "a.json\0b.tacho\0"; *name; name += strlen(name) + 1) {
        int fd = open(in_folder(&f, name), O_RDONLY);
        dup2(fd, STDIN_FILENO);
        close(fd);
        assert_int_equal(slices_of("-", NULL, NULL), 11);
    }
    dup2(saved, STDIN_FILENO);
    close(saved);
    assert_int_equal(count_files(f.cache, ".tacho"), 0);
    folder_gone(&f);
}

static void what_cannot_be_used_has_one_sentence(void **state) {
    folder f = folder_new();
    uint16_t m;
    assert_int_equal(complaint(put_file(&f, "x", STR_NONE), NULL, &m), ERR_FORMAT);
    assert_int_equal(m, MSG_FOUND_EMPTY);
    assert_int_equal(complaint(put_file(&f, "y", STR("{\"a\": 1}")), NULL, &m), ERR_FORMAT);
    assert_int_equal(m, MSG_FOUND_JSON);
    assert_int_equal(complaint(f.path, NULL, &m), ERR_ARG);
    assert_int_equal(m, MSG_IS_DIRECTORY);
    assert_int_equal(complaint(in_folder(&f, "nowhere"), NULL, &m), ERR_IO);
    assert_int_equal(m, MSG_CANNOT_OPEN);
    assert_int_equal(count_files(f.cache, ".tacho"), 0);
    folder_gone(&f);
}

static void damage_is_an_error_only_when_asked(void **state) {
    folder f = folder_new();
    str text = small_trace(11);
    const char *path = put_file(&f, "cut.json", str_n(text.p, text.n / 2));
    load_options strict = {.strict = true, .threads = 1};
    uint16_t m;
    assert_true(slices_of(path, NULL, NULL) >= 4);
    assert_int_equal(complaint(path, &strict, &m), ERR_FORMAT); /* the cached one too */
    assert_int_equal(m, MSG_STRICT_DAMAGE);
    assert_int_equal(slices_of(put_file(&f, "whole.json", small_trace(11)), &strict, NULL), 11);
    folder_gone(&f);
}

static void a_trace_over_the_memory_limit_is_refused(void **state) {
    folder f = folder_new();
    load_options little = {.no_cache = true, .threads = 1, .memory_limit_bytes = 64};
    load_options enough = {.no_cache = true, .threads = 1, .memory_limit_bytes = 1 << 30};
    const char *path = put_file(&f, "a.json", small_trace(300));
    uint16_t m;
    assert_int_equal(complaint(path, &little, &m), ERR_LIMIT);
    assert_int_equal(slices_of(path, &enough, NULL), 300);
    folder_gone(&f);
}

static void every_fault_gives_a_status_and_never_a_wrong_cache(void **state) {
    folder f = folder_new();
    for (int kind = 0; kind < N_FAULTS; kind++) {
        for (uint64_t n = 1; n < 100000; n = n < 60 ? n + 1 : n + n / 8) {
            const char *path = put_file(&f, "a.json", small_trace(30));
            loaded_trace l = {.trace = NULL};
            error err = {0};
            fault_arm((fault_kind)kind, n);
            status s = trace_load(path, &(load_options){.threads = 1}, &l, &err);
            bool reached = fault_count((fault_kind)kind) >= n;
            fault_arm((fault_kind)kind, 0);
            if (s == OK) trace_release(l.trace);
            if (s != OK) assert_int_not_equal(err.message, MSG_NONE);
            assert_true(s == OK || reached);
            assert_int_equal(count_files(f.cache, ".tmp"), 0);
            bool cached = count_files(f.cache, ".tacho") > 0;
            bool hit;
            assert_int_equal(slices_of(path, NULL, &hit), 30);
            assert_true(hit == cached);
            assert_int_equal(unlink(first_file(f.cache, ".tacho")), 0);
            if (!reached) break;
        }
    }
    folder_gone(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_of_a_trace_is_the_same_trace),
        cmocka_unit_test(the_second_time_comes_from_the_cache),
        cmocka_unit_test(a_changed_file_is_read_again),
        cmocka_unit_test(a_damaged_cache_is_rebuilt),
        cmocka_unit_test(a_file_that_just_changed_is_not_cached),
        cmocka_unit_test(a_file_that_changes_while_it_is_read_is_not_cached),
        cmocka_unit_test(a_cache_that_cannot_be_written_is_a_note),
        cmocka_unit_test(our_own_file_is_mapped_and_not_cached),
        cmocka_unit_test(standard_input_is_read_once_and_never_cached),
        cmocka_unit_test(what_cannot_be_used_has_one_sentence),
        cmocka_unit_test(damage_is_an_error_only_when_asked),
        cmocka_unit_test(a_trace_over_the_memory_limit_is_refused),
        cmocka_unit_test(every_fault_gives_a_status_and_never_a_wrong_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
