/* rec_cupti_int.h: what the files around CUPTI share.
 *
 *     rec_cupti.c          the library; on and off
 *     rec_cupti_calls.c    which host calls are reported, and how
 *     rec_cupti_graph.c    which call made each node of a graph
 *     rec_cupti_buffer.c   memory that CUPTI fills
 *     rec_cupti_record.c   its records as events
 *     rec_cupti_device.c   which GPUs there are
 */
#ifndef RECORD_REC_CUPTI_INT_H
#define RECORD_REC_CUPTI_INT_H

#include "record/rec_int.h"

enum { /* kinds of records */
       RECORD_MEMCPY = 1,
       RECORD_MEMSET = 2,
       RECORD_KERNEL = 10,
       RECORD_OVERHEAD = 17,
       RECORD_PEER_COPY = 22,
       RECORD_SYNC = 38,
       RECORD_MEMORY = 49,
       RECORD_GRAPH = 51,
};
enum { DOMAIN_DRIVER = 1, DOMAIN_RUNTIME = 2, DOMAIN_RESOURCE = 3 };

typedef void (*cupti_request_fn)(uint8_t **buffer, size_t *size, size_t *n_records);
typedef void (*cupti_complete_fn)(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                                  size_t valid);
typedef void (*cupti_callback_fn)(void *context, int domain, uint32_t id, const void *data);
typedef struct { /* of cuptiSubscribe_v2 */
    size_t bytes;
    const char *name;
    char *holder;
    size_t holder_bytes;
} cupti_subscription;

typedef struct {
    int (*get_version)(uint32_t *);
    int (*register_callbacks)(cupti_request_fn, cupti_complete_fn);
    int (*enable)(int);
    int (*disable)(int);
    int (*flush)(uint32_t);
    int (*next_record)(uint8_t *, size_t, uint8_t **);
    int (*set_thread_ids)(int);
    int (*callback_name)(int, uint32_t, const char **);
    int (*subscribe)(void **, cupti_callback_fn, void *);
    int (*unsubscribe)(void *);
    int (*enable_callback)(uint32_t, void *, int, uint32_t);
    /* May be absent. */
    int (*subscribe_by_name)(void **, cupti_callback_fn, void *, cupti_subscription *);
    int (*finalize)(void);
    int (*graph_node_id)(void *, uint64_t *);
    int (*dropped)(void *, uint32_t, size_t *);
    int (*set_attribute)(int, size_t *, void *);
} cupti_library;
extern cupti_library cupti;

/* ---- rec_cupti_buffer.c ---- */
/* False: there is no memory. */
bool cupti_map_buffers(void);
void cupti_give_buffer(uint8_t **to, size_t *size, size_t *n_records);
void cupti_take_buffer(void *context, uint32_t stream, uint8_t *p, size_t size, size_t valid);
bool cupti_has_full_buffer(void);
/* Makes events of what is full, and room; not of two threads at once. */
void cupti_empty_buffers(void);
/* All are ours again, and empty: CUPTI is gone and gives none back. */
void cupti_take_back_buffers(void);

/* ---- rec_cupti_record.c ---- */
void cupti_take_record(const uint8_t *p);
/* The call as an event; times are Unix ns. */
void cupti_put_call(int domain, uint32_t id, const tacho_api_slots *call);

/* ---- rec_cupti_device.c ---- */
/* Says in the current recording, once, which devices there are, when the driver tells. Waits
 * only for the driver: not under a lock of ours. */
void cupti_tell_devices(void);

/* ---- rec_cupti_calls.c ---- */
/* Turns on or off what is heard of host calls. */
void cupti_listen(void *subscriber, bool on);
/* Takes CUPTI out of the process, as it asks for: at the end of a CUDA call, which is made
 * here. As long as it is there every call of the program costs more. False: this cannot be
 * done, it stays. */
bool cupti_leave(void *subscriber);
/* For the subscription. */
void cupti_on_call(void *context, int domain, uint32_t id, const void *data);

/* ---- rec_cupti_graph.c ---- */
/* Turns the reports about nodes on or off. */
void cupti_watch_graphs(void *subscriber, bool on);
/* A callback of the domain of resources, during the call with this number (0: none that is
 * heard). */
void cupti_on_node(uint32_t id, const void *data, uint32_t correlation);

#endif
