/* snapshot_helper.c: a small writer of pickles, for tests. */
#include "unit/ingest/snapshot_helper.h"

#include <stdio.h>

static const char *skip_space(const char *p) {
    while (*p == ' ' || *p == '\n' || *p == ',' || *p == ':') p++;
    return p;
}

static const char *write_text(buf *b, const char *p) {
    const char *end = strchr(p + 1, '\'');
    assert_non_null(end);
    uint32_t n = (uint32_t)(end - p - 1);
    buf_add_byte(b, 'X');
    buf_add(b, &n, 4);
    buf_add(b, p + 1, n);
    return end + 1;
}

static const char *write_word(buf *b, const char *p) {
    size_t n = strcspn(p, ",]} \n");
    assert_true(n > 0);
    if (*p == 'n') buf_add_byte(b, 'N');
    if (*p == 't') buf_add_cstr(b, "I01\n");
    if (*p == 'f') buf_add_cstr(b, "I00\n");
    if (*p == '-' || (*p >= '0' && *p <= '9'))
        buf_printf(b, "%c%.*s\n", memchr(p, '.', n) ? 'F' : 'L', (int)n, p);
    return p + n;
}

const char *write_pickle(buf *b, const char *p) {
    p = skip_space(p);
    if (*p == '\'') return write_text(b, p);
    if (*p != '[' && *p != '{') return write_word(b, p);
    char close = *p == '[' ? ']' : '}';
    buf_add_cstr(b, *p == '[' ? "](" : "}(");
    for (p = skip_space(p + 1); *p != close; p = skip_space(p)) {
        assert_true(*p != 0);
        p = write_pickle(b, p);
    }
    buf_add_byte(b, close == ']' ? 'e' : 'u');
    return p + 1;
}

buf pickle_of(const char *text) {
    buf b = {0};
    buf_add(&b, "\x80\x02", 2);
    assert_int_equal(*skip_space(write_pickle(&b, text)), 0);
    buf_add_byte(&b, '.');
    assert_true(buf_ok(&b));
    return b;
}

trace *trace_of_bytes(str bytes, error *err) {
    source *s;
    trace *t = NULL;
    builder *b = builder_new();
    assert_non_null(b);
    assert_int_equal(source_open_memory(bytes, &s, NULL), OK);
    status st = ingest_memory_snapshot(s, &(ingest_options){0}, b, err);
    if (st == OK) assert_int_equal(builder_seal(b, NULL, &t, err), OK);
    source_close(s);
    builder_free(b);
    return t;
}

trace *trace_of(const char *text) {
    buf b = pickle_of(text);
    error err = {0};
    trace *t = trace_of_bytes(buf_str(&b), &err);
    if (!t) fail_msg("refused with message %d", err.message);
    buf_fini(&b);
    return t;
}

const char *frame_name(const trace *t, uint32_t frame) {
    static char text[200];
    snprintf(text, sizeof text, "%.*s", STR_ARG(trace_str(t, t->frame.name[frame])));
    return text;
}
