/* paddle_wire_test.c: messages in Paddle's order and in any other; what is read is held against a slow
 * reference that takes field by field. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ingest/paddle/paddle_wire.h"

typedef struct {
    char bytes[512 + WIRE_ROOM];
    size_t n;
} message;

static void put_varint(message *m, uint64_t v) {
    for (; v >= 0x80; v >>= 7) m->bytes[m->n++] = (char)(v | 0x80);
    m->bytes[m->n++] = (char)v;
}

static void put_number(message *m, uint32_t number, uint64_t v) {
    put_varint(m, PB_VARINT(number));
    put_varint(m, v);
}

static void put_text(message *m, uint32_t number, str s) {
    put_varint(m, PB_BYTES(number));
    put_varint(m, s.n);
    memcpy(m->bytes + m->n, s.p, s.n);
    m->n += s.n;
}

static str text_of(const message *m) {
    return str_n(m->bytes, m->n);
}

static uint32_t next_random(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* ---- the reference ---- */

typedef struct {
    uint64_t v[12];
    str text[12];
    bool whole;
} fields;

static fields take_apart(str bytes) {
    fields out = {.whole = true};
    const char *p = bytes.p, *end = p + bytes.n;
    while (p < end) {
        pb_field f;
        bool cut;
        const char *next = pb_head(p, end, &f, &cut);
        bool has_bytes = next && (f.tag & 7) == WIRE_BYTES;
        if (!next || (has_bytes && f.v > (uint64_t)(end - next))) {
            out.whole = false;
            break;
        }
        if (f.tag >> 3 < 12 && (f.tag & 7) == WIRE_VARINT) out.v[f.tag >> 3] = f.v;
        if (f.tag >> 3 < 12 && has_bytes) out.text[f.tag >> 3] = str_n(next, (size_t)f.v);
        p = has_bytes ? next + f.v : next;
    }
    return out;
}

static void assert_same_text(str a, str b) {
    assert_ptr_equal(a.p, b.p);
    assert_int_equal(a.n, b.n);
}

/* The two ways to unpack a varint, each with its memory. */
typedef struct {
    wire_state w[2];
} twins;

static twins begin(void) {
    twins t;
    wire_init(&t.w[0]);
    wire_init(&t.w[1]);
    wire_choose(&t.w[1], false);
    return t;
}

static void check_range(str bytes, twins *last) {
    fields f = take_apart(bytes);
    for (int i = 0; i < 2; i++) {
        wire_range r;
        assert_int_equal(last->w[i].read_range(bytes, &last->w[i], &r), f.whole);
        assert_same_text(r.name, f.text[1]);
        assert_true(r.type == f.v[2] && r.start == f.v[3] && r.end == f.v[4]);
        assert_true(r.pid == f.v[5] && r.tid == f.v[6]);
    }
}

static void check_memory(str bytes, twins *last) {
    fields f = take_apart(bytes);
    for (int k = 0; k < 2; k++) {
        wire_memory m;
        assert_int_equal(last->w[k].read_memory(bytes, &last->w[k], &m), f.whole);
        assert_same_text(m.place, f.text[7]);
        assert_true(m.time == f.v[1] && m.type == f.v[2] && m.address == f.v[3]);
        assert_true(m.pid == f.v[4] && m.tid == f.v[5] && m.increase == f.v[6]);
        for (int i = 0; i < 4; i++) assert_true(m.totals[i] == f.v[8 + i]);
    }
}

/* ---- tests ---- */

static message make_range(uint64_t pid, uint64_t tid) {
    message m = {.n = 0};
    put_text(&m, 1, STR("conv2d infer_meta"));
    put_number(&m, 2, 8);
    put_number(&m, 3, 1794707769764920736u);
    put_number(&m, 4, 1794707769774226901u);
    put_number(&m, 5, pid);
    put_number(&m, 6, tid);
    return m;
}

static message make_memory(int64_t bytes) {
    message m = {.n = 0};
    put_number(&m, 1, 1794707769764920736u);
    put_number(&m, 2, bytes < 0);
    put_number(&m, 3, 0x7f3a5c000000);
    put_number(&m, 4, 8762);
    put_number(&m, 5, 8762);
    put_number(&m, 6, (uint64_t)bytes);
    put_text(&m, 7, STR("Place(cpu)"));
    for (uint32_t i = 8; i < 12; i++) put_number(&m, i, (uint64_t)1 << 4 * i);
    return m;
}

static void messages_in_order_are_read(void **state) {
    (void)state;
    twins last = begin();
    message m = make_range(8762, 8763);
    for (int i = 0; i < 3; i++) check_range(text_of(&m), &last);
    for (int64_t bytes = -4096; bytes <= 4096; bytes += 4096) {
        m = make_memory(bytes);
        check_memory(text_of(&m), &last);
    }
}

/* The bytes of the thread before are a beginning of those of the next, or differ in one. */
static void a_thread_is_never_taken_for_the_one_before(void **state) {
    static const uint64_t ids[] = {0,   1,    127,     128,      8762,       1121536,
                                   122, 8763, 1121664, 1u << 31, UINT64_MAX, 1ull << 62};
    (void)state;
    twins last = begin();
    for (size_t a = 0; a < sizeof ids / sizeof *ids; a++)
        for (size_t b = 0; b < sizeof ids / sizeof *ids; b++) {
            message m = make_range(ids[a], ids[b]);
            check_range(text_of(&m), &last);
        }
    message m = {.n = 0};
    put_text(&m, 1, STR("no thread"));
    check_range(text_of(&m), &last);
    put_number(&m, 5, 8762);
    check_range(text_of(&m), &last);
    put_number(&m, 6, 8762);
    check_range(text_of(&m), &last);
}

