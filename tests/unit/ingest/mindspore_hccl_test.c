/* mindspore_hccl_test.c: traces of collectives become the table MindSpore makes of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "ingest/mindspore/mindspore_int.h"
#include "store/trace.h"

#define TASK(tid, ts, dur, type, src, dst, transport, size)                             \
    "{\"tid\":" #tid ",\"ts\":" #ts ",\"dur\":" #dur ",\"args\":{\"task type\":\"" type \
    "\",\"src rank\":" #src ",\"dst rank\":" #dst ",\"transport type\":\"" transport    \
    "\",\"size\":" #size "}}"
#define FILE_OF(device, events) "{\"device id\":\"" device "\",\"traceEvents\":[" events "]}"

static trace *seal(builder *b) {
    trace *t = NULL;
    assert_int_equal(builder_seal(b, NULL, &t, NULL), OK);
    builder_free(b);
    return t;
}

static trace *read_one(str text) {
    builder *b = builder_new();
    assert_int_equal(ms_read_one(MS_HCCL_TRACE, text, b, NULL), OK);
    return seal(b);
}

static double cost_ms(const trace *t, int n) {
    assert_true((uint32_t)n + 1 < t->comm_cost.n);
    return (double)t->comm_cost.communication[n + 1] / 1e6;
}

static double wait_ms(const trace *t, int n) {
    return (double)t->comm_cost.waiting[n + 1] / 1e6;
}

/* The link of the first step; 0: there is none. */
static uint32_t link_of(const trace *t, int64_t from, int64_t to, const char *kind) {
    for (uint32_t i = 1; i < t->link.n; i++)
        if (t->link.source[i] == from && t->link.target[i] == to &&
            t->link.step[i] == t->comm_cost.step[1] &&
            str_eq(trace_str(t, t->link.kind[i]), str_of(kind)))
            return i;
    fail_msg("no such link");
    return 0;
}

/* Communication of an operator in a row of the table. */
static double op_ms(const trace *t, uint32_t cost, const char *name) {
    for (uint32_t i = 1; i < t->comm_cost_op.n; i++)
        if (t->comm_cost_op.cost[i] == cost &&
            str_eq(trace_str(t, t->comm_cost_op.name[i]), str_of(name)))
            return (double)t->comm_cost_op.communication[i] / 1e6;
    return -1;
}

#define NEAR(a, b) assert_true((a) - (b) < 1e-9 && (b) - (a) < 1e-9)

static void copies_count_on_their_link_and_waits_apart(void **state) {
    trace *t = read_one(STR(FILE_OF(
        "0", TASK(2, 10, 0.5, "Notify Record", 0, 1, "SDMA", null) "," TASK(
                 2, 11, 2, "Notify Wait", 1, 0, "LOCAL",
                 null) "," TASK(2, 13, 1000, "Reduce Inline", 1, 0, "SDMA",
                                4000000) "," TASK(2, 1013, 500, "Memcpy", 1, 0, "SDMA",
                                                  "0x1e8480") "," TASK(2, 1600, 250, "Memcpy",
                                                                       4294967295, 0, "SDMA",
                                                                       1000000))));
    NEAR(cost_ms(t, 0), 1.75);
    NEAR(wait_ms(t, 0), 0.002);
    assert_int_equal(t->link.time[link_of(t, 1, 0, "SDMA")], 1500000);
    assert_int_equal(t->link.bytes[link_of(t, 1, 0, "SDMA")],
                     6000000); /* 4,000,000 and 0x1e8480 */
    assert_int_equal(t->link.time[link_of(t, 0, 0, "SDMA")],
                     250000); /* the rank that is not given */
    assert_int_equal(t->comm_cost.step[1], 1);
    assert_int_equal(t->comm_cost.step[2], ABSENT_I64); /* the mean */
    trace_release(t);
}

static void two_sends_and_a_wait_are_one_transfer(void **state) {
    trace *t = read_one(STR(FILE_OF(
        "0", TASK(1, 5, 9000, "Memcpy", 0, 1, "SDMA", 1000) /* not of the main thread */
        "," TASK(3, 10, 100, "RDMASend", 0, 8, "RDMA", 1000000) "," TASK(
            3, 110, 10, "RDMASend", 0, 8, "RDMA",
            1000) "," TASK(3, 120, 90, "Notify Wait", 8, 0, "LOCAL",
                           null) "," TASK(3, 300, 7, "Notify Wait", 8, 0, "LOCAL", null))));
    NEAR(cost_ms(t, 0), 0.2);
    NEAR(wait_ms(t, 0), 0.007);
    assert_int_equal(t->link.time[link_of(t, 0, 8, "RDMA")], 200000);
    assert_int_equal(t->link.bytes[link_of(t, 0, 8, "RDMA")], 1001000);
    assert_int_equal(t->link.waiting[link_of(t, 0, 8, "RDMA")], 90000);
    assert_int_equal(t->link.time[link_of(t, 0, 1, "SDMA")],
                     9000000); /* links are those of all threads */
    trace_release(t);
}

