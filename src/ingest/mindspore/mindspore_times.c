/* mindspore_times.c: lists of executions: operators, tasks and kernels with their times.
 *
 *   output_timeline_data    name,stream,start ms (or us),duration ms     AI Core, device clock
 *   *_op_execute_timestamp  name;GpuOps;start ns,duration us …           one line an operator
 *                           name;HostCpuOps;start ns,duration ms,thread …
 *   activity_execute_timestamp  kernel;stream;start ns;duration us       one line a launch
 *
 * Names may hold commas and semicolons (C++ templates), so lines are parsed from the end. A
 * line or a field that is not an execution is counted and skipped.
 *
 * Training repeats itself: after an operator comes nearly always the one that came after it the
 * last time, on the same stream. The start of a line is compared with that guess; when it is
 * right and plain numbers follow up to the end of the line, then parsing from the front gives
 * what parsing from the end would, and neither the line's end nor the name's id had to be
 * looked for. Any other line takes the general way, and is learnt from.
 *
 * Readers here are called with pieces of whole lines; ms.list is what they know between two. */
#include "base/num.h"
#include "ingest/mindspore/mindspore_int.h"
#include "ingest/util/scan.h"

static bool usable(int64_t start, int64_t dur) {
    const int64_t most = (int64_t)1 << 61;
    return start > -most && start < most && dur >= 0 && dur < most;
}

/* ---- one execution a line ---------------------------------------------------------------- */

typedef struct {
    char separator;
    uint8_t lane;
    int start_places, dur_places; /* of nanoseconds */
    const char *piece;            /* start of the text */
} row_form;

/* Three numbers of twenty bytes and what is read beyond them. */
enum { NUMBERS_ROOM = 128 };

static inline bool scale_exactly(const scanned *s, int places, int64_t *out) {
    return s->digits <= places &&
           !__builtin_mul_overflow(s->v, (int64_t)SCAN_POWER[places - s->digits], out);
}

/* The number at p, of up to seven digits before its point and after it, or any other that
 * scan_number takes: its end, NULL when there is none. */
static inline __attribute__((always_inline)) const char *plain_number(const char *p,
                                                                      const char *end,
                                                                      scanned *s) {
    uint64_t v = 0;
    unsigned whole = scan_digits(p, &v), digits = 0;
    const char *q = p + whole;
    if (*q == '.') {
        digits = scan_digits(q + 1, &v);
        q += digits + 1;
    }
    if (whole - 1 > 6 || digits > 7 || q[-1] == '.') return scan_number(p, end, s);
    *s = (scanned){.v = (int64_t)v, .digits = (uint8_t)digits};
    return q;
}

/* Name and stream at p, each with its separator, when the name is the guessed one and the
 * stream another than the last time: their end, otherwise NULL. */
static const char *other_stream(const row_form *f, const ms_name *guess, const char *p,
                                const char *end, int64_t *stream) {
    scanned s;
    if (!scan_equal(p, guess->text.p, guess->text.n)) return NULL;
    p += guess->text.n;
    if (*p != f->separator || !(p = plain_number(p + 1, end, &s)) || s.digits) return NULL;
    *stream = s.v;
    return *p == f->separator ? p + 1 : NULL;
}

/* Any number at p in nanoseconds, when it is one exactly: its end, otherwise NULL. */
static __attribute__((noinline)) const char *exact_time(const char *p, const char *end,
                                                        int places, int64_t *ns) {
    scanned s;
    p = plain_number(p, end, &s);
    return p && scale_exactly(&s, places, ns) ? p : NULL;
}

/* The same, and most of them at once. */
static inline const char *plain_time(const char *p, const char *end, int places, int64_t *ns) {
    const char *stop = places ? scan_fixed(p, (unsigned)places, ns) : NULL;
    return stop ? stop : exact_time(p, end, places, ns);
}

/* The row at p when it is the guessed one's name and three plain numbers: its end, otherwise
 * NULL. */
