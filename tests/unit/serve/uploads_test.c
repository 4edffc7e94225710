/* uploads_test.c: files that were dropped on the page. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/message_ids_http.h"
#include "serve/uploads.h"

static const char TRACE[] =
    "{\"schemaVersion\":1,\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":"
    "\"aten::mm\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2}]}";

static bool exists(const char *folder, const char *name) {
    char path[512];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return stat(path, &st) == 0;
}

static void names_are_never_paths(void **state) {
    static const struct {
        const char *given, *made;
    } rows[] = {
        {"w0.pt.trace.json.gz", "w0.pt.trace.json.gz"},
        {"../../etc/passwd", "passwd"},
        {"/etc/shadow", "shadow"},
        {"C:\\traces\\a b.json", "a_b.json"},
        {"..", "trace"},
        {".hidden.json", "hidden.json"},
        {"a/", "trace"},
        {"", "trace"},
        {"\xe8\xbf\xbd.json", "___.json"},
        {"x;rm -rf $HOME`.json", "x_rm_-rf__HOME_.json"},
    };
    char out[UPLOAD_NAME_BYTES + 1];
    char lengthy[400];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        upload_safe_name(str_of(rows[i].given), out);
        assert_string_equal(out, rows[i].made);
    }
    memset(lengthy, 'a', sizeof lengthy);
    memcpy(lengthy + sizeof lengthy - 6, ".json", 6);
    upload_safe_name(str_of(lengthy), out);
    assert_int_equal(strlen(out), UPLOAD_NAME_BYTES);
    assert_true(str_ends(str_of(out), STR(".json")));
}

static status put(uploads *u, arena *a, const char *name, const char *group, const char *text,
                  str *run, error *err) {
    upload f = {0};
    size_t n = strlen(text);
    status s = upload_begin(u, n, &f, err);
    if (s != OK) return s;
    upload_write(&f, text, n / 2);
    upload_write(&f, text + n / 2, n - n / 2);
    upload_place at = {.name = str_of(name), .group = str_of(group), .arena = a};
    s = upload_end(&f, &at, run, err);
    upload_drop(&f);
    return s;
}

static void files_of_one_drop_are_one_run_and_others_are_not(void **state) {
    arena a;
    error err;
    str first, second, other;
    (void)state;
    arena_init(&a, 0);
    uploads *u = uploads_new(1 << 20);
    assert_non_null(u);
    char folder[256];
    snprintf(folder, sizeof folder, "%s", uploads_path(u));
    assert_int_equal(put(u, &a, "rank0.pt.trace.json", "g", TRACE, &first, &err), OK);
    assert_int_equal(put(u, &a, "rank1.pt.trace.json", "g", TRACE, &second, &err), OK);
    assert_int_equal(put(u, &a, "rank0.pt.trace.json", "", TRACE, &other, &err), OK);
    assert_string_equal(first.p, "rank0");
    assert_string_equal(second.p, "rank0");
    assert_string_equal(other.p, "rank0-2");
    assert_true(exists(folder, "rank0/rank1.pt.trace.json"));
    assert_false(exists(folder, "1.tmp"));
    /* The same name twice in one drop is not written over. */
    assert_int_equal(put(u, &a, "rank0.pt.trace.json", "g", TRACE, &other, &err), ERR_IO);
    uploads_free(u);
    assert_false(exists(folder, "."));
    arena_fini(&a);
}

static void ways_stay_below_their_folder(void **state) {
    static const struct {
        const char *given, *made;
    } rows[] = {
        {"job/rank0/trace.json", "job/rank0/trace.json"},
        {"../../etc/passwd", "etc/passwd"},
        {"/a//b/./c.json", "a/b/c.json"},
        {"C:\\runs\\..\\x y.json", "C_/runs/x_y.json"},
        {".ssh/.../key", "ssh/key"},
        {"a/", "a"},
        {"..", "trace"},
        {"", "trace"},
    };
    char out[UPLOAD_WAY_BYTES + 1], lengthy[2000];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(upload_safe_way(str_of(rows[i].given), out));
        assert_string_equal(out, rows[i].made);
    }
    for (size_t i = 0; i + 1 < sizeof lengthy; i++) lengthy[i] = i % 2 ? '/' : 'a';
    lengthy[sizeof lengthy - 1] = '\0';
    assert_false(upload_safe_way(str_of(lengthy), out));
}

static void a_folder_keeps_its_folders(void **state) {
    arena a;
    error err;
    str none, first, second, deep;
    (void)state;
    arena_init(&a, 0);
    uploads *u = uploads_new(1 << 20);
    assert_non_null(u);
    char folder[256];
    snprintf(folder, sizeof folder, "%s", uploads_path(u));
    assert_int_equal(put(u, &a, "job.1/notes.txt", "g", "hello", &none, &err), OK);
    assert_int_equal(none.n, 0); /* nothing to open yet */
    assert_int_equal(put(u, &a, "job.1/rank0/trace.json", "g", TRACE, &first, &err), OK);
    assert_string_equal(first.p, "job.1/rank0");
    assert_int_equal(put(u, &a, "job.1/rank1/trace.json", "g", TRACE, &second, &err), OK);
    assert_string_equal(second.p, "job.1"); /* two ranks are one run */
    assert_int_equal(put(u, &a, "job.1/a/b/c.json", "g", TRACE, &deep, &err), OK);
    assert_string_equal(deep.p, "job.1/a/b");
    assert_true(exists(folder, "job.1/rank1/trace.json"));
    uploads_free(u);
    assert_false(exists(folder, "."));
    arena_fini(&a);
}

static void what_is_not_a_trace_or_too_large_is_refused_and_takes_no_room(void **state) {
    arena a;
    error err;
    str run;
    uint64_t used, limit;
    (void)state;
    arena_init(&a, 0);
    uploads *u = uploads_new(200);
    assert_non_null(u);
    assert_int_equal(put(u, &a, "readme.md", "", "hello there", &run, &err), ERR_FORMAT);
    assert_int_equal(err.message, MSG_UPLOAD_NOT_TRACE);
    assert_false(exists(uploads_path(u), "readme"));
    uploads_room(u, &used, &limit);
    assert_true(used == 0 && limit == 200);
    upload f = {0};
    assert_int_equal(upload_begin(u, 201, &f, &err), ERR_LIMIT);
    assert_int_equal(err.message, MSG_UPLOAD_TOO_LARGE);
    assert_int_equal(upload_begin(u, UINT64_MAX, &f, &err), ERR_LIMIT);
    /* More bytes than were announced are not written. */
    assert_int_equal(upload_begin(u, 4, &f, &err), OK);
    upload_write(&f, "12345", 5);
    upload_place at = {.name = STR("a.json"), .arena = &a};
    assert_int_equal(upload_end(&f, &at, &run, &err), ERR_IO);
    upload_drop(&f);
    /* Nor is a file that did not arrive completely. */
    assert_int_equal(upload_begin(u, 4, &f, &err), OK);
    upload_write(&f, "12", 2);
    assert_int_equal(upload_end(&f, &at, &run, &err), ERR_IO);
    upload_drop(&f);
    uploads_room(u, &used, &limit);
    assert_true(used == 0);
    uploads_free(u);
    arena_fini(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_never_paths),
        cmocka_unit_test(files_of_one_drop_are_one_run_and_others_are_not),
        cmocka_unit_test(ways_stay_below_their_folder),
        cmocka_unit_test(a_folder_keeps_its_folders),
        cmocka_unit_test(what_is_not_a_trace_or_too_large_is_refused_and_takes_no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
