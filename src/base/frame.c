/* frame.c: what is around the blocks of a frame. */
#include "base/frame.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "blocks are written as they lie");

void frame_begin(buf *out, const char magic[8], buf *description) {
    buf_add_repeat(description, ' ', (size_t)(frame_room(description->n) - description->n));
    uint32_t numbers[2] = {1, (uint32_t)description->n};
    buf_add(out, magic, 8);
    buf_add(out, numbers, sizeof numbers);
    buf_add_str(out, buf_str(description));
    if (!buf_ok(description)) out->failed = true;
    buf_fini(description);
}

void frame_pad(buf *out, uint64_t n) {
    buf_add_repeat(out, '\0', (size_t)(frame_room(n) - n));
}
