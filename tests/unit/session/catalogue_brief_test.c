/* catalogue_brief_test.c: summaries of a folder: made once, kept, found again, rebuilt when stale. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "session/catalogue.h"
#include "session_helper.h"
#include "store/summary.h"

static _Atomic int n_reduced;

/* A summary with the worker and the number of its operators. */
static status count_ops(const trace_source *who, size_t limit_bytes, trace **out, error *err) {
    summary *s = summary_new();
    (void)limit_bytes;
    summary_worker *w = summary_add_worker(s);
    if (!w) FAIL_MEMORY(err);
    w->name = summary_text(s, who->worker);
    w->rank = who->rank;
    w->steps = (int64_t)who->trace->kind_count[KIND_OP];
    atomic_fetch_add(&n_reduced, 1);
    *out = trace_of_summary(s);
    return OK;
}

static live *open_live(const char *path, bool no_cache) {
    live *c = NULL;
    live_options o = {.path = path, .threads = 2, .no_cache = no_cache, .reduce = count_ops};
    assert_int_equal(live_open(&o, &c, NULL), OK);
    assert_int_equal(live_start(c, NULL), OK);
    return c;
}

static uint32_t entry_of(live *c, const char *worker) {
    snapshot *s = live_snapshot(c);
    span_choice ch;
    choice wanted = {.worker = str_of(worker)};
    assert_int_equal(span_choose(&s->found, &wanted, &ch, NULL), OK);
    uint32_t id = snapshot_entry(s, ch.span);
    snapshot_release(s);
    return id;
}

static void sleep_ms(int n) {
    nanosleep(&(struct timespec){.tv_nsec = n * 1000000L}, NULL);
}

/* Waits until the summary of a worker is there; the number it holds, -1: it failed. */
static int64_t ops_of(live *c, const char *worker, uint64_t *generation) {
    uint32_t id = entry_of(c, worker);
    for (int i = 0; i < 2000; i++) {
        held_trace *h;
        error err = {.status = OK};
        span_state s = live_hold_summary(c, id, &h, &err);
        if (s == SPAN_FAILED) {
            assert_true(err.status != OK);
            return -1;
        }
        if (!h) {
            sleep_ms(10);
            continue;
        }
        assert_null(h->lod);
        int64_t n = SUMMARY_ROWS(h->trace->summary, worker)[0].steps;
        if (generation) *generation = h->generation;
        held_release(h);
        return n;
    }
    fail_msg("no summary came");
    return 0;
}

static void summaries_are_made_once_and_found_again(void **state) {
    folder f = folder_new();
    put_file(&f, "log/rank0.pt.trace.json", small_trace(3));
    put_file(&f, "log/rank1.pt.trace.json", small_trace(4));
    atomic_store(&n_reduced, 0);
    live *c = open_live(in_folder(&f, "log"), false);
    assert_int_equal(ops_of(c, "rank0", NULL), 3);
    assert_int_equal(ops_of(c, "rank1", NULL), 4);
    assert_int_equal(ops_of(c, "rank1", NULL), 4);
    assert_int_equal(atomic_load(&n_reduced), 2);
    live_close(c);
    c = open_live(in_folder(&f, "log"),
                  false); /* another process would find them the same way */
    assert_int_equal(ops_of(c, "rank0", NULL), 3);
    assert_int_equal(ops_of(c, "rank1", NULL), 4);
    assert_int_equal(atomic_load(&n_reduced), 2);
    live_close(c);
    folder_gone(&f);
}

static void a_changed_file_rebuilds_only_its_own_summary(void **state) {
    folder f = folder_new();
    uint64_t before[2], after[2];
    put_file(&f, "log/rank0.pt.trace.json", small_trace(3));
    put_file(&f, "log/rank1.pt.trace.json", small_trace(4));
    live *c = open_live(in_folder(&f, "log"), false);
    (void)ops_of(c, "rank0", &before[0]);
    (void)ops_of(c, "rank1", &before[1]);
    atomic_store(&n_reduced, 0);
    char to[512];
    snprintf(to, sizeof to, "%s", in_folder(&f, "log/rank1.pt.trace.json"));
    assert_int_equal(rename(put_file(&f, "log/new.tmp", small_trace(9)), to), 0);
    live_rescan(c);
    for (int i = 0; i < 1000 && ops_of(c, "rank1", &after[1]) != 9; i++) sleep_ms(10);
    assert_int_equal(ops_of(c, "rank1", &after[1]), 9);
    assert_int_equal(ops_of(c, "rank0", &after[0]), 3);
    assert_true(after[0] == before[0] && after[1] != before[1]);
    assert_int_equal(atomic_load(&n_reduced), 1);
    live_close(c);
    folder_gone(&f);
}

