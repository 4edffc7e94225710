/* formats.c: every format tacho knows, in the order they are asked.
 *
 * A new reader is one row: a name, a function that recognizes it by its first bytes, the
 * reader. What people hand to a profiler and tacho does not read is in foreign.def. Recognition
 * is cheap and never reads beyond `head`; it may say maybe, and then the reader decides.
 *
 * Trace-event JSON is an object with `traceEvents` at its top level or a bare list of objects
 * with `ph`. Producers write damaged JSON, so when walking the top level fails the key is
 * searched for. */
#include "session/formats.h"

#include "base/json.h"
#include "ingest/ascend/ascend_db.h"
#include "ingest/ascend/torch_npu.h"
#include "ingest/horovod/horovod_timeline.h"
#include "ingest/megengine/megengine.h"
#include "ingest/mindspore/mindspore.h"
#include "ingest/nsight/nsight.h"
#include "ingest/paddle/paddle_head.h"
#include "ingest/paddle/paddle_json.h"
#include "ingest/paddle/paddle_pb.h"
#include "ingest/perfetto/perfetto.h"
#include "ingest/profiles/profiles.h"
#include "ingest/pytorch/flight_recorder.h"
#include "ingest/pytorch/kineto.h"
#include "ingest/pytorch/memory_snapshot.h"
#include "ingest/recording/recording.h"
#include "ingest/rocm/rocm.h"
#include "ingest/serving/request_log.h"
#include "ingest/serving/triton_requests.h"
#include "ingest/tensorflow/tensorflow_timeline.h"
#include "ingest/xplane/xplane.h"
#include "store/file.h"

/* ---- trace-event JSON -------------------------------------------------------------------- */

static str skip_mark_and_space(str s) {
    if (str_starts(s, STR("\xef\xbb\xbf"))) s = str_from(s, 3);
    if (!s.n) return s;
    const char *p = json_space(s.p, s.p + s.n);
    return str_n(p, (size_t)(s.p + s.n - p));
}

/* One member of an object at *p: its key and the place of its value; false at the object's end,
 * at the end of the text or at something that is not a member; *p then says where. */
static bool next_member(const char **p, const char *end, str *key) {
    const char *at = json_space(*p, end);
    if (at < end && *at == ',') at = json_space(at + 1, end);
    *p = at;
    if (at == end || *at != '"') return false;
    const char *close = json_string_end(at + 1, end);
    if (!close) return false;
    *key = str_n(at + 1, (size_t)(close - at - 1));
    at = json_space(close + 1, end);
    if (at == end || *at != ':') return false;
    *p = json_space(at + 1, end);
    return true;
}

/* Whether the object that opens at p has the key. Maybe: the text ends first. */
static sniff_answer object_has(const char *p, const char *end, str wanted) {
    str key;
    p++;
    while (next_member(&p, end, &key)) {
        if (str_eq(key, wanted)) return SNIFF_YES;
        p = json_value_end(p, end);
        if (!p) return SNIFF_MAYBE;
    }
    return p < end && *p == '}' ? SNIFF_NO : SNIFF_MAYBE;
}

static sniff_answer sniff_list(str s) {
    const char *end = s.p + s.n, *p = json_space(s.p + 1, end);
    if (p == end || *p == ']') return SNIFF_MAYBE;
    if (*p != '{') return SNIFF_NO;
    return object_has(p, end, STR("ph"));
}

static sniff_answer sniff_trace_json(str head, bool whole) {
    (void)whole;
    str s = skip_mark_and_space(head);
    if (s.n == 0) return SNIFF_NO;
    if (*s.p == '[') return sniff_list(s);
    if (*s.p != '{') return SNIFF_NO;
    sniff_answer answer = object_has(s.p, s.p + s.n, STR("traceEvents"));
    if (answer == SNIFF_MAYBE && str_find(s, STR("\"traceEvents\""), 0) != SIZE_MAX)
        return SNIFF_YES;
    return answer;
}

