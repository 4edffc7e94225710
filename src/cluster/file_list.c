/* file_list.c: the files of a run that many processes read, and what became of each.
 *
 * List and outcomes travel as texts that each end in NUL, which no path contains, so that the
 * receiver can use them in place. Bytes of another process are checked like those of a file. */
#include "cluster/file_list.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sort.h"

/* ---- making ------------------------------------------------------------------------------ */

static const span_entry *choose_span(const worker_entry *w, str span) {
    int64_t number;
    if (span.n && str_to_i64(span, &number) && number > 0)
        return worker_span(w, (uint32_t)number);
    return &w->spans[w->n_spans - 1];
}

static int compare_sizes(uint32_t a, uint32_t b, const void *context) {
    const listed_file *f = context;
    if (f[a].size_bytes != f[b].size_bytes) return f[a].size_bytes > f[b].size_bytes ? -1 : 1;
    return (a > b) - (a < b);
}

status file_list_make(arena *a, const run_entry *run, str span, file_list *out, error *err) {
    uint32_t n = run_whole(run);
    uint32_t *order = ARENA_ARRAY(a, uint32_t, n + 1),
             *scratch = ARENA_ARRAY(a, uint32_t, n + 1);
    listed_file *files = ARENA_ARRAY(a, listed_file, n + 1);
    listed_file *sorted = ARENA_ARRAY(a, listed_file, n + 1);
    if (!order || !scratch || !files || !sorted) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < n; i++) {
        const worker_entry *w = &run->workers[i];
        const span_entry *s = choose_span(w, span);
        order[i] = i;
        files[i] = (listed_file){.worker = w->name,
                                 .path = s->path,
                                 .rank = w->rank,
                                 .process = s->process,
                                 .size_bytes = s->size_bytes};
    }
    sort_index(order, scratch, n, compare_sizes, files);
    for (uint32_t i = 0; i < n; i++) sorted[i] = files[order[i]];
    *out = (file_list){.files = sorted, .n = n, .arena = a};
    return OK;
}

/* ---- on the way -------------------------------------------------------------------------- */

static void put_text(buf *out, str text) {
    buf_add_str(out, text);
    buf_add_byte(out, 0);
}

static void put_number(buf *out, int64_t v) {
    buf_add_i64(out, v);
    buf_add_byte(out, 0);
}

static bool take_text(str *rest, str *out) {
    const char *end = rest->n ? memchr(rest->p, 0, rest->n) : NULL;
    if (!end) return false;
    *out = str_n(rest->p, (size_t)(end - rest->p));
    *rest = str_from(*rest, out->n + 1);
    return true;
}

static bool take_number(str *rest, int64_t *out) {
    str text;
    return take_text(rest, &text) && str_to_i64(text, out);
}

static bool take_file(str *rest, listed_file *f) {
    int64_t size;
    *f = (listed_file){.state = FILE_UNREAD};
    bool ok = take_text(rest, &f->worker) && take_text(rest, &f->path) &&
              take_number(rest, &f->rank) && take_number(rest, &f->process) &&
              take_number(rest, &size) && size >= 0;
    if (ok) f->size_bytes = (uint64_t)size;
    return ok;
}

static status read_list(arena *a, str bytes, file_list *out, error *err) {
    int64_t n;
    str rest = arena_str(a, bytes);
    if (bytes.n && !rest.p) FAIL_MEMORY(err);
    if (!take_number(&rest, &n) || n < 0 || (uint64_t)n > rest.n)
        FAIL0(err, ERR_FORMAT, NOPOS, MSG_CLUSTER_LOST);
    listed_file *files = ARENA_ARRAY(a, listed_file, (size_t)n + 1);
    if (!files) FAIL_MEMORY(err);
    for (int64_t i = 0; i < n; i++)
        if (!take_file(&rest, &files[i])) FAIL0(err, ERR_FORMAT, NOPOS, MSG_CLUSTER_LOST);
    *out = (file_list){.files = files, .n = (uint32_t)n, .arena = a};
    return OK;
}

status file_list_share(transport *t, arena *a, file_list *list, error *err) {
    buf bytes = {0};
    if (t->size == 1) return OK;
    if (t->rank == 0) put_number(&bytes, list->n);
    for (uint32_t i = 0; i < list->n && t->rank == 0; i++) {
        const listed_file *f = &list->files[i];
        put_text(&bytes, f->worker);
        put_text(&bytes, f->path);
        put_number(&bytes, f->rank);
        put_number(&bytes, f->process);
        put_number(&bytes, (int64_t)f->size_bytes);
    }
    status st = buf_ok(&bytes) ? transport_broadcast(t, &bytes, err)
                               : error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    if (st == OK && t->rank != 0) st = read_list(a, buf_str(&bytes), list, err);
    buf_fini(&bytes);
    return st;
}

static status put_outcomes(void *context, buf *out, error *err) {
    const file_list *list = context;
    for (uint32_t i = 0; i < list->n; i++) {
        const listed_file *f = &list->files[i];
        if (f->state == FILE_UNREAD) continue;
        put_number(out, i);
        put_number(out, f->state);
        put_text(out, f->reason);
        put_text(out, f->sentence);
    }
    if (!buf_ok(out)) FAIL_MEMORY(err);
    return OK;
}

static status join_outcomes(void *context, str bytes, error *err) {
    file_list *list = context;
    for (str rest = bytes; rest.n;) {
        int64_t i, state;
        str reason, sentence;
        if (!take_number(&rest, &i) || !take_number(&rest, &state) ||
            !take_text(&rest, &reason) || !take_text(&rest, &sentence) || i < 0 ||
            i >= list->n || state <= FILE_UNREAD || state >= N_FILE_STATES)
            FAIL0(err, ERR_FORMAT, NOPOS, MSG_CLUSTER_LOST);
        listed_file *f = &list->files[i];
        f->state = (file_state)state;
        f->reason = arena_str(list->arena, reason);
        f->sentence = arena_str(list->arena, sentence);
        if (!f->reason.p || !f->sentence.p) FAIL_MEMORY(err);
    }
    return OK;
}

status file_list_gather(transport *t, file_list *list, error *err) {
    transport_tree tree = {put_outcomes, join_outcomes, list};
    return transport_gather(t, &tree, err);
}

/* ---- one file ---------------------------------------------------------------------------- */

/* Opens the file to ask: NFS checks its cached attributes then, and not for a plain stat. */
bool listed_file_is_same(const listed_file *f) {
    struct stat st;
    int fd = open(f->path.p, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return true;
    bool known = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    close(fd);
    if (!known) return true;
    return (uint64_t)st.st_size == f->size_bytes;
}

uint32_t file_list_count(const file_list *list, file_state state) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < list->n; i++) n += list->files[i].state == state;
    return n;
}
