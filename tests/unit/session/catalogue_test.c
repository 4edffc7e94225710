/* catalogue_test.c: a folder that changes while it is watched. */
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

/* What was reported so far. */
typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t told;
    int n[4];
    int n_renewed;
} listener;

static void listen_to(void *context, const live_event *e) {
    listener *l = context;
    pthread_mutex_lock(&l->lock);
    l->n[e->what]++;
    l->n_renewed += e->renewed;
    pthread_cond_broadcast(&l->told);
    pthread_mutex_unlock(&l->lock);
}

static void listener_init(listener *l) {
    *l = (listener){.n = {0}};
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->told, NULL);
}

/* Waits up to 20 s until this many of an event were reported. */
static void wait_for(listener *l, live_what what, int n) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 20;
    int late = 0;
    pthread_mutex_lock(&l->lock);
    while (l->n[what] < n && !late) late = pthread_cond_timedwait(&l->told, &l->lock, &until);
    bool enough = l->n[what] >= n;
    pthread_mutex_unlock(&l->lock);
    assert_true(enough);
}

static live *open_live(const char *path, listener *l, uint64_t limit) {
    live *c = NULL;
    live_options o = {.path = path,
                      .threads = 2,
                      .no_cache = true,
                      .memory_limit_bytes = limit,
                      .event = listen_to,
                      .context = l};
    assert_int_equal(live_open(&o, &c, NULL), OK);
    assert_int_equal(live_start(c, NULL), OK);
    return c;
}

static uint32_t entry_of(live *c, const char *run, const char *worker) {
    snapshot *s = live_snapshot(c);
    span_choice ch;
    choice wanted = {.run = str_of(run), .worker = str_of(worker)};
    assert_int_equal(span_choose(&s->found, &wanted, &ch, NULL), OK);
    uint32_t id = snapshot_entry(s, ch.span);
    snapshot_release(s);
    assert_true(id > 0);
    return id;
}

static span_state state_of(live *c, uint32_t id) {
    return (span_state)atomic_load(&live_progress(c, id)->state);
}

static void files_are_read_without_being_asked(void **state) {
    folder f = folder_new();
    listener l;
    listener_init(&l);
    put_file(&f, "log/a/w0.pt.trace.json", small_trace(3));
    put_file(&f, "log/b/w0.pt.trace.json", small_trace(4));
    live *c = open_live(in_folder(&f, "log"), &l, 0);
    wait_for(&l, LIVE_READY, 2);
    held_trace *h;
    assert_int_equal(live_hold(c, entry_of(c, "a", ""), &h, NULL), SPAN_READY);
    assert_non_null(h->trace);
    assert_non_null(h->lod);
    assert_true(h->generation > 0);
    live_totals sum = live_sum(c);
    assert_int_equal(sum.total_bytes, 0);
    assert_true(sum.used_bytes > 0 && sum.used_bytes < sum.limit_bytes);
    live_close(c);
    assert_int_equal(h->trace->kind_count[KIND_OP], 3); /* what is held stays */
    held_release(h);
    folder_gone(&f);
}

static void a_new_run_appears_by_itself(void **state) {
    folder f = folder_new();
    listener l;
    listener_init(&l);
    put_file(&f, "log/a/w0.pt.trace.json", small_trace(3));
    live *c = open_live(in_folder(&f, "log"), &l, 0);
    wait_for(&l, LIVE_READY, 1);
    snapshot *before = live_snapshot(c);
    put_file(&f, "log/b/w0.pt.trace.json", small_trace(3));
    wait_for(&l, LIVE_READY, 2);
    snapshot *after = live_snapshot(c);
    assert_int_equal(before->found.n_runs, 1);
    assert_int_equal(after->found.n_runs, 2);
    assert_true(after->version > before->version);
    snapshot_release(before);
    snapshot_release(after);
    live_close(c);
    folder_gone(&f);
}

static void an_empty_folder_is_watched(void **state) {
    folder f = folder_new();
    listener l;
    listener_init(&l);
    mkdir(in_folder(&f, "log"), 0755);
    live *c = open_live(in_folder(&f, "log"), &l, 0);
    snapshot *s = live_snapshot(c);
    assert_int_equal(s->found.n_runs, 0);
    snapshot_release(s);
    put_file(&f, "log/w0.pt.trace.json", small_trace(3));
    wait_for(&l, LIVE_READY, 1);
    live_close(c);
    live_options o = {.path = in_folder(&f, "nothing")};
    error err;
    assert_int_equal(live_open(&o, &c, &err), ERR_IO);
    folder_gone(&f);
}

static void touch_now(const char *path) {
    assert_int_equal(utimensat(AT_FDCWD, path, NULL, 0), 0);
}

