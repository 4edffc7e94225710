/* pickle_read.c: the stack machine that a pickle is a program for, without its dangerous half.
 *
 *     stack  ──  values under construction; marks remember heights of it
 *     memo   ──  values by number, for objects that occur more than once
 *
 * One row of pickle_ops.def for each instruction says what follows it and what it does. First
 * the argument is brought together from the pieces of the source, then the action works on the
 * stack. Nothing is imported, called or constructed: those instructions end the reading with a
 * refusal.
 *
 * Bounds: an instruction that takes more from the stack than is above the last mark is damage,
 * as is a memo number never given out. Memory grows with the input and not with numbers written
 * in it: counted texts beyond 16 MiB are read over, a memo number must be smaller than the
 * bytes read so far, the stack has a limit. The machine never recurses.
 *
 * When the input ends early, what is on the stack is put where its closing instructions would
 * have put it, so that a cut snapshot gives all but its last entry. */
#include <stdio.h>

#include "base/buf.h"
#include "base/num.h"
#include "ingest/util/pickle_int.h"
#include "ingest/util/pickle_text.h"

enum {
    PIECE_BYTES = 4 << 20,
    MAX_TEXT_BYTES = 16 << 20,
    MAX_LINE_BYTES = 16 << 20,
    MAX_STACK = 1 << 26, /* values; Python closes lists after a thousand */
    MAX_MARKS = 1 << 20, /* nesting */
    MEMO_SLACK = 4096,
    MAX_PROTOCOL = 5,
};

enum {
    NOTHING = 0,
    FIXED1,
    FIXED2,
    FIXED4,
    FIXED8,
    LINE,
    LINES2,
    TEXT1,
    TEXT4,
    TEXT8,
    BYTES1,
    BYTES4,
    BYTES8,
};

enum {
    DO_UNKNOWN = 0,
    DO_MARK,
    DO_STOP,
    DO_POP,
    DO_POP_MARK,
    DO_DUP,
    DO_FLOAT_LINE,
    DO_FLOAT,
    DO_INT_LINE,
    DO_INT4,
    DO_INT,
    DO_LONG,
    DO_NONE,
    DO_TRUE,
    DO_FALSE,
    DO_TEXT_QUOTED,
    DO_TEXT,
    DO_TEXT_ESCAPED,
    DO_OPAQUE,
    DO_EMPTY_LIST,
    DO_EMPTY_DICT,
    DO_EMPTY_SET,
    DO_LIST,
    DO_DICT,
    DO_FROZENSET,
    DO_TUPLE1,
    DO_TUPLE2,
    DO_TUPLE3,
    DO_APPEND,
    DO_APPENDS,
    DO_SETITEM,
    DO_SETITEMS,
    DO_ADDITEMS,
    DO_GET_LINE,
    DO_GET,
    DO_PUT_LINE,
    DO_PUT,
    DO_MEMOIZE,
    DO_PROTO,
    DO_NOTHING,
    DO_REFUSE,
};

typedef struct {
    const char *name;
    uint8_t argument, action;
} instruction;

static const instruction INSTRUCTIONS[256] = {
#define OP(code, text, argument, action) [code] = {text, argument, action},
#include "ingest/util/pickle_ops.def"
};

/* How far one instruction came. */
typedef enum {
    GO,
    STOPPED, /* the pickle's own end */
    CUT,     /* the input ended before the instruction was complete */
    BAD,     /* no pickle */
    FAILED,  /* machine.status says why */
} outcome;

typedef struct {
    pickle *p;
    source *src;
    const ingest_options *o;
    piece pc;
    const char *at, *end;
    vec stack, marks, memo; /* pickle_value, uint32_t, pickle_value */
    uint64_t n_memo;        /* numbers given out */
    buf text;               /* of the line instructions, decoded */
    status status;          /* of FAILED */
    bool said;              /* *err is filled already */
    error *err;
    /* The argument of the current instruction. */
    uint64_t number;
    str bytes, more; /* valid until the next instruction; bytes.p NULL: too long to keep */
} machine;

