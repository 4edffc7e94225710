/* mindspore_read.c: one worker of MindSpore's profiler: finds its files and hands them to their
 * readers.
 *
 *     FOLDER/…_0.csv …_0.txt                    flat: files of several devices side by side
 *     FOLDER/data/…                             raw files of an Ascend job
 *           /host_info/host_info_N.csv          ranges of the host, 2.3 and 2.4
 *           /hccl_info/OPERATOR/iterN.trace     one run of a collective
 *           /msadvisor/device_N/recommendation  what CANN's expert system says
 *     NAME_PID_TIME_ascend_ms/FRAMEWORK/…       2.7 and later
 *                            /ASCEND_PROFILER_OUTPUT/…
 *
 * Files are read in the order of mindspore_files.def, so that what explains others comes first,
 * and inside one kind by name. Tables are small against a trace: each is read whole, handed to
 * its reader and given back. Lists of executions come to their reader in pieces of whole lines.
 * Executions are collected and become slices at the end, when it is known which clock they
 * share.
 *
 * A file that cannot be read or that is damaged costs itself: the others are read all the
 * same. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/json.h"
#include "base/num.h"
#include "ingest/mindspore/mindspore_int.h"

typedef struct {
    str path, name;
    str folder; /* of a trace of a collective: the operator */
    int kind;
    int64_t id;
} found_file;

/* ---- small tools ------------------------------------------------------------------------- */

uint32_t ms_string(ms *m, str s) {
    return s.n ? intern_add(builder_strings(m->b), s) : 0;
}

str ms_text(const ms *m, uint32_t id) {
    return intern_get(builder_strings(m->b), id);
}

void ms_lost(ms *m, cause c, uint64_t offset, str example) {
    if (example.n > 80) example.n = 80;
    uint32_t id = ms_string(m, example);
    part_lost(m->part, c, offset, id == MS_NO_STRING ? 0 : id);
    part_count(m->part, 0, 1);
}

str ms_short(str full_name) {
    size_t slash = str_rfind_byte(full_name, '/');
    return slash == SIZE_MAX ? full_name : str_from(full_name, slash + 1);
}

str ms_type(str full_name) {
    str s = ms_short(full_name);
    size_t dash = str_rfind_byte(s, '-');
    return dash == SIZE_MAX || dash == 0 ? s : str_n(s.p, dash);
}

str ms_subgraph(str full_name) {
    size_t n = 0;
    while (n < full_name.n && full_name.p[n] != '/') n++;
    return n < full_name.n ? str_n(full_name.p, n) : str_n("", 0);
}

bool ms_line(str *rest, str *line) {
    if (!rest->n) return false;
    const char *end = memchr(rest->p, '\n', rest->n);
    size_t n = end ? (size_t)(end - rest->p) : rest->n;
    *line = str_n(rest->p, n);
    if (line->n && line->p[line->n - 1] == '\r') line->n--;
    *rest = str_from(*rest, n + 1);
    return true;
}

bool ms_word(str *rest, str *word) {
    size_t from = 0;
    if (!rest->n) { /* may be absent: no pointer to reckon with */
        *word = STR_NONE;
        return false;
    }
    while (from < rest->n && json_is_space(rest->p[from])) from++;
    size_t to = from;
    while (to < rest->n && !json_is_space(rest->p[to])) to++;
    *word = str_n(rest->p + from, to - from);
    *rest = str_from(*rest, to);
    return word->n > 0;
}

void ms_add_member(buf *out, str key, str value) {
    buf_add_cstr(out, out->n ? ", " : "{");
    buf_add_json(out, key);
    buf_add_cstr(out, ": ");
    buf_add_json(out, value);
}

status ms_meta(ms *m, const char *key, str json, error *err) {
    uint32_t k = ms_string(m, str_of(key)), v = ms_string(m, json);
    if (k == MS_NO_STRING || v == MS_NO_STRING) FAIL_MEMORY(err);
    return builder_add_meta(m->b, k, v, err);
}

