/* listing.c: pages of object stores. Every key is complete in the arena and ends in NUL;
 * nothing is longer than the page it came from. */
#include "fuzz/fuzz.h"
#include "io/remote_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    arena a;
    listing l;
    arena_init(&a, 0);
    if (listing_parse(&a, str_n((const char *)data, size), &l, NULL) == OK) {
        size_t sum = l.next.n;
        CHECK(l.next.p[l.next.n] == 0);
        for (size_t i = 0; i < l.n; i++) {
            CHECK(l.v[i].key.n > 0 && l.v[i].key.p[l.v[i].key.n] == 0);
            sum += l.v[i].key.n + l.v[i].tag.n;
        }
        CHECK(sum <= size);
    }
    arena_fini(&a);
    return 0;
}
