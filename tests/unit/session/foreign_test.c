/* foreign_test.c: files of other tools by their bytes and by their names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/message_ids_cli.h"
#include "session/foreign.h"

static void check(str head, const char *name, uint16_t expected) {
    const foreign *f = foreign_of(head, str_of(name));
    assert_int_equal(f ? f->message : MSG_NONE, expected);
}

static void bytes_tell(void **state) {
    static const struct {
        str head;
        uint16_t message;
    } samples[] = {
        {STR("SQLite format 3\0..CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL"),
         MSG_FOREIGN_NVPROF},
        {STR("SQLite format 3\0..TABLE CommAnalyzerTime"), MSG_FOREIGN_ASCEND_DB},
        {STR("SQLite format 3\0..CREATE TABLE songs"), MSG_FOREIGN_SQLITE},
        {STR("NVR\0\x20\0\0\0"), MSG_FOREIGN_NCU},
        {STR("\x0a\x04\x08\x01\x10\x02\x0a\x04\x08\x03\x10\x04\x12\x06\x0a\x01\x01\x12\x01"
             "\x05"),
         MSG_FOREIGN_PPROF},
        {STR("\x18\0\0\0\0\0\0\0\xa3\x7f\x4b\x22\x09\0\0\xc0\x3a\x8f\x0c\xda\x41\x1a\x0d"
             "brain.Event:2"),
         MSG_FOREIGN_TFEVENTS},
        {STR("{\"schema\": \"1.1.1-chakra.0.0.4\", \"pid\": 1, \"nodes\": []}"),
         MSG_FOREIGN_CHAKRA},
        {STR("{\"schema\": \"1.0.1\", \"nodes\": [{\"id\": 2, \"ctrl_deps\": 1}]}"),
         MSG_FOREIGN_CHAKRA},
        {STR("{\"nodes\":[{\"id\":1,\"callFrame\":{},\"hitCount\":0}]}"),
         MSG_FOREIGN_CPUPROFILE},
        {STR("PERFILE2\x68\0\0\0"), MSG_FOREIGN_PERF},
        {STR("{\"schema\":\"tacho/1\",\"analysis\":\"info\"}"), MSG_FOREIGN_ANSWER},
        {STR("PK\x03\x04\0\0\0\0archive/data.pkl"), MSG_FOREIGN_CHECKPOINT},
        {STR("\x30\0\0\0\0\0\0\0{\"w\":{\"dtype\":\"F32\",\"shape\":[1]}}"),
         MSG_FOREIGN_CHECKPOINT},
        {STR("PK\x03\x04\0\0\0\0arr_0.npy"), MSG_FOREIGN_NUMPY},
        {STR("\x93NUMPY\x01\0"), MSG_FOREIGN_NUMPY},
        {STR("PK\x03\x04\0\0\0\0trace.json"), MSG_FOREIGN_ARCHIVE},
        {STR("BZh91AY"), MSG_FOREIGN_ARCHIVE},
        {STR("\xfd"
             "7zXZ\0"),
         MSG_FOREIGN_ARCHIVE},
        {STR("\n<!DOCTYPE html><html>"), MSG_FOREIGN_HTML},
        {STR("\x89PNG\r\n"), MSG_FOREIGN_IMAGE},
        {STR("\x7f"
             "ELF\x02"),
         MSG_FOREIGN_PROGRAM},
        {STR("a,b,c\n1,2,3\n"), MSG_FOREIGN_CSV},
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        check(samples[i].head, "x", samples[i].message);
}

static void names_tell_where_bytes_do_not(void **state) {
    static const struct {
        const char *name;
        uint16_t message;
    } samples[] = {
        {"a/b/report1.nsys-rep", MSG_FOREIGN_NSYS},
        {"old.qdrep", MSG_FOREIGN_NSYS},
        {"k.ncu-rep", MSG_FOREIGN_NCU},
        {"logs/events.out.tfevents.1700000000.host.7.0", MSG_FOREIGN_TFEVENTS},
        {"heap.pb.gz", MSG_FOREIGN_PPROF},
        {"perf.data", MSG_FOREIGN_PERF},
        {"model.safetensors", MSG_FOREIGN_CHECKPOINT},
        {"PROF_1/device_0/data/hwts.data.0.slice_0", MSG_FOREIGN_ASCEND_RAW},
        {"trace.json", MSG_NONE},
        {"", MSG_NONE},
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        check(STR("nothing known"), samples[i].name, samples[i].message);
    check(STR("a,b,c\n1,2,3\n"), "t.ncu-rep", MSG_FOREIGN_CSV); /* the bytes win */
}

static void every_start_is_survived(void **state) {
    static const char text[] = "\x0a\x10\x08\x02\x12\x09/host:CPU\x1a\x84\x80\x80\x80\x01x";
    for (size_t n = 0; n < sizeof text; n++) {
        char *copy = test_malloc(n + 1); /* its border is watched */
        memcpy(copy, text, n);
        (void)foreign_of(str_n(copy, n), STR_NONE);
        test_free(copy);
    }
}

static void doubt_is_not_an_answer(void **state) {
    check(STR("{\"traceEvents\": []}"), "", MSG_NONE);
    check(STR("{\"schema\": 3}"), "", MSG_NONE);
    check(STR("\x0a"), "", MSG_NONE);
    check(STR("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), "", MSG_NONE);
    check(STR("\x0a\x05hello"), "", MSG_NONE);
    check(STR("one, two\nthree\n"), "", MSG_NONE);
    check(STR("PK"), "", MSG_NONE);
    check(STR_NONE, "", MSG_NONE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_tell),
        cmocka_unit_test(names_tell_where_bytes_do_not),
        cmocka_unit_test(every_start_is_survived),
        cmocka_unit_test(doubt_is_not_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