static outcome fail(machine *m, status st) {
    m->status = st;
    return FAILED;
}

static outcome done(machine *m, status st) {
    return st == OK ? GO : fail(m, st);
}

/* The failure of something that has filled *err. */
static outcome fail_said(machine *m, status st) {
    m->said = true;
    return fail(m, st);
}

static uint64_t offset_of(const machine *m) {
    return m->pc.offset + (uint64_t)(m->at - m->pc.p);
}

/* ---- bytes ------------------------------------------------------------------------------- */

static status check_limits(machine *m) {
    const ingest_options *o = m->o;
    if (o->progress && o->progress(o->progress_context, source_bytes_consumed(m->src),
                                   source_file_bytes(m->src)))
        FAIL0(m->err, ERR_CANCELLED, NOPOS, MSG_CANCELLED);
    uint64_t held = pickle_size_bytes(m->p) + m->stack.mapped_bytes + m->memo.mapped_bytes;
    if (o->memory_limit_bytes && held > o->memory_limit_bytes)
        FAIL(m->err, ERR_LIMIT, NOPOS, MSG_MEMORY_LIMIT,
             arg_bytes("limit", sat_i64(o->memory_limit_bytes)));
    return OK;
}

/* The next piece, with the bytes from m->at on in front. */
static outcome next_piece(machine *m, size_t want) {
    piece next;
    status st = source_next(m->src, want, (size_t)(m->end - m->at), &next, m->err);
    if (st != OK) return fail_said(m, st);
    if (next.n == 0) return CUT;
    source_release(m->src, &m->pc);
    m->pc = next;
    m->at = next.p;
    m->end = next.p + next.n;
    st = check_limits(m);
    return st == OK ? GO : fail_said(m, st);
}

/* At least n bytes at m->at; n is at most MAX_TEXT_BYTES and a few. */
static outcome need(machine *m, size_t n) {
    while ((size_t)(m->end - m->at) < n) {
        size_t missing = n - (size_t)(m->end - m->at);
        outcome got = next_piece(m, missing > PIECE_BYTES ? missing : PIECE_BYTES);
        if (got != GO) return got;
    }
    return GO;
}

static outcome skip(machine *m, uint64_t n) {
    for (;;) {
        uint64_t here = (uint64_t)(m->end - m->at);
        if (n <= here) break;
        n -= here;
        m->at = m->end;
        outcome got = next_piece(m, PIECE_BYTES);
        if (got != GO) return got;
    }
    m->at += n;
    return GO;
}

static outcome take_fixed(machine *m, size_t n) {
    outcome got = need(m, n);
    if (got != GO) return got;
    m->number = read_le(m->at, n);
    m->at += n;
    return GO;
}

/* Counted bytes. Those too long to be of use are skipped. */
static outcome take_counted(machine *m, size_t width, size_t most) {
    outcome got = take_fixed(m, width);
    if (got != GO) return got;
    m->bytes = STR_NONE;
    if (m->number > most) return skip(m, m->number);
    got = need(m, (size_t)m->number);
    if (got != GO) return got;
    m->bytes = str_n(m->at, (size_t)m->number);
    m->at += m->bytes.n;
    return GO;
}

/* Bytes up to a line feed, which is taken too. */
static outcome take_line(machine *m, str *line) {
    for (size_t seen = 0;;) {
        size_t n = (size_t)(m->end - m->at);
        const char *feed = n > seen ? memchr(m->at + seen, '\n', n - seen) : NULL;
        if (feed) {
            *line = str_n(m->at, (size_t)(feed - m->at));
            m->at = feed + 1;
            return GO;
        }
        if (n > MAX_LINE_BYTES) return BAD;
        seen = n;
        outcome got = next_piece(m, PIECE_BYTES);
        if (got != GO) return got;
    }
}

