/* overview_verdict.c: the sentence of the overview: what the device waits for, or that it is
 * busy. */
#include "analyse/questions/overview_int.h"
#include "analyse/rules.h"
#include "analyse/serving/iterations.h"
#include "analyse/steps/lost_work.h"
#include "base/message_ids_advice.h"

/* Is this what costs most? */
static bool is_cause(const overview_facts *f, const char *const *ids, size_t n) {
    for (size_t i = 0; i < n && f->cause.id; i++)
        if (strcmp(f->cause.id, ids[i]) == 0) return true;
    return false;
}

#define CAUSE_IS(f, ...)                            \
    is_cause(f, (const char *const[]){__VA_ARGS__}, \
             sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* Does it cost idle time of the device, or time in which that works: kernels, copies? */
static bool is_idle_time(const overview_facts *f) {
    claim_sort claim = f->cause.claim;
    double idle = f->cause.bare.sound ? f->cause.bare_idle : 1 - f->busy;
    return claim != CLAIM_KERNELS && claim != CLAIM_OPTIMIZER && claim != CLAIM_REST &&
           claim != CLAIM_INTERVAL && claim != CLAIM_TRANSFER && f->cause.share <= idle + 0.01;
}

static bool is_idle(const overview_facts *f) {
    return f->has_device && f->step_ns > 0 && f->busy < 0.7;
}

void overview_add_cause(const overview_facts *f, verdict *v) {
    if (!f->cause.id) return;
    verdict_add(v, arg_cstr("advice", f->cause.id));
    verdict_add(v, arg_share("saves_share", f->cause.share));
    verdict_add(v, arg_words("cause", f->cause.title));
    for (uint32_t i = 0; i < f->cause.words.n_args; i++) { /* the values titles have */
        const char *name = f->cause.words.args[i].name;
        if (strcmp(name, "dimension") == 0 || strcmp(name, "rank") == 0)
            verdict_add(v, f->cause.words.args[i]);
    }
}

/* Idle is when none of several devices works, busy when one does. */
static void add_devices(const overview_facts *f, verdict *v) {
    if (f->n_devices > 1) verdict_add(v, arg_int("devices", f->n_devices));
    if (!f->one_is_idle) return;
    verdict_add(v, arg_id("idlest", f->idlest));
    verdict_add(v, arg_share("idlest_busy", f->idlest_busy));
}

static void add_idle(const overview_facts *f, verdict *v) {
    verdict_add(v, arg_share("idle_share", 1 - f->busy));
    if (f->cause.bare.sound) verdict_add(v, arg_share("unprofiled_idle", f->cause.bare_idle));
    verdict_add(v, arg_text("device", f->device));
    add_devices(f, v);
}

/* A cause of less than half of the idle time is not called the reason for all of it. */
static void add_part(const overview_facts *f, verdict *v) {
    double idle = f->cause.bare.sound ? f->cause.bare_idle : 1 - f->busy;
    if (f->cause.share < idle / 2) verdict_add(v, arg_share("part", f->cause.share));
}

static bool data_loader_is_late(const void *facts, verdict *v) {
    const overview_facts *f = facts;
    if (!f->has_device ||
        !CAUSE_IS(f, "data_loader_no_workers", "data_loader_slow", "data_loader_unmarked"))
        return false;
    add_idle(f, v);
    add_part(f, v);
    verdict_add(v, arg_share("data_loader_share", f->cause.share));
    overview_add_cause(f, v);
    return true;
}

/* A device that waits for collectives on the host is idle, and they are why. */
static bool communication_is_late(const void *facts, verdict *v) {
    const overview_facts *f = facts;
    if (!CAUSE_IS(f, "communication_exposed", "nccl_missing")) return false;
    verdict_add(v, arg_share("communication_share", f->exposed));
    overview_add_cause(f, v);
    return true;
}

static bool dependency_is_late(const void *facts, verdict *v) {
    const overview_facts *f = facts;
    if (!f->has_device || !CAUSE_IS(f, "dependency_wait")) return false;
    add_idle(f, v);
    verdict_add(v, arg_share("dependency_share", f->dependency));
    if (str_eq(f->device, STR("CPU"))) verdict_add(v, arg_int("cpu", 1));
    overview_add_cause(f, v);
    return true;
}

static bool is_launch_bound(const void *facts, verdict *v) {
    const overview_facts *f = facts;
    double host = f->share[ROLE_CPU_EXEC] + f->share[ROLE_RUNTIME];
    bool alone = !f->cause.id && is_idle(f) && !f->no_launches;
    if (!f->has_device || host < f->share[ROLE_OTHER] || (!alone && !CAUSE_IS(f, "host_late")))
        return false;
    add_idle(f, v);
    verdict_add(v, arg_share("host_share", host));
    overview_add_cause(f, v);
    return true;
}

static bool nothing_is_recorded(const void *facts, verdict *v) {
    const overview_facts *f = facts;
    bool alone = !f->cause.id && is_idle(f);
    if (!f->has_device || (!alone && !CAUSE_IS(f, "host_late", "host_pause"))) return false;
    add_idle(f, v);
    verdict_add(v, arg_share("other_share", f->share[ROLE_OTHER]));
    overview_add_cause(f, v);
    return true;
}

/* Work whose launches were not recorded: why it came late is unknown. */
static bool launches_are_missing(const void *facts, verdict *v) {
    const overview_facts *f = facts;
    if (!f->has_device || !f->no_launches || f->cause.id || !is_idle(f)) return false;
    add_idle(f, v);
    verdict_add(v, arg_words("cause", MSG_CAUSE_NO_LAUNCHES));
    return true;
}

/* Whatever else the device waits for. */
static bool device_waits(const void *facts, verdict *v) {
    const overview_facts *f = facts;
    if (!f->has_device || !f->cause.id || !is_idle_time(f)) return false;
    add_idle(f, v);
    add_part(f, v);
    overview_add_cause(f, v);
    return true;
}

static bool only_steps_are_timed(const void *facts, verdict *v) {
    const overview_facts *f = facts;
    if (!f->only_timed || f->step_ns <= 0) return false;
    verdict_add(v, arg_time("step_time", f->step_ns));
    verdict_add(v, arg_text("device", f->device));
    overview_add_cause(f, v);
    return true;
}

/* The interval before the forward pass of a step trace is data, too. */
static bool data_loader_on_cpu(const void *facts, verdict *v) {
    const overview_facts *f = facts;
    bool is_interval = f->cause.id && f->cause.claim == CLAIM_INTERVAL;
    if (f->has_device ||
        (!is_interval && !CAUSE_IS(f, "data_loader_no_workers", "data_loader_slow")))
        return false;
    verdict_add(v, arg_share("data_loader_share", f->cause.share));
    overview_add_cause(f, v);
    return true;
}

static bool only_host(const void *facts, verdict *v) {
    const overview_facts *f = facts;
    if (f->has_device || f->step_ns <= 0) return false;
    verdict_add(v, arg_time("step_time", f->step_ns));
    verdict_add(v, arg_share("host_share", f->share[ROLE_CPU_EXEC]));
    if (f->cause.host.name.n) {
        double share = (double)f->cause.host.ns / (double)f->step_ns;
        if (f->cause.host.of_all > 0) { /* nothing says that these are operators */
            share = f->cause.host.of_all;
            verdict_add(v, arg_int("plain", 1));
        }
        verdict_add(v, arg_text("op", f->cause.host.name));
        verdict_add(v, arg_share("op_share", share));
    }
    if (f->exposed >= 0.05) verdict_add(v, arg_share("communication_share", f->exposed));
    if (f->unused.n) verdict_add(v, arg_text("gpu", f->unused));
    overview_add_cause(f, v);
    return true;
}

static bool device_is_busy(const void *facts, verdict *v) {
    const overview_facts *f = facts;
    if (!f->has_device || f->step_ns <= 0) return false;
    verdict_add(v, arg_share("busy_share", f->busy));
    if (copies_matter(f->share[ROLE_MEMCPY], f->busy))
        verdict_add(v, arg_share("copy_share", f->share[ROLE_MEMCPY]));
    verdict_add(v, arg_time("step_time", f->step_ns));
    verdict_add(v, arg_text("device", f->device));
    add_devices(f, v);
    overview_add_cause(f, v);
    return true;
}

/* Where only the device was recorded, why it is idle is unknown: what it does is all. */
static bool only_device(const void *facts, verdict *v) {
    const overview_facts *f = facts;
    return f->only_device && !f->cause.id && is_idle(f) && device_is_busy(facts, v);
}

/* The words for what costs most, which is what `advise` puts first; then for a run without a
 * cause. */
static const rule rules[] = {
    {"gpu_idle_data_loader", MSG_VERDICT_GPU_IDLE_DATA_LOADER, SEVERITY_CRITICAL,
     data_loader_is_late},
    {"steps_timed_only", MSG_VERDICT_STEPS_TIMED_ONLY, SEVERITY_INFO, only_steps_are_timed},
    {"communication_exposed", MSG_VERDICT_COMMUNICATION_EXPOSED, SEVERITY_WARNING,
     communication_is_late},
    {"gpu_idle_dependency", MSG_VERDICT_GPU_IDLE_DEPENDENCY, SEVERITY_CRITICAL,
     dependency_is_late},
    {"gpu_idle_host", MSG_VERDICT_GPU_IDLE_HOST, SEVERITY_CRITICAL, is_launch_bound},
    {"device_only", MSG_VERDICT_GPU_BUSY, SEVERITY_INFO, only_device},
    {"gpu_idle", MSG_VERDICT_GPU_IDLE, SEVERITY_CRITICAL, launches_are_missing},
    {"gpu_idle_unknown", MSG_VERDICT_GPU_IDLE_UNKNOWN, SEVERITY_CRITICAL, nothing_is_recorded},
    {"gpu_idle", MSG_VERDICT_GPU_IDLE, SEVERITY_CRITICAL, device_waits},
    {"cpu_data_loader", MSG_VERDICT_CPU_DATA_LOADER, SEVERITY_WARNING, data_loader_on_cpu},
    {"cpu_only", MSG_VERDICT_CPU_ONLY, SEVERITY_INFO, only_host},
    {"gpu_busy", MSG_VERDICT_GPU_BUSY, SEVERITY_GOOD, device_is_busy},
};

/* A program that serves: its tokens, and what it waits for. */
static status judge_serving(overview *o, const overview_facts *f, bool *serves, error *err) {
    const trace *t = o->t;
    iterations_question asked = {
        .t = t,
        .spans = ARENA_ARRAY(o->arena, const step_span *, (size_t)t->step.n + 1),
        .shown = ARENA_ARRAY(o->arena, bool, (size_t)t->step.n + 1),
        .busy = o->ranges.device};
    verdict v = {.id = "serving", .message = MSG_VERDICT_SERVING, .severity = SEVERITY_INFO};
    if (!asked.spans || !asked.shown) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < o->steps.n; i++) {
        uint32_t row = o->steps.v[i].row;
        asked.spans[row] = &o->steps.v[i];
        asked.shown[row] = row != 0;
    }
    TRY(iterations_judge(&asked, o->arena, &v, serves, err));
    if (!*serves) return OK;
    overview_add_cause(f, &v);
    o->out->verdict = v;
    return OK;
}

