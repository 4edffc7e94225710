/* event_bus_test.c: events to listeners. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "serve/event_bus.h"

typedef struct {
    int slept, woken;
} sleeper;

static void fall_asleep(void *context) {
    ((sleeper *)context)->slept++;
}
static void wake_up(void *context) {
    ((sleeper *)context)->woken++;
}

/* Everything there is, as a text. */
static const char *read_all(event_bus *h, listener *l) {
    static char text[100000];
    size_t n = 0, got;
    while ((got = event_bus_read(h, l, text + n, 7)) != 0 && got != EVENT_BUS_END) n += got;
    text[n] = '\0';
    return text;
}

static void events_come_in_order_after_the_first(void **state) {
    event_bus *h = event_bus_new();
    sleeper s = {0};
    event_bus_publish(h, "old", STR("{}")); /* before it joined */
    listener *l = event_bus_join(h, STR("{\"v\":1}"), fall_asleep, wake_up, &s);
    event_bus_publish(h, "a", STR("1"));
    event_bus_publish(h, "b", STR("2"));
    assert_string_equal(read_all(h, l),
                        "event: hello\ndata: {\"v\":1}\n\nid: 1\nevent: a\ndata: 1\n\n"
                        "id: 2\nevent: b\ndata: 2\n\n");
    assert_int_equal(s.slept, 1);
    assert_int_equal(s.woken, 0);
    event_bus_publish(h, NULL, STR(""));
    assert_int_equal(s.woken, 1);
    event_bus_publish(h, "c", STR("3")); /* awake already */
    assert_int_equal(s.woken, 1);
    assert_string_equal(read_all(h, l), ":\n\nid: 4\nevent: c\ndata: 3\n\n");
    event_bus_leave(h, l);
    event_bus_free(h);
}

static void a_slow_listener_must_read_everything_again(void **state) {
    event_bus *h = event_bus_new();
    sleeper s = {0};
    listener *l = event_bus_join(h, STR("{}"), fall_asleep, wake_up, &s);
    (void)read_all(h, l);
    for (int i = 0; i < 1000; i++) event_bus_publish(h, "x", STR("{}"));
    assert_string_equal(read_all(h, l), "event: runs\ndata: {}\n\n");
    event_bus_leave(h, l);
    event_bus_free(h);
}

static const char *list_since(event_bus *h, uint64_t since, uint64_t *next, bool *missed) {
    static char text[100000];
    buf b = {0};
    *next = event_bus_since(h, since, &b, missed);
    snprintf(text, sizeof text, "%.*s", (int)b.n, b.n ? b.p : "");
    buf_fini(&b);
    return text;
}

static void a_client_that_polls_gets_each_event_once(void **state) {
    event_bus *h = event_bus_new();
    uint64_t next;
    bool missed;
    assert_string_equal(list_since(h, 0, &next, &missed), "");
    assert_false(missed);
    event_bus_publish(h, "a", STR("{\"n\":1}"));
    event_bus_publish(h, NULL, STR("")); /* a comment does not count */
    event_bus_publish(h, "b", STR("2"));
    assert_string_equal(list_since(h, next, &next, &missed),
                        "{\"event\":\"a\",\"data\":{\"n\":1}},{\"event\":\"b\",\"data\":2}");
    assert_int_equal(next, 3);
    assert_string_equal(list_since(h, next, &next, &missed), "");
    assert_false(missed);
    event_bus_free(h);
}

static void a_client_that_polls_too_late_learns_it(void **state) {
    event_bus *h = event_bus_new();
    uint64_t next;
    bool missed;
    for (int i = 0; i < 1000; i++) event_bus_publish(h, "x", STR("{}"));
    assert_string_equal(list_since(h, 10, &next, &missed), "");
    assert_true(missed);
    assert_int_equal(next, 1000);
    (void)list_since(h, 744, &next, &missed); /* the oldest that is known */
    assert_false(missed);
    assert_string_equal(list_since(h, 1001, &next, &missed), ""); /* of another server */
    assert_true(missed);
    event_bus_free(h);
}

static void the_end_comes_after_what_is_left(void **state) {
    event_bus *h = event_bus_new();
    sleeper s = {0};
    listener *l = event_bus_join(h, STR("{}"), fall_asleep, wake_up, &s);
    (void)read_all(h, l);
    event_bus_publish(h, "bye", STR("{}"));
    event_bus_end(h, 1); /* a listener that does not read keeps no one waiting */
    assert_string_equal(read_all(h, l), "id: 0\nevent: bye\ndata: {}\n\n");
    char c;
    assert_true(event_bus_read(h, l, &c, 1) == EVENT_BUS_END);
    assert_null(event_bus_join(h, STR("{}"), fall_asleep, wake_up, &s));
    event_bus_leave(h, l);
    event_bus_free(h);
}

typedef struct {
    event_bus *bus;
    listener *l;
    char last[100];
} reader;

/* Reads to the end, later than the end comes. */
static void *read_late(void *context) {
    reader *r = context;
    usleep(50000);
    (void)snprintf(r->last, sizeof r->last, "%s", read_all(r->bus, r->l));
    event_bus_leave(r->bus, r->l);
    return NULL;
}

static void the_end_waits_for_late_readers(void **state) {
    event_bus *h = event_bus_new();
    sleeper s = {0};
    reader r = {.bus = h, .l = event_bus_join(h, STR("{}"), fall_asleep, wake_up, &s)};
    (void)read_all(h, r.l);
    event_bus_publish(h, "bye", STR("{}"));
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, read_late, &r), 0);
    event_bus_end(h, 60000000000);
    assert_string_equal(r.last, "id: 0\nevent: bye\ndata: {}\n\n");
    pthread_join(thread, NULL);
    event_bus_free(h);
}

static void listeners_are_limited(void **state) {
    event_bus *h = event_bus_new();
    sleeper s = {0};
    listener *all[EVENT_BUS_MOST_LISTENERS];
    for (int i = 0; i < EVENT_BUS_MOST_LISTENERS; i++) {
        all[i] = event_bus_join(h, STR("{}"), fall_asleep, wake_up, &s);
        assert_non_null(all[i]);
    }
    assert_null(event_bus_join(h, STR("{}"), fall_asleep, wake_up, &s));
    assert_int_equal(event_bus_listeners(h), EVENT_BUS_MOST_LISTENERS);
    for (int i = 0; i < EVENT_BUS_MOST_LISTENERS; i++) event_bus_leave(h, all[i]);
    assert_int_equal(event_bus_listeners(h), 0);
    event_bus_free(h);
}

static void *publish_many(void *context) {
    for (int i = 0; i < 500; i++) event_bus_publish(context, "x", STR("{}"));
    return NULL;
}

static void threads_publish_while_others_come_and_go(void **state) {
    event_bus *h = event_bus_new();
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, publish_many, h);
    for (int i = 0; i < 200; i++) {
        sleeper s = {0};
        listener *l = event_bus_join(h, STR("{}"), fall_asleep, wake_up, &s);
        assert_memory_equal(read_all(h, l), "event: hello", 12);
        event_bus_leave(h, l);
    }
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    event_bus_free(h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_come_in_order_after_the_first),
        cmocka_unit_test(a_slow_listener_must_read_everything_again),
        cmocka_unit_test(a_client_that_polls_gets_each_event_once),
        cmocka_unit_test(a_client_that_polls_too_late_learns_it),
        cmocka_unit_test(the_end_comes_after_what_is_left),
        cmocka_unit_test(the_end_waits_for_late_readers),
        cmocka_unit_test(listeners_are_limited),
        cmocka_unit_test(threads_publish_while_others_come_and_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
