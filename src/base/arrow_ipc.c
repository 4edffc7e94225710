/* arrow_ipc.c: the messages of an Arrow stream.
 *
 *    0  -1, 4 bytes    4  i32 length M    8  a Message, a FlatBuffer, zeros up to 8 + M  blocks
 *
 * A FlatBuffer is written front to back. A table is its list of offsets (u16: its own length,
 * the table's, the place of each field), then the way back to that list and the fields; fields
 * of 8 bytes come first, and what is before them is 4 modulo 8, so all are aligned. What a
 * field refers to comes later, and its distance is filled in then. The numbers of fields, types
 * and messages are those of Arrow's Schema.fbs and Message.fbs, which never change. */
#include "base/arrow_ipc.h"

#include "base/json.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are written as they lie");

enum { ALIGNMENT = 64, MAX_SLOTS = 7 };
enum { METADATA_V5 = 4 };
enum { MESSAGE_SCHEMA = 1, MESSAGE_DICTIONARY = 2, MESSAGE_BATCH = 3 };
enum {
    TYPE_IS_INT = 2,
    TYPE_IS_FLOAT = 3,
    TYPE_IS_UTF8 = 5,
    TYPE_IS_BOOL = 6,
    TYPE_IS_LARGE_UTF8 = 20
};
enum { PRECISION_DOUBLE = 2 };

/* ---- FlatBuffers ------------------------------------------------------------------------- */

/* A field of a table: `bytes` 0 when it is absent, 4 with value 0 when it refers to
 * something. */
typedef struct {
    uint8_t bytes;
    uint64_t value;
} slot;

static const slot REFERENCE = {4, 0};
static const slot ABSENT = {0, 0};

static void align_to(buf *b, size_t bytes, size_t ahead) {
    buf_add_repeat(b, 0, (bytes - (b->n + ahead) % bytes) % bytes);
}

/* Writes a table; *at: the places of its fields. The place of the table is the result. */
static size_t add_table(buf *b, const slot *slots, uint32_t n, size_t at[MAX_SLOTS]) {
    uint16_t list[2 + MAX_SLOTS] = {(uint16_t)(4 + 2 * n), 4};
    size_t list_bytes = list[0];
    for (uint8_t bytes = 8; bytes; bytes /= 2) {
        for (uint32_t i = 0; i < n; i++) {
            if (slots[i].bytes != bytes) continue;
            list[2 + i] = list[1];
            list[1] = (uint16_t)(list[1] + bytes);
        }
    }
    align_to(b, 8, list_bytes + 4);
    buf_add(b, list, list_bytes);
    size_t place = b->n;
    int32_t back = (int32_t)list_bytes;
    buf_add(b, &back, sizeof back);
    for (uint8_t bytes = 8; bytes; bytes /= 2)
        for (uint32_t i = 0; i < n; i++)
            if (slots[i].bytes == bytes) buf_add(b, &slots[i].value, bytes);
    for (uint32_t i = 0; i < n; i++) at[i] = place + list[2 + i];
    return place;
}

/* Fills in the field at `from`: how far it is to `place`. */
static void refer(buf *b, size_t from, size_t place) {
    uint32_t distance = (uint32_t)(place - from);
    if (buf_ok(b)) memcpy(b->p + from, &distance, sizeof distance);
}

static size_t add_string(buf *b, str s) {
    uint32_t n = (uint32_t)arrow_text_bytes(s);
    align_to(b, 4, 0);
    size_t place = b->n;
    buf_add(b, &n, sizeof n);
    arrow_add_text(b, s);
    buf_add_byte(b, 0);
    return place;
}

/* A list of n references, to be filled in; the first is 4 bytes after its place. */
static size_t add_list(buf *b, uint32_t n) {
    align_to(b, 4, 0);
    size_t place = b->n;
    buf_add(b, &n, sizeof n);
    buf_add_repeat(b, 0, (size_t)n * 4);
    return place;
}

/* ---- messages ---------------------------------------------------------------------------- */

