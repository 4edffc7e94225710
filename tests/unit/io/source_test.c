/* source_test.c: every way to the bytes gives the same bytes: plain, gzip, zstd; file, pipe,
 * memory; with and without a thread; any size of pieces, any number of kept bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fault.h"
#include "base/message_ids_cli.h"
#include "unit/io/io_helper.h"

static const read_plan PLANS[] = {
    {.want = 4 << 20, .keep = 0},
    {.want = 1 << 20, .keep = 777},
    {.want = 1 << 20, .keep = 300000}, /* more than a block's headroom */
    {.want = 70001, .keep = 70000},
    {.want = 70001, .keep = 10000000}, /* all of it, every time longer */
    {.want = 100000, .keep = 5, .hold_all = true},
    {.want = 1 << 20, .keep = 4000, .threads = 2},
    {.want = 3 << 20, .keep = 0, .threads = 2},
    {.want = 1 << 20, .keep = 300000, .threads = 2},
    {.want = 70001, .keep = 10000000, .threads = 2},
    {.want = 100000, .keep = 5, .threads = 2, .hold_all = true},
};
#define N_PLANS (sizeof PLANS / sizeof *PLANS)

static void check_same(buf out, str text) {
    assert_int_equal(out.n, text.n);
    if (text.n) assert_memory_equal(out.p, text.p, text.n);
    buf_fini(&out);
}

/* The text as it is, as gzip and as zstd. */
static void three_forms(str text, buf forms[3]) {
    forms[0] = (buf){0};
    buf_add_str(&forms[0], text);
    forms[1] = gzip_of(text, 6);
    forms[2] = zstd_of(text, 1);
}

static void free_forms(buf forms[3]) {
    for (int i = 0; i < 3; i++) buf_fini(&forms[i]);
}

static void files_and_memory_give_the_same_bytes_by_every_plan(void **state) {
    buf text = text_of(3000001, 1), forms[3];
    three_forms(buf_str(&text), forms);
    for (int f = 0; f < 3; f++) {
        char *path = file_of(buf_str(&forms[f]));
        for (size_t p = 0; p < N_PLANS; p++) {
            source *s;
            uint16_t damage;
            assert_int_equal(source_open(path, &s, NULL), OK);
            assert_int_equal(source_codec(s), f);
            assert_int_equal(source_file_bytes(s), forms[f].n);
            check_same(read_all(s, PLANS[p], &damage), buf_str(&text));
            assert_int_equal(damage, MSG_NONE);
            check_same(read_memory_all(buf_str(&forms[f]), PLANS[p], &damage), buf_str(&text));
            assert_int_equal(damage, MSG_NONE);
        }
        file_gone(path);
    }
    free_forms(forms);
    buf_fini(&text);
}

typedef struct {
    int fd;
    str bytes;
    size_t portion;
} writer;

static void *write_pipe(void *context) {
    writer *w = context;
    for (size_t at = 0; at < w->bytes.n;) {
        size_t n = w->bytes.n - at < w->portion ? w->bytes.n - at : w->portion;
        ssize_t put = write(w->fd, w->bytes.p + at, n);
        if (put <= 0) break;
        at += (size_t)put;
        w->portion = w->portion * 3 % 8191 + 1;
    }
    close(w->fd);
    return NULL;
}

