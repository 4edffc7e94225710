/* culprit_test.c: which rank is blamed, for what, and when no rank is. */
#include "analyse/run/culprit.h"

#include "analyse/steps/stages.h"
#include "fake_trace.h"

enum { RANKS = 4, STEPS = 6 };

typedef struct {
    arena a;
    summary *s;
    worker_order who;
    comm_groups groups;
    stragglers late;
    culprit found;
} job;

static str name_of(job *j, int64_t rank) {
    char name[16];
    snprintf(name, sizeof name, "w%d", (int)rank);
    return summary_text(j->s, str_of(name));
}

static void add_own(job *j, int64_t rank, own_kind kind, const char *name, int64_t ns) {
    *summary_add_own(j->s) = (summary_own){.worker = name_of(j, rank),
                                           .kind = kind,
                                           .stage = STAGE_FORWARD,
                                           .name = str_of(name),
                                           .inner = STR(""),
                                           .steps = STEPS,
                                           .ns = STEPS * ns,
                                           .calls = STEPS,
                                           .shapes = STR("")};
}

/* Every step takes 1000: 400 in one operator, 200 in another, the rest blocked. */
static void begin(job *j) {
    *j = (job){.s = summary_new()};
    for (int64_t r = 0; r < RANKS; r++) {
        summary_worker *w = summary_add_worker(j->s);
        w->name = name_of(j, r);
        w->rank = r;
        w->host = STR("");
        for (int64_t step = 0; step < STEPS; step++) {
            *summary_add_step(j->s) = (summary_step){.worker = w->name,
                                                     .number = step,
                                                     .start = 1000 * step,
                                                     .end = 1000 * step + 1000,
                                                     .work = 600};
            *summary_add_step_sync(j->s) =
                (summary_step_sync){w->name, step, 1000 * step, 0, 400, 400};
        }
    }
}

static void work_longer(job *j, int64_t rank, int64_t step, int64_t ns) {
    SUMMARY_ROWS(j->s, step_sync)[rank * STEPS + step].blocked -= ns;
    SUMMARY_ROWS(j->s, step)[rank * STEPS + step].work += ns;
}

static void end(job *j) {
    assert_int_equal(summary_settle(j->s, NULL), OK);
    assert_int_equal(worker_order_make(&j->who, j->s, &j->a, NULL), OK);
    assert_int_equal(comm_groups_find(j->s, &j->who, &j->a, &j->groups, NULL), OK);
    assert_int_equal(stragglers_find(j->s, &j->who, &j->groups, &j->a, &j->late, NULL), OK);
    assert_int_equal(culprit_find(j->s, &j->who, &j->late, &j->a, &j->found, NULL), OK);
}

static void fini(job *j) {
    summary_free(j->s);
    arena_fini(&j->a);
}

static void an_operator_that_takes_longer_is_named(void **state) {
    job j;
    (void)state;
    begin(&j);
    for (int64_t r = 0; r < RANKS; r++) {
        add_own(&j, r, OWN_OPERATOR, "aten::mm", r == 2 ? 700 : 400);
        add_own(&j, r, OWN_OPERATOR, "aten::add", 200);
    }
    for (int64_t step = 0; step < STEPS; step++) work_longer(&j, 2, step, 300);
    end(&j);
    assert_non_null(j.found.rank);
    assert_int_equal(j.found.rank->worker, 2);
    assert_int_equal(j.found.cost_ns, 300);
    assert_int_equal(j.found.step_ns, 1000);
    assert_non_null(j.found.place);
    assert_true(str_eq(j.found.place->name, STR("aten::mm")));
    assert_int_equal(j.found.place_ns, 700);
    assert_int_equal(j.found.usual_ns, 400);
    assert_null(j.found.next);
    fini(&j);
}

