/* execution_spelling.c: from an execution trace's words for inputs to Kineto's.
 *
 *     types                       Kineto
 *     Tensor(float)               float
 *     GenericList[Tensor(float)]  TensorList
 *     Int, Double, Bool           Scalar
 *     GenericList[Int,Int]        ScalarList
 *     None, Device, …             ""
 *
 * Shapes and strides are those of tensors and lists of tensors; of anything else they are [].
 * Inputs are the texts of numbers and lists of numbers; of anything else "". The same lists
 * come again in many nodes, so what was made of one is found by its text; only values name
 * tensors and are nearly always new. */
#include "ingest/pytorch/execution_spelling_int.h"

#include "base/json.h"

typedef enum {
    INPUT_TENSOR,
    INPUT_TENSORS,
    INPUT_NUMBER,
    INPUT_NUMBERS,
    INPUT_OTHER
} input_kind;

static input_kind kind_of(str type) {
    static const str numbers[] = {STR("Int"), STR("Double"), STR("Bool"), STR("Float")};
    static const str list = STR("GenericList[");
    if (str_starts(type, STR("Tensor("))) return INPUT_TENSOR;
    if (str_starts(type, list))
        return str_starts(str_from(type, list.n), STR("Tensor(")) ? INPUT_TENSORS
                                                                  : INPUT_NUMBERS;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (str_eq(type, numbers[i])) return INPUT_NUMBER;
    return INPUT_OTHER;
}

/* ---- one input --------------------------------------------------------------------------- */

static void spell_shape(str type, str value, buf *out) {
    input_kind kind = kind_of(type);
    if (kind == INPUT_TENSOR || kind == INPUT_TENSORS)
        buf_add_str(out, value.n ? value : STR("[]"));
    else
        buf_add_cstr(out, "[]");
}

static void spell_type(str type, str value, buf *out) {
    static const str words[] = {[INPUT_TENSORS] = STR("TensorList"),
                                [INPUT_NUMBER] = STR("Scalar"),
                                [INPUT_NUMBERS] = STR("ScalarList"),
                                [INPUT_OTHER] = STR("")};
    input_kind kind = kind_of(type);
    size_t close = kind == INPUT_TENSOR ? str_find(type, STR(")"), 0) : SIZE_MAX;
    str word = words[kind];
    (void)value;
    if (kind == INPUT_TENSOR) word = str_n(type.p + 7, close == SIZE_MAX ? 0 : close - 7);
    buf_add_json(out, word);
}

/* 1.000000 is 1., as Kineto has it. */
static str cut_zeros(str number) {
    if (str_find(number, STR("."), 0) == SIZE_MAX) return number;
    while (number.n && number.p[number.n - 1] == '0') number.n--;
    return number;
}

static void spell_numbers(str list, buf *out) {
    json_iter it = json_open(list);
    str key, v;
    const char *between = "[";
    for (; json_next(&it, &key, &v); between = ", ") {
        buf_add_cstr(out, between);
        buf_add_str(out, str_eq(v, STR("true"))    ? STR("True")
                         : str_eq(v, STR("false")) ? STR("False")
                                                   : cut_zeros(v));
    }
    buf_add_cstr(out, *between == '[' ? "[]" : "]");
}

static void spell_value(str type, str value, buf *out) {
    buf text = {0};
    input_kind kind = kind_of(type);
    if (kind == INPUT_NUMBERS) spell_numbers(value, &text);
    if (kind == INPUT_NUMBER && str_eq(value, STR("true")))
        buf_add_cstr(&text, "True");
    else if (kind == INPUT_NUMBER && str_eq(value, STR("false")))
        buf_add_cstr(&text, "False");
    else if (kind == INPUT_NUMBER)
        buf_add_str(&text, cut_zeros(json_text(value)));
    out->failed |= !buf_ok(&text);
    buf_add_json(out, buf_str(&text));
    buf_fini(&text);
}