/* Two lines may lie in two pieces: the first is copied. */
static outcome take_two_lines(machine *m) {
    outcome got = take_line(m, &m->bytes);
    if (got != GO) return got;
    buf_clear(&m->text);
    buf_add_str(&m->text, m->bytes);
    got = take_line(m, &m->more);
    if (!buf_ok(&m->text)) return fail(m, ERR_MEMORY);
    m->bytes = buf_str(&m->text);
    return got;
}

static outcome take_argument(machine *m, uint8_t argument) {
    enum { LONGEST_NUMBER = 16 };
    switch (argument) {
    case FIXED1: return take_fixed(m, 1);
    case FIXED2: return take_fixed(m, 2);
    case FIXED4: return take_fixed(m, 4);
    case FIXED8: return take_fixed(m, 8);
    case LINE: return take_line(m, &m->bytes);
    case LINES2: return take_two_lines(m);
    case TEXT1: return take_counted(m, 1, MAX_TEXT_BYTES);
    case TEXT4: return take_counted(m, 4, MAX_TEXT_BYTES);
    case TEXT8: return take_counted(m, 8, MAX_TEXT_BYTES);
    case BYTES1: return take_counted(m, 1, LONGEST_NUMBER);
    case BYTES4: return take_counted(m, 4, LONGEST_NUMBER);
    case BYTES8: return take_counted(m, 8, LONGEST_NUMBER);
    default: return GO;
    }
}

/* ---- the stack --------------------------------------------------------------------------- */

static size_t last_mark(const machine *m) {
    return m->marks.n ? VEC(&m->marks, uint32_t)[m->marks.n - 1] : 0;
}

/* Values above the last mark. */
static size_t height(const machine *m) {
    return m->stack.n - last_mark(m);
}

/* The n topmost values; the stack has room from the start, so this is a place even when it is
 * empty. */
static pickle_value *topmost(const machine *m, size_t n) {
    return VEC(&m->stack, pickle_value) + (m->stack.n - n);
}

static pickle_value *top(const machine *m) {
    return topmost(m, 1);
}

static outcome push(machine *m, pickle_value v) {
    if (m->stack.n >= MAX_STACK) return fail(m, ERR_LIMIT);
    pickle_value *place = vec_push(&m->stack);
    if (!place) return fail(m, ERR_MEMORY);
    *place = v;
    return GO;
}

static outcome push_made(machine *m, status st, pickle_value v) {
    return st == OK ? push(m, v) : fail(m, st);
}

static outcome push_mark(machine *m) {
    if (m->marks.n >= MAX_MARKS) return fail(m, ERR_LIMIT);
    uint32_t *place = vec_push(&m->marks);
    if (!place) return fail(m, ERR_MEMORY);
    *place = (uint32_t)m->stack.n;
    return GO;
}

/* Takes everything above the last mark, and the mark. */
static outcome pop_to_mark(machine *m) {
    if (m->marks.n == 0) return BAD;
    m->stack.n = last_mark(m);
    m->marks.n--;
    return GO;
}

static outcome push_empty(machine *m, int tag) {
    pickle_value v = PICKLE_ABSENT;
    status st = pickle_make_node(m->p, tag, &v);
    return push_made(m, st, v);
}

/* The n topmost values become one list or dictionary in their place. */
static outcome gather(machine *m, int tag, size_t n) {
    pickle_value v = PICKLE_ABSENT;
    if (height(m) < n) return BAD;
    if (tag == TAG_DICT && n % 2) return BAD;
    status st = pickle_make_node(m->p, tag, &v);
    if (st == OK) st = pickle_add(m->p, v, topmost(m, n), n);
    m->stack.n -= n;
    return push_made(m, st, v);
}

static outcome gather_to_mark(machine *m, int tag) {
    if (m->marks.n == 0) return BAD;
    size_t n = height(m);
    m->marks.n--;
    return gather(m, tag, n);
}