/* Paddle writes trace-event JSON with its own words. Its root has a key that no other tool
 * writes; a file that was cut or reassembled is known by how its ranges give their times. */
static sniff_answer sniff_paddle_json(str head, bool whole) {
    (void)whole;
    str s = skip_mark_and_space(head);
    if (s.n == 0 || *s.p != '{') return SNIFF_NO;
    const char *end = s.p + s.n;
    if (object_has(s.p, end, STR("span_indx")) == SNIFF_YES ||
        object_has(s.p, end, STR("span_index")) == SNIFF_YES)
        return SNIFF_YES;
    bool thread = str_find(s, STR("(Python)\""), 0) != SIZE_MAX ||
                  str_find(s, STR("(C++)\""), 0) != SIZE_MAX;
    bool times = str_find(s, STR("\"start_time\""), 0) != SIZE_MAX ||
                 str_find(s, STR("\"increase_bytes\""), 0) != SIZE_MAX;
    return thread && times ? SNIFF_YES : SNIFF_NO;
}

/* MegEngine's timeline begins with two counters only it has; before 1.6 its start time came
 * first. */
static sniff_answer sniff_megengine(str head, bool whole) {
    sniff_answer answer = sniff_trace_json(head, whole);
    if (answer != SNIFF_YES) return SNIFF_NO;
    str near = str_n(head.p, head.n < 4096 ? head.n : 4096);
    bool counters = str_find(near, STR("\"gpu_usgae_ratio\""), 0) != SIZE_MAX ||
                    str_find(near, STR("\"train_time_ratio\""), 0) != SIZE_MAX;
    return counters ? SNIFF_YES : SNIFF_NO;
}

/* Timelines of TensorFlow 1: a stream of a device is a process, named before the first
 * event. */
static sniff_answer sniff_tensorflow(str head, bool whole) {
    if (sniff_trace_json(head, whole) != SNIFF_YES) return SNIFF_NO;
    bool streams = str_find(head, STR("/stream:"), 0) != SIZE_MAX ||
                   str_find(head, STR("/memcpy Compute\""), 0) != SIZE_MAX;
    return streams && str_find(head, STR(" Compute\""), 0) != SIZE_MAX ? SNIFF_YES : SNIFF_NO;
}

static sniff_answer sniff_horovod(str head, bool whole) {
    if (sniff_trace_json(head, whole) != SNIFF_YES) return SNIFF_NO;
    return horovod_head(head) ? SNIFF_YES : SNIFF_NO;
}

/* What XLA's profiler writes for JAX and TensorFlow: a device is a process, its streams are
 * threads; without one there is only the host. */
static sniff_answer sniff_xla(str head, bool whole) {
    if (sniff_trace_json(head, whole) != SNIFF_YES) return SNIFF_NO;
    bool device = str_find(head, STR("\"/device:GPU:"), 0) != SIZE_MAX ||
                  str_find(head, STR("\"/device:TPU:"), 0) != SIZE_MAX;
    bool streams = str_find(head, STR("\"Stream #"), 0) != SIZE_MAX ||
                   str_find(head, STR("\"XLA Ops\""), 0) != SIZE_MAX;
    bool host = str_find(head, STR("\"/host:CPU\""), 0) != SIZE_MAX;
    return (device && streams) || host ? SNIFF_YES : SNIFF_NO;
}

/* The profile of a static graph: an object of `graph_exec` and `profiler`, in any order and
 * each of any size; what is inside the first tells it too. */
