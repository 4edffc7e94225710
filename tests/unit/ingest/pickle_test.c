/* pickle_test.c: the data of every protocol, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/fault.h"
#include "ingest/util/pickle.h"
#include "unit/io/io_helper.h"

/* What Python 3.12 writes for the same value in each protocol:
 *     {'ints': [0, -1, 255, -256, 70000, -70000, 2**28-1, 2**28, -2**28-1, 2**40, -2**40, 2**63-1,
 *               -2**63, 2**63, 2**64-1, 2**64, -2**63-1, 10**40],
 *      'rest': [True, False, None, 1.5, -0.25, 'é\n\\\\x☃😀', '', (), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)],
 *      'shared': [d, d]}   with d = {'k': 'v'} */
static const str SAMPLES[] = {
    STR("(dp0\x0aVints\x0ap1\x0a(lp2\x0aI0\x0a\x61I-1\x0a\x61I255\x0a\x61I-256\x0a\x61I7"
        "0000\x0a\x61I-70000\x0a\x61I268435455\x0a\x61I268435456\x0a\x61I-268435457\x0a\x61"
        "L1099511627776L\x0a\x61L-1099511627776L\x0a\x61L9223372036854775807L\x0a\x61L-9"
        "223372036854775808L\x0a\x61L9223372036854775808L\x0a\x61L18446744073709551615L\x0a"
        "aL18446744073709551616L\x0a\x61L-9223372036854775809L\x0a\x61L10000000000000000"
        "000000000000000000000000L\x0a\x61sVrest\x0ap3\x0a(lp4\x0aI01\x0a\x61I00\x0a\x61"
        "NaF1.5\x0a\x61\x46-0.25\x0a\x61V\xe9\x5cu000a\x5cu005cx\x5cu2603\x5cU0001f600\x0a"
        "p5\x0a\x61V\x0ap6\x0a\x61(ta(I1\x0atp7\x0a\x61(I1\x0aI2\x0atp8\x0a\x61(I1\x0aI2"
        "\x0aI3\x0atp9\x0a\x61(I1\x0aI2\x0aI3\x0aI4\x0atp10\x0a\x61sVshared\x0ap11\x0a(l"
        "p12\x0a(dp13\x0aVk\x0ap14\x0aVv\x0ap15\x0asag13\x0a\x61s."),
    STR("}q\x00(X\x04\x00\x00\x00intsq\x01]q\x02(K\x00J\xff\xff\xff\xffK\xffJ\x00\xff\xff"
        "\xffJp\x11\x01\x00J\x90\xee\xfe\xffJ\xff\xff\xff\x0fJ\x00\x00\x00\x10J\xff\xff\xff"
        "\xefL1099511627776L\x0aL-1099511627776L\x0aL9223372036854775807L\x0aL-922337203"
        "6854775808L\x0aL9223372036854775808L\x0aL18446744073709551615L\x0aL184467440737"
        "09551616L\x0aL-9223372036854775809L\x0aL100000000000000000000000000000000000000"
        "00L\x0a\x65X\x04\x00\x00\x00restq\x03]q\x04(I01\x0aI00\x0aNG\x3f\xf8\x00\x00\x00"
        "\x00\x00\x00G\xbf\xd0\x00\x00\x00\x00\x00\x00X\x0c\x00\x00\x00\xc3\xa9\x0a\x5cx"
        "\xe2\x98\x83\xf0\x9f\x98\x80q\x05X\x00\x00\x00\x00q\x06)(K\x01tq\x07(K\x01K\x02"
        "tq\x08(K\x01K\x02K\x03tq\x09(K\x01K\x02K\x03K\x04tq\x0a\x65X\x06\x00\x00\x00sha"
        "redq\x0b]q\x0c(}q\x0dX\x01\x00\x00\x00kq\x0eX\x01\x00\x00\x00vq\x0fsh\x0d\x65u."),
    STR("\x80\x02}q\x00(X\x04\x00\x00\x00intsq\x01]q\x02(K\x00J\xff\xff\xff\xffK\xffJ\x00"
        "\xff\xff\xffJp\x11\x01\x00J\x90\xee\xfe\xffJ\xff\xff\xff\x0fJ\x00\x00\x00\x10J\xff"
        "\xff\xff\xef\x8a\x06\x00\x00\x00\x00\x00\x01\x8a\x06\x00\x00\x00\x00\x00\xff\x8a"
        "\x08\xff\xff\xff\xff\xff\xff\xff\x7f\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80\x8a"
        "\x09\x00\x00\x00\x00\x00\x00\x00\x80\x00\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff"
        "\x00\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01\x8a\x09\xff\xff\xff\xff\xff\xff"
        "\xff\x7f\xff\x8a\x11\x00\x00\x00\x00\x00\x61\xf5\xb9\xab\xbf\xa4\x5c\xc3\xf1)c\x1d"
        "eX\x04\x00\x00\x00restq\x03]q\x04(\x88\x89NG\x3f\xf8\x00\x00\x00\x00\x00\x00G\xbf"
        "\xd0\x00\x00\x00\x00\x00\x00X\x0c\x00\x00\x00\xc3\xa9\x0a\x5cx\xe2\x98\x83\xf0\x9f"
        "\x98\x80q\x05X\x00\x00\x00\x00q\x06)K\x01\x85q\x07K\x01K\x02\x86q\x08K\x01K\x02"
        "K\x03\x87q\x09(K\x01K\x02K\x03K\x04tq\x0a\x65X\x06\x00\x00\x00sharedq\x0b]q\x0c"
        "(}q\x0dX\x01\x00\x00\x00kq\x0eX\x01\x00\x00\x00vq\x0fsh\x0d\x65u."),
    STR("\x80\x03}q\x00(X\x04\x00\x00\x00intsq\x01]q\x02(K\x00J\xff\xff\xff\xffK\xffJ\x00"
        "\xff\xff\xffJp\x11\x01\x00J\x90\xee\xfe\xffJ\xff\xff\xff\x0fJ\x00\x00\x00\x10J\xff"
        "\xff\xff\xef\x8a\x06\x00\x00\x00\x00\x00\x01\x8a\x06\x00\x00\x00\x00\x00\xff\x8a"
        "\x08\xff\xff\xff\xff\xff\xff\xff\x7f\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80\x8a"
        "\x09\x00\x00\x00\x00\x00\x00\x00\x80\x00\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff"
        "\x00\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01\x8a\x09\xff\xff\xff\xff\xff\xff"
        "\xff\x7f\xff\x8a\x11\x00\x00\x00\x00\x00\x61\xf5\xb9\xab\xbf\xa4\x5c\xc3\xf1)c\x1d"
        "eX\x04\x00\x00\x00restq\x03]q\x04(\x88\x89NG\x3f\xf8\x00\x00\x00\x00\x00\x00G\xbf"
        "\xd0\x00\x00\x00\x00\x00\x00X\x0c\x00\x00\x00\xc3\xa9\x0a\x5cx\xe2\x98\x83\xf0\x9f"
        "\x98\x80q\x05X\x00\x00\x00\x00q\x06)K\x01\x85q\x07K\x01K\x02\x86q\x08K\x01K\x02"
        "K\x03\x87q\x09(K\x01K\x02K\x03K\x04tq\x0a\x65X\x06\x00\x00\x00sharedq\x0b]q\x0c"
        "(}q\x0dX\x01\x00\x00\x00kq\x0eX\x01\x00\x00\x00vq\x0fsh\x0d\x65u."),
    STR("\x80\x04\x95\x04\x01\x00\x00\x00\x00\x00\x00}\x94(\x8c\x04ints\x94]\x94(K\x00J\xff"
        "\xff\xff\xffK\xffJ\x00\xff\xff\xffJp\x11\x01\x00J\x90\xee\xfe\xffJ\xff\xff\xff\x0f"
        "J\x00\x00\x00\x10J\xff\xff\xff\xef\x8a\x06\x00\x00\x00\x00\x00\x01\x8a\x06\x00\x00"
        "\x00\x00\x00\xff\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f\x8a\x08\x00\x00\x00\x00"
        "\x00\x00\x00\x80\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x80\x00\x8a\x09\xff\xff\xff"
        "\xff\xff\xff\xff\xff\x00\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01\x8a\x09\xff"
        "\xff\xff\xff\xff\xff\xff\x7f\xff\x8a\x11\x00\x00\x00\x00\x00\x61\xf5\xb9\xab\xbf"
        "\xa4\x5c\xc3\xf1)c\x1d\x65\x8c\x04rest\x94]\x94(\x88\x89NG\x3f\xf8\x00\x00\x00\x00"
        "\x00\x00G\xbf\xd0\x00\x00\x00\x00\x00\x00\x8c\x0c\xc3\xa9\x0a\x5cx\xe2\x98\x83\xf0"
        "\x9f\x98\x80\x94\x8c\x00\x94)K\x01\x85\x94K\x01K\x02\x86\x94K\x01K\x02K\x03\x87"
        "\x94(K\x01K\x02K\x03K\x04t\x94\x65\x8c\x06shared\x94]\x94(}\x94\x8c\x01k\x94\x8c"
        "\x01v\x94sh\x0d\x65u."),
    STR("\x80\x05\x95\x04\x01\x00\x00\x00\x00\x00\x00}\x94(\x8c\x04ints\x94]\x94(K\x00J\xff"
        "\xff\xff\xffK\xffJ\x00\xff\xff\xffJp\x11\x01\x00J\x90\xee\xfe\xffJ\xff\xff\xff\x0f"
        "J\x00\x00\x00\x10J\xff\xff\xff\xef\x8a\x06\x00\x00\x00\x00\x00\x01\x8a\x06\x00\x00"
        "\x00\x00\x00\xff\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f\x8a\x08\x00\x00\x00\x00"
        "\x00\x00\x00\x80\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x80\x00\x8a\x09\xff\xff\xff"
        "\xff\xff\xff\xff\xff\x00\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01\x8a\x09\xff"
        "\xff\xff\xff\xff\xff\xff\x7f\xff\x8a\x11\x00\x00\x00\x00\x00\x61\xf5\xb9\xab\xbf"
        "\xa4\x5c\xc3\xf1)c\x1d\x65\x8c\x04rest\x94]\x94(\x88\x89NG\x3f\xf8\x00\x00\x00\x00"
        "\x00\x00G\xbf\xd0\x00\x00\x00\x00\x00\x00\x8c\x0c\xc3\xa9\x0a\x5cx\xe2\x98\x83\xf0"
        "\x9f\x98\x80\x94\x8c\x00\x94)K\x01\x85\x94K\x01K\x02\x86\x94K\x01K\x02K\x03\x87"
        "\x94(K\x01K\x02K\x03K\x04t\x94\x65\x8c\x06shared\x94]\x94(}\x94\x8c\x01k\x94\x8c"
        "\x01v\x94sh\x0d\x65u."),
};
enum { N_SAMPLES = sizeof SAMPLES / sizeof *SAMPLES };