static void a_rank_that_is_slower_at_everything_has_no_place(void **state) {
    job j;
    (void)state;
    begin(&j);
    for (int64_t r = 0; r < RANKS; r++) {
        add_own(&j, r, OWN_OPERATOR, "aten::mm", r == 1 ? 600 : 400);
        add_own(&j, r, OWN_OPERATOR, "aten::add", r == 1 ? 300 : 200);
    }
    for (int64_t step = 0; step < STEPS; step++) work_longer(&j, 1, step, 300);
    end(&j);
    assert_int_equal(j.found.rank->worker, 1);
    assert_null(j.found.place);
    assert_near(j.found.slower, 1.5);
    fini(&j);
}

/* In one of eight steps the others differ so much that nothing stands out. */
static void a_habit_counts_in_all_steps(void **state) {
    job j;
    (void)state;
    begin(&j);
    for (int64_t step = 0; step < STEPS; step++) work_longer(&j, 1, step, 200);
    work_longer(&j, 2, 3, 100);
    work_longer(&j, 3, 3, 60);
    end(&j);
    assert_int_equal(j.found.rank->worker, 1);
    assert_int_equal(j.found.rank->steps, STEPS);
    assert_int_equal(j.found.cost_ns, (5 * 200 + 140 + 3) / 6);
    fini(&j);
}

static void a_habit_that_begins_late_says_since_when(void **state) {
    job j;
    (void)state;
    begin(&j);
    for (int64_t step = 3; step < STEPS; step++) work_longer(&j, 1, step, 300);
    end(&j);
    assert_int_equal(j.found.rank->steps, 3);
    assert_non_null(j.found.since);
    assert_int_equal(j.found.since->number, 3);
    assert_null(j.found.until);
    assert_int_equal(j.found.rank->every, 0);
    fini(&j);
}

/* The others begin their first step 1000 before rank 2, and wait for it there. */
static void a_rank_that_begins_late_is_late_once(void **state) {
    job j;
    (void)state;
    begin(&j);
    for (int64_t r = 0; r < RANKS; r++) {
        *summary_add_clock(j.s) = (summary_clock){.worker = name_of(&j, r), .aligned = 1};
        if (r == 2) continue;
        SUMMARY_ROWS(j.s, step)[r * STEPS].start -= 1000;
        SUMMARY_ROWS(j.s, step_sync)[r * STEPS].start -= 1000;
        SUMMARY_ROWS(j.s, step_sync)[r * STEPS].blocked += 1000;
    }
    end(&j);
    assert_int_equal(j.found.rank->worker, 2);
    assert_int_equal(j.found.rank->steps, 1);
    assert_int_equal(j.found.before_ns, 1000);
    assert_null(j.found.place);
    fini(&j);
}

static void a_second_late_rank_is_what_remains(void **state) {
    job j;
    (void)state;
    begin(&j);
    for (int64_t step = 0; step < STEPS; step++) {
        work_longer(&j, 0, step, 350);
        work_longer(&j, 3, step, 200);
    }
    end(&j);
    assert_int_equal(j.found.rank->worker, 0);
    assert_int_equal(j.found.cost_ns, 350);
    assert_non_null(j.found.next);
    assert_int_equal(j.found.next->worker, 3);
    assert_int_equal(j.found.after_ns, 200);
    fini(&j);
}

/* Each rank is late in another step: no rank is to blame. */
static void waiting_that_moves_around_is_nobodys_fault(void **state) {
    job j;
    (void)state;
    begin(&j);
    for (int64_t r = 0; r < RANKS; r++) work_longer(&j, r, r, 100);
    end(&j);
    assert_null(j.found.rank);
    fini(&j);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_operator_that_takes_longer_is_named),
        cmocka_unit_test(a_rank_that_is_slower_at_everything_has_no_place),
        cmocka_unit_test(a_habit_counts_in_all_steps),
        cmocka_unit_test(a_habit_that_begins_late_says_since_when),
        cmocka_unit_test(a_rank_that_begins_late_is_late_once),
        cmocka_unit_test(a_second_late_rank_is_what_remains),
        cmocka_unit_test(waiting_that_moves_around_is_nobodys_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