static sniff_answer sniff_megengine_static(str head, bool whole) {
    (void)whole;
    str s = skip_mark_and_space(head);
    if (s.n == 0 || *s.p != '{') return SNIFF_NO;
    const char *end = s.p + s.n;
    if (object_has(s.p, end, STR("graph_exec")) == SNIFF_YES) return SNIFF_YES;
    if (object_has(s.p, end, STR("profiler")) != SNIFF_YES) return SNIFF_NO;
    bool inside = str_find(s, STR("\"opr_internal_pf\""), 0) != SIZE_MAX ||
                  str_find(s, STR("\"opr_footprint\""), 0) != SIZE_MAX ||
                  str_find(s, STR("\"kern\""), 0) != SIZE_MAX;
    return inside ? SNIFF_YES : SNIFF_NO;
}

/* MegEngine's memory picture: an SVG with its own names in it; ours says so, too. */
static sniff_answer sniff_memory_flow(str head, bool whole) {
    (void)whole;
    str s = skip_mark_and_space(head);
    if (s.n == 0 || *s.p != '<') return SNIFF_NO;
    bool svg = str_find(s, STR("<svg"), 0) != SIZE_MAX;
    return svg && str_find(s, STR("megengine.org.cn"), 0) != SIZE_MAX ? SNIFF_YES : SNIFF_NO;
}

/* ---- by magic ---------------------------------------------------------------------------- */

static sniff_answer sniff_tacho(str head, bool whole) {
    (void)whole;
    return file_is_ours(head) && !recording_is_ours(head) ? SNIFF_YES : SNIFF_NO;
}

static sniff_answer sniff_recording(str head, bool whole) {
    (void)whole;
    return recording_is_ours(head) ? SNIFF_YES : SNIFF_NO;
}

static sniff_answer sniff_xplane(str head, bool whole) {
    (void)whole;
    return xplane_head(head) ? SNIFF_YES : SNIFF_NO;
}

static sniff_answer sniff_nsight(str head, bool whole) {
    (void)whole;
    return nsight_head(head) ? SNIFF_YES : SNIFF_NO;
}

static sniff_answer sniff_rocpd(str head, bool whole) {
    (void)whole;
    return rocpd_head(head) ? SNIFF_YES : SNIFF_NO;
}

static sniff_answer sniff_ascend_db(str head, bool whole) {
    (void)whole;
    return ascend_db_head(head) ? SNIFF_YES : SNIFF_NO;
}

static sniff_answer sniff_rocm_json(str head, bool whole) {
    (void)whole;
    return rocm_json_head(head) ? SNIFF_YES : SNIFF_NO;
}

static sniff_answer sniff_rocm_csv(str head, bool whole) {
    (void)whole;
    return rocm_csv_head(head) ? SNIFF_YES : SNIFF_NO;
}

static sniff_answer sniff_perfetto(str head, bool whole) {
    (void)whole;
    return perfetto_head(head) ? SNIFF_YES : SNIFF_NO;
}

static sniff_answer sniff_paddle_pb(str head, bool whole) {
    (void)whole;
    return paddle_pb_head(head) ? SNIFF_YES : SNIFF_NO;
}

/* A pickle: protocols 2 to 5 say so, 0 and 1 open a list or dictionary. It is a memory snapshot
 * when words of one are near its start; otherwise the reader has the last word about a sure
 * pickle. */
static sniff_answer sniff_snapshot(str head, bool whole) {
    (void)whole;
    static const str starts[] = {STR("(d"), STR("(l"), STR("}q"), STR("]q")};
    bool sure = head.n > 2 && head.p[0] == '\x80' && head.p[1] >= 2 && head.p[1] <= 5;
    bool pickle = sure;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        pickle |= str_starts(head, starts[i]);
    if (pickle && (str_find(head, STR("segments"), 0) != SIZE_MAX ||
                   str_find(head, STR("device_traces"), 0) != SIZE_MAX ||
                   str_find(head, STR("total_size"), 0) != SIZE_MAX))
        return SNIFF_YES;
    return sure ? SNIFF_MAYBE : SNIFF_NO;
}

static sniff_answer sniff_mindspore(str head, bool whole) {
    (void)whole;
    return mindspore_is_table(head) ? SNIFF_YES : SNIFF_NO;
}

