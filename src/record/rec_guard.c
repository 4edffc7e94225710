/* rec_guard.c: see the header.
 *
 * The handler of SIGBUS looks for the address in a table of maps; it takes no lock. Other
 * addresses are left to the previous handler, or ends the program as it would have. The handler
 * is set with the first map. A program that sets its own later takes it away; the helper sees
 * that and sets ours before it again. A thread that blocks SIGBUS would be ended by the system,
 * so a thread that records does not block it: a fault that is blocked has no other use. The
 * helper looks at the size of the file, too, fifty times a second, and makes plain memory of
 * what is gone before anybody touches it. */
#include "record/rec_guard.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/rec_int.h"

enum { MOST_MAPS = 64 };

/* `from` is written last and cleared first. */
static struct guarded {
    uintptr_t from, to;
    uint32_t *cut;
} maps[MOST_MAPS];

REC_MUTEX(static, lock); /* who adds or removes */
/* The previous handler: written next to the one that is used, then used. */
static struct sigaction kept[2], *before = &kept[0];
static bool is_set;

static struct guarded *find(uintptr_t address) {
    for (int i = 0; i < MOST_MAPS; i++) {
        uintptr_t from = __atomic_load_n(&maps[i].from, __ATOMIC_ACQUIRE);
        if (from && address >= from && address < maps[i].to) return &maps[i];
    }
    return NULL;
}

/* What comes after is beyond the end of the file, too. */
static bool make_plain(const struct guarded *g, uintptr_t at) {
    uintptr_t page = at & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    if (mmap((void *)page, g->to - page, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED)
        return false;
    (void)madvise((void *)page, g->to - page, MADV_DONTFORK);
    __atomic_store_n(__atomic_load_n(&g->cut, __ATOMIC_ACQUIRE), 1, __ATOMIC_RELEASE);
    return true;
}

static void end_program(const siginfo_t *info) {
    struct sigaction end = {.sa_handler = SIG_DFL};
    (void)sigaction(SIGBUS, &end, NULL);
    if (info->si_code <= 0) (void)raise(SIGBUS); /* sent: it is not raised again by itself */
}

/* True when the handler before us has called us in its turn: the same signal, further down the
 * stack. A program that left its handler by a jump comes here again. */
static bool is_called_back(const siginfo_t *info) {
    static __thread const siginfo_t *last __attribute__((tls_model("initial-exec")));
    static __thread uintptr_t depth __attribute__((tls_model("initial-exec")));
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    bool is = last == info && here < depth;
    last = info;
    depth = here;
    return is;
}

/* The program's own: its handler, or the end. */
static void hand_on(int number, siginfo_t *info, void *context) {
    struct sigaction *there = __atomic_load_n(&before, __ATOMIC_ACQUIRE), to = *there;
    if ((unsigned)to.sa_flags & SA_RESETHAND)
        *there = (struct sigaction){.sa_handler = SIG_DFL};
    if (is_called_back(info))
        end_program(info);
    else if (to.sa_flags & SA_SIGINFO)
        to.sa_sigaction(number, info, context);
    else if (to.sa_handler != SIG_DFL && to.sa_handler != SIG_IGN)
        to.sa_handler(number);
    else if (to.sa_handler == SIG_DFL || info->si_code > 0)
        end_program(info);
}

static void on_bus(int number, siginfo_t *info, void *context) {
    int code = errno;
    uintptr_t address = (uintptr_t)info->si_addr;
    struct guarded *g = info->si_code == BUS_ADRERR ? find(address) : NULL;
    if (!g || !make_plain(g, address)) hand_on(number, info, context);
    errno = code;
}

/* Under the lock. What the program asked for its handler, it has with ours before it. */
static void set_handler(void) {
    enum { ITS_OWN = SA_ONSTACK | SA_NODEFER | SA_RESTART };
    struct sigaction ours = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    struct sigaction *other = before == &kept[0] ? &kept[1] : &kept[0];
    if (sigaction(SIGBUS, NULL, other) != 0) return;
    if (other->sa_flags & SA_SIGINFO && other->sa_sigaction == on_bus) return;
    if (is_set) {
        ours.sa_flags = SA_SIGINFO | (other->sa_flags & ITS_OWN);
        ours.sa_mask = other->sa_mask;
    }
    __atomic_store_n(&before, other, __ATOMIC_RELEASE);
    is_set = sigaction(SIGBUS, &ours, NULL) == 0;
}

void rec_guard_keep(void) {
    rec_mutex_lock(&lock);
    if (is_set) set_handler();
    pthread_mutex_unlock(&lock);
}

void rec_guard_thread(void) {
    sigset_t bus;
    sigemptyset(&bus);
    sigaddset(&bus, SIGBUS);
    (void)pthread_sigmask(SIG_UNBLOCK, &bus, NULL);
}

void rec_guard_add(void *map, size_t bytes, uint32_t *cut) {
    rec_mutex_lock(&lock);
    set_handler();
    for (int i = 0; i < MOST_MAPS; i++) {
        if (maps[i].from) continue;
        maps[i].to = (uintptr_t)map + bytes;
        maps[i].cut = cut;
        __atomic_store_n(&maps[i].from, (uintptr_t)map, __ATOMIC_RELEASE);
        break;
    }
    pthread_mutex_unlock(&lock);
}

void rec_guard_remove(const void *map) {
    rec_mutex_lock(&lock);
    for (int i = 0; i < MOST_MAPS; i++)
        if (maps[i].from == (uintptr_t)map)
            __atomic_store_n(&maps[i].from, 0, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
}

void rec_guard_leave(const void *map) {
    static uint32_t nobody_asks;
    rec_mutex_lock(&lock);
    for (int i = 0; i < MOST_MAPS; i++)
        if (maps[i].from == (uintptr_t)map)
            __atomic_store_n(&maps[i].cut, &nobody_asks, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
}

void rec_guard_cut(void *map, size_t at) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const struct guarded *g = find((uintptr_t)map);
    uintptr_t from = ((uintptr_t)map + at + page - 1) & ~(page - 1);
    if (g && from < g->to) (void)make_plain(g, from);
}

void rec_guard_forked(void) {
    for (int i = 0; i < MOST_MAPS; i++) maps[i].from = 0;
}
