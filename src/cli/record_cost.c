/* record_cost.c: what recording cost, in the last line of `tacho record`.
 *
 * The recorder measures in the run (src/record/rec_cost.c) and the reader adds up
 * (ingest/recording/recording_cost.c); here is only the sum for a person. Processes run side by
 * side: the one in which the share is largest is what the run had to wait for. */
#include <unistd.h>

#include "base/message_ids_cli.h"
#include "base/num.h"
#include "cli/cli.h"
#include "cli/record_run.h"

static int64_t number(const trace *t, const char *key) {
    int64_t v;
    return str_to_i64(trace_meta(t, str_of(key)), &v) ? max_i64(0, v) : 0;
}

void record_cost_of(const trace *t, record_cost *out) {
    static const char *const HOOKS[] = {"cost_events_ns", "cost_operators_ns",
                                        "cost_modules_ns", "cost_frames_ns", "cost_room_ns"};
    static const char *const UNTRIED[] = {"cost_operators_not_tried", "cost_modules_not_tried",
                                          "cost_frames_not_tried"};
    *out = (record_cost){.pid = number(t, "pid"),
                         .events = number(t, "cost_events"),
                         .start_ns = number(t, "cost_start_ns"),
                         .stop_ns = number(t, "cost_stop_ns"),
                         .helper_ns = number(t, "cost_helper_ns"),
                         .covered_ns = number(t, "cost_covered_ns"),
                         .is_known = trace_meta(t, STR("cost_events")).n > 0,
                         .is_part = trace_meta(t, STR("flight_seconds")).n > 0,
                         .has_device = t->kernel.n > 1,
                         .has_cupti = trace_meta(t, STR("cupti_version")).n > 0};
    for (size_t i = 0; i < sizeof HOOKS / sizeof *HOOKS; i++)
        out->hooks_ns = add_i64(out->hooks_ns, number(t, HOOKS[i]));
    for (size_t i = 0; i < sizeof UNTRIED / sizeof *UNTRIED; i++)
        out->has_untried |= number(t, UNTRIED[i]) > 0;
}

static void add(record_cost *to, const record_cost *more) {
    to->events = add_i64(to->events, more->events);
    to->hooks_ns = add_i64(to->hooks_ns, more->hooks_ns);
    to->start_ns = add_i64(to->start_ns, more->start_ns);
    to->stop_ns = add_i64(to->stop_ns, more->stop_ns);
    to->helper_ns = add_i64(to->helper_ns, more->helper_ns);
    to->covered_ns = add_i64(to->covered_ns, more->covered_ns);
    to->is_part |= more->is_part;
    to->has_untried |= more->has_untried;
    to->has_device |= more->has_device;
    to->has_cupti |= more->has_cupti;
}

/* All files of the process of the i-th one; false: they are those of an earlier one. */
static bool sum_process(const record_paths *files, uint32_t i, record_cost *out) {
    *out = (record_cost){.pid = files->cost[i].pid};
    for (uint32_t k = 0; k < files->n; k++) {
        const record_cost *c = &files->cost[k];
        if (!c->is_known || c->pid != out->pid) continue;
        if (k < i) return false;
        add(out, c);
    }
    return true;
}

#define SHOWN_SHARE 0.0005 /* less is shown as less than 0.1 % */

static double share_of(const record_cost *c, int64_t run_ns) {
    int64_t ns =
        c->is_part ? c->hooks_ns : add_i64(c->hooks_ns, add_i64(c->start_ns, c->stop_ns));
    return (double)ns / (double)max_i64(1, c->is_part ? c->covered_ns : run_ns);
}

/* The process that lost the largest share; how many there are. */
static uint32_t find_worst(const record_paths *files, int64_t run_ns, record_cost *worst) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < files->n; i++) {
        record_cost c;
        if (!files->cost[i].is_known || !sum_process(files, i, &c)) continue;
        if (n++ == 0 || share_of(&c, run_ns) > share_of(worst, run_ns)) *worst = c;
    }
    return n;
}

void record_say_cost(const record_run *r, const record_paths *files, int64_t run_ns) {
    record_cost c;
    buf line = {0};
    uint32_t n = r->o->quiet ? 0 : find_worst(files, run_ns, &c);
    if (!n) return;
    if (r->status) /* how long the exit took is known after the file is closed */
        c.stop_ns =
            max_i64(c.stop_ns, sat_i64(__atomic_load_n(&r->status->end_ns, __ATOMIC_RELAXED)));
    arg args[] = {arg_share("share", share_of(&c, run_ns)),
                  arg_time("hooks", c.hooks_ns),
                  arg_time("start", c.start_ns),
                  arg_time("stop", c.stop_ns),
                  arg_time("helper", c.helper_ns),
                  arg_time("covered", c.covered_ns),
                  arg_int("events", c.events),
                  {0},
                  {0}};
    uint32_t n_args = N_OF(args) - 2;
    if (share_of(&c, run_ns) < SHOWN_SHARE) args[n_args++] = arg_int("tiny", 1);
    if (n >= 2) args[n_args++] = arg_int("processes", n);
    text_format(&line, r->o->words, c.is_part ? MSG_RECORD_COST_PART : MSG_RECORD_COST, args,
                n_args);
    if (c.has_device)
        buf_add_cstr(&line, text_get(c.has_cupti ? MSG_RECORD_COST_DEVICE : MSG_RECORD_COST_XLA,
                                     r->o->words));
    if (c.has_untried) buf_add_cstr(&line, text_get(MSG_RECORD_COST_UNTRIED, r->o->words));
    buf_add_byte(&line, '\n');
    if (buf_ok(&line)) (void)!write(STDERR_FILENO, line.p, line.n);
    buf_fini(&line);
}
