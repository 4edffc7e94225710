/* source_int.h: the parts a source is made of.
 *
 *     reader ──> stream (as it is, gunzip, unzstd) ──> blocks ──> pieces
 *                                     └── read_ahead: the same on a thread ──┘
 */
#ifndef IO_SOURCE_INT_H
#define IO_SOURCE_INT_H

#include <pthread.h>
#include <stdatomic.h>

#include "io/remote_int.h"
#include "io/source.h"

/* ---- stream_read.c: undecoded bytes ------------------------------------------------------ */

#define READER_HEAD 16

/* Bytes of a descriptor, of an object after a URL or of memory, with a little that was looked
 * at beforehand. */
typedef struct {
    const char *path; /* for messages; borrowed */
    int fd;           /* -1: remote or memory */
    remote *remote;   /* NULL: memory; borrowed */
    int wake_fd;      /* -1, or an eventfd that ends a wait for more bytes with ERR_CANCELLED */
    str memory;
    size_t memory_at;
    char head[READER_HEAD];
    size_t n_head, head_at;
    uint64_t left_bytes; /* of a plain file as it was when it was opened; else UINT64_MAX */
    _Atomic uint64_t consumed_bytes; /* handed out so far; read by other threads for progress */
} reader;

void reader_init(reader *r, const char *path, int fd, str memory);
/* Reads up to READER_HEAD bytes ahead; they are handed out again by reader_some. */
status reader_peek(reader *r, str *head, error *err) MUST_USE;
/* At least one byte and at most `room`; *n == 0 at the end, or where left_bytes says so. May
 * return fewer than there are. */
status reader_some(reader *r, char *to, size_t room, size_t *n, error *err) MUST_USE;
/* So much output from so little input is not a trace: it would be read for hours. */
bool reader_is_bomb(const reader *r, uint64_t out_bytes);
/* ERR_IO for the path with the system's reason; code is an errno. */
status fail_system(error *err, uint16_t message, const char *path, int code);

/* ---- streams: decoded bytes -------------------------------------------------------------- */

typedef struct stream stream;
struct stream {
    /* Fills `room` bytes; fewer only at the end. After damage: OK, what came out, then 0. */
    status (*fill)(stream *st, char *to, size_t room, size_t *n, error *err);
    void (*free)(stream *st);
    uint16_t damage; /* MSG_NONE, or why the stream ended early */
};

/* Each reads from r, which must outlive it; NULL when out of memory. */
stream *stream_as_is(reader *r);
typedef enum { GUNZIP_FASTEST, GUNZIP_ZLIB } gunzip_engine;
stream *stream_gunzip(reader *r, gunzip_engine engine);
stream *stream_unzstd(reader *r);
bool gunzip_is_ours(str head);
bool unzstd_is_ours(str head);

/* ---- block_list.c: recycled buffers ------------------------------------------------------ */

/* Room in front of a block's data for the bytes repeated from the previous piece. An event is a
 * few KiB at most, so 256 KiB is hardly ever too little; then a larger block is made. */
#define BLOCK_HEADROOM ((size_t)256 << 10)

typedef struct block block;
struct block {
    block *next;
    char *base; /* mapped_bytes from mem_map */
    char *data; /* the block's own bytes; in front of them kept ones may be copied */
    size_t n;   /* bytes at data; SOURCE_PAD readable bytes follow */
    size_t mapped_bytes;
    int refs; /* pieces, plus one for the source's current block */
};

typedef struct {
    pthread_mutex_t lock; /* guards the list and the refs of every block */
    block *free;
} block_list;

void block_list_init(block_list *l);
void block_list_fini(block_list *l); /* blocks in use are given back by their users first */
/* A block with one reference, `front` bytes before data and `room` after it; NULL: no memory.
 * */
block *block_take(block_list *l, size_t front, size_t room);
void block_hold(block_list *l, block *b);
void block_drop(block_list *l, block *b); /* the last one recycles it; NULL is allowed */
static inline size_t block_front(const block *b) {
    return (size_t)(b->data - b->base);
}
/* Bytes that fit at data. */
static inline size_t block_room(const block *b) {
    return b->mapped_bytes - block_front(b) - SOURCE_PAD;
}

/* ---- read_ahead.c: a thread that fills blocks -------------------------------------------- */

typedef struct read_ahead read_ahead;

/* Starts a thread that fills blocks of `room` bytes from st, the first one of `first_room`;
 * NULL when there is no memory or thread. From here on only the thread touches st and r. */
read_ahead *read_ahead_start(stream *st, reader *r, block_list *blocks, size_t room,
                             size_t first_room);
/* The next full block, the caller's; NULL at the end. After the end *damage is final. */
status read_ahead_next(read_ahead *a, block **out, uint16_t *damage, error *err) MUST_USE;
/* Ends the thread, also one that waits for a pipe, and drops its blocks. */
void read_ahead_stop(read_ahead *a);

#endif
