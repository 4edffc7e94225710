/* file_list_test.c: one list for all processes, and an outcome for every file in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cluster/file_list.h"

/* The other process is a test: what it sends is `incoming`, what it gets is `outgoing`. */
static str incoming;
static buf outgoing;

static int send_bytes(int to, const void *bytes, uint64_t n) {
    assert_in_range(to, 0, 1);
    buf_clear(&outgoing);
    buf_add(&outgoing, bytes, n);
    return 0;
}

static int receive_bytes(int from, void **bytes, uint64_t *n) {
    assert_in_range(from, 0, 1);
    *n = incoming.n;
    *bytes = malloc(incoming.n + 1);
    assert_non_null(*bytes);
    memcpy(*bytes, incoming.p, incoming.n);
    return 0;
}

static transport process_of_two(int rank) {
    return (transport){
        .rank = rank,
        .size = 2,
        .many = true,
        .plugin = {.send = send_bytes, .receive = receive_bytes, .release = free}};
}

static file_list list_three(arena *a) {
    static span_entry spans[] = {
        {.path = {"/run/a", 6}, .number = 1, .size_bytes = 10},
        {.path = {"/run/b", 6}, .number = 1, .size_bytes = 30, .process = 7},
        {.path = {"/run/c", 6}, .number = 1, .size_bytes = 20}};
    static worker_entry workers[] = {
        {.name = {"rank0", 5}, .rank = 0, .spans = &spans[0], .n_spans = 1},
        {.name = {"rank1", 5}, .rank = 1, .spans = &spans[1], .n_spans = 1},
        {.name = {"rank2", 5}, .rank = 2, .spans = &spans[2], .n_spans = 1}};
    run_entry run = {.workers = workers, .n_workers = 3, .n_ranks = 3, .n_traces = 3};
    file_list list;
    assert_int_equal(file_list_make(a, &run, STR_NONE, &list, NULL), OK);
    return list;
}

static void the_largest_file_comes_first(void **state) {
    arena a;
    arena_init(&a, 0);
    file_list list = list_three(&a);
    assert_int_equal(list.n, 3);
    assert_true(str_eq(list.files[0].worker, STR("rank1")));
    assert_true(str_eq(list.files[1].worker, STR("rank2")));
    assert_true(str_eq(list.files[2].path, STR("/run/a")));
    arena_fini(&a);
}

static void the_others_get_the_list_of_process_0(void **state) {
    arena a;
    arena_init(&a, 0);
    file_list list = list_three(&a), got = {.n = 0};
    transport first = process_of_two(0), second = process_of_two(1);
    assert_int_equal(file_list_share(&first, &a, &list, NULL), OK);
    incoming = buf_str(&outgoing);
    assert_int_equal(file_list_share(&second, &a, &got, NULL), OK);
    assert_int_equal(got.n, 3);
    assert_true(str_eq(got.files[0].worker, STR("rank1")));
    assert_string_equal(got.files[0].path.p, "/run/b");
    assert_int_equal(got.files[0].process, 7);
    assert_int_equal(got.files[1].size_bytes, 20);
    arena_fini(&a);
}

static void process_0_learns_what_became_of_each_file(void **state) {
    arena a;
    arena_init(&a, 0);
    file_list list = list_three(&a), other = list_three(&a);
    transport first = process_of_two(0), second = process_of_two(1);
    list.files[0].state = FILE_READ;
    other.files[2].state = FILE_VANISHED;
    other.files[2].reason = STR("gone");
    assert_int_equal(file_list_gather(&second, &other, NULL), OK);
    incoming = buf_str(&outgoing);
    assert_int_equal(file_list_gather(&first, &list, NULL), OK);
    assert_int_equal(file_list_count(&list, FILE_READ), 1);
    assert_int_equal(file_list_count(&list, FILE_UNREAD), 1);
    assert_int_equal(list.files[2].state, FILE_VANISHED);
    assert_true(str_eq(list.files[2].reason, STR("gone")));
    arena_fini(&a);
}

static void bytes_that_are_not_a_list_are_refused(void **state) {
    static const struct {
        const char *p;
        size_t n;
    } bad[] = {{"", 0}, {"x", 2}, {"9", 2}, {"-1", 3}, {"1\0rank0\0/run/a\0", 16}, {"2", 1}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        arena a;
        arena_init(&a, 0);
        file_list got = {.n = 0};
        transport second = process_of_two(1);
        incoming = str_n(bad[i].p, bad[i].n);
        assert_int_equal(file_list_share(&second, &a, &got, NULL), ERR_FORMAT);
        arena_fini(&a);
    }
    arena a;
    arena_init(&a, 0);
    file_list list = list_three(&a);
    transport first = process_of_two(0);
    incoming = STR("3\0001\0\0\0");
    assert_int_equal(file_list_gather(&first, &list, NULL), ERR_FORMAT);
    arena_fini(&a);
}

static void another_size_is_seen(void **state) {
    char path[] = "/tmp/file_list_XXXXXX";
    int fd = mkstemp(path);
    assert_int_equal(write(fd, "four", 4), 4);
    listed_file f = {.path = str_of(path), .size_bytes = 4};
    assert_true(listed_file_is_same(&f));
    assert_int_equal(write(fd, "more", 4), 4);
    assert_false(listed_file_is_same(&f));
    unlink(path);
    assert_true(listed_file_is_same(&f));
    close(fd);
}

static int free_outgoing(void **state) {
    buf_fini(&outgoing);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_file_comes_first),
        cmocka_unit_test(the_others_get_the_list_of_process_0),
        cmocka_unit_test(process_0_learns_what_became_of_each_file),
        cmocka_unit_test(bytes_that_are_not_a_list_are_refused),
        cmocka_unit_test(another_size_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, free_outgoing);
}
