/* rec_nvtx.c: ranges that other people's libraries mark through NVTX.
 *
 * NVTX is a header: its first call in each library that has a copy of it loads the library
 * named by NVTX_INJECTION64_PATH and calls InitializeInjectionNvtx2 there with a function that
 * hands out tables of slots. We fill the slots for marks, ranges and names; what we leave empty
 * stays a call that does nothing. cuDNN, cuBLAS, NCCL, PyTorch's emit_nvtx, Paddle, vLLM and
 * many more speak NVTX, so `tacho record` gets their ranges without CUDA or a GPU being asked.
 *
 * The layouts are NVTX version 3 and have never changed; they are written down here so that no
 * header of NVIDIA's is needed. Wide texts are turned into UTF-8. A registered text and a
 * domain are handed out as the number of their name.
 *
 * "aten::mm, seq = 12, op_id = 7" is how emit_nvtx names operators: the name is what comes
 * before the first comma, the sequence number joins forward and backward. */
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "record/rec_int.h"
#include "record/rec_sample.h"

enum { MODULE_CORE = 1, MODULE_CORE2 = 5, TABLE_CALLBACKS = 1 };
enum { MESSAGE_ASCII = 1, MESSAGE_WIDE = 2, MESSAGE_REGISTERED = 3 };
enum { MOST_NAME = 1024 };

typedef struct {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    union {
        const char *ascii;
        const wchar_t *wide;
        uintptr_t registered;
    } message;
} nvtx_event;

typedef void (*any_function)(void);
typedef struct {
    size_t struct_size;
    int (*get_table)(int module, any_function ***out, unsigned *n);
} nvtx_callbacks;
typedef const void *(*nvtx_export)(uint32_t which);
int InitializeInjectionNvtx2(nvtx_export get) TACHO_API;

/* ---- names ---- */

/* A wide text as UTF-8, cut where it does not fit. */
static const char *narrow(const wchar_t *from, char *to) {
    size_t at = 0;
    for (; from && *from && at < MOST_NAME - 5; from++) {
        uint32_t c = (uint32_t)*from;
        if (c < 0x80) {
            to[at++] = (char)c;
        } else if (c < 0x800) {
            to[at++] = (char)(0xc0 | c >> 6);
            to[at++] = (char)(0x80 | (c & 63));
        } else if (c < 0x10000) {
            to[at++] = (char)(0xe0 | c >> 12);
            to[at++] = (char)(0x80 | (c >> 6 & 63));
            to[at++] = (char)(0x80 | (c & 63));
        } else {
            to[at++] = (char)(0xf0 | (c >> 18 & 7));
            to[at++] = (char)(0x80 | (c >> 12 & 63));
            to[at++] = (char)(0x80 | (c >> 6 & 63));
            to[at++] = (char)(0x80 | (c & 63));
        }
    }
    to[at] = 0;
    return to;
}

/* What an event is called, as a text or as a number that is known already. */
typedef struct {
    const char *text;
    uint32_t id;
    char wide[MOST_NAME];
} event_name;

static void rec_nvtx_name_of(const nvtx_event *e, event_name *to) {
    to->text = "";
    to->id = 0;
    if (!e) return;
    if (e->message_type == MESSAGE_ASCII && e->message.ascii) to->text = e->message.ascii;
    if (e->message_type == MESSAGE_WIDE) to->text = narrow(e->message.wide, to->wide);
    if (e->message_type == MESSAGE_REGISTERED) to->id = (uint32_t)e->message.registered;
}

/* ---- ranges ---- */

static tacho_range_kind kind_of_text(const char *text) {
    if (strncmp(text, "aten::", 6) == 0) return TACHO_RANGE_OP;
    if (strncmp(text, "Optimizer.", 10) == 0) return TACHO_RANGE_OPTIMIZER;
    if (strncmp(text, "enumerate(DataLoader)#", 22) == 0) return TACHO_RANGE_DATA;
    if (strncmp(text, "autograd::engine::", 18) == 0) return TACHO_RANGE_OP;
    if (strncmp(text, "nccl", 4) == 0) return TACHO_RANGE_COMMUNICATION;
    return TACHO_RANGE_PLAIN;
}

/* emit_nvtx's "NAME, seq = N, op_id = M…", where the sequence number may be missing: an
 * operator. */
static bool begin_operator(const char *text) {
    static const char SEQUENCE[] = ", seq = ", ID[] = ", op_id = ";
    const char *sequence = strstr(text, SEQUENCE),
               *end = sequence ? sequence : strstr(text, ID);
    char name[256];
    if (!end || (size_t)(end - text) >= sizeof name) return false;
    memcpy(name, text, (size_t)(end - text));
    name[end - text] = 0;
    bool backward = strstr(name, "Backward") != NULL;
    if (sequence)
        tacho_op_begin(
            &(tacho_op){.size = sizeof(tacho_op),
                        .name = name,
                        .phase = backward ? TACHO_RANGE_BACKWARD : TACHO_RANGE_FORWARD,
                        .sequence = strtoll(sequence + sizeof SEQUENCE - 1, NULL, 10)});
    else
        tacho_begin_text(name, kind_of_text(name));
    return true;
}

void rec_begin_named(const char *text) {
    if (!begin_operator(text)) tacho_begin_text(text, kind_of_text(text));
}

static void rec_nvtx_begin_event(const nvtx_event *e) {
    if (!__atomic_load_n(&tacho_on, __ATOMIC_RELAXED)) return;
    event_name name;
    rec_nvtx_name_of(e, &name);
    if (name.id)
        tacho_begin_id(name.id, TACHO_RANGE_PLAIN);
    else
        rec_begin_named(name.text);
}

