/* rec_names.c: texts become numbers, once.
 *
 * A place in a program keeps the number of its name; a name made at run time is hashed and
 * looked up each time. Looking up takes no lock: the table is an array of pointers that only
 * ever go from NULL to a name, and a larger table replaces it as a whole (the old one stays,
 * since a thread may be reading it; all of them together are smaller than the last). Adding
 * takes rec_lock and writes the name into the file at once, so that a killed program's numbers
 * can be read.
 *
 * Names live as long as the program: every new file gets all of them. Programs that make names
 * without end (one for each batch) are stopped at a million; what comes then is counted and
 * shown under one name.
 *
 * Frames are addresses of callers. The thread that meets one only puts the number into a set;
 * the helper finds out what is there. */
#include <dlfcn.h>
#include <execinfo.h>
#include <stdio.h>
#include <string.h>

#include "record/rec_int.h"
#include "record/rec_keep.h"

enum { FIRST_PLACES = 1024, MOST_NAMES = 1 << 20, MOST_NAME_BYTES = 4096 };
enum { FRAME_PLACES = 1 << 16, MOST_FRAMES = FRAME_PLACES * 3 / 4 };

typedef rec_name_row name_row;

/* A table that was replaced is kept for good: a thread may still read it. */
typedef struct {
    uint64_t places; /* a power of two */
    name_row **by_id;
    name_row *rows[];
} name_table;

static name_table *table; /* read without a lock */
static uint32_t n_names;  /* rec_lock */

static uint64_t hash_text(const char *text, size_t n) {
    uint64_t h = 0x9e3779b97f4a7c15u ^ n, word = 0;
    for (; n >= sizeof word; text += sizeof word, n -= sizeof word) {
        memcpy(&word, text, sizeof word);
        h = (h ^ word) * 0xd6e8feb86659fd93u;
        h ^= h >> 32;
    }
    word = 0;
    memcpy(&word, text, n);
    h = (h ^ word) * 0xd6e8feb86659fd93u;
    return h ^ h >> 32;
}

static name_row *find_name(const name_table *t, uint64_t hash, const char *text, size_t n) {
    if (!t) return NULL;
    for (uint64_t i = hash;; i++) {
        name_row *row = __atomic_load_n(&t->rows[i & (t->places - 1)], __ATOMIC_ACQUIRE);
        if (!row) return NULL;
        if (row->hash == hash && row->n == n && memcmp(row->text, text, n) == 0) return row;
    }
}

static void place_name(name_table *t, name_row *row) {
    uint64_t i = row->hash;
    while (t->rows[i & (t->places - 1)]) i++;
    __atomic_store_n(&t->rows[i & (t->places - 1)], row, __ATOMIC_RELEASE);
}

/* Half of the places are used at most, so there are half as many numbers. */
static bool rec_names_make_room(void) {
    uint64_t places = table ? table->places : 0, room = places / 2;
    if (n_names + 1 < room) return true;
    places = places ? places * 2 : FIRST_PLACES;
    size_t bytes = (size_t)places * sizeof(name_row *);
    name_table *larger = rec_keep(sizeof *larger + bytes + bytes / 2);
    if (!larger) return false;
    larger->places = places;
    larger->by_id = larger->rows + places;
    for (uint32_t i = 1; i <= n_names; i++)
        place_name(larger, larger->by_id[i] = table->by_id[i]);
    __atomic_store_n(&table, larger, __ATOMIC_RELEASE);
    return true;
}

static void write_name(rec_file *f, const name_row *row) {
    uint64_t id = row->id;
    rec_side(f, TACHO_SIDE_NAME, &id, sizeof id, row->text, row->n);
}

/* Under rec_lock. A child may be made at any point of it: the number of names says last that
 * there is one more. */
static uint32_t rec_names_add_name(uint64_t hash, const char *text, size_t n) {
    name_row *row = find_name(table, hash, text, n);
    if (row) return row->id;
    if (n_names >= MOST_NAMES || !rec_names_make_room()) return 0;
    row = rec_keep(sizeof *row + n + 1);
    if (!row) return 0;
    row->hash = hash;
    row->id = n_names + 1;
    row->n = (uint32_t)n;
    memcpy(row->text, text, n);
    table->by_id[row->id] = row;
    __atomic_store_n(&n_names, row->id, __ATOMIC_RELEASE);
    place_name(table, row);
    if (rec_current) write_name(rec_current, row);
    return row->id;
}