static status read_with(str bytes, const ingest_options *o, pickle **p, error *err) {
    source *s;
    assert_int_equal(source_open_memory(bytes, &s, NULL), OK);
    status st = pickle_read(s, o, p, err);
    source_close(s);
    return st;
}

static status read_bytes(str bytes, pickle **p, error *err) {
    return read_with(bytes, &(ingest_options){0}, p, err);
}

static pickle *must_read(str bytes) {
    pickle *p = NULL;
    assert_int_equal(read_bytes(bytes, &p, NULL), OK);
    return p;
}

static pickle_value member(const pickle *p, const char *key) {
    return pickle_get(p, pickle_root(p), pickle_key(p, str_of(key)));
}

static pickle_value item(const pickle *p, pickle_value list, uint32_t n) {
    pickle_value v = PICKLE_ABSENT;
    pickle_iter it = pickle_items(p, list);
    for (uint32_t i = 0; i <= n; i++) assert_true(pickle_next(p, &it, &v));
    return v;
}

#define assert_str(value, expected) assert_true(str_eq((value), STR(expected)))

static void check_ints(const pickle *p, pickle_value list) {
    static const int64_t expected[] = {0,
                                       -1,
                                       255,
                                       -256,
                                       70000,
                                       -70000,
                                       (1 << 28) - 1,
                                       1 << 28,
                                       -(1 << 28) - 1,
                                       (int64_t)1 << 40,
                                       -((int64_t)1 << 40),
                                       INT64_MAX,
                                       INT64_MIN};
    uint32_t n = sizeof expected / sizeof *expected;
    int64_t i = 77;
    uint64_t u = 77;
    assert_int_equal(pickle_count(p, list), n + 5);
    for (uint32_t k = 0; k < n; k++) {
        assert_int_equal(pickle_kind_of(item(p, list, k)), PICKLE_KIND_INT);
        assert_true(pickle_i64(p, item(p, list, k), &i));
        assert_int_equal(i, expected[k]);
        assert_int_equal(pickle_u64(p, item(p, list, k), &u), expected[k] >= 0);
    }
    for (uint32_t k = n; k < n + 2; k++) { /* 2^63 and 2^64 - 1 */
        assert_false(pickle_i64(p, item(p, list, k), &i));
        assert_true(pickle_u64(p, item(p, list, k), &u));
        assert_true(u == (k == n ? (uint64_t)1 << 63 : UINT64_MAX));
    }
    for (uint32_t k = n + 2; k < n + 5; k++) {
        assert_int_equal(pickle_kind_of(item(p, list, k)), PICKLE_KIND_OPAQUE);
        assert_false(pickle_u64(p, item(p, list, k), &u));
    }
}

