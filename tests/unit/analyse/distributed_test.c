/* distributed_test.c: several workers at once; the original tool's own cases. */
#include "analyse/rules.h"
#include "fake_trace.h"

typedef struct {
    fake f[4];
    analysis_trace traces[4];
    uint32_t n;
} run;

static int add_comm(fake *f, int track, const char *name, const char *shapes,
                    const int64_t at[2]) {
    int h = fake_add(f, track, KIND_OP, name, at[0], at[1]);
    f->slices[h].shapes = shapes;
    f->slices[h].types = "[\"float\"]";
    return h;
}
#define COMM(f, track, name, shapes, ...) \
    add_comm(f, track, name, shapes, (const int64_t[]){__VA_ARGS__})

static answer ask(run *r, arena *a) {
    static const char *const names[] = {"w0", "w1", "w2", "w3"};
    for (uint32_t i = 0; i < r->n; i++)
        r->traces[i] = (analysis_trace){
            .trace = fake_seal(&r->f[i]), .worker = str_of(names[i]), .rank = i};
    analysis_input in = {.traces = r->traces, .n_traces = r->n};
    params p = fake_params();
    answer out;
    error err;
    assert_int_equal(analyse_distributed(&in, &p, a, &out, &err), OK);
    return out;
}

static void end(run *r, arena *a) {
    arena_fini(a);
    for (uint32_t i = 0; i < r->n; i++) fake_fini(&r->f[i]);
}

static void check(const table *t, size_t row, const char *const *columns, const int64_t *want) {
    for (; *columns; columns++, want++)
        if (fake_int(t, row, *columns) != *want)
            fail_msg("%s of row %zu of %s: expected %lld, got %lld", *columns, row, t->name,
                     (long long)*want, (long long)fake_int(t, row, *columns));
}
static const char *const overlap_columns[] = {"computation", "overlapping", "communication",
                                              "other", NULL};
static const char *const wait_columns[] = {"transfer", "waiting", NULL};
static const char *const name_columns[] = {"calls", "bytes",    "mean_bytes",
                                           "total", "transfer", NULL};
#define CHECK(t, row, columns, ...) check(t, row, columns, (const int64_t[]){__VA_ARGS__})

static size_t find_name(const table *t, const char *worker, const char *name) {
    for (size_t i = 0; i < t->n_rows; i++)
        if (str_eq(fake_text(t, i, "worker"), str_of(worker)) &&
            str_eq(fake_text(t, i, "name"), str_of(name)))
            return i;
    fail_msg("no row %s of %s", name, worker);
    return 0;
}

/* Without the device only the calls that start them are there; gloo exchanges inside. */
static void a_launch_has_neither_a_rate_nor_an_overlap(void **state) {
    for (int gloo = 0; gloo < 2; gloo++) {
        static run r;
        arena a = {0};
        r = (run){.n = 1};
        fake_init(&r.f[0]);
        int host = fake_thread(&r.f[0]);
        COMM(&r.f[0], host, gloo ? "gloo:all_reduce" : "nccl:all_reduce", "[[1000]]", 0, 500);
        fake_add(&r.f[0], host, KIND_OP, "aten::add_", 500, 500);
        answer out = ask(&r, &a);
        assert_int_equal(strcmp(out.verdict.id, "communication_launches") == 0, !gloo);
        assert_int_equal(fake_null(fake_table(&out, "collectives"), 0, "algorithm_bandwidth"),
                         !gloo);
        end(&r, &a);
    }
}

static void nccl_kernels_belong_to_their_host_range(void **state) {
    static run r;
    arena a = {0};
    r = (run){.n = 2};
    const int64_t at[2][12] = {{0, 75, 16, 16, 100, 20, 130, 161, 160, 75, 162, 1556},
                               {0, 20, 8, 31, 25, 20, 30, 161, 160, 75, 562, 1058}};
    for (int w = 0; w < 2; w++) {
        fake *f = &r.f[w];
        fake_init(f);
        int host = fake_thread(f), gpu = fake_stream(f, 0);
        int broadcast = COMM(f, host, "nccl:broadcast", "[[53120]]", at[w][0], at[w][1]);
        int k = fake_work(f, gpu, KIND_KERNEL, "ncclKernel_Broadcast", at[w][2], at[w][3], -1);
        f->slices[k].op = broadcast;
        fake_add(f, host, KIND_OP, "aten::add_", at[w][4], at[w][5]);
        fake_work(f, gpu, KIND_KERNEL, "add", at[w][6], at[w][7], -1);
        int reduce = COMM(f, host, "nccl:all_reduce", "[[2049000]]", at[w][8], at[w][9]);
        k = fake_work(f, gpu, KIND_KERNEL, "ncclKernel_AllReduce", at[w][10], at[w][11], -1);
        f->slices[k].op = reduce;
    }
    answer out = ask(&r, &a);
    table *t = fake_table(&out, "overlap");
    CHECK(t, 0, overlap_columns, 32, 129, 1443, 114);
    CHECK(t, 1, overlap_columns, 152, 9, 1080, 379);
    t = fake_table(&out, "synchronization");
    CHECK(t, 0, wait_columns, 1169, 464);
    CHECK(t, 1, wait_columns, 1169, 3);
    t = fake_table(&out, "collectives");
    CHECK(t, find_name(t, "w0", "nccl:broadcast"), name_columns, 1, 212480, 212480, 75, 36);
    CHECK(t, find_name(t, "w0", "nccl:all_reduce"), name_columns, 1, 8196000, 8196000, 1558,
          1133);
    CHECK(t, find_name(t, "w1", "nccl:broadcast"), name_columns, 1, 212480, 212480, 39, 36);
    CHECK(t, find_name(t, "w1", "nccl:all_reduce"), name_columns, 1, 8196000, 8196000, 1133,
          1133);
    end(&r, &a);
}

