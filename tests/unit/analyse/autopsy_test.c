/* autopsy_test.c: which request is in which iteration, and what each waited for. */
#include "fake_trace.h"

#include "analyse/serving/autopsy.h"

static served_iteration prefill(int64_t start, int64_t end, int64_t prompts, int64_t tokens) {
    return (served_iteration){.it = {.kind = ITERATION_PREFILL,
                                     .batch = prompts,
                                     .prompts = prompts,
                                     .prompt_tokens = tokens},
                              .start = start,
                              .end = end};
}

static served_iteration decode(int64_t start, int64_t end, int64_t n) {
    return (served_iteration){
        .it = {.kind = ITERATION_DECODE, .batch = n, .decodes = n}, .start = start, .end = end};
}

static served_iteration mixed(int64_t start, int64_t end, int64_t tokens, int64_t n) {
    return (served_iteration){.it = {.kind = ITERATION_MIXED,
                                     .batch = n + 1,
                                     .prompts = 1,
                                     .prompt_tokens = tokens,
                                     .decodes = n},
                              .start = start,
                              .end = end};
}

static served_request request(const char *id, int64_t arrival, int64_t first, int64_t end,
                              int64_t prompt) {
    return (served_request){.id = str_of(id),
                            .arrival = arrival,
                            .scheduled = ABSENT_I64,
                            .first_token = first,
                            .end = end,
                            .prompt_tokens = prompt,
                            .output_tokens = ABSENT_I64};
}

typedef struct {
    arena arena;
    prefills turns;
    autopsies bodies;
} result;

static void run(result *out, served_iteration *its, uint32_t n, served_request *reqs,
                uint32_t m) {
    served s = {.v = its, .n = n};
    request_list r = {.v = reqs, .n = m};
    arena_init(&out->arena, 0);
    assert_int_equal(prefills_find(&s, &r, &out->arena, &out->turns, NULL), OK);
    assert_int_equal(autopsies_make(&s, &r, &out->turns, 8, &out->arena, &out->bodies, NULL),
                     OK);
    for (uint32_t i = 0; i < m; i++) {
        const request_autopsy *b = &out->bodies.v[i];
        assert_int_equal(b->prefill + b->decode + b->waiting + b->scheduler + b->other,
                         reqs[i].end - reqs[i].arrival);
    }
}

static void expect(const request_autopsy *b, int64_t own, int64_t waiting, int64_t scheduler,
                   int64_t other) {
    assert_int_equal(b->prefill + b->decode, own);
    assert_int_equal(b->waiting, waiting);
    assert_int_equal(b->scheduler, scheduler);
    assert_int_equal(b->other, other);
}

/*        A prefill      B prefill       A, B decode
 *   10 |100 ─── 200| 10 |210 ── 400| 10 |410 ─ 450|
 *  A arrives at 90, B at 150; both are done at 455. */
static void a_prompt_waits_for_the_prompt_before_it(void **state) {
    (void)state;
    served_iteration its[] = {prefill(100, 200, 1, 50), prefill(210, 400, 1, 90),
                              decode(410, 450, 2)};
    served_request reqs[] = {request("A", 90, 201, 455, 50), request("B", 150, 402, 455, 90)};
    result r;
    run(&r, its, 3, reqs, 2);
    /* A: own 100 + 40; waits for B 190; gaps 10 + 10; before the first iteration 10, after 5 */
    expect(&r.bodies.v[0], 140, 190, 20, 15);
    assert_int_equal(r.bodies.v[0].blocker, 1);
    assert_int_equal(r.bodies.v[0].blocked, 190);
    assert_int_equal(r.bodies.v[0].queue, 10);
    /* B: waits for the last 50 of A's prompt */
    expect(&r.bodies.v[1], 230, 50, 20, 5);
    assert_int_equal(r.bodies.v[1].blocker, 0);
    assert_int_equal(r.bodies.v[1].blocked, 50);
    assert_int_equal(r.bodies.v[1].queue, 60);
    assert_int_equal(r.turns.known[2], 2);
    arena_fini(&r.arena);
}

/* The prompt of A (150 tokens) is computed in pieces of 100; B's 40 begin in the second. */
static void prompts_in_pieces_are_handed_out_in_order(void **state) {
    (void)state;
    served_iteration its[] = {prefill(0, 100, 1, 100), prefill(100, 200, 2, 90),
                              mixed(200, 300, 30, 2), decode(300, 400, 3)};
    served_request reqs[] = {request("A", 0, 201, 401, 150), request("B", 50, 202, 401, 40),
                             request("C", 60, 301, 401, 30)};
    result r;
    run(&r, its, 4, reqs, 3);
    assert_int_equal(r.turns.of[0].n_turns, 2);
    assert_int_equal(r.turns.by_request[r.turns.of[0].first_turn].tokens, 100);
    assert_int_equal(r.turns.by_request[r.turns.of[0].first_turn + 1].tokens, 50);
    assert_int_equal(r.turns.of[1].n_turns, 1);
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(r.turns.known[i], its[i].it.batch);
    expect(&r.bodies.v[0], 400, 0, 0, 1);
    expect(&r.bodies.v[1], 300, 50, 0, 1);
    /* C: 40 of A's first piece; of the second iteration 50 of A's and 40 of B's 90 tokens */
    expect(&r.bodies.v[2], 200, 140, 0, 1);
    assert_int_equal(r.bodies.v[2].blocker, 0);
    assert_int_equal(r.bodies.v[2].blocked, 40 + 55); /* 100 · 50 / 90 = 55.6 */
    arena_fini(&r.arena);
}

