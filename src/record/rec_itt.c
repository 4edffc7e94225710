/* rec_itt.c: ranges that other people's libraries mark through Intel's ITT.
 *
 * Every library with ITT has a copy of its static part, which at its first call loads the
 * library named by INTEL_LIBITTNOTIFY64 and hands it a table: names of functions and where
 * their addresses go. Those that begin and end tasks, and make the domains and names these
 * take, are filled here; every other function does nothing, as without a tool. PyTorch's builds
 * without CUDA have ITT, and with torch.autograd.profiler.emit_itt() every operator is a task.
 *
 * Only the words of ITT's structures that are needed are spelled out; they have not changed
 * since 2010. Domains and names live as long as the program, as ITT's do. */
#include <stdlib.h>
#include <string.h>

#include "record/rec_int.h"

typedef struct {
    const char *name;
    void **function;
    void *init, *none;
    int group;
} itt_entry;

typedef struct {
    uint8_t magic[8];
    unsigned long version[3];
    volatile long flags[3];
    pthread_mutex_t mutex;
    void *library, *error_handler;
    const char **path;
    itt_entry *entries;
} itt_global;

typedef struct {
    volatile int flags; /* 0: no listener */
    const char *name;
    void *wide;
    int extra1;
    void *extra2, *next;
} itt_domain;

typedef struct {
    const char *text;
    void *wide;
    int id; /* ours: the number of the text */
    void *extra2, *next;
} itt_name;

typedef struct {
    uint64_t words[3];
} itt_id;

void __itt_api_init(itt_global *global, int groups) TACHO_API;
static uint32_t n_listening;

/* Everything that was made, so that it stays reachable. */
static itt_domain *all_domains;
static itt_name *all_names;
REC_MUTEX(static, itt_lock);

static itt_domain *create_domain(const char *name) {
    itt_domain *d = calloc(1, sizeof *d);
    if (!d) return NULL;
    d->flags =
        !name || strncmp(name, "dnnl", 4) != 0; /* parts of operators, not ranges of users */
    d->name = strdup(name ? name : "");
    rec_mutex_lock(&itt_lock);
    d->next = all_domains;
    all_domains = d;
    pthread_mutex_unlock(&itt_lock);
    return d;
}

/* One for each text, so that a range made again and again takes no more memory: the number of
 * the text is found by the recorder's own table. */
static itt_name *create_name(const char *text) {
    enum { MOST = 4096 };
    static itt_name *known[MOST];
    uint32_t id = rec_name(text);
    itt_name *n = __atomic_load_n(&known[id % MOST], __ATOMIC_ACQUIRE);
    if (n && (uint32_t)n->id == id) return n;
    n = calloc(1, sizeof *n);
    if (!n) return NULL;
    n->id = (int)id;
    n->text = strdup(text ? text : "");
    rec_mutex_lock(&itt_lock);
    n->next = all_names;
    all_names = n;
    __atomic_store_n(&known[id % MOST], n, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&itt_lock);
    return n;
}

/* oneDNN's tasks are parts of operators, not ranges of users. Its domain may have been made by
 * ITT itself, before it asked us. */
static bool is_part(const itt_domain *d) {
    return d && d->name && strncmp(d->name, "dnnl", 4) == 0;
}

static void begin_task(const itt_domain *d, itt_id task, itt_id parent, const itt_name *name) {
    (void)task, (void)parent;
    if (!__atomic_load_n(&tacho_on, __ATOMIC_RELAXED) || is_part(d)) return;
    rec_begin_named(name && name->text ? name->text : "");
}

static void end_task(const itt_domain *d) {
    if (!is_part(d)) tacho_end_range();
}

static void *ours(const char *name) {
    if (strcmp(name, "__itt_domain_create") == 0) return (void *)(uintptr_t)create_domain;
    if (strcmp(name, "__itt_domain_createA") == 0) return (void *)(uintptr_t)create_domain;
    if (strcmp(name, "__itt_string_handle_create") == 0) return (void *)(uintptr_t)create_name;
    if (strcmp(name, "__itt_string_handle_createA") == 0) return (void *)(uintptr_t)create_name;
    if (strcmp(name, "__itt_task_begin") == 0) return (void *)(uintptr_t)begin_task;
    if (strcmp(name, "__itt_task_end") == 0) return (void *)(uintptr_t)end_task;
    return NULL;
}

void __itt_api_init(itt_global *global, int groups) {
    (void)groups;
    if (!global || !global->entries) return;
    for (itt_entry *e = global->entries; e->name; e++) {
        void *function = ours(e->name);
        *e->function = function ? function : e->none;
    }
    __atomic_fetch_add(&n_listening, 1, __ATOMIC_RELAXED);
}

int tacho_itt(void) {
    return (int)__atomic_load_n(&n_listening, __ATOMIC_RELAXED);
}