status ms_normal(ms *m, str text, buf *out, error *err) {
    unsigned flags = json_normal(str_trim(text), out);
    if (!buf_ok(out)) FAIL_MEMORY(err);
    if (!(flags & JSON_BROKEN)) return OK;
    ms_lost(m, CAUSE_BAD_SYNTAX, 0, str_of(m->file));
    buf_clear(out);
    return OK;
}

ms_known *ms_know(ms *m, uint32_t full_name) {
    uint32_t *at = map_at(&m->known.by_name, full_name);
    if (!at) return NULL;
    if (*at != MAP_NONE) return &VEC(&m->known.rows, ms_known)[*at];
    ms_known *k = vec_push(&m->known.rows);
    *at = k ? (uint32_t)(m->known.rows.n - 1) : 0;
    if (k)
        *k = (ms_known){.full_name = full_name,
                        .flops = (double)NAN,
                        .flops_per_s = (double)NAN,
                        .vector_flops = (double)NAN,
                        .vector_flops_per_s = (double)NAN};
    return k;
}

const ms_known *ms_known_of(const ms *m, uint32_t full_name) {
    uint32_t row = map_get(&m->known.by_name, full_name);
    return row == MAP_NONE ? NULL : &VEC(&m->known.rows, ms_known)[row];
}

status ms_add_exec(ms *m, const ms_exec *e, error *err) {
    ms_exec *row = vec_push(&m->exec.rows);
    if (!row || e->name == MS_NO_STRING) FAIL_MEMORY(err);
    *row = *e;
    m->n_lane[e->lane]++;
    return OK;
}

uint32_t ms_add_more(ms *m, const ms_more *more) {
    static const ms_more none;
    size_t n = m->exec.mores.n;
    if (memcmp(more, &none, sizeof none) == 0) return 0;
    if (!n || memcmp(more, &VEC(&m->exec.mores, ms_more)[n - 1], sizeof *more) != 0) {
        ms_more *row = n < MS_NO_STRING - 1 ? vec_push(&m->exec.mores) : NULL;
        if (!row) return MS_NO_STRING;
        *row = *more;
    }
    return (uint32_t)m->exec.mores.n;
}

/* ---- metadata ---------------------------------------------------------------------------- */

/* profiler_info and profiler_metadata: every member is a fact about the run. */
status read_info(ms *m, str text, error *err) {
    json_iter it = json_open(text);
    str key, value;
    buf normal = {0};
    status st = OK;
    for (int n = 0; st == OK && n < 256 && json_next(&it, &key, &value); n++) {
        buf_clear(&normal);
        (void)json_normal(value, &normal);
        char name[128];
        if (key.n >= sizeof name || !key.n) continue;
        memcpy(name, key.p, key.n);
        name[key.n] = 0;
        st = buf_ok(&normal) ? ms_meta(m, name, buf_str(&normal), err) : ERR_MEMORY;
        if (st == OK) st = ms_take_fact(m, key, buf_str(&normal), err);
    }
    buf_fini(&normal);
    if (st == ERR_MEMORY) FAIL_MEMORY(err);
    return st;
}

status read_timeline_summary(ms *m, str text, error *err) {
    (void)m, (void)text, (void)err; /* added up from the executions */
    return OK;
}

/* ---- files ------------------------------------------------------------------------------- */

static status add_found(ms *m, vec *list, str folder, str name, error *err) {
    mindspore_name parsed;
    if (!mindspore_name_parse(name, &parsed)) return OK;
    if (parsed.id != MINDSPORE_ANY_ID && m->id != MINDSPORE_ANY_ID && parsed.id != m->id)
        return OK;
    found_file *f = vec_push(list);
    if (!f) FAIL_MEMORY(err);
    *f = (found_file){.kind = parsed.kind, .id = parsed.id};
    f->path = arena_printf(m->arena, "%.*s/%.*s", STR_ARG(folder), STR_ARG(name));
    f->name = arena_str(m->arena, name);
    if (!f->path.p || !f->name.p) FAIL_MEMORY(err);
    return OK;
}

/* Opens a folder for listing; *out is NULL when it does not exist. One that exists and cannot
 * be read is an error: its contents would be missing in silence. */