static void a_file_counts_as_complete_when_it_has_been_quiet(void **state) {
    folder f = folder_new();
    listener l;
    listener_init(&l);
    touch_now(put_file(&f, "log/w0.pt.trace.json", small_trace(3)));
    live *c = open_live(in_folder(&f, "log"), &l, 0);
    uint32_t id = entry_of(c, "", "");
    held_trace *h;
    assert_int_equal(state_of(c, id), SPAN_GROWING);
    assert_int_equal(live_hold(c, id, &h, NULL), SPAN_GROWING);
    assert_null(h);
    wait_for(&l, LIVE_READY, 1);
    assert_int_equal(live_hold(c, id, &h, NULL), SPAN_READY);
    held_release(h);
    live_close(c);
    folder_gone(&f);
}

/* The clock of the machine that wrote it is ahead: it is quiet when it does not change. */
static void a_file_from_the_future_is_read(void **state) {
    folder f = folder_new();
    listener l;
    listener_init(&l);
    const char *path = put_file(&f, "log/w0.pt.trace.json", small_trace(3));
    struct timespec ahead[2] = {{.tv_sec = time(NULL) + 86400}, {.tv_sec = time(NULL) + 86400}};
    assert_int_equal(utimensat(AT_FDCWD, path, ahead, 0), 0);
    live *c = open_live(in_folder(&f, "log"), &l, 0);
    uint32_t id = entry_of(c, "", "");
    held_trace *h;
    assert_int_equal(state_of(c, id), SPAN_GROWING);
    wait_for(&l, LIVE_READY, 1);
    assert_int_equal(live_hold(c, id, &h, NULL), SPAN_READY);
    held_release(h);
    live_close(c);
    folder_gone(&f);
}

static void a_changed_file_is_read_again(void **state) {
    folder f = folder_new();
    listener l;
    listener_init(&l);
    put_file(&f, "log/w0.pt.trace.json", small_trace(3));
    live *c = open_live(in_folder(&f, "log"), &l, 0);
    wait_for(&l, LIVE_READY, 1);
    uint32_t id = entry_of(c, "", "");
    held_trace *old, *now;
    (void)live_hold(c, id, &old, NULL);
    assert_int_equal(l.n_renewed, 0);
    put_file(&f, "log/w0.pt.trace.json", small_trace(9));
    live_rescan(c);
    wait_for(&l, LIVE_READY, 2);
    assert_int_equal(l.n_renewed, 1);
    (void)live_hold(c, id, &now, NULL);
    assert_true(now->generation != old->generation);
    assert_int_equal(old->trace->kind_count[KIND_OP], 3);
    assert_int_equal(now->trace->kind_count[KIND_OP], 9);
    held_release(old);
    held_release(now);
    live_close(c);
    folder_gone(&f);
}

/* Writes to a file four times a second until it is stopped. */
typedef struct {
    const char *path;
    atomic_bool stop;
} writer;

static void *keep_writing(void *context) {
    writer *w = context;
    while (!atomic_load(&w->stop)) {
        touch_now(w->path);
        nanosleep(&(struct timespec){.tv_nsec = 250000000}, NULL);
    }
    return NULL;
}

/* Waits up to 20 s for the file to be written, or no longer so. */
static bool comes_to_grow(live *c, uint32_t id, bool grows) {
    for (int i = 0; i < 2000; i++) {
        if (atomic_load(&live_progress(c, id)->grows) == grows) return true;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    return false;
}

/* A recording is whole at any moment: it is read long before a file that may be cut. */
static void a_recording_that_is_being_written_is_read_soon(void **state) {
    folder f = folder_new();
    listener l;
    listener_init(&l);
    char other[300];
    snprintf(other, sizeof other, "%s", put_file(&f, "log/b/w0.pt.trace.json", small_trace(3)));
    writer all[] = {{.path = put_file(&f, "log/a/w0.tacho", small_trace(3))}, {.path = other}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) touch_now(all[i].path);
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, keep_writing, &all[i]);
    live *c = open_live(in_folder(&f, "log"), &l, 0);
    uint32_t recording = entry_of(c, "a", ""), trace_file = entry_of(c, "b", "");
    wait_for(&l, LIVE_READY, 1);
    held_trace *h;
    assert_int_equal(live_hold(c, recording, &h, NULL), SPAN_READY);
    held_release(h);
    assert_int_equal(state_of(c, trace_file), SPAN_GROWING);
    assert_true(comes_to_grow(c, recording, true)); /* also when it was read */
    for (int i = 0; i < 2; i++) atomic_store(&all[i].stop, true);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    assert_true(comes_to_grow(c, recording, false));
    live_close(c);
    folder_gone(&f);
}

static void put_page(const folder *f, const char *name, int64_t n_steps) {
    tacho_live_page p = {.magic = {'T', 'A', 'C', 'H', 'O', 'L', 'V', '1'}, .n_steps = n_steps};
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    p.written_unix_ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
    (void)put_file(f, name, str_n((const char *)&p, sizeof p));
}