/* Compilation and the filling of caches, recorded as the first step: with it no average is
 * typical of anything. At least three steps: of two it is unknown which is the odd one. */
static bool first_step_decides(const overview *o, const overview_facts *f, verdict *v) {
    int64_t all = 0, first = 0;
    const step_span *one = NULL;
    uint32_t n = 0;
    for (uint32_t i = 0; i < o->steps.n; i++) {
        const step_span *s = &o->steps.v[i];
        if (!overview_counts(o, i)) continue;
        if (!n++) one = s;
        all = add_i64(all, step_span_ns(s));
    }
    if (n < 3) return false;
    first = step_span_ns(one);
    if ((double)first <= 0.5 * (double)all) return false;
    *v = (verdict){.id = "first_step_decides",
                   .message = MSG_VERDICT_FIRST_STEP,
                   .severity = SEVERITY_WARNING};
    verdict_add(v, arg_id("step", one->number));
    verdict_add(v, arg_time("duration", first));
    verdict_add(v, arg_share("share", (double)first / (double)all));
    verdict_add(v, arg_time("others", sub_i64(all, first) / (n - 1)));
    overview_add_cause(f, v);
    return true;
}

/* The recording itself, if it decides; a server's tokens; else what costs most. */
status overview_judge(overview *o, overview_facts *facts, error *err) {
    bool done;
    verdict *v = &o->out->verdict;
    TRY(lost_work_judge(o->t, o->arena, o->out, &done, err));
    if (done) return OK;
    if (facts->cause.decided.id) {
        *v = facts->cause.decided;
        return OK;
    }
    TRY(judge_serving(o, facts, &done, err));
    if (!done && first_step_decides(o, facts, v)) return OK;
    if (!done) {
        rules_apply(rules, sizeof rules / sizeof *rules, facts, v);
        if (v->id) step_spans_say(&o->steps, facts->step_ns, v);
    }
    if (facts->cause.id) v->severity = facts->cause.severity;
    if (v->id) step_limit_name(&facts->cause.limit, v);
    if (!v->id)
        *v = facts->cause.evidence; /* no step and no work: what is known of its input */
    return OK;
}
