/* comm_resolve_test.c: one comm_keeper or many, one owner or many: the same answer. */
#include "analyse/run/comm_resolve.h"

#include "base/map.h"
#include "fake_trace.h"

enum { N_WORKERS = 6, N_COMMS = 40, MOST = 4 };

static int64_t pick(uint64_t *seed, int64_t n) {
    return (int64_t)(hash_u64(*seed += 0x9e3779b97f4a7c15u) % (uint64_t)n);
}

static void add_comm(summary *s, str worker, int64_t rank, int64_t number, uint64_t *seed) {
    static const char *const names[] = {"nccl:all_reduce", "nccl:broadcast", "nccl:send 0->1"};
    static const char *const group[] = {"world", "even"};
    int kind = (int)(number % 3);
    summary_comm *c = summary_add_comm(s);
    *c = (summary_comm){.worker = worker,
                        .rank = rank,
                        .number = number,
                        .name = summary_text(s, str_of(names[kind])),
                        .group = summary_text(s, str_of(group[rank % 2 == 0 && kind == 0])),
                        .words = STR(""),
                        .group_size = ABSENT_I64,
                        .source = ABSENT_I64,
                        .target = ABSENT_I64,
                        .sequence = number % 5 ? number : ABSENT_I64,
                        .id = ABSENT_I64,
                        .bytes = 1 << (number % 4 + 10),
                        .step = number < 20 ? 0 : 20000,
                        .step_number = number < 20 ? 1 : 2,
                        .counts = 1};
    int64_t end = 1000 * number + 900;
    for (int64_t i = 0; i < 1 + (rank == 3 && number == 7); i++) {
        summary_range *r = summary_add_range(s);
        *r = (summary_range){worker, number, i, end - 100 - pick(seed, 500), end + 10 * i};
    }
}

static summary *make_worker(int64_t rank) {
    summary *s = summary_new();
    uint64_t seed = (uint64_t)rank * 1000 + 5;
    char name[16];
    snprintf(name, sizeof name, "rank%d", (int)rank);
    str worker = summary_text(s, str_of(name));
    summary_worker *w = summary_add_worker(s);
    w->name = worker;
    w->rank = rank;
    w->collectives = N_COMMS;
    w->base = 7000000 * rank;
    for (int64_t i = 0; i < 2; i++) {
        summary_step *step = summary_add_step(s);
        *step = (summary_step){
            .worker = worker, .number = i + 1, .start = 20000 * i, .end = 20000 * i + 20000};
    }
    for (int64_t i = 0; i < N_COMMS; i++) add_comm(s, worker, rank, i, &seed);
    return s;
}

static buf encoded(summary *s) {
    buf b = {0};
    assert_int_equal(summary_encode(s, STR_NONE, &b, NULL), OK);
    return b;
}

static buf resolved_at_once(void) {
    arena a = {0};
    summary *all = summary_new();
    for (int64_t i = 0; i < N_WORKERS; i++) {
        summary *w = make_worker(i);
        assert_int_equal(summary_merge(all, w, NULL), OK);
        summary_free(w);
    }
    assert_int_equal(comm_resolve_all(all, &a, NULL), OK);
    buf b = encoded(all);
    summary_free(all);
    arena_fini(&a);
    return b;
}

/* What n processes do, one after the other; worker w belongs to process w * 5 % n. */
typedef struct {
    arena a;
    summary *owner[MOST], *part[MOST], *back[MOST], *worker_order, *samples, *clocks, *found,
        *moved;
    comm_keeper k[MOST];
} machine;

static void deal(machine *m, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        m->owner[i] = summary_new();
        m->part[i] = summary_new();
        m->back[i] = summary_new();
    }
    for (int64_t i = 0; i < N_WORKERS; i++) {
        summary *w = make_worker(i);
        assert_int_equal(summary_append(m->worker_order, w, SUMMARY_BIT(worker), NULL), OK);
        assert_int_equal(summary_merge(m->owner[i * 5 % n], w, NULL), OK);
        summary_free(w);
    }
    assert_int_equal(summary_settle(m->worker_order, NULL), OK);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(comm_resolve_split(m->owner[i], m->part, n, NULL), OK);
}

static void keep(machine *m, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(summary_settle(m->part[i], NULL), OK);
        assert_int_equal(comm_keeper_open(&m->k[i], m->worker_order, m->part[i], &m->a, NULL),
                         OK);
        assert_int_equal(comm_keeper_samples(&m->k[i], m->samples, NULL), OK);
    }
    assert_int_equal(clocks_solve(m->worker_order, m->samples, &m->a, m->clocks, NULL), OK);
    assert_int_equal(summary_settle(m->clocks, NULL), OK);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(comm_keeper_resolve(&m->k[i], m->clocks, m->moved, m->found, NULL),
                         OK);
    assert_int_equal(summary_settle(m->moved, NULL), OK);
}