static status open_folder(str path, DIR **out, error *err) {
    char text[128];
    errno = EIO;
    *out = fault_point(FAULT_READ) ? NULL : opendir(path.p);
    if (*out || errno == ENOENT || errno == ENOTDIR) return OK;
    FAIL(err, ERR_IO, NOPOS, MSG_CANNOT_READ, arg_text("path", path),
         arg_cstr("reason", strerror_r(errno, text, sizeof text)));
}

/* The files of one folder; a folder that does not exist has none. */
static status list_folder(ms *m, vec *list, str folder, error *err) {
    DIR *d;
    TRY(open_folder(folder, &d, err));
    status st = OK;
    if (!d) return OK;
    for (struct dirent *e; st == OK && (e = readdir(d));)
        if (e->d_name[0] != '.') st = add_found(m, list, folder, str_of(e->d_name), err);
    closedir(d);
    return st;
}

/* The traces of one collective. */
static status list_collective(ms *m, vec *list, str folder, str op, error *err) {
    str path = arena_printf(m->arena, "%.*s/%.*s", STR_ARG(folder), STR_ARG(op)),
        name = arena_str(m->arena, op);
    if (!path.p || !name.p) FAIL_MEMORY(err);
    DIR *d;
    TRY(open_folder(path, &d, err));
    status st = OK;
    for (struct dirent *e; d && st == OK && (e = readdir(d));) {
        str file = str_of(e->d_name);
        if (!str_starts(file, STR("iter")) || !str_ends(file, STR(".trace"))) continue;
        found_file *f = vec_push(list);
        if (f) *f = (found_file){.kind = MS_HCCL_TRACE, .id = MINDSPORE_ANY_ID, .folder = name};
        if (f) f->path = arena_printf(m->arena, "%.*s/%s", STR_ARG(path), e->d_name);
        if (f) f->name = arena_str(m->arena, file);
        if (!f || !f->path.p || !f->name.p)
            st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    }
    if (d) closedir(d);
    return st;
}

static status list_collectives(ms *m, vec *list, str folder, error *err) {
    str path = arena_printf(m->arena, "%.*s/hccl_info", STR_ARG(folder));
    if (!path.p) FAIL_MEMORY(err);
    DIR *d;
    TRY(open_folder(path, &d, err));
    status st = OK;
    for (struct dirent *e; d && st == OK && (e = readdir(d));)
        if (e->d_name[0] != '.') st = list_collective(m, list, path, str_of(e->d_name), err);
    if (d) closedir(d);
    return st;
}

/* The newest file of a device's recommendations takes the place of an older one in *best. */
static status find_advice(ms *m, str path, found_file *best, int64_t *newest, error *err) {
    DIR *d;
    TRY(open_folder(path, &d, err));
    status st = OK;
    for (struct dirent *e; d && st == OK && (e = readdir(d));) {
        struct stat s;
        str name = str_of(e->d_name);
        if (e->d_name[0] == '.' || !str_ends(name, STR(".json")) ||
            fstatat(dirfd(d), e->d_name, &s, 0) != 0 || !S_ISREG(s.st_mode))
            continue;
        int64_t time = seconds_ns(s.st_mtim.tv_sec, s.st_mtim.tv_nsec);
        if (best->name.p &&
            (time < *newest || (time == *newest && str_cmp(name, best->name) < 0)))
            continue;
        *newest = time;
        best->path = arena_printf(m->arena, "%.*s/%.*s", STR_ARG(path), STR_ARG(name));
        best->name = arena_str(m->arena, name);
        if (!best->path.p || !best->name.p)
            st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    }
    if (d) closedir(d);
    return st;
}