static void cut_file(const char *path) {
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(truncate(path, st.st_size / 2), 0);
}

/* The trace that was kept, and its summary. */
static void damage_both(const folder *f) {
    char one[1024];
    assert_int_equal(count_files(f->cache, ".tacho"), 2);
    snprintf(one, sizeof one, "%s", first_file(f->cache, ".tacho"));
    cut_file(one);
    cut_file(other_file(f->cache, ".tacho", one));
}

static void a_damaged_summary_is_made_again(void **state) {
    folder f = folder_new();
    put_file(&f, "log/rank0.pt.trace.json", small_trace(5));
    live *c = open_live(in_folder(&f, "log"), false);
    assert_int_equal(ops_of(c, "rank0", NULL), 5);
    live_close(c);
    damage_both(&f);
    atomic_store(&n_reduced, 0);
    c = open_live(in_folder(&f, "log"), false);
    assert_int_equal(ops_of(c, "rank0", NULL), 5);
    assert_int_equal(atomic_load(&n_reduced), 1);
    live_close(c);
    folder_gone(&f);
}

static void a_file_that_cannot_be_read_has_no_summary(void **state) {
    folder f = folder_new();
    put_file(&f, "log/rank0.pt.trace.json", small_trace(5));
    put_file(&f, "log/rank1.pt.trace.json", STR("this is no trace"));
    live *c = open_live(in_folder(&f, "log"), true);
    assert_int_equal(ops_of(c, "rank0", NULL), 5);
    assert_int_equal(ops_of(c, "rank1", NULL), -1);
    live_close(c);
    folder_gone(&f);
}

static void of_many_workers_only_the_first_one_is_read_whole(void **state) {
    folder f = folder_new();
    for (int i = 0; i < 20; i++) {
        char name[64];
        snprintf(name, sizeof name, "log/rank%d.pt.trace.json", i);
        put_file(&f, name, small_trace(3 + i));
    }
    live *c = open_live(in_folder(&f, "log"), true);
    live_totals sum = {0};
    for (int i = 0; i < 2000 && (sum.n_summarised < 20 || sum.total_bytes); i++) {
        sum = live_sum(c);
        sleep_ms(10);
    }
    assert_int_equal(sum.n_summaries, 20);
    assert_int_equal(sum.n_summarised, 20);
    int ready = 0, resting = 0;
    for (uint32_t i = 1; i <= 20; i++) {
        int s = atomic_load(&live_progress(c, i)->state);
        ready += s == SPAN_READY;
        resting += s == SPAN_RESTING;
    }
    assert_int_equal(ready, 1);
    assert_int_equal(resting, 19);
    assert_int_equal(ops_of(c, "rank19", NULL), 22);
    live_close(c);
    folder_gone(&f);
}

static void summaries_go_when_memory_is_short_and_come_back(void **state) {
    folder f = folder_new();
    live *c = NULL;
    for (int i = 0; i < 20; i++) {
        char name[64];
        snprintf(name, sizeof name, "log/rank%d.pt.trace.json", i);
        put_file(&f, name, small_trace(3 + i));
    }
    live_options o = {.path = in_folder(&f, "log"),
                      .threads = 2,
                      .memory_limit_bytes = 20000,
                      .reduce = count_ops};
    assert_int_equal(live_open(&o, &c, NULL), OK);
    assert_int_equal(live_start(c, NULL), OK);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 20; i++) {
            char name[16];
            snprintf(name, sizeof name, "rank%d", i);
            assert_int_equal(ops_of(c, name, NULL), 3 + i);
        }
    live_trim(c);
    assert_true(live_sum(c).used_bytes <= 20000);
    live_close(c);
    folder_gone(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(summaries_are_made_once_and_found_again),
        cmocka_unit_test(a_changed_file_rebuilds_only_its_own_summary),
        cmocka_unit_test(a_damaged_summary_is_made_again),
        cmocka_unit_test(a_file_that_cannot_be_read_has_no_summary),
        cmocka_unit_test(of_many_workers_only_the_first_one_is_read_whole),
        cmocka_unit_test(summaries_go_when_memory_is_short_and_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
