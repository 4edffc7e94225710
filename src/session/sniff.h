/* sniff.h: what a file is, by its first bytes, seen through gzip and zstd; never by its name.
 * */
#ifndef SESSION_SNIFF_H
#define SESSION_SNIFF_H

#include "ingest/recording/recording.h"
#include "session/formats.h"

/* The format of a source, from which nothing has been taken yet; nothing is taken. ERR_FORMAT
 * or ERR_UNSUPPORTED with one sentence that says what was found and what is accepted. */
status sniff_source(source *s, const char *path, const format **out, error *err) MUST_USE;

/* What a file is, for a listing of its folder. */
typedef struct {
    bool trace;       /* certainly; else: */
    uint16_t what;    /* a noun for lists */
    uint16_t message; /* a sentence with {path}, or MSG_NONE */
} sniff_result;
sniff_result sniff_file(const char *path);
/* The same by the name alone, which never makes it a trace. */
sniff_result sniff_name(str name);
/* True when the file is certainly a trace; anything else, also a failure to read it, is
 * false. */
bool sniff_is_trace(const char *path);
/* Trace events of PyTorch on Ascend? Its files have the names of MindSpore's. */
status sniff_torch_npu(source *s, bool *is, error *err) MUST_USE;

/* The same on bytes in memory: the format, or NULL and a message with {path} in *found. */
const format *sniff_bytes(str head, bool whole, uint16_t *found);

/* The rank that a trace tells near its start, INT64_MIN when it does not. */
int64_t sniff_rank(const char *path);

/* Which `tacho record` a file is of, and when it was made; false: nothing of that is known. */
bool sniff_recording(const char *path, recording_origin *out);

/* The number that the producer gives to the recording in this file; false when it gives
 * none. */
bool sniff_span(const char *path, int64_t *number);

#endif