/* msadvisor/device_#/recommendation of this device, or of any when the worker has no number. */
static status list_advice(ms *m, vec *list, str folder, error *err) {
    str path = arena_printf(m->arena, "%.*s/msadvisor", STR_ARG(folder));
    found_file best = {.kind = MS_MSADVISOR, .id = MINDSPORE_ANY_ID};
    int64_t newest = 0;
    status st = OK;
    if (!path.p) FAIL_MEMORY(err);
    DIR *d;
    TRY(open_folder(path, &d, err));
    for (struct dirent *e; d && st == OK && (e = readdir(d));) {
        int64_t id;
        str name = str_of(e->d_name);
        if (!str_starts(name, STR("device_")) || !str_to_i64(str_from(name, 7), &id) ||
            (m->id != MINDSPORE_ANY_ID && id != m->id))
            continue;
        str files =
            arena_printf(m->arena, "%.*s/%.*s/recommendation", STR_ARG(path), STR_ARG(name));
        st = files.p ? find_advice(m, files, &best, &newest, err)
                     : error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    }
    if (d) closedir(d);
    if (st != OK || !best.name.p) return st;
    found_file *to = vec_push(list);
    if (!to) FAIL_MEMORY(err);
    *to = best;
    return OK;
}

/* The description of the device is next to the folder of a job's raw files. */
static status list_device_info(ms *m, vec *list, str folder, error *err) {
    size_t slash = str_rfind_byte(folder, '/');
    if (!str_ends(folder, STR("/data")) || m->id == MINDSPORE_ANY_ID) return OK;
    str name = arena_printf(m->arena, "info.json.%lld", (long long)m->id), above,
        path = STR_NONE;
    above = arena_str(m->arena, str_n(folder.p, slash ? slash : 1));
    if (name.p && above.p)
        path = arena_printf(m->arena, "%.*s/%.*s", STR_ARG(above), STR_ARG(name));
    if (!path.p) FAIL_MEMORY(err);
    return access(path.p, R_OK) == 0 ? add_found(m, list, above, name, err) : OK;
}

static status list_parts(ms *m, vec *list, str folder, error *err) {
    for (size_t i = 0; i < N_MINDSPORE_PLACES; i++) {
        str path = arena_printf(m->arena, "%.*s%s", STR_ARG(folder), MINDSPORE_PLACES[i]);
        if (!path.p) FAIL_MEMORY(err);
        TRY(list_folder(m, list, path, err));
    }
    TRY(list_device_info(m, list, folder, err));
    TRY(list_advice(m, list, folder, err));
    return list_collectives(m, list, folder, err);
}

/* Numbers at the end of names are compared as numbers: slice_2 comes before slice_10. */
static str without_number(str path) {
    while (path.n && path.p[path.n - 1] >= '0' && path.p[path.n - 1] <= '9') path.n--;
    return path;
}

static int compare_files(const void *pa, const void *pb) {
    const found_file *a = pa, *b = pb;
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    str x = without_number(a->path), y = without_number(b->path);
    int order = str_cmp(x, y);
    if (order || a->path.n == b->path.n) return order ? order : str_cmp(a->path, b->path);
    return a->path.n < b->path.n ? -1 : 1;
}

static void know_platform(ms *m, str name) {
    m->ascend |= str_starts(name, STR("ascend_")) || str_starts(name, STR("aicore_")) ||
                 str_starts(name, STR("output_")) || str_starts(name, STR("hwts")) ||
                 str_starts(name, STR("training_trace")) || str_starts(name, STR("aicpu_")) ||
                 str_starts(name, STR("ts_track")) || str_starts(name, STR("aicore.")) ||
                 str_starts(name, STR("memory_usage_")) || str_starts(name, STR("msprof_")) ||
                 str_starts(name, STR("Framework."));
    m->gpu |= str_starts(name, STR("gpu_")) || str_starts(name, STR("activity_"));
}

/* Everything a source gives. */
static status read_all(source *s, buf *out, error *err) {
    piece pc;
    status st;
    while ((st = source_next(s, (size_t)4 << 20, 0, &pc, err)) == OK && pc.n) {
        buf_add(out, pc.p, pc.n);
        source_release(s, &pc);
        if (!buf_ok(out)) FAIL_MEMORY(err);
    }
    return st;
}

