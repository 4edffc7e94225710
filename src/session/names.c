/* names.c: what the name of a trace file says, and how names are ordered.
 *
 * PyTorch's handler writes WORKER.STAMP.pt.trace.json; the worker is by default HOST_PID, the
 * stamp the time in ns (older: ms). The digits of a stamp need a dot in front, so that
 * 123.pt.trace.json is a worker named 123. Paddle's writes WORKER_time_STAMP.paddle_trace.json
 * or .pb, the worker being by default host_NAMEpid_PID. MegEngine names its files after the
 * process: PID.chrome_timeline.json, PID.memory_flow.svg. XLA names its files after the host,
 * whose name may hold dots and digits: HOST.xplane.pb. Stamps and the numbers inside names
 * are compared as numbers of any length, never as text: 9 comes before 10. Nothing here touches
 * the file system. */
#include <stdint.h>

#include "base/num.h"
#include "ingest/rocm/rocm.h"
#include "session/names_int.h"

static bool names_is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool names_is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Takes the ending off when it is there and something is left. */
static bool take_end(str *s, str end) {
    if (s->n <= end.n || !str_ends(*s, end)) return false;
    s->n -= end.n;
    return true;
}

static int take_packing(str *s) {
    return take_end(s, STR(".gz")) ? 1 : take_end(s, STR(".zst")) ? 2 : 0;
}

static void split_stamp(str stem, trace_name *out) {
    size_t at = stem.n;
    while (at > 0 && names_is_digit(stem.p[at - 1])) at--;
    out->worker = stem;
    out->stamp = str_n("", 0);
    if (at == stem.n || at < 2 || stem.p[at - 1] != '.') return;
    out->worker = str_n(stem.p, at - 1);
    out->stamp = str_from(stem, at);
}

/* WORKER_time_STAMP, cut at the last `_time_`. The parts of a stamp have fixed widths, so
 * stamps are in order as texts. */
static void split_paddle(str stem, trace_name *out) {
    static const str mark = STR("_time_");
    *out = (trace_name){.worker = stem, .stamp = str_n("", 0), .asks_file = true};
    for (size_t at = stem.n; at-- > 1;)
        if (str_starts(str_from(stem, at), mark)) {
            out->worker = str_n(stem.p, at);
            out->stamp = str_from(stem, at + mark.n);
            return;
        }
}

/* A timeline's worker is the process; its memory picture is another recording, under another
 * name. */
static bool parse_megengine(str stem, int packing, trace_name *out) {
    str worker = stem;
    if (take_end(&stem, STR(".memory_flow.svg")))
        take_end(&worker, STR(".svg"));
    else if (take_end(&stem, STR(".chrome_timeline.json")))
        worker = stem;
    else
        return false;
    *out = (trace_name){.worker = worker,
                        .stamp = str_n("", 0),
                        .packing = packing,
                        .memory = worker.n != stem.n};
    return true;
}

bool name_parse(str file, trace_name *out) {
    str stem = file;
    int packing = take_packing(&stem);
    *out = (trace_name){.packing = packing};
    if (take_end(&stem, STR(".paddle_trace.json")) ||
        take_end(&stem, STR(".paddle_trace.pb"))) {
        split_paddle(stem, out);
        out->packing = packing;
        return true;
    }
    if (parse_megengine(stem, packing, out)) return true;
    if (take_end(&stem, STR(".xplane.pb"))) {
        *out = (trace_name){
            .worker = stem, .stamp = str_n("", 0), .packing = packing, .host = true};
        return true;
    }
    if (!take_end(&stem, STR(".pt.trace.json")) && !take_end(&stem, STR(".tacho")))
        return false;
    split_stamp(stem, out);
    out->packing = packing;
    out->recorded = true;
    return true;
}

bool name_is_retold(str file, str *host) {
    (void)take_packing(&file);
    *host = str_n("", 0);
    if (str_eq(file, STR("perfetto_trace.json"))) return true;
    if (!take_end(&file, STR(".trace.json"))) return false;
    *host = file;
    return true;
}

static bool take_database(str *file) {
    return take_end(file, STR(".sqlite")) || take_end(file, STR(".sqlite3")) ||
           take_end(file, STR(".db"));
}

static bool take_perfetto(str *file) {
    return take_end(file, STR(".pftrace")) || take_end(file, STR(".perfetto-trace"));
}

/* PREFIX_kernel_trace.csv, …: all with one prefix are one recording. */
static bool take_table(str *file) {
    str prefix;
    if (!rocm_csv_name(*file, &prefix)) return false;
    *file = prefix.n ? prefix : STR("rocprofv3");
    return true;
}

