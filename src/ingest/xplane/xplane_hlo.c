/* xplane_hlo.c: the programs that XLA compiled, as far as they explain what ran.
 *
 * A profile has for every program the graph of its instructions (HloProto): what each is
 * called, which operation of the framework it came from, the shapes it reads and writes. Device
 * work names its instruction; inside of a launched graph only the name of the kernel is left,
 * which is the instruction's with other punctuation. So instructions are looked up by that
 * form.
 *
 *     HloProto    1 HloModuleProto    3 HloComputationProto…   2 HloInstructionProto…  5 id
 *       instruction   1 name  2 opcode  3 shape  7 metadata  16 convolution  28 custom call
 *                     30 dot  35 id  36 operands…  38 called computations…  43 backend config
 *       shape         2 element type  3 dimensions…  4 parts of a tuple…
 *       metadata      2 path of the operation  3 source file  4 line
 *
 * Operations are counted of products and convolutions, alone or fused: two for each multiply
 * and add. Bytes are those of all operands and of the result, each once. An instruction in a
 * loop counts for one iteration, as the events do. */
#include <stdio.h>

#include "base/num.h"
#include "ingest/xplane/xplane_int.h"

enum { MAX_DIMENSIONS = 16, MAX_OPERANDS = 32 };

typedef struct {
    uint32_t element; /* XLA's number of the type */
    uint32_t n;
    int64_t dimensions[MAX_DIMENSIONS];
} shape;

typedef struct {
    str name, opcode, shape, metadata, convolution, target, dot, config;
    uint64_t id;
    uint32_t n_operands, n_called;
    uint64_t operands[MAX_OPERANDS], called[4];
} instruction;

/* ---- wire ---- */

/* A repeated number, one by one or packed; those beyond `most` are left out. */
static void take_numbers(const pb_field *f, uint64_t *out, uint32_t *n, uint32_t most) {
    if ((f->tag & 7) == WIRE_VARINT) {
        if (*n < most) out[(*n)++] = f->v;
        return;
    }
    const char *p = f->p, *end = p + f->v;
    while (p < end && *n < most) {
        uint64_t v = 0;
        for (unsigned shift = 0; p < end && shift < 64; shift += 7) {
            v |= (uint64_t)((uint8_t)*p & 0x7f) << shift;
            if ((uint8_t)*p++ < 0x80) break;
        }
        out[(*n)++] = v;
    }
}

static bool read_instruction(str message, instruction *out) {
    pb_reader in = pb_open(message);
    pb_field f;
    *out = (instruction){.id = 0};
    while (pb_next(&in, &f)) switch (f.tag) {
        case PB_BYTES(1): out->name = pb_bytes(&f); break;
        case PB_BYTES(2): out->opcode = pb_bytes(&f); break;
        case PB_BYTES(3): out->shape = pb_bytes(&f); break;
        case PB_BYTES(7): out->metadata = pb_bytes(&f); break;
        case PB_BYTES(16): out->convolution = pb_bytes(&f); break;
        case PB_BYTES(28): out->target = pb_bytes(&f); break;
        case PB_BYTES(30): out->dot = pb_bytes(&f); break;
        case PB_VARINT(35): out->id = f.v; break;
        case PB_BYTES(36):
        case PB_VARINT(36):
            take_numbers(&f, out->operands, &out->n_operands, MAX_OPERANDS);
            break;
        case PB_BYTES(38):
        case PB_VARINT(38): take_numbers(&f, out->called, &out->n_called, 4); break;
        case PB_BYTES(43): out->config = pb_bytes(&f); break;
        default: break;
        }
    return !in.damaged;
}