static void pipes_give_the_same_bytes_however_they_are_written(void **state) {
    buf text = text_of(300000, 2), forms[3];
    three_forms(buf_str(&text), forms);
    /* Two members, so that a member's border falls anywhere in the pipe's portions. */
    buf second = gzip_of(buf_str(&text), 9);
    buf_add_str(&forms[1], buf_str(&second));
    buf_fini(&second);
    for (int i = 0; i < 60; i++) {
        int ends[2];
        char path[64];
        assert_int_equal(pipe(ends), 0);
        snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
        writer w = {.fd = ends[1], .bytes = buf_str(&forms[i % 3]), .portion = (size_t)(i + 1)};
        pthread_t t;
        assert_int_equal(pthread_create(&t, NULL, write_pipe, &w), 0);
        source *s;
        assert_int_equal(source_open_named(path, &s, NULL), OK);
        assert_int_equal(source_file_bytes(s), 0);
        uint16_t damage;
        buf out =
            read_all(s, (read_plan){.want = 50000, .keep = 99, .threads = 1 + i % 2}, &damage);
        assert_int_equal(damage, MSG_NONE);
        assert_int_equal(out.n, i % 3 == 1 ? 2 * text.n : text.n);
        assert_memory_equal(out.p, text.p, text.n);
        buf_fini(&out);
        pthread_join(t, NULL);
        close(ends[0]);
    }
    free_forms(forms);
    buf_fini(&text);
}

static void standard_input_is_read_from_its_position(void **state) {
    buf text = text_of(100000, 3);
    char *path = file_of(buf_str(&text));
    int saved = dup(STDIN_FILENO);
    for (off_t from = 0; from <= 5000; from += 5000) {
        assert_non_null(freopen(path, "r", stdin));
        assert_int_equal(lseek(STDIN_FILENO, from, SEEK_SET), from);
        source *s;
        assert_int_equal(source_open("-", &s, NULL), OK);
        check_same(read_all(s, (read_plan){.want = 30000}, NULL),
                   str_from(buf_str(&text), (size_t)from));
        struct stat st;
        assert_int_equal(fstat(STDIN_FILENO, &st), 0); /* not closed */
    }
    dup2(saved, STDIN_FILENO);
    close(saved);
    file_gone(path);
    buf_fini(&text);
}

static void empty_input_ends_at_once_and_is_whole(void **state) {
    buf forms[3];
    three_forms(STR_NONE, forms);
    for (int f = 0; f < 3; f++) {
        char *path = file_of(buf_str(&forms[f]));
        for (int threads = 1; threads <= 2; threads++) {
            source *s;
            uint16_t damage;
            assert_int_equal(source_open(path, &s, NULL), OK);
            check_same(read_all(s, (read_plan){.want = 4096, .threads = threads}, &damage),
                       STR_NONE);
            assert_int_equal(damage, MSG_NONE);
        }
        file_gone(path);
    }
    free_forms(forms);
}

static void a_cut_stream_delivers_its_beginning_and_tells_the_damage(void **state) {
    buf text = text_of(3000000, 4), forms[3];
    three_forms(buf_str(&text), forms);
    for (int f = 1; f < 3; f++) {
        for (int threads = 1; threads <= 2; threads++) {
            uint16_t damage;
            read_plan plan = {.want = 1 << 20, .keep = 100, .threads = threads};
            buf out = read_memory_all(str_n(forms[f].p, forms[f].n / 2), plan, &damage);
            assert_int_equal(damage, MSG_STREAM_CUT);
            assert_in_range(out.n, text.n / 3, text.n * 2 / 3);
            assert_memory_equal(out.p, text.p, out.n);
            buf_fini(&out);
        }
    }
    free_forms(forms);
    buf_fini(&text);
}

/* Another program writes into the file while it is read. */

static void a_file_that_shrinks_ends_early_and_tells_it(void **state) {
    buf text = text_of(1 << 20, 1);
    char *path = file_of(buf_str(&text));
    source *s;
    piece first, second, end;
    assert_int_equal(source_open(path, &s, NULL), OK);
    assert_int_equal(source_next(s, 4096, 0, &first, NULL), OK);
    assert_int_equal(truncate(path, 10000), 0);
    assert_memory_equal(first.p, text.p, 4096); /* what was handed out is still there */
    assert_int_equal(source_next(s, 1 << 20, 0, &second, NULL), OK);
    assert_int_equal(second.n, 10000 - 4096);
    assert_memory_equal(second.p, text.p + 4096, second.n);
    source_release(s, &first);
    source_release(s, &second);
    assert_int_equal(source_next(s, 1 << 20, 0, &end, NULL), OK);
    assert_int_equal(end.n, 0);
    assert_int_equal(source_damage(s), MSG_STREAM_SHRANK);
    source_close(s);
    file_gone(path);
    buf_fini(&text);
}

