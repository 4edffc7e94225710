/* server_test.c: the server over real sockets, with many clients and a sudden end. tests/serve asks it
 * everything else. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "serve/server.h"
#include "unit/session/session_helper.h"

static folder place;

static server *start(void) {
    server *s = NULL;
    server_options o = {.path = in_folder(&place, "log"), .threads = 2, .no_cache = true};
    assert_int_equal(server_start(&o, &s, NULL), OK);
    return s;
}

static int make_place(void **state) {
    place = folder_new();
    put_file(&place, "log/a/w0.pt.trace.json", small_trace(20));
    put_file(&place, "log/b/w0.pt.trace.json", small_trace(30));
    return 0;
}

static int remove_place(void **state) {
    folder_gone(&place);
    return 0;
}

static int connect_to(const server *s) {
    const char *colon = strrchr(server_url(s), ':');
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)atoi(colon + 1))};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct timeval limit = {.tv_sec = 20};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Status of a request on a separate connection; 0 when the line broke. */
static int status_of(const server *s, const char *path) {
    char text[512], head[16] = "";
    int fd = connect_to(s), code = 0;
    if (fd < 0) return 0;
    int n = snprintf(text, sizeof text,
                     "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path);
    if (write(fd, text, (size_t)n) == n && recv(fd, head, 12, MSG_WAITALL) == 12)
        code = atoi(head + 9);
    while (read(fd, text, sizeof text) > 0) {}
    close(fd);
    return code;
}

static void it_answers(void **state) {
    server *s = start();
    assert_int_equal(status_of(s, "/api/v1/ping"), 200);
    assert_int_equal(status_of(s, "/api/v1/runs"), 200);
    assert_int_equal(status_of(s, "/api/v1/tracks?run=a"), 200);
    assert_int_equal(status_of(s, "/"), 200);
    assert_int_equal(status_of(s, "/api/v1/nothing"), 404);
    server_stop(s);
    server_stop(NULL);
}

typedef struct {
    const server *s;
    int n_good, n_bad;
} asker;

static void *ask_often(void *context) {
    static const char *const paths[] = {"/api/v1/runs", "/api/v1/viewport?run=a&width=500",
                                        "/api/v1/operators?run=b", "/api/v1/ping"};
    asker *a = context;
    for (int i = 0; i < 60; i++) {
        int code = status_of(a->s, paths[i % 4]);
        if (code == 200)
            a->n_good++;
        else
            a->n_bad++;
    }
    return NULL;
}

static void many_threads_ask_at_once(void **state) {
    server *s = start();
    pthread_t threads[6];
    asker askers[6];
    for (int i = 0; i < 6; i++) {
        askers[i] = (asker){.s = s};
        pthread_create(&threads[i], NULL, ask_often, &askers[i]);
    }
    for (int i = 0; i < 6; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(askers[i].n_bad, 0);
        assert_int_equal(askers[i].n_good, 60);
    }
    server_stop(s);
}

/* Stops while requests come in, wait and listen. */
static void it_ends_in_the_middle_of_everything(void **state) {
    for (int round = 0; round < 5; round++) {
        server *s = start();
        int listeners[4];
        for (int i = 0; i < 4; i++) {
            static const char ask[] = "GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n";
            listeners[i] = connect_to(s);
            assert_true(write(listeners[i], ask, sizeof ask - 1) > 0);
        }
        for (int i = 0; i < 8; i++) { /* asked, never read */
            static const char ask[] =
                "GET /api/v1/overview?run=a HTTP/1.1\r\nHost: localhost\r\n\r\n";
            int fd = connect_to(s);
            assert_true(write(fd, ask, sizeof ask - 1) > 0);
            if (i % 2) usleep(1000 * (unsigned)round);
            close(fd);
        }
        server_stop(s);
        for (int i = 0; i < 4; i++) close(listeners[i]);
    }
}

static void a_question_that_takes_too_much_memory_is_refused_and_the_server_continues(
    void **state) {
    server *s = NULL;
    server_options o = {.path = in_folder(&place, "log"),
                        .threads = 2,
                        .no_cache = true,
                        .request_bytes = 6000};
    assert_int_equal(server_start(&o, &s, NULL), OK);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(status_of(s, "/api/v1/operators?run=a"), 503);
        assert_int_equal(status_of(s, "/api/v1/ping"), 200);
        assert_int_equal(status_of(s, "/api/v1/runs"), 200);
    }
    server_stop(s);
}

/* One that says nothing, and one that stops in the middle of its request. */
static void a_silent_connection_is_closed(void **state) {
    server *s = NULL;
    server_options o = {
        .path = in_folder(&place, "log"), .threads = 2, .no_cache = true, .timeout_s = 1};
    assert_int_equal(server_start(&o, &s, NULL), OK);
    int silent = connect_to(s), half = connect_to(s);
    static const char part[] = "GET /api/v1/ping HTTP/1.1\r\nHost: loc";
    assert_int_equal(send(half, part, sizeof part - 1, 0), sizeof part - 1);
    char byte;
    errno = 0;
    assert_true(recv(silent, &byte, 1, 0) <= 0);
    assert_int_not_equal(errno, EAGAIN);
    while (recv(half, &byte, 1, 0) > 0) { /* it may be answered before */
    }
    assert_int_not_equal(errno, EAGAIN);
    close(silent);
    close(half);
    assert_int_equal(status_of(s, "/api/v1/ping"), 200);
    server_stop(s);
}

static void what_cannot_be_served_is_a_status(void **state) {
    server *s = NULL;
    error err;
    server_options o = {.path = in_folder(&place, "nothing")};
    assert_int_equal(server_start(&o, &s, &err), ERR_IO);
    assert_null(s);
    o = (server_options){.path = in_folder(&place, "log"), .host = "no.such.host.invalid"};
    assert_int_equal(server_start(&o, &s, &err), ERR_ARG);
}

static void another_address_has_a_token_in_its_url(void **state) {
    server *s = NULL;
    server_options o = {
        .path = in_folder(&place, "log"), .host = "0.0.0.0", .threads = 1, .no_cache = true};
    assert_int_equal(server_start(&o, &s, NULL), OK);
    assert_non_null(strstr(server_url(s), "/?token="));
    assert_int_equal(status_of(s, "/api/v1/runs"), 0 + 401);
    server_stop(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_answers),
        cmocka_unit_test(many_threads_ask_at_once),
        cmocka_unit_test(it_ends_in_the_middle_of_everything),
        cmocka_unit_test(
            a_question_that_takes_too_much_memory_is_refused_and_the_server_continues),
        cmocka_unit_test(a_silent_connection_is_closed),
        cmocka_unit_test(what_cannot_be_served_is_a_status),
        cmocka_unit_test(another_address_has_a_token_in_its_url),
    };
    return cmocka_run_group_tests(tests, make_place, remove_place);
}
