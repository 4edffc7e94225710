/* cache_test.c: what is kept is found, what is stale or damaged is not, the limit holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fault.h"
#include "session/cache.h"
#include "session/load.h"
#include "unit/session/session_helper.h"

#define EVERYTHING (TRACE_ALL | TRACE_ARGUMENTS)

static trace *trace_of(const folder *f, int n) {
    loaded_trace l;
    const char *path = put_file(f, "made.json", small_trace(n));
    assert_int_equal(
        trace_load(path, &(load_options){.no_cache = true, .threads = 1}, &l, NULL), OK);
    return l.trace;
}

static cache_key key_named(const char *name) {
    cache_key k = {.n = 0};
    k.n = (uint32_t)snprintf(k.text, sizeof k.text, "%s", name);
    return k;
}

static bool has(const char *name) {
    cache_key k = key_named(name);
    trace *t = cache_find(&k, EVERYTHING);
    if (t) trace_release(t);
    return t != NULL;
}

static void keep(const char *name, const trace *t) {
    cache_key k = key_named(name);
    error err = {0};
    assert_int_equal(cache_keep(&k, t, &err), OK);
}

static void what_is_kept_is_found_under_its_key_alone(void **state) {
    folder f = folder_new();
    trace *t = trace_of(&f, 7);
    assert_false(has("one"));
    keep("one", t);
    cache_key k = key_named("one");
    trace *back = cache_find(&k, EVERYTHING);
    assert_non_null(back);
    assert_int_equal(back->slice.n, t->slice.n);
    assert_memory_equal(back->slice.start, t->slice.start, t->slice.n * sizeof *t->slice.start);
    trace_release(back);
    assert_false(has("two"));
    assert_false(has(""));
    struct stat st;
    assert_int_equal(stat(f.cache, &st), 0);
    assert_int_equal(st.st_mode & 077, 0); /* for its owner alone */
    trace_release(t);
    folder_gone(&f);
}

static void a_stolen_place_is_not_believed(void **state) {
    folder f = folder_new();
    trace *t = trace_of(&f, 7);
    keep("one", t);
    char one[1024];
    snprintf(one, sizeof one, "%s", first_file(f.cache, ".tacho"));
    keep("two", t);
    /* The entry of one is now where two is looked for. */
    assert_int_equal(rename(one, other_file(f.cache, ".tacho", one)), 0);
    assert_false(has("two"));
    assert_false(has("one"));
    assert_int_equal(count_files(f.cache, ".tacho"), 0); /* and it is gone */
    trace_release(t);
    folder_gone(&f);
}

static void a_folder_that_others_may_write_to_is_not_believed(void **state) {
    folder f = folder_new();
    trace *t = trace_of(&f, 7);
    error err = {0};
    keep("one", t);
    assert_true(has("one"));
    assert_int_equal(chmod(f.cache, 0777), 0);
    cache_key k = key_named("two");
    assert_false(has("one"));
    assert_int_equal(cache_keep(&k, t, &err), ERR_IO);
    assert_int_equal(err.message, MSG_CACHE_NOT_OURS);
    assert_int_equal(count_files(f.cache, ".tacho"), 1);
    assert_int_equal(chmod(f.cache, 0700), 0);
    assert_true(has("one"));
    if (geteuid() == 0) { /* only root can give a folder away */
        assert_int_equal(chown(f.cache, 12345, 0), 0);
        assert_false(has("one"));
        assert_int_equal(chown(f.cache, 0, 0), 0);
    }
    trace_release(t);
    folder_gone(&f);
}

/* Making room there would remove files that are not a cache. */
static void a_link_instead_of_the_folder_is_not_followed(void **state) {
    folder f = folder_new();
    trace *t = trace_of(&f, 7);
    error err = {0};
    keep("one", t);
    char moved[1024];
    snprintf(moved, sizeof moved, "%s", in_folder(&f, "recordings"));
    assert_int_equal(rename(f.cache, moved), 0);
    assert_int_equal(symlink(moved, f.cache), 0);
    cache_key k = key_named("two");
    assert_int_equal(cache_keep(&k, t, &err), ERR_IO);
    assert_int_equal(err.message, MSG_CACHE_NOT_OURS);
    assert_false(has("one"));
    assert_int_equal(count_files(moved, ".tacho"), 1);
    assert_int_equal(unlink(f.cache), 0);
    assert_int_equal(rename(moved, f.cache), 0);
    assert_true(has("one"));
    trace_release(t);
    folder_gone(&f);
}

