/* range_scan_test.c: ranges with the device work launched inside them. */
#include "fake_trace.h"

#include "analyse/operators/range_scan.h"

typedef struct {
    range_call calls[8];
    int n;
} seen;

static status keep(void *context, const range_call *c, error *err) {
    seen *s = context;
    s->calls[s->n++] = *c;
    return OK;
}

static void work_belongs_to_the_innermost_open_range(void **state) {
    fake f;
    seen s = {.n = 0};
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    int outer = fake_add(&f, host, KIND_ANNOTATION, "outer", 0, 100);
    int inner = fake_add(&f, host, KIND_ANNOTATION, "inner", 10, 30);
    fake_add(&f, host, KIND_OP, "not scanned", 12, 20);
    int one = fake_add(&f, host, KIND_RUNTIME, "launch", 15, 5);
    int two = fake_add(&f, host, KIND_RUNTIME, "launch", 60, 5);
    int three = fake_add(&f, host, KIND_RUNTIME, "launch", 100, 5); /* where the range ends */
    fake_work(&f, gpu, KIND_KERNEL, "k", 300, 7, one);
    fake_work(&f, gpu, KIND_MEMCPY, "c", 310, 11, two);
    fake_work(&f, gpu, KIND_KERNEL, "k", 330, 13, three); /* outside */
    const trace *t = fake_seal(&f);
    params p = fake_params();
    selection select;
    select_init(&select, t, &p);
    range_scan scan = {.t = t,
                       .select = &select,
                       .arena = &f.arena,
                       .kinds = 1u << KIND_ANNOTATION,
                       .visit = keep,
                       .context = &s};
    assert_int_equal(range_scan_run(&scan, NULL), OK);
    assert_int_equal(s.n, 2);
    assert_int_equal(s.calls[0].slice, f.id[inner]);
    assert_int_equal(s.calls[0].parent, f.id[outer]);
    assert_int_equal(s.calls[0].device_self, 7);
    assert_int_equal(s.calls[1].slice, f.id[outer]);
    assert_int_equal(s.calls[1].child_ns, 30);
    assert_int_equal(s.calls[1].device_self, 11);
    assert_int_equal(s.calls[1].device_children, 7);
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_belongs_to_the_innermost_open_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