/* The first part of a tuple: what a call returns after it is workspace. */
static void read_shape(str message, shape *out) {
    uint64_t dimensions[MAX_DIMENSIONS];
    for (int depth = 0; depth < 4; depth++) {
        pb_reader in = pb_open(message);
        pb_field f;
        str inner = STR_NONE;
        *out = (shape){.n = 0};
        while (pb_next(&in, &f)) {
            if (f.tag == PB_VARINT(2)) out->element = (uint32_t)f.v;
            if (f.tag >> 3 == 3) take_numbers(&f, dimensions, &out->n, MAX_DIMENSIONS);
            if (f.tag == PB_BYTES(4) && !inner.p) inner = pb_bytes(&f);
        }
        for (uint32_t i = 0; i < out->n; i++) out->dimensions[i] = sat_i64(dimensions[i]);
        if (!inner.p) return;
        message = inner;
    }
}

/* ---- shapes ---- */

/* XLA's types by number, as JAX and NumPy call them. */
static const struct {
    const char *name;
    uint8_t bits;
} ELEMENTS[] = {
    {"", 0},
    {"bool", 8},
    {"int8", 8},
    {"int16", 16},
    {"int32", 32},
    {"int64", 64},
    {"uint8", 8},
    {"uint16", 16},
    {"uint32", 32},
    {"uint64", 64},
    {"float16", 16},
    {"float32", 32},
    {"float64", 64},
    {"", 0},
    {"", 0},
    {"complex64", 64},
    {"bfloat16", 16},
    {"", 0},
    {"complex128", 128},
    {"float8_e5m2", 8},
    {"float8_e4m3fn", 8},
    {"int4", 4},
    {"uint4", 4},
    {"float8_e4m3b11fnuz", 8},
    {"float8_e5m2fnuz", 8},
    {"float8_e4m3fnuz", 8},
    {"int2", 2},
    {"uint2", 2},
    {"float8_e4m3", 8},
    {"float8_e3m4", 8},
    {"int1", 1},
    {"uint1", 1},
    {"float4_e2m1fn", 4},
    {"float8_e8m0fnu", 8},
};

static double count_elements(const shape *s) {
    double n = 1;
    for (uint32_t i = 0; i < s->n; i++) n *= (double)s->dimensions[i];
    return n;
}

static double count_bytes(const shape *s) {
    unsigned bits = s->element < N_OF(ELEMENTS) ? ELEMENTS[s->element].bits : 0;
    return count_elements(s) * bits / 8;
}

static void operand_shape(const reader *r, uint64_t program, uint64_t id, shape *out) {
    uint32_t row = map_get(&r->hlo_ids, hash_pair(program, id));
    read_shape(row == MAP_NONE ? str_n("", 0) : VEC(&r->hlo_shapes, str)[row], out);
}

static void put_shape(buf *b, const shape *s) {
    buf_add_byte(b, '[');
    for (uint32_t i = 0; i < s->n; i++) {
        if (i) buf_add_cstr(b, ", ");
        buf_add_i64(b, s->dimensions[i]);
    }
    buf_add_byte(b, ']');
}

/* ---- operations ---- */

/* The product of the sizes of those dimensions of `of` that the numbers name. */
static double product_of(const shape *of, const uint64_t *numbers, uint32_t n) {
    double product = 1;
    for (uint32_t i = 0; i < n; i++)
        if (numbers[i] < of->n) product *= (double)of->dimensions[numbers[i]];
    return product;
}

static double count_dot(const reader *r, uint64_t program, const instruction *in,
                        const uint64_t *contracted, uint32_t n) {
    shape left, result;
    if (!in->n_operands || !n) return NAN;
    operand_shape(r, program, in->operands[0], &left);
    read_shape(in->shape, &result);
    return 2 * count_elements(&result) * product_of(&left, contracted, n);
}

/* {"lhs_contracting_dimensions":["1"], …}: a product that a library was called for. */
static uint32_t read_contracted(str config, uint64_t *out, uint32_t most) {
    static const str key = STR("\"lhs_contracting_dimensions\":[");
    size_t at = str_find(config, key, 0);
    uint32_t n = 0;
    if (at == SIZE_MAX) return 0;
    for (at += key.n; at < config.n && config.p[at] != ']' && n < most; at++)
        if (config.p[at] >= '0' && config.p[at] <= '9')
            out[n++] = (uint64_t)(config.p[at] - '0');
    return n;
}

