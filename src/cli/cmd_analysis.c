/* cmd_analysis.c: any analysis of the registry as a command: open, ask, shape, present.
 *
 * Nothing here knows a single analysis: a new row of registry.def is a new command, with its
 * options, help and every form of output. */
#include <unistd.h>

#include "analyse/ask.h"
#include "base/message_ids_cli.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/open.h"
#include "cli/shape.h"

/* Answers which say that the input is of another kind than the question needs: a script must
 * not take "no collectives" for "nothing hangs". */
static bool is_of_other_input(const answer *a) {
    return a->verdict.id && strcmp(a->verdict.id, "hang_none") == 0;
}

static status answer_question(const options *o, opened_input *x, output *out, int *code,
                              error *err) {
    answer a;
    TRY(open_traces(o, x, err));
    params p = options_params(o, x->pool);
    TRY(analysis_ask(o->command.analysis, &x->input, &p, &x->arena, &a, err));
    TRY(present_resolve(&a, o->words, err));
    if (is_of_other_input(&a)) *code = EXIT_INPUT;
    TRY(shape_answer(&a, o, err));
    form f = options_form(o);
    if (form_is_binary(f) && isatty(out->fd)) FAIL0(err, ERR_ARG, NOPOS, MSG_CLI_TERMINAL);
    present_options present = cli_present(o, out);
    return present_answer(f, &a, &present, &out->buf, err);
}

int cmd_analysis(options *o) {
    error err = {0};
    opened_input x = {.pool = NULL};
    output out = {.fd = STDOUT_FILENO, .name = text_get(MSG_CLI_STDOUT, o->words)};
    int code = EXIT_DONE;
    status s = answer_question(o, &x, &out, &code, &err);
    open_end(&x, &err);
    int ended = output_end(&out, o, s, &err);
    return ended == EXIT_DONE ? code : ended;
}