static void a_file_that_is_written_to_stays_what_was_handed_out(void **state) {
    buf text = text_of(1 << 20, 1);
    char *path = file_of(buf_str(&text));
    source *s;
    piece all, end;
    assert_int_equal(source_open(path, &s, NULL), OK);
    assert_int_equal(source_next(s, 1 << 20, 0, &all, NULL), OK);
    FILE *out = fopen(path, "r+b");
    assert_non_null(out);
    for (int i = 0; i < 2 << 20; i++) fputc('"', out);
    fclose(out);
    assert_memory_equal(all.p, text.p, text.n);
    source_release(s, &all);
    assert_int_equal(source_next(s, 1 << 20, 0, &end, NULL), OK); /* what is new is not read */
    assert_int_equal(end.n, 0);
    assert_false(source_damaged(s));
    source_close(s);
    file_gone(path);
    buf_fini(&text);
}

static void what_cannot_be_opened_says_why(void **state) {
    source *s = (source *)state;
    error err = {0};
    assert_int_equal(source_open("/nowhere/at/all", &s, &err), ERR_IO);
    assert_int_equal(err.message, MSG_CANNOT_OPEN);
    assert_true(str_eq(err.args[0].u.text, STR("/nowhere/at/all")));
    assert_int_equal(source_open("/tmp", &s, &err), ERR_ARG);
    assert_int_equal(err.message, MSG_IS_DIRECTORY);
    assert_ptr_equal(s, state); /* outputs are untouched on failure */
}

static void put_file(const char *folder, const char *name, char *path, size_t n) {
    snprintf(path, n, "%s/%s", folder, name);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    assert_int_equal(fputs("some text", f) >= 0 ? fclose(f) : -1, 0);
}

static void a_confined_source_opens_nothing_outside(void **state) {
    char folder[] = "/tmp/tacho_source_XXXXXX", inside[64], outside[64], link[64], near[64],
         real[PATH_MAX];
    source *s = NULL;
    error err = {0};
    assert_non_null(mkdtemp(folder));
    snprintf(inside, sizeof inside, "%s/in", folder);
    snprintf(near, sizeof near, "%s/in2", folder); /* begins with the same letters */
    assert_int_equal(mkdir(inside, 0700) | mkdir(near, 0700), 0);
    assert_non_null(realpath(inside, real));
    char within[128], beside[128];
    put_file(folder, "in/a", within, sizeof within);
    put_file(folder, "in2/a", beside, sizeof beside);
    put_file(folder, "out", outside, sizeof outside);
    snprintf(link, sizeof link, "%s/in/link", folder);
    assert_int_equal(symlink(outside, link), 0);
    source_confine(real);
    const char *const denied[] = {
        outside, beside, link, "-", "http://127.0.0.1:1/x", "/proc/self/status"};
    for (size_t i = 0; i < sizeof denied / sizeof *denied; i++) {
        if (source_open(denied[i], &s, &err) != ERR_NOT_FOUND)
            fail_msg("%s is opened", denied[i]);
        assert_int_equal(err.message, MSG_MCP_OUTSIDE);
    }
    assert_int_equal(source_open(within, &s, &err), OK);
    source_close(s);
    source_confine(NULL);
    assert_int_equal(source_open(link, &s, &err), OK);
    source_close(s);
    (void)!(unlink(link) | unlink(within) | unlink(beside) | unlink(outside));
    (void)!(rmdir(inside) | rmdir(near) | rmdir(folder));
}