/* Every element of the result is a product over the kernel but its output features. */
static double count_convolution(const reader *r, uint64_t program, const instruction *in) {
    uint64_t output_feature = 0;
    pb_reader numbers = pb_open(in->convolution);
    pb_field f;
    shape kernel, result;
    while (pb_next(&numbers, &f))
        if (f.tag == PB_VARINT(4)) output_feature = f.v;
    if (in->n_operands < 2) return NAN;
    operand_shape(r, program, in->operands[1], &kernel);
    read_shape(in->shape, &result);
    if (output_feature >= kernel.n || kernel.dimensions[output_feature] < 1) return NAN;
    return 2 * count_elements(&result) * count_elements(&kernel) /
           (double)kernel.dimensions[output_feature];
}

/* NAN: not counted. */
static double count_flops(const reader *r, uint64_t program, const instruction *in) {
    uint64_t contracted[MAX_DIMENSIONS];
    uint32_t n = 0;
    if (str_eq(in->opcode, STR("dot"))) {
        pb_reader numbers = pb_open(in->dot);
        pb_field f;
        while (pb_next(&numbers, &f))
            if (f.tag >> 3 == 1) take_numbers(&f, contracted, &n, MAX_DIMENSIONS);
        return count_dot(r, program, in, contracted, n);
    }
    if (str_eq(in->opcode, STR("convolution"))) return count_convolution(r, program, in);
    if (str_eq(in->opcode, STR("custom-call"))) {
        if (str_starts(in->target, STR("__cudnn$convForward")) ||
            str_starts(in->target, STR("__cudnn$convBiasActivationForward")))
            return count_convolution(r, program, in);
        n = read_contracted(in->config, contracted, MAX_DIMENSIONS);
        return n ? count_dot(r, program, in, contracted, n) : NAN;
    }
    if (!str_eq(in->opcode, STR("fusion")) && !str_eq(in->opcode, STR("call"))) return NAN;
    double sum = NAN;
    for (uint32_t i = 0; i < in->n_called; i++) {
        uint32_t row = map_get(&r->computations, hash_pair(program, in->called[i]));
        double one = row == MAP_NONE ? (double)NAN
                                     : VEC(&r->computation_rows, computation_row)[row].flops;
        if (one == one) sum = sum == sum ? sum + one : one;
    }
    return sum;
}

/* ---- programs ---- */