static recording_state recording_of(live *c) {
    snapshot *s = live_snapshot(c);
    recording_state now = s->found.runs[0].recording;
    snapshot_release(s);
    return now;
}

static void a_run_that_is_being_recorded_says_how_far_it_is(void **state) {
    folder f = folder_new();
    listener l;
    listener_init(&l);
    put_file(&f, "log/w0.pt.trace.json", small_trace(3));
    put_page(&f, "log/.live/w0", 7);
    live *c = open_live(in_folder(&f, "log"), &l, 0);
    assert_int_equal(recording_of(c).n_processes, 1);
    assert_int_equal(recording_of(c).n_steps, 7);
    wait_for(&l, LIVE_READY, 1);
    uint64_t before = live_sum(c).version;
    put_page(&f, "log/.live/w0", 9);
    for (int i = 0; i < 2000 && recording_of(c).n_steps != 9; i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    assert_int_equal(recording_of(c).n_steps, 9); /* without an event */
    assert_true(live_sum(c).version > before);
    assert_int_equal(unlink(in_folder(&f, "log/.live/w0")), 0);
    for (int i = 0; i < 2000 && recording_of(c).n_processes; i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    assert_int_equal(recording_of(c).n_processes, 0);
    live_close(c);
    folder_gone(&f);
}

static void a_file_that_cannot_be_read_says_why(void **state) {
    folder f = folder_new();
    listener l;
    listener_init(&l);
    put_file(&f, "log/w0.pt.trace.json", STR("this is no trace"));
    live *c = open_live(in_folder(&f, "log"), &l, 0);
    wait_for(&l, LIVE_FAILED, 1);
    uint32_t id = entry_of(c, "", "");
    held_trace *h;
    error err = {.status = OK}, again = {.status = OK};
    assert_int_equal(live_hold(c, id, &h, &err), SPAN_FAILED);
    assert_null(h);
    assert_true(err.status != OK && err.message != MSG_NONE);
    assert_true(live_error(c, id, &again));
    assert_int_equal(again.message, err.message);
    live_close(c);
    folder_gone(&f);
}

static void unused_traces_give_memory_back(void **state) {
    folder f = folder_new();
    listener l;
    listener_init(&l);
    char name[64];
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "log/r%d/w0.pt.trace.json", i);
        put_file(&f, name, small_trace(50 + i));
    }
    live *c = open_live(in_folder(&f, "log"), &l, 0);
    wait_for(&l, LIVE_READY, 4);
    uint64_t all = live_sum(c).used_bytes;
    live_close(c);
    listener_init(&l);
    c = open_live(in_folder(&f, "log"), &l, all / 2);
    wait_for(&l, LIVE_READY, 4);
    uint32_t id = entry_of(c, "r0", "");
    held_trace *h = NULL;
    if (live_hold(c, id, &h, NULL) != SPAN_READY) { /* it rests: asked for, it comes back */
        wait_for(&l, LIVE_READY, 5);
        assert_int_equal(live_hold(c, id, &h, NULL), SPAN_READY);
    }
    assert_non_null(h);
    int resting = 0;
    for (uint32_t i = 1; i <= 4; i++) resting += state_of(c, i) == SPAN_RESTING;
    assert_true(resting >= 1);
    live_close(c);
    held_release(h);
    folder_gone(&f);
}

static void older_spans_wait_until_they_are_asked_for(void **state) {
    folder f = folder_new();
    listener l;
    listener_init(&l);
    put_file(&f, "log/w0.100.pt.trace.json", small_trace(3));
    put_file(&f, "log/w0.200.pt.trace.json", small_trace(4));
    live *c = open_live(in_folder(&f, "log"), &l, 0);
    wait_for(&l, LIVE_READY, 1);
    snapshot *s = live_snapshot(c);
    uint32_t old = snapshot_entry(s, &s->found.runs[0].workers[0].spans[0]);
    snapshot_release(s);
    held_trace *h;
    assert_int_equal(state_of(c, old), SPAN_RESTING);
    assert_int_equal(live_hold(c, old, &h, NULL), SPAN_WAITING);
    wait_for(&l, LIVE_READY, 2);
    assert_int_equal(live_hold(c, old, &h, NULL), SPAN_READY);
    held_release(h);
    live_close(c);
    folder_gone(&f);
}

