/* stragglers_test.c: who holds up the job, why, at what cost; what groups are for. */
#include "analyse/run/stragglers.h"

#include "fake_trace.h"

typedef struct {
    arena a;
    summary *s;
    worker_order who;
    comm_groups groups;
    stragglers late;
} job;

static str name_of(job *j, int64_t rank) {
    char name[16];
    snprintf(name, sizeof name, "w%02d", (int)rank);
    return summary_text(j->s, str_of(name));
}

/* Eight workers on two hosts; every step takes 1000 of which 600 are kernels. */
static void begin(job *j) {
    *j = (job){.s = summary_new()};
    for (int64_t r = 0; r < 8; r++) {
        summary_worker *w = summary_add_worker(j->s);
        w->name = name_of(j, r);
        w->rank = r;
        w->host = summary_text(j->s, r < 4 ? STR("left") : STR("right"));
        for (int64_t step = 0; step < 3; step++) {
            summary_step *row = summary_add_step(j->s);
            *row = (summary_step){.worker = w->name,
                                  .number = step,
                                  .start = 1000 * step,
                                  .end = 1000 * step + 1000,
                                  .kernel = 600 + r % 2,
                                  .communication = 400 - r % 2,
                                  .exposed = 400 - r % 2};
            summary_step_sync *sync = summary_add_step_sync(j->s);
            *sync =
                (summary_step_sync){w->name, step, 1000 * step, 100, 300 - r % 2, 300 - r % 2};
        }
    }
}

static void end(job *j) {
    assert_int_equal(summary_settle(j->s, NULL), OK);
    assert_int_equal(worker_order_make(&j->who, j->s, &j->a, NULL), OK);
    assert_int_equal(comm_groups_find(j->s, &j->who, &j->a, &j->groups, NULL), OK);
    assert_int_equal(stragglers_find(j->s, &j->who, &j->groups, &j->a, &j->late, NULL), OK);
}

static void fini(job *j) {
    summary_free(j->s);
    arena_fini(&j->a);
}

/* Moves ns of a worker's step from waiting to its own work. */
static summary_step *own(job *j, int64_t rank, int64_t step, int64_t ns) {
    uint32_t i = (uint32_t)(rank * 3 + step);
    summary_step *row = &SUMMARY_ROWS(j->s, step)[i];
    SUMMARY_ROWS(j->s, step_sync)[i].waiting -= ns;
    SUMMARY_ROWS(j->s, step_sync)[i].blocked -= ns;
    row->communication -= ns;
    row->exposed -= ns;
    return row;
}

static void no_rank_is_late_in_a_healthy_run(void **state) {
    job j;
    begin(&j);
    end(&j);
    assert_int_equal(j.late.n_ranks, 0);
    assert_int_equal(j.late.n_hosts, 0);
    assert_int_equal(j.late.n_steps, 3);
    assert_int_equal(j.late.steps[1].total, 1000);
    assert_int_equal(j.late.steps[1].cost, 0);
    assert_int_equal(j.late.steps[1].hidden, 100);
    fini(&j);
}

static void every_cause_is_distinguished_from_the_others(void **state) {
    job j;
    begin(&j);
    for (int64_t step = 0; step < 3; step++) {
        own(&j, 0, step, 200)->kernel += 200;
        own(&j, 1, step, 150)->data_loader += 150;
        summary_step *memory = own(&j, 2, step, 120);
        memory->runtime += 120;
        memory->allocator += 120;
        own(&j, 5, step, 100)->cpu_exec += 100;
    }
    end(&j);
    static const struct {
        uint32_t worker;
        late_cause cause;
        int64_t cost;
    } want[] = {
        {0, LATE_COMPUTE, 150}, {1, LATE_DATA, 0}, {2, LATE_MEMORY, 0}, {5, LATE_HOST, 0}};
    assert_int_equal(j.late.n_ranks, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(j.late.ranks[i].worker, want[i].worker);
        assert_int_equal(j.late.ranks[i].cause, want[i].cause);
        assert_int_equal(j.late.ranks[i].steps, 3);
        assert_in_range(j.late.ranks[i].cost, want[i].cost ? want[i].cost - 10 : 0,
                        want[i].cost + 10);
    }
    assert_int_equal(j.late.n_hosts, 1); /* three of four on the left */
    assert_true(str_eq(j.late.hosts[0].host, STR("left")));
    assert_int_equal(j.late.steps[0].who, 0);
    assert_in_range(j.late.steps[0].cost, 199, 201);
    fini(&j);
}

static void late_in_one_step_only_counts_there(void **state) {
    job j;
    begin(&j);
    own(&j, 3, 1, 250)->data_loader += 250;
    end(&j);
    assert_int_equal(j.late.n_ranks, 1);
    assert_int_equal(j.late.ranks[0].steps, 1);
    assert_in_range(j.late.ranks[0].cost, 249, 251);
    assert_int_equal(j.late.steps[0].who, UINT32_MAX);
    assert_int_equal(j.late.steps[1].who, 3);
    fini(&j);
}