static void pieces_of_changing_size_stay_contiguous(void **state) {
    buf text = text_of(5000000, 5), packed = gzip_of(buf_str(&text), 1);
    for (int threads = 1; threads <= 2; threads++) {
        source *s;
        assert_int_equal(source_open_memory(buf_str(&packed), &s, NULL), OK);
        source_set_threads(s, threads);
        size_t at = 0, keep = 0, want = 1000;
        for (;;) {
            piece pc;
            assert_int_equal(source_next(s, want, keep, &pc, NULL), OK);
            if (pc.n == 0) break;
            assert_int_equal(pc.offset, at - keep);
            assert_memory_equal(pc.p, text.p + pc.offset, pc.n);
            assert_true(pc.n == keep + want || pc.offset + pc.n == text.n);
            at = pc.offset + pc.n;
            keep = pc.n / 3;
            want = want * 17 % 2500001;
            source_release(s, &pc);
        }
        assert_int_equal(at, text.n);
        source_close(s);
    }
    buf_fini(&packed);
    buf_fini(&text);
}

static void looking_at_the_head_takes_nothing(void **state) {
    buf text = text_of(5000000, 8), forms[3];
    three_forms(buf_str(&text), forms);
    for (int f = 0; f < 3; f++) {
        char *path = file_of(buf_str(&forms[f]));
        for (int threads = 1; threads <= 2; threads++) {
            for (size_t n = 10; n < 8 << 20; n *= 40) {
                source *s;
                str head;
                assert_int_equal(source_open(path, &s, NULL), OK);
                for (size_t k = 1; k <= n; k = k < n && k * 7 > n ? n : k * 7) {
                    assert_int_equal(source_peek(s, k, &head, NULL), OK);
                    assert_int_equal(head.n, k < text.n ? k : text.n);
                    assert_memory_equal(head.p, text.p, head.n);
                }
                read_plan plan = {.want = 1 << 20, .keep = 50, .threads = threads};
                check_same(read_all(s, plan, NULL), buf_str(&text));
            }
        }
        file_gone(path);
    }
    free_forms(forms);
    buf_fini(&text);
}

static void a_source_may_be_closed_in_the_middle(void **state) {
    buf text = text_of(8 << 20, 6), packed = gzip_of(buf_str(&text), 1);
    for (int i = 0; i < 10; i++) {
        source *s;
        piece pc;
        assert_int_equal(source_open_memory(buf_str(&packed), &s, NULL), OK);
        source_set_threads(s, 2);
        for (int k = 0; k < i % 4; k++) {
            assert_int_equal(source_next(s, 1 << 20, 10, &pc, NULL), OK);
            source_release(s, &pc);
        }
        source_close(s);
    }
    source_close(NULL);
    buf_fini(&packed);
    buf_fini(&text);
}

/* Reads all of it under an armed fault; the status of whatever failed first. */
static status try_all(const char *path, int threads) {
    source *s;
    error err = {0};
    status st = source_open(path, &s, &err);
    if (st != OK) return st;
    source_set_threads(s, threads);
    for (;;) {
        piece pc;
        st = source_next(s, 100000, 300000, &pc, &err);
        if (st != OK) {
            assert_int_equal(err.status, st);
            assert_int_not_equal(err.message, MSG_NONE);
            piece again;
            if (source_codec(s) != CODEC_NONE)
                assert_int_equal(source_next(s, 100000, 0, &again, NULL), st);
        }
        if (st != OK || pc.n == 0) break;
        source_release(s, &pc);
    }
    source_close(s);
    return st;
}

