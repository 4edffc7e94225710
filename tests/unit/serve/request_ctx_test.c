/* request_ctx_test.c: questions and answers without HTTP, over a folder with one run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyse/run/reduce.h"
#include "base/json.h"
#include "serve/announce.h"
#include "serve/answer_cache.h"
#include "serve/expected.h"
#include "serve/facts.h"
#include "serve/run_cache.h"
#include "unit/session/session_helper.h"

static folder place;
static service all;

static int open_service(void **state) {
    live_options how;
    place = folder_new();
    put_file(&place, "log/a/rank0.pt.trace.json", small_trace(20));
    put_file(&place, "log/a/rank1.pt.trace.json", small_trace(30));
    how = (live_options){.path = in_folder(&place, "log"),
                         .threads = 1,
                         .no_cache = true,
                         .reduce = reduce_worker};
    all = (service){.memory_bytes = 64 << 20, .answer_bytes = 1 << 20, .instance = "test"};
    all.facts = facts_new();
    all.run_cache = run_cache_new();
    all.answers = answer_cache_new();
    all.event_bus = event_bus_new();
    if (live_open(&how, &all.live, NULL) != OK || live_start(all.live, NULL) != OK) return 1;
    return 0;
}

static int close_service(void **state) {
    live_close(all.live);
    facts_free(all.facts);
    run_cache_free(all.run_cache);
    answer_cache_free(all.answers);
    event_bus_free(all.event_bus);
    folder_gone(&place);
    return 0;
}

/* The exchange of a target, answered; waits until the trace is there. */
static request_ctx ask(const char *target) {
    request_ctx x;
    error err = {.status = OK};
    bool waits = true;
    request_begin(&x, &all);
    x.target = str_of(target);
    status s = request_ctx_parse(&x, &err);
    for (int i = 0; i < 1000 && s == OK && waits; i++) {
        s = request_open(&x, &waits, &err);
        if (waits) nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    assert_false(s == OK && waits);
    if (s == OK) s = request_answer(&x, &err);
    if (s != OK) request_fail(&x, &err);
    return x;
}

static void expect(const char *target, int code, const char *text) {
    request_ctx x = ask(target);
    if (x.reply.code != code)
        fail_msg("%s: %d %.*s", target, x.reply.code, STR_ARG(buf_str(&x.reply.body)));
    if (text && str_find(buf_str(&x.reply.body), str_of(text), 0) == SIZE_MAX)
        fail_msg("%s: no %s in %.*s", target, text, STR_ARG(buf_str(&x.reply.body)));
    request_end(&x);
}

static uint64_t made(void) {
    return answer_cache_made(all.answers);
}

static void the_first_question_of_a_page_is_answered_before_it_comes(void **state) {
    expect("/api/v1/info?worker=0", 200, NULL); /* now the trace is there */
    snapshot *now = live_snapshot(all.live);
    uint64_t before = made();
    const worker_entry *first = &now->found.runs[0].workers[0];
    expected_answer(&all, snapshot_entry(now, &first->spans[0]), LANG_EN);
    assert_int_equal(made(), before + 1);
    expect("/api/v1/overview?worker=rank0&lang=en&evidence=yes", 200, "breakdown");
    expect("/api/v1/overview?run=a&worker=0&lang=en&evidence=yes", 200, "breakdown");
    assert_int_equal(made(), before + 1);
    expect("/api/v1/overview?worker=rank0&lang=zh&evidence=yes", 200, "breakdown");
    expect("/api/v1/overview?worker=rank1&lang=en&evidence=yes", 200, "breakdown");
    assert_int_equal(made(), before + 3);
    expected_answer(&all, snapshot_entry(now, &first[1].spans[0]),
                    LANG_EN); /* not what comes */
    assert_int_equal(made(), before + 3);
    snapshot_release(now);
}

static void a_kept_answer_has_the_type_of_its_form(void **state) {
    for (int i = 0; i < 2; i++) {
        request_ctx x = ask("/api/v1/operators?worker=0&format=csv");
        assert_non_null(strstr(x.reply.media, "text/csv"));
        request_end(&x);
    }
}

static void questions_about_all_workers_join_their_summaries_once(void **state) {
    uint64_t before = run_cache_made(all.run_cache);
    expect("/api/v1/distributed?all-workers=1&table=overlap&limit=1", 200, "overlap");
    uint64_t after = run_cache_made(all.run_cache);
    expect("/api/v1/distributed?all-workers=1&table=heat_map", 200, "heat_map");
    expect("/api/v1/overview?all-workers=1", 200, "breakdown");
    assert_true(after <= before + 1);
    assert_int_equal(run_cache_made(all.run_cache), after);
    expect("/api/v1/distributed?all-workers=1&step=1", 200, "overlap");
    assert_int_equal(run_cache_made(all.run_cache), after + 1);
}

static void a_worker_that_cannot_be_read_is_left_out_and_named(void **state) {
    put_file(&place, "log/b/rank0.pt.trace.json", small_trace(20));
    put_file(&place, "log/b/rank1.pt.trace.json", STR("no trace at all"));
    live_rescan(all.live);
    for (int i = 0; i < 500; i++) {
        snapshot *s = live_snapshot(all.live);
        bool there = s->found.n_runs == 2;
        snapshot_release(s);
        if (there) break;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    expect("/api/v1/distributed?run=b&all-workers=1", 200, "rank1.pt.trace.json");
}

static void every_route_answers(void **state) {
    expect("/api/v1/ping", 200, "\"instance\":\"test\"");
    expect("/api/v1/runs", 200, "\"name\":\"rank1\"");
    expect("/api/v1/tracks", 200, "\"kind\":\"work\"");
    expect("/api/v1/viewport?width=100", 200, "TACHOBLK");
    expect("/api/v1/tape?width=100", 200, "TACHOBLK");
    expect("/api/v1/slice?id=1", 200, "\"same_name\"");
    expect("/api/v1/search?q=op", 200, "\"hits\"");
    expect("/api/v1/area", 200, "\"area\"");
    expect("/api/v1/operators?worker=1", 200, "\"worker\":\"rank1\"");
    expect("/api/v1/operators?format=csv", 200, "name");
    expect("/api/v1/distributed?all-workers=1", 200, "rank1");
    expect("/api/v1/operators?run=b", 404, "NO_SUCH_RUN");
    expect("/api/v1/events", 404, NULL); /* only as a stream */
    expect("/api/v1/events?since=-1", 400, "since");
}

static void events_since_a_number_are_a_list(void **state) {
    expect("/api/v1/events?since=0", 200, "\"next\":0,\"missed\":false,\"events\":[]}");
    live_event changed = {.what = LIVE_CHANGED};
    announce(&all, &changed);
    snapshot *s = live_snapshot(all.live);
    live_event ready = {.what = LIVE_READY,
                        .entry = snapshot_entry(s, &s->found.runs[0].workers[1].spans[0]),
                        .renewed = true};
    snapshot_release(s);
    announce(&all, &ready);
    expect("/api/v1/events?since=0", 200, "\"next\":2");
    expect("/api/v1/events?since=0", 200, "[{\"event\":\"runs\",\"data\":{\"version\":");
    expect("/api/v1/events?since=1", 200,
           "\"events\":[{\"event\":\"ready\",\"data\":{\"run\":\"a\",\"worker\":\"rank1\","
           "\"span\":1,"
           "\"renewed\":true}}]}");
    expect("/api/v1/events?since=9", 200, "\"missed\":true,\"events\":[]}");
}

static void a_comparison_holds_all_ranks_of_both_runs(void **state) {
    expect("/api/v1/diff?other=a", 200, "\"ranks\"");
    expect("/api/v1/diff?other=a&worker=*", 200, "\"ranks\"");
    expect("/api/v1/diff?other=a&table=steps&format=csv", 200, ",2\r\nb,a,");
    expect("/api/v1/diff?other=a&worker=rank1&table=steps&format=csv", 200, "b,a,rank1,");
    expect("/api/v1/diff?other=a&base_runs=a,", 200, "\"changes\"");
    expect("/api/v1/diff?other=a&other_step=x", 400, "other_step");
    expect("/api/v1/diff?other=zz", 404, "NO_SUCH_RUN");
    expect("/api/v1/diff?other=a&base_runs=zz", 404, "NO_SUCH_RUN");
    expect("/api/v1/diff", 400, "two runs");
}

static void an_export_is_a_file(void **state) {
    request_ctx x = ask("/api/v1/export?form=csv");
    assert_int_equal(x.reply.code, 200);
    assert_true(x.reply.fd >= 0 && x.reply.fd_bytes > 100);
    assert_string_equal(x.reply.name, "rank0.csv");
    request_end(&x);
    expect("/api/v1/export?form=exe", 400, "csv");
}

static void unread_exports_hold_a_part_of_the_disk(void **state) {
    static const char target[] = "/api/v1/export?form=csv&worker=0";
    request_ctx first = ask(target);
    assert_int_equal(first.reply.code, 200);
    assert_int_equal(all.export_bytes, first.reply.fd_bytes);
    all.export_bytes += (uint64_t)1 << 30;
    expect(target, 503, "busy");
    all.export_bytes -= (uint64_t)1 << 30;
    expect(target, 200, NULL);
    request_end(&first);
    assert_int_equal(all.export_bytes, 0);
    assert_int_equal(all.n_exports, 0);
}

static void the_same_answer_has_the_same_tag(void **state) {
    request_ctx first = ask("/api/v1/operators"), second = ask("/api/v1/operators"),
                other = ask("/api/v1/operators?limit=1");
    assert_string_equal(first.reply.etag, second.reply.etag);
    assert_string_not_equal(first.reply.etag, other.reply.etag);
    request_ctx again;
    bool waits;
    request_begin(&again, &all);
    again.target = STR("/api/v1/operators");
    again.if_none_match = str_of(first.reply.etag);
    assert_int_equal(request_ctx_parse(&again, NULL), OK);
    assert_int_equal(request_open(&again, &waits, NULL), OK);
    assert_int_equal(request_answer(&again, NULL), OK);
    assert_int_equal(again.reply.code, 304);
    assert_int_equal(again.reply.body.n, 0);
    request_end(&again);
    request_end(&first);
    request_end(&second);
    request_end(&other);
}

static void answers_and_memory_have_limits(void **state) {
    all.answer_bytes = 100;
    expect("/api/v1/operators?limit=8", 413, "too_large"); /* not asked before */
    all.answer_bytes = 1 << 20;
    all.memory_bytes = 3000;
    expect("/api/v1/operators?limit=9", 503, "busy");
    expect("/api/v1/viewport", 503, "busy");
    all.memory_bytes = 64 << 20;
    expect("/api/v1/operators?limit=9", 200, NULL);
}

static void what_is_loading_says_how_far(void **state) {
    request_ctx x;
    bool waits;
    error err;
    live_options how = {.path = in_folder(&place, "log"), .no_cache = true};
    live *running = all.live, *asleep = NULL;
    assert_int_equal(live_open(&how, &asleep, NULL), OK); /* not started: nothing is read */
    all.live = asleep;
    request_begin(&x, &all);
    x.target = STR("/api/v1/operators");
    assert_int_equal(request_ctx_parse(&x, &err), OK);
    assert_int_equal(request_open(&x, &waits, &err), OK);
    assert_true(waits);
    request_loading(&x);
    assert_int_equal(x.reply.code, 202);
    assert_true(str_starts(buf_str(&x.reply.body), STR("{\"loading\":{\"run\":\"a\"")));
    request_end(&x);
    live_close(asleep);
    all.live = running;
}

static void a_picture_alone_is_all_of_its_run(void **state) {
    put_file(&place, "pictures/7.memory_flow.svg",
             STR("<?xml version=\"1.0\"?>\n<svg xmlns:tag=\"https://megengine.org.cn\">\n"
                 "<rect fill=\"#AAAAAA\" tag:type=\"tensor\" tag:name=\"w\" "
                 "tag:address=\"0x7f\" tag:size=\"4B \" tag:layout=\"{2(1) Float32}\" "
                 "tag:produced=\"1s \" tag:erased=\"2s \" tag:duration=\"\" "
                 "tag:group=\"7\">\n</rect>\n</svg>"));
    live_options how = {.path = in_folder(&place, "pictures"),
                        .threads = 1,
                        .no_cache = true,
                        .reduce = reduce_worker};
    live *running = all.live;
    (void)state;
    assert_int_equal(live_open(&how, &all.live, NULL), OK);
    assert_int_equal(live_start(all.live, NULL), OK);
    expect("/api/v1/distributed?all-workers=1", 200, "memory_flow");
    expect("/api/v1/advise?all-workers=1", 200, "memory_flow");
    live_close(all.live);
    all.live = running;
}

static void facts_stay_when_they_are_made(void **state) {
    request_ctx x = ask("/api/v1/tracks");
    buf b = {0};
    facts *own = facts_new();
    facts_put(own, 1, &b);
    assert_true(str_eq(buf_str(&b), STR("null")));
    assert_false(facts_are_of(own, 1, x.held[0]));
    facts_make(own, 1, x.held[0], NULL);
    buf_clear(&b);
    facts_put(own, 1, &b);
    assert_true(json_member(buf_str(&b), STR("events")).n > 0);
    assert_true(json_member(buf_str(&b), STR("verdict")).n > 0);
    assert_true(facts_are_of(own, 1, x.held[0]));
    buf_fini(&b);
    facts_free(own);
    request_end(&x);
}

/* What a list shows is taken from an overview that was asked for, and is what it would be by itself. */
static void an_overview_of_the_whole_gives_the_facts(void **state) {
    snapshot *now = live_snapshot(all.live);
    request_ctx x = ask("/api/v1/info?worker=0");
    uint32_t entry = snapshot_entry(now, x.chosen.span);
    facts *before = all.facts;
    all.facts = facts_new();
    expect("/api/v1/overview?worker=0&step=1", 200, NULL);
    expect("/api/v1/overview?worker=0&table=breakdown&limit=3", 200, NULL);
    assert_false(facts_are_of(all.facts, entry, x.held[0]));
    expect("/api/v1/overview?worker=0&evidence=yes&limit=7", 200, NULL);
    assert_true(facts_are_of(all.facts, entry, x.held[0]));
    buf taken = {0}, own = {0};
    facts_put(all.facts, entry, &taken);
    facts_make(all.facts, entry, x.held[0], NULL);
    facts_put(all.facts, entry, &own);
    assert_true(str_eq(buf_str(&taken), buf_str(&own)));
    buf_fini(&taken);
    buf_fini(&own);
    facts_free(all.facts);
    all.facts = before;
    request_end(&x);
    snapshot_release(now);
}

/* A second client with the same question does not get the failure of the first. */
static void an_analysis_ends_when_its_reader_has_left(void **state) {
    const char *target = "/api/v1/overview?worker=0&from=1";
    int ends[2];
    bool waits = false;
    error err = {.status = OK};
    request_ctx x;
    expect("/api/v1/info?worker=0", 200, NULL); /* now the trace is there */
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    request_begin(&x, &all);
    x.target = str_of(target);
    x.client_fd = ends[0];
    x.asked_ns = 0; /* long ago */
    assert_int_equal(request_ctx_parse(&x, &err), OK);
    assert_int_equal(request_open(&x, &waits, &err), OK);
    assert_false(waits);
    while (x.arena.end - x.arena.at > 64) assert_non_null(arena_alloc(&x.arena, 16));
    close(ends[1]);
    assert_int_equal(request_answer(&x, &err), ERR_CANCELLED);
    request_end(&x);
    close(ends[0]);
    expect(target, 200, "breakdown");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_route_answers),
        cmocka_unit_test(the_first_question_of_a_page_is_answered_before_it_comes),
        cmocka_unit_test(a_kept_answer_has_the_type_of_its_form),
        cmocka_unit_test(questions_about_all_workers_join_their_summaries_once),
        cmocka_unit_test(events_since_a_number_are_a_list),
        cmocka_unit_test(a_comparison_holds_all_ranks_of_both_runs),
        cmocka_unit_test(an_export_is_a_file),
        cmocka_unit_test(unread_exports_hold_a_part_of_the_disk),
        cmocka_unit_test(the_same_answer_has_the_same_tag),
        cmocka_unit_test(answers_and_memory_have_limits),
        cmocka_unit_test(what_is_loading_says_how_far),
        cmocka_unit_test(a_picture_alone_is_all_of_its_run),
        cmocka_unit_test(facts_stay_when_they_are_made),
        cmocka_unit_test(an_overview_of_the_whole_gives_the_facts),
        cmocka_unit_test(a_worker_that_cannot_be_read_is_left_out_and_named),
        cmocka_unit_test(an_analysis_ends_when_its_reader_has_left),
    };
    return cmocka_run_group_tests(tests, open_service, close_service);
}
