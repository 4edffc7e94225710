/* recording_xla.c: what XLA's profiler recorded along with a recording of a JAX program.
 *
 * The recorder's hooks run that profiler for a while and leave what it wrote in the folder of
 * the recording, as .xla-TIME-PID.pb, and its name in the recording. Facts hold for all later
 * recordings of a process: the time in the name tells whether it is of this one. A profile that
 * is missing or cannot be read is a remark: all else is there. */
#include <limits.h>
#include <stdio.h>

#include "base/json.h"
#include "base/num.h"
#include "ingest/recording/recording_int.h"
#include "ingest/xplane/xplane.h"

static int64_t time_of(const void *context, int64_t unix_ns) {
    return recording_unix(context, unix_ns);
}

/* When the profile of this name began; false: it is not one, or would be outside of the
 * folder. */
static bool read_name(str name, int64_t *start_unix_ns) {
    static const str front = STR(".xla-"), end = STR(".pb");
    if (!str_starts(name, front) || !str_ends(name, end) || name.n > 80 ||
        str_find(name, STR("/"), 0) != SIZE_MAX)
        return false;
    size_t dash = str_find(name, STR("-"), front.n);
    return dash != SIZE_MAX &&
           str_to_i64(str_n(name.p + front.n, dash - front.n), start_unix_ns);
}

static bool make_path(const recording *r, str name, char *to, size_t size) {
    const char *slash = r->o->path ? strrchr(r->o->path, '/') : NULL;
    int n_folder = slash ? (int)(slash - r->o->path + 1) : 0;
    int n =
        snprintf(to, size, "%.*s%.*s", n_folder, r->o->path ? r->o->path : "", STR_ARG(name));
    return n > 0 && (size_t)n < size;
}

static status say_missing(recording *r, error *err) {
    static const str
        written = STR(
            "the profile of XLA that belongs to this recording is missing or damaged: what ran "
            "on devices is not in this trace"),
        unwritten = STR("what ran on devices is not in this trace: XLA's profiler "
                        "gives it out when it stops, and it has not");
    bool stopped = r->header.state == TACHO_FILE_STOPPED;
    return recording_add_note(r, stopped ? written : unwritten, err);
}

/* A number that no GPU of the recording has. */
static int32_t first_free_device(const recording *r) {
    enum { MOST = 1024 };
    int32_t first = 0;
    for (int32_t id = 0; id < MOST && r->devices.n; id++)
        if (map_get(&r->devices, (uint64_t)id) != MAP_NONE) first = id + 1;
    for (int32_t id = 0; id < 64 && r->devices.n; id++)
        if (r->described >> id & 1 && id >= first) first = id + 1;
    return first;
}

static status add_profile(recording *r, str name, int64_t start_unix_ns, error *err) {
    char path[PATH_MAX];
    source *src = NULL;
    error why = {0};
    if (!make_path(r, name, path, sizeof path) || source_open(path, &src, &why) != OK)
        return say_missing(r, err);
    xplane_recording in = {.pid = r->header.pid,
                           .start_unix_ns = start_unix_ns,
                           .time_of = time_of,
                           .context = r,
                           .has_steps = r->n_steps > 0,
                           .described = r->described,
                           .first_cpu = first_free_device(r),
                           .computes_on_cpu = &r->computes_on_cpu};
    uint64_t n_bytes = add_u64(r->n_bytes, source_file_bytes(src));
    status st = xplane_add(src, r->o, &in, r->b, &why);
    source_close(src);
    builder_set_input_bytes(r->b, n_bytes);
    if (st == ERR_FORMAT || st == ERR_IO) return say_missing(r, err);
    if (st != OK && err) error_copy(err, &why);
    return st;
}

status recording_add_profile(recording *r, error *err) {
    str name = json_text(r->profile);
    int64_t start_unix_ns = 0;
    if (!read_name(name, &start_unix_ns) || start_unix_ns < r->header.start_unix_ns) return OK;
    return add_profile(r, name, start_unix_ns, err);
}