static void damage_is_counted(void **state) {
    static const char *const bad[] = {"",
                                      "{}",
                                      "{\"traceEvents\":[]}",
                                      "{\"traceEvents\":[1,2]}",
                                      "{\"traceEvents\":[{\"dur\":1}]}",
                                      "[[[["};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        trace *t = read_one(str_of(bad[i]));
        assert_int_equal(t->comm_cost.n, 1);
        assert_true(t->quality.n > 1);
        trace_release(t);
    }
}

static void put(const char *folder, const char *name, const char *text) {
    char path[192];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void a_folder_has_its_steps_and_names(void **state) {
    char folder[64] = "/tmp/tacho-hccl-XXXXXX", path[192], command[160];
    static const char *const made[] = {"hccl_info", "hccl_info/allReduce_1_1",
                                       "hccl_info/allReduce_1_2", "hccl_info/broadcast_1_1"};
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, made[i]);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    put(folder, "step_trace_raw_3_detail_time.csv",
        "step_num,start_point,end_point,total,fp_point,bp_point,iteration_interval,fp_and_bp,"
        "tail,stream_9_0_AllReduce-op20,stream_9_0_AllReduce-op20_start_point,"
        "stream_9_0_AllReduce-op20_end_point,stream_9_0_AllReduce-op7,"
        "stream_9_0_AllReduce-op7_start_point,stream_9_0_AllReduce-op7_end_point\n"
        "4,1000,2000,1000,1000,1500,0,500,500,10,1700,1710,10,1600,1610\n"
        "5,2000,3000,1000,2000,2500,0,500,500,10,2700,2710,10,2600,2610\n");
#define RUN(device, ts, dur) FILE_OF(device, TASK(1, ts, dur, "Memcpy", 0, 1, "SDMA", 1000000))
    put(folder, "hccl_info/allReduce_1_1/iter1.trace", RUN("3", 16, 100));
    put(folder, "hccl_info/allReduce_1_1/iter2.trace", RUN("3", 26, 300));
    put(folder, "hccl_info/allReduce_1_2/iter1.trace", RUN("3", 17, 1000));
    put(folder, "hccl_info/broadcast_1_1/iter1.trace", RUN("3", 1, 10)); /* before all steps */
    put(folder, "hccl_info/broadcast_1_1/iter2.trace", RUN("4", 1, 7777)); /* another device */
    snprintf(path, sizeof path, "%s/step_trace_raw_3_detail_time.csv", folder);
    source *s = NULL;
    builder *b = builder_new();
    assert_int_equal(source_open(path, &s, NULL), OK);
    assert_int_equal(ingest_mindspore(s, &(ingest_options){.path = path}, b, NULL), OK);
    source_close(s);
    trace *t = seal(b);
    assert_int_equal(t->comm_cost.step[1], 4);
    NEAR(cost_ms(t, 0), 1.11);
    /* The first of its kind is the operator with the smallest number. */
    NEAR(op_ms(t, 1, "stream_9_0_AllReduce-op7"), 0.1);
    NEAR(op_ms(t, 1, "stream_9_0_AllReduce-op20"), 1);
    NEAR(op_ms(t, 1, "broadcast_1_1"), 0.01); /* no column of its kind */
    NEAR(cost_ms(t, 1), 0.3);
    NEAR(op_ms(t, 3, "stream_9_0_AllReduce-op7"), 0.2);
    trace_release(t);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

static void links_beyond_the_limit_are_lost_every_time(void **state) {
    enum { MOST = 4096 };
    buf text = {0};
    buf_add_cstr(&text, "{\"device id\":\"0\",\"traceEvents\":[");
    for (int round = 0; round < 2; round++)
        for (int src = 1; src <= MOST + 1; src++)
            buf_printf(
                &text,
                "%s{\"tid\":2,\"ts\":1,\"dur\":1000,\"args\":{\"task type\":\"Memcpy\",\"src "
                "rank\":%d,\"dst rank\":0,\"transport type\":\"SDMA\",\"size\":1024}}",
                round || src > 1 ? "," : "", src);
    buf_add_cstr(&text, "]}");
    trace *t = read_one(buf_str(&text));
    assert_int_equal(trace_quality(t, CAUSE_MISSING_TIME), 2);
    assert_int_equal(t->link.time[link_of(t, 1, 0, "SDMA")], 2000000); /* its own two */
    trace_release(t);
    buf_fini(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_count_on_their_link_and_waits_apart),
        cmocka_unit_test(two_sends_and_a_wait_are_one_transfer),
        cmocka_unit_test(damage_is_counted),
        cmocka_unit_test(links_beyond_the_limit_are_lost_every_time),
        cmocka_unit_test(a_folder_has_its_steps_and_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