/* *found: the row, when it was there before. */
static uint32_t rec_names_number_of(const char *text, name_row **found) {
    size_t n = strnlen(text, MOST_NAME_BYTES);
    uint64_t hash = hash_text(text, n);
    *found = find_name(__atomic_load_n(&table, __ATOMIC_ACQUIRE), hash, text, n);
    if (REC_LIKELY(*found != NULL)) return (*found)->id;
    if (rec_self.in_slow) return 0;
    bool before = rec_enter(&rec_lock);
    uint32_t id = rec_names_add_name(hash, text, n);
    if (!id && rec_current)
        __atomic_fetch_add(&rec_current->header->lost[TACHO_LOST_NAMES], 1, __ATOMIC_RELAXED);
    rec_leave(&rec_lock, before);
    return id;
}

uint32_t rec_name(const char *text) {
    name_row *found;
    return rec_names_number_of(text ? text : "", &found);
}

rec_name_row *rec_names_last[1 << REC_NAME_BITS];

uint32_t rec_name_anew(const char *text, rec_name_row **place) {
    name_row *found = NULL;
    uint32_t id = rec_names_number_of(text ? text : "", &found);
    if (found) __atomic_store_n(place, found, __ATOMIC_RELEASE);
    return id;
}

void rec_names_write(rec_file *f) {
    for (uint32_t i = 1; i <= n_names; i++) write_name(f, table->by_id[i]);
}

/* ---- frames ---- */

static uint64_t frame_set[FRAME_PLACES]; /* addresses; 0 = free */
static uint8_t frame_named[FRAME_PLACES];
static uint32_t n_frames;
static uint32_t frames_at; /* of the helper: where it looks next */

static void note_frame(uint64_t address) {
    uint64_t i = (address >> 2) * 0x9e3779b97f4a7c15u >> 48;
    for (;; i++) {
        uint64_t *place = &frame_set[i & (FRAME_PLACES - 1)];
        uint64_t there = __atomic_load_n(place, __ATOMIC_RELAXED);
        if (there == address) return;
        if (there) continue;
        if (__atomic_load_n(&n_frames, __ATOMIC_RELAXED) >= MOST_FRAMES) return;
        if (__atomic_compare_exchange_n(place, &there, address, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
            __atomic_fetch_add(&n_frames, 1, __ATOMIC_RELAXED);
            return;
        }
        if (there == address) return;
    }
}

uint32_t rec_frames(uint64_t *to, uint32_t most) {
    enum { OURS = 2, MOST = 64 };
    void *at[MOST];
    bool before = rec_self.in_slow; /* the unwinder may allocate on its first call */
    rec_self.in_slow = true;
    int n = backtrace(at, (int)(most + OURS < MOST ? most + OURS : MOST));
    rec_self.in_slow = before;
    uint32_t kept = 0;
    for (int i = OURS; i < n && kept < most; i++) {
        to[kept++] = (uint64_t)(uintptr_t)at[i];
        note_frame((uint64_t)(uintptr_t)at[i]);
    }
    return kept;
}

/* "function (library)", or "library+0x1234" where the library does not tell. */
static void name_frame(rec_file *f, uint64_t address) {
    char text[512] = "?";
    Dl_info info;
    if (dladdr((void *)(uintptr_t)(address - 1), &info) && info.dli_fname) {
        const char *slash = strrchr(info.dli_fname, '/');
        const char *file = slash ? slash + 1 : info.dli_fname;
        if (info.dli_sname)
            snprintf(text, sizeof text, "%s (%s)", info.dli_sname, file);
        else
            snprintf(text, sizeof text, "%s+0x%llx", file,
                     (unsigned long long)(address - 1 - (uint64_t)(uintptr_t)info.dli_fbase));
    }
    bool before = rec_enter(&rec_lock);
    rec_side(f, TACHO_SIDE_FRAME, &address, sizeof address, text, strlen(text));
    rec_leave(&rec_lock, before);
}

/* Called by the helper, which holds no lock: dladdr waits for the loader, and a library that is
 * just being loaded may be waiting for us. */
bool rec_frames_name(rec_file *f, int64_t ns) {
    static uint32_t epoch;
    int64_t until = rec_clock_ns(CLOCK_MONOTONIC) + ns;
    if (epoch != f->epoch) memset(frame_named, 0, sizeof frame_named);
    if (epoch != f->epoch) frames_at = 0;
    epoch = f->epoch;
    for (; frames_at < FRAME_PLACES; frames_at++) {
        uint64_t address = __atomic_load_n(&frame_set[frames_at], __ATOMIC_RELAXED);
        if (!address || frame_named[frames_at]) continue;
        if (rec_clock_ns(CLOCK_MONOTONIC) > until) return true;
        frame_named[frames_at] = 1;
        name_frame(f, address);
    }
    frames_at = 0;
    return false;
}