/* The name as the name of a kernel: everything but letters and digits is an underscore. */
static uint32_t key_of(reader *r, str name) {
    char text[512];
    size_t n = name.n < sizeof text ? name.n : sizeof text;
    for (size_t i = 0; i < n; i++) {
        char c = name.p[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        text[i] = plain ? c : '_';
    }
    return xplane_string(r, str_n(text, n));
}

str hlo_without_number(str name) {
    size_t n = name.n;
    while (n && name.p[n - 1] >= '0' && name.p[n - 1] <= '9') n--;
    return n > 1 && n < name.n && name.p[n - 1] == '.' ? str_n(name.p, n - 1) : name;
}

/* Field 2 of the metadata: the path. */
static uint32_t path_in(reader *r, str metadata) {
    pb_reader in = pb_open(metadata);
    pb_field f;
    uint32_t path = 0;
    while (pb_next(&in, &f))
        if (f.tag == PB_BYTES(2)) path = xplane_string(r, pb_bytes(&f));
    return path;
}

static status note_library(reader *r, uint64_t program, const instruction *in) {
    op_path at = {0};
    uint32_t path = in->metadata.p ? path_in(r, in->metadata) : 0;
    uint32_t *row = map_at(&r->library_map, program);
    if (!row) return ERR_MEMORY;
    if (path) TRY(path_find(r, path, &at));
    if (*row == MAP_NONE) {
        library_row *fresh = vec_push(&r->libraries);
        if (!fresh) return ERR_MEMORY;
        *row = (uint32_t)(r->libraries.n - 1);
        *fresh = (library_row){at, path};
        return OK;
    }
    library_row *all = &VEC(&r->libraries, library_row)[*row];
    if (all->path != path) all->path = all->at.scope = all->at.phase = 0;
    if (all->at.name != at.name) all->at.name = 0;
    return OK;
}

const library_row *hlo_library(const reader *r, uint64_t program) {
    uint32_t row = map_get(&r->library_map, program);
    return row == MAP_NONE ? NULL : &VEC(&r->libraries, library_row)[row];
}

static status add_instruction(reader *r, uint64_t program, str message) {
    instruction in;
    if (!read_instruction(message, &in) || !in.name.p) return OK;
    str *shape_row = vec_push(&r->hlo_shapes);
    uint32_t *id = map_at(&r->hlo_ids, hash_pair(program, in.id));
    if (!shape_row || !id) return ERR_MEMORY;
    *shape_row = in.shape.p ? in.shape : str_n("", 0);
    *id = (uint32_t)(r->hlo_shapes.n - 1);
    if (str_eq(in.opcode, STR("parameter")) || str_eq(in.opcode, STR("constant"))) return OK;
    if (str_eq(in.opcode, STR("custom-call"))) TRY(note_library(r, program, &in));
    uint32_t key = key_of(r, in.name);
    uint32_t *at = map_at(&r->hlo_names, hash_pair(program, key));
    hlo_row *row = vec_push(&r->hlo);
    if (!at || !row || r->failed) return ERR_MEMORY;
    *row = (hlo_row){.program = program,
                     .key = key,
                     .name = xplane_string(r, hlo_without_number(in.name)),
                     .message = message,
                     .flops = NAN,
                     .bytes = ABSENT_I64};
    *at = (uint32_t)(r->hlo.n - 1); /* the last one: outer computations come after inner ones */
    return r->failed ? ERR_MEMORY : OK;
}

/* What a computation adds up to, for the fusion that calls it: it comes later. */
static status add_sums(reader *r, uint64_t program, str computation) {
    pb_reader in = pb_open(computation);
    pb_field f;
    uint64_t id = 0;
    computation_row sum = {.flops = NAN, .most = 0};
    while (pb_next(&in, &f)) {
        instruction one;
        if (f.tag == PB_VARINT(5)) id = f.v;
        if (f.tag != PB_BYTES(2) || !read_instruction(pb_bytes(&f), &one)) continue;
        double flops = count_flops(r, program, &one);
        if (!(flops == flops)) continue;
        sum.flops = sum.flops == sum.flops ? sum.flops + flops : flops;
        if (flops <= sum.most) continue;
        sum.most = flops;
        sum.metadata = one.metadata;
        sum.dot = str_eq(one.opcode, STR("dot"));
    }
    computation_row *row = vec_push(&r->computation_rows);
    uint32_t *at = map_at(&r->computations, hash_pair(program, id));
    if (!row || !at) return ERR_MEMORY;
    *row = sum;
    *at = (uint32_t)(r->computation_rows.n - 1);
    return OK;
}

static status add_computation(reader *r, uint64_t program, str computation) {
    pb_reader in = pb_open(computation);
    pb_field f;
    while (pb_next(&in, &f))
        if (f.tag == PB_BYTES(2)) TRY(add_instruction(r, program, pb_bytes(&f)));
    return add_sums(r, program, computation);
}

status hlo_add_program(reader *r, uint64_t program, str proto) {
    pb_reader outer = pb_open(proto);
    pb_field f, g;
    while (pb_next(&outer, &f)) {
        if (f.tag != PB_BYTES(1)) continue;
        pb_reader module = pb_open(pb_bytes(&f));
        while (pb_next(&module, &g))
            if (g.tag == PB_BYTES(3)) TRY(add_computation(r, program, pb_bytes(&g)));
    }
    return OK;
}

/* ---- what is known of one ---- */

static void fill_operands(reader *r, hlo_row *row, const instruction *in) {
    buf shapes = {0}, types = {0};
    shape s;
    double bytes;
    read_shape(in->shape, &s);
    bytes = count_bytes(&s);
    for (uint32_t i = 0; i < in->n_operands; i++) {
        operand_shape(r, row->program, in->operands[i], &s);
        bytes += count_bytes(&s);
        buf_add_cstr(&shapes, i ? ", " : "[");
        put_shape(&shapes, &s);
        buf_printf(&types, "%s\"%s\"", i ? ", " : "[",
                   s.element < N_OF(ELEMENTS) ? ELEMENTS[s.element].name : "");
    }
    if (in->n_operands) {
        buf_add_byte(&shapes, ']');
        buf_add_byte(&types, ']');
    }
    r->failed |= !buf_ok(&shapes) || !buf_ok(&types);
    if (!r->failed && in->n_operands) {
        row->shapes = xplane_string(r, buf_str(&shapes));
        row->types = xplane_string(r, buf_str(&types));
    }
    if (bytes > 0 && bytes < 9e18) row->bytes = (int64_t)bytes;
    buf_fini(&shapes);
    buf_fini(&types);
}

static void fill_metadata(reader *r, hlo_row *row, str metadata) {
    pb_reader in = pb_open(metadata);
    pb_field f;
    str file = STR_NONE;
    uint64_t line_number = 0;
    char text[600];
    while (pb_next(&in, &f)) {
        if (f.tag == PB_BYTES(2)) row->path = xplane_string(r, pb_bytes(&f));
        if (f.tag == PB_BYTES(3)) file = pb_bytes(&f);
        if (f.tag == PB_VARINT(4)) line_number = f.v;
    }
    if (!file.n || file.n > 512) return;
    int n = snprintf(text, sizeof text, "%.*s:%llu", STR_ARG(file),
                     (unsigned long long)line_number);
    row->source = xplane_string(r, str_n(text, (size_t)n));
}

/* A fusion has the path of its last instruction, often a mere change of layout; what it was
 * made for is its product. */
static str main_metadata(const reader *r, hlo_row *row, const instruction *in) {
    str best = in->metadata;
    double most = 0;
    row->dot = str_eq(in->opcode, STR("dot"));
    for (uint32_t i = 0; i < in->n_called && str_eq(in->opcode, STR("fusion")); i++) {
        uint32_t at = map_get(&r->computations, hash_pair(row->program, in->called[i]));
        if (at == MAP_NONE) continue;
        const computation_row *c = &VEC(&r->computation_rows, computation_row)[at];
        if (c->most <= most || !c->metadata.p) continue;
        most = c->most;
        best = c->metadata;
        row->dot = c->dot;
    }
    return best;
}

status hlo_find(reader *r, uint64_t program, str name, const hlo_row **out) {
    *out = NULL;
    uint32_t key = key_of(r, name);
    uint32_t at = map_get(&r->hlo_names, hash_pair(program, key));
    if (r->failed) return ERR_MEMORY;
    if (at == MAP_NONE) return OK;
    hlo_row *row = &VEC(&r->hlo, hlo_row)[at];
    if (row->program != program || row->key != key) return OK;
    instruction in;
    if (!row->known && read_instruction(row->message, &in)) {
        str metadata = main_metadata(r, row, &in);
        if (metadata.p) fill_metadata(r, row, metadata);
        fill_operands(r, row, &in);
        row->flops = count_flops(r, program, &in);
    }
    row->known = true;
    *out = row;
    return r->failed ? ERR_MEMORY : OK;
}
