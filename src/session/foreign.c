/* foreign.c: what a file of another tool is, by its first bytes, else by its name.
 *
 * None of these is read, so nothing here parses further than it takes to be sure: a magic
 * number, the key an object begins with, the first fields of a protobuf. A wrong name costs a
 * person an hour, a missing one a minute: when the bytes leave doubt the answer is "no", and
 * the plain words of sniff.c remain. */
#include "session/foreign.h"

#include "base/json.h"
#include "base/message_ids_columns.h"
#include "ingest/pytorch/execution_trace.h"
#include "ingest/util/protobuf.h"

#define NEAR ((size_t)64 << 10)

static str near_start(str head) {
    return str_n(head.p, head.n < NEAR ? head.n : NEAR);
}

static bool foreign_holds(str head, str needle) {
    return str_find(head, needle, 0) != SIZE_MAX;
}

/* ---- databases: the names of tables are in the text of their schema --------------------- */

static bool is_sqlite(str head) {
    return str_starts(head, STR("SQLite format 3"));
}

static bool has_cupti(str head) {
    return is_sqlite(head) && foreign_holds(head, STR("CUPTI_ACTIVITY_KIND_"));
}

static bool is_nvprof(str head) {
    return has_cupti(head);
}

/* analysis.db, communication_analyzer.db: sums about collectives, no events. */
static bool is_ascend_db(str head) {
    return is_sqlite(head) && foreign_holds(head, STR("CommAnalyzer"));
}

/* ---- protobuf ---------------------------------------------------------------------------- */

/* The next field, and of bytes as many as are there; false at the end, and at what is not a
 * field. */
static bool take_field(str *s, pb_field *f, str *body) {
    bool cut;
    const char *end = s->p + s->n, *p = pb_head(s->p, end, f, &cut);
    if (!p || f->tag >> 3 > 1u << 20) return false;
    size_t left = (size_t)(end - p), n = f->v < left ? (size_t)f->v : left;
    *body = str_n(p, (f->tag & 7) == WIRE_BYTES ? n : 0);
    *s = str_n(p + body->n, left - body->n);
    return true;
}

/* Sample types (field 1): two small numbers each, then samples (field 2) of packed numbers. */
static bool is_pprof(str head) {
    pb_field f, type, unit;
    str rest = near_start(head), body, none;
    uint32_t n_types = 0;
    while (take_field(&rest, &f, &body)) {
        if (f.tag == PB_BYTES(2)) return n_types > 0;
        if (f.tag != PB_BYTES(1) || f.v > 12) return false;
        if (!take_field(&body, &type, &none) || !take_field(&body, &unit, &none) || body.n)
            return false;
        if (type.tag != PB_VARINT(1) || unit.tag != PB_VARINT(2)) return false;
        n_types++;
    }
    return false;
}

/* A record: length, its checksum, then an event whose text says its version. */
static bool is_tfevents(str head) {
    return head.n > 24 && head.p[12] == '\x09' &&
           foreign_holds(str_n(head.p, head.n < 64 ? head.n : 64), STR("brain.Event:"));
}

/* ---- JSON of another kind ---------------------------------------------------------------- */

static bool is_object(str head) {
    const char *end = head.p + head.n, *p = head.n ? json_space(head.p, end) : end;
    return p < end && *p == '{';
}

static bool is_chakra(str head) {
    return execution_trace_head(head);
}

static bool is_cpuprofile(str head) {
    str s = near_start(head);
    return is_object(s) && foreign_holds(s, STR("\"callFrame\"")) &&
           foreign_holds(s, STR("\"hitCount\""));
}

static bool is_answer(str head) {
    return str_starts(head, STR("{\"schema\":\"tacho/"));
}

/* ---- by magic ---------------------------------------------------------------------------- */

static bool is_ncu(str head) {
    return str_starts(head, STR("NVR\0"));
}

static bool is_perf(str head) {
    return str_starts(head, STR("PERFILE2"));
}

static bool is_zip(str head) {
    return str_starts(head, STR("PK\x03\x04"));
}

/* torch.save writes a zip whose first entry is NAME/data.pkl; safetensors a length and a
 * header. */