static void any_other_order_gives_the_same(void **state) {
    (void)state;
    uint32_t seed = 1;
    twins last = begin();
    for (int round = 0; round < 20000; round++) {
        message m = {.n = 0};
        uint32_t n = next_random(&seed) % 9;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t number = round & 1 ? i + 1 : next_random(&seed) % 14 + 1;
            uint64_t v = (uint64_t)next_random(&seed) << 40 | next_random(&seed);
            if (number == 1 || number == 7)
                put_text(&m, number, str_n("a name that is long enough", v % 26));
            else
                put_number(&m, number, v >> (v & 63));
        }
        check_range(text_of(&m), &last);
        check_memory(text_of(&m), &last);
    }
}

/* The bytes of the last totals are a beginning of those of the next, or some of them are missing. */
static void totals_are_never_taken_for_the_ones_before(void **state) {
    static const uint64_t sizes[] = {0, 1, 127, 128, 16384, 1u << 31, UINT64_MAX};
    enum { N_SIZES = sizeof sizes / sizeof *sizes };
    (void)state;
    twins last = begin();
    for (uint32_t round = 0; round < 8 * N_SIZES * N_SIZES; round++) {
        message m = {.n = 0};
        put_number(&m, 1, 1794707769764920736u);
        for (uint32_t i = 0; i < 3; i++)
            if (round >> i & 1)
                put_number(&m, 9 + i, sizes[(round / 8 + i * (round / 8 / N_SIZES)) % N_SIZES]);
        check_memory(text_of(&m), &last);
        check_memory(text_of(&m), &last);
    }
}

static void what_is_cut_is_damaged(void **state) {
    (void)state;
    twins last = begin();
    message range = make_range(8762, 8762), memory = make_memory(-4096);
    for (size_t n = 0; n <= range.n; n++) check_range(str_n(range.bytes, n), &last);
    for (size_t n = 0; n <= memory.n; n++) check_memory(str_n(memory.bytes, n), &last);
    range.bytes[1] = 127; /* a name that is longer than the message */
    check_range(text_of(&range), &last);
    range.bytes[1] = (char)0xff;
    check_range(text_of(&range), &last);
}

static message make_node(uint64_t id, uint64_t parent) {
    message m = {.n = 0}, range = make_range(1, 1);
    put_number(&m, 1, id);
    put_number(&m, 2, parent);
    put_text(&m, 3, text_of(&range));
    return m;
}

static void a_node_says_who_it_is_and_what_hangs_on_it(void **state) {
    (void)state;
    wire_state w;
    wire_node n;
    wire_init(&w);
    message m = make_node(70000, 300);
    assert_true(wire_read_node(text_of(&m), &w, &n));
    assert_true(wire_number(n.id) == 70000 && wire_number(n.parent) == 300);
    assert_true(!n.is_root && n.event.n > 40 && !n.rest.p);
    put_text(&m, 5, STR("memory"));
    put_text(&m, 6, STR("supplement"));
    assert_true(wire_read_node(text_of(&m), &w, &n));
    assert_true(wire_number(n.id) == 70000 && n.has_supplement);
    assert_int_equal(n.rest.n, 2 + 6 + 2 + 10);
    char long_text[200] = "";
    put_text(&m, 4, str_n(long_text, sizeof long_text)); /* two bytes of length */
    put_text(&m, 5, STR(""));
    for (size_t cut = m.n - 210; cut <= m.n; cut++) {
        fields f = take_apart(str_n(m.bytes, cut));
        assert_int_equal(wire_read_node(str_n(m.bytes, cut), &w, &n), f.whole);
        assert_int_equal(n.rest.p - m.bytes + (long)n.rest.n, cut);
    }
    put_number(&m, 2, 301); /* its id may be anywhere */
    assert_true(wire_read_node(text_of(&m), &w, &n) && wire_number(n.parent) == 301);
    m = make_node(0, UINT64_MAX);
    assert_true(wire_read_node(text_of(&m), &w, &n));
    assert_true(n.is_root);
    for (size_t cut = 1; cut < m.n; cut++) { /* only a cut between two fields goes unseen */
        fields f = take_apart(str_n(m.bytes, cut));
        assert_int_equal(wire_read_node(str_n(m.bytes, cut), &w, &n), f.whole);
    }
    m.n = 0;
    assert_true(wire_read_node(text_of(&m), &w, &n));
    assert_true(n.is_root && !n.event.p && wire_number(n.id) == 0);
}

/* After any other: what is remembered of one must not be taken for the next. */
static void numbers_of_a_node_are_as_long_as_they_are(void **state) {
    (void)state;
    wire_state w;
    wire_node n;
    wire_init(&w);
    for (int i = 0; i < 64 * 64 * 2; i++) {
        uint64_t id = (uint64_t)1 << i % 64, parent = ((uint64_t)1 << i / 64 % 64) - 1;
        message m = make_node(id, parent);
        if (i % 3 == 0) put_text(&m, 5, STR("memory"));
        assert_true(wire_read_node(text_of(&m), &w, &n));
        assert_true(wire_number(n.id) == id && wire_number(n.parent) == parent);
        assert_int_equal(n.event.n, text_of(&m).n - (size_t)(n.event.p - m.bytes) - n.rest.n);
        assert_int_equal(n.rest.n, i % 3 ? 0 : 8);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_in_order_are_read),
        cmocka_unit_test(a_thread_is_never_taken_for_the_one_before),
        cmocka_unit_test(any_other_order_gives_the_same),
        cmocka_unit_test(totals_are_never_taken_for_the_ones_before),
        cmocka_unit_test(what_is_cut_is_damaged),
        cmocka_unit_test(a_node_says_who_it_is_and_what_hangs_on_it),
        cmocka_unit_test(numbers_of_a_node_are_as_long_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
