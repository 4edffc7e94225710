/* uploads.h: files that were dropped on the page: a folder of the server's own that goes with
 * it.
 *
 *     uploads *u = uploads_new(limit_bytes);             a fresh folder, only for this user
 *     upload one = {0};
 *     TRY(upload_begin(u, bytes, &one, err));            room is set aside
 *     upload_write(&one, part, n);                       as often as parts come
 *     TRY(upload_end(&one, &(upload_place){…}, &run, err));
 *     upload_drop(&one);                                 always: gives back what was not kept
 *     uploads_free(u);                                   removes the folder and all in it
 *
 * Nothing a client sends is ever used as a path: of each part of a name only letters, digits
 * and a few signs are kept, and the file is in a folder that is made here. The first folder of
 * a way is the run; folders below it are kept, since profilers write several files of one name
 * into folders of ranks or devices. All functions may be called from any thread; an upload
 * belongs to one at a time. */
#ifndef SERVE_UPLOADS_H
#define SERVE_UPLOADS_H

#include "base/arena.h"
#include "session/discover.h"

typedef struct uploads uploads;

typedef struct {
    uploads *to;    /* NULL: nothing was begun */
    uint64_t bytes; /* set aside */
    uint64_t written;
    int fd;
    int failed; /* errno of the first write that failed */
    bool kept;
    char path[512]; /* while it is written */
} upload;

/* Where a file goes. */
typedef struct {
    str name;  /* as the client calls it: of a folder with the way to it, a/b/c.json */
    str group; /* files with the same word are one run; empty: a run alone */
    const catalogue *shown; /* runs whose names are taken */
    arena *arena;
} upload_place;

enum { UPLOAD_NAME_BYTES = 120, UPLOAD_WAY_BYTES = 480 };

/* NULL when no folder can be made. */
uploads *uploads_new(uint64_t limit_bytes);
void uploads_free(uploads *u); /* NULL is allowed */
const char *uploads_path(const uploads *u);
void uploads_room(uploads *u, uint64_t *used_bytes, uint64_t *limit_bytes);

/* ERR_LIMIT when there is not so much room; ERR_IO. */
status upload_begin(uploads *u, uint64_t bytes, upload *out, error *err) MUST_USE;
void upload_write(upload *f, const void *p, size_t n);
/* Puts the file into the folder of its run, whose name is *run, valid until the arena is reset.
 * ERR_FORMAT when it is not a trace: then it is gone. What comes with a folder is kept whatever
 * it is, since a trace may need it; *run is empty as long as no trace came. */
status upload_end(upload *f, const upload_place *at, str *run, error *err) MUST_USE;
void upload_drop(upload *f);

/* A name that is safe in a folder: its last part, of which only plain signs stay. */
void upload_safe_name(str name, char out[UPLOAD_NAME_BYTES + 1]);
/* The same of each part of a way; parts that lead nowhere or up are left out. False: too
 * long. */
bool upload_safe_way(str name, char out[UPLOAD_WAY_BYTES + 1]);

#endif