static sniff_answer sniff_flight_recorder(str head, bool whole) {
    (void)whole;
    return flight_recorder_head(head) ? SNIFF_YES : SNIFF_NO;
}

static sniff_answer sniff_torch_npu(str head, bool whole) {
    if (sniff_trace_json(head, whole) != SNIFF_YES) return SNIFF_NO;
    return torch_npu_head(head) ? SNIFF_YES : SNIFF_NO;
}

static sniff_answer sniff_triton_requests(str head, bool whole) {
    (void)whole;
    return triton_requests_head(head) ? SNIFF_YES : SNIFF_NO;
}

static sniff_answer sniff_request_log(str head, bool whole) {
    (void)whole;
    return request_log_head(head) ? SNIFF_YES : SNIFF_NO;
}

static sniff_answer sniff_speedscope(str head, bool whole) {
    (void)whole;
    return speedscope_head(head) ? SNIFF_YES : SNIFF_NO;
}

static sniff_answer sniff_folded(str head, bool whole) {
    return folded_head(head, whole) ? SNIFF_YES : SNIFF_NO;
}

static const format FORMATS[] = {
    {"tacho", sniff_tacho, NULL},
    {"paddle json", sniff_paddle_json, ingest_paddle_json},
    {"memory flow", sniff_memory_flow, ingest_memory_flow},
    {"megengine static", sniff_megengine_static, ingest_megengine_static},
    {"megengine", sniff_megengine, ingest_megengine},
    {"tensorflow timeline", sniff_tensorflow, ingest_tensorflow},
    {"xla timeline", sniff_xla, ingest_tensorflow},
    {"horovod timeline", sniff_horovod, ingest_horovod},
    {"tacho_recording", sniff_recording, ingest_recording},
    {"xplane", sniff_xplane, ingest_xplane},
    {"nsight", sniff_nsight, ingest_nsight},
    {"rocpd", sniff_rocpd, ingest_rocpd},
    {"ascend db", sniff_ascend_db, ingest_ascend_db},
    {"rocprof json", sniff_rocm_json, ingest_rocm_json},
    {"rocprof csv", sniff_rocm_csv, ingest_rocm_csv},
    {"paddle pb", sniff_paddle_pb, ingest_paddle_pb},
    {"perfetto", sniff_perfetto, ingest_perfetto},
    {"flight_recorder", sniff_flight_recorder, ingest_flight_recorder},
    {"torch_npu", sniff_torch_npu, ingest_torch_npu},
    {"triton requests", sniff_triton_requests, ingest_triton_requests},
    {"speedscope", sniff_speedscope, ingest_speedscope},
    {"trace json", sniff_trace_json, ingest_trace_json},
    {"torch_memory_snapshot", sniff_snapshot, ingest_memory_snapshot},
    {"mindspore", sniff_mindspore, ingest_mindspore},
    {"request log", sniff_request_log, ingest_request_log},
    {"folded stacks", sniff_folded, ingest_folded},
};

const format *format_at(uint32_t i) {
    return i < sizeof FORMATS / sizeof *FORMATS ? &FORMATS[i] : NULL;
}

static const format *format_with(ingest_function *read) {
    for (size_t i = 0; i < sizeof FORMATS / sizeof *FORMATS; i++)
        if (FORMATS[i].read == read) return &FORMATS[i];
    return NULL;
}

const format *format_of_name(str path) {
    mindspore_name name;
    size_t slash = str_rfind_byte(path, '/');
    if (!mindspore_name_parse(slash == SIZE_MAX ? path : str_from(path, slash + 1), &name))
        return NULL;
    return format_with(ingest_mindspore);
}

const format *format_torch_npu(void) {
    return format_with(ingest_torch_npu);
}

bool format_is_tacho(const format *f) {
    return f == &FORMATS[0];
}