/* The other seven waited for rank 5, 90 each; for rank 6 they never did. */
static void two_that_are_late_at_different_moments_cost_more(void **state) {
    job j;
    (void)state;
    begin(&j);
    own(&j, 2, 0, 200)->kernel += 200;
    own(&j, 5, 0, 150)->kernel += 150;
    own(&j, 2, 1, 80)->kernel += 80;
    own(&j, 6, 1, 60)->kernel += 60;
    *summary_add_blame(j.s) = (summary_blame){name_of(&j, 5), 7 * 90, 1};
    end(&j);
    assert_int_equal(j.late.steps[0].who, 2);
    assert_int_equal(j.late.steps[0].cost, 199 + 90);
    assert_int_equal(j.late.steps[1].cost, 79);
    fini(&j);
}

static void add_group(job *j, const char *name, const int64_t v[5], const int *ranks) {
    summary_group *g = summary_add_group(j->s);
    *g = (summary_group){.name = summary_text(j->s, str_of(name)),
                         .words = STR(""),
                         .source = v[3],
                         .target = v[4],
                         .type = v[0],
                         .size_class = 20,
                         .size = v[1],
                         .calls = 10,
                         .bytes = 10 << 20,
                         .transfer = v[2]};
    for (; *ranks >= 0; ranks++) {
        summary_member *m = summary_add_member(j->s);
        m->group = g->name;
        m->worker = name_of(j, *ranks);
    }
}
#define GROUP(j, name, ranks, ...) add_group(j, name, (const int64_t[]){__VA_ARGS__}, ranks)
#define RANKS(...) ((const int[]){__VA_ARGS__, -1})

static void groups_are_known_by_what_they_do_and_slow_ones_by_their_like(void **state) {
    job j;
    int64_t none = ABSENT_I64;
    begin(&j);
    GROUP(&j, "t0", RANKS(0, 1), COMM_ALL_REDUCE, 2, 1000, none, none);
    GROUP(&j, "t1", RANKS(2, 3), COMM_ALL_REDUCE, 2, 1010, none, none);
    GROUP(&j, "t2", RANKS(4, 5), COMM_ALL_REDUCE, 2, 3000, none, none);
    GROUP(&j, "t3", RANKS(6, 7), COMM_ALL_REDUCE, 2, 990, none, none);
    GROUP(&j, "d0", RANKS(0, 2, 4, 6), COMM_ALL_REDUCE, 4, 5000, none, none);
    GROUP(&j, "all", RANKS(0, 1, 2, 3, 4, 5, 6, 7), COMM_ALL_REDUCE, 8, 50, none, none);
    GROUP(&j, "e", RANKS(1, 2, 5), COMM_ALL_TO_ALL, 3, 50, none, none);
    for (int64_t r = 0; r < 4; r++)
        GROUP(&j, "p", RANKS((int)r, (int)r + 4), COMM_POINT, 2, r == 2 ? 900 : 100, r, r + 4);
    /* Its members are slow because of the network: none of them is the cause. */
    for (int64_t step = 0; step < 3; step++)
        for (int64_t r = 4; r < 6; r++)
            SUMMARY_ROWS(j.s, step_sync)[r * 3 + step].waiting -= 200;
    end(&j);
    static const struct {
        const char *name;
        comm_group_kind kind;
        bool slow;
    } want[] = {{"all", GROUP_WORLD, false}, {"d0", GROUP_DATA, false},
                {"e", GROUP_EXPERT, false},  {"t0", GROUP_TENSOR, false},
                {"t1", GROUP_TENSOR, false}, {"t2", GROUP_TENSOR, true},
                {"t3", GROUP_TENSOR, false}, {"p", GROUP_PIPELINE, false}};
    for (int i = 0; i < 8; i++) {
        assert_true(str_eq(j.groups.v[i].name, str_of(want[i].name)));
        assert_int_equal(j.groups.v[i].kind, want[i].kind);
        assert_int_equal(j.groups.v[i].slow, want[i].slow);
    }
    assert_int_equal(j.groups.n, 11);
    assert_int_equal(j.groups.v[9].source, 2);
    assert_true(j.groups.v[9].slow && !j.groups.v[10].slow);
    assert_int_equal(j.groups.v[9].excess, 800);
    assert_int_equal(j.late.n_ranks, 0);
    fini(&j);
}

static void the_makers_words_come_first(void **state) {
    job j;
    begin(&j);
    GROUP(&j, "x", RANKS(0, 1), COMM_ALL_REDUCE, 2, 10, ABSENT_I64, ABSENT_I64);
    SUMMARY_ROWS(j.s, group)->words = summary_text(j.s, STR("mesh_dp"));
    end(&j);
    assert_int_equal(j.groups.v[0].kind, GROUP_DATA);
    assert_int_equal(j.groups.data_of[1], 1);
    assert_int_equal(j.groups.data_of[2], 0);
    fini(&j);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_rank_is_late_in_a_healthy_run),
        cmocka_unit_test(every_cause_is_distinguished_from_the_others),
        cmocka_unit_test(late_in_one_step_only_counts_there),
        cmocka_unit_test(two_that_are_late_at_different_moments_cost_more),
        cmocka_unit_test(groups_are_known_by_what_they_do_and_slow_ones_by_their_like),
        cmocka_unit_test(the_makers_words_come_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