/* Two communication threads; with a kernel, or a CPU op of the same range instead. */
static void make_gloo(run *r, bool with_kernel) {
    static const int64_t at[2][5][2] = {{{16, 38}, {25, 36}, {66, 18}, {110, 18}, {120, 36}},
                                        {{20, 28}, {28, 30}, {77, 6}, {88, 38}, {130, 16}}};
    static const int64_t compute[2][4] = {{0, 20, 30, 101}, {0, 30, 70, 70}};
    static const int tracks[2][5] = {{1, 2, 1, 2, 1}, {1, 2, 1, 1, 2}};
    *r = (run){.n = 2};
    for (int w = 0; w < 2; w++) {
        fake *f = &r->f[w];
        fake_init(f);
        int host = fake_thread(f), threads[3] = {0, fake_thread(f), fake_thread(f)},
            gpu = fake_stream(f, 0);
        for (int i = 0; i < 5; i++) {
            int h = fake_add(f, threads[tracks[w][i]], KIND_OP,
                             i < 3 ? "gloo:broadcast" : "gloo:all_reduce", at[w][i][0],
                             at[w][i][1]);
            f->slices[h].shapes = i < 3 ? "[[53120]]" : "[[2049000]]";
            f->slices[h].types = "[\"float\"]";
        }
        fake_add(f, host, KIND_OP, "aten::add_", compute[w][0], compute[w][1]);
        if (with_kernel)
            fake_work(f, gpu, KIND_KERNEL, "add", compute[w][2], compute[w][3], -1);
        else
            fake_add(f, host, KIND_OP, "aten::mul", compute[w][2], compute[w][3]);
    }
}

static void gloo_ranges_on_the_host_with_a_device(void **state) {
    static run r;
    arena a = {0};
    make_gloo(&r, true);
    answer out = ask(&r, &a);
    table *t = fake_table(&out, "overlap");
    CHECK(t, 0, overlap_columns, 31, 70, 39, 16);
    CHECK(t, 1, overlap_columns, 16, 54, 44, 32);
    t = fake_table(&out, "synchronization");
    CHECK(t, 0, wait_columns, 75, 34);
    CHECK(t, 1, wait_columns, 78, 20);
    /* Collectives overlap: what is put down to ranks is the waiting of all, not more. */
    assert_int_equal(fake_int(t, 0, "caused") + fake_int(t, 1, "caused"), 34 + 20);
    t = fake_table(&out, "collectives");
    CHECK(t, find_name(t, "w0", "gloo:broadcast"), name_columns, 3, 637440, 212480, 63, 41);
    CHECK(t, find_name(t, "w0", "gloo:all_reduce"), name_columns, 2, 16392000, 8196000, 46, 34);
    CHECK(t, find_name(t, "w1", "gloo:broadcast"), name_columns, 3, 637440, 212480, 44, 44);
    CHECK(t, find_name(t, "w1", "gloo:all_reduce"), name_columns, 2, 16392000, 8196000, 54, 34);
    end(&r, &a);
}

static void gloo_ranges_on_the_host_alone(void **state) {
    static run r;
    arena a = {0};
    make_gloo(&r, false);
    answer out = ask(&r, &a);
    table *t = fake_table(&out, "overlap");
    CHECK(t, 0, overlap_columns, 47, 74, 35, 0);
    CHECK(t, 1, overlap_columns, 36, 64, 34, 12);
    t = fake_table(&out, "synchronization");
    CHECK(t, 0, wait_columns, 75, 34);
    CHECK(t, 1, wait_columns, 78, 20);
    end(&r, &a);
}

