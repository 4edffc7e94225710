/* rec_stack.c: see the header.
 *
 * Stacks are read in two ways. The helper reads those of other threads while they run: through
 * process_vm_readv, which answers an error where memory has gone away, with the type of every
 * object checked. A thread inside of a hook reads its own frames directly: they cannot change
 * meanwhile, and it holds what they refer to.
 *
 * Code objects may be freed and their addresses used again, so the helper compares what it
 * knows of each with what is there now; a stack with a code object that is not one is dropped.
 *
 * The tables are cleared when a recording begins. They have a fixed size and are never in the
 * way: nodes that do not fit any more are written twice. */
#include "record/rec_stack.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "record/rec_keep.h"

enum {
    PAGE = 4096,
    MOST_CODE_BYTES = 256,
    CODES = 1 << 14,
    NODES = 1 << 17,
    LINES = 1 << 14,
    HERE = 1 << 13,
    TABLE_BYTES = 32 << 20,
    TEXT_BYTES = 4096,
    MOST_SOURCES = 1024,
    RETRY_NS = 1000000000,
};

typedef struct {
    uint64_t address, file, name, lines;
    uint32_t first, id, table, n_table; /* id 0: free; UINT32_MAX: the recorder's own */
} code_row;
typedef struct {
    uint64_t key; /* caller, code and line; 0: free */
    uint64_t rest;
    uint32_t id, unused;
} node_row;
typedef struct {
    uint64_t key;
    uint32_t line, unused;
} line_row;
/* Written in the order key = 0, id, key; read in the order key, id, key. */
typedef struct {
    uint64_t key;
    uint32_t id, unused;
} here_row;
typedef struct {
    code_row codes[CODES];
    node_row nodes[NODES];
    line_row lines[LINES];
    struct source {
        char path[512];
    } sources[MOST_SOURCES];    /* to be kept */
    uint8_t bytes[TABLE_BYTES]; /* line tables */
} tables;

const uint8_t *rec_python_runtime;
rec_python_layout rec_python_at;
static uint32_t is_ready; /* rec_python_at can be used */
static uint64_t code_type, text_type;
static void *(*own_thread)(void); /* of the interpreter */
static bool wants_lines = true, wants_sources = true;

REC_MUTEX(static, stack_lock);
static tables *all; /* stack_lock, and below */
static uint32_t all_epoch, n_codes, n_code_rows, n_nodes, n_node_rows, n_bytes;
static uint32_t n_sources, n_kept; /* n_kept: of the helper */
static uint64_t generation;        /* of the rows of here: new when a code object has gone */

void rec_stack_set(bool lines, bool sources) {
    wants_lines = lines;
    wants_sources = sources;
}

static uint64_t mix(uint64_t h, uint64_t v) {
    h = (h ^ v) * 0xd6e8feb86659fd93u;
    return h ^ h >> 32;
}

/* ---- the interpreter ---- */

static bool find_types(void) {
    code_type = (uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, "PyCode_Type");
    text_type = (uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, "PyUnicode_Type");
    void *at = dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
    memcpy(&own_thread, &at, sizeof at);
    return code_type && text_type && own_thread;
}

static void note(rec_file *f, const char *text) {
    bool before = rec_enter(&rec_lock);
    rec_side(f, TACHO_SIDE_NOTE, "", 0, text, strlen(text));
    rec_leave(&rec_lock, before);
}

bool rec_stack_ready(rec_file *f) {
    static int64_t next_ns;
    static uint32_t said;
    const char *why = NULL;
    if (!wants_lines) return false;
    if (__atomic_load_n(&is_ready, __ATOMIC_ACQUIRE)) return true;
    int64_t now = rec_clock_ns(CLOCK_MONOTONIC);
    if (now < next_ns && said == f->epoch) return false;
    next_ns = now + RETRY_NS;
    bool found = rec_python_find(&rec_python_at, &rec_python_runtime, &why) && find_types();
    uint64_t word;
    if (found && !rec_read_memory((uint64_t)(uintptr_t)rec_python_runtime, &word, 8)) {
        found = false;
        why = "Python lines: this system does not let a process read its own memory";
    }
    if (why && said != f->epoch) note(f, why);
    said = f->epoch;
    __atomic_store_n(&is_ready, found, __ATOMIC_RELEASE);
    return found;
}

