/* rec_paddle.c: what Paddle's allocators hand out and take back.
 *
 * Paddle makes an object of class RecordMemEvent for every block, whether its profiler runs or
 * not; the constructor looks whether anybody wants to know. libphi_core calls it through its
 * table of foreign functions, and that entry is pointed at a function here (rec_got_patch.c)
 * for as long as memory is recorded. Paddle's own profiler works on as before: the real
 * constructor is called, too.
 *
 *     RecordMemEvent(this, address, place, bytes, what)    what: block or reserve, out or back
 *
 * Totals are added up here, for each device, from those that Paddle reported when it began.
 * What is reserved of the host's memory comes from the statistics that its allocator keeps,
 * where they can be heard the same way: it tells no RecordMemEvent of it. Where the constructor
 * is not found nothing is changed, and the answer says that there are no blocks. */
#include <dlfcn.h>
#include <string.h>

#include "record/rec_got_patch.h"
#include "record/rec_int.h"

#if (defined(__x86_64__) || defined(__aarch64__)) && defined(__linux__)

#define NAME "_ZN6paddle8platform14RecordMemEventC1EPKvRKN3phi5PlaceEmNS4_18TracerMemEventTypeE"
#define RESERVED "_ZN6paddle6memory4StatINS0_23HostMemoryStatReserved0EE6UpdateEl"
#define IS_CPU "_ZN3phi12is_cpu_placeERKNS_5PlaceE"
#define IS_PINNED "_ZN3phi15is_pinned_placeERKNS_5PlaceE"

/* phi::TracerMemEventType */
enum { BLOCK_OUT, BLOCK_BACK, RESERVE_OUT, RESERVE_BACK };
enum { MOST_DEVICES = 64, HOST = MOST_DEVICES };

/* phi::Place begins with the number of the device; what kind it is, Paddle is asked. */
typedef struct {
    int8_t device;
} place;

static struct {
    void (*construct)(void *, const void *, const place *, size_t, int);
    void (*update)(void *, int64_t); /* may be missing */
    bool (*is_cpu)(const place *), (*is_pinned)(const place *);
} paddle;
static bool hears_reserved; /* of the host; set before the constructor is ours */
static rec_entries entries; /* rec_paddle_lock */
REC_MUTEX(static, rec_paddle_lock);
static struct { int64_t allocated, reserved; } totals[MOST_DEVICES + 1];

static size_t rec_paddle_row_of(const place *p) {
    if (paddle.is_cpu(p) || paddle.is_pinned(p) || p->device < 0) return HOST;
    return p->device < MOST_DEVICES ? (size_t)p->device : MOST_DEVICES - 1;
}

static int64_t add(int64_t *total, int64_t bytes) {
    return __atomic_add_fetch(total, bytes, __ATOMIC_RELAXED);
}

static void rec_paddle_tell(const void *address, size_t row, int64_t bytes, int what) {
    tacho_block b = {.size = sizeof b,
                     .address = (uint64_t)(uintptr_t)address,
                     .bytes = bytes,
                     .device = row == HOST ? -1 : (int32_t)row};
    b.allocated = add(&totals[row].allocated, what == BLOCK_OUT ? bytes : -bytes);
    b.reserved = __atomic_load_n(&totals[row].reserved, __ATOMIC_RELAXED);
    if (what == BLOCK_OUT)
        tacho_alloc(&b);
    else
        tacho_release(&b);
}

static void construct(void *self, const void *address, const place *p, size_t bytes, int what) {
    size_t row = rec_paddle_row_of(p);
    int64_t size = (int64_t)bytes;
    if (what == BLOCK_OUT || what == BLOCK_BACK) rec_paddle_tell(address, row, size, what);
    bool counts = row != HOST || !hears_reserved;
    if (counts && what == RESERVE_OUT) (void)add(&totals[row].reserved, size);
    if (counts && what == RESERVE_BACK) (void)add(&totals[row].reserved, -size);
    paddle.construct(self, address, p, bytes, what);
}

static void update_reserved(void *self, int64_t bytes) {
    (void)add(&totals[HOST].reserved, bytes);
    paddle.update(self, bytes);
}

static bool rec_paddle_find_symbols(void) {
    static const char *const LIBRARIES[] = {"libphi_core.so", "libphi.so", "libpaddle.so"};
    for (size_t i = 0; i < sizeof LIBRARIES / sizeof *LIBRARIES; i++) {
        void *lib = dlopen(LIBRARIES[i], RTLD_NOLOAD | RTLD_LAZY);
        if (!lib) continue; /* what is found stays: it is the program's own */
        void *found[] = {dlsym(lib, NAME), dlsym(lib, IS_CPU), dlsym(lib, IS_PINNED),
                         dlsym(lib, RESERVED)};
        memcpy(&paddle.construct, &found[0], sizeof found[0]);
        memcpy(&paddle.is_cpu, &found[1], sizeof found[1]);
        memcpy(&paddle.is_pinned, &found[2], sizeof found[2]);
        memcpy(&paddle.update, &found[3], sizeof found[3]);
        if (found[0] && found[1] && found[2]) return true;
    }
    return false;
}

/* The caller's blocks may be longer than ours, when it is newer. */
static void set_totals(const tacho_block *before, size_t n) {
    memset(totals, 0, sizeof totals);
    for (size_t i = 0; i < n; i++) {
        const tacho_block *b = (const void *)((const uint8_t *)before + i * before->size);
        if (before->size < sizeof *b || b->device >= MOST_DEVICES) continue;
        size_t row = b->device < 0 ? HOST : (size_t)b->device;
        totals[row].allocated = b->allocated;
        totals[row].reserved = b->reserved;
    }
}

static size_t change(const char *symbol, void *to) {
    const rec_replacement r = {symbol, to};
    size_t before = entries.n;
    (void)rec_entries_change(&entries, "libphi", &r, 1);
    return rec_entries_change(&entries, "libpaddle", &r, 1) - before;
}

static bool rec_paddle_begin(const tacho_block *before, size_t n) {
    if (!rec_paddle_find_symbols()) return false;
    set_totals(before, n);
    hears_reserved = paddle.update && change(RESERVED, (void *)(uintptr_t)update_reserved) > 0;
    bool hears = change(NAME, (void *)(uintptr_t)construct) > 0;
    if (!hears) rec_entries_restore(&entries);
    return hears;
}

int tacho_paddle(const tacho_block *before, size_t n) {
    rec_mutex_lock(&rec_paddle_lock);
    if (!before) rec_entries_restore(&entries);
    bool listens = before && (entries.n > 0 || rec_paddle_begin(before, n));
    pthread_mutex_unlock(&rec_paddle_lock);
    return listens;
}

#else

int tacho_paddle(const tacho_block *before, size_t n) {
    (void)before, (void)n;
    return 0;
}

#endif
