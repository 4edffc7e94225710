/* server.c: exchanges over HTTP, by libmicrohttpd; the only file that knows it.
 *
 *   thread of the library        our workers                  threads of the catalogue
 *   first call: nothing yet
 *   second call: guard, parse
 *     file, ping: answer
 *     else: suspend ──────────>  open: trace there? ── no ──> parked until it tells
 *                                answer <─────────────────────────┘
 *   third call: send <────────── resume
 *
 * An answer on the library's first call would close the connection, so none is given there. A
 * connection that is suspended must be resumed before the library is stopped: what is in the
 * queue, parked or listening to events gets its end first (server_stop).
 *
 * A call owns its exchange and lives until the library says that the request is over. Between
 * suspend and resume only one of our threads touches it. */
#include "serve/server.h"

#include <errno.h>
#include <limits.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "analyse/run/reduce.h"
#include "base/clock.h"
#include "base/fmt.h"
#include "base/folders.h"
#include "base/mem.h"
#include "base/message_ids_http.h"
#include "base/num.h"
#include "serve/announce.h"
#include "serve/answer_cache.h"
#include "serve/connections.h"
#include "serve/event_bus.h"
#include "serve/expected.h"
#include "serve/facts.h"
#include "serve/guard.h"
#include "serve/listen.h"
#include "serve/newest_asked.h"
#include "serve/page.h"
#include "serve/run_cache.h"
#include "serve/workers.h"
#include "session/cache.h"

enum {
    MOST_CONNECTIONS = 256,
    /* Beyond them for as long as the closing of another one takes. The library may hold more:
     * once its own limit is reached (0.9.75, epoll) it accepts nothing any more. */
    CROWDED_CONNECTIONS = MOST_CONNECTIONS + 32,
    MOST_JOBS = 512,
    CONNECTION_BYTES = 48 << 10, /* request line and headers */
    TIMEOUT_S = 120,
    KEEP_OPEN_S = 15,
    MOST_BODY_BYTES = 64 << 10, /* of a GET, read to be able to refuse it */
};
#define EXCHANGE_BYTES ((size_t)512 << 20)
#define ANSWER_BYTES ((size_t)64 << 20)
#define FAREWELL_NS 1000000000 /* for pages to read that the server ends */

typedef struct MHD_Connection connection;

typedef enum { STAGE_NEW, STAGE_READ, STAGE_BODY, STAGE_WORKING, STAGE_DONE } stage;

typedef struct call call;
struct call {
    server *server;
    connection *connection;
    call *next; /* in the list of the parked */
    stage stage;
    bool begun; /* the exchange is set up */
    guard_answer guard;
    int64_t cpu_ns, wall_ns;
    request_ctx x;
    size_t n_body; /* of a GET, which has none */
    size_t n_target;
    char target[]; /* ends in NUL */
};

struct server {
    struct MHD_Daemon *daemon;
    listen_socket listening;
    lang words; /* see server_options */
    guard_rules rules;
    char token[33], cookie[32], url[400], source_root[PATH_MAX], served[PATH_MAX];
    char temporary[256]; /* everything of the sandbox that may be written; empty: none */
    sandbox_state sandbox;
    buf port_owner;
    service service;
    workers *workers;
    atomic_bool ending;
    live *_Atomic started;   /* the catalogue, once it runs; for the clock */
    atomic_int ticks;        /* of the workers' clock */
    connections connections; /* of the library's thread alone */
    int n_connections;
    newest_asked newest;

    pthread_mutex_t lock; /* guards what follows */
    call *parked;
    uint64_t wakes; /* how often the catalogue reported something */
};

/* ---- sending ----------------------------------------------------------------------------- */

static void add_header(struct MHD_Response *r, const char *name, const char *value) {
    (void)MHD_add_response_header(r, name, value);
}

static void add_common_headers(struct MHD_Response *r) {
    add_header(r, "Content-Security-Policy", PAGE_POLICY);
    add_header(r, "X-Content-Type-Options", "nosniff");
    add_header(r, "Referrer-Policy", "no-referrer");
    add_header(r, "Cross-Origin-Resource-Policy", "same-origin");
    add_header(r, "Cross-Origin-Opener-Policy", "same-origin-allow-popups");
}