/* The n topmost values go into the list or dictionary below them. */
static outcome add_top(machine *m, int tag, size_t n) {
    if (height(m) < n + 1 || (tag == TAG_DICT && n % 2)) return BAD;
    pickle_value to = *topmost(m, n + 1);
    if ((int)(to & TAG_MASK) != tag) return BAD;
    status st = pickle_add(m->p, to, topmost(m, n), n);
    m->stack.n -= n;
    return done(m, st);
}

static outcome add_to_mark(machine *m, int tag) {
    if (m->marks.n == 0) return BAD;
    size_t n = height(m);
    m->marks.n--;
    return add_top(m, tag, n);
}

/* Elements of a set are dropped: it is opaque. */
static outcome add_to_set(machine *m) {
    outcome got = pop_to_mark(m);
    return got != GO ? got : height(m) && *top(m) == VALUE_OPAQUE ? GO : BAD;
}

/* ---- memo -------------------------------------------------------------------------------- */

static outcome get_memo(machine *m, uint64_t number) {
    if (number >= m->memo.n) return BAD;
    pickle_value v = VEC(&m->memo, pickle_value)[number];
    return v == PICKLE_ABSENT ? BAD : push(m, v);
}

static outcome put_memo(machine *m, uint64_t number) {
    if (!height(m) || number >= offset_of(m) + MEMO_SLACK) return BAD;
    while (m->memo.n <= number) {
        pickle_value *place = vec_push(&m->memo);
        if (!place) return fail(m, ERR_MEMORY);
        *place = PICKLE_ABSENT;
    }
    pickle_value *place = &VEC(&m->memo, pickle_value)[number];
    m->n_memo += *place == PICKLE_ABSENT;
    *place = *top(m);
    return GO;
}

static bool line_number(const machine *m, uint64_t *out) {
    int64_t v;
    if (!str_to_i64(m->bytes, &v) || v < 0) return false;
    *out = (uint64_t)v;
    return true;
}

/* ---- numbers and texts ------------------------------------------------------------------- */

static outcome push_i64(machine *m, int64_t v) {
    pickle_value made = PICKLE_ABSENT;
    status st = pickle_make_i64(m->p, v, &made);
    return push_made(m, st, made);
}

static outcome push_f64(machine *m, double v) {
    pickle_value made = PICKLE_ABSENT;
    status st = pickle_make_f64(m->p, v, &made);
    return push_made(m, st, made);
}

static outcome push_text(machine *m, str text) {
    pickle_value made = PICKLE_ABSENT;
    if (!text.p) return push(m, VALUE_OPAQUE); /* too long */
    status st = pickle_make_text(m->p, text, &made);
    return push_made(m, st, made);
}

/* Little-endian two's complement of any length. */
static outcome push_long(machine *m) {
    pickle_value made = PICKLE_ABSENT;
    str s = m->bytes;
    if (!s.p) return push(m, VALUE_OPAQUE);
    bool negative = s.n && (uint8_t)s.p[s.n - 1] >= 0x80;
    uint64_t v = negative ? UINT64_MAX : 0;
    for (size_t i = s.n; COUNT_DOWN(i);) {
        uint8_t byte = (uint8_t)s.p[i];
        if (i >= 8 && byte != (negative ? 0xff : 0)) return push(m, VALUE_OPAQUE);
        if (i < 8) v = v << 8 | byte;
    }
    bool fits = s.n <= 8 || (v >> 63) == negative;
    if (!fits && negative) return push(m, VALUE_OPAQUE);
    status st = negative || fits ? pickle_make_i64(m->p, (int64_t)v, &made)
                                 : pickle_make_u64(m->p, v, &made);
    return push_made(m, st, made);
}

