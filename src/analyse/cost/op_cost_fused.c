/* op_cost_fused.c: kernels of torch.compile, by the operators in their names.
 *
 *     triton_poi_fused_add_gelu_mul_7     pointwise: for each element of the largest tensor
 *     triton_red_fused_native_layer_norm  the same for loops that reduce
 *     triton_tem_fused_addmm_3            a template: the product itself
 *
 * The name lists each operator once, and some that are already done elsewhere, so the
 * operations are an estimate. Bytes are those of all arguments: what is read and what is
 * written both are among them. */
#include <math.h>

#include "analyse/cost/op_cost_int.h"
#include "base/num.h"

enum { MOST_WORDS = 4 };

/* The longest operator at the start of `rest` (words joined by lines); its operations for each
 * element. */
static int take_operator(str *rest) {
    size_t ends[MOST_WORDS];
    int n = 0;
    for (size_t i = 1; i <= rest->n && n < MOST_WORDS; i++)
        if (i == rest->n || rest->p[i] == '_') ends[n++] = i;
    for (int w = n - 1; w >= 0; w--) {
        int each = cost_each(str_n(rest->p, ends[w]));
        if (!each && w) continue;
        *rest = str_from(*rest, ends[w] < rest->n ? ends[w] + 1 : ends[w]);
        return each;
    }
    *rest = STR_NONE;
    return 0;
}

static int count_each(str words) {
    int each = 0;
    while (words.n) each += take_operator(&words);
    return each;
}

static double largest(const op_args *in) {
    double most = 0;
    for (int i = 0; i < in->n; i++)
        if (in->arg[i].tensor && in->arg[i].elements > most) most = in->arg[i].elements;
    return most;
}

bool cost_fused(str name, const op_args *in, op_cost *out) {
    static const str loops[] = {STR("triton_poi_fused_"), STR("triton_red_fused_"),
                                STR("triton_per_fused_"), STR("triton_mix_fused_")};
    if (str_starts(name, STR("triton_tem_")) || str_starts(name, STR("triton_mm")) ||
        str_starts(name, STR("triton_bmm"))) {
        bool product = str_find(name, STR("mm"), 0) != SIZE_MAX;
        if (product) cost_any_product(in, out);
        return product;
    }
    for (size_t i = 0; i < N_OF(loops); i++) {
        if (!str_starts(name, loops[i])) continue;
        out->flops = largest(in) * count_each(str_from(name, loops[i].n));
        out->bytes = cost_all_bytes(in);
        return true;
    }
    return false;
}
