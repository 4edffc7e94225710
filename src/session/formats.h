/* formats.h: the table of formats: how each is recognized and which reader reads it. */
#ifndef SESSION_FORMATS_H
#define SESSION_FORMATS_H

#include "ingest/ingest.h"

typedef enum {
    SNIFF_NO,
    SNIFF_MAYBE, /* it begins like one, but the decisive part comes later */
    SNIFF_YES,
} sniff_answer;

typedef struct {
    const char *name; /* for messages and tests; the reader sets the trace's own */
    /* head: the first bytes, decompressed; whole: there are no more. */
    sniff_answer (*sniff)(str head, bool whole);
    /* NULL: our own file, which is mapped. */
    ingest_function *read;
} format;

/* The i-th format in the order they are asked; NULL after the last. */
const format *format_at(uint32_t i);
/* The format of a file that is one of a folder's many: those have no magic, only names. NULL:
 * the content decides. */
const format *format_of_name(str path);
/* The reader of torch_npu's folders, for a timeline that is known to be one of them. */
const format *format_torch_npu(void);
/* Our own sealed file: mapped, not read. */
bool format_is_tacho(const format *f);

#endif
