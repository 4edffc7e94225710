/* group_test.c: rows by an exact key. */
#include "fake_trace.h"

#include "analyse/group.h"

typedef struct {
    int key, sum;
} row;

static bool same(const void *r, const void *key) {
    return ((const row *)r)->key == *(const int *)key;
}

static void keys_with_one_hash_stay_apart(void **state) {
    arena a = {0};
    groups g;
    assert_int_equal(groups_init(&g, &a, sizeof(row), NULL), OK);
    for (int round = 0; round < 3; round++)
        for (int key = 0; key < 200; key++) {
            bool is_new;
            uint32_t i = groups_at(&g, (uint64_t)key % 3, same, &key, &is_new);
            assert_int_equal(is_new, round == 0);
            if (is_new) GROUP_ROW(&g, row, i)->key = key;
            GROUP_ROW(&g, row, i)->sum += key;
        }
    assert_int_equal(g.n, 200);
    for (uint32_t i = 0; i < g.n; i++)
        assert_int_equal(GROUP_ROW(&g, row, i)->sum, 3 * GROUP_ROW(&g, row, i)->key);
    uint32_t *order = groups_order(&g);
    assert_non_null(order);
    assert_int_equal(order[199], 199);
    arena_fini(&a);
}

static void a_full_arena_gives_no_row(void **state) {
    arena a;
    groups g;
    arena_init(&a, 1500);
    assert_int_equal(groups_init(&g, &a, sizeof(row), NULL), OK);
    uint32_t i = 0;
    for (int n = 0; n < 10000 && i != GROUP_NONE; n++) i = groups_add(&g);
    assert_int_equal(i, GROUP_NONE);
    arena_fini(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_with_one_hash_stay_apart),
        cmocka_unit_test(a_full_arena_gives_no_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
