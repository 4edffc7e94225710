/* cupti.c: a CUPTI without a GPU, for tests: it keeps the rules of the real one (buffers are asked for
 * and given back, records have the sizes of CUDA 13, names are pointers) and makes the records
 * that fake_emit asks for. FAKE_CUPTI_BUSY in the environment: another tool holds it. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef void (*request_fn)(uint8_t **, size_t *, size_t *);
typedef void (*complete_fn)(void *, uint32_t, uint8_t *, size_t, size_t);
static request_fn request;
static complete_fn complete;
static uint8_t *buffer;
static size_t buffer_bytes, used;
static int enabled[64];
static void (*listener)(void *, int, uint32_t, const void *);
static uint8_t heard[4][1024];
static bool in_end; /* of a call that has a listener */
int fake_calls, fake_finalized;

#define EXPORT __attribute__((visibility("default")))
EXPORT int cuptiGetVersion(uint32_t *v);
EXPORT int cuptiActivityRegisterCallbacks(request_fn r, complete_fn c);
EXPORT int cuptiActivityEnable(int kind);
EXPORT int cuptiActivityDisable(int kind);
EXPORT int cuptiActivityFlushAll(uint32_t flags);
EXPORT int cuptiActivityGetNextRecord(uint8_t *p, size_t valid, uint8_t **record);
EXPORT int cuptiSetThreadIdType(int type);
EXPORT int cuptiGetCallbackName(int domain, uint32_t id, const char **name);
EXPORT int cuptiSubscribe(void **s, void (*f)(void *, int, uint32_t, const void *), void *c);
EXPORT int cuptiUnsubscribe(void *s);
EXPORT int cuptiFinalize(void);
EXPORT int cuptiGetGraphNodeId(void *node, uint64_t *id);
EXPORT void fake_node(uint32_t correlation, uint64_t node, uint64_t original);
EXPORT int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *n);
EXPORT void fake_emit(const uint8_t *record, size_t n);
EXPORT int cuptiEnableCallback(uint32_t on, void *s, int domain, uint32_t id);
EXPORT int fake_heard(int domain);
EXPORT int fake_call(int domain, uint32_t id, uint32_t correlation, uint32_t driver_id);
EXPORT extern int fake_calls, fake_finalized;

static size_t record_bytes(const uint8_t *p) {
    uint32_t kind;
    memcpy(&kind, p, sizeof kind);
    switch (kind) {
    case 10: return 216;
    case 1:
    case 22: return 96;
    case 2: return 88;
    case 17: return 56;
    case 38: return 56;
    case 49: return 128;
    case 51: return 56;
    default: return 40;
    }
}

static void give_back(void) {
    if (buffer) complete(NULL, 0, buffer, buffer_bytes, used);
    buffer = NULL;
    used = 0;
}

void fake_emit(const uint8_t *record, size_t n) {
    uint32_t kind;
    memcpy(&kind, record, sizeof kind);
    if (!request || !enabled[kind & 63]) return;
    if (buffer && buffer_bytes - used < n) give_back();
    if (!buffer) {
        size_t most;
        request(&buffer, &buffer_bytes, &most);
    }
    memcpy(buffer + used, record, n);
    used += n;
}

int cuptiGetVersion(uint32_t *v) {
    *v = 130001;
    return 0;
}
int cuptiActivityRegisterCallbacks(request_fn r, complete_fn c) {
    request = r;
    complete = c;
    return 0;
}
int cuptiActivityEnable(int kind) {
    enabled[kind & 63] = 1;
    return 0;
}
int cuptiActivityDisable(int kind) {
    enabled[kind & 63] = 0;
    return 0;
}
int cuptiActivityFlushAll(uint32_t flags) {
    (void)flags;
    give_back();
    return 0;
}
int cuptiActivityGetNextRecord(uint8_t *p, size_t valid, uint8_t **record) {
    uint8_t *next = *record ? *record + record_bytes(*record) : p;
    if (next >= p + valid) return 12; /* the limit is reached */
    *record = next;
    return 0;
}
int cuptiSetThreadIdType(int type) {
    return type == 1 ? 0 : 1;
}
int cuptiGetCallbackName(int domain, uint32_t id, const char **name) {
    *name = domain == 1 && id == 307  ? "cuLaunchKernel"
            : domain == 2 && id == 41 ? "cudaMemcpyAsync_v3020"
                                      : "other";
    return 0;
}
int cuptiSubscribe(void **s, void (*f)(void *, int, uint32_t, const void *), void *c) {
    (void)c;
    listener = f;
    fake_calls++;
    *s = s;
    return getenv("FAKE_CUPTI_BUSY") ? 39 : 0;
}
int cuptiUnsubscribe(void *s) {
    return s ? 0 : 1;
}
/* All is forgotten; the buffer that is being filled is not given back. */
int cuptiFinalize(void) {
    if (!in_end) return 1;
    memset(enabled, 0, sizeof enabled);
    memset(heard, 0, sizeof heard);
    request = NULL;
    listener = NULL;
    buffer = NULL;
    fake_finalized++;
    return 0;
}
int cuptiEnableCallback(uint32_t on, void *s, int domain, uint32_t id) {
    (void)s;
    heard[domain][id % 1024] = on != 0;
    return 0;
}
int fake_heard(int domain) {
    int n = 0;
    for (int i = 1; i <= 1023; i++) n += heard[domain][i];
    return n;
}

/* The front of CUpti_CallbackData. */
typedef struct {
    uint32_t leaves;
    const void *front[5];
    uint32_t context;
    uint64_t *own;
    uint32_t correlation;
} call_data;

static void tell(int domain, uint32_t id, const call_data *data) {
    in_end = data->leaves;
    if (listener && heard[domain][id % 1024]) listener(NULL, domain, id, data);
    in_end = false;
}

/* A call of the program, for those who listen, and the one it makes of the driver (0: none); how many
 * of the two were heard to begin. */
int fake_call(int domain, uint32_t id, uint32_t correlation, uint32_t driver_id) {
    uint64_t own[2] = {0};
    call_data outer = {.own = &own[0], .correlation = correlation};
    call_data inner = {.own = &own[1], .correlation = correlation};
    tell(domain, id, &outer);
    if (driver_id) {
        tell(1, driver_id, &inner);
        inner.leaves = 1;
        tell(1, driver_id, &inner);
    }
    outer.leaves = 1;
    tell(domain, id, &outer);
    return (own[0] != 0) + (own[1] != 0);
}
int cuptiGetGraphNodeId(void *node, uint64_t *id) {
    *id = (uint64_t)(uintptr_t)node;
    return 0;
}
/* A node of a graph: made by a launch with this number, which is captured, or a copy of another. */
void fake_node(uint32_t correlation, uint64_t node, uint64_t original) {
    uint64_t own = 0;
    void *graph[4] = {NULL, NULL, (void *)(uintptr_t)node, (void *)(uintptr_t)original};
    const void *resource[3] = {NULL, NULL, graph};
    uint32_t id = original ? 20 : 13;
    call_data launch = {.own = &own, .correlation = correlation};
    if (correlation) tell(1, 307, &launch);
    if (listener && heard[3][id]) listener(NULL, 3, id, resource);
    launch.leaves = 1;
    if (correlation) tell(1, 307, &launch);
}
int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *n) {
    (void)context;
    (void)stream;
    *n = 0;
    return 0;
}