/* A queue: C waits while A and B decode, each for its half. */
static void a_request_in_the_queue_waits_for_those_that_decode(void **state) {
    (void)state;
    served_iteration its[] = {prefill(0, 10, 2, 20), decode(10, 20, 2), decode(20, 30, 2),
                              decode(30, 40, 1), prefill(40, 60, 1, 8)};
    served_request reqs[] = {request("A", 0, 10, 41, 10), request("B", 0, 10, 31, 10),
                             request("C", 15, 60, 60, 8)};
    result r;
    run(&r, its, 5, reqs, 3);
    expect(&r.bodies.v[2], 20, 25, 0, 0);
    const request_wait *w = r.bodies.waits;
    int64_t of[2] = {0, 0}, rest = 0;
    for (uint32_t i = 0; i < r.bodies.n_waits; i++)
        if (w[i].request == 2)
            *(w[i].blocker == UINT32_MAX ? &rest : &of[w[i].blocker]) += w[i].ns;
    assert_int_equal(of[0], 17); /* 5 / 2 + 10 / 2 + 10 */
    assert_int_equal(of[1], 7);
    assert_int_equal(rest, 1); /* two halves of a nanosecond */
    arena_fini(&r.arena);
}

static void requests_outside_of_the_recording_are_other(void **state) {
    (void)state;
    served_iteration its[] = {prefill(100, 200, 1, 50), decode(210, 250, 1)};
    served_request reqs[] = {request("early", 0, 50, 90, 5), request("A", 90, 201, 251, 50),
                             request("mute", 120, ABSENT_I64, 240, 5)};
    result r;
    run(&r, its, 2, reqs, 3);
    assert_false(r.bodies.v[0].known);
    expect(&r.bodies.v[0], 0, 0, 0, 90);
    assert_int_equal(r.bodies.v[0].queue, ABSENT_I64);
    assert_false(r.bodies.v[2].known);
    expect(&r.bodies.v[2], 0, 0, 0, 120);
    expect(&r.bodies.v[1], 140, 0, 10, 11);
    arena_fini(&r.arena);
}

/* The log lacks a request whose prompt ran between: no request can be named for it. */
static void iterations_of_unknown_requests_have_no_blocker(void **state) {
    (void)state;
    served_iteration its[] = {prefill(0, 100, 1, 50), prefill(100, 200, 1, 70),
                              decode(200, 250, 2)};
    served_request reqs[] = {request("A", 0, 101, 251, 50)};
    result r;
    run(&r, its, 3, reqs, 1);
    expect(&r.bodies.v[0], 150, 100, 0, 1);
    assert_int_equal(r.bodies.v[0].blocker, UINT32_MAX);
    assert_int_equal(r.bodies.n_waits, 1);
    assert_int_equal(r.bodies.waits[0].blocker, UINT32_MAX);
    assert_int_equal(r.bodies.waits[0].ns, 100);
    assert_int_equal(r.turns.known[2], 1);
    arena_fini(&r.arena);
}

/* The log is written after the next iteration has begun: two tokens are one decode. */
static void the_number_of_tokens_ends_a_request(void **state) {
    (void)state;
    served_iteration its[] = {prefill(0, 100, 1, 50), decode(100, 110, 1), decode(110, 120, 1)};
    served_request reqs[] = {request("A", 0, 101, 118, 50)};
    reqs[0].output_tokens = 2;
    result r;
    run(&r, its, 3, reqs, 1);
    assert_int_equal(r.turns.of[0].last, 2);
    expect(&r.bodies.v[0], 110, 0, 0, 8);
    arena_fini(&r.arena);
}

static void nothing_is_answered_with_nothing(void **state) {
    (void)state;
    result r;
    run(&r, NULL, 0, NULL, 0);
    assert_int_equal(r.bodies.n_waits, 0);
    arena_fini(&r.arena);
    served_request reqs[] = {request("A", 0, 5, 10, 1)};
    run(&r, NULL, 0, reqs, 1);
    expect(&r.bodies.v[0], 0, 0, 0, 10);
    arena_fini(&r.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_prompt_waits_for_the_prompt_before_it),
        cmocka_unit_test(prompts_in_pieces_are_handed_out_in_order),
        cmocka_unit_test(a_request_in_the_queue_waits_for_those_that_decode),
        cmocka_unit_test(requests_outside_of_the_recording_are_other),
        cmocka_unit_test(iterations_of_unknown_requests_have_no_blocker),
        cmocka_unit_test(the_number_of_tokens_ends_a_request),
        cmocka_unit_test(nothing_is_answered_with_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
