/* descriptor_vfs.c: SQLite on a file that is open already.
 *
 * A file that was checked must be the one that is read, but SQLite opens files by their paths,
 * which may lead elsewhere by then. This way to files takes the number of a descriptor for a
 * path. It reads one file and nothing else: no journal, no lock, no temporary file, and nothing
 * is written. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/num.h"
#include "ingest/sqlite/database_int.h"

typedef struct {
    sqlite3_file base;
    int fd;
    int failed; /* errno of the first read that failed; 0: none did */
} descriptor_file;

static int close_file(sqlite3_file *file) {
    close(((descriptor_file *)file)->fd);
    return SQLITE_OK;
}

static int fail_read(descriptor_file *file, int number) {
    if (!file->failed) file->failed = number;
    return SQLITE_IOERR_READ;
}

/* Bytes beyond the end are zero, as SQLite wants it. */
static int read_file(sqlite3_file *base, void *to, int n, sqlite3_int64 from) {
    descriptor_file *file = (descriptor_file *)base;
    int done = 0;
    if (fault_point(FAULT_READ)) return fail_read(file, EIO);
    while (done < n) {
        ssize_t got =
            pread(file->fd, (char *)to + done, (size_t)(n - done), add_i64(from, done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail_read(file, errno);
        if (got == 0) break;
        done += (int)got;
    }
    if (done == n) return SQLITE_OK;
    memset((char *)to + done, 0, (size_t)(n - done));
    return SQLITE_IOERR_SHORT_READ;
}

static int refuse_write(sqlite3_file *file, const void *from, int n, sqlite3_int64 at) {
    (void)file, (void)from, (void)n, (void)at;
    return SQLITE_READONLY;
}

static int refuse_truncate(sqlite3_file *file, sqlite3_int64 size) {
    (void)file, (void)size;
    return SQLITE_READONLY;
}

static int report_size(sqlite3_file *file, sqlite3_int64 *out) {
    struct stat st;
    if (fstat(((descriptor_file *)file)->fd, &st) != 0) return SQLITE_IOERR_FSTAT;
    *out = st.st_size;
    return SQLITE_OK;
}

static int accept_number(sqlite3_file *file, int number) {
    (void)file, (void)number;
    return SQLITE_OK;
}

static int find_no_lock(sqlite3_file *file, int *out) {
    (void)file;
    *out = 0;
    return SQLITE_OK;
}

static int know_no_control(sqlite3_file *file, int what, void *value) {
    (void)file, (void)what, (void)value;
    return SQLITE_NOTFOUND;
}

static int report_sector(sqlite3_file *file) {
    (void)file;
    return 4096;
}

static int report_traits(sqlite3_file *file) {
    (void)file;
    return SQLITE_IOCAP_IMMUTABLE;
}

static const sqlite3_io_methods METHODS = {.iVersion = 1,
                                           .xClose = close_file,
                                           .xRead = read_file,
                                           .xWrite = refuse_write,
                                           .xTruncate = refuse_truncate,
                                           .xSync = accept_number,
                                           .xFileSize = report_size,
                                           .xLock = accept_number,
                                           .xUnlock = accept_number,
                                           .xCheckReservedLock = find_no_lock,
                                           .xFileControl = know_no_control,
                                           .xSectorSize = report_sector,
                                           .xDeviceCharacteristics = report_traits};

static int open_number(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags,
                       int *out_flags) {
    (void)vfs;
    file->pMethods = NULL;
    if (!path || !(flags & SQLITE_OPEN_MAIN_DB)) return SQLITE_CANTOPEN;
    int fd = fcntl(atoi(path), F_DUPFD_CLOEXEC, 0);
    if (fd < 0) return SQLITE_CANTOPEN;
    *(descriptor_file *)file = (descriptor_file){.base = {&METHODS}, .fd = fd};
    if (out_flags) *out_flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB;
    return SQLITE_OK;
}

static int refuse_delete(sqlite3_vfs *vfs, const char *path, int sync) {
    (void)vfs, (void)path, (void)sync;
    return SQLITE_READONLY;
}

static int find_nothing(sqlite3_vfs *vfs, const char *path, int how, int *out) {
    (void)vfs, (void)path, (void)how;
    *out = 0;
    return SQLITE_OK;
}

static int keep_path(sqlite3_vfs *vfs, const char *path, int room, char *out) {
    (void)vfs;
    sqlite3_snprintf(room, out, "%s", path);
    return SQLITE_OK;
}

static sqlite3_vfs vfs;
static pthread_once_t registered = PTHREAD_ONCE_INIT;

/* Clock, randomness and sleep are the system's. */
static void register_vfs(void) {
    const sqlite3_vfs *usual = sqlite3_vfs_find(NULL);
    if (!usual) return;
    vfs = *usual;
    vfs.szOsFile = sizeof(descriptor_file);
    vfs.pNext = NULL;
    vfs.zName = "tacho-descriptor";
    vfs.xOpen = open_number;
    vfs.xDelete = refuse_delete;
    vfs.xAccess = find_nothing;
    vfs.xFullPathname = keep_path;
    (void)sqlite3_vfs_register(&vfs, 0);
}

int database_open_descriptor(int fd, sqlite3 **out) {
    char number[16];
    pthread_once(&registered, register_vfs);
    sqlite3_snprintf(sizeof number, number, "%d", fd);
    return sqlite3_open_v2(number, out, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX,
                           "tacho-descriptor");
}

int database_read_errno(sqlite3 *db) {
    sqlite3_file *file = NULL;
    if (sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK)
        return 0;
    return file && file->pMethods == &METHODS ? ((descriptor_file *)file)->failed : 0;
}