/* ---- walking ---- */

/* The page of what was read last, up to its end: callers are below. */
typedef struct {
    uint64_t from;
    size_t n;
    uint8_t bytes[PAGE + 256];
} window;

/* `at` is what the memory says: any number. */
static const uint8_t *look(window *w, uint64_t at, size_t n) {
    if (at >= w->from && n <= w->n && at - w->from <= w->n - n)
        return w->bytes + (at - w->from);
    w->n = 0;
    if (at > UINT64_MAX / 2) return NULL;
    w->from = at & ~(uint64_t)(PAGE - 1);
    w->n = (size_t)(at + n - w->from);
    if (w->n > sizeof w->bytes || !rec_read_memory(w->from, w->bytes, w->n)) w->n = 0;
    return w->n ? w->bytes + (at - w->from) : NULL;
}

static uint64_t word_at(const uint8_t *p, uint32_t at) {
    uint64_t word;
    memcpy(&word, p + at, sizeof word);
    return word;
}

static uint32_t frame_bytes(void) {
    const rec_python_layout *l = &rec_python_at;
    uint32_t n = l->frame_back;
    if (l->frame_code > n) n = l->frame_code;
    if (l->frame_at > n) n = l->frame_at;
    if (l->frame_owner > n) n = l->frame_owner;
    return n + 8;
}

/* The place of a frame; false: a frame of C. */
static bool place_of(const uint8_t *frame, rec_place *to) {
    enum { OWNED_BY_C = 3, TAGS = 3 }; /* from 3.14 on, low bits say how it is counted */
    const rec_python_layout *l = &rec_python_at;
    if (l->frame_owner && frame[l->frame_owner] >= OWNED_BY_C) return false;
    to->code = word_at(frame, l->frame_code) & ~(uint64_t)TAGS;
    if (l->code_start) {
        to->at = (int64_t)(word_at(frame, l->frame_at) - to->code - l->code_start);
    } else {
        int32_t at;
        memcpy(&at, frame + l->frame_at, sizeof at);
        to->at = l->version == 0x030a ? 2 * (int64_t)at : at;
    }
    return to->at >= 0 && to->at < INT32_MAX;
}

/* A generator that has just given its value has no caller any more. */
static bool is_generator(const uint8_t *frame) {
    enum { OWNED_BY_GENERATOR = 1 };
    uint32_t owner = rec_python_at.frame_owner;
    return owner && frame[owner] == OWNED_BY_GENERATOR;
}

uint32_t rec_stack_walk(uint64_t frame, rec_place *to, uint32_t most) {
    window w = {.n = 0};
    uint32_t n = 0;
    for (uint32_t i = 0; frame && n < most && i < 2 * most; i++) {
        const uint8_t *at = look(&w, frame, frame_bytes());
        if (!at) return 0;
        n += place_of(at, &to[n]);
        frame = word_at(at, rec_python_at.frame_back);
        if (!frame && is_generator(at)) return 0;
    }
    return n;
}

/* ---- code objects ---- */

static bool make_tables(uint32_t epoch) {
    if (all && all_epoch == epoch) return true;
    if (all && (int32_t)(epoch - all_epoch) < 0) return false; /* a late thread's */
    rec_pages_free(all, sizeof *all);
    all = rec_pages(sizeof *all);
    all_epoch = epoch;
    n_codes = n_code_rows = n_nodes = n_node_rows = n_bytes = n_sources = n_kept = 0;
    generation = mix(epoch, (uint64_t)rec_clock_ns(CLOCK_MONOTONIC));
    return all != NULL;
}

