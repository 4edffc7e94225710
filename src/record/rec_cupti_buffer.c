/* rec_cupti_buffer.c: memory that CUPTI fills with records.
 *
 * CUPTI asks for buffers on the program's threads, in the middle of a launch: they are mapped
 * before, the first of them with their pages in place, and handed out by an atomic flag. They
 * are handed out empty (all zero), because CUPTI would otherwise clear them there. It gives
 * them back on its own thread: they go to a list, and our helper empties and clears them. No
 * call to CUPTI is made inside its callbacks. */
#include <string.h>
#include <sys/mman.h>

#include "record/rec_cupti_int.h"

enum { N_BUFFERS = 24, BUFFER_BYTES = 4 << 20, DISCARD_BYTES = 256 << 10, N_READY = 2 };
enum { RECORD_BYTES = 200 }; /* about: what a record that was lost had needed */

typedef struct buffer buffer;
struct buffer {
    buffer *next; /* in the list of full ones */
    uint8_t *p;
    size_t valid;
    uint32_t taken;
    bool has_pages; /* all of them: of the helper and of the start */
};
static buffer buffers[N_BUFFERS];
static buffer *full;
static _Alignas(64) uint8_t discard[DISCARD_BYTES];
static uint64_t n_discarded; /* bytes, until the next emptying */

/* Two free ones never wait for pages. */
static void prepare_buffers(void) {
    int ready = 0;
    for (int i = 0; i < N_BUFFERS && ready < N_READY; i++) {
        buffer *b = &buffers[i];
        if (!b->p || __atomic_load_n(&b->taken, __ATOMIC_ACQUIRE)) continue;
        ready++;
        uint32_t free_one = 0;
        if (b->has_pages || !__atomic_compare_exchange_n(&b->taken, &free_one, 1, false,
                                                         __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            continue;
        for (size_t at = 0; at < BUFFER_BYTES; at += 4096) *(volatile uint8_t *)(b->p + at) = 0;
        b->has_pages = true;
        __atomic_store_n(&b->taken, 0, __ATOMIC_RELEASE);
    }
}

bool cupti_map_buffers(void) {
    int n = 0;
    for (int i = 0; i < N_BUFFERS; i++, n++) {
        if (buffers[i].p) continue;
        void *p = mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                       -1, 0);
        if (p == MAP_FAILED) break;
        (void)madvise(p, BUFFER_BYTES, MADV_DONTFORK);
        buffers[i].p = p;
    }
    prepare_buffers();
    return n >= N_READY;
}

/* On a thread of the program. A refused buffer (NULL) would crash older versions, so when all
 * are in use a common one takes what is lost. */
void cupti_give_buffer(uint8_t **to, size_t *size, size_t *n_records) {
    *n_records = 0;
    for (int i = 0; i < N_BUFFERS; i++) {
        uint32_t free_one = 0;
        if (!buffers[i].p ||
            !__atomic_compare_exchange_n(&buffers[i].taken, &free_one, 1, false,
                                         __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            continue;
        *to = buffers[i].p;
        *size = BUFFER_BYTES;
        return;
    }
    *to = discard;
    *size = sizeof discard;
}

void cupti_take_buffer(void *context, uint32_t stream, uint8_t *p, size_t size, size_t valid) {
    (void)context;
    (void)stream;
    (void)size;
    if (p == discard) {
        __atomic_fetch_add(&n_discarded, valid, __ATOMIC_RELAXED);
        return;
    }
    for (int i = 0; i < N_BUFFERS; i++) {
        buffer *b = &buffers[i];
        if (b->p != p) continue;
        b->valid = valid;
        b->next = __atomic_load_n(&full, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(&full, &b->next, b, true, __ATOMIC_RELEASE,
                                            __ATOMIC_RELAXED)) {}
        rec_helper_wake();
        return;
    }
}

bool cupti_has_full_buffer(void) {
    return __atomic_load_n(&full, __ATOMIC_ACQUIRE) != NULL;
}

void cupti_empty_buffers(void) {
    buffer *list = __atomic_exchange_n(&full, NULL, __ATOMIC_ACQUIRE);
    while (list) {
        buffer *next = list->next;
        uint8_t *record = NULL;
        while (cupti.next_record(list->p, list->valid, &record) == 0) cupti_take_record(record);
        memset(list->p, 0, list->valid < BUFFER_BYTES ? list->valid : BUFFER_BYTES);
        __atomic_store_n(&list->taken, 0, __ATOMIC_RELEASE);
        list = next;
    }
    prepare_buffers();
    size_t n = 0;
    uint64_t lost = __atomic_exchange_n(&n_discarded, 0, __ATOMIC_RELAXED) / RECORD_BYTES;
    if (cupti.dropped && cupti.dropped(NULL, 0, &n) == 0) lost += n;
    if (lost) rec_count_lost(TACHO_LOST_DEVICE, lost);
}

void cupti_take_back_buffers(void) {
    __atomic_store_n(&full, NULL, __ATOMIC_RELAXED);
    __atomic_store_n(&n_discarded, 0, __ATOMIC_RELAXED);
    for (int i = 0; i < N_BUFFERS; i++) {
        buffer *b = &buffers[i];
        if (!b->p || !__atomic_load_n(&b->taken, __ATOMIC_RELAXED)) continue;
        (void)madvise(b->p, BUFFER_BYTES, MADV_DONTNEED); /* the cheapest way to empty ones */
        b->has_pages = false;
        __atomic_store_n(&b->taken, 0, __ATOMIC_RELEASE);
    }
}