static inline const char *guessed_row(const row_form *f, const ms_name *guess, const char *p,
                                      const char *end, ms_exec *e) {
    int64_t stream = guess->stream, start = 0, dur = 0;
    if ((size_t)(end - p) < guess->text.n + NUMBERS_ROOM) return NULL;
    if (guess->head.n && scan_equal_long(p, guess->head.p, guess->head.n))
        p += guess->head.n;
    else if (!(p = other_stream(f, guess, p, end, &stream)))
        return NULL;
    if (!(p = plain_time(p, end, f->start_places, &start))) return NULL;
    if (*p != f->separator || !(p = plain_time(p + 1, end, f->dur_places, &dur))) return NULL;
    p += *p == '\r';
    if (*p != '\n' || !usable(start, dur)) return NULL;
    *e = (ms_exec){.start = start,
                   .dur = dur,
                   .stream = stream,
                   .name = guess->id,
                   .more = guess->more,
                   .lane = f->lane};
    return p + 1;
}

/* The rows at p as long as each is the guessed one: the end of the last. What is written where
 * the next execution will be does not count before it is one. */
static status guessed_rows(ms *m, const row_form *f, const char **p, const char *end,
                           error *err) {
    ms_list *l = &m->list;
    const ms_name *names = VEC(&l->names, ms_name);
    uint32_t next = l->last ? names[l->last - 1].next : 0;
    uint64_t n = 0;
    for (const char *next_line; next; *p = next_line, next = names[next - 1].next, n++) {
        if (m->exec.rows.n == m->exec.rows.cap && vec_reserve(&m->exec.rows, 1) != OK)
            FAIL_MEMORY(err);
        ms_exec *e = &VEC(&m->exec.rows, ms_exec)[m->exec.rows.n];
        if (!(next_line = guessed_row(f, &names[next - 1], *p, end, e))) break;
        m->exec.rows.n++;
        l->last = next;
    }
    m->n_lane[f->lane] += n;
    part_count(m->part, n, 0);
    return OK;
}

/* What a table said of a kernel. */
static uint32_t more_of_kernel(ms *m, uint32_t name) {
    const ms_known *k = ms_known_of(m, name);
    ms_more more = {0};
    if (!k || !k->info) return 0;
    more.op = k->name;
    more.args = k->info;
    ms_kernel_dims(ms_text(m, k->info), more.block, more.grid);
    return ms_add_more(m, &more);
}

/* Longest text of a stream's number that is remembered. */
enum { STREAM_ROOM = 24 };

/* Remembers how the row of a name began. */
static bool learn_head(ms *m, const row_form *f, ms_name *name, str stream, int64_t number) {
    size_t n = name->text.n;
    if (!stream.n || stream.n > STREAM_ROOM - 2) return true;
    if (!name->head.p) {
        char *p = arena_zalloc(m->arena, n + STREAM_ROOM + SCAN_EQUAL_PAD);
        if (!p) return false;
        name->head.p = memcpy(p, name->text.p, n);
    }
    char *p = (char *)(uintptr_t)name->head.p + n;
    *p++ = f->separator;
    memcpy(p, stream.p, stream.n);
    p[stream.n] = f->separator;
    name->head.n = n + stream.n + 2;
    name->stream = number;
    return true;
}

/* Remembers that this name came after the last one, and is the last one now. */
static bool learn(ms *m, const row_form *f, str text) {
    ms_list *l = &m->list;
    uint32_t id = ms_string(m, text);
    uint32_t *at = id == MS_NO_STRING ? NULL : map_at(&l->by_id, id);
    if (!at) return false;
    if (*at == MAP_NONE) {
        *at = 0;
        ms_name *name = l->names.n < UINT32_MAX ? vec_push(&l->names) : NULL;
        if (!name) return false;
        *at = (uint32_t)(l->names.n - 1);
        *name = (ms_name){.text = ms_text(m, id), .id = id};
        if (f->lane == LANE_KERNEL) name->more = more_of_kernel(m, id);
        if (name->more == MS_NO_STRING) return false;
    }
    if (l->last) VEC(&l->names, ms_name)[l->last - 1].next = *at + 1;
    l->last = *at + 1;
    return true;
}

