/* processes_test.c: a report of several processes is a worker for each of them. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "io/gzip.h"
#include "session/cache.h"
#include "session/catalogue.h"
#include "session/discover.h"
#include "session/load.h"
#include "session_helper.h"
#include "unit/ingest/made_database.h"

/* 1 << 48 | pid << 24 of processes 1, 2 and 3, and threads of them. */
#define P1 "281474993487872"
#define T1 "281474993487877"
#define P2 "281475010265088"
#define T2 "281475010265094"
#define T3 "281475027042309"

#define TABLES                                                                               \
    "CREATE TABLE META_DATA_EXPORT(name,value);"                                             \
    "CREATE TABLE StringIds(id INTEGER, value TEXT);"                                        \
    "INSERT INTO StringIds VALUES(1,'k'),(2,'cudaLaunchKernel'),(3,'read');"                 \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start,end,eventClass,globalTid,correlationId," \
    "nameId);"                                                                               \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start,end,deviceId,contextId,streamId,"         \
    "correlationId,globalPid,demangledName);"                                                \
    "CREATE TABLE OSRT_API(start,end,globalTid,nameId);"                                     \
    "CREATE TABLE GPU_METRICS(timestamp,typeId,metricId,value);"                             \
    "CREATE TABLE TARGET_INFO_GPU_METRICS(typeId,metricId,metricName);"                      \
    "INSERT INTO TARGET_INFO_GPU_METRICS VALUES(256,1,'busy'),(257,1,'busy');"               \
    "INSERT INTO GPU_METRICS VALUES(5,256,1,10),(6,257,1,20),(7,257,1,30);"
#define FIRST                                                                \
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(10,20,0," T1 ",7,2);"    \
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(30,40,0,1,7,7," P1 ",1)," \
    "(50,60,0,1,7,8," P1 ",1);"
#define SECOND                                                            \
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(10,20,0," T2 ",7,2);" \
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(30,45,1,1,7,7," P2 ",1);"
#define THIRD "INSERT INTO OSRT_API VALUES(1,2," T3 ",3),(3,4," T2 ",3);"

static void put_database(folder *f, const char *name, const char *sql) {
    buf file = make_database(sql);
    put_file(f, name, buf_str(&file));
    buf_fini(&file);
}

static trace *load_worker(const catalogue *c, uint32_t worker, bool *from_cache) {
    const span_entry *span = &c->runs[0].workers[worker].spans[0];
    load_options o = {.threads = 1, .process = span->process};
    loaded_trace l;
    assert_int_equal(trace_load(span->path.p, &o, &l, NULL), OK);
    *from_cache = l.from_cache;
    return l.trace;
}

static uint32_t count_kind(const trace *t, slice_kind kind) {
    uint32_t n = 0;
    for (uint32_t i = 1; i < t->slice.n; i++) n += t->slice.kind[i] == kind;
    return n;
}

/* Kernels, calls, other calls, samples of counters. */
static void check_rows(const trace *t, uint32_t kernels, uint32_t calls, uint32_t others,
                       uint32_t samples) {
    assert_int_equal(t->kernel.n - 1, kernels);
    assert_int_equal(count_kind(t, KIND_RUNTIME), calls);
    assert_int_equal(count_kind(t, KIND_OTHER), others);
    assert_int_equal(t->counter.n - 1, samples);
}

static void each_process_is_a_rank(void **state) {
    folder f = folder_new();
    catalogue c;
    arena a = {0};
    (void)state;
    put_database(&f, "report.sqlite", TABLES SECOND FIRST THIRD);
    const char *asked[] = {f.path, in_folder(&f, "report.sqlite")};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(run_discover(&a, asked[i], &c, NULL), OK);
        assert_int_equal(c.n_runs, 1);
        assert_int_equal(c.runs[0].n_ranks, 2);
        assert_string_equal(c.runs[0].workers[0].name.p, "report.1");
        assert_string_equal(c.runs[0].workers[1].name.p, "report.2");
        assert_int_equal(c.runs[0].workers[0].rank, 0);
        assert_int_equal(c.runs[0].workers[1].rank, 1);
    }
    /* What the third process did, which used no device, is shown once: with the first. */
    bool cached;
    for (int again = 0; again < 2; again++) {
        trace *first = load_worker(&c, 0, &cached), *second = load_worker(&c, 1, &cached);
        check_rows(first, 2, 1, 1, 1);
        check_rows(second, 1, 1, 1, 2);
        assert_int_equal(second->kernel.device[1], 1);
        assert_int_equal(cached, again); /* each has a separate entry */
        trace_release(first);
        trace_release(second);
    }
    arena_fini(&a);
    folder_gone(&f);
}