static void check_rest(const pickle *p, pickle_value list) {
    int64_t i;
    double d;
    str text;
    assert_int_equal(pickle_kind_of(item(p, list, 0)), PICKLE_KIND_BOOL);
    assert_true(pickle_i64(p, item(p, list, 0), &i) && i == 1);
    assert_true(pickle_i64(p, item(p, list, 1), &i) && i == 0);
    assert_int_equal(pickle_kind_of(item(p, list, 2)), PICKLE_KIND_NONE);
    assert_true(pickle_f64(p, item(p, list, 3), &d) && d == 1.5);
    assert_true(pickle_f64(p, item(p, list, 4), &d) && d == -0.25);
    assert_true(pickle_text(p, item(p, list, 5), &text));
    assert_str(text, "\xc3\xa9\n\\x\xe2\x98\x83\xf0\x9f\x98\x80");
    assert_true(pickle_text(p, item(p, list, 6), &text) && text.n == 0);
    for (uint32_t n = 0; n < 5; n++) {
        pickle_value tuple = item(p, list, 7 + n);
        assert_int_equal(pickle_kind_of(tuple), PICKLE_KIND_LIST);
        assert_int_equal(pickle_count(p, tuple), n);
        if (n) assert_true(pickle_i64(p, item(p, tuple, n - 1), &i) && i == n);
    }
}