static buf resolved_by(uint32_t n) {
    machine m = {.worker_order = summary_new(),
                 .samples = summary_new(),
                 .clocks = summary_new(),
                 .found = summary_new(),
                 .moved = summary_new()};
    deal(&m, n);
    keep(&m, n);
    summary *all = m.found;
    assert_int_equal(summary_append(all, m.clocks, SUMMARY_ALL, NULL), OK);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(comm_owner_finish(m.owner[i], m.moved, &m.a, NULL), OK);
        assert_int_equal(summary_append(all, m.owner[i], SUMMARY_ALL, NULL), OK);
    }
    assert_int_equal(comm_resolve_trim(all, NULL), OK);
    buf b = encoded(all);
    summary *frees[] = {m.worker_order, m.samples, m.clocks, m.found, m.moved};
    for (int i = 0; i < 5; i++) summary_free(frees[i]);
    for (uint32_t i = 0; i < n; i++) {
        summary_free(m.owner[i]);
        summary_free(m.part[i]);
        summary_free(m.back[i]);
    }
    arena_fini(&m.a);
    return b;
}

static void any_number_of_processes_finds_the_same(void **state) {
    buf want = resolved_at_once();
    for (uint32_t n = 1; n <= MOST; n++) {
        buf got = resolved_by(n);
        assert_int_equal(got.n, want.n);
        assert_memory_equal(got.p, want.p, want.n);
        buf_fini(&got);
    }
    buf_fini(&want);
}

static void the_fastest_member_is_the_transfer_and_the_last_is_to_blame(void **state) {
    arena a = {0};
    summary *s = summary_new();
    static const int64_t starts[] = {100, 400, 250};
    for (int64_t i = 0; i < 3; i++) {
        static const char *const names[] = {"a", "b", "c"};
        str name = summary_text(s, str_of(names[i]));
        summary_worker *w = summary_add_worker(s);
        w->name = name;
        w->rank = i;
        w->collectives = 1;
        summary_comm *c = summary_add_comm(s);
        *c = (summary_comm){.worker = name,
                            .rank = i,
                            .name = summary_text(s, STR("nccl:all_reduce")),
                            .group = STR(""),
                            .words = STR(""),
                            .group_size = 3,
                            .source = ABSENT_I64,
                            .target = ABSENT_I64,
                            .sequence = 9,
                            .id = ABSENT_I64,
                            .bytes = 4096,
                            .step = 0,
                            .counts = 1};
        summary_range *r = summary_add_range(s);
        *r = (summary_range){name, 0, 0, starts[i], 600};
    }
    assert_int_equal(comm_resolve_all(s, &a, NULL), OK);
    assert_int_equal(SUMMARY_N(s, comm), 0);
    static const int64_t waits[] = {300, 0, 150};
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(SUMMARY_ROWS(s, sync)[i].transfer, 200);
        assert_int_equal(SUMMARY_ROWS(s, sync)[i].waiting, waits[i]);
    }
    assert_int_equal(SUMMARY_N(s, blame), 1);
    assert_true(str_eq(SUMMARY_ROWS(s, blame)->worker, STR("b")));
    assert_int_equal(SUMMARY_ROWS(s, blame)->caused, 450);
    assert_int_equal(SUMMARY_N(s, group), 1);
    assert_int_equal(SUMMARY_ROWS(s, group)->transfer, 200);
    assert_int_equal(SUMMARY_ROWS(s, group)->waiting, 450);
    assert_int_equal(SUMMARY_N(s, member), 3);
    summary_free(s);
    arena_fini(&a);
}

static void only_the_most_expensive_arrivals_stay(void **state) {
    summary *s = summary_new();
    for (int64_t i = 0; i < COMM_RESOLVE_ARRIVALS + 500; i++) {
        summary_arrival *row = summary_add_arrival(s);
        row->lost = i / 100;
        row->lot = i / 100;
        row->start = i;
    }
    assert_int_equal(comm_resolve_trim(s, NULL), OK);
    uint32_t n = SUMMARY_N(s, arrival);
    assert_true(n <= COMM_RESOLVE_ARRIVALS && n > COMM_RESOLVE_ARRIVALS - 100);
    assert_int_equal(SUMMARY_ROWS(s, arrival)[n - 1].start, COMM_RESOLVE_ARRIVALS + 499);
    summary_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_processes_finds_the_same),
        cmocka_unit_test(the_fastest_member_is_the_transfer_and_the_last_is_to_blame),
        cmocka_unit_test(only_the_most_expensive_arrivals_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