static uint64_t room(uint64_t n) {
    return (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Begins the FlatBuffer with its Message; the place where it refers to the header. */
static size_t begin_message(buf *b, uint8_t kind, uint64_t body_bytes) {
    size_t at[MAX_SLOTS];
    const slot slots[] = {{2, METADATA_V5}, {1, kind}, REFERENCE, {8, body_bytes}};
    buf_add_repeat(b, 0, 4);
    size_t place = add_table(b, slots, 4, at);
    refer(b, 0, place);
    return at[2];
}

static void end_message(buf *out, buf *b) {
    const int32_t whole = -1;
    buf_add_repeat(b, 0, (size_t)(room(b->n + 8) - 8 - b->n));
    int32_t n = (int32_t)b->n;
    buf_add(out, &whole, sizeof whole);
    buf_add(out, &n, sizeof n);
    buf_add_str(out, buf_str(b));
    if (!buf_ok(b)) out->failed = true;
    buf_fini(b);
}

void arrow_add_end(buf *out) {
    const int32_t end[2] = {-1, 0};
    buf_add(out, end, sizeof end);
}

void arrow_pad(buf *out, uint64_t n) {
    buf_add_repeat(out, 0, (size_t)(room(n) - n));
}

/* ---- the schema -------------------------------------------------------------------------- */

static void add_about(buf *b, size_t from, const arrow_pair *about, uint32_t n) {
    size_t at[MAX_SLOTS];
    const slot slots[] = {REFERENCE, REFERENCE};
    uint32_t n_said = 0, k = 0;
    for (uint32_t i = 0; i < n; i++) n_said += about[i].value.p != NULL;
    size_t list = add_list(b, n_said);
    refer(b, from, list);
    for (uint32_t i = 0; i < n; i++) {
        if (!about[i].value.p) continue;
        refer(b, list + 4 + (size_t)k * 4, add_table(b, slots, 2, at));
        k++;
        refer(b, at[0], add_string(b, str_of(about[i].key)));
        refer(b, at[1], add_string(b, about[i].value));
    }
}

typedef struct {
    uint8_t is; /* of Arrow's union of types */
    uint8_t bits;
    bool is_signed;
} type_facts;

static const type_facts TYPES[] = {
    [ARROW_I64] = {TYPE_IS_INT, 64, true},
    [ARROW_U64] = {TYPE_IS_INT, 64, false},
    [ARROW_F64] = {TYPE_IS_FLOAT, 64, true},
    [ARROW_I32] = {TYPE_IS_INT, 32, true},
    [ARROW_U32] = {TYPE_IS_INT, 32, false},
    [ARROW_U16] = {TYPE_IS_INT, 16, false},
    [ARROW_U8] = {TYPE_IS_INT, 8, false},
    [ARROW_BOOL] = {TYPE_IS_BOOL, 1, false},
    [ARROW_TEXT] = {TYPE_IS_UTF8, 32, true},
    [ARROW_LONG_TEXT] = {TYPE_IS_LARGE_UTF8, 64, true},
    [ARROW_WORDS] = {TYPE_IS_UTF8, 32, true},
};

static size_t add_int_type(buf *b, uint8_t bits, bool is_signed) {
    size_t at[MAX_SLOTS];
    const slot slots[] = {{4, bits}, {1, is_signed}};
    return add_table(b, slots, 2, at);
}

static size_t add_type(buf *b, const type_facts *t) {
    size_t at[MAX_SLOTS];
    const slot precision[] = {{2, PRECISION_DOUBLE}};
    if (t->is == TYPE_IS_INT) return add_int_type(b, t->bits, t->is_signed);
    return add_table(b, precision, t->is == TYPE_IS_FLOAT ? 1 : 0, at);
}

/* How places in the dictionary are written: id, then the type of a place. */
static size_t add_encoding(buf *b, uint32_t id) {
    size_t at[MAX_SLOTS];
    const slot slots[] = {{8, id}, REFERENCE};
    size_t place = add_table(b, slots, 2, at);
    refer(b, at[1], add_int_type(b, 32, true));
    return place;
}

static size_t add_field(buf *b, const arrow_field *f, uint32_t id) {
    size_t at[MAX_SLOTS];
    const type_facts *t = &TYPES[f->type];
    bool has_words = f->type == ARROW_WORDS;
    const slot slots[] = {
        REFERENCE, {1, 1},   {1, t->is}, REFERENCE, has_words ? REFERENCE : ABSENT,
        REFERENCE, REFERENCE};
    size_t place = add_table(b, slots, 7, at);
    refer(b, at[0], add_string(b, str_of(f->name)));
    refer(b, at[3], add_type(b, t));
    if (has_words) refer(b, at[4], add_encoding(b, id));
    refer(b, at[5], add_list(b, 0)); /* children: none, but some readers want the list */
    add_about(b, at[6], f->about, f->n_about);
    return place;
}

void arrow_add_schema(buf *out, const arrow_field *fields, uint32_t n_fields,
                      const arrow_pair *about, uint32_t n_about) {
    buf b = {0};
    size_t at[MAX_SLOTS];
    const slot slots[] = {{2, 0}, REFERENCE, REFERENCE}; /* little-endian; fields; metadata */
    size_t header = begin_message(&b, MESSAGE_SCHEMA, 0);
    refer(&b, header, add_table(&b, slots, 3, at));
    size_t list = add_list(&b, n_fields);
    refer(&b, at[1], list);
    for (uint32_t i = 0; i < n_fields; i++)
        refer(&b, list + 4 + (size_t)i * 4, add_field(&b, &fields[i], i));
    add_about(&b, at[2], about, n_about);
    end_message(out, &b);
}

/* ---- rows -------------------------------------------------------------------------------- */

static bool has_text(arrow_type type) {
    return type == ARROW_TEXT || type == ARROW_LONG_TEXT;
}

arrow_blocks arrow_sizes(arrow_type type, uint64_t n, uint64_t n_nulls, uint64_t text) {
    arrow_blocks b = {.n_nulls = n_nulls, .validity = n_nulls ? arrow_bits(n) : 0};
    uint64_t bytes = TYPES[type].bits / 8;
    if (type == ARROW_BOOL)
        b.values = arrow_bits(n);
    else
        b.values = bytes * (has_text(type) ? n + 1 : n);
    b.text = has_text(type) ? text : 0;
    return b;
}

static uint64_t body_bytes(const arrow_blocks *blocks, uint32_t n) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += room(blocks[i].validity) + room(blocks[i].values) + room(blocks[i].text);
    return sum;
}

/* A list of n pairs of 64-bit numbers follows. */
static size_t begin_pairs(buf *b, uint32_t n) {
    align_to(b, 8, 4);
    size_t place = b->n;
    buf_add(b, &n, sizeof n);
    return place;
}

static void add_pair(buf *b, uint64_t first, uint64_t second) {
    buf_add(b, &first, sizeof first);
    buf_add(b, &second, sizeof second);
}

/* The next block of a body: where it is, and its length. */
static void add_block(buf *b, uint64_t *at, uint64_t n) {
    add_pair(b, *at, n);
    *at += room(n);
}

/* A RecordBatch: rows, nulls of each column, places of all blocks. */
static size_t add_rows(buf *b, const arrow_field *fields, const arrow_blocks *blocks,
                       uint32_t n, uint64_t n_rows) {
    size_t at[MAX_SLOTS];
    const slot slots[] = {{8, n_rows}, REFERENCE, REFERENCE};
    uint32_t n_blocks = 0;
    uint64_t offset = 0;
    size_t place = add_table(b, slots, 3, at);
    refer(b, at[1], begin_pairs(b, n));
    for (uint32_t i = 0; i < n; i++) add_pair(b, n_rows, blocks[i].n_nulls);
    for (uint32_t i = 0; i < n; i++) n_blocks += has_text(fields[i].type) ? 3 : 2;
    refer(b, at[2], begin_pairs(b, n_blocks));
    for (uint32_t i = 0; i < n; i++) {
        add_block(b, &offset, blocks[i].validity);
        add_block(b, &offset, blocks[i].values);
        if (has_text(fields[i].type)) add_block(b, &offset, blocks[i].text);
    }
    return place;
}

void arrow_add_dictionary(buf *out, uint32_t field, uint64_t n, const arrow_blocks *blocks) {
    buf b = {0};
    size_t at[MAX_SLOTS];
    const arrow_field texts = {.type = ARROW_TEXT};
    const slot slots[] = {{8, field}, REFERENCE};
    size_t header = begin_message(&b, MESSAGE_DICTIONARY, body_bytes(blocks, 1));
    refer(&b, header, add_table(&b, slots, 2, at));
    refer(&b, at[1], add_rows(&b, &texts, blocks, 1, n));
    end_message(out, &b);
}

void arrow_add_batch(buf *out, const arrow_field *fields, const arrow_blocks *blocks,
                     uint32_t n_fields, uint64_t n_rows) {
    buf b = {0};
    size_t header = begin_message(&b, MESSAGE_BATCH, body_bytes(blocks, n_fields));
    refer(&b, header, add_rows(&b, fields, blocks, n_fields, n_rows));
    end_message(out, &b);
}

/* ---- texts ------------------------------------------------------------------------------- */

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

uint64_t arrow_text_bytes(str s) {
    uint64_t n = 0;
    if (utf8_valid(s)) return s.n;
    for (size_t at = 0; at < s.n;) {
        size_t valid = str_utf8(s, at);
        n += valid ? valid : sizeof REPLACEMENT - 1;
        at += valid ? valid : 1;
    }
    return n;
}

void arrow_add_text(buf *out, str s) {
    if (utf8_valid(s)) {
        buf_add_str(out, s);
        return;
    }
    for (size_t at = 0; at < s.n;) {
        size_t valid = str_utf8(s, at);
        if (valid)
            buf_add(out, s.p + at, valid);
        else
            buf_add_cstr(out, REPLACEMENT);
        at += valid ? valid : 1;
    }
}
