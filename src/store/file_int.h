/* file_int.h: the bytes of a sealed trace file (docs/FORMAT.md), shared by its writer, its
 * reader and its checks.
 *
 *     header (1024) | sections (96 each) | key | … | section bytes, each at a multiple of
 * 64 */
#ifndef STORE_FILE_INT_H
#define STORE_FILE_INT_H

#include <pthread.h>

#include "store/trace_int.h"

#define FILE_MAGIC "\x89TACHO\r\n" /* a text transfer or a cut high bit breaks it */
enum {
    FILE_VERSION = 1,
    FILE_PROFILE_RECORDING = 1,
    FILE_PROFILE_TRACE = 2,
    FILE_PROFILE_SUMMARY = 3,
    FILE_ALIGN = 64,
    FILE_MAX_KINDS = 64,
    FILE_NAME_BYTES = 40,
    FILE_FORMAT_BYTES = 32,
    FILE_MAX_SECTIONS = 4096,
    FILE_MAX_KEY = 1 << 20,
};

typedef struct {
    char magic[8];
    uint32_t version;
    uint32_t profile;
    uint64_t header_bytes; /* header, sections and key, rounded up to FILE_ALIGN */
    uint64_t file_bytes;
    uint64_t checksum; /* XXH3-64 of all after this field up to header_bytes */
    uint32_t n_sections;
    uint32_t key_bytes;
    int64_t start_ns, end_ns, base_unix_ns;
    uint64_t events_read, events_dropped, input_bytes;
    char format[FILE_FORMAT_BYTES]; /* ends in NUL */
    uint64_t kind_count[FILE_MAX_KINDS];
    uint8_t reserved[384]; /* zero */
} file_header;

typedef struct {
    char name[FILE_NAME_BYTES]; /* "slice.start", ends in NUL: the identity of a section */
    uint32_t type;              /* cell_type */
    uint32_t elem_bytes;
    uint64_t rows;
    uint64_t offset; /* from the start of the file */
    uint64_t size_bytes;
    uint64_t checksum; /* XXH3-64 of its bytes */
    uint64_t maximum;  /* of a str, ref or u32 section, 0 otherwise */
    uint64_t reserved;
} file_section;

_Static_assert(sizeof(file_header) == 1024, "docs/FORMAT.md");
_Static_assert(sizeof(file_section) == 96, "docs/FORMAT.md");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "columns are used as they are");
_Static_assert((int)N_KINDS <= (int)FILE_MAX_KINDS, "kind_count");

/* The sections that are not columns follow them. */
enum {
    SECTION_STRING_OFFSET = N_COLUMNS,
    SECTION_STRING_BYTES,
    SECTION_ARG_BLOCK,
    SECTION_ARG_BYTES,
    SECTION_SHAPE_PARENT,
    SECTION_SHAPE_KEY,
    N_SECTIONS,
};

/* What a section of this number is in this program. */
typedef struct {
    char name[FILE_NAME_BYTES];
    uint8_t type;
    uint8_t elem_bytes;
} section_info;
section_info section_describe(int section);
/* Whether a file's name of a section is this one, or what it was called before. */
bool section_is_named(const char *in_file, const char *name);

/* An opened file: owned by its trace. */
typedef struct {
    const char
        *copy; /* the bytes that were read so far, each at its place in the file; the rest is
                  zero */
    size_t file_bytes;
    int fd;                              /* -1: nothing is left to be read */
    bool has[N_SECTIONS];                /* was read */
    char *path;                          /* for messages */
    const file_section *toc[N_SECTIONS]; /* NULL: the file has no such section */
    pthread_mutex_t lock;                /* one check at a time */
    _Atomic uint64_t checked;            /* TRACE_TABLE bits, TRACE_ARGUMENTS, FILE_STRINGS */
} open_file;

#define FILE_STRINGS ((uint64_t)1 << 62)

/* Reads a section that the file has, once; before, its rows are zero. ERR_FORMAT when the file
 * is shorter than it was. Under the lock, or while it is being opened. */
status file_read_section(open_file *f, int section, error *err) MUST_USE;
/* Nothing more is to come: the descriptor is not needed. */
void file_close_when_read(open_file *f);
/* Size, version, profile, checksum of header and contents. */
status file_check_header(const open_file *f, error *err) MUST_USE;
/* Place, length and element size of a section. */
status file_check_section(const open_file *f, const file_section *s, error *err) MUST_USE;
/* Bytes to a temporary name next to `path`, synced, then renamed. */
status file_replace(const char *path, str bytes, error *err) MUST_USE;

/* Checks what is small enough to be checked always. */
status file_check_small(const trace *t, error *err) MUST_USE;
/* trace_owner.require of a trace from a file. */
status file_require(const trace *t, uint64_t tables, error *err) MUST_USE;
status file_damaged(const open_file *f, const char *where, error *err);

#endif