static void every_protocol_gives_the_same_data(void **state) {
    for (int i = 0; i < N_SAMPLES; i++) {
        pickle *p = must_read(SAMPLES[i]);
        str text;
        assert_int_equal(pickle_kind_of(pickle_root(p)), PICKLE_KIND_DICT);
        assert_int_equal(pickle_count(p, pickle_root(p)), 3);
        check_ints(p, member(p, "ints"));
        check_rest(p, member(p, "rest"));
        pickle_value shared = member(p, "shared");
        assert_int_equal(item(p, shared, 0), item(p, shared, 1)); /* one object */
        assert_true(
            pickle_text(p, pickle_get(p, item(p, shared, 0), pickle_key(p, STR("k"))), &text));
        assert_str(text, "v");
        assert_int_equal(member(p, "nothing"), PICKLE_ABSENT);
        assert_false(pickle_is_cut(p));
        assert_false(pickle_has_more(p));
        assert_int_equal(pickle_input_bytes(p), SAMPLES[i].n);
        pickle_free(p);
    }
}

static void a_value_of_another_kind_leaves_the_output_alone(void **state) {
    pickle *p = must_read(STR("]."));
    int64_t i = 7;
    double d = 7;
    str text = STR("seven");
    pickle_value v = 7, w = 7;
    assert_false(pickle_i64(p, pickle_root(p), &i));
    assert_false(pickle_f64(p, pickle_root(p), &d));
    assert_false(pickle_text(p, pickle_root(p), &text));
    pickle_iter it = pickle_pairs(p, pickle_root(p));
    assert_false(pickle_next_pair(p, &it, &v, &w));
    assert_true(i == 7 && d == 7 && v == 7 && w == 7);
    assert_str(text, "seven");
    pickle_free(p);
}

/* ---- what is refused --------------------------------------------------------------------- */

static void check_refused(str bytes, const char *name) {
    pickle *p = NULL;
    error err = {0};
    assert_int_equal(read_bytes(bytes, &p, &err), ERR_UNSUPPORTED);
    assert_int_equal(err.message, MSG_PICKLE_CALLS);
    if (!str_eq(err.args[0].u.text, str_of(name)))
        fail_msg("%.*s instead of %s", STR_ARG(err.args[0].u.text), name);
    assert_null(p);
}

static void what_imports_or_calls_is_refused_by_name(void **state) {
    check_refused(STR("cos\nsystem\n(S'ls'\ntR."), "os.system");
    check_refused(STR("\x80\x04\x8c\x05posix\x8c\x06system\x93."), "posix.system");
    check_refused(STR("(S'ls'\nios\nsystem\n."), "os.system");
    check_refused(STR("\x80\x04K\x01K\x02\x93."), "STACK_GLOBAL");
    check_refused(STR("\x93."), "STACK_GLOBAL");
    check_refused(STR("NNR."), "REDUCE");
    check_refused(STR("NNb."), "BUILD");
    check_refused(STR("(No."), "OBJ");
    check_refused(STR("N)\x81."), "NEWOBJ");
    check_refused(STR("N)}\x92."), "NEWOBJ_EX");
    check_refused(STR("\x82\x01."), "EXT1");
    check_refused(STR("Pabc\n."), "PERSID");
    check_refused(STR("NQ."), "BINPERSID");
    check_refused(STR("\x97."), "NEXT_BUFFER");
}

