/* found_files.c: from the flat list of trace files to the catalogue.
 *
 * Sorting the list puts the files of a run, of a worker and of a span next to each other, so
 * the catalogue is cut out of it in one pass. Two files of the same worker and stamp (a trace
 * and its compressed copy) are one span: the least packed one counts. */
#include <stdlib.h>

#include "base/num.h"
#include "session/discover_int.h"
#include "session/sniff.h"

int found_compare(const void *pa, const void *pb) {
    const found_file *a = pa, *b = pb;
    int c = name_compare(a->run_name, b->run_name);
    if (c == 0) c = str_cmp(a->name.worker, b->name.worker);
    if (c == 0) c = name_compare_stamps(a->name.stamp, b->name.stamp);
    if (c == 0) c = a->name.memory - b->name.memory;
    if (c == 0) c = a->name.packing - b->name.packing;
    return c ? c : str_cmp(a->path, b->path);
}

static bool same_run(const found_file *a, const found_file *b) {
    return str_eq(a->run_path, b->run_path) && str_eq(a->run_name, b->run_name);
}
static bool same_worker(const found_file *a, const found_file *b) {
    return same_run(a, b) && str_eq(a->name.worker, b->name.worker);
}
bool found_same_span(const found_file *a, const found_file *b) {
    return same_worker(a, b) && name_compare_stamps(a->name.stamp, b->name.stamp) == 0;
}

static void note_time(run_entry *run, int64_t start_ns, int64_t mtime_ns) {
    bool known = start_ns != INT64_MIN;
    if (known && (run->start_ns == INT64_MIN || start_ns < run->start_ns))
        run->start_ns = start_ns;
    run->newest_ns = max_i64(run->newest_ns, known ? start_ns : mtime_ns);
}

/* files: sorted, n > 0. Each file starts a new run, worker or span, or is another copy of the
 * last. */
status catalogue_cut(arena *a, const found_file *f, size_t n, catalogue *out, error *err) {
    size_t n_runs = 0, n_workers = 0, n_spans = 0;
    for (size_t i = 0; i < n; i++) {
        n_runs += i == 0 || !same_run(&f[i - 1], &f[i]);
        n_workers += i == 0 || !same_worker(&f[i - 1], &f[i]);
        n_spans += i == 0 || !found_same_span(&f[i - 1], &f[i]);
    }
    run_entry *run = ARENA_ARRAY(a, run_entry, n_runs);
    worker_entry *worker = ARENA_ARRAY(a, worker_entry, n_workers);
    span_entry *span = ARENA_ARRAY(a, span_entry, n_spans);
    if (!run || !worker || !span) FAIL_MEMORY(err);
    out->runs = run--;
    worker--;
    span--;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || !same_run(&f[i - 1], &f[i]))
            *++run = (run_entry){.name = f[i].run_name,
                                 .path = f[i].run_path,
                                 .workers = worker + 1,
                                 .start_ns = INT64_MIN,
                                 .newest_ns = INT64_MIN};
        if (i == 0 || !same_worker(&f[i - 1], &f[i])) {
            run->n_workers++;
            *++worker = (worker_entry){.name = f[i].name.worker,
                                       .memory = f[i].name.memory,
                                       .host = f[i].name.host,
                                       .spans = span + 1};
        }
        if (i > 0 && found_same_span(&f[i - 1], &f[i])) continue;
        int64_t start = f[i].start_ns ? f[i].start_ns : name_stamp_ns(f[i].name.stamp);
        note_time(run, start, f[i].mtime_ns);
        *++span = (span_entry){.path = f[i].path,
                               .start_ns = start,
                               .stamp = f[i].name.stamp,
                               .own = f[i].own,
                               .process = f[i].process,
                               .number = ++worker->n_spans,
                               .size_bytes = f[i].size_bytes,
                               .mtime_ns = f[i].mtime_ns};
    }
    out->n_runs = (uint32_t)n_runs;
    for (uint32_t i = 0; i < out->n_runs; i++) roles_settle(&out->runs[i]);
    return OK;
}

/* The number a file gives to its span. */
static status ask_file(arena *a, found_file *f, error *err) {
    int64_t number;
    f->own = str_n("", 0);
    if (!f->name.asks_file || !sniff_span(f->path.p, &number)) return OK;
    f->own = arena_printf(a, "%lld", (long long)number);
    if (!f->own.p) FAIL_MEMORY(err);
    return OK;
}

/* The names were borrowed from file names: make them end in NUL. */
static status own_names(arena *a, found_file *f, size_t n, error *err) {
    for (size_t i = 0; i < n; i++) {
        f[i].name.worker = arena_str(a, f[i].name.worker);
        f[i].name.stamp = arena_str(a, f[i].name.stamp);
        if (!f[i].name.worker.p || !f[i].name.stamp.p) FAIL_MEMORY(err);
        TRY(ask_file(a, &f[i], err));
    }
    return OK;
}

/* A snapshot or another form of the same stem is not a copy of the trace: it is named by its
 * whole name. */
static void name_other_forms(found_file *f, size_t n) {
    for (size_t i = 1; i < n; i++)
        if (found_same_span(&f[i - 1], &f[i]) && f[i - 1].name.memory != f[i].name.memory) {
            found_file *m = f[i].name.memory ? &f[i] : &f[i - 1];
            size_t slash = str_rfind_byte(m->path, '/');
            m->name.worker = slash == SIZE_MAX ? m->path : str_from(m->path, slash + 1);
        }
}

status found_sort(arena *a, found_file *files, size_t n, error *err) {
    TRY(own_names(a, files, n, err));
    qsort(files, n, sizeof *files, found_compare);
    name_other_forms(files, n);
    qsort(files, n, sizeof *files, found_compare);
    return OK;
}

/* Files that were named, and all of the processes in them. */
status catalogue_of_given(arena *a, const found_file *f, size_t n, catalogue *out, error *err) {
    vec files = VEC_INIT(found_file);
    status s = OK;
    for (size_t i = 0; i < n && s == OK; i++) {
        found_file *to = vec_push(&files);
        if (to)
            *to = f[i];
        else
            s = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    }
    if (s == OK) s = processes_part(a, &files, true, err);
    found_file *all = VEC(&files, found_file);
    if (s == OK) s = found_sort(a, all, files.n, err);
    if (s == OK) s = recordings_split(a, all, files.n, err);
    if (s == OK) qsort(all, files.n, sizeof *all, found_compare);
    if (s == OK) s = catalogue_cut(a, all, files.n, out, err);
    vec_fini(&files);
    return s;
}

status catalogue_of_files(arena *a, found_file *files, size_t n, catalogue *out, error *err) {
    TRY(found_sort(a, files, n, err));
    return catalogue_cut(a, files, n, out, err);
}
