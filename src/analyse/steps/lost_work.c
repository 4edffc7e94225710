/* lost_work.c: launches without the work they started.
 *
 * One pass over the host calls. A launch is found again by its correlation in table kernel
 * (column launch); a producer without such links is not judged by parts, only by all or
 * nothing. The few launches at the end of a recording that stopped too early are not worth a
 * word: the note is for a tenth and more. Copies and memsets do not count: profilers leave
 * small ones out. */
#include "analyse/steps/lost_work.h"

#include "analyse/lexicon.h"

#include "analyse/rules.h"
#include "base/message_ids_advice.h"
#include "base/num.h"

bool launch_name(str name) {
    return lexicon_means(name, MEANS_LAUNCHES);
}

static status add_replay(lost_work *w, uint32_t *cap, uint32_t slice, bool found, arena *a,
                         error *err) {
    w->replays++;
    if (found) return OK;
    if ((uint32_t)w->n_lost_replays == *cap) {
        uint32_t more = *cap ? 2 * *cap : 64;
        uint32_t *grown = arena_grow(a, w->lost_replays, *cap * sizeof *grown, more * sizeof *grown);
        if (!grown) FAIL_MEMORY(err);
        w->lost_replays = grown;
        *cap = more;
    }
    w->lost_replays[w->n_lost_replays++] = slice;
    return OK;
}

status lost_work_count(const trace *t, arena *a, lost_work *out, error *err) {
    lost_work w = {0};
    TRY(trace_require(t, TRACE_TABLE(slice) | TRACE_TABLE(kernel), err));
    name_meanings means;
    TRY(name_meanings_init(&means, t, a, err));
    uint8_t *found = ARENA_ARRAY(a, uint8_t, (size_t)t->slice.n + 1);
    if (!found) FAIL_MEMORY(err);
    bool linked = false;
    uint32_t cap = 0;
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        linked |= t->kernel.launch[k] != 0;
        found[t->kernel.launch[k]] = 1;
    }
    for (uint32_t i = 1; i < t->slice.n; i++) {
        uint64_t says = kind_is_call(t->slice.kind[i]) ? name_meanings_of(&means, i) : 0;
        w.captured |= (says & MEANING(CAPTURES)) != 0;
        w.graphs |= (says & MEANING(REPLAYS)) != 0;
        if (!(says & MEANING(LAUNCHES))) continue;
        w.launches++;
        w.missing += !found[i];
        if (says & MEANING(REPLAYS)) TRY(add_replay(&w, &cap, i, found[i] != 0, a, err));
    }
    if (t->kernel.n > 1 && !linked) w.missing = w.n_lost_replays = 0; /* no such links */
    w.all = w.launches >= LOST_FEW && (double)w.missing >= 0.9 * (double)w.launches &&
            (w.captured || t->kind_count[KIND_KERNEL] == 0);
    *out = w;
    return OK;
}

bool lost_work_matters(const lost_work *w) {
    return !w->captured && !w->graphs && w->missing >= LOST_FEW &&
           (double)w->missing >= LOST_SHARE * (double)w->launches;
}

static status note_lost(const lost_work *w, arena *a, answer *out, error *err) {
    if (!lost_work_matters(w)) return OK;
    verdict note = {.id = "device_records_lost",
                    .message = w->all ? MSG_NOTE_DEVICE_LOST : MSG_NOTE_DEVICE_LOST_PART,
                    .severity = SEVERITY_WARNING};
    verdict_add(&note, arg_int("missing", w->missing));
    verdict_add(&note, arg_int("launches", w->launches));
    return answer_note(out, a, &note, err);
}

status lost_work_judge(const trace *t, arena *a, answer *out, bool *replaced, error *err) {
    lost_work w;
    *replaced = false;
    if (trace_is_empty(t)) {
        out->verdict = (verdict){.id = "trace_empty",
                                 .message = MSG_VERDICT_TRACE_EMPTY,
                                 .severity = SEVERITY_WARNING};
        *replaced = true;
        return OK;
    }
    /* A file that is cut before its device's half says nothing of a device, as if it had
     * none. */
    *replaced = out->cut.id && t->kernel.n <= 1;
    if (*replaced) return OK;
    TRY(lost_work_count(t, a, &w, err));
    TRY(note_lost(&w, a, out, err));
    if (!w.all) return OK;
    out->verdict = (verdict){.id = "device_records_lost",
                             .message = MSG_VERDICT_DEVICE_LOST,
                             .severity = SEVERITY_CRITICAL};
    if (w.captured)
        out->verdict = (verdict){.id = "graph_captured",
                                 .message = MSG_VERDICT_GRAPH_CAPTURED,
                                 .severity = SEVERITY_INFO};
    verdict_add(&out->verdict, arg_int("launches", w.launches));
    *replaced = true;
    return OK;
}