static void an_entry_that_is_a_link_is_not_read(void **state) {
    folder f = folder_new();
    trace *t = trace_of(&f, 7);
    keep("one", t);
    char entry[1024], elsewhere[1024];
    snprintf(entry, sizeof entry, "%s", first_file(f.cache, ".tacho"));
    snprintf(elsewhere, sizeof elsewhere, "%s", in_folder(&f, "elsewhere.tacho"));
    assert_int_equal(rename(entry, elsewhere), 0);
    assert_int_equal(symlink(elsewhere, entry), 0);
    assert_false(has("one"));
    keep("one", t); /* in the place of the link, not through it */
    struct stat st;
    assert_int_equal(lstat(entry, &st), 0);
    assert_true(S_ISREG(st.st_mode));
    assert_true(has("one"));
    if (geteuid() == 0) { /* only root can give a file away */
        assert_int_equal(chown(entry, 12345, 0), 0);
        assert_false(has("one"));
    }
    trace_release(t);
    folder_gone(&f);
}

static void a_folder_that_others_may_read_is_closed_to_them(void **state) {
    folder f = folder_new();
    trace *t = trace_of(&f, 7);
    keep("one", t);
    assert_int_equal(chmod(f.cache, 0755), 0);
    assert_true(has("one"));
    keep("two", t);
    struct stat st;
    assert_int_equal(stat(f.cache, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    trace_release(t);
    folder_gone(&f);
}

static void a_damaged_entry_is_removed_wherever_the_damage_is(void **state) {
    folder f = folder_new();
    trace *t = trace_of(&f, 50);
    keep("one", t);
    struct stat st;
    assert_int_equal(stat(first_file(f.cache, ".tacho"), &st), 0);
    int refused = 0, tries = 0;
    for (off_t at = 0; at < st.st_size; at += 61, tries++) {
        keep("one", t);
        const char *path = first_file(f.cache, ".tacho");
        int fd = open(path, O_RDWR);
        char c;
        assert_int_equal(pread(fd, &c, 1, at), 1);
        c = (char)(c ^ 0x55);
        assert_int_equal(pwrite(fd, &c, 1, at), 1);
        close(fd);
        if (has("one")) continue; /* padding between the columns */
        refused++;
        assert_int_equal(count_files(f.cache, ".tacho"), 0);
    }
    assert_true(refused > tries / 4);
    keep("one", t);
    assert_int_equal(truncate(first_file(f.cache, ".tacho"), st.st_size / 2), 0);
    assert_false(has("one"));
    trace_release(t);
    folder_gone(&f);
}

static void set_age(const char *path, time_t seconds_ago) {
    struct timespec now, then[2];
    clock_gettime(CLOCK_REALTIME, &now);
    then[0] = then[1] = (struct timespec){.tv_sec = now.tv_sec - seconds_ago};
    assert_int_equal(utimensat(AT_FDCWD, path, then, 0), 0);
}

static void the_longest_unused_goes_first(void **state) {
    folder f = folder_new();
    trace *t = trace_of(&f, 7);
    struct stat st;
    keep("a", t);
    char a[1024];
    snprintf(a, sizeof a, "%s", first_file(f.cache, ".tacho"));
    assert_int_equal(stat(a, &st), 0);
    set_age(a, 300);
    char limit[32];
    snprintf(limit, sizeof limit, "%lld", (long long)st.st_size * 2 + 100);
    setenv("TACHO_CACHE_LIMIT", limit, 1);
    keep("b", t);
    set_age(other_file(f.cache, ".tacho", a), 200);
    assert_true(has("a")); /* used now, b not for 200 s */
    keep("c", t);
    assert_true(has("a"));
    assert_false(has("b"));
    assert_true(has("c"));
    assert_int_equal(count_files(f.cache, ".tacho"), 2);
    trace_release(t);
    folder_gone(&f);
}

static void what_exceeds_the_limit_alone_is_not_kept(void **state) {
    folder f = folder_new();
    trace *t = trace_of(&f, 7);
    setenv("TACHO_CACHE_LIMIT", "100", 1);
    cache_key k = key_named("one");
    error err = {0};
    assert_int_equal(cache_keep(&k, t, &err), ERR_LIMIT);
    assert_int_equal(err.message, MSG_CACHE_TOO_SMALL);
    assert_int_equal(count_files(f.cache, ""), 0);
    setenv("TACHO_CACHE_LIMIT", "0", 1);
    assert_false(cache_enabled());
    assert_int_equal(cache_keep(&k, t, &err), OK);
    assert_int_equal(count_files(f.cache, ""), 0);
    setenv("TACHO_CACHE_LIMIT", "nonsense", 1);
    assert_true(cache_enabled());
    trace_release(t);
    folder_gone(&f);
}

static void leftovers_of_killed_programs_go(void **state) {
    folder f = folder_new();
    trace *t = trace_of(&f, 7);
    put_file(&f, ".xdg/tacho/old.tacho.1.0.tmp", STR("x"));
    set_age(in_folder(&f, ".xdg/tacho/old.tacho.1.0.tmp"), 7200);
    put_file(&f, ".xdg/tacho/new.tacho.1.0.tmp", STR("x"));
    keep("one", t);
    assert_int_equal(count_files(f.cache, ".tmp"), 1);
    trace_release(t);
    folder_gone(&f);
}

static void the_folder_comes_from_the_environment(void **state) {
    folder f = folder_new();
    trace *t = trace_of(&f, 7);
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", f.path, 1);
    keep("one", t);
    assert_int_equal(count_files(in_folder(&f, ".cache/tacho"), ".tacho"), 1);
    setenv("XDG_CACHE_HOME", "not/absolute", 1);
    assert_true(has("one"));
    unsetenv("HOME");
    assert_false(cache_enabled());
    assert_false(has("one"));
    trace_release(t);
    folder_gone(&f);
}

static void a_folder_that_cannot_be_made_is_reported(void **state) {
    folder f = folder_new();
    trace *t = trace_of(&f, 7);
    setenv("XDG_CACHE_HOME", put_file(&f, "a_file", STR("x")), 1);
    cache_key k = key_named("one");
    error err = {0};
    assert_int_equal(cache_keep(&k, t, &err), ERR_IO);
    assert_int_equal(err.message, MSG_CACHE_NOT_WRITTEN);
    trace_release(t);
    folder_gone(&f);
}

static void a_write_that_fails_anywhere_leaves_no_entry(void **state) {
    folder f = folder_new();
    trace *t = trace_of(&f, 50);
    for (int kind = 0; kind < N_FAULTS; kind++) {
        for (uint64_t n = 1;; n++) {
            cache_key k = key_named("one");
            fault_arm((fault_kind)kind, n);
            status s = cache_keep(&k, t, NULL);
            bool reached = fault_count((fault_kind)kind) >= n;
            fault_arm((fault_kind)kind, 0);
            /* Making room afterwards may fail without harm: the entry is whole. */
            assert_true((s == OK) == has("one"));
            assert_int_equal(count_files(f.cache, ".tmp"), 0);
            if (s == OK) assert_int_equal(unlink(first_file(f.cache, ".tacho")), 0);
            if (!reached) break;
        }
    }
    trace_release(t);
    folder_gone(&f);
}

static void an_entry_is_not_lost_because_memory_is_short(void **state) {
    folder f = folder_new();
    trace *t = trace_of(&f, 50);
    keep("one", t);
    for (uint64_t n = 1;; n++) {
        cache_key k = key_named("one");
        fault_arm(FAULT_ALLOC, n);
        trace *back = cache_find(&k, EVERYTHING);
        bool reached = fault_count(FAULT_ALLOC) >= n;
        fault_arm(FAULT_ALLOC, 0);
        if (back) trace_release(back);
        assert_int_equal(count_files(f.cache, ".tacho"), 1);
        if (!reached) break;
    }
    trace_release(t);
    folder_gone(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_kept_is_found_under_its_key_alone),
        cmocka_unit_test(a_stolen_place_is_not_believed),
        cmocka_unit_test(a_folder_that_others_may_write_to_is_not_believed),
        cmocka_unit_test(a_link_instead_of_the_folder_is_not_followed),
        cmocka_unit_test(an_entry_that_is_a_link_is_not_read),
        cmocka_unit_test(a_folder_that_others_may_read_is_closed_to_them),
        cmocka_unit_test(a_damaged_entry_is_removed_wherever_the_damage_is),
        cmocka_unit_test(the_longest_unused_goes_first),
        cmocka_unit_test(what_exceeds_the_limit_alone_is_not_kept),
        cmocka_unit_test(leftovers_of_killed_programs_go),
        cmocka_unit_test(the_folder_comes_from_the_environment),
        cmocka_unit_test(a_folder_that_cannot_be_made_is_reported),
        cmocka_unit_test(a_write_that_fails_anywhere_leaves_no_entry),
        cmocka_unit_test(an_entry_is_not_lost_because_memory_is_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