static void add_reply_headers(struct MHD_Response *to, const call *c) {
    const reply *r = &c->x.reply;
    char text[256];
    add_common_headers(to);
    if (r->code != 304) add_header(to, "Content-Type", r->media);
    add_header(to, "Cache-Control",
               r->immutable ? "public, max-age=31536000, immutable" : "no-cache");
    if (r->varies) add_header(to, "Vary", "Accept-Encoding");
    if (r->gzip) add_header(to, "Content-Encoding", "gzip");
    if (r->etag[0]) add_header(to, "ETag", r->etag);
    if (r->code == 503) add_header(to, "Retry-After", "1");
    if (r->code == 405) add_header(to, "Allow", "GET, HEAD");
    if (r->name[0]) {
        snprintf(text, sizeof text, "attachment; filename=\"%s\"", r->name);
        add_header(to, "Content-Disposition", text);
    }
    snprintf(text, sizeof text, "handler;dur=%.3f, wall;dur=%.3f", (double)c->cpu_ns / 1e6,
             (double)c->wall_ns / 1e6);
    add_header(to, "Server-Timing", text);
}

static enum MHD_Result queue(connection *con, unsigned code, struct MHD_Response *r) {
    if (!r) return MHD_NO;
    enum MHD_Result done = MHD_queue_response(con, code, r);
    MHD_destroy_response(r);
    return done;
}

/* The body stays with the call, which lives until everything is sent. */
static enum MHD_Result send_reply(call *c) {
    reply *r = &c->x.reply;
    struct MHD_Response *to;
    if (r->fd >= 0 && r->code == 200) {
        to = MHD_create_response_from_fd64(r->fd_bytes, r->fd);
        if (to) r->fd = -1; /* the library closes it */
    } else {
        to = MHD_create_response_from_buffer(r->body.n, r->body.p, MHD_RESPMEM_PERSISTENT);
    }
    if (to) add_reply_headers(to, c);
    return queue(c->connection, (unsigned)r->code, to);
}

static enum MHD_Result send_failure(call *c, const error *err) {
    request_fail(&c->x, err);
    return send_reply(c);
}

static str header(connection *con, const char *name) {
    return str_of(MHD_lookup_connection_value(con, MHD_HEADER_KIND, name));
}

/* To the page, with the token in a cookie that no script and no other site sees. */
static enum MHD_Result send_login(call *c) {
    char cookie[128];
    struct MHD_Response *to = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    if (!to) return MHD_NO;
    snprintf(cookie, sizeof cookie, "%s=%s; HttpOnly; SameSite=Strict; Path=/",
             c->server->cookie, c->server->token);
    add_common_headers(to);
    add_header(to, "Set-Cookie", cookie);
    add_header(to, "Location", "/");
    add_header(to, "Cache-Control", "no-store");
    return queue(c->connection, 302, to);
}

static enum MHD_Result send_file(call *c) {
    reply *r = &c->x.reply;
    const page_file *f = page_find(c->x.request.path);
    error err;
    if (!f) {
        error_set(&err, ERR_NOT_FOUND, NOPOS, MSG_HTTP_NO_FILE, 0, NULL);
        return send_failure(c, &err);
    }
    bool gzip = page_wants_gzip(header(c->connection, "Accept-Encoding"));
    const page_form *form = gzip ? &f->gzip : &f->plain;
    bool same = str_find(c->x.if_none_match, str_of(form->etag), 0) != SIZE_MAX;
    r->code = same ? 304 : 200;
    r->media = f->media;
    r->varies = true;
    r->gzip = gzip && !same;
    r->immutable = f->immutable != 0;
    snprintf(r->etag, sizeof r->etag, "%s", form->etag);
    struct MHD_Response *to = MHD_create_response_from_buffer(
        same ? 0 : (size_t)form->n, (void *)(uintptr_t)form->bytes, MHD_RESPMEM_PERSISTENT);
    if (to) add_reply_headers(to, c);
    return queue(c->connection, (unsigned)r->code, to);
}

/* ---- events ------------------------------------------------------------------------------ */

typedef struct {
    server *server;
    connection *connection;
    listener *listener;
} stream;

static void sleep_stream(void *context) {
    MHD_suspend_connection(((stream *)context)->connection);
}

static void wake_stream(void *context) {
    MHD_resume_connection(((stream *)context)->connection);
}

static ssize_t read_stream(void *context, uint64_t pos, char *to, size_t n) {
    stream *s = context;
    (void)pos;
    size_t got = event_bus_read(s->server->service.event_bus, s->listener, to, n);
    return got == EVENT_BUS_END ? MHD_CONTENT_READER_END_OF_STREAM : (ssize_t)got;
}

