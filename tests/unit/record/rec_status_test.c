/* rec_status_test.c: what a process tells the `tacho record` that started it. */
#include "record/rec_status.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <tacho/live.h>
#include <unistd.h>

#include "unit/record/record_helper.h"

/* A page as `tacho record` makes it, and its name in the environment. */
static tacho_status_page *make_page(const char *magic, int seals) {
    char path[64];
    int fd = memfd_create("status", MFD_ALLOW_SEALING);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, sizeof(tacho_status_page)), 0);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
    tacho_status_page *p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(p != MAP_FAILED);
    memcpy(p->magic, magic, sizeof p->magic);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), fd);
    setenv("TACHO_STATUS", path, 1);
    return p;
}

static void fail_often(void) {
    rec_status_load();
    rec_status_began();
    for (int i = 0; i < TACHO_STATUS_FAILURES + 5; i++) rec_status_failed(28 + i);
}

static void failures_are_counted_and_the_first_are_kept(void **state) {
    (void)state;
    tacho_status_page *p = make_page(TACHO_STATUS_MAGIC, F_SEAL_SHRINK);
    assert_int_equal(in_child(fail_often), 0);
    assert_int_equal(p->n_loaded, 1);
    assert_int_equal(p->n_python, 0);
    assert_int_equal(p->n_begun, 1);
    assert_int_equal(p->n_failures, TACHO_STATUS_FAILURES + 5);
    for (int i = 0; i < TACHO_STATUS_FAILURES; i++) {
        assert_int_equal(p->failures[i].is_written, 1);
        assert_int_equal(p->failures[i].code, 28 + i);
        assert_true(p->failures[i].pid > 0 && p->failures[i].pid != getpid());
        assert_int_equal(p->failures[i].uid, geteuid());
        assert_string_equal(p->failures[i].program, "rec_status_test");
    }
}

static void a_page_that_could_shrink_is_not_used(void **state) {
    (void)state;
    tacho_status_page *p = make_page(TACHO_STATUS_MAGIC, F_SEAL_GROW);
    assert_int_equal(in_child(fail_often), 0);
    assert_int_equal(p->n_loaded, 0);
}

static void a_page_of_another_user_is_left_alone(void **state) {
    (void)state;
    tacho_status_page *p = make_page("SOMEBODY", F_SEAL_SHRINK), before;
    memcpy(&before, p, sizeof before);
    assert_int_equal(in_child(fail_often), 0);
    assert_memory_equal(p, &before, sizeof before);
}

static void without_a_page_nothing_happens(void **state) {
    (void)state;
    setenv("TACHO_STATUS", "/no/such/page", 1);
    assert_int_equal(in_child(fail_often), 0);
    setenv("TACHO_STATUS", "/dev/null", 1);
    assert_int_equal(in_child(fail_often), 0);
    unsetenv("TACHO_STATUS");
    assert_int_equal(in_child(fail_often), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failures_are_counted_and_the_first_are_kept),
        cmocka_unit_test(a_page_that_could_shrink_is_not_used),
        cmocka_unit_test(a_page_of_another_user_is_left_alone),
        cmocka_unit_test(without_a_page_nothing_happens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