/* A piece of a file, or all of it, to its reader. */
static status hand_over(ms *m, int kind, str text, error *err) {
    uint64_t limit = m->o->memory_limit_bytes;
    m->bytes += text.n;
    m->seen[kind] = true;
    if (limit && builder_size_bytes(m->b) + m->exec.rows.n * sizeof(ms_exec) +
                         m->exec.mores.n * sizeof(ms_more) >
                     limit)
        FAIL(err, ERR_LIMIT, NOPOS, MSG_NEEDS_MEMORY, arg_cstr("path", m->file),
             arg_bytes("need", sat_i64(builder_size_bytes(m->b))),
             arg_bytes("limit", sat_i64(limit)));
    return ms_reader_of(kind)(m, text, err);
}

static void end_list(ms *m) {
    vec_fini(&m->list.names);
    map_fini(&m->list.by_id);
    m->list = (ms_list){.names = VEC_INIT(ms_name)};
}

static status read_bytes(ms *m, int kind, str text, error *err) {
    status st = hand_over(m, kind, text, err);
    end_list(m);
    return st;
}

/* A piece: the line that was cut by its start, its whole lines; the rest waits for the next. */
static status take_lines(ms *m, int kind, const piece *pc, buf *cut, error *err) {
    str text = str_n(pc->p, pc->n);
    if (cut->n) {
        size_t line = str_find(text, STR("\n"), 0), n = line == SIZE_MAX ? text.n : line + 1;
        buf_add(cut, text.p, n);
        text = str_from(text, n);
        if (!buf_ok(cut)) FAIL_MEMORY(err);
        if (line == SIZE_MAX) return OK;
        TRY(hand_over(m, kind, buf_str(cut), err));
        buf_clear(cut);
    }
    size_t last = str_rfind_byte(text, '\n'), whole = last == SIZE_MAX ? 0 : last + 1;
    m->list.offset = pc->offset + (uint64_t)(text.p - pc->p);
    if (whole) TRY(hand_over(m, kind, str_n(text.p, whole), err));
    m->list.offset += whole;
    buf_add(cut, text.p + whole, text.n - whole);
    if (!buf_ok(cut)) FAIL_MEMORY(err);
    return OK;
}

/* Bytes of a list for each execution, about. */
enum { BYTES_AN_EXEC = 96 };

/* A list is as large as a trace: it is read in place, never as a whole. */
static status read_list(ms *m, const found_file *f, source *s, error *err) {
    buf cut = {0};
    piece pc;
    status st = OK, read = OK;
    status room = vec_reserve(&m->exec.rows, sat_size(source_file_bytes(s) / BYTES_AN_EXEC));
    (void)room; /* only a wish */
    while (st == OK && (read = source_next(s, (size_t)4 << 20, 0, &pc, err)) == OK && pc.n) {
        st = take_lines(m, f->kind, &pc, &cut, err);
        source_release(s, &pc);
    }
    if (st == OK && cut.n) st = hand_over(m, f->kind, buf_str(&cut), err);
    buf_fini(&cut);
    end_list(m);
    if (source_damaged(s)) ms_lost(m, CAUSE_STREAM_DAMAGED, NOPOS, f->name);
    return st == OK ? read : st;
}

static status read_whole(ms *m, const found_file *f, source *s, error *err) {
    buf text = {0};
    status st = read_all(s, &text, err);
    if (st == OK) {
        if (source_damaged(s)) ms_lost(m, CAUSE_STREAM_DAMAGED, NOPOS, f->name);
        st = read_bytes(m, f->kind, buf_str(&text), err);
    }
    buf_fini(&text);
    return st;
}

static status read_file(ms *m, const found_file *f, error *err) {
    source *s = NULL;
    m->file = f->name.p;
    m->folder = f->folder.p ? f->folder.p : "";
    know_platform(m, f->name);
    TRY(source_open(f->path.p, &s, err));
    status st = ms_is_list(f->kind) ? read_list(m, f, s, err) : read_whole(m, f, s, err);
    source_close(s);
    return st;
}

/* ---- the front --------------------------------------------------------------------------- */

