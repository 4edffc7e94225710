/* page.h: the files of the page, compressed, inside the program. */
#ifndef SERVE_PAGE_H
#define SERVE_PAGE_H

#include "base/status.h"

/* Written by tools/embed-page, laid out in page_data.S. */
typedef struct {
    const char *path, *media, *etag; /* "/index.html", with quotes */
    const char *bytes;               /* gzip */
    uint64_t n;
    uint64_t immutable; /* has its content's hash in its name */
} page_file;

/* The file of a path, "/" is the page itself; NULL when there is none. */
const page_file *page_find(str path);
/* Does the header allow gzip? Absent means anything is. */
bool page_accepts_gzip(str accept_encoding, bool present);

/* Sent with everything: the page loads nothing from elsewhere and runs no inline code. */
#define PAGE_POLICY                                                                         \
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; " \
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; "            \
    "frame-ancestors 'none'"

#endif
