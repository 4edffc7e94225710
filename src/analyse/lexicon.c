/* lexicon.c: looks names up in lexicon.def.
 *
 * The name of a kernel is made lower case and freed of what every compiler adds (`void `,
 * enable_if, `.kd`), then the rows are tried in their order. Templates can make names of many
 * thousand characters; what a kernel is is at the start, so only the first part is looked at.
 *
 * Of a mangled name only the scopes at the start are taken apart, so that words at the start of
 * an identifier are found there; the rest has the same words as the demangled name. */
#include "analyse/lexicon.h"

#include "base/num.h"

enum { LOOK_BYTES = 2048, PAIR_BITS = 1024 };

/* A name and which pairs of neighboring characters it has: nearly all of the hundred or so
 * words are ruled out by that, without a search. */
typedef struct {
    str text;
    uint64_t pairs[PAIR_BITS / 64];
} looked_up;

typedef struct {
    const char *pattern;
    uint8_t class, matrix;
} lexicon_row;

static const lexicon_row kernel_rows[] = {
#define KERNEL(class, matrix, pattern) {pattern, CLASS_##class, MATRIX_##matrix},
#include "analyse/lexicon.def"
};

static const lexicon_row type_rows[] = {
#define TYPE(type, pattern) {pattern, DTYPE_##type, 0},
#include "analyse/lexicon.def"
};

static const lexicon_row op_rows[] = {
#define OP(class, pattern) {pattern, CLASS_##class, 0},
#include "analyse/lexicon.def"
};

static const lexicon_row name_rows[] = {
#define NAME(meaning, pattern) {pattern, MEANS_##meaning, 0},
#include "analyse/lexicon.def"
};

/* Takes the next piece up to a separator off the front of *rest. */
static str next_piece(str *rest, char separator) {
    const char *at = memchr(rest->p, separator, rest->n);
    str piece = str_n(rest->p, at ? (size_t)(at - rest->p) : rest->n);
    *rest = str_from(*rest, at ? piece.n + 1 : piece.n);
    return piece;
}

static uint32_t pair_bit(const char *p) {
    return ((uint8_t)p[0] * 37u + (uint8_t)p[1]) % PAIR_BITS;
}

static looked_up look_up(str name) {
    looked_up l = {.text = name};
    for (size_t i = 1; i < name.n; i++) {
        uint32_t bit = pair_bit(name.p + i - 1);
        l.pairs[bit / 64] |= 1ull << bit % 64;
    }
    return l;
}

static bool may_contain(const looked_up *l, str word) {
    for (size_t i = 1; i < word.n; i++) {
        uint32_t bit = pair_bit(word.p + i - 1);
        if (!(l->pairs[bit / 64] >> bit % 64 & 1)) return false;
    }
    return true;
}

static bool word_fits(const looked_up *l, str word) {
    str name = l->text;
    bool start = word.p[0] == '^', end = word.p[word.n - 1] == '$';
    if (start && end) return str_eq(name, str_n(word.p + 1, word.n - 2));
    if (start) return str_starts(name, str_from(word, 1));
    if (end) return str_ends(name, str_n(word.p, word.n - 1));
    return may_contain(l, word) && str_find(name, word, 0) != SIZE_MAX;
}

static bool any_fits(const looked_up *name, str words) {
    while (words.n)
        if (word_fits(name, next_piece(&words, '|'))) return true;
    return false;
}

static bool pattern_fits(const looked_up *name, str pattern) {
    while (pattern.n) {
        str words = next_piece(&pattern, ' ');
        bool unwanted = words.p[0] == '!';
        if (any_fits(name, unwanted ? str_from(words, 1) : words) == unwanted) return false;
    }
    return true;
}

static const lexicon_row *find_row(const looked_up *name, const lexicon_row *rows, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (pattern_fits(name, str_of(rows[i].pattern))) return &rows[i];
    return NULL;
}

/* The part of a name that says what it is. */
static str bare_name(str name) {
    if (str_starts(name, STR("std::enable_if"))) {
        size_t end = str_find(name, STR(">::type "), 0);
        if (end != SIZE_MAX) name = str_from(name, end + 8);
    }
    if (str_starts(name, STR("void "))) name = str_from(name, 5);
    static const str tails[] = {STR(" [clone .kd]"), STR(".kd")};
    for (size_t i = 0; i < N_OF(tails); i++)
        if (str_ends(name, tails[i])) name.n -= tails[i].n;
    return name;
}