static void the_rank_the_others_wait_for_is_named(void **state) {
    static run r;
    arena a = {0};
    r = (run){.n = 3};
    for (int w = 0; w < 3; w++) {
        fake_init(&r.f[w]);
        int host = fake_thread(&r.f[w]);
        for (int i = 0; i < 10; i++) {
            int64_t start = 1000 * i + (w == 1 ? 600 : 100 + 10 * w);
            COMM(&r.f[w], host, "gloo:all_reduce", "[[10]]", start, 1000 * i + 700 - start);
        }
    }
    answer out = ask(&r, &a);
    assert_string_equal(out.verdict.id, "straggler");
    assert_int_equal(verdict_value(&out.verdict, "rank")->u.i, 1);
    assert_int_equal(verdict_value(&out.verdict, "cost")->u.i,
                     9 * 480); /* it has no event before its first */
    table *t = fake_table(&out, "arrivals");
    assert_int_equal(t->n_rows, 30);
    assert_int_equal(fake_int(t, 0, "late_by"), 0);
    assert_int_equal(fake_int(t, 0, "rank"), 0);
    assert_int_equal(fake_int(t, 2, "rank"), 1);
    assert_int_equal(fake_int(t, 2, "late_by"), 500);
    assert_int_equal(fake_int(t, 2, "duration"), 100);
    end(&r, &a);
}

static void clocks_of_other_machines_are_aligned(void **state) {
    static run r;
    arena a = {0};
    r = (run){.n = 2};
    for (int w = 0; w < 2; w++) {
        fake_init(&r.f[w]);
        int host = fake_thread(&r.f[w]);
        for (int i = 0; i < 5; i++)
            COMM(&r.f[w], host, "gloo:all_reduce", "[[10]]", 1000000 * i, 5000 + i);
        r.f[w].t.base_unix_ns = 1000000000 + 70000000 * w; /* 70 ms apart */
    }
    answer out = ask(&r, &a);
    assert_int_equal(out.quality.n_notes, 1);
    assert_string_equal(out.quality.notes[0].id, "clock_shifted");
    assert_int_equal(out.quality.notes[0].args[1].u.i, 70000000);
    table *t = fake_table(&out, "arrivals");
    for (size_t i = 0; i < t->n_rows; i++) assert_int_equal(fake_int(t, i, "late_by"), 0);
    table *clocks = fake_table(&out, "clocks");
    assert_int_equal(fake_int(clocks, 1, "offset"), 70000000);
    /* Both begin at once: what its clock is ahead of the other is taken off. */
    assert_int_equal(fake_int(clocks, 0, "start"), 0);
    assert_int_equal(fake_int(clocks, 1, "start"), 0);
    end(&r, &a);
}

static void collectives_without_partners_are_transfer_and_counted(void **state) {
    static run r;
    arena a = {0};
    r = (run){.n = 2};
    for (int w = 0; w < 2; w++) {
        fake_init(&r.f[w]);
        int host = fake_thread(&r.f[w]);
        for (int i = 0; i < 3 + w; i++)
            COMM(&r.f[w], host, "gloo:all_reduce", "[[10]]", 1000 * i, 100 * (w + 1));
        COMM(&r.f[w], host, "gloo:broadcast", "[[10]]", 9000, 100 * (w + 1));
    }
    answer out = ask(&r, &a);
    const quality_link *link = &out.quality.links[out.quality.n_links - 1];
    assert_int_equal(link->total, 9);
    assert_int_equal(link->linked, 2); /* order alone cannot match three with four */
    table *t = fake_table(&out, "collectives");
    assert_int_equal(fake_int(t, find_name(t, "w1", "gloo:all_reduce"), "waiting"), 0);
    assert_int_equal(fake_int(t, find_name(t, "w1", "gloo:broadcast"), "waiting"), 100);
    end(&r, &a);
}

static void one_worker_alone_has_an_answer(void **state) {
    static run r;
    arena a = {0};
    r = (run){.n = 1};
    fake_init(&r.f[0]);
    answer out = ask(&r, &a);
    assert_string_equal(out.verdict.id, "communication_none");
    assert_int_equal(fake_table(&out, "overlap")->n_rows, 1);
    end(&r, &a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_launch_has_neither_a_rate_nor_an_overlap),
        cmocka_unit_test(nccl_kernels_belong_to_their_host_range),
        cmocka_unit_test(gloo_ranges_on_the_host_with_a_device),
        cmocka_unit_test(gloo_ranges_on_the_host_alone),
        cmocka_unit_test(the_rank_the_others_wait_for_is_named),
        cmocka_unit_test(clocks_of_other_machines_are_aligned),
        cmocka_unit_test(collectives_without_partners_are_transfer_and_counted),
        cmocka_unit_test(one_worker_alone_has_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