static void a_name_without_end_is_not_a_reason_to_read_on(void **state) {
    buf b = {0};
    buf_add_byte(&b, 'c');
    buf_add_repeat(&b, 'x', 1000);
    buf_add_byte(&b, '\n');
    buf_add_repeat(&b, 'y', 1000);
    buf_add_cstr(&b, "\n.");
    pickle *p = NULL;
    error err = {0};
    assert_int_equal(read_bytes(buf_str(&b), &p, &err), ERR_UNSUPPORTED);
    assert_int_equal(err.args[0].u.text.n, 90 + 1 + 90);
    buf_fini(&b);
}

static void an_unknown_protocol_is_refused(void **state) {
    pickle *p = NULL;
    error err = {0};
    assert_int_equal(read_bytes(STR("\x80\x06N."), &p, &err), ERR_UNSUPPORTED);
    assert_int_equal(err.message, MSG_PICKLE_PROTOCOL);
    assert_int_equal(err.args[0].u.i, 6);
}

static void what_is_not_a_pickle_says_where(void **state) {
    static const str wrong[] = {
        STR("."),
        STR("0."),
        STR("1."),
        STR("2."),
        STR("a."),
        STR("Na."),
        STR("NNa."),
        STR("e."),
        STR("(e."),
        STR("N(e."),
        STR("]NNs."),
        STR("}Ns."),
        STR("}(Nu."),
        STR("}(u(."),
        STR("](NNa"),
        STR("t."),
        STR("d."),
        STR("(Nd."),
        STR("\x85."),
        STR("N\x86."),
        STR("NN\x87."),
        STR("h\x00."),
        STR("Nq\x05h\x04."),
        STR("\x94."),
        STR("(\x94."),
        STR("Nr\xff\xff\xff\xff."),
        STR("Ix\n."),
        STR("I\n."),
        STR("Fx\n."),
        STR("Sx\n."),
        STR("S'\n."),
        STR("gx\n."),
        STR("g-1\n."),
        STR("Np-1\n."),
        STR("\xff."),
        STR("\x90."),
        STR("N(\x90."),
        STR("(."),
        STR("N(."),
        STR("\x91."),
        STR("I1 2\n."),
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        pickle *p = NULL;
        error err = {0};
        status st = read_bytes(wrong[i], &p, &err);
        if (st != ERR_FORMAT) fail_msg("%zu: status %d", i, st);
        assert_int_equal(err.message, MSG_PICKLE_DAMAGED);
        assert_true(err.offset <= wrong[i].n && err.args[0].u.i == (int64_t)err.offset);
        assert_null(p);
    }
}

/* ---- the machine ------------------------------------------------------------------------- */

static void marks_pops_and_copies_work_as_in_python(void **state) {
    pickle *p = must_read(STR("](K\x01K\x02"
                              "00(N1(0K\x07"
                              "e2\x86."));
    pickle_value both = pickle_root(p), list = item(p, both, 0);
    int64_t i;
    assert_int_equal(item(p, both, 1), list); /* DUP: the same list twice */
    assert_int_equal(pickle_count(p, list), 1);
    assert_true(pickle_i64(p, item(p, list, 0), &i) && i == 7);
    pickle_free(p);
}

static void what_is_not_wanted_is_read_over(void **state) {
    pickle *p = must_read(STR("\x80\x05](C\x03"
                              "abcB\x02\0\0\0xy\x8e\x01\0\0\0\0\0\0\0z"
                              "\x96\x01\0\0\0\0\0\0\0z\x8f(NN\x90(NN\x91"
                              "Fnan\nK\x05"
                              "e."));
    pickle_value v;
    pickle_iter it = pickle_items(p, pickle_root(p));
    for (int i = 0; i < 7; i++) {
        assert_true(pickle_next(p, &it, &v));
        assert_int_equal(pickle_kind_of(v), PICKLE_KIND_OPAQUE);
    }
    assert_true(pickle_next(p, &it, &v));
    assert_int_equal(pickle_kind_of(v), PICKLE_KIND_INT);
    pickle_free(p);
}

static void byte_strings_of_python_2_are_texts(void **state) {
    pickle *p = must_read(STR("](S'a\\n\\x41\\'\\\\'\nS\"q\"\nS''\nU\x02hiT\x02\0\0\0hoe."));
    static const str expected[] = {STR("a\nA'\\"), STR("q"), STR(""), STR("hi"), STR("ho")};
    for (uint32_t i = 0; i < 5; i++) {
        str text;
        assert_true(pickle_text(p, item(p, pickle_root(p), i), &text));
        assert_true(str_eq(text, expected[i]));
    }
    pickle_free(p);
}

