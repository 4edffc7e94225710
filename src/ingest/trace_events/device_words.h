/* device_words.h: device work of tracers with unknown categories, by what its arguments, its
 * category and its name say. */
#ifndef INGEST_DEVICE_WORDS_H
#define INGEST_DEVICE_WORDS_H

#include "base/str.h"
#include "store/builder.h"

/* What the arguments of an event say, as CUPTI and its kin tell it. */
enum {
    SAYS_CORRELATION = 1, /* which call it belongs to */
    SAYS_PLACE = 2,       /* a stream or a device */
    SAYS_GRID = 4,
};

/* KIND_OTHER: nothing says that it is work of a device, or a call that starts some. Category:
 * may be empty. */
slice_kind device_words_kind(str category, str name, unsigned says);

#endif
