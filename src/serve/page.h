/* page.h: the files of the page, inside the program. */
#ifndef SERVE_PAGE_H
#define SERVE_PAGE_H

#include "base/status.h"

/* A file in one form. The forms have different tags: they are different bytes. */
typedef struct {
    const char *bytes;
    uint64_t n;
    const char *etag; /* with quotes */
} page_form;

/* Written by tools/embed-page, laid out in page_data.S. */
typedef struct {
    const char *path, *media; /* "/index.html" */
    uint64_t immutable;       /* has the page's version in its path */
    page_form plain, gzip;
} page_file;

/* The file of a path, "/" is the page itself; NULL when there is none. */
const page_file *page_find(str path);
/* The files one by one; NULL after the last. */
const page_file *page_at(uint64_t i);
/* Does the header Accept-Encoding ask for gzip? Absent (an empty text) it does not: a client
 * that can inflate says so, and every client can read a plain answer. */
bool page_wants_gzip(str accept_encoding);

/* Sent with everything: the page loads nothing from elsewhere and runs no inline code. */
#define PAGE_POLICY                                                                         \
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; " \
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; "            \
    "frame-ancestors 'none'"

#endif