static void free_stream(void *context) {
    stream *s = context;
    if (s->listener) event_bus_leave(s->server->service.event_bus, s->listener);
    mem_free(s);
}

static enum MHD_Result send_events(call *c) {
    server *s = c->server;
    error err;
    buf first = {0};
    stream *st = mem_zalloc(sizeof *st);
    buf_printf(&first, "{\"instance\":\"%s\",\"version\":%llu}", s->service.instance,
               (unsigned long long)live_sum(s->service.live).version);
    if (st) {
        *st = (stream){.server = s, .connection = c->connection};
        if (buf_ok(&first))
            st->listener = event_bus_join(s->service.event_bus, buf_str(&first), sleep_stream,
                                          wake_stream, st);
    }
    buf_fini(&first);
    if (!st || !st->listener) {
        mem_free(st);
        error_set(&err, ERR_LIMIT, NOPOS, MSG_HTTP_BUSY, 0, NULL);
        return send_failure(c, &err);
    }
    struct MHD_Response *to =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 4096, read_stream, st, free_stream);
    if (!to) {
        free_stream(st);
        return MHD_NO;
    }
    add_common_headers(to);
    add_header(to, "Content-Type", "text/event-stream");
    add_header(to, "Cache-Control", "no-cache");
    return queue(c->connection, 200, to);
}

/* ---- working ----------------------------------------------------------------------------- */

static void finish(call *c) {
    c->stage = STAGE_DONE;
    MHD_resume_connection(c->connection);
}

static void finish_with(call *c, uint16_t message) {
    error err;
    error_set(&err, ERR_LIMIT, NOPOS, message, 0, NULL);
    request_fail(&c->x, &err);
    finish(c);
}

/* A newer viewport was asked for, or the client no longer waits for the answer. */
static bool is_superseded(call *c) {
    const request *r = &c->x.request;
    return request_is_left(&c->x) ||
           (r->route == NUMBER_viewport &&
            newest_asked_is_older(&c->server->newest, r->client, r->seq));
}

/* Puts the call aside until the catalogue reports something; false when it has meanwhile. */
static bool park(call *c, uint64_t wakes) {
    server *s = c->server;
    pthread_mutex_lock(&s->lock);
    bool still = s->wakes == wakes && !atomic_load(&s->ending);
    if (still) {
        c->next = s->parked;
        s->parked = c;
    }
    pthread_mutex_unlock(&s->lock);
    return still;
}

static uint64_t read_wakes(server *s) {
    pthread_mutex_lock(&s->lock);
    uint64_t n = s->wakes;
    pthread_mutex_unlock(&s->lock);
    return n;
}

static void give_answer(call *c) {
    request_ctx *x = &c->x;
    error err = {.status = OK};
    int64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID), wall = clock_ns(CLOCK_MONOTONIC);
    if (request_answer(x, &err) != OK) request_fail(x, &err);
    c->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
    c->wall_ns = clock_ns(CLOCK_MONOTONIC) - wall;
    finish(c);
}

static void work_on(void *context, bool cancelled) {
    call *c = context;
    server *s = c->server;
    request_ctx *x = &c->x;
    for (;;) {
        bool waits = false;
        error err = {.status = OK};
        uint64_t wakes = read_wakes(s);
        if (cancelled || atomic_load(&s->ending)) {
            finish_with(c, MSG_HTTP_ENDING);
            return;
        }
        if (is_superseded(c)) {
            finish_with(c, MSG_HTTP_SUPERSEDED);
            return;
        }
        if (request_open(x, &waits, &err) != OK) {
            request_fail(x, &err);
            finish(c);
            return;
        }
        if (!waits) {
            give_answer(c);
            return;
        }
        if (x->request.wait == 0) {
            request_loading(x);
            finish(c);
            return;
        }
        if (park(c, wakes)) return;
    }
}

/* Those that may take seconds on one thread: the time of a query is limited, not small. */
static job_kind kind_of(const request *r) {
    bool asks_sql = r->route == NUMBER_query && !str_starts(r->sql, STR("."));
    return asks_sql || r->route == NUMBER_export ? JOB_SLOW : JOB_QUICK;
}

static void push(call *c) {
    if (!workers_push(c->server->workers, kind_of(&c->x.request), work_on, c))
        finish_with(c, atomic_load(&c->server->ending) ? MSG_HTTP_ENDING : MSG_HTTP_BUSY);
}

