/* cgroup_test.c: limits of memory in made folders. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cgroup.h"
#include "unit/session/session_helper.h"

static uint64_t limit(folder *f, const char *membership) {
    (void)put_file(f, "self", str_of(membership));
    return cgroup_memory_bytes(in_folder(f, "cg"), in_folder(f, "self"));
}

static void the_smallest_on_the_way_counts(void **state) {
    folder f = folder_new();
    (void)put_file(&f, "cg/a/memory.max", STR("1000000\n"));
    (void)put_file(&f, "cg/a/b/memory.max", STR("max\n"));
    (void)put_file(&f, "cg/a/b/c/memory.max", STR("3000000\n"));
    assert_int_equal(limit(&f, "0::/a/b/c\n"), 1000000);
    assert_int_equal(limit(&f, "0::/a/b"), 1000000);
    assert_true(limit(&f, "0::/\n") == UINT64_MAX);
    folder_gone(&f);
}

static void a_container_sees_its_group_as_the_root(void **state) {
    folder f = folder_new();
    (void)put_file(&f, "cg/memory.max", STR("2000000\n"));
    assert_int_equal(limit(&f, "0::/\n"), 2000000);
    assert_int_equal(limit(&f, "0::/docker/1f2e\n"), 2000000);
    folder_gone(&f);
}

static void the_first_version_names_its_controllers(void **state) {
    folder f = folder_new();
    (void)put_file(&f, "cg/memory/job/memory.limit_in_bytes", STR("5000000\n"));
    (void)put_file(&f, "cg/memory/memory.limit_in_bytes", STR("9223372036854771712\n"));
    assert_int_equal(limit(&f, "3:cpuset:/\n4:cpu,memory:/job\n"), 5000000);
    assert_int_equal(limit(&f, "4:memory:/other\n"), 9223372036854771712);
    assert_true(limit(&f, "4:memoryless:/job\n3:cpu:/job\n") == UINT64_MAX);
    folder_gone(&f);
}

static void a_missing_or_damaged_file_is_not_a_limit(void **state) {
    folder f = folder_new();
    (void)put_file(&f, "cg/a/memory.max", STR("much"));
    (void)put_file(&f, "cg/b/memory.max", STR("-5"));
    (void)put_file(&f, "cg/c/memory.max", STR(""));
    assert_true(limit(&f, "0::/a\n0::/b\n0::/c\n") == UINT64_MAX);
    assert_true(limit(&f, "") == UINT64_MAX);
    assert_true(limit(&f, "nothing\n:\n::\n") == UINT64_MAX);
    assert_true(cgroup_memory_bytes("/nowhere", "/nowhere") == UINT64_MAX);
    folder_gone(&f);
}

static uint64_t cpus(folder *f, const char *membership) {
    (void)put_file(f, "self", str_of(membership));
    return cgroup_cpus(in_folder(f, "cg"), in_folder(f, "self"));
}

static void processors_are_time_in_a_period(void **state) {
    folder f = folder_new();
    (void)put_file(&f, "cg/four/cpu.max", STR("400000 100000\n"));
    (void)put_file(&f, "cg/half/cpu.max", STR("50000 100000\n"));
    (void)put_file(&f, "cg/more/cpu.max", STR("150000 100000\n"));
    (void)put_file(&f, "cg/all/cpu.max", STR("max 100000\n"));
    (void)put_file(&f, "cg/none/cpu.max", STR("1 0\n"));
    assert_int_equal(cpus(&f, "0::/four\n"), 4);
    assert_int_equal(cpus(&f, "0::/half\n"), 1);
    assert_int_equal(cpus(&f, "0::/more\n"), 2);
    assert_true(cpus(&f, "0::/all\n0::/none\n0::/not\n") == UINT64_MAX);
    (void)put_file(&f, "cg/cpu/job/cpu.cfs_quota_us", STR("300000\n"));
    (void)put_file(&f, "cg/cpu/job/cpu.cfs_period_us", STR("100000\n"));
    (void)put_file(&f, "cg/cpu/cpu.cfs_quota_us", STR("-1\n"));
    (void)put_file(&f, "cg/cpu/cpu.cfs_period_us", STR("100000\n"));
    assert_int_equal(cpus(&f, "2:cpu,cpuacct:/job\n"), 3);
    assert_true(cpus(&f, "2:cpu,cpuacct:/\n3:cpuset:/job\n") == UINT64_MAX);
    folder_gone(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_smallest_on_the_way_counts),
        cmocka_unit_test(a_container_sees_its_group_as_the_root),
        cmocka_unit_test(the_first_version_names_its_controllers),
        cmocka_unit_test(a_missing_or_damaged_file_is_not_a_limit),
        cmocka_unit_test(processors_are_time_in_a_period),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
