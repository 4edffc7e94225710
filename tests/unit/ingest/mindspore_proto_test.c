/* mindspore_proto_test.c: memory_usage_#.pb: the memory of compiled graphs from its bytes. */
#include "base/buf.h"
#include "base/json.h"
#include "unit/ingest/mindspore_folder.h"

/* ---- writing ----------------------------------------------------------------------------- */

static void add_varint(buf *to, uint64_t v) {
    for (; v >= 128; v >>= 7) buf_add_byte(to, (char)(v | 128));
    buf_add_byte(to, (char)v);
}

static void add_number(buf *to, int field, uint64_t v) {
    add_varint(to, (uint64_t)field << 3);
    add_varint(to, v);
}

static void add_bytes(buf *to, int field, str bytes) {
    add_varint(to, (uint64_t)field << 3 | 2);
    add_varint(to, bytes.n);
    buf_add(to, bytes.p, bytes.n);
}

typedef struct {
    uint64_t id, bytes, start, end;
    const char *life;
} tensor;

static void add_tensor(buf *graph, const tensor *t) {
    buf one = {0};
    add_number(&one, 1, t->id);
    add_number(&one, 2, t->bytes);
    add_bytes(&one, 3, STR("Common"));
    add_number(&one, 4, t->start);
    add_number(&one, 5, t->end);
    add_bytes(&one, 6, str_of(t->life));
    add_bytes(graph, 4, buf_str(&one));
    buf_fini(&one);
}

/* Outputs packed, as protobuf 3 writes them, or one by one. */
static void add_node(buf *graph, const char *name, const uint64_t *outputs, size_t n,
                     bool packed) {
    buf one = {0}, list = {0};
    add_bytes(&one, 1, str_of(name));
    add_number(&one, 2, 0);
    for (size_t i = 0; i < n; i++)
        if (packed)
            add_varint(&list, outputs[i]);
        else
            add_number(&one, 4, outputs[i]);
    if (packed && n) add_bytes(&one, 4, buf_str(&list));
    add_bytes(graph, 3, buf_str(&one));
    buf_fini(&one);
    buf_fini(&list);
}

/* Three nodes; in use while they run: 1000 + 50 + 10 + 200, + 50 + 10 + 200 + 400, + 50 + 400 + 3000. */
static const tensor TENSORS[] = {
    {7, 10, 5, 1, "LifeLongGraphStart"}, {300, 200, 0, 1, "LifeLongNone"},
    {2, 400, 1, 0, "LifeLongGraphEnd"},  {9, 3000, 2, 2, "LifeLongNone"},
    {4, 50, 0, 0, "LifeLongGraphAll"},
};
enum { N_TENSORS = sizeof TENSORS / sizeof *TENSORS };

static void add_graph(buf *file, const tensor *tensors, size_t n, bool packed) {
    static const uint64_t a[] = {4, 300}, b[] = {2};
    buf graph = {0};
    add_number(&graph, 1, 5);
    add_number(&graph, 2, 1000);
    add_node(&graph, "A-op1", a, 2, packed);
    add_node(&graph, "B-op2", b, 1, packed);
    add_node(&graph, "C-op3", NULL, 0, packed);
    for (size_t i = 0; i < n; i++) add_tensor(&graph, &tensors[i]);
    add_bytes(file, 1, buf_str(&graph));
    buf_fini(&graph);
}

static void put_file(const buf *file, size_t n) {
    put_bytes("memory_usage_2.pb", file->p, n);
}

static trace *read_graph(const tensor *tensors, size_t n, bool packed) {
    buf file = {0};
    add_graph(&file, tensors, n, packed);
    add_number(&file, 2, 1 << 20);
    put_file(&file, file.n);
    buf_fini(&file);
    return read_worker("memory_usage_2.pb");
}

/* ---- reading ----------------------------------------------------------------------------- */

/* Bytes in use after all events of the n-th time there is, -1: there are fewer. */
static int64_t in_use(const trace *t, int n) {
    uint32_t i = 1;
    for (int k = 0; i < t->memory.n; k++) {
        uint32_t end = i;
        while (end < t->memory.n && t->memory.time[end] == t->memory.time[i]) end++;
        if (k == n) return t->memory.allocated[end - 1];
        i = end;
    }
    return -1;
}

/* Bytes that were allocated under this name. */
static int64_t allocated(const trace *t, const char *name) {
    int64_t sum = 0;
    for (uint32_t i = 1; i < t->memory.n; i++)
        if (t->memory.bytes[i] > 0 && t->memory.frame[i] &&
            named(t, t->frame.name[t->memory.frame[i]], name))
            sum += t->memory.bytes[i];
    return sum;
}

static void check_lines(const trace *t) {
    assert_int_equal(in_use(t, 0), 1260);
    assert_int_equal(in_use(t, 1), 1660);
    assert_int_equal(in_use(t, 2), 4450);
    assert_int_equal(in_use(t, 3), 0);
    assert_int_equal(in_use(t, 4), -1);
}