/* What was parked is tried again. */
static void wake_parked(server *s) {
    pthread_mutex_lock(&s->lock);
    call *c = s->parked;
    s->parked = NULL;
    s->wakes++;
    pthread_mutex_unlock(&s->lock);
    while (c) {
        call *next = c->next;
        push(c);
        c = next;
    }
}

typedef struct {
    server *server;
    uint32_t entry;
    held_trace *held;
} facts_job;

static void make_facts(void *context, bool cancelled) {
    facts_job *j = context;
    server *s = j->server;
    if (!cancelled) {
        /* What the page waits for comes first; the list of runs gets its facts out of it. */
        expected_answer(&s->service, j->entry, s->words);
        if (!facts_are_of(s->service.facts, j->entry, j->held))
            facts_make(s->service.facts, j->entry, j->held, s->service.pool);
        announce_runs(&s->service);
    }
    held_release(j->held);
    mem_free(j);
}

/* From the catalogue's threads. */
static void on_event(void *context, const live_event *e) {
    server *s = context;
    announce(&s->service, e);
    if (e->what == LIVE_PROGRESS) return;
    if (e->what == LIVE_READY && e->held) {
        facts_job *j = mem_zalloc(sizeof *j);
        if (j) *j = (facts_job){.server = s, .entry = e->entry, .held = held_retain(e->held)};
        if (j && !workers_push(s->workers, JOB_QUICK, make_facts, j)) make_facts(j, true);
    }
    wake_parked(s);
}

/* About once a second. */
static void tick(void *context) {
    server *s = context;
    if (++s->ticks % KEEP_OPEN_S == 0) event_bus_publish(s->service.event_bus, NULL, STR(""));
    live *c = atomic_load(&s->started);
    if (c) live_trim(c);
}

/* ---- receiving --------------------------------------------------------------------------- */

typedef struct {
    int n_hosts, n_lengths; /* of the body, in either way */
    size_t bytes;
} header_counts;

static enum MHD_Result count_header(void *context, enum MHD_ValueKind kind, const char *name,
                                    const char *value) {
    header_counts *n = context;
    str is = str_of(name);
    (void)kind;
    n->bytes += is.n + (value ? strlen(value) : 0) + strlen(": \r\n");
    n->n_hosts += str_eq_nocase(is, STR("Host"));
    n->n_lengths +=
        str_eq_nocase(is, STR("Content-Length")) || str_eq_nocase(is, STR("Transfer-Encoding"));
    return MHD_YES;
}

static guard_request read_headers(call *c, const char *method) {
    connection *con = c->connection;
    header_counts n = {0};
    (void)MHD_get_connection_values(con, MHD_HEADER_KIND, count_header, &n);
    return (guard_request){.method = str_of(method),
                           .target = str_n(c->target, c->n_target),
                           .header_bytes = n.bytes,
                           .ambiguous = n.n_hosts > 1 || n.n_lengths > 1,
                           .host = header(con, "Host"),
                           .origin = header(con, "Origin"),
                           .fetch_site = header(con, "Sec-Fetch-Site"),
                           .cookie = header(con, "Cookie"),
                           .authorization = header(con, "Authorization"),
                           .content_type = header(con, "Content-Type")};
}

/* To our workers, who resume the connection. */
static void hand_over(call *c) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(c->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (info) c->x.client_fd = info->connect_fd;
    c->stage = STAGE_WORKING;
    MHD_suspend_connection(c->connection);
    push(c);
}

/* A file is about to come: everything that can be refused is refused before its first byte. */
static status begin_upload(call *c, const char *method, error *err) {
    guard_request r = read_headers(c, method);
    uploads *to = c->server->service.uploads;
    int64_t bytes;
    TRY(guard_check(&c->server->rules, &r, &c->guard, err));
    TRY(request_ctx_parse(&c->x, err));
    if (!to) FAIL0(err, ERR_ARG, NOPOS, MSG_UPLOAD_OFF);
    if (!fmt_parse_bytes(header(c->connection, "Content-Length"), &bytes) || bytes < 0)
        FAIL0(err, ERR_ARG, NOPOS, MSG_UPLOAD_LENGTH);
    return upload_begin(to, (uint64_t)bytes, &c->x.upload, err);
}

