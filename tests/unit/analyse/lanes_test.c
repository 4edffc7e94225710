/* lanes_test.c: the lanes of a timeline, their order and their heads. */
#include "analyse/timeline/lanes.h"

#include "timeline_trace.h"

static const timeline_lane *find(const timeline_lanes *l, const char *kind, const char *role) {
    for (uint32_t i = 0; i < l->n_lanes; i++)
        if (strcmp(l->lanes[i].kind, kind) == 0 &&
            (!role || (l->lanes[i].role && strcmp(l->lanes[i].role, role) == 0)))
            return &l->lanes[i];
    fail_msg("no lane %s", kind);
    return NULL;
}

static void steps_come_first_then_counters_devices_and_threads(void **state) {
    timeline x;
    timeline_lanes l;
    timeline_init(&x);
    assert_int_equal(lanes_list(x.l, &x.a, &l, NULL), OK);
    assert_int_equal(l.n_lanes, lane_id_end(x.l) - 2); /* SM efficiency was not recorded */
    static const char *const order[] = {"utilization", "stream", "work", "calls", "python"};
    size_t at = 0;
    for (uint32_t i = 0; i < l.n_lanes && at < sizeof order / sizeof *order; i++)
        if (strcmp(l.lanes[i].kind, order[at]) == 0) at++;
    assert_int_equal(at, sizeof order / sizeof *order);
    const timeline_lane *training = find(&l, "work", "training"),
                        *autograd = find(&l, "work", "autograd");
    assert_true(training < autograd);
    assert_true(find(&l, "python", "training")->closed);
    assert_false(training->closed);
    assert_string_equal(find(&l, "stream", NULL)->role, "compute");
    assert_string_equal(find(&l, "utilization", NULL)->unit, "share");
    timeline_fini(&x);
}

static void devices_and_processes_have_heads(void **state) {
    timeline x;
    timeline_lanes l;
    timeline_init(&x);
    assert_int_equal(lanes_list(x.l, &x.a, &l, NULL), OK);
    assert_int_equal(l.n_groups, 2);
    assert_true(l.groups[0].is_device);
    assert_text(l.groups[0].name, "GPU0");
    assert_false(l.groups[1].is_device);
    assert_text(l.groups[1].pid, "1");
    assert_int_equal(find(&l, "stream", NULL)->group, l.groups[0].id);
    assert_int_equal(find(&l, "work", NULL)->group, l.groups[1].id);
    assert_int_equal(find(&l, "utilization", NULL)->group, 0);
    timeline_fini(&x);
}

static void copies_and_idle_threads_are_recognized(void **state) {
    fake f;
    fake_init(&f);
    int host = fake_thread(&f), idle = fake_thread(&f);
    int compute = fake_stream(&f, 0), copies = fake_stream(&f, 0), comm = fake_stream(&f, 0);
    fake_add(&f, host, KIND_OP, "aten::mm", 0, 100000);
    fake_add(&f, idle, KIND_OP, "once", 10, 20);
    fake_work(&f, copies, KIND_MEMCPY, "Memcpy HtoD", 0, 50, -1);
    fake_work(&f, comm, KIND_KERNEL, "ncclDevKernel_AllReduce_Sum_f32", 10, 50, -1);
    fake_work(&f, compute, KIND_KERNEL, "gemm", 20, 50, -1);
    const trace *t = fake_seal(&f);
    lod *l = NULL;
    timeline_lanes list;
    assert_int_equal(lod_new(t, NULL, &l, NULL), OK);
    assert_int_equal(lanes_list(l, &f.arena, &list, NULL), OK);
    const timeline_lane *a = find(&list, "stream", "compute"),
                        *b = find(&list, "stream", "communication"),
                        *c = find(&list, "stream", "copy");
    assert_true(a < b && b < c);
    assert_int_equal(a->track, compute);
    assert_int_equal(find(&list, "work", "training")->track, host);
    assert_true(find(&list, "work", "other")->closed);
    lod_free(l);
    fake_fini(&f);
}

static void one_lane_of_ranges_is_open_for_each_device(void **state) {
    fake f;
    fake_init(&f);
    fake_add(&f, fake_thread(&f), KIND_OP, "aten::mm", 0, 100000);
    int streams[4];
    for (int i = 0; i < 4; i++) {
        streams[i] = fake_stream(&f, i / 3); /* three of device 0, one of device 1 */
        fake_add(&f, streams[i], KIND_DEVICE_ANNOTATION, "train", 0, 1000 + 100 * (i == 1));
        fake_work(&f, streams[i], KIND_KERNEL, "gemm", 0, i == 2 ? 10 : 900, -1);
    }
    const trace *t = fake_seal(&f);
    lod *l = NULL;
    timeline_lanes list;
    assert_int_equal(lod_new(t, NULL, &l, NULL), OK);
    assert_int_equal(lanes_list(l, &f.arena, &list, NULL), OK);
    for (uint32_t i = 0; i < list.n_lanes; i++) {
        const timeline_lane *lane = &list.lanes[i];
        int of = (int)lane->track - streams[0];
        if (strcmp(lane->kind, "ranges") == 0)
            assert_true(lane->closed == (of == 0 || of == 2));
        if (strcmp(lane->kind, "stream") == 0) assert_true(lane->closed == (of == 2));
    }
    lod_free(l);
    fake_fini(&f);
}

static void sm_efficiency_is_a_counter_of_its_device(void **state) {
    fake f;
    fake_init(&f);
    int gpu = fake_stream(&f, 3);
    f.slices[fake_work(&f, gpu, KIND_KERNEL, "gemm", 0, 100, -1)].blocks_per_sm = 0.5;
    fake_work(&f, gpu, KIND_KERNEL, "unknown", 100, 100, -1);
    const trace *t = fake_seal(&f);
    lod *l = NULL;
    timeline_lanes list;
    assert_int_equal(lod_new(t, NULL, &l, NULL), OK);
    assert_int_equal(lanes_list(l, &f.arena, &list, NULL), OK);
    const timeline_lane *lane = find(&list, "counter", NULL);
    assert_text(lane->series, "sm_efficiency");
    assert_string_equal(lane->unit, "share");
    assert_int_equal(lane->device, 3);
    assert_true(lane->busy == 0.25);
    assert_true(find(&list, "utilization", NULL) < lane);
    lod_free(l);
    fake_fini(&f);
}

static void ids_lead_to_what_they_stand_for(void **state) {
    timeline x;
    uint32_t index = 0;
    timeline_init(&x);
    assert_int_equal(lane_class_of(x.l, 0, &index), LANE_UNKNOWN);
    assert_int_equal(lane_class_of(x.l, 1, &index), LANE_IS_SLICES);
    assert_int_equal(index, 1);
    assert_int_equal(lane_class_of(x.l, lane_id_end(x.l), &index), LANE_UNKNOWN);
    assert_int_equal(lane_class_of(x.l, lane_id_end(x.l) - 1, &index), LANE_IS_LOAD);
    assert_int_equal(index, 0);
    assert_int_equal(lane_class_of(x.l, lane_id_end(x.l) - 2, &index), LANE_IS_UTILIZATION);
    assert_int_equal(index, 0);
    timeline_fini(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_come_first_then_counters_devices_and_threads),
        cmocka_unit_test(devices_and_processes_have_heads),
        cmocka_unit_test(copies_and_idle_threads_are_recognized),
        cmocka_unit_test(one_lane_of_ranges_is_open_for_each_device),
        cmocka_unit_test(sm_efficiency_is_a_counter_of_its_device),
        cmocka_unit_test(ids_lead_to_what_they_stand_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
