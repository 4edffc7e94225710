/* folded_stacks.c: folded stacks, a line each, outermost frame first, with how many samples had
 * it.
 *
 *     main (train.py:40);forward (model.py:12);linear (functional.py:8) 117
 *
 * The time of a sample is unknown: stacks are put one after the other in the order of the
 * file, a sample as SAMPLE_NS. So lengths and nesting are right, the order is the file's.
 * py-spy names a thread as the first frame when it is asked for them; the stacks of all threads
 * are on one row. */
#include "base/num.h"
#include "ingest/profiles/call_rows.h"
#include "ingest/profiles/profiles.h"
#include "ingest/util/whole_input.h"

enum { HEAD_LINES = 20 };

/* The stack and the count of a line; false: it is no such line. */
static bool split_line(str line, str *stack, int64_t *count) {
    size_t blank = str_rfind_byte(line, ' ');
    if (blank == SIZE_MAX || blank == 0) return false;
    *stack = str_trim(str_n(line.p, blank));
    return stack->n && str_to_i64(str_from(line, blank + 1), count) && *count > 0;
}

static bool next_line(str *text, str *line) {
    if (!text->n) return false;
    *line = str_trim(str_cut(text, STR("\n")));
    return true;
}

/* Every line is one, and stacks are deeper than one frame. A line that the head cuts does not
 * count. */
bool folded_head(str head, bool whole) {
    str line, stack;
    int64_t count;
    size_t n = 0, n_deep = 0;
    while (n < HEAD_LINES && next_line(&head, &line)) {
        if (!line.n) continue;
        if (!whole && !head.n) break;
        if (!split_line(line, &stack, &count)) return false;
        n_deep += str_find(stack, STR(";"), 0) != SIZE_MAX;
        n++;
    }
    return n > 0 && 2 * n_deep >= n;
}

typedef struct {
    builder *b;
    part *part;
    vec names; /* uint32_t: of one stack */
    call_rows rows;
    int64_t at;
    buf text;
} reader;

/* Where the line of "forward (model.py:12)" begins; 0: it has none. */
static size_t find_line_number(str frame) {
    size_t at = frame.n ? frame.n - 1 : 0;
    if (!frame.n || frame.p[at] != ')') return 0;
    while (at > 0 && frame.p[at - 1] >= '0' && frame.p[at - 1] <= '9') at--;
    return at < 2 || at == frame.n - 1 || frame.p[at - 1] != ':' ? 0 : at;
}

/* "forward (model.py)" */
static str drop_line_number(reader *r, str frame) {
    size_t at = find_line_number(frame);
    if (!at) return frame;
    buf_clear(&r->text);
    buf_add(&r->text, frame.p, at - 1);
    buf_add_byte(&r->text, ')');
    r->rows.failed |= !buf_ok(&r->text);
    return r->rows.failed ? frame : buf_str(&r->text);
}

/* The frame "model.py(12): forward"; of what has no line, its caller. */
static uint32_t add_line(reader *r, uint32_t caller, str frame) {
    size_t at = find_line_number(frame), open = at;
    while (open > 0 && frame.p[open - 1] != '(') open--;
    if (open < 2 || caller == UINT32_MAX) return caller;
    buf_clear(&r->text);
    buf_add(&r->text, frame.p + open, at - 1 - open);
    buf_add_byte(&r->text, '(');
    buf_add(&r->text, frame.p + at, frame.n - 1 - at);
    buf_add_cstr(&r->text, "): ");
    buf_add_str(&r->text, str_trim(str_n(frame.p, open - 1)));
    uint32_t name =
        buf_ok(&r->text) ? intern_add(builder_strings(r->b), buf_str(&r->text)) : UINT32_MAX;
    return name == UINT32_MAX ? UINT32_MAX : builder_frame(r->b, caller, name);
}

static void take_stack(reader *r, str stack, int64_t count) {
    uint32_t line = 0;
    int64_t dur = mul_i64(count, SAMPLE_NS);
    r->names.n = 0;
    while (stack.n) {
        str frame = str_cut(&stack, STR(";"));
        line = add_line(r, line, frame);
        uint32_t *to = vec_push(&r->names);
        uint32_t id = intern_add(builder_strings(r->b), drop_line_number(r, frame));
        r->rows.failed |= !to || id == UINT32_MAX;
        if (to) *to = id;
    }
    call_rows_sample(&r->rows, r->names.p, r->names.n, r->at);
    call_rows_lines(&r->rows, line, r->at, dur);
    r->at = add_i64(r->at, dur);
}

static status read_lines(reader *r, const ingest_options *o, str text, error *err) {
    str rest = text, line, stack;
    int64_t count;
    while (!r->rows.failed && next_line(&rest, &line)) {
        if (!line.n) continue;
        bool good = split_line(line, &stack, &count) &&
                    mul_i64(count, SAMPLE_NS) <= sub_i64(MOST_PROFILE_NS, r->at);
        part_count(r->part, 1, !good);
        if (good)
            take_stack(r, stack, count);
        else
            part_lost(r->part, CAUSE_BAD_SYNTAX, (uint64_t)(line.p - text.p), 0);
        if (o->memory_limit_bytes && builder_size_bytes(r->b) + text.n > o->memory_limit_bytes)
            FAIL(err, ERR_LIMIT, NOPOS, MSG_MEMORY_LIMIT,
                 arg_bytes("limit", sat_i64(o->memory_limit_bytes)));
    }
    call_rows_close(&r->rows, 0, r->at);
    if (r->rows.failed) FAIL_MEMORY(err);
    return OK;
}

status ingest_folded(source *src, const ingest_options *o, builder *b, error *err) {
    reader r = {.b = b, .part = builder_part(b), .names = VEC_INIT(uint32_t)};
    buf bytes = {0};
    if (!r.part) FAIL_MEMORY(err);
    status st = whole_input(src, o, b, r.part, 0, &bytes, err);
    str text = buf_str(&bytes);
    bool python = st == OK && str_find(text, STR(".py:"), 0) != SIZE_MAX;
    uint32_t track = part_track(r.part, (ident){0, false}, (ident){1, false});
    if (st == OK && track == UINT32_MAX)
        st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    r.rows = call_rows_begin(r.part, track, python ? KIND_PYTHON : KIND_ANNOTATION);
    if (st == OK) st = read_lines(&r, o, text, err);
    part_finish(r.part);
    builder_set_format(b, "folded_stacks");
    call_rows_end(&r.rows);
    vec_fini(&r.names);
    buf_fini(&r.text);
    buf_fini(&bytes);
    return st;
}
