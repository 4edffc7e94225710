/* chakra_test.c: nodes and dependencies of a small trace, read back with the reader's own wire format. */
#include "unit/analyse/fake_trace.h"

#include "ingest/util/protobuf.h"
#include "unit/export/export_helper.h"

enum { MOST_NODES = 16, MOST_IDS = 8 };

typedef struct {
    uint64_t id, type, micros;
    uint64_t data[MOST_IDS], control;
    unsigned n_data;
    char name[32];
} node;

static uint64_t take_length(const char **p) {
    uint64_t v = 0;
    for (int shift = 0;; shift += 7) {
        uint8_t byte = (uint8_t) * (*p)++;
        v |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) return v;
    }
}

static node read_node(str message) {
    node n = {0};
    pb_reader r = pb_open(message);
    for (pb_field f; pb_next(&r, &f);) {
        if (f.tag == PB_VARINT(1)) n.id = f.v;
        if (f.tag == PB_BYTES(2)) snprintf(n.name, sizeof n.name, "%.*s", (int)f.v, f.p);
        if (f.tag == PB_VARINT(3)) n.type = f.v;
        if (f.tag == PB_VARINT(4)) n.control = f.v;
        if (f.tag == PB_VARINT(5) && n.n_data < MOST_IDS) n.data[n.n_data++] = f.v;
        if (f.tag == PB_VARINT(7)) n.micros = f.v;
    }
    assert_false(r.damaged);
    return n;
}

/* All nodes; the first message, the head, is left out. */
static unsigned read_nodes(const trace *t, const time_window *w, node *out) {
    FILE *f = tmpfile();
    static char bytes[8192];
    export_options o = {.form = STR("chakra"), .window = w};
    assert_int_equal(export_trace(t, &o, fileno(f), NULL), OK);
    rewind(f);
    size_t size = fread(bytes, 1, sizeof bytes - PB_ROOM, f);
    unsigned n = 0;
    fclose(f);
    for (const char *p = bytes; p < bytes + size; n++) {
        uint64_t length = take_length(&p);
        assert_true(n <= MOST_NODES && p + length <= bytes + size);
        if (n) out[n - 1] = read_node(str_n(p, (size_t)length));
        p += length;
    }
    return n - 1;
}

static const node *find_node(const node *all, unsigned n, const char *name) {
    for (unsigned i = 0; i < n; i++)
        if (strcmp(all[i].name, name) == 0) return &all[i];
    fail_msg("no node %s", name);
    return NULL;
}

static bool depends(const node *a, const node *on) {
    for (unsigned i = 0; i < a->n_data; i++)
        if (a->data[i] == on->id) return true;
    return false;
}

static const trace *make_trace(fake *f) {
    fake_init(f);
    int host = fake_thread(f), gpu = fake_stream(f, 0);
    fake_add(f, host, KIND_OP, "linear", 0, 100000);
    fake_add(f, host, KIND_OP, "addmm", 10000, 60000);
    int call = fake_add(f, host, KIND_RUNTIME, "cudaLaunchKernel", 20000, 10000);
    fake_work(f, gpu, KIND_KERNEL, "gemm", 40000, 50000, call);
    call = fake_add(f, host, KIND_RUNTIME, "cudaMemcpyAsync", 110000, 5000);
    fake_work(f, gpu, KIND_MEMCPY, "Memcpy DtoH", 120000, 400, call);
    fake_add(f, host, KIND_RUNTIME, "cudaStreamSynchronize", 116000, 10000);
    fake_add(f, host, KIND_OP, "after", 130000, 7000);
    return fake_seal(f);
}

static void a_node_waits_for_what_it_needs(void **state) {
    fake f;
    node all[MOST_NODES];
    (void)state;
    unsigned n = read_nodes(make_trace(&f), NULL, all);
    const node *linear = find_node(all, n, "linear"), *addmm = find_node(all, n, "addmm"),
               *gemm = find_node(all, n, "gemm"), *copy = find_node(all, n, "Memcpy DtoH"),
               *call = find_node(all, n, "cudaMemcpyAsync"),
               *after = find_node(all, n, "after");
    assert_int_equal(n, 6);
    assert_int_equal(linear->micros, 40); /* without addmm */
    assert_int_equal(addmm->micros, 60);
    assert_true(addmm->control == linear->id && depends(addmm, linear));
    assert_true(depends(gemm, addmm)); /* its launch */
    assert_true(depends(copy, gemm) && depends(copy, call));
    assert_int_equal(copy->type, 3);
    assert_int_equal(copy->micros, 1); /* never nothing */
    assert_true(depends(after, copy) && depends(after, call));
    fake_fini(&f);
}

/* A device's clock that is slow compared with the host's: the kernel runs before its launch,
 * and the host waits for it before that. */
static void wrong_clocks_make_no_circle(void **state) {
    fake f;
    node all[MOST_NODES];
    (void)state;
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    fake_add(&f, host, KIND_RUNTIME, "cudaDeviceSynchronize", 5000, 1000);
    fake_add(&f, host, KIND_OP, "first", 7000, 2000);
    fake_add(&f, host, KIND_OP, "second", 10000, 9000);
    int call = fake_add(&f, host, KIND_RUNTIME, "cudaLaunchKernel", 11000, 1000);
    fake_work(&f, gpu, KIND_KERNEL, "k", 1000, 2000, call);
    unsigned n = read_nodes(fake_seal(&f), NULL, all);
    assert_int_equal(n, 3);
    assert_true(depends(find_node(all, n, "k"), find_node(all, n, "second")));
    assert_false(depends(find_node(all, n, "first"), find_node(all, n, "k")));
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = i; k < n; k++) assert_false(depends(&all[i], &all[k]));
    fake_fini(&f);
}

static void a_window_cuts_the_graph(void **state) {
    fake f;
    node all[MOST_NODES];
    time_window w = {.from_ns = 105000, .to_ns = 125000};
    (void)state;
    unsigned n = read_nodes(make_trace(&f), &w, all);
    assert_int_equal(n, 2);
    assert_int_equal(find_node(all, n, "Memcpy DtoH")->n_data, 1);
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_node_waits_for_what_it_needs),
        cmocka_unit_test(wrong_clocks_make_no_circle),
        cmocka_unit_test(a_window_cuts_the_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