static void a_graphs_memory_is_static_and_what_lives(void **state) {
    trace *t = read_graph(TENSORS, N_TENSORS, true);
    check_lines(t);
    assert_int_equal(allocated(t, "static memory"), 1000);
    assert_int_equal(allocated(t, "A-op1:0"), 50);
    assert_int_equal(allocated(t, "A-op1:1"), 200);
    assert_int_equal(allocated(t, "B-op2:0"), 400);
    assert_int_equal(allocated(t, "tensor 9"), 3000);
    assert_int_equal(t->device.memory[1], 1 << 20);
    assert_int_equal(t->memory.device_type[1], DEVICE_ASCEND);
    assert_int_equal(t->resource.memory_peak[1], 4450);
    assert_int_equal(t->resource.memory_capacity[1], 1 << 20);
    assert_int_equal(t->quality.n, 1);
    trace_release(t);
}

static void numbers_do_not_have_to_be_packed(void **state) {
    trace *t = read_graph(TENSORS, N_TENSORS, false);
    check_lines(t);
    assert_int_equal(allocated(t, "A-op1:1"), 200);
    trace_release(t);
}

static void nodes_are_where_they_ran(void **state) {
    put("framework_raw_2.csv",
        "task_id,stream_id,block_dim,full_op_name,op_name,op_type,subgraph,op_info\n"
        "1,1,1,Default/A-op1,A-op1,A,Default,\n2,1,1,Default/B-op2,B-op2,B,Default,\n");
    put("output_timeline_data_2.txt",
        "op_name, stream_id, start_time(ms), duration(ms)\nDefault/A-op1,1,5.0,1.0\n"
        "Default/B-op2,1,7.0,1.0\n");
    trace *t = read_graph(TENSORS, N_TENSORS, true);
    assert_int_equal(t->memory.time[1], 5000000);
    assert_int_equal(in_use(t, 0), 1260);
    trace_release(t);
}

static void what_was_made_of_it_wins(void **state) {
    put("memory_usage_details_2.json",
        "{\"0\": {\"nodes\": [{\"name\": \"A-op1\", \"node_id\": 0}], \"lines\": [1.0], "
        "\"breakdowns\": []}}");
    trace *t = read_graph(TENSORS, N_TENSORS, true);
    assert_int_equal(in_use(t, 0), 1 << 30);
    assert_int_equal(allocated(t, "static memory"), 0);
    trace_release(t);
}

static void what_has_no_place_is_counted(void **state) {
    static const tensor wrong[] = {
        {1, 10, 0, 2, "LifeLongForever"},             /* no such life */
        {2, 10, 2, 1, "LifeLongNone"},                /* ends before it starts */
        {3, 10, 7, 9, "LifeLongNone"},                /* no such node */
        {4, 10, 0, UINT64_MAX, "LifeLongGraphStart"}, /* an end the compiler did not know */
        {5, UINT64_MAX, 0, 2, "LifeLongNone"},        /* more than any memory */
        {6, 70, 1, 9, "LifeLongNone"},                /* outlives the graph */
        {6, 10, 0, 2, "LifeLongNone"},                /* once more */
    };
    trace *t = read_graph(wrong, sizeof wrong / sizeof *wrong, true);
    assert_int_equal(in_use(t, 0), 1000);
    assert_int_equal(in_use(t, 1), 1070);
    assert_int_equal(trace_quality(t, CAUSE_MISSING_TIME), 4);
    assert_int_equal(trace_quality(t, CAUSE_NUMBER_RANGE), 2);
    assert_int_equal(trace_quality(t, CAUSE_DUPLICATE_KEY), 1);
    trace_release(t);
}

/* Cut in its last tensor: the others are there. */
static void a_cut_file_gives_what_it_has(void **state) {
    buf file = {0};
    add_graph(&file, TENSORS, N_TENSORS, true);
    put_file(&file, file.n - 3);
    buf_fini(&file);
    trace *t = read_worker("memory_usage_2.pb");
    assert_int_equal(in_use(t, 0), 1210);
    assert_int_equal(in_use(t, 2), 4400);
    assert_int_equal(trace_quality(t, CAUSE_TRUNCATED), 1);
    assert_int_equal(trace_quality(t, CAUSE_BAD_SYNTAX), 0);
    trace_release(t);
}

static void bytes_that_are_not_a_message_are_counted(void **state) {
    put_bytes("memory_usage_2.pb", "\xff\xff\xff\xff", 4);
    trace *t = read_worker("memory_usage_2.pb");
    assert_int_equal(t->memory.n, 1);
    assert_true(trace_quality(t, CAUSE_BAD_SYNTAX) + trace_quality(t, CAUSE_TRUNCATED) >= 1);
    trace_release(t);
    /* a node that ends in the middle of a packed number, and a field that ends in nothing */
    static const char broken[] = "\x0a\x0d\x1a\x06\x0a\x01"
                                 "A\x22\x01\x80\x22\x03\x08\x01\x10";
    put_bytes("memory_usage_2.pb", broken, sizeof broken - 1);
    t = read_worker("memory_usage_2.pb");
    assert_int_equal(trace_quality(t, CAUSE_BAD_SYNTAX), 3);
    trace_release(t);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_graphs_memory_is_static_and_what_lives),
        TEST(numbers_do_not_have_to_be_packed),
        TEST(nodes_are_where_they_ran),
        TEST(what_was_made_of_it_wins),
        TEST(what_has_no_place_is_counted),
        TEST(a_cut_file_gives_what_it_has),
        TEST(bytes_that_are_not_a_message_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
