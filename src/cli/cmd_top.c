/* cmd_top.c: `tacho top`: the analysis of that name, and as text the layout of profile_analyze.
 *
 * The other forms (JSON, CSV, Markdown, columns) are those of every analysis. What the tables
 * are based on goes to standard error, so that the text is what the original prints and nothing
 * else. */
#include <unistd.h>

#include "analyse/ask.h"
#include "base/message_ids_cli.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/open.h"
#include "compat/top_text.h"

static top_layout layout_of(const params *p, const top_options *o) {
    str only = param_text(p, STR("print_only"));
    bool all = !only.p || str_eq(only, STR("all"));
    return (top_layout){.wiki = param_flag(p, STR("confluence")),
                        .only_list = param_flag(p, STR("dump_only_opr")),
                        .summary = all || str_eq(only, STR("summary")),
                        .device = all || str_eq(only, STR("device")),
                        .host = (all && param_flag(p, STR("show_host"))) ||
                                str_eq(only, STR("host")),
                        .copy_time = o->copy_time,
                        .grouped = o->aggregate != TOP_ALL};
}

static status write_text(const options *o, opened_input *x, output *out, error *err) {
    top_options how;
    top_result found;
    params p = options_params(o, NULL);
    TRY(top_options_of(&p, &how, err));
    TRY(open_traces(o, x, err));
    TRY(part_check(&x->input, &p, err));
    how.window = &p;
    cli_note_better(o, x->input.traces[0].trace);
    TRY(top_find(&x->input, &how, &x->arena, &found, err));
    top_layout layout = layout_of(&p, &how);
    TRY(top_text_write(&found, &layout, &x->arena, &out->buf, err));
    output_make_safe(out);
    return OK;
}

int cmd_top(options *o) {
    if (options_form(o) != FORM_TEXT) return cmd_analysis(o);
    error err = {0};
    opened_input x = {.pool = NULL};
    output out = {.fd = STDOUT_FILENO, .name = text_get(MSG_CLI_STDOUT, o->words)};
    status s = write_text(o, &x, &out, &err);
    open_end(&x, &err);
    return output_end(&out, o, s, &err);
}
