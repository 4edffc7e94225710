/* seed_test.c: the secrets are there before main, odd, different, and new in each process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/seed_int.h"

static const char *self;

static void seeds_are_odd_and_different(void **state) {
    for (int i = 0; i < 4; i++) {
        assert_true(seeds[i] & 1);
        for (int k = 0; k < i; k++) assert_true(seeds[i] != seeds[k]);
    }
}

static void another_process_has_others(void **state) {
    char command[4096];
    snprintf(command, sizeof command, "'%s' show", self);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    unsigned long other = 0;
    assert_int_equal(fscanf(f, "%lu", &other), 1);
    pclose(f);
    assert_true(other != seeds[0]);
}

static void folding_depends_on_both_words(void **state) {
    assert_true(fold_multiply(3, 5) == 15);
    assert_true(fold_multiply(UINT64_MAX, UINT64_MAX) == (1 ^ (UINT64_MAX - 1)));
}

int main(int argc, char **argv) {
    if (argc > 1) {
        printf("%lu\n", (unsigned long)seeds[0]);
        return 0;
    }
    self = argv[0];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seeds_are_odd_and_different),
        cmocka_unit_test(another_process_has_others),
        cmocka_unit_test(folding_depends_on_both_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