/* "123", "123L", or "00" and "01", which are False and True. */
static outcome push_int_line(machine *m) {
    int64_t v;
    str s = str_trim(m->bytes);
    if (str_eq(s, STR("00"))) return push(m, VALUE_FALSE);
    if (str_eq(s, STR("01"))) return push(m, VALUE_TRUE);
    if (s.n && s.p[s.n - 1] == 'L') s.n--;
    if (str_to_i64(s, &v)) return push_i64(m, v);
    bool digits = s.n > 1;
    uint64_t u = 0;
    for (size_t i = 0; i < s.n; i++) {
        bool sign = i == 0 && s.p[i] == '-';
        digits &= sign || (s.p[i] >= '0' && s.p[i] <= '9');
    }
    if (!digits) return BAD;
    for (size_t i = 0; i < s.n; i++)
        if (s.p[0] == '-' || __builtin_mul_overflow(u, 10, &u) ||
            __builtin_add_overflow(u, (uint64_t)(s.p[i] - '0'), &u))
            return push(m, VALUE_OPAQUE);
    pickle_value made = PICKLE_ABSENT;
    status st = pickle_make_u64(m->p, u, &made);
    return push_made(m, st, made);
}

static outcome push_float_line(machine *m) {
    double v;
    str s = str_trim(m->bytes);
    if (str_to_f64(s, &v)) return push_f64(m, v);
    if (s.n > 8 || !(str_ends(s, STR("inf")) || str_ends(s, STR("nan")))) return BAD;
    return push(m, VALUE_OPAQUE);
}

static outcome push_escaped(machine *m) {
    pickle_text_escaped(m->bytes, &m->text);
    if (!buf_ok(&m->text)) return fail(m, ERR_MEMORY);
    return push_text(m, m->text.n ? buf_str(&m->text) : STR(""));
}

static outcome push_quoted(machine *m) {
    if (!pickle_text_quoted(str_trim(m->bytes), &m->text)) return BAD;
    if (!buf_ok(&m->text)) return fail(m, ERR_MEMORY);
    return push_text(m, m->text.n ? buf_str(&m->text) : STR(""));
}

/* ---- instructions ------------------------------------------------------------------------ */

/* Names what would have been imported or called. */
static outcome refuse(machine *m, const instruction *op) {
    str module = STR_NONE, name = str_of(op->name);
    char text[200];
    if (op->argument == LINES2) {
        module = m->bytes;
        name = m->more;
    } else if (strcmp(op->name, "STACK_GLOBAL") == 0 && height(m) >= 2) {
        str function;
        if (pickle_text(m->p, *topmost(m, 2), &module) && pickle_text(m->p, *top(m), &function))
            name = function;
    }
    if (module.n > 90) module.n = 90;
    if (name.n > 90) name.n = 90;
    int n = snprintf(text, sizeof text, "%.*s%s%.*s", STR_ARG(module), module.n ? "." : "",
                     STR_ARG(name));
    return fail_said(m,
                     error_set(m->err, ERR_UNSUPPORTED, offset_of(m), MSG_PICKLE_CALLS, 1,
                               (arg[]){arg_text("name", str_n(text, n > 0 ? (size_t)n : 0))}));
}

static outcome check_protocol(machine *m) {
    if (m->number <= MAX_PROTOCOL) return GO;
    return fail_said(m, error_set(m->err, ERR_UNSUPPORTED, offset_of(m), MSG_PICKLE_PROTOCOL, 1,
                                  (arg[]){arg_int("protocol", (int64_t)m->number)}));
}