static void mark_event(const nvtx_event *e) {
    if (!__atomic_load_n(&tacho_on, __ATOMIC_RELAXED)) return;
    event_name name;
    rec_nvtx_name_of(e, &name);
    if (name.id)
        rec_instant(name.id);
    else
        tacho_mark(name.text);
}

static int push_a(const char *text) {
    if (__atomic_load_n(&tacho_on, __ATOMIC_RELAXED)) rec_begin_named(text ? text : "");
    return 0;
}

static int push_w(const wchar_t *text) {
    char to[MOST_NAME];
    return push_a(narrow(text, to));
}

static int push_ex(const nvtx_event *e) {
    rec_nvtx_begin_event(e);
    return 0;
}

static int pop(void) {
    tacho_end_range();
    return 0;
}

static void mark_a(const char *text) {
    tacho_mark(text ? text : "");
}

static void mark_w(const wchar_t *text) {
    char to[MOST_NAME];
    tacho_mark(narrow(text, to));
}

/* ---- ranges that may end on another thread ---- */

static uint64_t last_range;

static uint64_t start_named(uint32_t name) {
    uint64_t id = __atomic_add_fetch(&last_range, 1, __ATOMIC_RELAXED);
    rec_async(name, id, 'b');
    return id;
}

static uint64_t start_a(const char *text) {
    return __atomic_load_n(&tacho_on, __ATOMIC_RELAXED) ? start_named(rec_name(text)) : 0;
}

static uint64_t start_w(const wchar_t *text) {
    char to[MOST_NAME];
    return start_a(narrow(text, to));
}

static uint64_t start_ex(const nvtx_event *e) {
    event_name name;
    if (!__atomic_load_n(&tacho_on, __ATOMIC_RELAXED)) return 0;
    rec_nvtx_name_of(e, &name);
    return start_named(name.id ? name.id : rec_name(name.text));
}

static void rec_nvtx_end_range(uint64_t id) {
    if (id) rec_async(0, id, 'e');
}

/* ---- domains: their names are not shown yet, their ranges are ---- */

/* XLA tells either NVTX or its own profiler what it launches. The hooks of JAX run that
 * profiler, which knows more, except in recordings without an end. */
static bool is_left_to_xla(const char *domain) {
    bool endless = rec_set.o.flight_seconds > 0 || rec_sample_is_used();
    return domain && strcmp(domain, "TSL") == 0 && !endless;
}

static void *create_a(const char *name) {
    return is_left_to_xla(name) ? NULL : (void *)(uintptr_t)rec_name(name);
}

static void *create_w(const wchar_t *name) {
    char to[MOST_NAME];
    return create_a(narrow(name, to));
}

static void *register_a(void *domain, const char *text) {
    (void)domain;
    return (void *)(uintptr_t)rec_name(text);
}

static void *register_w(void *domain, const wchar_t *text) {
    char to[MOST_NAME];
    return register_a(domain, narrow(text, to));
}

static void domain_mark(void *domain, const nvtx_event *e) {
    (void)domain;
    mark_event(e);
}

static uint64_t domain_start(void *domain, const nvtx_event *e) {
    (void)domain;
    return start_ex(e);
}

static void domain_end(void *domain, uint64_t id) {
    (void)domain;
    rec_nvtx_end_range(id);
}

static int domain_push(void *domain, const nvtx_event *e) {
    (void)domain;
    return push_ex(e);
}

static int domain_pop(void *domain) {
    (void)domain;
    return pop();
}

static void name_thread(uint32_t tid, const char *name) {
    if ((int64_t)tid == rec_tid()) tacho_name_thread(name);
}

/* ---- the slots ---- */

#define SLOT(f) ((any_function)(f))
static void rec_nvtx_fill(const nvtx_callbacks *c, int module, const any_function *ours,
                          unsigned n) {
    any_function **slots = NULL;
    unsigned there = 0;
    if (!c->get_table(module, &slots, &there) || !slots) return;
    for (unsigned i = 1; i < n && i < there; i++)
        if (ours[i] && slots[i]) *slots[i] = ours[i];
}

int InitializeInjectionNvtx2(nvtx_export get) {
    const any_function core[] = {NULL,
                                 SLOT(mark_event),
                                 SLOT(mark_a),
                                 SLOT(mark_w),
                                 SLOT(start_ex),
                                 SLOT(start_a),
                                 SLOT(start_w),
                                 SLOT(rec_nvtx_end_range),
                                 SLOT(push_ex),
                                 SLOT(push_a),
                                 SLOT(push_w),
                                 SLOT(pop),
                                 NULL,
                                 NULL,
                                 SLOT(name_thread)};
    const any_function core2[] = {NULL,
                                  SLOT(domain_mark),
                                  SLOT(domain_start),
                                  SLOT(domain_end),
                                  SLOT(domain_push),
                                  SLOT(domain_pop),
                                  NULL,
                                  NULL,
                                  NULL,
                                  NULL,
                                  SLOT(register_a),
                                  SLOT(register_w),
                                  SLOT(create_a),
                                  SLOT(create_w)};
    const nvtx_callbacks *c = get ? get(TABLE_CALLBACKS) : NULL;
    if (!c || c->struct_size < sizeof *c || !c->get_table) return 0;
    rec_nvtx_fill(c, MODULE_CORE, core, sizeof core / sizeof *core);
    rec_nvtx_fill(c, MODULE_CORE2, core2, sizeof core2 / sizeof *core2);
    return 1;
}
