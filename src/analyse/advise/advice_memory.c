/* advice_memory.c: rules about copies between host and device and about device memory.
 *
 * What each rule looks at, its threshold and when it stays silent are in advice_rules.def. */
#include "analyse/advise/advice.h"
#include "analyse/kind_names.h"

static bool say_copies(const advice_facts *f, const copy_sum *sum, double limit, advice *out) {
    int64_t ns = advice_per_step(f, intervals_ns(&sum->at));
    if (!sum->copies.n || advice_share(f, ns) < limit) return false;
    advice_cost(f, out, ns);
    advice_point_to(f, out, &sum->copies);
    verdict_add(&out->words, arg_real("count", (double)sum->copies.n / (double)f->steps.n));
    if (sum->bytes > 0) /* not every tracer knows how much was copied */
        verdict_add(&out->words, arg_bytes("bytes", sum->bytes / f->steps.n));
    return true;
}

/* Of links that are common for such a device, GB/s: PCIe 3.0, 4.0, 5.0 with 16 lanes. */
static int64_t pinned_rate(const advice_facts *f) {
    return f->major >= 9 ? 40 : f->major >= 8 ? 20 : 12;
}

/* Pinned memory is copied faster, and kernels can hide that; what remains is not saved. As
 * float32 half of a float64 is copied; what goes to the host to be looked at is not needed
 * there. */
bool advice_pageable_copies(const advice_facts *f, double limit, advice *out) {
    const copy_sum *sum = &f->pageable;
    if (!say_copies(f, sum, limit, out)) return false;
    bool to_host = sum->host_bytes > sum->bytes / 2, wide = sum->wide_bytes > sum->bytes / 2;
    int64_t left = sub_i64(sum->bytes, add_i64(to_host ? sum->host_bytes : 0,
                                               wide && !to_host ? sum->wide_bytes / 2 : 0));
    double bytes = (double)left / (double)f->steps.n;
    int64_t pinned =
        sum->bytes > 0 ? advice_ns(bytes / (double)pinned_rate(f)) : out->saves / 2;
    int64_t rest = sub_i64(min_i64(pinned, out->saves), f->part_ns[ROLE_KERNEL]);
    out->saves = sub_i64(out->saves, max_i64(0, rest));
    verdict_add(&out->words, arg_int("rate", pinned_rate(f)));
    if (to_host) verdict_add(&out->words, arg_int("to_host", 1));
    if (wide) verdict_add(&out->words, arg_int("float64", 1));
    return true;
}

/* Only kernels can hide a copy: without any it costs, and nothing is known to save it. */
bool advice_copies_exposed(const advice_facts *f, double limit, advice *out) {
    int64_t hides = f->part_ns[ROLE_KERNEL];
    if (!say_copies(f, &f->transfer, limit, out)) return false;
    out->saves = hides > 0 ? min_i64(out->saves, hides) : ABSENT_I64;
    if (hides <= 0) out->severity = SEVERITY_WARNING;
    return true;
}

bool advice_synchronous_copies(const advice_facts *f, double limit, advice *out) {
    int64_t ns = advice_per_step(f, f->sync_copy_ns);
    if (!f->sync_copy.n || advice_share(f, ns) < limit) return false;
    advice_cost(f, out, ns);
    advice_point_to(f, out, &f->sync_copy);
    verdict_add(&out->words, arg_text("call", out->name));
    verdict_add(&out->words, arg_real("count", (double)f->sync_copy.n / (double)f->steps.n));
    return true;
}

/* For the average step, as every time: calls of the first step are none of them. */
static int64_t allocator_ns(const advice_facts *f) {
    return advice_per_step(f, f->allocator_ns);
}

bool advice_allocator_costs(const advice_facts *f) {
    return f->allocator_call.n &&
           advice_share(f, allocator_ns(f)) >= advice_limit.allocator_calls;
}

bool advice_allocator_calls(const advice_facts *f, double limit, advice *out) {
    int64_t ns = allocator_ns(f);
    if (!f->allocator_call.n || advice_share(f, ns) < limit) return false;
    advice_cost(f, out, ns);
    advice_point_to(f, out, &f->allocator_call);
    out->is_cause = true; /* a host that waits for the driver is late afterwards */
    out->change = (advice_change){.how = REPLAY_CALLS,
                                  .calls = f->allocator_calls,
                                  .n_calls = (uint32_t)f->allocator_call.n};
    verdict_add(&out->words, arg_text("call", out->name));
    verdict_add(&out->words,
                arg_real("count", (double)f->allocator_call.n / (double)f->steps.n));
    if (f->steps.n > 1) verdict_add(&out->words, arg_int("others", 1));
    verdict_add(&out->words, arg_text("module", device_module(f->t)));
    if (f->uses.n[USE_DEVICE_MALLOC])
        verdict_add(&out->words, arg_int("uncached", 1));
    else
        verdict_add(&out->words, arg_text("allocator", device_allocator(f->t)));
    return true;
}

/* ---- how full the device is -------------------------------------------------------------- */

static void point_to_peak(const advice_facts *f, advice *out, int64_t time) {
    out->place = (interval){time, add_i64(time, 1)};
    verdict_add(&out->words, arg_text("device", f->memory.device));
    verdict_add(&out->words, arg_bytes("allocated", f->memory.allocated));
}

bool advice_memory_near_capacity(const advice_facts *f, double limit, advice *out) {
    const memory_peak *m = &f->memory;
    double share = (double)m->allocated / (double)m->capacity;
    if (share < limit) return false;
    out->severity = share < 0.95 ? SEVERITY_WARNING : SEVERITY_CRITICAL;
    point_to_peak(f, out, m->time);
    verdict_add(&out->words, arg_bytes("capacity", m->capacity));
    verdict_add(&out->words, arg_share("memory_share", share));
    return true;
}

bool advice_fragmentation(const advice_facts *f, double limit, advice *out) {
    const memory_peak *m = &f->memory;
    int64_t apart = sub_i64(m->reserved, m->allocated);
    int64_t matters = m->capacity > 0 ? m->capacity / 20 : (int64_t)1 << 30;
    if ((double)m->reserved < limit * (double)m->allocated || apart < matters) return false;
    bool full = m->capacity > 0 && m->reserved > m->capacity / 10 * 8;
    out->severity = full ? SEVERITY_WARNING : SEVERITY_INFO;
    point_to_peak(f, out, m->reserved_time);
    verdict_add(&out->words, arg_bytes("reserved", m->reserved));
    verdict_add(&out->words, arg_bytes("unused", apart));
    verdict_add(&out->words, arg_text("allocator", device_allocator(f->t)));
    return true;
}
