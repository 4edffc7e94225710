/* source_text_test.c: which files of the disk are shown as source code, and which are not. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/num.h"
#include "serve/source_text.h"
#include "unit/session/session_helper.h"

#define YEAR_2100_NS INT64_C(4102444800000000000)

static folder place;
static char served[4096];

static int make_place(void **state) {
    place = folder_new();
    put_file(&place, "code/train.py", STR("import torch\n"));
    put_file(&place, "code/lib/model.py", STR("class Net: pass\n"));
    put_file(&place, "code/secret.txt", STR("password\n"));
    put_file(&place, "outside.py", STR("outside\n"));
    return realpath(in_folder(&place, "code"), served) ? 0 : 1;
}

static int remove_place(void **state) {
    folder_gone(&place);
    return 0;
}

static source_wish wish(const char *file, const char *root) {
    return (source_wish){.file = str_of(file),
                         .root = root ? str_of(root) : STR_NONE,
                         .served = str_of(served),
                         .recorded_unix_ns = YEAR_2100_NS};
}

static void expect(const source_wish *w, source_state state, const char *text) {
    buf out = {0};
    assert_int_equal(source_text_read(w, &out), state);
    assert_true(str_eq(buf_str(&out), str_of(text)));
    buf_fini(&out);
}

static const char *code_root(char out[4096]) {
    assert_non_null(realpath(in_folder(&place, "code"), out));
    return out;
}

static void a_file_is_found_where_the_trace_says_or_in_the_root(void **state) {
    char root[4096];
    (void)code_root(root);
    source_wish w = wish(in_folder(&place, "code/train.py"), NULL);
    expect(&w, SOURCE_SAME, "import torch\n");
    w = wish("lib/model.py", root);
    expect(&w, SOURCE_SAME, "class Net: pass\n");
    w = wish("/workspace/job/lib/model.py", root);
    expect(&w, SOURCE_SAME, "class Net: pass\n");
    w = wish("lib/model.py", NULL);
    expect(&w, SOURCE_ABSENT, "");
    w = wish("/workspace/job/other.py", root);
    expect(&w, SOURCE_ABSENT, "");
}

static void a_path_that_points_outside_the_root_is_not_followed(void **state) {
    char root[4096];
    (void)code_root(root);
    source_wish w = wish("../outside.py", root);
    expect(&w, SOURCE_ABSENT, "");
    w = wish("lib/../../outside.py", root);
    expect(&w, SOURCE_ABSENT, "");
    assert_int_equal(
        symlink(in_folder(&place, "outside.py"), in_folder(&place, "code/link.py")), 0);
    w = wish("link.py", root);
    expect(&w, SOURCE_ABSENT, "");
}

static void only_files_in_the_two_folders_are_read(void **state) {
    char root[4096];
    source_wish w = wish(in_folder(&place, "outside.py"), NULL);
    expect(&w, SOURCE_DENIED, "");
    w = wish(in_folder(&place, "code/../outside.py"), code_root(root));
    expect(&w, SOURCE_DENIED, "");
    assert_int_equal(
        symlink(in_folder(&place, "outside.py"), in_folder(&place, "code/linked.py")), 0);
    w = wish(in_folder(&place, "code/linked.py"), NULL);
    expect(&w, SOURCE_DENIED, "");
    assert_int_equal(symlink(in_folder(&place, ""), in_folder(&place, "code/up")), 0);
    w = wish(in_folder(&place, "code/up/outside.py"), root);
    expect(&w, SOURCE_DENIED, "");
    w = wish("/proc/self/cwd/outside.py", NULL);
    expect(&w, SOURCE_ABSENT, "");
    /* A copy in the root is better than one that may not be shown. */
    put_file(&place, "lib/model.py", STR("password\n"));
    w = wish(in_folder(&place, "lib/model.py"), root);
    expect(&w, SOURCE_SAME, "class Net: pass\n");
    /* A folder whose name begins like that of one of the two. */
    w = wish(put_file(&place, "code2/train.py", STR("other\n")), NULL);
    expect(&w, SOURCE_DENIED, "");
    w = wish(in_folder(&place, "code/train.py"), NULL);
    w.served = STR_NONE;
    expect(&w, SOURCE_DENIED, "");
}

static void what_is_not_source_code_is_not_read(void **state) {
    source_wish w = wish(in_folder(&place, "code/secret.txt"), NULL);
    expect(&w, SOURCE_NO_CODE, "");
    assert_int_equal(
        symlink(in_folder(&place, "code/secret.txt"), in_folder(&place, "code/hidden.py")), 0);
    w = wish(in_folder(&place, "code/hidden.py"), NULL);
    expect(&w, SOURCE_NO_CODE, "");
    w = wish(put_file(&place, "code/binary.py", str_n("a\0b", 3)), NULL);
    expect(&w, SOURCE_NO_CODE, "");
    assert_int_equal(mkfifo(in_folder(&place, "code/pipe.py"), 0600), 0);
    w = wish(in_folder(&place, "code/pipe.py"), NULL);
    expect(&w, SOURCE_NO_CODE, "");
    assert_int_equal(mkdir(in_folder(&place, "code/folder.py"), 0700), 0);
    w = wish(in_folder(&place, "code/folder.py"), NULL);
    expect(&w, SOURCE_NO_CODE, "");
}

static void a_file_that_is_too_large_is_not_read(void **state) {
    const char *path = put_file(&place, "code/large.py", STR("x = 1\n"));
    source_wish w = wish(path, NULL);
    assert_int_equal(truncate(path, SOURCE_MOST_BYTES + 1), 0);
    expect(&w, SOURCE_TOO_LARGE, "");
}

static void a_file_tells_whether_it_changed_since_the_recording(void **state) {
    source_wish w = wish(in_folder(&place, "code/train.py"), NULL);
    w.recorded_unix_ns = 1;
    expect(&w, SOURCE_CHANGED, "import torch\n");
    w.recorded_unix_ns = ABSENT_I64;
    expect(&w, SOURCE_AGE_UNKNOWN, "import torch\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_found_where_the_trace_says_or_in_the_root),
        cmocka_unit_test(a_path_that_points_outside_the_root_is_not_followed),
        cmocka_unit_test(only_files_in_the_two_folders_are_read),
        cmocka_unit_test(what_is_not_source_code_is_not_read),
        cmocka_unit_test(a_file_that_is_too_large_is_not_read),
        cmocka_unit_test(a_file_tells_whether_it_changed_since_the_recording),
    };
    return cmocka_run_group_tests(tests, make_place, remove_place);
}
