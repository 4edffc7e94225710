/* event_bus_test.c: events to listeners. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

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

static void events_come_in_order_behind_the_first(void **state) {
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

static void one_that_is_far_behind_is_told_to_look_anew(void **state) {
    event_bus *h = event_bus_new();
    sleeper s = {0};
    listener *l = event_bus_join(h, STR("{}"), fall_asleep, wake_up, &s);
    (void)read_all(h, l);
    for (int i = 0; i < 1000; i++) event_bus_publish(h, "x", STR("{}"));
    assert_string_equal(read_all(h, l), "event: runs\ndata: {}\n\n");
    event_bus_leave(h, l);
    event_bus_free(h);
}

static void the_end_comes_behind_what_is_left(void **state) {
    event_bus *h = event_bus_new();
    sleeper s = {0};
    listener *l = event_bus_join(h, STR("{}"), fall_asleep, wake_up, &s);
    (void)read_all(h, l);
    event_bus_publish(h, "bye", STR("{}"));
    event_bus_end(h);
    assert_string_equal(read_all(h, l), "id: 0\nevent: bye\ndata: {}\n\n");
    char c;
    assert_true(event_bus_read(h, l, &c, 1) == EVENT_BUS_END);
    assert_null(event_bus_join(h, STR("{}"), fall_asleep, wake_up, &s));
    event_bus_leave(h, l);
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
        cmocka_unit_test(events_come_in_order_behind_the_first),
        cmocka_unit_test(one_that_is_far_behind_is_told_to_look_anew),
        cmocka_unit_test(the_end_comes_behind_what_is_left),
        cmocka_unit_test(listeners_are_limited),
        cmocka_unit_test(threads_publish_while_others_come_and_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
