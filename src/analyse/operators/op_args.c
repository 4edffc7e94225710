/* op_args.c: the inputs of one call of an operator.
 *
 *   shapes  [[8, 512], [512, 64], []]     a list of lists; [] is a tensor of one value or no
 *                                         tensor
 *           [[[8, 512], [8, 512]], []]    the first input is a list of tensors
 *   types   ["float", "float", "Scalar"]  Scalar, ScalarList and "" are not tensors
 *   inputs  ["", "", "[2, 2]"]            the values of what is not a tensor, as text
 *
 * It never allocates, and gives up on sizes that cannot be: the texts come from foreign
 * files. */
#include "analyse/operators/op_args.h"

#include <math.h>

#include "base/num.h"
#include "store/op_text.h"

#define MOST_SIZE ((int64_t)1 << 40)

/* "[1, 2, 3]": false when a size cannot be or there are too many. */
static bool read_dims(str text, op_arg *out) {
    op_list it = op_list_open(text);
    str one;
    out->rank = 0;
    out->elements = 1;
    while (op_list_next(&it, &one)) {
        int64_t size;
        if (out->rank == OP_MOST_DIMS || !op_item_i64(one, &size) || size < 0 ||
            size > MOST_SIZE)
            return false;
        out->dim[out->rank++] = size;
        out->elements *= (double)size;
    }
    return true;
}

/* Is it a list whose first member is a list? */
static bool is_nested(str text) {
    op_list it = op_list_open(text);
    str one;
    return op_list_next(&it, &one) && one.n && one.p[0] == '[';
}

static bool read_list(str text, op_arg *out) {
    op_list it = op_list_open(text);
    str one;
    double sum = 0;
    while (op_list_next(&it, &one)) {
        if (!read_dims(one, out)) return false;
        sum += out->elements;
    }
    out->list = true;
    out->rank = 0;
    out->elements = sum;
    return true;
}

static bool read_shapes(str shapes, op_args *out) {
    op_list it = op_list_open(shapes);
    str one;
    if (!shapes.n || shapes.p[0] != '[') return false;
    while (out->n < OP_MOST_ARGS && op_list_next(&it, &one)) {
        op_arg *arg = &out->arg[out->n];
        *arg = (op_arg){.tensor = true, .item_bytes = NAN};
        if (!(is_nested(one) ? read_list(one, arg) : read_dims(one, arg))) return false;
        out->n++;
    }
    return true;
}

double op_type_bytes(str type) {
    static const struct {
        const char *word;
        double bytes;
    } types[] = {
        {"float", 4},
        {"double", 8},
        {"c10::Half", 2},
        {"c10::BFloat16", 2},
        {"long int", 8},
        {"int", 4},
        {"short int", 2},
        {"signed char", 1},
        {"unsigned char", 1},
        {"bool", 1},
        {"c10::complex<float>", 8},
        {"c10::complex<double>", 16},
        {"c10::qint8", 1},
        {"c10::quint8", 1},
        {"unsigned short", 2},
        {"unsigned int", 4},
        {"unsigned long", 8},
        {"long long", 8},
        {"fp8", 1},
        {"complex64", 8},
        {"complex128", 16},
        {"Float", 4},
        {"float32", 4},
        {"Int", 4},
        {"int32", 4},
        {"Double", 8},
        {"float64", 8},
        {"long", 8},
        {"Long", 8},
        {"int64", 8},
        {"Half", 2},
        {"float16", 2},
        {"BFloat16", 2},
        {"bfloat16", 2},
        {"short", 2},
        {"Short", 2},
        {"int16", 2},
        {"Byte", 1},
        {"Char", 1},
        {"char", 1},
        {"uint8", 1},
        {"uint16", 2},
        {"uint32", 4},
        {"uint64", 8},
        {"int8", 1},
        {"Bool", 1},
        {"Float8_e4m3fn", 1},
        {"Float8_e5m2", 1},
    };
    for (size_t i = 0; i < N_OF(types); i++)
        if (str_eq(type, str_of(types[i].word))) return types[i].bytes;
    /* Two values of four bits are one element of eight. */
    return str_starts(type, STR("c10::Float8")) || str_starts(type, STR("c10::Float4")) ||
                   str_starts(type, STR("float8_"))
               ? 1
               : NAN;
}

static bool is_not_tensor(str type) {
    return !type.n || str_eq(type, STR("Scalar")) || str_eq(type, STR("None")) ||
           str_ends(type, STR("List"));
}

static void read_types(str types, op_args *out) {
    op_list it = op_list_open(types);
    str one;
    for (int i = 0; i < out->n && op_list_next(&it, &one); i++) {
        op_arg *arg = &out->arg[i];
        if (one.n && one.p[0] == '[') { /* the types of a list: those of its first tensor */
            op_list inner = op_list_open(one);
            str first;
            one = op_list_next(&inner, &first) ? first : STR_NONE;
        }
        arg->type = op_item_text(one);
        arg->item_bytes = op_type_bytes(arg->type);
        if (!arg->rank && !arg->list && is_not_tensor(arg->type)) arg->tensor = false;
    }
}

bool op_args_read(str shapes, str types, str inputs, op_args *out) {
    out->n = 0;
    if (!read_shapes(shapes, out)) return false;
    if (types.n) read_types(types, out);
    op_list it = op_list_open(inputs);
    str one;
    for (int i = 0; inputs.n && i < out->n && op_list_next(&it, &one); i++)
        out->arg[i].value = op_item_text(one);
    return true;
}

const op_arg *op_args_tensor(const op_args *in, int i) {
    return i >= 0 && i < in->n && in->arg[i].tensor && !in->arg[i].list ? &in->arg[i] : NULL;
}

int op_args_numbers(const op_args *in, int i, int64_t out[OP_MOST_VALUES]) {
    if (i < 0 || i >= in->n) return 0;
    str text = in->arg[i].value;
    if (text.n && text.p[0] != '[') return str_to_i64(text, &out[0]) ? 1 : 0;
    op_list it = op_list_open(text);
    str one;
    int n = 0;
    while (text.n && n < OP_MOST_VALUES && op_list_next(&it, &one))
        if (!op_item_i64(one, &out[n++])) return 0;
    return n;
}

bool op_args_true(const op_args *in, int i) {
    return i >= 0 && i < in->n && str_eq(in->arg[i].value, STR("True"));
}
