/* tacho.c: the trace as our own file, for keeping and sharing: opens at once wherever tacho is.
 *
 * The bytes are store's business (store/file.h); here it is only one more form of export. The
 * cache holds the same kind of file with a key in its header; a file made here has none and is
 * therefore never taken for a cache entry. Always the whole trace: a part of the columns would
 * need to be sealed again. */
#include "export/export_int.h"
#include "store/file.h"

status export_tacho(export_ctx *x) {
    return file_write_fd(x->t, x->fd, STR_NONE, x->err);
}