/* The folder of a worker and the folder's own number, from the path of one of its files. */
static status find_worker(ms *m, const char *path, str *folder, error *err) {
    str whole = str_of(path);
    size_t slash = str_rfind_byte(whole, '/');
    str name = slash == SIZE_MAX ? whole : str_from(whole, slash + 1);
    mindspore_name parsed = {.id = MINDSPORE_ANY_ID};
    (void)!mindspore_name_parse(name, &parsed);
    *folder = slash == SIZE_MAX ? STR(".") : str_n(path, slash ? slash : 1);
    size_t up = str_rfind_byte(*folder, '/');
    str last = up == SIZE_MAX ? *folder : str_from(*folder, up + 1), worker, stamp;
    str above = up == SIZE_MAX ? STR("..") : str_n(folder->p, up ? up : 1);
    /* A part of a cycle's folder or of a raw job: the folder around it is the worker. */
    size_t up2 = str_rfind_byte(above, '/');
    str above_name = up2 == SIZE_MAX ? above : str_from(above, up2 + 1);
    bool cycle = mindspore_folder_parse(above_name, &worker, &stamp);
    if (up != SIZE_MAX &&
        ((cycle && mindspore_is_part(last)) || str_eq(last, STR("host_info"))))
        *folder = above;
    bool is_cycle = cycle || mindspore_folder_parse(last, &worker, &stamp);
    /* Files of one cycle are of one process, whatever numbers they carry. */
    m->id = is_cycle ? MINDSPORE_ANY_ID : parsed.id;
    *folder = arena_str(m->arena, *folder);
    if (!folder->p) FAIL_MEMORY(err);
    return OK;
}

/* A timeline of CANN outside a cycle's folder is one of several exports of one recording: it is
 * read alone. */
static bool is_alone(const char *path, str folder) {
    str whole = str_of(path), worker, stamp;
    size_t slash = str_rfind_byte(whole, '/'), up = str_rfind_byte(folder, '/');
    mindspore_name name;
    return mindspore_name_parse(slash == SIZE_MAX ? whole : str_from(whole, slash + 1),
                                &name) &&
           name.kind == MS_TRACE_VIEW &&
           !mindspore_folder_parse(up == SIZE_MAX ? folder : str_from(folder, up + 1), &worker,
                                   &stamp);
}

static status list_files(ms *m, const char *path, vec *list, error *err) {
    str folder;
    TRY(find_worker(m, path, &folder, err));
    if (!is_alone(path, folder)) return list_parts(m, list, folder, err);
    str whole = str_of(path);
    size_t slash = str_rfind_byte(whole, '/');
    return add_found(m, list, folder, slash == SIZE_MAX ? whole : str_from(whole, slash + 1),
                     err);
}

static status read_worker(ms *m, const char *path, error *err) {
    vec list = VEC_INIT(found_file);
    status st = list_files(m, path, &list, err);
    found_file *files = VEC(&list, found_file);
    if (st == OK && list.n > 1) qsort(files, list.n, sizeof *files, compare_files);
    for (size_t i = 0; i < list.n && st == OK; i++) {
        if (m->o->progress && m->o->progress(m->o->progress_context, i, list.n))
            st = error_set(err, ERR_CANCELLED, NOPOS, MSG_CANCELLED, 0, NULL);
        else
            st = read_file(m, &files[i], err);
    }
    vec_fini(&list);
    return st;
}

status ms_read_kinds(ms *m, const str *folders, size_t n_folders, const bool *wanted,
                     error *err) {
    vec list = VEC_INIT(found_file);
    status st = OK;
    m->id = MINDSPORE_ANY_ID;
    for (size_t i = 0; i < n_folders && st == OK; i++)
        st = list_folder(m, &list, folders[i], err);
    found_file *files = VEC(&list, found_file);
    if (st == OK && list.n > 1) qsort(files, list.n, sizeof *files, compare_files);
    for (size_t i = 0; i < list.n && st == OK; i++)
        if (wanted[files[i].kind]) st = read_file(m, &files[i], err);
    vec_fini(&list);
    return st;
}

static status read_alone(ms *m, source *src, error *err) {
    buf text = {0};
    m->id = 0;
    status st = read_all(src, &text, err);
    int kind = st == OK ? ms_kind_of_text(buf_str(&text)) : -1;
    m->file = "";
    if (st == OK && kind >= 0) st = read_bytes(m, kind, buf_str(&text), err);
    if (st == OK && kind < 0)
        st = error_set(err, ERR_FORMAT, 0, MSG_MINDSPORE_NOTHING, 0, NULL);
    buf_fini(&text);
    return st;
}