/* ---- lists ------------------------------------------------------------------------------- */

typedef void (*spell_one)(str type, str value, buf *out);

/* A list with an item for each type, into s->text; the other list may be the shorter one. */
static void spell_list(spelling *s, str types, str values, spell_one one) {
    json_iter type_at = json_open(types), value_at = json_open(values);
    str key, type, value;
    const char *between = "[";
    buf_clear(&s->text);
    for (; json_next(&type_at, &key, &type); between = ", ") {
        if (!json_next(&value_at, &key, &value)) value = STR_NONE;
        buf_add_cstr(&s->text, between);
        one(json_text(type), value, &s->text);
    }
    buf_add_cstr(&s->text, *between == '[' ? "[]" : "]");
}

uint32_t spelling_id(spelling *s, str text) {
    if (!buf_ok(&s->text)) return UINT32_MAX;
    if (!text.p) text = buf_str(&s->text);
    return text.n ? intern_add(s->strings, text) : 0;
}

uint32_t spelling_json(spelling *s, str json) {
    if (!buf_ok(&s->text)) return UINT32_MAX;
    buf_clear(&s->normal);
    (void)json_normal(json, &s->normal);
    return buf_ok(&s->normal) ? spelling_id(s, buf_str(&s->normal)) : UINT32_MAX;
}

uint32_t spelling_text(spelling *s, str json) {
    str inside = json_text(json);
    if (inside.n && !memchr(inside.p, '\\', inside.n)) return spelling_id(s, inside);
    buf_clear(&s->text);
    (void)json_decode(inside, &s->text);
    return spelling_id(s, STR_NONE);
}

/* What the list is in Kineto's words, made once for each text of types and values. */
static uint32_t spell_known(spelling *s, str types, str values, spell_one one, char which) {
    buf_clear(&s->key);
    buf_add_byte(&s->key, which);
    buf_add_str(&s->key, types);
    buf_add_byte(&s->key, '\n');
    buf_add_str(&s->key, values);
    uint32_t id = buf_ok(&s->key) ? intern_add(s->seen, buf_str(&s->key)) : UINT32_MAX;
    uint32_t *made = id == UINT32_MAX ? NULL : vec_at(&s->made, id);
    if (!made) return UINT32_MAX;
    if (*made) return *made - 1;
    spell_list(s, types, values, one);
    uint32_t text = spelling_json(s, buf_str(&s->text));
    if (text != UINT32_MAX) *made = text + 1;
    return text;
}

status spelling_inputs(spelling *s, const spelled_inputs *in, execution_node *node) {
    if (in->types.n <= 2) return OK; /* no inputs: Kineto writes nothing then */
    node->types = spell_known(s, in->types, STR_NONE, spell_type, 't');
    if (in->shapes.n) node->shapes = spell_known(s, in->types, in->shapes, spell_shape, 'd');
    if (in->strides.n) node->strides = spell_known(s, in->types, in->strides, spell_shape, 'd');
    if (in->values.n) {
        spell_list(s, in->types, in->values, spell_value);
        node->inputs = spelling_json(s, buf_str(&s->text));
    }
    bool ok = node->types != UINT32_MAX && node->shapes != UINT32_MAX &&
              node->strides != UINT32_MAX && node->inputs != UINT32_MAX;
    return ok ? OK : ERR_MEMORY;
}

status spelling_init(spelling *s, intern *strings) {
    *s = (spelling){.strings = strings, .seen = intern_new(), .made = VEC_INIT(uint32_t)};
    return s->seen ? OK : ERR_MEMORY;
}

void spelling_fini(spelling *s) {
    intern_free(s->seen);
    vec_fini(&s->made);
    buf_fini(&s->key);
    buf_fini(&s->text);
    buf_fini(&s->normal);
}

uint64_t spelling_bytes(const spelling *s) {
    return (s->seen ? intern_bytes(s->seen) : 0) + s->made.mapped_bytes;
}