/* Any line: its cells from the end. *any: it is an execution, and its name the last one. */
static status general_row(ms *m, const row_form *f, str line, ms_exec *e, bool *any) {
    str cell[3], rest = str_trim(line);
    *any = false;
    if (!rest.n) return OK;
    part_count(m->part, 1, 0);
    for (int i = 2; i >= 0; i--) { /* duration, start, stream from after */
        size_t at = str_rfind_byte(rest, f->separator);
        cell[i] = at == SIZE_MAX ? STR("") : str_trim(str_from(rest, at + 1));
        rest.n = at == SIZE_MAX ? 0 : at;
    }
    *any = rest.n && scaled_i64(cell[0], 0, &e->stream) &&
           scaled_i64(cell[1], f->start_places, &e->start) &&
           scaled_i64(cell[2], f->dur_places, &e->dur) && usable(e->start, e->dur);
    if (!*any)
        ms_lost(m, rest.n ? CAUSE_MISSING_TIME : CAUSE_MISSING_NAME,
                m->list.offset + (uint64_t)(line.p - f->piece), line);
    if (!*any) return OK;
    if (!learn(m, f, rest)) return ERR_MEMORY;
    ms_name *name = &VEC(&m->list.names, ms_name)[m->list.last - 1];
    return learn_head(m, f, name, cell[0], e->stream) ? OK : ERR_MEMORY;
}

static status read_rows(ms *m, str text, const row_form *f, error *err) {
    const char *end = text.p + text.n;
    while (text.n) {
        ms_exec e = {.lane = f->lane};
        bool any = false;
        str line = STR_NONE;
        TRY(guessed_rows(m, f, &text.p, end, err));
        text.n = (size_t)(end - text.p);
        if (!ms_line(&text, &line)) break;
        if (general_row(m, f, line, &e, &any) != OK) FAIL_MEMORY(err);
        if (!any) continue;
        e.name = VEC(&m->list.names, ms_name)[m->list.last - 1].id;
        e.more = VEC(&m->list.names, ms_name)[m->list.last - 1].more;
        TRY(ms_add_exec(m, &e, err));
    }
    return OK;
}

status read_aicore_times(ms *m, str text, error *err) {
    ms_list *l = &m->list;
    const char *from = text.p;
    str head;
    if (!l->began) {
        if (!ms_line(&text, &head)) return OK;
        l->places = str_find(head, STR("start_time(us)"), 0) != SIZE_MAX ? 3 : 6;
        l->began = true;
    }
    const row_form form = {.separator = ',',
                           .lane = LANE_AICORE,
                           .start_places = l->places,
                           .dur_places = 6,
                           .piece = from};
    return read_rows(m, text, &form, err);
}

status read_kernel_times(ms *m, str text, error *err) {
    const row_form form = {.separator = ';',
                           .lane = LANE_KERNEL,
                           .start_places = 0,
                           .dur_places = 3,
                           .piece = text.p};
    return read_rows(m, text, &form, err);
}

/* ---- one operator a line ----------------------------------------------------------------- */

/* start,duration[,thread] */
static bool parse_moment(str word, int places, ms_exec *e) {
    size_t a = str_find(word, STR(","), 0);
    if (a == SIZE_MAX) return false;
    size_t b = str_find(word, STR(","), a + 1);
    str dur = b == SIZE_MAX ? str_from(word, a + 1) : str_n(word.p + a + 1, b - a - 1);
    e->stream = 0;
    if (b != SIZE_MAX && !scaled_i64(str_from(word, b + 1), 0, &e->stream)) return false;
    return scaled_i64(str_n(word.p, a), 0, &e->start) && scaled_i64(dur, places, &e->dur) &&
           usable(e->start, e->dur);
}

status read_op_times(ms *m, str text, error *err) {
    const char *base = text.p;
    for (str line; ms_line(&text, &line);) {
        bool gpu = true;
        size_t at = str_find(line, STR(";GpuOps;"), 0);
        size_t skip = sizeof ";GpuOps;" - 1;
        if (at == SIZE_MAX) {
            gpu = false;
            at = str_find(line, STR(";HostCpuOps;"), 0);
            skip = sizeof ";HostCpuOps;" - 1;
        }
        if (at == SIZE_MAX || at == 0) {
            if (str_trim(line).n)
                ms_lost(m, CAUSE_MISSING_NAME, m->list.offset + (uint64_t)(line.p - base),
                        line);
            continue;
        }
        ms_exec e = {.lane = gpu ? LANE_GPU_OP : LANE_HOST_OP};
        e.name = ms_string(m, str_n(line.p, at));
        str rest = str_from(line, at + skip), word;
        while (ms_word(&rest, &word)) {
            part_count(m->part, 1, 0);
            if (parse_moment(word, gpu ? 3 : 6, &e))
                TRY(ms_add_exec(m, &e, err));
            else
                ms_lost(m, CAUSE_MISSING_TIME, m->list.offset + (uint64_t)(word.p - base),
                        word);
        }
    }
    return OK;
}
