/* workload.c: see workload.h. */
#include "analyse/compare/workload.h"

#include "base/hash.h"
#include "base/map.h"

static bool is_product(uint8_t class) {
    return class == CLASS_GEMM || class == CLASS_CONVOLUTION || class == CLASS_ATTENTION ||
           class == CLASS_MOE;
}

typedef struct {
    const trace *t;
    lexicon lexicon;
    uint8_t *type; /* by string id of a text of types: kernel_type + 1 */
} typed;

static kernel_type type_of_inputs(typed *x, uint32_t types) {
    if (!x->type[types])
        x->type[types] = (uint8_t)(lexicon_input_type(trace_str(x->t, types)) + 1);
    return (kernel_type)(x->type[types] - 1);
}

/* Inputs tell the type; the kernel's name tells TF32 from float32, and speaks where inputs were
 * not recorded. DTYPE_UNKNOWN: not a product, or not known. */
static kernel_type product_type(typed *x, uint32_t kernel) {
    const trace *t = x->t;
    lexicon_entry e = lexicon_kernel_row(&x->lexicon, kernel);
    if (!is_product(e.class)) return DTYPE_UNKNOWN;
    uint32_t op = t->kernel.op[kernel], row = op ? trace_op_of(t, op) : 0;
    kernel_type inputs =
        row && t->op.types[row] ? type_of_inputs(x, t->op.types[row]) : DTYPE_UNKNOWN;
    bool rounds = inputs == DTYPE_FP32 && e.type == DTYPE_TF32;
    return inputs && !rounds ? inputs : (kernel_type)e.type;
}

static void read_kernels(const selection *s, typed *x, workload *out) {
    const trace *t = s->t;
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        if (t->slice.kind[t->kernel.slice[k]] != KIND_KERNEL || !select_work_counts(s, k))
            continue;
        int64_t *ns = &out->type_ns[product_type(x, k)];
        *ns = add_i64(*ns, t->slice.dur[t->kernel.slice[k]]);
    }
}

static void read_operators(const selection *s, typed *x, workload *out) {
    const trace *t = s->t;
    for (uint32_t row = 1; row < t->op.n; row++) {
        uint32_t slice = t->op.slice[row];
        if (!t->op.types[row] || !select_counts(s, slice) ||
            !lexicon_means(trace_slice_name(t, slice), MEANS_MATRIX_OP))
            continue;
        int64_t *ns = &out->type_ns[type_of_inputs(x, t->op.types[row])];
        *ns = add_i64(*ns, t->slice.dur[slice]);
    }
}

status workload_read(const selection *s, arena *scratch, workload *out, error *err) {
    const trace *t = s->t;
    typed x = {.t = t, .type = ARENA_ARRAY(scratch, uint8_t, (size_t)t->n_strings + 1)};
    if (!x.type) FAIL_MEMORY(err);
    *out = (workload){.n_modules = t->module.n ? t->module.n - 1 : 0};
    TRY(lexicon_init(&x.lexicon, t, scratch, err));
    if (t->kernel.n > 1)
        read_kernels(s, &x, out);
    else
        read_operators(s, &x, out);
    for (uint32_t i = 1; i < t->module.n; i++) {
        str name = trace_str(t, t->module.name[i]);
        out->module_names = hash_add(out->module_names, hash_u64(hash_bytes64(name.p, name.n)));
    }
    return OK;
}

str workload_precision(const workload *w, arena *a) {
    static const char *const words[N_DTYPES] = {
        [DTYPE_FP4] = "fp4",   [DTYPE_FP8] = "fp8",   [DTYPE_INT] = "int",
        [DTYPE_BF16] = "bf16", [DTYPE_FP16] = "fp16", [DTYPE_TF32] = "tf32",
        [DTYPE_FP32] = "fp32", [DTYPE_FP64] = "fp64",
    };
    int64_t all = 0, below = INT64_MAX;
    str text = STR("");
    for (int i = 1; i < N_DTYPES; i++) all = add_i64(all, w->type_ns[i]);
    for (;;) { /* the largest that was not taken yet; the first of two equal ones */
        int most = 0;
        for (int i = 1; i < N_DTYPES; i++)
            if (w->type_ns[i] < below && w->type_ns[i] > (most ? w->type_ns[most] : 0))
                most = i;
        if (!most || (double)w->type_ns[most] < 0.1 * (double)all) return text;
        text = text.n ? arena_printf(a, "%.*s + %s", STR_ARG(text), words[most])
                      : str_of(words[most]);
        if (!text.p) return STR_NONE;
        below = w->type_ns[most];
    }
}
