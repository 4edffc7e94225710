/* rec_live_test.c: how a process is doing now: its page, and the same for Prometheus. */
#include "unit/record/record_helper.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/rec_live.h"
#include "record/rec_metrics.h"

static const char *folder;

static void start(const char *metrics) {
    folder = fresh_folder();
    tacho_options o = {.size = sizeof o, .path = folder, .memory = 1, .metrics = metrics};
    assert_int_equal(tacho_start(&o), TACHO_OK);
}

/* The only file of a folder of the run that does not begin with a dot; false: there is none. */
static bool only_file(const char *below, char *to, size_t size) {
    char path[1024];
    bool found = false;
    snprintf(path, sizeof path, "%s/%s", folder, below);
    DIR *d = opendir(path);
    if (!d) return false;
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        if (e->d_name[0] == '.') continue;
        assert_false(found);
        snprintf(to, size, "%s/%s", path, e->d_name);
        found = true;
    }
    closedir(d);
    return found;
}

static bool read_page(tacho_live_page *to) {
    char path[1600];
    if (!only_file(TACHO_LIVE_FOLDER, path, sizeof path)) return false;
    FILE *f = fopen(path, "r");
    bool whole = f && fread(to, sizeof *to, 1, f) == 1;
    if (f) fclose(f);
    return whole;
}

/* Who may write into the recording must not choose which file we write. */
static void names_of_files_are_not_taken_from_the_recording(void **state) {
    char path[1600], metrics[128];
    tacho_live_page p = {.n_steps = -1};
    folder = fresh_folder();
    snprintf(metrics, sizeof metrics, "%s/metrics", folder);
    tacho_options o = {.size = sizeof o, .path = folder, .metrics = metrics};
    assert_int_equal(tacho_start(&o), TACHO_OK);
    snprintf(rec_current->header->worker, sizeof rec_current->header->worker, "../evil");
    usleep(2300000); /* two pages at least */
    assert_true(read_page(&p));
    assert_string_not_equal(p.worker, "../evil");
    assert_true(only_file("metrics", path, sizeof path));
    snprintf(path, sizeof path, "%s/evil.prom", folder);
    assert_int_not_equal(access(path, F_OK), 0);
}

static void a_page_says_how_it_goes_and_is_gone_at_the_end(void **state) {
    tacho_live_page p = {.n_steps = -1};
    start(NULL);
    tacho_begin_steps();
    for (int i = 0; i < 5; i++) {
        usleep(2000);
        tacho_step();
    }
    tacho_alloc(&(tacho_block){.size = sizeof(tacho_block),
                               .address = 64,
                               .bytes = 100,
                               .allocated = 5000,
                               .reserved = -1});
    for (int i = 0; i < 1000 && !(read_page(&p) && p.n_steps == 5); i++) usleep(10000);
    assert_int_equal(p.n_steps, 5);
    assert_memory_equal(p.magic, TACHO_LIVE_MAGIC, 8);
    assert_int_equal(p.pid, getpid());
    assert_true(p.step_ns >= 2000000 && p.median_step_ns >= 2000000);
    assert_int_equal(p.device_bytes, 5000);
    assert_true(p.host_bytes > 1 << 20);
    assert_int_equal(p.busy_ppm, -1);
    assert_int_equal(tacho_stop(), TACHO_OK);
    assert_false(read_page(&p));
}

static void time_on_a_device_counts_once(void **state) {
    tacho_live_page p = {.busy_ppm = -1};
    start(NULL);
    rec_live_device(0, 1000, 2000);
    rec_live_device(0, 1500, 3000); /* another stream */
    rec_live_device(0, 1600, 1700);
    rec_live_device(0, 6000, 7000);
    for (int i = 0; i < 1000 && !(read_page(&p) && p.busy_ppm >= 0); i++) usleep(10000);
    assert_int_equal(p.busy_ppm, 500000); /* 3 µs of 6 */
}

static void the_text_has_what_is_known(void **state) {
    char text[4096];
    tacho_live_page p = {.rank = 3,
                         .n_steps = 7,
                         .step_ns = 20000000,
                         .median_step_ns = -1,
                         .step_unix_ns = -1,
                         .busy_ppm = 250000,
                         .device_bytes = -1,
                         .host_bytes = 4096,
                         .worker = "a\"b"};
    size_t n = rec_metrics_text(&p, text, sizeof text);
    assert_int_equal(n, strlen(text));
    assert_non_null(strstr(text, "tacho_steps_total{worker=\"a_b\",rank=\"3\"} 7\n"));
    assert_non_null(strstr(text, "tacho_step_seconds{worker=\"a_b\",rank=\"3\"} 0.02\n"));
    assert_non_null(strstr(text, "tacho_device_busy_ratio{worker=\"a_b\",rank=\"3\"} 0.25\n"));
    assert_null(strstr(text, "median"));
    assert_null(strstr(text, "device_memory"));
    assert_true(rec_metrics_text(&p, text, 40) < 40);
}

static void a_folder_gets_a_file_that_goes_at_the_end(void **state) {
    char where[512], path[1600], text[4096] = "";
    folder = fresh_folder();
    snprintf(where, sizeof where, "%s/numbers", folder);
    tacho_options o = {.size = sizeof o, .path = folder, .metrics = where};
    assert_int_equal(tacho_start(&o), TACHO_OK);
    FILE *f = NULL;
    for (int i = 0; i < 1000 && !f; i++, usleep(10000))
        if (only_file("numbers", path, sizeof path)) f = fopen(path, "r");
    assert_non_null(f);
    assert_true(fread(text, 1, sizeof text - 1, f) > 0);
    fclose(f);
    assert_non_null(strstr(text, "# TYPE tacho_steps_total counter"));
    assert_non_null(strstr(path, ".prom"));
    assert_int_equal(tacho_stop(), TACHO_OK);
    assert_false(only_file("numbers", path, sizeof path));
}

