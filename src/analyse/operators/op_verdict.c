/* op_verdict.c: which operator costs most, and what is odd about it.
 *
 * The rules, most telling first: device work of no operator that takes more than any; an odd
 * dimension that slows the most expensive matrix product down; Tensor Cores that are unused
 * although the operators could use them and the device has them; otherwise simply the operator
 * with the largest share. Thresholds are in the rules. */
#include "analyse/operators/op_verdict.h"

#include "analyse/kind_names.h"
#include "base/message_ids_advice.h"

static bool is_nothing_recorded(const void *facts, verdict *v) {
    (void)v;
    return !((const op_facts *)facts)->n_rows;
}

static bool leads_alone(const void *facts, verdict *v) {
    const op_facts *f = facts;
    if (!f->has_device || !f->alone.n || f->alone_share <= f->top_share) return false;
    verdict_add(v, arg_text("kernel", kernel_short_name(f->alone)));
    verdict_add(v, arg_share("share", f->alone_share));
    return true;
}

static bool odd_dimension(const void *facts, verdict *v) {
    const op_facts *f = facts;
    if (!f->has_odd || f->top_share < 0.1 || f->odd.time_share < 0.3 || f->odd.slowdown < 1.5)
        return false;
    verdict_add(v, arg_text("op", f->top));
    verdict_add(v, arg_share("share", f->top_share));
    verdict_add(v, arg_int("dimension", f->odd.dimension));
    verdict_add(v, arg_real("slowdown", f->odd.slowdown));
    return true;
}

static bool tensor_cores_idle(const void *facts, verdict *v) {
    const op_facts *f = facts;
    if (!f->has_device || f->compute_major < 7 || f->tensor_share > 0 || f->missed_share < 0.2)
        return false;
    verdict_add(v, arg_share("eligible_share", f->missed_share));
    verdict_add(v, arg_text("matrix", f->matrix_unit));
    return true;
}

static bool leads_on_device(const void *facts, verdict *v) {
    const op_facts *f = facts;
    if (!f->has_device) return false;
    verdict_add(v, arg_text("op", f->top));
    verdict_add(v, arg_share("share", f->top_share));
    if (f->top_calls != ABSENT_I64) verdict_add(v, arg_int("calls", f->top_calls));
    return true;
}

static bool leads_on_host(const void *facts, verdict *v) {
    const op_facts *f = facts;
    verdict_add(v, arg_text("op", f->top));
    verdict_add(v, arg_share("share", f->top_share));
    if (f->top_calls != ABSENT_I64) verdict_add(v, arg_int("calls", f->top_calls));
    return true;
}

static const rule rules[] = {
    {"operators_not_recorded", MSG_VERDICT_OPERATORS_NONE, SEVERITY_INFO, is_nothing_recorded},
    {"kernel_without_operator_leads", MSG_VERDICT_KERNEL_ALONE, SEVERITY_INFO, leads_alone},
    {"operator_odd_dimension", MSG_VERDICT_OPERATOR_ODD, SEVERITY_WARNING, odd_dimension},
    {"tensor_cores_unused", MSG_VERDICT_TENSOR_CORES_UNUSED, SEVERITY_WARNING,
     tensor_cores_idle},
    {"operator_leads_device", MSG_VERDICT_OPERATOR_DEVICE, SEVERITY_INFO, leads_on_device},
    {"operator_leads_host", MSG_VERDICT_OPERATOR_HOST, SEVERITY_INFO, leads_on_host},
};

void op_judge(const op_facts *facts, verdict *out) {
    rules_apply(rules, sizeof rules / sizeof *rules, facts, out);
}
