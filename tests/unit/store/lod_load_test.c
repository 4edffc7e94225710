/* lod_load_test.c: how much of a device its kernels filled. */
#include "../analyse/fake_trace.h"
#include "store/lod.h"

static lod *make(fake *f) {
    lod *l = NULL;
    assert_int_equal(lod_new(fake_seal(f), NULL, &l, NULL), OK);
    return l;
}

static void add(fake *f, int stream, int64_t start, int64_t dur, double blocks) {
    f->slices[fake_work(f, stream, KIND_KERNEL, "k", start, dur, -1)].blocks_per_sm = blocks;
}

static void near(double got, double wanted) {
    assert_true(got > wanted - 1e-9 && got < wanted + 1e-9);
}

static void kernels_side_by_side_fill_the_device_at_most_once(void **state) {
    fake f;
    fake_init(&f);
    int a = fake_stream(&f, 0), b = fake_stream(&f, 0);
    add(&f, a, 100, 100, 0.5);
    add(&f, b, 150, 100, 0.75); /* together 1.25 from 150 to 200 */
    lod *l = make(&f);
    const lod_load *load = &l->devices[0].load;
    near(lod_loaded(load, 0, 100), 0);
    near(lod_loaded(load, 100, 150), 0.5);
    near(lod_loaded(load, 150, 200), 1);
    near(lod_loaded(load, 200, 250), 0.75);
    near(lod_loaded(load, 250, 400), 0);
    near(lod_loaded(load, 0, 400), (0.5 * 50 + 50 + 0.75 * 50) / 400);
    near(lod_loaded(load, 125, 160), (0.5 * 25 + 10) / 35);
    near(lod_loaded(load, 50, 50), 0);
    lod_free(l);
    fake_fini(&f);
}

static void devices_are_distinguished(void **state) {
    fake f;
    fake_init(&f);
    add(&f, fake_stream(&f, 0), 0, 100, 0.25);
    add(&f, fake_stream(&f, 1), 0, 100, 2000); /* more than whole */
    fake_work(&f, fake_stream(&f, 2), KIND_KERNEL, "k", 0, 100, -1);
    lod *l = make(&f);
    near(lod_loaded(&l->devices[0].load, 0, 100), 0.25);
    near(lod_loaded(&l->devices[1].load, 0, 100), 1);
    assert_int_equal(l->devices[2].load.n, 0); /* not recorded is not zero */
    lod_free(l);
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_side_by_side_fill_the_device_at_most_once),
        cmocka_unit_test(devices_are_distinguished),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