/* The second call of the library: the request is there. */
static enum MHD_Result begin(call *c, const char *method) {
    error err = {.status = OK};
    guard_request r = read_headers(c, method);
    request_ctx *x = &c->x;
    x->if_none_match = header(c->connection, "If-None-Match");
    if (guard_check(&c->server->rules, &r, &c->guard, &err) != OK) return send_failure(c, &err);
    if (c->guard == GUARD_LOGIN) return send_login(c);
    if (request_ctx_parse(x, &err) != OK) return send_failure(c, &err);
    if (x->request.route == ROUTE_FILE) return send_file(c);
    if (x->request.route == NUMBER_events && x->request.since == ABSENT_I64)
        return send_events(c);
    if (x->request.work == WORK_QUICK) { /* also while all workers are busy */
        if (request_answer(x, &err) != OK) return send_failure(c, &err);
        return send_reply(c);
    }
    if (x->request.route == NUMBER_viewport)
        newest_asked_note(&c->server->newest, x->request.client, x->request.seq);
    hand_over(c);
    return MHD_YES;
}

static void *on_target(void *context, const char *target, connection *con) {
    server *s = context;
    size_t n = strlen(target);
    call *c = mem_zalloc(sizeof *c + n + 1);
    if (!c) return NULL;
    memcpy(c->target, target, n + 1);
    c->n_target = n;
    c->server = s;
    c->connection = con;
    request_begin(&c->x, &s->service);
    c->x.target = str_n(c->target, n);
    return c;
}

static connection_slot *slot_of(connection *con) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(con, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static int64_t now_ms(void) {
    return clock_ns(CLOCK_MONOTONIC) / 1000000;
}

/* Or one whose length is not known before it ends. */
static bool has_long_body(connection *con) {
    int64_t bytes = 0;
    str length = header(con, "Content-Length");
    if (header(con, "Transfer-Encoding").n) return true;
    return length.n && (!fmt_parse_bytes(length, &bytes) || bytes > MOST_BODY_BYTES);
}

static enum MHD_Result on_request(void *context, connection *con, const char *url,
                                  const char *method, const char *version, const char *body,
                                  size_t *upload_size, void **state) {
    call *c = *state;
    error err;
    (void)context;
    (void)url;
    (void)version;
    if (!c) return MHD_NO;
    bool reads = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
    switch (c->stage) {
    case STAGE_NEW:
        c->stage = STAGE_READ;
        connections_ask(slot_of(con));
        if (reads && !has_long_body(con)) return MHD_YES;
        if (reads && read_headers(c, method).ambiguous)
            error_set(&err, ERR_ARG, NOPOS, MSG_HTTP_AMBIGUOUS, 0, NULL);
        else if (reads)
            error_set(&err, ERR_LIMIT, NOPOS, MSG_HTTP_BODY, 0, NULL);
        else if (!guard_is_upload(str_of(method), str_n(c->target, c->n_target)))
            error_set(&err, ERR_ARG, NOPOS, MSG_HTTP_METHOD, 0, NULL);
        else if (begin_upload(c, method, &err) == OK) {
            c->stage = STAGE_BODY;
            return MHD_YES;
        }
        return send_failure(c, &err); /* closes the connection: its body is not read */
    case STAGE_BODY:
        if (*upload_size) {
            upload_write(&c->x.upload, body, *upload_size);
            *upload_size = 0;
            return MHD_YES;
        }
        hand_over(c);
        return MHD_YES;
    case STAGE_READ:
        if (*upload_size) {
            c->n_body += *upload_size;
            *upload_size = 0;
            return MHD_YES;
        }
        if (!c->n_body) return begin(c, method);
        error_set(&err, ERR_ARG, NOPOS, MSG_HTTP_BODY, 0, NULL);
        return send_failure(c, &err);
    case STAGE_DONE: return send_reply(c);
    default: return MHD_YES;
    }
}

static void on_completed(void *context, connection *con, void **state,
                         enum MHD_RequestTerminationCode code) {
    call *c = *state;
    (void)context;
    (void)code;
    connections_rest(slot_of(con), now_ms());
    if (!c) return;
    request_end(&c->x);
    mem_free(c);
    *state = NULL;
}

/* A connection too many is closed at once, unless a silent one can be closed. The library's own
 * limit would leave it in the queue. */
static enum MHD_Result on_accept(void *context, const struct sockaddr *from, socklen_t n) {
    server *s = context;
    (void)from;
    (void)n;
    if (s->n_connections < MOST_CONNECTIONS) return MHD_YES;
    if (s->n_connections >= CROWDED_CONNECTIONS) return MHD_NO;
    int fd = connections_pick_silent(&s->connections, now_ms());
    if (fd < 0) return MHD_NO;
    (void)shutdown(fd, SHUT_RDWR); /* the library sees its end and closes it */
    return MHD_YES;
}

static void on_connection(void *context, connection *con, void **state,
                          enum MHD_ConnectionNotificationCode code) {
    server *s = context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(con, MHD_CONNECTION_INFO_CONNECTION_FD);
        s->n_connections++;
        *state = info ? connections_open(&s->connections, info->connect_fd, now_ms()) : NULL;
    } else {
        s->n_connections--;
        connections_close(*state);
    }
}