/* Appends in lower case, as much as there is room for. */
static size_t append_lower(str text, char out[LOOK_BYTES], size_t at) {
    for (size_t i = 0; i < text.n && at < LOOK_BYTES; i++) {
        char c = text.p[i];
        out[at++] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    return at;
}

static str lower_case(str name, char out[LOOK_BYTES]) {
    return str_n(out, append_lower(name, out, 0));
}

/* Takes an identifier with its length in front (`5aiter`) off a mangled name; empty when there
 * is none. */
static str next_identifier(str *rest) {
    size_t digits = 0, length = 0;
    for (; digits < rest->n && digits < 4 && rest->p[digits] >= '0' && rest->p[digits] <= '9';
         digits++)
        length = length * 10 + (size_t)(rest->p[digits] - '0');
    if (!length || length > rest->n - digits) return str_n(rest->p, 0);
    str found = str_n(rest->p + digits, length);
    *rest = str_from(*rest, digits + length);
    return found;
}

/* `_ZN5aiter8mla_a8w8E` as `aiter::mla_a8w8`, `_Z4axpyPf` as `axpypf`; other names as they
 * are. */
static str take_scopes_apart(str name, char out[LOOK_BYTES]) {
    str rest = name.n && name.p[0] == '_' ? str_from(name, 1) : name;
    if (!str_starts(rest, STR("Z"))) return lower_case(name, out);
    bool nested = str_starts(rest, STR("ZN"));
    rest = str_from(rest, nested ? 2 : 1);
    str part = next_identifier(&rest);
    if (!part.n) return lower_case(name, out);
    size_t n = append_lower(part, out, 0);
    while (nested && (part = next_identifier(&rest)).n)
        n = append_lower(part, out, append_lower(STR("::"), out, n));
    if (nested && str_starts(rest, STR("E"))) rest = str_from(rest, 1);
    return str_n(out, append_lower(rest, out, n));
}

/* Classes whose work is on matrix cores, if the data type allows it. */
static bool is_matrix_work(uint8_t class) {
    return class == CLASS_GEMM || class == CLASS_CONVOLUTION || class == CLASS_ATTENTION ||
           class == CLASS_MOE;
}

lexicon_entry lexicon_kernel(str name) {
    char text[LOOK_BYTES];
    looked_up plain = look_up(take_scopes_apart(bare_name(name), text));
    const lexicon_row *row = find_row(&plain, kernel_rows, N_OF(kernel_rows));
    lexicon_entry e = {0};
    if (!row) return e;
    e.class = row->class;
    e.matrix = row->matrix;
    if (is_matrix_work(e.class)) {
        const lexicon_row *type = find_row(&plain, type_rows, N_OF(type_rows));
        if (type) e.type = type->class;
    }
    if (e.matrix == MATRIX_BY_TYPE && lexicon_is_narrow(e.type)) e.matrix = MATRIX_YES;
    return e;
}

/* What an operator is; CLASS_UNKNOWN for most. */
static kernel_class op_class_of(str name) {
    char text[LOOK_BYTES];
    looked_up lower = look_up(lower_case(name, text));
    const lexicon_row *row = find_row(&lower, op_rows, N_OF(op_rows));
    return row ? row->class : CLASS_UNKNOWN;
}

bool lexicon_means(str name, name_meaning meaning) {
    looked_up asked = look_up(name);
    for (size_t i = 0; i < N_OF(name_rows); i++)
        if (name_rows[i].class == meaning && pattern_fits(&asked, str_of(name_rows[i].pattern)))
            return true;
    return false;
}

uint64_t lexicon_meanings(str name) {
    looked_up asked = look_up(name);
    uint64_t found = 0;
    for (size_t i = 0; i < N_OF(name_rows); i++) {
        uint64_t bit = 1ull << name_rows[i].class;
        if (!(found & bit) && pattern_fits(&asked, str_of(name_rows[i].pattern))) found |= bit;
    }
    return found;
}

#define LOOKED_AT (1ull << 63)
_Static_assert(N_MEANINGS < 63, "a bit of its own for each meaning");

status name_meanings_init(name_meanings *m, const trace *t, arena *a, error *err) {
    *m = (name_meanings){.t = t, .known = ARENA_ARRAY(a, uint64_t, (size_t)t->n_strings + 1)};
    if (!m->known) FAIL_MEMORY(err);
    return OK;
}

uint64_t name_meanings_of(name_meanings *m, uint32_t slice) {
    uint32_t name = m->t->slice.name[slice];
    if (name >= m->t->n_strings) return 0;
    if (!m->known[name]) m->known[name] = lexicon_meanings(trace_str(m->t, name)) | LOOKED_AT;
    return m->known[name];
}

bool is_library_op(name_meanings *m, uint32_t slice) {
    return m->t->slice.kind[slice] == KIND_OP &&
           !(name_meanings_of(m, slice) & MEANING(ENGINE)) &&
           str_find(trace_slice_name(m->t, slice), STR("::"), 0) != SIZE_MAX;
}

kernel_type lexicon_input_type(str types) {
    static const struct {
        const char *word;
        kernel_type type;
    } words[] = {
        {"Float4", DTYPE_FP4},      {"Float8", DTYPE_FP8},     {"float8", DTYPE_FP8},
        {"BFloat16", DTYPE_BF16},   {"bfloat16", DTYPE_BF16},  {"c10::Half", DTYPE_FP16},
        {"Half", DTYPE_FP16},       {"float16", DTYPE_FP16},   {"\"float\"", DTYPE_FP32},
        {"float32", DTYPE_FP32},    {"\"Float\"", DTYPE_FP32}, {"\"double\"", DTYPE_FP64},
        {"\"Double\"", DTYPE_FP64}, {"float64", DTYPE_FP64}};
    for (size_t i = 0; i < N_OF(words); i++)
        if (str_find(types, str_of(words[i].word), 0) != SIZE_MAX) return words[i].type;
    return DTYPE_UNKNOWN;
}

bool lexicon_is_narrow(kernel_type type) {
    return type >= DTYPE_FP4 && type <= DTYPE_FP16;
}

str kernel_class_word(kernel_class class) {
    static const char *const words[CLASS_ROPE] = {
        NULL,        "gemm",        "convolution",   "attention",   "normalization",
        "softmax",   "elementwise", "reduction",     "copy",        "embedding",
        "optimizer", "moe",         "communication", "moe_routing", "kv_cache",
        "sampling",  "quantization"};
    if (class == CLASS_UNKNOWN || class >= N_CLASSES) return STR_NONE;
    return str_of(class < CLASS_ROPE ? words[class] : "other");
}

/* ---- by string id ---- */

status lexicon_init(lexicon *l, const trace *t, arena *a, error *err) {
    size_t n = (size_t)t->n_strings + 1;
    TRY(trace_require(t, TRACE_TABLE(slice) | TRACE_TABLE(kernel) | TRACE_TABLE(op), err));
    *l = (lexicon){.t = t,
                   .known = ARENA_ARRAY(a, uint8_t, n),
                   .entry = ARENA_ARRAY(a, lexicon_entry, n),
                   .type = ARENA_ARRAY(a, uint8_t, n),
                   .op_class = ARENA_ARRAY(a, uint8_t, n)};
    if (!l->known || !l->entry || !l->type || !l->op_class) FAIL_MEMORY(err);
    return OK;
}

lexicon_entry lexicon_name_id(lexicon *l, uint32_t name) {
    if (name >= l->t->n_strings) return (lexicon_entry){0};
    if (!l->known[name]) {
        l->entry[name] = lexicon_kernel(trace_str(l->t, name));
        l->known[name] = 1;
    }
    return l->entry[name];
}

static kernel_type type_id(lexicon *l, uint32_t types) {
    if (!types || types >= l->t->n_strings) return DTYPE_UNKNOWN;
    if (!l->type[types])
        l->type[types] = (uint8_t)(lexicon_input_type(trace_str(l->t, types)) + 1);
    return (kernel_type)(l->type[types] - 1);
}

static uint8_t op_class_id(lexicon *l, uint32_t name) {
    if (name >= l->t->n_strings) return CLASS_UNKNOWN;
    if (!l->op_class[name])
        l->op_class[name] = (uint8_t)(op_class_of(trace_str(l->t, name)) + 1);
    return (uint8_t)(l->op_class[name] - 1);
}

lexicon_entry lexicon_kernel_row(lexicon *l, uint32_t kernel) {
    const trace *t = l->t;
    lexicon_entry e = lexicon_name_id(l, t->slice.name[t->kernel.slice[kernel]]);
    uint32_t op = t->kernel.op[kernel], row = op ? trace_op_of(t, op) : 0;
    if (op && e.class == CLASS_UNKNOWN) e.class = op_class_id(l, t->slice.name[op]);
    if (row && (e.matrix == MATRIX_BY_TYPE || !e.type)) {
        kernel_type type = type_id(l, t->op.types[row]);
        if (type && is_matrix_work(e.class)) e.type = (uint8_t)type;
        if (e.matrix == MATRIX_BY_TYPE && lexicon_is_narrow(type)) e.matrix = MATRIX_YES;
    }
    bool cube = t->device.n > 1 && t->device.type[1] == DEVICE_ASCEND;
    if (e.matrix == MATRIX_ON_CUBE && cube) e.matrix = MATRIX_YES;
    if (e.matrix == MATRIX_BY_TYPE || e.matrix == MATRIX_ON_CUBE) e.matrix = MATRIX_UNKNOWN;
    return e;
}
