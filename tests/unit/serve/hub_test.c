/* hub_test.c: events to listeners. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "serve/hub.h"

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
static const char *read_all(hub *h, listener *l) {
    static char text[100000];
    size_t n = 0, got;
    while ((got = hub_read(h, l, text + n, 7)) != 0 && got != HUB_END) n += got;
    text[n] = '\0';
    return text;
}

static void events_come_in_order_behind_the_first(void **state) {
    hub *h = hub_new();
    sleeper s = {0};
    hub_publish(h, "old", STR("{}")); /* before it joined */
    listener *l = hub_join(h, STR("{\"v\":1}"), fall_asleep, wake_up, &s);
    hub_publish(h, "a", STR("1"));
    hub_publish(h, "b", STR("2"));
    assert_string_equal(read_all(h, l),
                        "event: hello\ndata: {\"v\":1}\n\nid: 1\nevent: a\ndata: 1\n\n"
                        "id: 2\nevent: b\ndata: 2\n\n");
    assert_int_equal(s.slept, 1);
    assert_int_equal(s.woken, 0);
    hub_publish(h, NULL, STR(""));
    assert_int_equal(s.woken, 1);
    hub_publish(h, "c", STR("3")); /* awake already */
    assert_int_equal(s.woken, 1);
    assert_string_equal(read_all(h, l), ":\n\nid: 4\nevent: c\ndata: 3\n\n");
    hub_leave(h, l);
    hub_free(h);
}

static void one_that_is_far_behind_is_told_to_look_anew(void **state) {
    hub *h = hub_new();
    sleeper s = {0};
    listener *l = hub_join(h, STR("{}"), fall_asleep, wake_up, &s);
    (void)read_all(h, l);
    for (int i = 0; i < 1000; i++) hub_publish(h, "x", STR("{}"));
    assert_string_equal(read_all(h, l), "event: runs\ndata: {}\n\n");
    hub_leave(h, l);
    hub_free(h);
}

static void the_end_comes_behind_what_is_left(void **state) {
    hub *h = hub_new();
    sleeper s = {0};
    listener *l = hub_join(h, STR("{}"), fall_asleep, wake_up, &s);
    (void)read_all(h, l);
    hub_publish(h, "bye", STR("{}"));
    hub_end(h);
    assert_string_equal(read_all(h, l), "id: 0\nevent: bye\ndata: {}\n\n");
    char c;
    assert_true(hub_read(h, l, &c, 1) == HUB_END);
    assert_null(hub_join(h, STR("{}"), fall_asleep, wake_up, &s));
    hub_leave(h, l);
    hub_free(h);
}

static void listeners_are_limited(void **state) {
    hub *h = hub_new();
    sleeper s = {0};
    listener *all[HUB_MOST_LISTENERS];
    for (int i = 0; i < HUB_MOST_LISTENERS; i++) {
        all[i] = hub_join(h, STR("{}"), fall_asleep, wake_up, &s);
        assert_non_null(all[i]);
    }
    assert_null(hub_join(h, STR("{}"), fall_asleep, wake_up, &s));
    assert_int_equal(hub_listeners(h), HUB_MOST_LISTENERS);
    for (int i = 0; i < HUB_MOST_LISTENERS; i++) hub_leave(h, all[i]);
    assert_int_equal(hub_listeners(h), 0);
    hub_free(h);
}

static void *publish_many(void *context) {
    for (int i = 0; i < 500; i++) hub_publish(context, "x", STR("{}"));
    return NULL;
}

static void threads_publish_while_others_come_and_go(void **state) {
    hub *h = hub_new();
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, publish_many, h);
    for (int i = 0; i < 200; i++) {
        sleeper s = {0};
        listener *l = hub_join(h, STR("{}"), fall_asleep, wake_up, &s);
        assert_memory_equal(read_all(h, l), "event: hello", 12);
        hub_leave(h, l);
    }
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    hub_free(h);
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