/* ---- life -------------------------------------------------------------------------------- */

static void make_url(server *s, const char *host) {
    bool any = strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
    char name[256] = "localhost";
    if (any && gethostname(name, sizeof name - 1) != 0)
        snprintf(name, sizeof name, "localhost");
    const char *shown = any ? name : host;
    bool brackets = strchr(shown, ':') != NULL;
    int n = snprintf(s->url, sizeof s->url, "http://%s%s%s:%u/", brackets ? "[" : "", shown,
                     brackets ? "]" : "", s->listening.port);
    if (s->rules.needs_token && n > 0 && (size_t)n < sizeof s->url)
        snprintf(s->url + n, sizeof s->url - (size_t)n, "?token=%s", s->token);
}

/* Links of an editor need absolute paths. */
static status set_source_root(server *s, const char *path, error *err) {
    if (!path) return OK;
    if (!realpath(path, s->source_root))
        FAIL(err, ERR_ARG, NOPOS, MSG_CANNOT_OPEN, arg_cstr("path", path),
             arg_cstr("reason", strerror(errno)));
    s->service.source_root = str_of(s->source_root);
    return OK;
}

/* The folder of a file, since the code is often next to its trace. */
static void set_served_folder(server *s, const server_options *o) {
    if (o->remote || !realpath(o->path, s->served)) return;
    char *slash = folder_exists(s->served) ? NULL : strrchr(s->served, '/');
    if (slash) slash[slash == s->served] = '\0';
    s->service.served_folder = str_of(s->served);
}

/* Before the first thread, since it holds for those that come later. What has to be looked up
 * outside is looked up now. */
static status enter_sandbox(server *s, const server_options *o, error *err) {
    char cache[PATH_MAX];
    if (o->sandbox == SANDBOX_NONE) return OK;
    bool keeps = !o->no_cache && cache_folder(cache);
    (void)mem_usual_limit_bytes();
    (void)pool_cpus();
    if (!sandbox_folder_make(s->temporary, sizeof s->temporary)) s->temporary[0] = '\0';
    s->sandbox =
        sandbox_enter(&(sandbox_rules){.served = o->remote || o->follow_links ? NULL : o->path,
                                       .code = s->source_root[0] ? s->source_root : NULL,
                                       .cache = keeps ? cache : NULL,
                                       .temporary = s->temporary[0] ? s->temporary : NULL,
                                       .network = o->remote});
    if (o->sandbox == SANDBOX_MUST && !(s->sandbox.landlock && s->sandbox.seccomp))
        FAIL0(err, ERR_UNSUPPORTED, NOPOS, MSG_SERVE_SANDBOX_MISSING);
    return OK;
}

