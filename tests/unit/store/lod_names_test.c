/* lod_names_test.c: the slices of each name. */
#include "unit/store/lod_helper.h"

static void every_slice_is_under_its_name(void **state) {
    trace *t = random_trace(4, 1000);
    lod *l = lod_of(t);
    uint32_t n = 0;
    int64_t kinds = 0, names = 0;
    for (uint32_t i = 0; i < l->n_names; i++) {
        int64_t time = 0;
        assert_true(l->name_first[i] < l->name_first[i + 1]);
        for (uint32_t k = l->name_first[i]; k < l->name_first[i + 1]; k++, n++) {
            assert_int_equal(t->slice.name[l->by_name[k]], l->name_string[i]);
            if (k > l->name_first[i]) assert_true(l->by_name[k] > l->by_name[k - 1]);
            time += t->slice.dur[l->by_name[k]];
        }
        assert_int_equal(time, l->name_time[i]);
        names += time;
        assert_int_equal(lod_name(l, l->name_string[i]), i);
    }
    assert_int_equal(n, t->slice.n - 1);
    for (int k = 0; k < N_KINDS; k++) kinds += l->kind_time[k];
    assert_int_equal(kinds, names);
    assert_int_equal(lod_name(l, UINT32_MAX), UINT32_MAX);
    assert_int_equal(lod_name(l, 0), UINT32_MAX);
    lod_free(l);
    trace_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_slice_is_under_its_name)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