/* Instructions that make a new value. */
static outcome make_value(machine *m, uint8_t action) {
    double d;
    switch (action) {
    case DO_FLOAT_LINE: return push_float_line(m);
    case DO_FLOAT: /* big-endian, the only one of them */
        m->number = __builtin_bswap64(m->number);
        memcpy(&d, &m->number, sizeof d);
        return push_f64(m, d);
    case DO_INT_LINE: return push_int_line(m);
    case DO_INT4: return push_i64(m, (int32_t)(uint32_t)m->number);
    case DO_INT: return push_i64(m, (int64_t)m->number);
    case DO_LONG: return push_long(m);
    case DO_NONE: return push(m, VALUE_NONE);
    case DO_TRUE: return push(m, VALUE_TRUE);
    case DO_FALSE: return push(m, VALUE_FALSE);
    case DO_TEXT_QUOTED: return push_quoted(m);
    case DO_TEXT: return push_text(m, m->bytes);
    case DO_TEXT_ESCAPED: return push_escaped(m);
    case DO_EMPTY_LIST: return push_empty(m, TAG_LIST);
    case DO_EMPTY_DICT: return push_empty(m, TAG_DICT);
    default: return push(m, VALUE_OPAQUE); /* DO_OPAQUE, DO_EMPTY_SET */
    }
}

/* What works on values there are. A table in the form of a switch, hence its length. */
static outcome run_action(machine *m, const instruction *op) {
    outcome got;
    switch (op->action) {
    case DO_UNKNOWN: return BAD;
    case DO_REFUSE: return refuse(m, op);
    case DO_NOTHING: return GO;
    case DO_PROTO: return check_protocol(m);
    case DO_MARK: return push_mark(m);
    case DO_STOP: return height(m) && m->marks.n == 0 ? STOPPED : BAD;
    case DO_POP:
        if (!height(m)) return pop_to_mark(m); /* as Python does: a mark alone is popped, too */
        m->stack.n--;
        return GO;
    case DO_POP_MARK: return pop_to_mark(m);
    case DO_DUP: return height(m) ? push(m, *top(m)) : BAD;
    case DO_LIST: return gather_to_mark(m, TAG_LIST);
    case DO_DICT: return gather_to_mark(m, TAG_DICT);
    case DO_FROZENSET: got = pop_to_mark(m); return got == GO ? push(m, VALUE_OPAQUE) : got;
    case DO_TUPLE1: return gather(m, TAG_LIST, 1);
    case DO_TUPLE2: return gather(m, TAG_LIST, 2);
    case DO_TUPLE3: return gather(m, TAG_LIST, 3);
    case DO_APPEND: return add_top(m, TAG_LIST, 1);
    case DO_APPENDS: return add_to_mark(m, TAG_LIST);
    case DO_SETITEM: return add_top(m, TAG_DICT, 2);
    case DO_SETITEMS: return add_to_mark(m, TAG_DICT);
    case DO_ADDITEMS: return add_to_set(m);
    case DO_GET: return get_memo(m, m->number);
    case DO_GET_LINE: return line_number(m, &m->number) ? get_memo(m, m->number) : BAD;
    case DO_PUT: return put_memo(m, m->number);
    case DO_PUT_LINE: return line_number(m, &m->number) ? put_memo(m, m->number) : BAD;
    case DO_MEMOIZE: return put_memo(m, m->n_memo);
    default: return make_value(m, op->action);
    }
}

/* An empty list or dictionary; PICKLE_ABSENT when its column has to grow first. */
static pickle_value make_empty(pickle *p, int tag) {
    if (p->nodes.n >= p->nodes.cap || p->nodes.n >= MAX_INDEX) return PICKLE_ABSENT;
    VEC(&p->nodes, pickle_node)[p->nodes.n] = (pickle_node){0, 0, 0};
    return VALUE(tag, p->nodes.n++);
}

/* A number that its column holds; PICKLE_ABSENT as above. */
static pickle_value make_wide(pickle *p, int tag, uint64_t bits) {
    if (p->numbers.n >= p->numbers.cap || p->numbers.n >= MAX_INDEX) return PICKLE_ABSENT;
    VEC(&p->numbers, uint64_t)[p->numbers.n] = bits;
    return VALUE(tag, p->numbers.n++);
}