static bool is_checkpoint(str head) {
    str start = str_n(head.p, head.n < 256 ? head.n : 256);
    bool tensors = head.n > 16 && head.p[7] == 0 && head.p[8] == '{' &&
                   (foreign_holds(start, STR("\"__metadata__\"")) ||
                    foreign_holds(start, STR("\"dtype\"")));
    bool saved = is_zip(head) && (foreign_holds(start, STR("/data.pkl")) ||
                                  foreign_holds(start, STR("/.format_version")) ||
                                  foreign_holds(start, STR("/version")));
    return tensors || saved || str_starts(head, STR("\x89HDF\r\n"));
}

static bool is_numpy(str head) {
    bool packed =
        is_zip(head) && foreign_holds(str_n(head.p, head.n < 256 ? head.n : 256), STR(".npy"));
    return packed || str_starts(head, STR("\x93NUMPY"));
}

static bool is_archive(str head) {
    bool tar = head.n > 262 && memcmp(head.p + 257, "ustar", 5) == 0;
    return tar || is_zip(head) || str_starts(head, STR("BZh")) ||
           str_starts(head, STR("\xfd"
                                "7zXZ")) ||
           str_starts(head, STR("7z\xbc\xaf"));
}

static bool is_html(str head) {
    const char *end = head.p + head.n, *p = head.n ? json_space(head.p, end) : end;
    str s = str_n(p, (size_t)(end - p) < 64 ? (size_t)(end - p) : 64);
    return str_find_nocase(s, STR("<!doctype html"), 0) == 0 ||
           str_find_nocase(s, STR("<html"), 0) == 0;
}

static bool is_image(str head) {
    return str_starts(head, STR("\x89PNG")) || str_starts(head, STR("\xff\xd8\xff")) ||
           str_starts(head, STR("GIF8")) || str_starts(head, STR("%PDF-"));
}

static bool is_program(str head) {
    return str_starts(head, STR("\x7f"
                                "ELF"));
}

/* At least two lines of as many fields, three or more, separated by commas or tabs. */
static bool is_csv(str head) {
    size_t n_fields[2] = {1, 1}, at = 0;
    str s = str_n(head.p, head.n < 16384 ? head.n : 16384);
    if (!s.n || *s.p == '{' || *s.p == '[' || *s.p == '<') return false;
    char by = memchr(s.p, '\t', s.n) ? '\t' : ',';
    for (int line = 0; line < 2; line++) {
        bool quoted = false, ended = false;
        for (; at < s.n && !ended; at++) {
            if (s.p[at] == 0) return false;
            quoted ^= s.p[at] == '"';
            n_fields[line] += s.p[at] == by && !quoted;
            ended = s.p[at] == '\n' && !quoted;
        }
        if (!ended && line == 0) return false;
    }
    return n_fields[0] >= 3 && n_fields[0] == n_fields[1];
}

/* ---- the table --------------------------------------------------------------------------- */

static const foreign KINDS[] = {
#define FOREIGN(id, is, names) {is, names, MSG_FOREIGN_##id, MSG_WHAT_##id},
#include "session/foreign.def"
#undef FOREIGN
};

/* One of the patterns: an ending, or with ^ in front a beginning. */
static bool is_named_so(str name, const char *patterns) {
    for (const char *p = patterns; *p;) {
        size_t n = strcspn(p, "|");
        if (*p == '^' ? str_starts(name, str_n(p + 1, n - 1))
                      : name.n >= n && str_eq_nocase(str_from(name, name.n - n), str_n(p, n)))
            return true;
        p += n + (p[n] == '|');
    }
    return false;
}

const foreign *foreign_of_name(str path) {
    size_t slash = str_rfind_byte(path, '/');
    str name = slash == SIZE_MAX ? path : str_from(path, slash + 1);
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
        if (is_named_so(name, KINDS[i].names)) return &KINDS[i];
    return NULL;
}

const foreign *foreign_of(str head, str name) {
    for (size_t i = 0; head.n && i < sizeof KINDS / sizeof *KINDS; i++)
        if (KINDS[i].is && KINDS[i].is(head)) return &KINDS[i];
    return foreign_of_name(name);
}

uint16_t foreign_noun(uint16_t found) {
    switch (found) {
    case MSG_FOUND_EMPTY: return MSG_WHAT_EMPTY;
    case MSG_FOUND_JSON: return MSG_WHAT_JSON;
    case MSG_FOUND_TEXT: return MSG_WHAT_TEXT;
    case MSG_FOUND_BROKEN_STREAM: return MSG_WHAT_BROKEN;
    default: return MSG_WHAT_BINARY;
    }
}
