/* comm_kind.c: what is communication.
 *
 * Producers since 2022 write the collective's arguments on the kernel (table comm); older
 * ones and other libraries are known by names alone: the host range is `library:collective`,
 * the kernel is in the lexicon. A kernel launched by such a host range is
 * communication whatever its name. Every library and every collective counts, not a list of
 * ten names. */
#include "analyse/comm/comm_kind.h"

#include <math.h>

#include "analyse/lexicon.h"

#include "base/num.h"
#include "store/traits.h"

/* Operators of compiled graphs: Default/…/AllReduce-op12. */
static bool is_graph_comm(str name) {
    size_t slash = str_rfind_byte(name, '/');
    str last = slash == SIZE_MAX ? name : str_from(name, slash + 1);
    return lexicon_means(last, MEANS_GRAPH_COLLECTIVE);
}

/* Operators that are a collective: Paddle's c_allreduce_sum, c_broadcast, mp_allreduce_sum. */
static bool is_collective_op(str name) {
    return (str_starts(name, STR("c_")) || str_starts(name, STR("mp_"))) &&
           comm_type_of(name) != COMM_OTHER;
}

/* `c10d::allreduce_` is the op that calls a library, not the collective itself. */
bool comm_host_name(str name) {
    if (is_collective_op(name)) return true;
    size_t colon = str_find(name, STR(":"), 0);
    if (is_graph_comm(name)) return true;
    if (colon == SIZE_MAX || colon + 1 == name.n || name.p[colon + 1] == ':') return false;
    return lexicon_means(name, MEANS_COLLECTIVE);
}

bool comm_kernel_name(str name) {
    return lexicon_kernel(name).class == CLASS_COMMUNICATION || is_graph_comm(name);
}

/* Names of operators are never asked as kernels: each side is looked up when it is asked. */
enum { HOST_KNOWN = 1, HOST = 2, KERNEL_KNOWN = 4, KERNEL = 8 };

status comm_names_init(comm_names *n, const trace *t, arena *a, error *err) {
    uint8_t *memo = ARENA_ARRAY(a, uint8_t, (size_t)t->n_strings + 1);
    if (!memo) FAIL_MEMORY(err);
    *n = (comm_names){.t = t, .memo = memo};
    return OK;
}

bool comm_host_id(comm_names *n, uint32_t name) {
    if (name >= n->t->n_strings) return false;
    uint8_t *memo = &n->memo[name];
    if (!(*memo & HOST_KNOWN))
        *memo |= comm_host_name(trace_str(n->t, name)) ? HOST_KNOWN | HOST : HOST_KNOWN;
    return *memo & HOST;
}

static bool kernel_id(comm_names *n, uint32_t name) {
    if (name >= n->t->n_strings) return false;
    uint8_t *memo = &n->memo[name];
    if (!(*memo & KERNEL_KNOWN))
        *memo |= comm_kernel_name(trace_str(n->t, name)) ? KERNEL_KNOWN | KERNEL : KERNEL_KNOWN;
    return *memo & KERNEL;
}

/* Parts of names in one spelling, the longer before those they contain. */
static const struct {
    const char *part;
    comm_type type;
} types[] = {
    {"allreduce", COMM_ALL_REDUCE}, {"reducescatter", COMM_REDUCE_SCATTER},
    {"allgather", COMM_ALL_GATHER}, {"alltoall", COMM_ALL_TO_ALL},
    {"broadcast", COMM_BROADCAST},  {"sendrecv", COMM_POINT},
    {"send", COMM_POINT},           {"recv", COMM_POINT},
    {"barrier", COMM_BARRIER},      {"gather", COMM_GATHER},
    {"scatter", COMM_SCATTER},      {"reduce", COMM_REDUCE},
};

comm_type comm_type_of(str name) {
    char plain[96];
    size_t n = 0;
    for (size_t i = 0; i < name.n && n < sizeof plain; i++) {
        char c = name.p[i];
        if (c >= 'A' && c <= 'Z') c = (char)(c - 'A' + 'a');
        if (c != '_') plain[n++] = c;
    }
    for (size_t i = 0; i < N_OF(types); i++)
        if (str_find(str_n(plain, n), str_of(types[i].part), 0) != SIZE_MAX)
            return types[i].type;
    return COMM_OTHER;
}

/* What the links carry for each byte of a collective (as nccl-tests define it). */
double bus_factor(comm_type type, int64_t n) {
    double size = (double)n;
    if (n < 2) return NAN;
    switch (type) {
    case COMM_ALL_REDUCE: return 2 * (size - 1) / size;
    case COMM_REDUCE_SCATTER:
    case COMM_ALL_GATHER:
    case COMM_ALL_TO_ALL:
    case COMM_GATHER:
    case COMM_SCATTER: return (size - 1) / size;
    default: return 1;
    }
}

bool comm_kernel_row(comm_names *n, uint32_t kernel) {
    const trace *t = n->t;
    uint32_t slice = t->kernel.slice[kernel], op = t->kernel.op[kernel];
    if (t->slice.kind[slice] != KIND_KERNEL) return false;
    if (kernel_id(n, t->slice.name[slice])) return true;
    if (op && comm_host_id(n, t->slice.name[op])) return true;
    return t->comm.n > 1 && (trace_comm_of(t, slice) || (op && trace_comm_of(t, op)));
}

bool comm_on_device(comm_names *n) {
    for (uint32_t k = 1; k < n->t->kernel.n && !n->on_device; k++)
        if (comm_kernel_row(n, k)) n->on_device = 2;
    if (!n->on_device) n->on_device = 1;
    return n->on_device == 2;
}

/* Paddle's ranges of its communication stand for the collective, as its users know them. */
bool comm_is_call(comm_names *n, uint32_t slice) {
    str name = trace_slice_name(n->t, slice);
    bool named = lexicon_means(name, MEANS_COLLECTIVE);
    bool ours = trace_has(n->t, TRAIT_OWN_RECORDER);
    return (named || ours) && !lexicon_means(name, MEANS_HOST_COLLECTIVE) && comm_on_device(n);
}

int64_t comm_host_end(comm_names *n, uint32_t slice) {
    const trace *t = n->t;
    uint32_t around = t->slice.parent[slice];
    int64_t end = trace_slice_end(t, slice);
    bool outlives = around && t->slice.kind[around] == KIND_OP &&
                    str_starts(trace_slice_name(t, slice), STR("gloo:")) &&
                    str_starts(trace_slice_name(t, around), STR("c10d::"));
    return outlives ? max_i64(end, trace_slice_end(t, around)) : end;
}