static pickle_value make_int(pickle *p, int64_t v) {
    const int64_t most = (int64_t)MAX_INDEX / 2;
    return v >= -most && v < most ? VALUE(TAG_SMALL, (uint32_t)v)
                                  : make_wide(p, TAG_I64, (uint64_t)v);
}

static bool put_simple(machine *m, uint32_t number, pickle_value v) {
    if (number != m->memo.n || number >= m->memo.cap) return false;
    VEC(&m->memo, pickle_value)[m->memo.n++] = v;
    m->n_memo++;
    return true;
}

static bool mark_simple(machine *m, size_t height) {
    if (m->marks.n >= m->marks.cap || m->marks.n >= MAX_MARKS) return false;
    VEC(&m->marks, uint32_t)[m->marks.n++] = (uint32_t)height;
    return true;
}

/* The instructions that most of a pickle consists of, without the ways that others need: what
 * was made before, numbers, what is empty, and notes in the memo in their order. Ends at any
 * other, at the end of the piece, and where something has to grow. */
static void run_simple(machine *m) {
    enum { BINGET = 'h', LONG_BINGET = 'j', BINPUT = 'q', LONG_BINPUT = 'r', MARK = '(' };
    enum {
        BININT1 = 'K',
        BININT2 = 'M',
        BININT = 'J',
        BINFLOAT = 'G',
        NEWTRUE = 0x88,
        NEWFALSE = 0x89,
        LONG1 = 0x8a
    };
    enum { EMPTY_LIST = ']', EMPTY_DICT = '}', LONGEST = 10 };
    const char *at = m->at, *end = m->end;
    pickle_value *stack = VEC(&m->stack, pickle_value), *memo = VEC(&m->memo, pickle_value);
    size_t bottom = last_mark(m), n = m->stack.n, size = 1;
    const size_t most = m->stack.cap < MAX_STACK ? m->stack.cap : MAX_STACK;
    for (; end - at >= LONGEST && n < most && size; at += size) {
        const unsigned char *p = (const unsigned char *)at;
        uint32_t number = p[1];
        pickle_value v = PICKLE_ABSENT; /* to push */
        size = 1;
        if (*p == BINGET) { /* half of them */
            if (number >= m->memo.n || memo[number] == PICKLE_ABSENT) break;
            stack[n++] = memo[number];
            size = 2;
            continue;
        }
        switch (*p) {
        case LONG_BINGET:
            number = (uint32_t)read_le(at + 1, 4);
            if (number < m->memo.n) v = memo[number];
            size = 5;
            break;
        case LONG_BINPUT: number = (uint32_t)read_le(at + 1, 4); /* fall through */
        case BINPUT:
            size = *p == BINPUT ? 2 : 5;
            if (n <= bottom || !put_simple(m, number, stack[n - 1])) size = 0;
            continue;
        case MARK:
            size = mark_simple(m, n);
            if (size) bottom = n;
            continue;
        case BININT1:
            v = VALUE(TAG_SMALL, number);
            size = 2;
            break;
        case BININT2:
            v = VALUE(TAG_SMALL, number | (uint32_t)p[2] << 8);
            size = 3;
            break;
        case BININT:
            v = make_int(m->p, (int32_t)(uint32_t)read_le(at + 1, 4));
            size = 5;
            break;
        case BINFLOAT: /* big-endian, the only one of them */
            v = make_wide(m->p, TAG_F64, __builtin_bswap64(read_le(at + 1, 8)));
            size = 9;
            break;
        case NEWTRUE: v = VALUE_TRUE; break;
        case NEWFALSE: v = VALUE_FALSE; break;
        case EMPTY_LIST: v = make_empty(m->p, TAG_LIST); break;
        case EMPTY_DICT: v = make_empty(m->p, TAG_DICT); break;
        case LONG1:
            if (number == 8) v = make_int(m->p, (int64_t)read_le(at + 2, 8));
            size = LONGEST;
            break;
        default: break;
        }
        if (v == PICKLE_ABSENT) break;
        stack[n++] = v;
    }
    m->at = at;
    m->stack.n = n;
}