/* Characters of one, two or four bytes as UTF-8. */
static size_t put_wide(const uint8_t *from, size_t n, uint32_t width, char *to, size_t room) {
    size_t at = 0;
    for (size_t i = 0; i < n && at + 4 < room; i++) {
        uint32_t c = 0;
        memcpy(&c, from + i * width, width);
        if (c < 0x80) {
            to[at++] = (char)c;
        } else if (c < 0x800) {
            to[at++] = (char)(0xc0 | c >> 6);
            to[at++] = (char)(0x80 | (c & 63));
        } else if (c < 0x10000) {
            to[at++] = (char)(0xe0 | c >> 12);
            to[at++] = (char)(0x80 | (c >> 6 & 63));
            to[at++] = (char)(0x80 | (c & 63));
        } else {
            to[at++] = (char)(0xf0 | (c >> 18 & 7));
            to[at++] = (char)(0x80 | (c >> 12 & 63));
            to[at++] = (char)(0x80 | (c >> 6 & 63));
            to[at++] = (char)(0x80 | (c & 63));
        }
    }
    to[at] = 0;
    return at;
}

/* A str object as UTF-8; 0: not a str. */
static size_t read_text(uint64_t object, char *to, size_t room) {
    enum { STATE = 32, LENGTH = 16, TYPE = 8, IS_COMPACT = 1 << 5, IS_ASCII = 1 << 6 };
    uint8_t head[40], bytes[TEXT_BYTES];
    if (!rec_read_memory(object, head, sizeof head) || word_at(head, TYPE) != text_type)
        return 0;
    uint64_t n = word_at(head, LENGTH);
    uint32_t state = head[STATE], width = state >> 2 & 7;
    bool is_ascii = state & IS_ASCII;
    if (!(state & IS_COMPACT) || (width != 1 && width != 2 && width != 4) || !n) return 0;
    if (n > sizeof bytes / width) n = sizeof bytes / width;
    uint32_t at = is_ascii ? rec_python_at.text_data : rec_python_at.text_wide_data;
    if (!rec_read_memory(object + at, bytes, n * width)) return 0;
    return put_wide(bytes, n, width, to, room);
}

/* Hooks of the recorder that are written in Python. */
static bool is_our_own(const char *file) {
    static const char *const OWN[] = {"/tacho/hooks/", "/tacho/_calls.py", "/tacho/ranges.py",
                                      "/tacho/profiler.py", "/tacho/inject/"};
    for (size_t i = 0; i < sizeof OWN / sizeof *OWN; i++)
        if (strstr(file, OWN[i])) return true;
    return false;
}

/* The user's: neither a package's nor Python's own, and a file. */
static bool is_user_file(const char *file) {
    static const char *const OTHERS[] = {"/site-packages/", "/dist-packages/", "/lib/python",
                                         "/torchinductor_"};
    size_t n = strlen(file);
    if (n < 4 || file[0] == '<' || strcmp(file + n - 3, ".py") != 0) return false;
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++)
        if (strstr(file, OTHERS[i])) return false;
    return true;
}

static void want_source(const char *file) {
    if (!wants_sources || n_sources == MOST_SOURCES || !is_user_file(file)) return;
    if (strlen(file) >= sizeof all->sources->path) return;
    for (uint32_t i = 0; i < n_sources; i++)
        if (strcmp(all->sources[i].path, file) == 0) return;
    strcpy(all->sources[n_sources].path, file); /* NOLINT: it fits */
    __atomic_store_n(&n_sources, n_sources + 1, __ATOMIC_RELEASE);
}

