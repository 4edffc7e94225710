/* read_ahead_test.c: the thread delivers in order, ends, fails, and can be stopped at any time.
 * */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <unistd.h>

#include <cmocka.h>

#include "base/fault.h"
#include "unit/io/io_helper.h"

typedef struct {
    reader in;
    stream *from;
    block_list blocks;
    read_ahead *ahead;
} setup;

static void begin(setup *s, int fd, str bytes, size_t room) {
    reader_init(&s->in, "test", fd, bytes);
    s->from = stream_as_is(&s->in);
    block_list_init(&s->blocks);
    s->ahead = read_ahead_start(s->from, &s->in, &s->blocks, room, room);
    assert_non_null(s->ahead);
}

static void finish(setup *s) {
    read_ahead_stop(s->ahead);
    s->from->free(s->from);
    block_list_fini(&s->blocks);
}

static void blocks_come_in_order_and_then_the_end_for_ever(void **state) {
    buf text = text_of(1000003, 1);
    setup s;
    begin(&s, -1, buf_str(&text), 65536);
    size_t at = 0;
    uint16_t damage = 99;
    for (;;) {
        block *b;
        assert_int_equal(read_ahead_next(s.ahead, &b, &damage, NULL), OK);
        if (!b) break;
        assert_true(b->n == 65536 || at + b->n == text.n);
        assert_memory_equal(b->data, text.p + at, b->n);
        at += b->n;
        block_drop(&s.blocks, b);
    }
    assert_int_equal(at, text.n);
    assert_int_equal(damage, MSG_NONE);
    block *b = (block *)&s;
    assert_int_equal(read_ahead_next(s.ahead, &b, &damage, NULL), OK);
    assert_null(b);
    finish(&s);
    buf_fini(&text);
}

static void an_empty_stream_ends_at_once(void **state) {
    setup s;
    begin(&s, -1, STR_NONE, 4096);
    block *b;
    uint16_t damage;
    assert_int_equal(read_ahead_next(s.ahead, &b, &damage, NULL), OK);
    assert_null(b);
    finish(&s);
}

static void it_can_be_stopped_with_the_queue_full_and_nothing_taken(void **state) {
    buf text = text_of(1000000, 2);
    for (int i = 0; i < 20; i++) {
        setup s;
        begin(&s, -1, buf_str(&text), 4096);
        if (i % 2) usleep(500);
        finish(&s);
    }
    buf_fini(&text);
}

static void it_can_be_stopped_while_a_pipe_has_nothing(void **state) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    setup s;
    begin(&s, ends[0], STR_NONE, 4096);
    usleep(5000);
    finish(&s); /* hangs when it cannot */
    close(ends[0]);
    close(ends[1]);
}

static void a_failing_read_comes_after_the_blocks_before_it_and_stays(void **state) {
    buf text = text_of(100000, 3);
    fault_arm(FAULT_READ, 3);
    setup s;
    begin(&s, -1, buf_str(&text), 40000);
    block *b;
    uint16_t damage;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(read_ahead_next(s.ahead, &b, &damage, NULL), OK);
        block_drop(&s.blocks, b);
    }
    for (int i = 0; i < 2; i++) {
        error err = {0};
        assert_int_equal(read_ahead_next(s.ahead, &b, &damage, &err), ERR_IO);
        assert_int_equal(err.message, MSG_CANNOT_READ);
        assert_true(str_eq(err.args[0].u.text, STR("test")));
    }
    fault_arm(FAULT_READ, 0);
    finish(&s);
    buf_fini(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_come_in_order_and_then_the_end_for_ever),
        cmocka_unit_test(an_empty_stream_ends_at_once),
        cmocka_unit_test(it_can_be_stopped_with_the_queue_full_and_nothing_taken),
        cmocka_unit_test(it_can_be_stopped_while_a_pipe_has_nothing),
        cmocka_unit_test(a_failing_read_comes_after_the_blocks_before_it_and_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
