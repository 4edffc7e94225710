/* inside.c: the service of the page without a server: a host in JavaScript asks by these
 * functions what a browser asks `tacho serve` by HTTP, and gets the same answers.
 *
 *     page_open(folder, takes_files)             once
 *     page_ask("/api/v1/overview?lang=en", 0)    answered by the call of host_answer
 *     page_ask("/api/v1/upload?name=…", bytes)   the same; host_give puts the file into place
 *     page_work()                                a file is read, or its facts are made
 *     page_look()                                the folder is looked through again
 *
 * There are no threads: a call ends when its work is done. What happens meanwhile is what
 * host_tell says: the host shows it while it waits. */
#include "wasm/inside.h"

#include <unistd.h>

#include "analyse/run/reduce.h"
#include "base/mem.h"
#include "base/message_ids_http.h"
#include "base/num.h"
#include "base/vec.h"
#include "serve/announce.h"
#include "serve/answer_cache.h"
#include "serve/facts.h"
#include "serve/run_cache.h"
#include "serve/service.h"

#ifdef __wasm__
#define EXPORT(name) __attribute__((export_name(#name)))
#define IMPORT(name) __attribute__((import_module("tacho"), import_name(#name)))
#else /* for tools that look at all files */
#define EXPORT(name)
#define IMPORT(name)
#endif

#define QUESTION_BYTES ((size_t)512 << 20)
#define ANSWER_BYTES ((size_t)256 << 20)
/* Files stay where they are: they take no room. */
#define GIVEN_BYTES (UINT64_C(1) << 40)

/* The answer of the question that is being asked, valid during the call. */
IMPORT(answer)
void host_answer(int code, const char *media, size_t n_media, const char *name, size_t n_name,
                 const char *body, size_t n_body);
/* Events as the objects of docs/SERVER.md, separated by commas. */
IMPORT(tell) void host_tell(const char *events, size_t n);
/* The file that came with the question has this path from now on. */
IMPORT(give) void host_give(const char *path, size_t n);

typedef struct {
    uint32_t entry;
    held_trace *held;
} fresh_trace;

static service page = {
    .memory_bytes = QUESTION_BYTES, .answer_bytes = ANSWER_BYTES, .instance = "inside"};
static uint64_t n_heard; /* events */
static vec fresh = {.elem_bytes =
                        sizeof(fresh_trace)}; /* were read, and nothing is known of them yet */

static void tell_news(void) {
    buf list = {0};
    bool missed;
    n_heard = event_bus_since(page.event_bus, n_heard, &list, &missed);
    if (list.n && buf_ok(&list)) host_tell(list.p, list.n);
    buf_fini(&list);
}

static void on_event(void *context, const live_event *e) {
    (void)context;
    announce(&page, e);
    fresh_trace *f = e->what == LIVE_READY && e->held ? vec_push(&fresh) : NULL;
    if (f) *f = (fresh_trace){e->entry, held_retain(e->held)};
    tell_news();
}

/* ---- memory of the host's texts ---------------------------------------------------------- */

EXPORT(page_room) void *page_room(size_t n) {
    return mem_alloc(n);
}

EXPORT(page_room_back) void page_room_back(void *p) {
    mem_free(p);
}

/* ---- questions --------------------------------------------------------------------------- */

/* The file of an export becomes the body. */
static status read_body(reply *r, error *err) {
    size_t n = sat_size(r->fd_bytes);
    if (lseek(r->fd, 0, SEEK_SET) != 0 || !buf_reserve(&r->body, n)) FAIL_MEMORY(err);
    for (ssize_t got; r->body.n < n; r->body.n += (size_t)got)
        if ((got = read(r->fd, r->body.p + r->body.n, n - r->body.n)) <= 0) FAIL_MEMORY(err);
    return OK;
}

static status take_file(request_ctx *x, double bytes, error *err) {
    if (x->request.route != NUMBER_upload) return OK;
    if (!page.uploads) FAIL0(err, ERR_ARG, NOPOS, MSG_UPLOAD_OFF);
    TRY(upload_begin(page.uploads, (uint64_t)real_i64(bytes), &x->upload, err));
    host_give(x->upload.path, strlen(x->upload.path));
    x->upload.written = x->upload.bytes;
    return OK;
}

static status answer_one(request_ctx *x, double file_bytes, error *err) {
    bool waits = false;
    TRY(request_ctx_parse(x, err));
    TRY(take_file(x, file_bytes, err));
    if (x->request.work == WORK_TRACE) TRY(request_open(x, &waits, err));
    if (waits) {
        request_loading(x);
        return OK;
    }
    TRY(request_answer(x, err));
    return x->reply.fd >= 0 ? read_body(&x->reply, err) : OK;
}

EXPORT(page_ask) void page_ask(const char *target, size_t n, double file_bytes) {
    error err = {.status = OK};
    request_ctx x;
    request_begin(&x, &page);
    x.target = str_n(target, n);
    if (answer_one(&x, file_bytes, &err) != OK) request_fail(&x, &err);
    const reply *r = &x.reply;
    host_answer(r->code, r->media, strlen(r->media), r->name, strlen(r->name), r->body.p,
                r->body.n);
    request_end(&x);
    live_trim(page.live);
}

/* ---- work -------------------------------------------------------------------------------- */

EXPORT(page_look) int page_look(void) {
    error err;
    bool again = false;
    if (live_look(page.live, &again, &err) != OK) return 1;
    return again;
}

/* What the list of runs shows of a trace; asked for an overview it is known already. */
static void make_facts(const fresh_trace *f) {
    if (!facts_are_of(page.facts, f->entry, f->held))
        facts_make(page.facts, f->entry, f->held, page.pool);
    held_release(f->held);
    announce_runs(&page);
    tell_news();
}

EXPORT(page_work) int page_work(void) {
    if (live_read(page.live)) return 1;
    if (!fresh.n) return 0;
    fresh_trace next = VEC(&fresh, fresh_trace)[--fresh.n];
    make_facts(&next);
    return 1;
}

/* ---- the start --------------------------------------------------------------------------- */

static status open_parts(const char *folder, bool takes_files, error *err) {
    page.pool = pool_new(1);
    page.facts = facts_new();
    page.run_cache = run_cache_new();
    page.answers = answer_cache_new();
    page.event_bus = event_bus_new();
    if (takes_files) page.uploads = uploads_new(GIVEN_BYTES);
    if (!page.pool || !page.facts || !page.run_cache || !page.answers || !page.event_bus ||
        (takes_files && !page.uploads))
        FAIL_MEMORY(err);
    live_options how = {.path = folder,
                        .also = takes_files ? uploads_path(page.uploads) : NULL,
                        .threads = 1,
                        .no_cache = true,
                        .follow_links = true,
                        .reduce = reduce_worker,
                        .event = on_event};
    return live_open(&how, &page.live, err);
}

/* 0, or the failure is the answer. */
EXPORT(page_open) int page_open(const char *folder, int takes_files) {
    error err = {.status = OK};
    if (open_parts(folder, takes_files, &err) == OK) return 0;
    buf sentence = {0};
    text_error(&sentence, LANG_EN, &err);
    host_answer(500, "text/plain", 10, "", 0, sentence.p, sentence.n);
    buf_fini(&sentence);
    return 1;
}