static int free_port(void) {
    struct sockaddr_in name = {.sin_family = AF_INET};
    socklen_t n = sizeof name;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof name), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&name, &n), 0);
    close(fd);
    return ntohs(name.sin_port);
}

static void ask(int port, const char *request, char *to, size_t size) {
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    size_t at = 0;
    int fd = -1;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (int i = 0; i < 500; i++, usleep(10000)) {
        fd = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(fd, (struct sockaddr *)&name, sizeof name) == 0) break;
        close(fd);
        fd = -1;
    }
    assert_true(fd >= 0);
    assert_int_equal(send(fd, request, strlen(request), MSG_NOSIGNAL), strlen(request));
    for (ssize_t n; at + 1 < size && (n = recv(fd, to + at, size - 1 - at, 0)) > 0;)
        at += (size_t)n;
    to[at] = 0;
    close(fd);
}

static void a_port_answers_this_machine_and_no_web_page(void **state) {
    char where[16], text[8192];
    int port = free_port();
    snprintf(where, sizeof where, "%d", port);
    start(where);
    ask(port, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", text, sizeof text);
    assert_non_null(strstr(text, "200 OK"));
    assert_non_null(strstr(text, "tacho_lost_events_total"));
    ask(port, "GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n", text, sizeof text);
    assert_non_null(strstr(text, "403"));
    ask(port, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nOrigin: http://x\r\n\r\n", text,
        sizeof text);
    assert_non_null(strstr(text, "403"));
    ask(port, "POST /trigger HTTP/1.1\r\n\r\n", text, sizeof text);
    assert_non_null(strstr(text, "404")); /* no rule asks for it */
    static const char *const refused[] = {
        "Host: localhost.evil.com", "Host: 127.0.0.1.evil.com", "Host: localhost:80@evil.com",
        "Sec-Fetch-Site: cross-site"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char request[128];
        snprintf(request, sizeof request, "GET /metrics HTTP/1.1\r\n%s\r\n\r\n", refused[i]);
        ask(port, request, text, sizeof text);
        assert_non_null(strstr(text, "403"));
    }
    ask(port, "GET /metrics HTTP/1.1\r\nHost: localhost:9000 \r\nSec-Fetch-Site: none\r\n\r\n",
        text, sizeof text);
    assert_non_null(strstr(text, "200 OK"));
}

static void clients_that_say_nothing_cost_nothing(void **state) {
    char where[16], text[8192];
    int port = free_port(), silent[60];
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    snprintf(where, sizeof where, "%d", port);
    start(where);
    ask(port, "GET /metrics HTTP/1.1\r\n\r\n", text, sizeof text);
    for (int i = 0; i < 60; i++) {
        silent[i] = socket(AF_INET, SOCK_STREAM, 0);
        assert_int_equal(connect(silent[i], (struct sockaddr *)&name, sizeof name), 0);
    }
    int64_t from = rec_clock_ns(CLOCK_MONOTONIC);
    ask(port, "GET /metrics HTTP/1.1\r\n\r\n", text, sizeof text);
    assert_true(rec_clock_ns(CLOCK_MONOTONIC) - from <
                5000000000); /* 12 s if each is waited for */
    assert_non_null(strstr(text, "200 OK"));
    for (int i = 0; i < 60; i++) close(silent[i]);
}

/* As another user; only root can try that. */
static void ask_as_other_user(int port, char *text, size_t size) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (setuid(65534) != 0) _exit(1);
        ask(port, "POST /trigger HTTP/1.1\r\n\r\n", text, size);
        (void)!write(ends[1], text, strlen(text));
        _exit(0);
    }
    close(ends[1]);
    ssize_t n = read(ends[0], text, size - 1);
    text[n > 0 ? n : 0] = 0;
    close(ends[0]);
    waitpid(pid, NULL, 0);
}

static void a_trigger_is_for_the_owner_and_bounded(void **state) {
    char rule[32], text[8192];
    int port = free_port(), done = 0;
    snprintf(rule, sizeof rule, "http=%d", port);
    tacho_options o = {
        .size = sizeof o, .path = fresh_folder(), .flight_seconds = 60, .trigger = rule};
    assert_int_equal(tacho_start(&o), TACHO_OK);
    tacho_mark("something");
    if (getuid() == 0) {
        ask_as_other_user(port, text, sizeof text);
        assert_non_null(strstr(text, "403"));
    }
    for (int i = 0; i < 40; i++) {
        ask(port, "POST /trigger HTTP/1.1\r\n\r\n", text, sizeof text);
        bool ok = strstr(text, "200 OK") != NULL;
        assert_true(ok || strstr(text, "429"));
        done += ok;
    }
    assert_int_equal(done, 32);
}

static int tear_down(void **state) {
    (void)tacho_stop();
    remove_folder();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(names_of_files_are_not_taken_from_the_recording, tear_down),
        cmocka_unit_test_teardown(a_page_says_how_it_goes_and_is_gone_at_the_end, tear_down),
        cmocka_unit_test_teardown(time_on_a_device_counts_once, tear_down),
        cmocka_unit_test(the_text_has_what_is_known),
        cmocka_unit_test_teardown(a_folder_gets_a_file_that_goes_at_the_end, tear_down),
        cmocka_unit_test_teardown(a_port_answers_this_machine_and_no_web_page, tear_down),
        cmocka_unit_test_teardown(clients_that_say_nothing_cost_nothing, tear_down),
        cmocka_unit_test_teardown(a_trigger_is_for_the_owner_and_bounded, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