void ms_end(ms *m) {
    vec_fini(&m->exec.rows);
    vec_fini(&m->exec.mores);
    vec_fini(&m->exec.details);
    map_fini(&m->exec.detail_at);
    map_fini(&m->exec.launches);
    end_list(m);
    vec_fini(&m->memory.rows);
    vec_fini(&m->comm.hccl);
    vec_fini(&m->comm.links);
    vec_fini(&m->known.rows);
    vec_fini(&m->task.open_counts);
    map_fini(&m->task.last);
    map_fini(&m->task.open);
    map_fini(&m->known.by_name);
    map_fini(&m->task.by_key);
    vec_fini(&m->task.names);
    vec_fini(&m->track.points);
    map_fini(&m->task.hash_names);
    arena_fini(m->arena);
}

ms ms_begin(builder *b, const ingest_options *o, arena *a) {
    return (ms){.b = b,
                .o = o,
                .arena = a,
                .part = builder_part(b),
                .device = ABSENT_I64,
                .file = "",
                .folder = "",
                .parallel = row_parallel_none(),
                .resource = row_resource_none(),
                .exec = {.rows = VEC_INIT(ms_exec),
                         .mores = VEC_INIT(ms_more),
                         .details = VEC_INIT(ms_detail)},
                .list = {.names = VEC_INIT(ms_name)},
                .memory = {.rows = VEC_INIT(raw_memory), .capacity = ABSENT_I64},
                .known = {.rows = VEC_INIT(ms_known)},
                .task = {.names = VEC_INIT(uint32_t), .open_counts = VEC_INIT(uint64_t)},
                .track = {.points = VEC_INIT(ms_point)}};
}

status ms_read_one(int kind, str text, builder *b, error *err) {
    arena a;
    arena_init(&a, 0);
    ms m = ms_begin(b, &(ingest_options){.memory_limit_bytes = (uint64_t)512 << 20}, &a);
    status st = m.part ? read_bytes(&m, kind, text, err) : ERR_MEMORY;
    if (st == OK) st = ms_emit(&m, err);
    if (st == OK) part_finish(m.part);
    ms_end(&m);
    return st;
}

/* Tables of CANN alone: nothing says which framework ran. */
static bool is_cann_alone(const ms *m, str path) {
    static const int own[] = {MS_KERNEL_DETAILS,       MS_MEMORY_RECORD, MS_OPERATOR_MEMORY,
                              MS_COMMUNICATION,        MS_STEP_TIME,     MS_METADATA,
                              MS_COMMUNICATION_MATRIX, MS_INFO_ALONE,    MS_OPERATOR_DETAILS};
    bool other[MS_MOST_KINDS];
    memcpy(other, m->seen, sizeof other);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) other[own[i]] = false;
    return m->seen[MS_KERNEL_DETAILS] && !memchr(other, true, sizeof other) &&
           str_find(path, STR("_ascend_ms/"), 0) == SIZE_MAX;
}

status ingest_mindspore(source *src, const ingest_options *o, builder *b, error *err) {
    arena a;
    arena_init(&a, 0);
    ms m = ms_begin(b, o, &a);
    mindspore_name parsed;
    str path = o->path ? str_of(o->path) : STR_NONE;
    size_t slash = str_rfind_byte(path, '/');
    bool named = path.n && mindspore_name_parse(
                               slash == SIZE_MAX ? path : str_from(path, slash + 1), &parsed);
    status st = m.part ? OK : error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    if (st == OK) st = named ? read_worker(&m, o->path, err) : read_alone(&m, src, err);
    if (st == OK) st = ms_emit(&m, err);
    if (st == OK) {
        builder_set_format(b, is_cann_alone(&m, path) ? "cann" : "mindspore");
        builder_set_input_bytes(b, m.bytes);
        part_finish(m.part);
    }
    ms_end(&m);
    return st;
}
