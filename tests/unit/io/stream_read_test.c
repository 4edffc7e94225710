/* stream_read_test.c: descriptors, memory, looking ahead, failing reads, the wake-up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <fcntl.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fault.h"
#include "unit/io/io_helper.h"

static void what_was_looked_at_is_handed_out_again(void **state) {
    reader r;
    str head;
    char to[64];
    size_t n;
    reader_init(&r, "test", -1, STR("0123456789abcdefghij"));
    assert_int_equal(reader_peek(&r, &head, NULL), OK);
    assert_true(str_eq(head, STR("0123456789abcdef")));
    assert_int_equal(reader_some(&r, to, 5, &n, NULL), OK);
    assert_int_equal(n, 5);
    assert_memory_equal(to, "01234", 5);
    assert_int_equal(reader_some(&r, to, 64, &n, NULL), OK);
    assert_int_equal(n, 11);
    assert_int_equal(reader_some(&r, to, 64, &n, NULL), OK);
    assert_memory_equal(to, "ghij", 4);
    assert_int_equal(r.consumed_bytes, 20);
    assert_int_equal(reader_some(&r, to, 64, &n, NULL), OK);
    assert_int_equal(n, 0);
}

static void a_short_input_has_a_short_head(void **state) {
    reader r;
    str head;
    reader_init(&r, "test", -1, STR("{}"));
    assert_int_equal(reader_peek(&r, &head, NULL), OK);
    assert_true(str_eq(head, STR("{}")));
    reader_init(&r, "test", -1, STR_NONE);
    assert_int_equal(reader_peek(&r, &head, NULL), OK);
    assert_int_equal(head.n, 0);
}

static void the_stream_fills_everything_it_was_asked_for(void **state) {
    buf text = text_of(100000, 1);
    uint16_t damage;
    for (size_t portion = 1; portion < 200000; portion *= 11) {
        buf out = stream_all(stream_as_is, buf_str(&text), portion, &damage);
        assert_int_equal(damage, MSG_NONE);
        assert_int_equal(out.n, text.n);
        assert_memory_equal(out.p, text.p, text.n);
        buf_fini(&out);
    }
    buf_fini(&text);
}

static void a_failing_read_names_the_path_and_the_reason(void **state) {
    reader r;
    error err = {0};
    char to[8];
    size_t n = 77;
    int fd = open("/tmp", O_RDONLY); /* a directory opens but cannot be read */
    reader_init(&r, "some/path", fd, STR_NONE);
    assert_int_equal(reader_some(&r, to, 8, &n, &err), ERR_IO);
    assert_int_equal(n, 77);
    assert_int_equal(err.message, MSG_CANNOT_READ);
    assert_string_equal(err.args[0].name, "path");
    assert_true(str_eq(err.args[0].u.text, STR("some/path")));
    assert_string_equal(err.args[1].name, "reason");
    assert_true(err.args[1].u.text.n > 0);
    close(fd);
}

static void the_nth_read_fails_when_it_shall(void **state) {
    reader r;
    char to[8];
    size_t n;
    reader_init(&r, "test", -1, STR("0123456789"));
    fault_arm(FAULT_READ, 2);
    assert_int_equal(reader_some(&r, to, 8, &n, NULL), OK);
    assert_int_equal(reader_some(&r, to, 8, &n, NULL), ERR_IO);
    assert_int_equal(reader_some(&r, to, 8, &n, NULL), OK);
    fault_arm(FAULT_READ, 0);
    assert_int_equal(n, 2);
}

static void *wake_it(void *context) {
    uint64_t one = 1;
    usleep(20000);
    return write(*(int *)context, &one, sizeof one) == sizeof one ? context : NULL;
}

static void a_wait_for_a_pipe_ends_when_it_is_woken(void **state) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    reader r;
    reader_init(&r, "pipe", ends[0], STR_NONE);
    r.wake_fd = eventfd(0, 0);
    char to[8];
    size_t n;
    assert_int_equal(write(ends[1], "abc", 3), 3);
    assert_int_equal(reader_some(&r, to, 8, &n, NULL), OK);
    assert_int_equal(n, 3);
    pthread_t t;
    assert_int_equal(pthread_create(&t, NULL, wake_it, &r.wake_fd), 0);
    error err = {0};
    assert_int_equal(reader_some(&r, to, 8, &n, &err), ERR_CANCELLED);
    assert_int_equal(err.message, MSG_READ_CANCELLED);
    pthread_join(t, NULL);
    close(r.wake_fd);
    close(ends[0]);
    close(ends[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_looked_at_is_handed_out_again),
        cmocka_unit_test(a_short_input_has_a_short_head),
        cmocka_unit_test(the_stream_fills_everything_it_was_asked_for),
        cmocka_unit_test(a_failing_read_names_the_path_and_the_reason),
        cmocka_unit_test(the_nth_read_fails_when_it_shall),
        cmocka_unit_test(a_wait_for_a_pipe_ends_when_it_is_woken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