/* Each would be read from the whole file. */
static void thousands_of_processes_are_one_worker(void **state) {
    static const struct {
        int processes;
        uint32_t workers;
    } cases[] = {{256, 256}, {257, 1}};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        folder f = folder_new();
        catalogue c;
        arena a = {0};
        buf sql = {0};
        buf_add_cstr(&sql, TABLES);
        for (long long k = 1; k <= cases[i].processes; k++)
            buf_printf(&sql,
                       "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(30,45,1,1,7,7,%lld,1);",
                       1LL << 48 | k << 24);
        buf_add_byte(&sql, 0);
        put_database(&f, "report.sqlite", sql.p);
        assert_int_equal(run_discover(&a, f.path, &c, NULL), OK);
        assert_int_equal(c.n_runs, 1);
        assert_int_equal(c.runs[0].n_workers, cases[i].workers);
        buf_fini(&sql);
        arena_fini(&a);
        folder_gone(&f);
    }
}

static void each_process_of_a_packed_file_is_a_rank(void **state) {
    folder f = folder_new();
    catalogue c;
    arena a = {0};
    bool cached;
    (void)state;
    buf file = make_database(TABLES SECOND FIRST THIRD), packed = {0};
    assert_int_equal(gzip_pack(buf_str(&file), &packed, NULL), OK);
    put_file(&f, "report.sqlite.gz", buf_str(&packed));
    const char *path = in_folder(&f, "report.sqlite.gz"), *moved = in_folder(&f, "m.sqlite.gz");
    assert_int_equal(run_discover(&a, f.path, &c, NULL), OK);
    assert_int_equal(c.runs[0].n_ranks, 2);
    assert_string_equal(c.runs[0].workers[0].name.p, "report.1");
    assert_string_equal(c.runs[0].workers[1].name.p, "report.2");
    /* The answer is in the cache: it is not asked again under another name. */
    cache_key key = cache_key_of(path);
    cache_key_extend(&key, "processes", 0);
    trace *kept = cache_find(&key, 0);
    assert_non_null(kept);
    assert_int_equal(kept->slice.n, 1);
    trace_release(kept);
    assert_int_equal(rename(path, moved), 0);
    assert_int_equal(run_discover(&a, f.path, &c, NULL), OK);
    assert_int_equal(c.runs[0].n_ranks, 2);
    assert_string_equal(c.runs[0].workers[1].name.p, "m.2");
    trace *first = load_worker(&c, 0, &cached), *second = load_worker(&c, 1, &cached);
    check_rows(first, 2, 1, 1, 1);
    check_rows(second, 1, 1, 1, 2);
    trace_release(first);
    trace_release(second);
    buf_fini(&file);
    buf_fini(&packed);
    arena_fini(&a);
    folder_gone(&f);
}

static void those_without_events_are_none(void **state) {
    folder f = folder_new();
    catalogue c;
    arena a = {0};
    (void)state;
    put_database(&f, "a.sqlite",
                 TABLES FIRST THIRD "CREATE TABLE TARGET_INFO_CUDA_STREAM(streamId,processId);"
                                    "INSERT INTO TARGET_INFO_CUDA_STREAM VALUES(7,1),(7,9);");
    put_database(&f, "b.sqlite",
                 TABLES SECOND "CREATE TABLE TARGET_INFO_CUDA_STREAM(streamId,processId);"
                               "INSERT INTO TARGET_INFO_CUDA_STREAM VALUES(7,2);");
    assert_int_equal(run_discover(&a, f.path, &c, NULL), OK);
    assert_int_equal(c.runs[0].n_workers, 2);
    assert_string_equal(c.runs[0].workers[0].name.p, "a");
    assert_string_equal(c.runs[0].workers[1].name.p, "b");
    assert_int_equal(c.runs[0].workers[0].spans[0].process, 0);
    arena_fini(&a);
    folder_gone(&f);
}

static void several_files_have_processes(void **state) {
    folder f = folder_new();
    catalogue c;
    arena a = {0};
    (void)state;
    put_database(&f, "node0.sqlite", TABLES FIRST SECOND);
    put_database(&f, "node1.sqlite", TABLES FIRST SECOND);
    put_file(&f, "other.sqlite", STR("SQLite format 3\0 but nothing more"));
    const char *paths[] = {in_folder(&f, "node1.sqlite"), in_folder(&f, "node0.sqlite")};
    assert_int_equal(discover_files(&a, paths, 2, FILES_BY_FOLDER, &c, NULL), OK);
    assert_int_equal(c.runs[0].n_ranks, 4);
    assert_string_equal(c.runs[0].workers[0].name.p, "node0.1");
    assert_string_equal(c.runs[0].workers[3].name.p, "node1.2");
    assert_int_equal(c.runs[0].workers[3].rank, 3);
    arena_fini(&a);
    folder_gone(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_process_is_a_rank),
        cmocka_unit_test(thousands_of_processes_are_one_worker),
        cmocka_unit_test(each_process_of_a_packed_file_is_a_rank),
        cmocka_unit_test(those_without_events_are_none),
        cmocka_unit_test(several_files_have_processes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
