/* open_merged.c: the traces of a command as one, for what knows one trace only. */
#include "base/message_ids_cli.h"
#include "cli/cli.h"
#include "cli/open.h"
#include "store/merge.h"

status open_merged(const options *o, opened_input *x, trace **merged, error *err) {
    uint32_t n = x->input.n_traces, n_clockless = 0;
    merge_input *in = ARENA_ARRAY(&x->arena, merge_input, n);
    if (!in) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < n; i++)
        in[i] =
            (merge_input){.trace = x->input.traces[i].trace, .name = x->input.traces[i].worker};
    TRY(trace_merge(in, n, merged, &n_clockless, err));
    if (!n_clockless) return OK;
    error note = {0};
    arg count = arg_int("count", n_clockless);
    error_set(&note, ERR_FORMAT, NOPOS, MSG_EXPORT_CLOCKLESS, 1, &count);
    (void)cli_complain(o, &note);
    return OK;
}