/* With the number of a text of each: FILE NUL FUNCTION. */
static void write_code(uint32_t id, uint32_t first, const char *file, size_t n_file,
                       const char *name, size_t n_name) {
    uint64_t fixed[2] = {id, first};
    char text[2 * TEXT_BYTES];
    if (n_file + n_name + 1 > sizeof text) n_file = sizeof text - n_name - 1;
    memcpy(text, file, n_file);
    text[n_file] = 0;
    memcpy(text + n_file + 1, name, n_name);
    bool before = rec_enter(&rec_lock);
    if (rec_current && rec_current->epoch == all_epoch)
        rec_side(rec_current, TACHO_SIDE_CODE, fixed, sizeof fixed, text, n_file + 1 + n_name);
    rec_leave(&rec_lock, before);
}

static bool read_table(code_row *row) {
    enum { TYPE_AND_SIZE = 24, LENGTH = 16, DATA = 32, MOST = 1 << 20 };
    uint8_t head[TYPE_AND_SIZE];
    if (!rec_read_memory(row->lines, head, sizeof head)) return false;
    uint64_t n = word_at(head, LENGTH);
    row->n_table = 0;
    if (n > MOST || n > sizeof all->bytes - n_bytes) return true; /* its first line will do */
    if (!rec_read_memory(row->lines + DATA, all->bytes + n_bytes, n)) return false;
    row->table = n_bytes;
    row->n_table = (uint32_t)n;
    n_bytes += (uint32_t)n;
    return true;
}

static bool learn_code(code_row *row) {
    char file[TEXT_BYTES], name[512];
    size_t n_file = read_text(row->file, file, sizeof file),
           n_name = read_text(row->name, name, sizeof name);
    if (!n_file || !n_name || !read_table(row)) return false;
    if (is_our_own(file)) {
        row->id = UINT32_MAX;
        return true;
    }
    row->id = ++n_codes;
    want_source(file);
    write_code(row->id, row->first, file, n_file, name, n_name);
    return true;
}

static bool is_same(const code_row *a, const code_row *b) {
    return a->file == b->file && a->name == b->name && a->lines == b->lines &&
           a->first == b->first;
}

/* The row of a code object of which this was read just now; NULL: not a code object. */
static code_row *find_code(uint64_t address, const uint8_t *object) {
    enum { TYPE = 8 };
    const rec_python_layout *l = &rec_python_at;
    if (word_at(object, TYPE) != code_type) return NULL;
    code_row now = {.address = address,
                    .file = word_at(object, l->code_file),
                    .name = word_at(object, l->code_name),
                    .lines = word_at(object, l->code_lines),
                    .first = (uint32_t)word_at(object, l->code_first)};
    uint64_t i = mix(1, address >> 4) & (CODES - 1);
    while (all->codes[i].id && all->codes[i].address != address) i = (i + 1) & (CODES - 1);
    code_row *row = &all->codes[i];
    if (row->id && is_same(row, &now)) return row;
    if (!row->id && n_code_rows >= CODES / 4 * 3) return NULL;
    bool is_new = !row->id;
    if (!learn_code(&now)) return NULL;
    n_code_rows += is_new;
    if (!is_new) generation = mix(generation, address); /* the old one has gone */
    *row = now;
    return row;
}

static uint32_t line_of(const code_row *row, int64_t at) {
    uint64_t key = (uint64_t)row->id << 32 | (uint32_t)at;
    line_row *known = &all->lines[mix(2, key) & (LINES - 1)];
    if (known->key == key) return known->line;
    uint32_t line = row->first;
    if (row->n_table)
        line = rec_python_line(rec_lines_of(&rec_python_at), all->bytes + row->table,
                               row->n_table, row->first, (int32_t)at);
    *known = (line_row){.key = key, .line = line ? line : row->first};
    return known->line;
}

/* ---- numbers ---- */

static void write_node(uint32_t id, uint32_t caller, uint32_t code, uint32_t line) {
    uint32_t fixed[4] = {id, caller, code, line};
    bool before = rec_enter(&rec_lock);
    if (rec_current && rec_current->epoch == all_epoch)
        rec_side(rec_current, TACHO_SIDE_STACK, fixed, sizeof fixed, NULL, 0);
    rec_leave(&rec_lock, before);
}

