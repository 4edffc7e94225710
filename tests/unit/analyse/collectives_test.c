/* collectives_test.c: sizes and ranges of collectives. */
#include "fake_trace.h"

#include "analyse/comm/collectives.h"

static void sizes_come_from_shapes_and_types(void **state) {
    assert_int_equal(input_bytes(STR("[[53120]]"), STR("[\"float\"]")), 212480);
    assert_int_equal(
        input_bytes(STR("[[2, 3], [4]]"), STR("[\"c10::BFloat16\", \"long int\"]")), 12 + 32);
    assert_int_equal(input_bytes(STR("[[]]"), STR("[\"double\"]")), 8); /* a scalar */
    assert_int_equal(input_bytes(STR("[[[2],[3]]]"), STR("[\"float\"]")),
                     20); /* a list of tensors */
    assert_int_equal(input_bytes(STR("[[7]]"), STR("[\"Scalar\"]")), ABSENT_I64);
    assert_int_equal(input_bytes(STR(""), STR("")), ABSENT_I64);
    assert_int_equal(input_bytes(STR("[[4"), STR("[\"float\"]")), ABSENT_I64);
    assert_int_equal(input_bytes(STR("[[99999999999,99999999999]]"), STR("[\"float\"]")),
                     ABSENT_I64);
    assert_int_equal(dtype_bytes(STR("signed char")), 1);
    assert_int_equal(dtype_bytes(STR("c10::Float8_e4m3fn")), 1);
    assert_int_equal(dtype_bytes(STR("what")), 0);
}

static void a_kernel_without_a_host_range_stands_for_itself(void **state) {
    fake f;
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    int range = fake_add(&f, host, KIND_ANNOTATION, "nccl:all_reduce", 0, 50);
    int call = fake_add(&f, host, KIND_RUNTIME, "launch", 10, 5);
    int later = fake_add(&f, host, KIND_RUNTIME, "launch", 100, 5);
    fake_work(&f, gpu, KIND_KERNEL, "ncclDevKernel_AllReduce", 30, 40, call);
    fake_work(&f, gpu, KIND_KERNEL, "ncclDevKernel_AllReduce", 20, 5, call);
    int alone = fake_work(&f, gpu, KIND_KERNEL, "ncclDevKernel_AllGather", 120, 30, later);
    const trace *t = fake_seal(&f);
    f.t.comm.n = 2;
    f.t.group.n = 2;
    FAKE_SET(&f, group, name, 1, fake_str(&f, "7"));
    FAKE_SET(&f, group, size, 1, 8);
    FAKE_SET(&f, comm, slice, 1, f.id[alone]);
    FAKE_SET(&f, comm, name, 1, fake_str(&f, "_allgather_base"));
    FAKE_SET(&f, comm, group, 1, 1);
    FAKE_SET(&f, comm, sequence, 1, 5);
    FAKE_SET(&f, comm, comms_id, 1, 77);
    FAKE_SET(&f, comm, in_elements, 1, 10);
    FAKE_SET(&f, comm, out_elements, 1, 80);
    FAKE_SET(&f, comm, dtype, 1, fake_str(&f, "BFloat16"));
    collective_list l = {.arena = &f.arena};
    assert_int_equal(collectives_add(&l, t, 3, NULL), OK);
    assert_int_equal(l.n, 2);
    assert_int_equal(l.v[0].slice, f.id[range]);
    assert_int_equal(l.v[0].worker, 3);
    assert_int_equal(l.v[0].n_ranges, 3); /* the host's, then two kernels by start */
    assert_int_equal(l.ranges[l.v[0].first_range].end, 50);
    assert_int_equal(l.ranges[l.v[0].first_range + 1].start, 20);
    assert_int_equal(l.ranges[l.v[0].first_range + 2].start, 30);
    assert_int_equal(l.v[0].hull.end, 70);
    assert_text(l.v[1].name, "_allgather_base");
    assert_text(l.v[1].group, "7");
    assert_int_equal(l.v[1].sequence, 5);
    assert_int_equal(l.v[1].comms_id, 77);
    assert_int_equal(l.v[1].bytes, 160);
    assert_int_equal(l.v[1].group_size, 8);
    assert_int_equal(l.v[1].n_ranges, 1);
    fake_fini(&f);
}