static status start_parts(server *s, const server_options *o, error *err) {
    char random[33];
    int threads = o->threads > 0 ? o->threads : pool_cpus();
    if (!guard_make_token(s->token) || !guard_make_token(random)) FAIL_MEMORY(err);
    memcpy(s->service.instance, random, 16);
    snprintf(s->cookie, sizeof s->cookie, GUARD_COOKIE "_%u", s->listening.port);
    s->rules = (guard_rules){.loopback = s->listening.loopback,
                             .needs_token = o->token || !s->listening.loopback,
                             .token = str_of(s->token),
                             .cookie = str_of(s->cookie)};
    s->service.memory_bytes = o->request_bytes ? (size_t)o->request_bytes : EXCHANGE_BYTES;
    s->service.answer_bytes = ANSWER_BYTES;
    s->service.facts = facts_new();
    s->service.run_cache = run_cache_new();
    s->service.answers = answer_cache_new();
    s->service.loopback = s->listening.loopback;
    s->words = o->words;
    s->service.pool = pool_new(threads);
    s->service.event_bus = event_bus_new();
    s->workers = workers_new(threads > 2 ? threads : 2, MOST_JOBS, tick, s);
    if (!s->service.facts || !s->service.run_cache || !s->service.answers || !s->service.pool ||
        !s->service.event_bus || !s->workers)
        FAIL_MEMORY(err);
    if (o->upload_bytes && s->listening.loopback)
        s->service.uploads = uploads_new(o->upload_bytes);
    live_options how = {.path = o->path,
                        .also = s->service.uploads ? uploads_path(s->service.uploads) : NULL,
                        .threads = o->threads,
                        .no_cache = o->no_cache,
                        .follow_links = o->follow_links,
                        .memory_limit_bytes = o->memory_limit_bytes,
                        .reduce = reduce_worker,
                        .event = on_event,
                        .context = s};
    TRY(live_open(&how, &s->service.live, err));
    TRY(live_start(s->service.live, err));
    atomic_store(&s->started, s->service.live);
    return OK;
}

static status start_daemon(server *s, const server_options *o, error *err) {
    unsigned timeout_s = o->timeout_s ? o->timeout_s : TIMEOUT_S;
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
    s->daemon = MHD_start_daemon(
        flags, 0, on_accept, s, on_request, s, MHD_OPTION_LISTEN_SOCKET, s->listening.fd,
        MHD_OPTION_URI_LOG_CALLBACK, on_target, s, MHD_OPTION_NOTIFY_COMPLETED, on_completed, s,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, s, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)CONNECTIONS_MOST, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_BYTES, MHD_OPTION_CONNECTION_TIMEOUT, timeout_s, MHD_OPTION_END);
    if (!s->daemon) FAIL_MEMORY(err);
    return OK;
}

status server_start(const server_options *o, server **out, error *err) {
    const char *host = o->host ? o->host : "127.0.0.1";
    server *s = mem_zalloc(sizeof *s);
    if (!s) FAIL_MEMORY(err);
    s->listening.fd = -1;
    connections_init(&s->connections);
    pthread_mutex_init(&s->lock, NULL);
    newest_asked_init(&s->newest);
    status st = set_source_root(s, o->source_root, err);
    set_served_folder(s, o);
    if (st == OK) st = listen_open(host, o->port, o->next_ports, &s->listening, err);
    if (st == OK && s->listening.port != o->port && o->port != 0)
        (void)listen_owner(o->port, &s->port_owner);
    if (st == OK) st = enter_sandbox(s, o, err);
    if (st == OK) st = start_parts(s, o, err);
    if (st == OK) st = start_daemon(s, o, err);
    if (st != OK) {
        server_stop(s);
        return st;
    }
    make_url(s, host);
    *out = s;
    return OK;
}

const char *server_url(const server *s) {
    return s->url;
}

uint16_t server_port(const server *s) {
    return s->listening.port;
}

str server_port_owner(const server *s) {
    return buf_str(&s->port_owner);
}

sandbox_state server_sandbox(const server *s) {
    return s->sandbox;
}

void server_stop(server *s) {
    if (!s) return;
    if (s->daemon) (void)MHD_quiesce_daemon(s->daemon);
    atomic_store(&s->ending, true);
    if (s->service.event_bus) {
        event_bus_publish(s->service.event_bus, "bye", STR("{}"));
        event_bus_end(s->service.event_bus, FAREWELL_NS);
    }
    if (s->workers) {
        wake_parked(s);
        workers_end(s->workers);
        wake_parked(s); /* parked while the workers ended: refused now */
    }
    live_stop(s->service.live); /* calls are not woken any more while the daemon ends */
    if (s->daemon) MHD_stop_daemon(s->daemon);
    live_close(s->service.live); /* its threads asked it till now */
    if (s->listening.fd >= 0) close(s->listening.fd);
    workers_free(s->workers);
    event_bus_free(s->service.event_bus);
    facts_free(s->service.facts);
    run_cache_free(s->service.run_cache);
    answer_cache_free(s->service.answers);
    uploads_free(s->service.uploads);
    if (s->temporary[0]) (void)rmdir(s->temporary);
    buf_fini(&s->port_owner);
    if (s->service.pool) pool_free(s->service.pool);
    pthread_mutex_destroy(&s->lock);
    newest_asked_fini(&s->newest);
    mem_free(s);
}