static uint32_t number_node(uint32_t caller, uint32_t code, uint32_t line) {
    uint64_t key = (uint64_t)caller << 32 | code, rest = (uint64_t)line + 1;
    if (n_node_rows >= NODES / 4 * 3) {
        memset(all->nodes, 0, sizeof all->nodes);
        n_node_rows = 0;
    }
    uint64_t i = mix(key, rest) & (NODES - 1);
    for (; all->nodes[i].rest; i = (i + 1) & (NODES - 1))
        if (all->nodes[i].key == key && all->nodes[i].rest == rest) return all->nodes[i].id;
    all->nodes[i] = (node_row){.key = key, .rest = rest, .id = ++n_nodes};
    n_node_rows++;
    write_node(n_nodes, caller, code, line);
    return n_nodes;
}

/* All code objects of a stack with one call; false: one of them has gone. */
static bool read_codes(const rec_place *places, uint32_t n, uint32_t bytes, uint8_t *to) {
    struct iovec here = {to, (size_t)n * bytes}, there[REC_MOST_FRAMES];
    for (uint32_t i = 0; i < n; i++)
        there[i] = (struct iovec){(void *)(uintptr_t)places[i].code, bytes};
    return process_vm_readv(getpid(), &here, 1, there, n, 0) == (ssize_t)here.iov_len;
}

static uint32_t number_places(const rec_place *places, uint32_t n) {
    static uint8_t objects[REC_MOST_FRAMES * MOST_CODE_BYTES]; /* stack_lock */
    const rec_python_layout *l = &rec_python_at;
    uint32_t bytes = (l->code_lines > l->code_name ? l->code_lines : l->code_name) + 8, id = 0;
    if (bytes > MOST_CODE_BYTES || !read_codes(places, n, bytes, objects)) return 0;
    for (uint32_t i = n; i > 0; i--) { /* outermost first */
        const code_row *row = find_code(places[i - 1].code, objects + (size_t)(i - 1) * bytes);
        if (!row) return 0;
        if (row->id != UINT32_MAX)
            id = number_node(id, row->id, line_of(row, places[i - 1].at));
    }
    return id;
}

uint32_t rec_stack_number(uint32_t epoch, const rec_place *places, uint32_t n) {
    if (n == 0) return 0;
    bool before = rec_enter(&stack_lock);
    uint32_t id = make_tables(epoch) ? number_places(places, n) : 0;
    rec_leave(&stack_lock, before);
    return id;
}

/* ---- of the calling thread ---- */

static uint64_t own_frame(void) {
    const rec_python_layout *l = &rec_python_at;
    const uint8_t *thread = own_thread();
    if (!thread) return 0;
    if (!l->cframe) return word_at(thread, l->thread_frame);
    uint64_t cframe = word_at(thread, l->cframe);
    return cframe ? word_at((const uint8_t *)(uintptr_t)cframe, l->frame) : 0;
}

static uint32_t walk_own(uint64_t frame, rec_place *to, uint64_t *key) {
    uint32_t n = 0;
    uint64_t h = *key;
    for (uint32_t i = 0; frame && n < REC_MOST_FRAMES && i < 2 * REC_MOST_FRAMES; i++) {
        const uint8_t *at = (const uint8_t *)(uintptr_t)frame;
        if (place_of(at, &to[n])) {
            h = mix(mix(h, to[n].code), (uint64_t)to[n].at);
            n++;
        }
        frame = word_at(at, rec_python_at.frame_back);
    }
    *key = h ? h : 1;
    return n;
}

static void remember_here(here_row *row, uint64_t key, uint32_t id) {
    __atomic_store_n(&row->key, 0, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&row->id, id, __ATOMIC_RELAXED);
    __atomic_store_n(&row->key, key, __ATOMIC_RELEASE);
}