static void a_text_given_in_two_ways_is_one_value(void **state) {
    pickle *p = must_read(STR("](Vab\nU\x02"
                              "abX\x02\0\0\0abe."));
    assert_int_equal(item(p, pickle_root(p), 0), item(p, pickle_root(p), 1));
    assert_int_equal(item(p, pickle_root(p), 0), item(p, pickle_root(p), 2));
    assert_int_equal(pickle_key(p, STR("ab")), item(p, pickle_root(p), 0));
    assert_int_equal(pickle_key(p, STR("abc")), PICKLE_ABSENT);
    pickle_free(p);
}

static void of_a_key_given_twice_the_last_counts(void **state) {
    pickle *p = must_read(STR("}(U\x01"
                              "aK\x01U\x01"
                              "bK\x02U\x01"
                              "aK\x03uU\x01"
                              "bK\x04s."));
    int64_t i;
    pickle_value key, value;
    assert_true(pickle_i64(p, member(p, "a"), &i) && i == 3);
    assert_true(pickle_i64(p, member(p, "b"), &i) && i == 4);
    assert_int_equal(pickle_count(p, pickle_root(p)), 4);
    pickle_iter it = pickle_pairs(p, pickle_root(p));
    for (int64_t n = 1; n <= 4; n++) {
        assert_true(pickle_next_pair(p, &it, &key, &value));
        assert_int_equal(key, pickle_key(p, n % 2 ? STR("a") : STR("b")));
        assert_true(pickle_i64(p, value, &i) && i == n);
    }
    assert_false(pickle_next_pair(p, &it, &key, &value));
    pickle_free(p);
}

static void dictionaries_of_the_same_keys_keep_their_own_values(void **state) {
    buf b = {0};
    buf_add_cstr(&b, "](");
    for (int i = 0; i < 200; i++) {
        buf_add(&b,
                "}(U\x01"
                "aK",
                6);
        buf_add_byte(&b, (char)i);
        buf_add(&b,
                i % 3 ? "U\x01"
                        "bN"
                      : "U\x01"
                        "cN",
                4);
        buf_add_cstr(&b, i % 5 ? "u" : "NNu");
    }
    buf_add_cstr(&b, "e.");
    pickle *p = must_read(buf_str(&b));
    pickle_value a = pickle_key(p, STR("a")), other = pickle_key(p, STR("b")), v;
    pickle_iter it = pickle_items(p, pickle_root(p));
    for (int64_t i = 0, got; i < 200; i++) {
        assert_true(pickle_next(p, &it, &v));
        assert_true(pickle_i64(p, pickle_get(p, v, a), &got) && got == i);
        assert_int_equal(pickle_get(p, v, other) != PICKLE_ABSENT, i % 3 != 0);
        assert_int_equal(pickle_count(p, v), i % 5 ? 2 : 3);
    }
    pickle_free(p);
    buf_fini(&b);
}

static void lists_grow_in_any_number_of_portions(void **state) {
    buf b = {0};
    int64_t n = 0, got;
    buf_add_cstr(&b, "]");
    for (int portion = 0; portion < 300; portion++) {
        buf_add_byte(&b, '(');
        for (int i = 0; i < portion % 7; i++, n++) buf_printf(&b, "I%lld\n", (long long)n);
        buf_add_cstr(&b, "e");
        buf_add_cstr(&b,
                     portion % 2 ? "(Nl0" : ""); /* something between: the list must move on */
    }
    buf_add_cstr(&b, ".");
    pickle *p = must_read(buf_str(&b));
    pickle_value v;
    assert_int_equal(pickle_count(p, pickle_root(p)), n);
    pickle_iter it = pickle_items(p, pickle_root(p));
    for (int64_t i = 0; i < n; i++) {
        assert_true(pickle_next(p, &it, &v));
        assert_true(pickle_i64(p, v, &got) && got == i);
    }
    assert_false(pickle_next(p, &it, &v));
    pickle_free(p);
    buf_fini(&b);
}

static void a_list_may_contain_itself(void **state) {
    pickle *p = must_read(STR("]q\x00h\x00"
                              "a."));
    assert_int_equal(item(p, pickle_root(p), 0), pickle_root(p));
    pickle_free(p);
}

static void lists_are_the_same_by_their_elements(void **state) {
    pickle *p = must_read(STR("]((K\x01NtK\x01N\x86K\x01NN\x87N]e."));
    pickle_value list = pickle_root(p), a = item(p, list, 0), b = item(p, list, 1);
    assert_true(a != b && pickle_same(p, a, b));
    assert_true(pickle_hash(p, a) == pickle_hash(p, b));
    assert_false(pickle_same(p, a, item(p, list, 2)));
    assert_true(pickle_hash(p, a) != pickle_hash(p, item(p, list, 2)));
    pickle_free(p);
}