static void links_that_lead_out_are_refused(void **state) {
    folder f = folder_new();
    listener l;
    listener_init(&l);
    put_file(&f, "log/a/w0.pt.trace.json", small_trace(3));
    put_file(&f, "secret/w0.pt.trace.json", small_trace(3));
    assert_int_equal(symlink(in_folder(&f, "secret"), in_folder(&f, "log/b")), 0);
    assert_int_equal(symlink("../a/w0.pt.trace.json", in_folder(&f, "log/a/w1.pt.trace.json")),
                     0);
    live *c = open_live(in_folder(&f, "log"), &l, 0);
    snapshot *s = live_snapshot(c);
    assert_int_equal(s->found.n_runs, 1);
    assert_int_equal(s->found.runs[0].n_workers, 2); /* a link inside is fine */
    assert_int_equal(s->n_refused, 1);
    assert_int_equal(s->refused[0].message, MSG_LINK_LEADS_OUT);
    snapshot_release(s);
    live_close(c);
    live_options o = {.path = in_folder(&f, "log"), .follow_links = true, .no_cache = true};
    assert_int_equal(live_open(&o, &c, NULL), OK);
    s = live_snapshot(c);
    assert_int_equal(s->found.n_runs, 2);
    snapshot_release(s);
    live_close(c);
    folder_gone(&f);
}

static void a_removed_file_is_gone(void **state) {
    folder f = folder_new();
    listener l;
    listener_init(&l);
    put_file(&f, "log/a/w0.pt.trace.json", small_trace(3));
    put_file(&f, "log/b/w0.pt.trace.json", small_trace(3));
    live *c = open_live(in_folder(&f, "log"), &l, 0);
    wait_for(&l, LIVE_READY, 2);
    pthread_mutex_lock(&l.lock);
    l.n[LIVE_CHANGED] = 0;
    pthread_mutex_unlock(&l.lock);
    uint32_t gone = entry_of(c, "a", "");
    held_trace *h;
    unlink(in_folder(&f, "log/a/w0.pt.trace.json"));
    live_rescan(c);
    for (int i = 0; i < 100; i++) {
        snapshot *s = live_snapshot(c);
        uint32_t n = s->found.n_runs;
        snapshot_release(s);
        if (n == 1) break;
        assert_true(i < 99);
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    /* A caller that still asks for it does not wait for ever. */
    error err = {0};
    assert_int_equal(live_hold(c, gone, &h, &err), SPAN_FAILED);
    assert_int_equal(err.message, MSG_CANNOT_OPEN);
    assert_int_equal(live_hold_summary(c, gone, &h, &err), SPAN_FAILED);
    live_close(c);
    folder_gone(&f);
}

typedef struct {
    live *c;
    uint32_t ids[4];
} load_test;

static void *ask_all_the_time(void *context) {
    load_test *t = context;
    for (int i = 0; i < 2000; i++) {
        held_trace *h;
        snapshot *s = live_snapshot(t->c);
        (void)live_hold(t->c, t->ids[i % 4], &h, NULL);
        if (h) assert_true(h->trace->slice.n > 1 && h->lod->n_lanes > 1);
        (void)live_sum(t->c);
        held_release(h);
        snapshot_release(s);
    }
    return NULL;
}

static void many_threads_ask_while_files_come_and_go(void **state) {
    folder f = folder_new();
    listener l;
    listener_init(&l);
    char name[64];
    load_test t;
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "log/r%d/w0.pt.trace.json", i);
        put_file(&f, name, small_trace(50 + i));
    }
    t.c = open_live(in_folder(&f, "log"), &l, 40000);
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "r%d", i);
        t.ids[i] = entry_of(t.c, name, "");
    }
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, ask_all_the_time, &t);
    for (int i = 0; i < 5; i++) {
        /* As writers do: no reader survives a mapped file that is truncated. */
        char to[256];
        snprintf(to, sizeof to, "%s", in_folder(&f, "log/r1/w0.pt.trace.json"));
        assert_int_equal(rename(put_file(&f, "log/r1/w0.tmp", small_trace(60 + i)), to), 0);
        live_rescan(t.c);
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    live_close(t.c);
    folder_gone(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_read_without_being_asked),
        cmocka_unit_test(a_new_run_appears_by_itself),
        cmocka_unit_test(an_empty_folder_is_watched),
        cmocka_unit_test(a_file_counts_as_complete_when_it_has_been_quiet),
        cmocka_unit_test(a_file_from_the_future_is_read),
        cmocka_unit_test(a_changed_file_is_read_again),
        cmocka_unit_test(a_recording_that_is_being_written_is_read_soon),
        cmocka_unit_test(a_run_that_is_being_recorded_says_how_far_it_is),
        cmocka_unit_test(a_file_that_cannot_be_read_says_why),
        cmocka_unit_test(unused_traces_give_memory_back),
        cmocka_unit_test(older_spans_wait_until_they_are_asked_for),
        cmocka_unit_test(links_that_lead_out_are_refused),
        cmocka_unit_test(a_removed_file_is_gone),
        cmocka_unit_test(many_threads_ask_while_files_come_and_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