static here_row rows_here[HERE];

uint32_t rec_stack_here(void) {
    rec_place places[REC_MOST_FRAMES];
    if (!__atomic_load_n(&is_ready, __ATOMIC_ACQUIRE)) return 0;
    uint32_t epoch = __atomic_load_n(&rec_here.epoch, __ATOMIC_RELAXED);
    if (!epoch || epoch == REC_PENDING) return 0;
    uint64_t key = __atomic_load_n(&generation, __ATOMIC_RELAXED) + epoch;
    uint32_t n = walk_own(own_frame(), places, &key);
    if (n == 0) return 0;
    here_row *row = &rows_here[key & (HERE - 1)];
    uint64_t there = __atomic_load_n(&row->key, __ATOMIC_ACQUIRE);
    uint32_t id = __atomic_load_n(&row->id, __ATOMIC_ACQUIRE);
    if (REC_LIKELY(there == key) && __atomic_load_n(&row->key, __ATOMIC_RELAXED) == key)
        return id;
    if (rec_self.in_slow) return 0;
    id = rec_stack_number(epoch, places, n);
    bool before = rec_enter(&stack_lock);
    if (id && all_epoch == epoch) remember_here(row, key, id);
    rec_leave(&stack_lock, before);
    return id;
}

/* With stacks asked for, each call of a function is a range already. */
void rec_stack_mark(void) {
    if (__atomic_load_n(&rec_flags, __ATOMIC_RELAXED) & TACHO_FILE_STACKS) return;
    uint32_t id = rec_stack_here();
    if (rec_self.stack == id &&
        rec_self.stack_epoch == __atomic_load_n(&rec_here.epoch, __ATOMIC_RELAXED))
        return;
    tacho_slot *s = rec_open(1);
    if (!s) return;
    rec_self.stack = id;
    rec_self.stack_epoch = rec_self.epoch;
    rec_close(s, rec_tick(), id, rec_what(TACHO_EVENT_STACK, 0, 0));
}

/* ---- sources ---- */

/* In pieces: a side record is no longer than a chunk. */
static void write_source(rec_file *f, const char *path, const struct stat *st, int fd) {
    enum { PIECE = 16 << 10 };
    char text[512 + PIECE];
    size_t n_path = strlen(path) + 1;
    memcpy(text, path, n_path);
    for (uint64_t at = 0;;) {
        ssize_t n = pread(fd, text + n_path, PIECE, (off_t)at);
        uint64_t fixed[4] = {(uint64_t)st->st_size, at, n > 0 ? (uint64_t)n : 0,
                             (uint64_t)st->st_mtim.tv_sec * 1000000000u +
                                 (uint64_t)st->st_mtim.tv_nsec};
        if (n <= 0) return;
        bool before = rec_enter(&rec_lock);
        rec_side(f, TACHO_SIDE_SOURCE, fixed, sizeof fixed, text, n_path + (size_t)n);
        rec_leave(&rec_lock, before);
        at += (uint64_t)n;
    }
}

void rec_stack_keep_source(rec_file *f) {
    enum { MOST_BYTES = 1 << 20 };
    struct stat st;
    char path[sizeof all->sources->path];
    bool before = rec_enter(&stack_lock);
    bool any = all && all_epoch == f->epoch && n_kept < n_sources;
    if (any) memcpy(path, all->sources[n_kept++].path, sizeof path);
    rec_leave(&stack_lock, before);
    if (!any) return;
    rec_own own;
    int fd = rec_own_open(&own, path, O_RDONLY);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= MOST_BYTES)
        write_source(f, path, &st, fd);
    rec_own_close(&own);
}

void rec_stack_forked(void) {
    is_ready = 0; /* found again: the child may be another program's */
    rec_self.stack_epoch = 0;
}