static void kernels_without_a_launch_belong_to_the_ranges_in_order(void **state) {
    for (int extra = 0; extra < 2; extra++) {
        fake f;
        fake_init(&f);
        int host = fake_thread(&f), gpu = fake_stream(&f, 0);
        fake_add(&f, host, KIND_OP, "nccl:broadcast", 0, 10);
        fake_add(&f, host, KIND_OP, "nccl:all_reduce", 20, 10);
        fake_work(&f, gpu, KIND_KERNEL, "ncclKernel_AllReduce_RING", 100, 10, -1);
        fake_work(&f, gpu, KIND_KERNEL, "ncclKernel_Broadcast_RING", 50, 10, -1);
        if (extra) fake_work(&f, gpu, KIND_KERNEL, "ncclKernel_Broadcast_RING", 70, 10, -1);
        const trace *t = fake_seal(&f);
        collective_list l = {.arena = &f.arena};
        assert_int_equal(collectives_add(&l, t, 0, NULL), OK);
        assert_int_equal(l.n,
                         extra ? 4 : 2); /* two kernels, one range: it is ambiguous which */
        assert_int_equal(l.v[0].n_ranges, extra ? 1 : 2);
        assert_int_equal(l.v[1].n_ranges, 2);
        assert_int_equal(l.v[1].hull.end, 110);
        fake_fini(&f);
    }
}

/* PyTorch's operator says the peer, as its third input; gloo's range says nothing. */
static collective_list transfers(fake *f, const char *groups) {
    fake_init(f);
    int host = fake_thread(f);
    int send = fake_add(f, host, KIND_OP, "c10d::send", 0, 12);
    fake_add(f, host, KIND_COLLECTIVE, "gloo:send", 10, 100);
    int recv = fake_add(f, host, KIND_OP, "c10d::recv_", 200, 12);
    fake_add(f, host, KIND_COLLECTIVE, "gloo:recv", 210, 100);
    fake_add(f, host, KIND_COLLECTIVE, "gloo:recv", 400,
             100); /* no operator around its start */
    f->slices[send].inputs = "[\"\", \"\", \"2\", \"0\"]";
    f->slices[recv].inputs = "[\"\", \"\", \"0\", \"0\"]";
    f->slices[send].has_op_row = f->slices[recv].has_op_row = true;
    (void)fake_seal(f);
    f->t.meta.n = 2;
    FAKE_SET(f, meta, key, 1, fake_str(f, "distributedInfo"));
    FAKE_SET(f, meta, value, 1, fake_str(f, "{\"rank\": 1}"));
    for (; groups && *groups; groups += strlen(groups) + 1)
        FAKE_SET(f, group, ranks, f->t.group.n++, fake_str(f, groups));
    collective_list l = {.arena = &f->arena};
    assert_int_equal(collectives_add(&l, &f->t, 0, NULL), OK);
    assert_int_equal(l.n, 3);
    return l;
}

static void a_transfer_of_gloo_finds_its_partner_by_the_operator_that_starts_it(void **state) {
    fake f;
    collective_list l = transfers(&f, "[0, 1, 2, 3]\0");
    assert_int_equal(l.v[0].source, 1);
    assert_int_equal(l.v[0].target, 2);
    assert_int_equal(l.v[1].source, 0);
    assert_int_equal(l.v[1].target, 1);
    assert_int_equal(l.v[2].source, ABSENT_I64);
    fake_fini(&f);
    /* In a smaller group member 2 may be another rank: it is not known which group it was. */
    l = transfers(&f, "[0, 1, 2, 3]\0[1, 3, 5]\0");
    assert_int_equal(l.v[0].source, ABSENT_I64);
    fake_fini(&f);
    /* Groups of others, and of this rank alone, do not matter. */
    l = transfers(&f, "[0, 1, 2, 3]\0[4, 5, 6]\0[1]\0");
    assert_int_equal(l.v[0].target, 2);
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_come_from_shapes_and_types),
        cmocka_unit_test(a_transfer_of_gloo_finds_its_partner_by_the_operator_that_starts_it),
        cmocka_unit_test(a_kernel_without_a_host_range_stands_for_itself),
        cmocka_unit_test(kernels_without_a_launch_belong_to_the_ranges_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