/* ---- pieces, ends, limits ---------------------------------------------------------------- */

static void texts_cross_the_borders_of_pieces(void **state) {
    buf b = {0};
    buf_add_cstr(&b, "](");
    for (uint32_t i = 0; i < 90; i++) { /* 9 MiB, each text in two codings */
        uint32_t n = 50000 + i;
        buf_add_byte(&b, 'X');
        buf_add(&b, &n, 4);
        buf_add_repeat(&b, (char)('a' + i % 26), n);
        buf_add_byte(&b, 'V');
        buf_add_repeat(&b, (char)('a' + i % 26), n);
        buf_add_byte(&b, '\n');
    }
    buf_add_cstr(&b, "e.");
    buf forms[3] = {gzip_of(buf_str(&b), 1), zstd_of(buf_str(&b), 1), b};
    for (int f = 0; f < 3; f++) {
        pickle *p = must_read(buf_str(&forms[f]));
        pickle_iter it = pickle_items(p, pickle_root(p));
        pickle_value v, w;
        for (uint32_t i = 0; i < 90; i++) {
            str text;
            assert_true(pickle_next(p, &it, &v) && pickle_next(p, &it, &w));
            assert_int_equal(v, w);
            assert_true(pickle_text(p, v, &text));
            assert_int_equal(text.n, 50000 + i);
            assert_true(text.p[0] == (char)('a' + i % 26) && text.p[text.n - 1] == text.p[0]);
        }
        pickle_free(p);
        buf_fini(&forms[f]);
    }
}

static void a_text_too_long_to_keep_is_opaque(void **state) {
    buf b = {0};
    uint32_t n = 17 << 20;
    buf_add_cstr(&b, "](X");
    buf_add(&b, &n, 4);
    buf_add_repeat(&b, 'x', n);
    buf_add_cstr(&b, "K\x05"
                     "e.");
    pickle *p = must_read(buf_str(&b));
    assert_int_equal(pickle_kind_of(item(p, pickle_root(p), 0)), PICKLE_KIND_OPAQUE);
    assert_int_equal(pickle_kind_of(item(p, pickle_root(p), 1)), PICKLE_KIND_INT);
    pickle_free(p);
    buf_fini(&b);
}

static void a_cut_pickle_keeps_what_was_complete(void **state) {
    pickle *p = must_read(STR("\x80\x04}(U\x01"
                              "a](K\x01}(U\x01kK\x02U\x01lK"));
    pickle_value list = member(p, "a");
    int64_t i;
    assert_true(pickle_is_cut(p));
    assert_int_equal(pickle_count(p, list), 2);
    assert_true(pickle_i64(p, pickle_get(p, item(p, list, 1), pickle_key(p, STR("k"))), &i));
    assert_int_equal(i, 2);
    pickle_free(p);
    p = must_read(STR("}U\x01"
                      "a]K\x01"
                      "aK\x02")); /* without marks */
    assert_int_equal(pickle_count(p, member(p, "a")), 2);
    pickle_free(p);
    p = must_read(STR_NONE);
    assert_int_equal(pickle_kind_of(pickle_root(p)), PICKLE_KIND_NONE);
    pickle_free(p);
}

static void a_pickle_cut_anywhere_is_read_to_its_cut(void **state) {
    for (int k = 0; k < N_SAMPLES; k++)
        for (size_t n = 0; n < SAMPLES[k].n; n++) {
            char *copy = test_malloc(n + 1); /* its border is watched */
            memcpy(copy, SAMPLES[k].p, n);
            pickle *p = must_read(str_n(copy, n));
            assert_true(pickle_is_cut(p));
            assert_int_equal(pickle_input_bytes(p), n);
            pickle_free(p);
            test_free(copy);
        }
}

static void bytes_after_the_end_are_seen(void **state) {
    pickle *p = must_read(STR("N.N."));
    assert_true(pickle_has_more(p));
    assert_int_equal(pickle_input_bytes(p), 2);
    pickle_free(p);
}

static void numbers_in_the_file_reserve_no_memory(void **state) {
    pickle *p = NULL;
    error err = {0};
    /* A memo number far beyond the file, and a text of 2^63 bytes. */
    assert_int_equal(read_bytes(STR("Nr\x00\x00\x00\x70."), &p, &err), ERR_FORMAT);
    p = must_read(STR("]\x8d\xff\xff\xff\xff\xff\xff\xff\x7f"
                      "abc"));
    assert_true(pickle_is_cut(p));
    assert_true(pickle_size_bytes(p) < 64 << 20);
    pickle_free(p);
}

