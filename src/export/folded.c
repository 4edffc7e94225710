/* folded.c: folded stacks, one line for each place an operator was called from, for flame
 * graphs (flamegraph.pl, inferno, speedscope):
 *
 *     train.py(65):_train;net.py(28):_forward;aten::linear;aten::addmm 162674
 *
 * Frames outermost first, then the value: self time in nanoseconds, of the host, or of the
 * device work the operator launched itself. The lines add up to the self time of all operators.
 * Only operators have time here; that of the Python code between them is left out. Without
 * Python frames the nesting of the operators is the stack. Lines are sorted frame by frame.
 *
 * Blanks, semicolons and control characters in a frame become `_`, as PyTorch's export_stacks
 * has it; object addresses are left out (stack_tree_int.h). Lines without time are left out,
 * and so are those below zero, which only operators have whose children overlap each other: no
 * reader of this form knows what to do with either. */
#include "base/arena.h"
#include "base/fmt.h"
#include "export/stack_tree_int.h"

static void spell_folded(str name, buf *out) {
    size_t at = out->n;
    stack_spell(name, out);
    for (; at < out->n; at++)
        if ((unsigned char)out->p[at] <= ' ' || out->p[at] == ';' || out->p[at] == 0x7f)
            out->p[at] = '_';
}

/* The time of each node, all threads together. */
static int64_t *sum_nodes(const export_ctx *x, const stack_tree *tree, arena *a) {
    int64_t *sum = ARENA_ARRAY(a, int64_t, tree->nodes.n);
    for (uint32_t i = 0; sum && i < tree->times.n; i++) {
        const stack_time *time = GROUP_ROW(&tree->times, stack_time, i);
        int64_t ns = x->value == EXPORT_VALUE_DEVICE ? time->device_ns : time->host_ns;
        sum[time->node] = add_i64(sum[time->node], ns);
    }
    return sum;
}

/* `line` holds the frames of the node before; a parent comes before its children, so what the
 * two have in common is there already. */
static status write_lines(export_ctx *x, const stack_tree *tree, arena *a, buf *line) {
    int64_t *sum = sum_nodes(x, tree, a);
    uint32_t *order = stack_tree_order(tree, a);
    size_t *end = ARENA_ARRAY(a, size_t, tree->nodes.n); /* of the node's frames in the line */
    if (!sum || !order || !end) FAIL_MEMORY(x->err);
    for (uint32_t i = 0; i + 1 < tree->nodes.n; i++) {
        const stack_node *node = stack_tree_node(tree, order[i]);
        line->n = end[node->parent];
        if (line->n) buf_add_byte(line, ';');
        fmt_safe(line, stack_tree_text(tree, order[i]), "");
        end[order[i]] = line->n;
        if (!buf_ok(line)) FAIL_MEMORY(x->err);
        if (sum[order[i]] <= 0) continue;
        buf_add_str(&x->out, buf_str(line));
        buf_add_byte(&x->out, ' ');
        buf_add_i64(&x->out, sum[order[i]]);
        buf_add_byte(&x->out, '\n');
        TRY(export_row_done(x));
    }
    return OK;
}

status export_stacks(export_ctx *x) {
    arena a;
    buf line = {0};
    stack_tree tree;
    arena_init(&a, 0);
    status s = stack_tree_build(x, spell_folded, &a, &tree);
    if (s == OK) s = write_lines(x, &tree, &a, &line);
    buf_fini(&line);
    arena_fini(&a);
    return s;
}