static outcome run(machine *m) {
    for (;;) {
        run_simple(m);
        outcome got = need(m, 1);
        if (got != GO) return got;
        const instruction *op = &INSTRUCTIONS[(uint8_t)*m->at++];
        got = take_argument(m, op->argument);
        if (got == GO) got = run_action(m, op);
        if (got != GO) return got;
    }
}

/* ---- the end ----------------------------------------------------------------------------- */

/* The topmost value goes where it seems to belong: into the list below it, or with the text
 * below it into the dictionary below that. Otherwise it is dropped. */
static status close_top(machine *m) {
    size_t n = height(m);
    pickle_value *v = top(m);
    status st = OK;
    if (n > 1 && (v[-1] & TAG_MASK) == TAG_LIST) {
        st = pickle_add(m->p, v[-1], v, 1);
    } else if (n > 2 && (v[-1] & TAG_MASK) == TAG_TEXT && (v[-2] & TAG_MASK) == TAG_DICT) {
        st = pickle_add(m->p, v[-2], v - 1, 2);
        m->stack.n--;
    }
    m->stack.n--;
    return st;
}

/* Closes what an early end left open, from the inside out. */
static status close_all(machine *m) {
    status st = OK;
    m->p->is_cut = true;
    while (m->marks.n && st == OK) {
        size_t from = last_mark(m), n = height(m);
        m->marks.n--;
        m->stack.n = from;
        if (!height(m)) continue;
        pickle_value to = *top(m);
        int tag = to & TAG_MASK;
        if (tag == TAG_DICT) n -= n % 2;
        if (tag == TAG_LIST || tag == TAG_DICT) st = pickle_add(m->p, to, top(m) + 1, n);
    }
    while (m->stack.n > 1 && st == OK) st = close_top(m);
    return st;
}

/* The sentence for an outcome that has none yet. */
static status explain(machine *m, outcome how) {
    if (how == BAD)
        FAIL(m->err, ERR_FORMAT, offset_of(m), MSG_PICKLE_DAMAGED,
             arg_int("offset", sat_i64(offset_of(m))));
    if (m->status == ERR_MEMORY) FAIL_MEMORY(m->err);
    if (m->status == ERR_LIMIT && !m->said)
        FAIL0(m->err, ERR_LIMIT, NOPOS, MSG_PICKLE_TOO_LARGE);
    return m->status;
}

static status finish(machine *m, outcome how) {
    if (how == CUT) {
        status st = close_all(m);
        m->at = m->end;
        if (st != OK) how = fail(m, st);
    }
    if (how == BAD || how == FAILED) return explain(m, how);
    m->p->root =
        m->stack.n ? *(how == CUT ? VEC(&m->stack, pickle_value) : top(m)) : VALUE_NONE;
    m->p->input_bytes = offset_of(m);
    if (how == CUT) return OK;
    outcome more = need(m, 1);
    m->p->has_more = more == GO;
    return more == FAILED ? explain(m, more) : OK;
}

status pickle_read(source *src, const ingest_options *o, pickle **out, error *err) {
    machine m = {.p = pickle_new(), .src = src, .o = o, .err = err};
    if (!m.p) FAIL_MEMORY(err);
    m.stack = VEC_INIT(pickle_value);
    m.marks = VEC_INIT(uint32_t);
    m.memo = VEC_INIT(pickle_value);
    outcome how = vec_reserve(&m.stack, 1) == OK ? run(&m) : fail(&m, ERR_MEMORY);
    status st = finish(&m, how);
    source_release(src, &m.pc);
    vec_fini(&m.stack);
    vec_fini(&m.marks);
    vec_fini(&m.memo);
    buf_fini(&m.text);
    if (st != OK)
        pickle_free(m.p);
    else
        *out = m.p;
    return st;
}