bool name_may_be_trace(str file) {
    (void)take_packing(&file);
    if (take_table(&file)) return true;
    /* nccl_trace_rank_3: dumps of the flight recorder end in their rank. */
    if (str_rfind_byte(file, '.') == SIZE_MAX && name_rank(file) != INT64_MIN) return true;
    return take_database(&file) || take_perfetto(&file) || take_end(&file, STR(".json")) ||
           take_end(&file, STR(".trace")) || take_end(&file, STR(".pickle")) ||
           take_end(&file, STR(".pb"));
}

void name_of_any(str file, trace_name *out) {
    int packing = take_packing(&file);
    bool memory = false, database = take_database(&file), perfetto = take_perfetto(&file);
    bool table = take_table(&file);
    if (!database && !perfetto && !table && !take_end(&file, STR(".json")) &&
        !take_end(&file, STR(".trace")) && !take_end(&file, STR(".pb")))
        memory = take_end(&file, STR(".pickle"));
    *out = (trace_name){.worker = file,
                        .stamp = str_n("", 0),
                        .packing = packing,
                        .memory = memory,
                        .database = database,
                        .perfetto = perfetto,
                        .table = table};
}

/* The leading digits of s. */
static str digits_of(str s) {
    size_t n = 0;
    while (n < s.n && names_is_digit(s.p[n])) n++;
    return str_n(s.p, n);
}

/* The number after a word, with at most one - or _ between them. */
static int64_t number_after(str rest) {
    int64_t number;
    if (rest.n && (*rest.p == '-' || *rest.p == '_')) rest = str_from(rest, 1);
    str digits = digits_of(rest);
    return digits.n && str_to_i64(digits, &number) ? number : INT64_MIN;
}

int64_t name_rank(str worker) {
    for (size_t at = 0; (at = str_find_nocase(worker, STR("rank"), at)) != SIZE_MAX; at++) {
        if (at > 0 && names_is_letter(worker.p[at - 1])) continue;
        int64_t rank = number_after(str_from(worker, at + 4));
        if (rank != INT64_MIN) return rank;
    }
    return INT64_MIN;
}

int64_t name_number(str worker) {
    static const str word = STR("worker");
    if (str_find_nocase(worker, word, 0) != 0) return INT64_MIN;
    return number_after(str_from(worker, word.n));
}

worker_role name_role(str worker, str *owner) {
    static const struct {
        str word;
        worker_role role;
    } roles[] = {{STR("loader_"), WORKER_LOADER}, {STR("child_"), WORKER_CHILD}};
    size_t dot = str_rfind_byte(worker, '.');
    *owner = str_n("", 0);
    if (dot == SIZE_MAX || dot == 0) return WORKER_TRACE;
    str last = str_from(worker, dot + 1);
    if (str_eq(last, STR("launcher"))) return WORKER_LAUNCHER;
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
        str rest = str_from(last, roles[i].word.n);
        if (!str_starts(last, roles[i].word) || !rest.n || digits_of(rest).n != rest.n)
            continue;
        *owner = str_n(worker.p, dot);
        return roles[i].role;
    }
    return WORKER_TRACE;
}

/* Two runs of digits as numbers of any length. */
static int compare_digits(str a, str b) {
    while (a.n > 1 && *a.p == '0') a = str_from(a, 1);
    while (b.n > 1 && *b.p == '0') b = str_from(b, 1);
    if (a.n != b.n) return a.n < b.n ? -1 : 1;
    return str_cmp(a, b);
}

int64_t name_stamp_ns(str stamp) {
    static const struct {
        size_t digits;
        int64_t ns;
    } UNITS[] = {{10, 1000000000}, {13, 1000000}, {16, 1000}, {19, 1}};
    int64_t value;
    if (digits_of(stamp).n != stamp.n || !str_to_i64(stamp, &value)) return INT64_MIN;
    for (size_t i = 0; i < sizeof UNITS / sizeof *UNITS; i++)
        if (stamp.n == UNITS[i].digits && *stamp.p != '0') return mul_i64(value, UNITS[i].ns);
    return INT64_MIN;
}

int name_compare_stamps(str a, str b) {
    if (a.n == 0 || b.n == 0) return (a.n > 0) - (b.n > 0);
    return compare_digits(a, b);
}

int name_compare(str a, str b) {
    str whole_a = a, whole_b = b;
    while (a.n && b.n) {
        str da = digits_of(a), db = digits_of(b);
        if (da.n && db.n) {
            int c = compare_digits(da, db);
            if (c) return c;
            a = str_from(a, da.n);
            b = str_from(b, db.n);
            continue;
        }
        if (*a.p != *b.p) return (unsigned char)*a.p < (unsigned char)*b.p ? -1 : 1;
        a = str_from(a, 1);
        b = str_from(b, 1);
    }
    if (a.n != b.n) return a.n ? 1 : -1;
    return str_cmp(whole_a, whole_b); /* 01 and 1: equal numbers, different names */
}
