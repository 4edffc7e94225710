/* remote.c: what a URL names: one object, or all below a prefix of an object store.
 *
 * A listing comes in pages of a thousand; each page says where the next one starts. The number
 * of pages is bounded, so that a server that always says "there is more" ends in an error.
 * Objects are looked at by asking for their first byte: some servers refuse HEAD, and a range
 * answers with the size and the tag just as well. */
#include "io/remote.h"

#include "base/vec.h"
#include "io/remote_int.h"

enum { MOST_PAGES = 2000, MOST_PAGE_BYTES = 16 << 20 };

/* ---- one object -------------------------------------------------------------------------- */

static bool ignore_body(void *context, const char *p, size_t n) {
    (void)context, (void)p, (void)n;
    return false; /* the headers were enough */
}

static void nothing(void *context) {
    (void)context;
}

status remote_look(arena *a, const char *url, remote_object *out, error *err) {
    remote_place p;
    http *h = NULL;
    http_reply reply;
    TRY(remote_place_of(a, url, &p, err));
    str address = remote_address(a, &p, p.key);
    if (!address.p) FAIL_MEMORY(err);
    /* last 0 would mean all of it: two bytes are the least a range can ask for here. */
    http_ask ask = {
        .address = address.p, .place = &p, .first = 0, .last = 1, .take = ignore_body};
    TRY(http_open(&h, err));
    status st = http_get_patiently(h, &ask, nothing, &reply, err);
    http_close(h);
    TRY(st);
    remote_object o = {.url = arena_str(a, str_of(url)),
                       .name = STR(""),
                       .key = remote_key_of(a, &p, p.key),
                       .tag = arena_str(a, str_of(reply.tag)),
                       .mtime_ns = reply.mtime_ns};
    if (reply.total_bytes != UINT64_MAX) o.size_bytes = reply.total_bytes;
    if (!o.url.p || !o.tag.p || !o.key.p) FAIL_MEMORY(err);
    *out = o;
    return OK;
}

/* ---- many -------------------------------------------------------------------------------- */

static bool take_page(void *context, const char *p, size_t n) {
    buf *page = context;
    if (page->n > MOST_PAGE_BYTES)
        return false; /* what is over the limit shows that it was met */
    buf_add(page, p, n);
    return buf_ok(page);
}

static void forget_page(void *context) {
    buf_clear(context);
}

typedef struct {
    arena *a;
    http *h;
    const remote_place *place;
    str prefix;
    vec objects; /* remote_object */
} walk;

static status add_page(walk *w, const listing *l, error *err) {
    for (size_t i = 0; i < l->n; i++) {
        const remote_entry *from = &l->v[i];
        if (!str_starts(from->key, w->prefix) || from->key.p[from->key.n - 1] == '/') continue;
        remote_object *to = vec_push(&w->objects);
        if (!to) FAIL_MEMORY(err);
        *to = (remote_object){.url = remote_url_of(w->a, w->place, from->key),
                              .name = str_from(from->key, w->prefix.n),
                              .key = remote_key_of(w->a, w->place, from->key),
                              .tag = from->tag,
                              .size_bytes = from->size_bytes,
                              .mtime_ns = from->mtime_ns};
        if (!to->url.p || !to->key.p) FAIL_MEMORY(err);
    }
    return OK;
}

static status read_page(walk *w, str *next, buf *page, error *err) {
    http_reply reply;
    listing l;
    str address = remote_list_address(w->a, w->place, w->prefix, *next);
    if (!address.p) FAIL_MEMORY(err);
    http_ask ask = {
        .address = address.p, .place = w->place, .take = take_page, .context = page};
    buf_clear(page);
    TRY(http_get_patiently(w->h, &ask, forget_page, &reply, err));
    if (!buf_ok(page)) FAIL_MEMORY(err);
    if (page->n > MOST_PAGE_BYTES)
        FAIL(err, ERR_LIMIT, NOPOS, MSG_REMOTE_LONG_PAGE,
             arg_text("url", remote_shown(address)), arg_bytes("limit", MOST_PAGE_BYTES));
    TRY(listing_parse(w->a, page->n ? buf_str(page) : STR(""), &l, err));
    *next = l.next;
    return add_page(w, &l, err);
}

static status read_pages(walk *w, error *err) {
    buf page = {0};
    str next = STR("");
    status st = read_page(w, &next, &page, err);
    for (int i = 1; st == OK && next.n; i++) {
        str before = next;
        if (i == MOST_PAGES)
            st = error_set(err, ERR_LIMIT, NOPOS, MSG_REMOTE_TOO_MANY, 0, NULL);
        else
            st = read_page(w, &next, &page, err);
        if (st == OK && str_eq(next, before)) /* the page says that it follows itself */
            st = error_set(err, ERR_FORMAT, NOPOS, MSG_REMOTE_LISTING, 0, NULL);
    }
    buf_fini(&page);
    return st;
}

/* The object itself, when the prefix names one; otherwise everything below it, as in a
 * folder. */
static void narrow(walk *w) {
    remote_object *v = VEC(&w->objects, remote_object);
    size_t n = 0;
    bool folder = !w->prefix.n || w->prefix.p[w->prefix.n - 1] == '/';
    for (size_t i = 0; i < w->objects.n && !folder; i++)
        if (!v[i].name.n) {
            v[0] = v[i];
            w->objects.n = 1;
            return;
        }
    for (size_t i = 0; i < w->objects.n; i++) {
        if (!folder && v[i].name.p[0] != '/') continue;
        if (!folder) v[i].name = str_from(v[i].name, 1);
        v[n++] = v[i];
    }
    w->objects.n = n;
}

status remote_list(arena *a, const char *url, remote_object **out, size_t *n, error *err) {
    remote_place p;
    TRY(remote_place_of(a, url, &p, err));
    if (p.kind == REMOTE_PLAIN)
        FAIL(err, ERR_UNSUPPORTED, NOPOS, MSG_REMOTE_NO_LIST,
             arg_text("url", remote_shown(str_of(url))));
    walk w = {.a = a, .place = &p, .prefix = p.key, .objects = VEC_INIT(remote_object)};
    TRY(http_open(&w.h, err));
    status st = read_pages(&w, err);
    http_close(w.h);
    if (st == OK) narrow(&w);
    remote_object *v = st == OK ? ARENA_ARRAY(a, remote_object, w.objects.n + 1) : NULL;
    if (v && w.objects.n) memcpy(v, w.objects.p, w.objects.n * sizeof *v);
    size_t found = w.objects.n;
    vec_fini(&w.objects);
    if (st != OK) error_add_file(err, remote_shown(str_of(url)));
    TRY(st);
    if (!v) FAIL_MEMORY(err);
    *out = v;
    *n = found;
    return OK;
}