static bool stop_at_once(void *context, uint64_t done, uint64_t total) {
    (*(int *)context)++;
    return true;
}

static void the_reader_can_be_stopped_and_limited(void **state) {
    buf b = {0};
    int n_calls = 0;
    pickle *p = NULL;
    error err = {0};
    buf_add_cstr(&b, "](");
    buf_add_repeat(&b, 'N', 5 << 20);
    buf_add_cstr(&b, "e.");
    ingest_options stop = {.progress = stop_at_once, .progress_context = &n_calls};
    assert_int_equal(read_with(buf_str(&b), &stop, &p, &err), ERR_CANCELLED);
    assert_int_equal(n_calls, 1);
    ingest_options small = {.memory_limit_bytes = 1 << 20};
    assert_int_equal(read_with(buf_str(&b), &small, &p, &err), ERR_LIMIT);
    assert_int_equal(err.message, MSG_MEMORY_LIMIT);
    assert_null(p);
    buf_fini(&b);
}

static void nesting_without_end_is_refused(void **state) {
    buf b = {0};
    pickle *p = NULL;
    error err = {0};
    buf_add_repeat(&b, '(', (1 << 20) + 1);
    assert_int_equal(read_bytes(buf_str(&b), &p, &err), ERR_LIMIT);
    assert_int_equal(err.message, MSG_PICKLE_TOO_LARGE);
    buf_fini(&b);
}

static void deep_nesting_is_read_and_freed_without_recursion(void **state) {
    buf b = {0};
    buf_add_repeat(&b, ']', 1 << 20);
    buf_add_repeat(&b, 'a', (1 << 20) - 1);
    buf_add_byte(&b, '.');
    pickle *p = must_read(buf_str(&b));
    assert_int_equal(pickle_count(p, pickle_root(p)), 1);
    pickle_free(p);
    buf_fini(&b);
}

static void every_failed_allocation_is_an_error(void **state) {
    for (uint64_t n = 1;; n++) {
        pickle *p = NULL;
        source *s;
        error err = {0};
        assert_int_equal(source_open_memory(SAMPLES[4], &s, NULL), OK);
        fault_arm(FAULT_ALLOC, n);
        status st = pickle_read(s, &(ingest_options){0}, &p, &err);
        bool hit = fault_count(FAULT_ALLOC) >= n;
        fault_arm(FAULT_ALLOC, 0);
        source_close(s);
        if (st == OK) pickle_free(p); /* a shape or a buffer can be done without */
        if (!hit) break;
        if (st != OK) {
            assert_int_equal(st, ERR_MEMORY);
            assert_int_equal(err.message, MSG_OUT_OF_MEMORY);
            assert_null(p);
        }
        assert_true(n < 1000);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_protocol_gives_the_same_data),
        cmocka_unit_test(a_value_of_another_kind_leaves_the_output_alone),
        cmocka_unit_test(what_imports_or_calls_is_refused_by_name),
        cmocka_unit_test(a_name_without_end_is_not_a_reason_to_read_on),
        cmocka_unit_test(an_unknown_protocol_is_refused),
        cmocka_unit_test(what_is_not_a_pickle_says_where),
        cmocka_unit_test(marks_pops_and_copies_work_as_in_python),
        cmocka_unit_test(what_is_not_wanted_is_read_over),
        cmocka_unit_test(byte_strings_of_python_2_are_texts),
        cmocka_unit_test(a_text_given_in_two_ways_is_one_value),
        cmocka_unit_test(of_a_key_given_twice_the_last_counts),
        cmocka_unit_test(dictionaries_of_the_same_keys_keep_their_own_values),
        cmocka_unit_test(lists_grow_in_any_number_of_portions),
        cmocka_unit_test(a_list_may_contain_itself),
        cmocka_unit_test(lists_are_the_same_by_their_elements),
        cmocka_unit_test(texts_cross_the_borders_of_pieces),
        cmocka_unit_test(a_text_too_long_to_keep_is_opaque),
        cmocka_unit_test(a_cut_pickle_keeps_what_was_complete),
        cmocka_unit_test(a_pickle_cut_anywhere_is_read_to_its_cut),
        cmocka_unit_test(bytes_after_the_end_are_seen),
        cmocka_unit_test(numbers_in_the_file_reserve_no_memory),
        cmocka_unit_test(the_reader_can_be_stopped_and_limited),
        cmocka_unit_test(nesting_without_end_is_refused),
        cmocka_unit_test(deep_nesting_is_read_and_freed_without_recursion),
        cmocka_unit_test(every_failed_allocation_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
