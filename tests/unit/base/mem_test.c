/* mem_test.c: blocks, mappings, and that each of them can be made to fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include <string.h>

#include "base/fault.h"
#include "base/mem.h"
#include "base/pages.h"

static void blocks_keep_their_content_when_they_grow(void **state) {
    char *p = mem_alloc(3);
    memcpy(p, "abc", 3);
    p = mem_grow(p, 100000);
    assert_memory_equal(p, "abc", 3);
    mem_free(p);
    mem_free(NULL);
}

static void zalloc_clears_and_size_zero_is_a_block_too(void **state) {
    char *p = mem_zalloc(1000);
    for (int i = 0; i < 1000; i++) assert_int_equal(p[i], 0);
    mem_free(p);
    p = mem_alloc(0);
    assert_non_null(p);
    mem_free(p);
}

static void a_mapping_is_zeroed_and_grows_with_its_content(void **state) {
    size_t size = 5000;
    unsigned char *p = mem_map(size);
    assert_non_null(p);
    for (size_t i = 0; i < size; i++) assert_int_equal(p[i], 0);
    for (; size < (size_t)40 << 20; size *= 3) {
        p[0] = 17;
        p[size / 2] = 18;
        p[size - 1] = 19;
        unsigned char *q = mem_remap(p, size, size * 3);
        assert_non_null(q);
        assert_int_equal(q[0], 17);
        assert_int_equal(q[size / 2], 18);
        assert_int_equal(q[size - 1], 19);
        assert_int_equal(q[size * 2], 0);
        p = q;
    }
    unsigned char *q = mem_remap(p, size, 100);
    assert_int_equal(q[0], 17);
    mem_unmap(q, 100);
    mem_unmap(NULL, 5);
}

static void a_large_mapping_is_aligned_to_huge_pages_also_after_moving(void **state) {
    size_t size = (size_t)6 << 20;
    char *p = mem_map(size), *others[8];
    assert_int_equal((uintptr_t)p % (2 << 20), 0);
    for (int i = 0; i < 8; i++) others[i] = mem_map(size); /* so that it cannot grow in place */
    p[size - 1] = 1;
    char *q = mem_remap(p, size, size * 4);
    assert_int_equal((uintptr_t)q % (2 << 20), 0);
    assert_int_equal(q[size - 1], 1);
    mem_unmap(q, size * 4);
    for (int i = 0; i < 8; i++) mem_unmap(others[i], size);
}

static void sizes_beyond_the_address_space_fail(void **state) {
    assert_null(mem_map(SIZE_MAX));
    assert_null(mem_map(SIZE_MAX / 2));
    char *p = mem_map(10);
    assert_null(mem_remap(p, 10, SIZE_MAX - 5));
    p[9] = 1; /* still there */
    mem_unmap(p, 10);
}

static void every_door_is_a_fault_point(void **state) {
    char *block = mem_alloc(10), *pages = mem_map(10);
    fault_arm(FAULT_ALLOC, 1);
    assert_null(mem_alloc(1));
    fault_arm(FAULT_ALLOC, 1);
    assert_null(mem_zalloc(1));
    fault_arm(FAULT_ALLOC, 1);
    assert_null(mem_grow(block, 20));
    fault_arm(FAULT_ALLOC, 1);
    assert_null(mem_map(1));
    fault_arm(FAULT_ALLOC, 1);
    assert_null(mem_remap(pages, 10, 100000));
    fault_arm(FAULT_ALLOC, 0);
    block[9] = pages[9] = 1; /* a failed growth leaves the old one */
    mem_free(block);
    mem_unmap(pages, 10);
}

static void current_maps_are_counted(void **state) {
    uint64_t before = mem_mapped_bytes();
    void *p = mem_map(1);
    uint64_t page = mem_mapped_bytes() - before;
    assert_true(page >= 4096);
    p = mem_remap(p, 1, 10 * page);
    assert_int_equal(mem_mapped_bytes(), before + 10 * page);
    void *q = mem_map(8 << 20); /* the ends that alignment costs are not kept */
    assert_int_equal(mem_mapped_bytes(), before + 10 * page + (8 << 20));
    mem_unmap(q, 8 << 20);
    p = mem_remap(p, 10 * page, page);
    assert_int_equal(mem_mapped_bytes(), before + page);
    mem_unmap(p, page);
    mem_unmap(NULL, page);
    assert_int_equal(mem_mapped_bytes(), before);
}

static void the_usual_limit_is_a_part_of_the_machine(void **state) {
    uint64_t limit = mem_usual_limit_bytes();
    uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    assert_true(limit > 0 && limit <= machine / 3);
    assert_true(limit == mem_usual_limit_bytes());
}

static void above_the_ceiling_nothing_is_given(void **state) {
    uint64_t refused = mem_refusals(), held = mem_mapped_bytes();
    mem_set_ceiling(held + (8 << 20));
    void *p = mem_map(4 << 20);
    assert_non_null(p);
    assert_null(mem_map(5 << 20));
    assert_null(mem_remap(p, 4 << 20, 9 << 20));
    assert_null(pages_take(5 << 20));
    assert_int_equal(mem_refusals(), refused + 3);
    void *q = pages_take(1 << 20);
    assert_non_null(q);
    pages_give(q, 1 << 20);
    mem_set_ceiling(0);
    void *r = mem_map(64 << 20);
    assert_non_null(r);
    mem_unmap(r, 64 << 20);
    mem_unmap(p, 4 << 20);
    assert_int_equal(mem_mapped_bytes(), held);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_usual_limit_is_a_part_of_the_machine),
        cmocka_unit_test(blocks_keep_their_content_when_they_grow),
        cmocka_unit_test(zalloc_clears_and_size_zero_is_a_block_too),
        cmocka_unit_test(a_mapping_is_zeroed_and_grows_with_its_content),
        cmocka_unit_test(a_large_mapping_is_aligned_to_huge_pages_also_after_moving),
        cmocka_unit_test(sizes_beyond_the_address_space_fail),
        cmocka_unit_test(every_door_is_a_fault_point),
        cmocka_unit_test(current_maps_are_counted),
        cmocka_unit_test(above_the_ceiling_nothing_is_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