static void every_allocation_and_read_may_fail_without_leak_or_lie(void **state) {
    buf text = text_of(1000000, 7), forms[3];
    three_forms(buf_str(&text), forms);
    for (int f = 0; f < 3; f++) {
        char *path = file_of(buf_str(&forms[f]));
        for (int kind = FAULT_ALLOC; kind <= FAULT_READ; kind++) {
            for (uint64_t n = 1;; n++) {
                fault_arm((fault_kind)kind, n);
                status st = try_all(path, 1 + (int)(n % 2));
                bool reached = fault_count((fault_kind)kind) >= n;
                fault_arm((fault_kind)kind, 0);
                if (!reached) {
                    assert_int_equal(st, OK);
                    break;
                }
                /* A map that fails is read instead, a thread that fails is done without. */
                assert_true(st == OK || st == (kind == FAULT_ALLOC ? ERR_MEMORY : ERR_IO));
            }
        }
        file_gone(path);
    }
    free_forms(forms);
    buf_fini(&text);
}

static void a_gzip_file_may_hold_its_name(void **state) {
    static const char NAME[] = "worker0.1794700920575616046.pt.trace.json"; /* and its NUL */
    buf text = text_of(100000, 5), packed = gzip_of(buf_str(&text), 6), named = {0};
    buf_add(&named, packed.p, 10);
    named.p[3] |= 8; /* a name follows the header: the first look at the file cuts it */
    buf_add(&named, NAME, sizeof NAME);
    buf_add(&named, packed.p + 10, packed.n - 10);
    char *path = file_of(buf_str(&named));
    for (int i = 0; i < 20; i++) {
        source *s;
        uint16_t damage;
        assert_int_equal(source_open(path, &s, NULL), OK);
        buf out = read_all(s, (read_plan){.want = 65536, .threads = 1}, &damage);
        assert_int_equal(damage, MSG_NONE);
        assert_int_equal(out.n, text.n);
        assert_memory_equal(out.p, text.p, text.n);
        buf_fini(&out);
    }
    file_gone(path);
    buf_fini(&text);
    buf_fini(&packed);
    buf_fini(&named);
}

static void what_is_not_a_file_is_not_waited_for(void **state) {
    char path[] = "/tmp/tacho_source_fifo_XXXXXX";
    source *s = NULL;
    error err = {0};
    int made = mkstemp(path);
    assert_true(made >= 0);
    close(made);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(20);
    assert_int_equal(source_open(path, &s, &err), ERR_ARG);
    assert_int_equal(err.message, MSG_IS_NO_FILE);
    assert_int_equal(source_open("/dev/zero", &s, &err), ERR_ARG);
    int ends[2]; /* a named one is read, as the shell's <(command) */
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "[1]", 3), 3);
    close(ends[1]);
    char named[32];
    snprintf(named, sizeof named, "/dev/fd/%d", ends[0]);
    assert_int_equal(source_open(named, &s, &err), ERR_ARG);
    assert_int_equal(source_open_named(named, &s, &err), OK);
    source_close(s);
    close(ends[0]);
    alarm(0);
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gzip_file_may_hold_its_name),
        cmocka_unit_test(files_and_memory_give_the_same_bytes_by_every_plan),
        cmocka_unit_test(pipes_give_the_same_bytes_however_they_are_written),
        cmocka_unit_test(standard_input_is_read_from_its_position),
        cmocka_unit_test(empty_input_ends_at_once_and_is_whole),
        cmocka_unit_test(a_cut_stream_delivers_its_beginning_and_tells_the_damage),
        cmocka_unit_test(a_file_that_shrinks_ends_early_and_tells_it),
        cmocka_unit_test(a_file_that_is_written_to_stays_what_was_handed_out),
        cmocka_unit_test(what_cannot_be_opened_says_why),
        cmocka_unit_test(what_is_not_a_file_is_not_waited_for),
        cmocka_unit_test(a_confined_source_opens_nothing_outside),
        cmocka_unit_test(pieces_of_changing_size_stay_contiguous),
        cmocka_unit_test(looking_at_the_head_takes_nothing),
        cmocka_unit_test(a_source_may_be_closed_in_the_middle),
        cmocka_unit_test(every_allocation_and_read_may_fail_without_leak_or_lie),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
