/* execution_trace_test.c: nodes of execution traces, in Kineto's spelling, and damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "ingest/pytorch/execution_trace.h"

#define RF(id) "{\"name\": \"rf_id\", \"type\": \"uint64\", \"value\": " #id "}"
#define NODE(id, name, inputs)                                                  \
    "{\"id\": 2, \"name\": \"" name "\", \"ctrl_deps\": 1, \"inputs\": " inputs \
    ", \"attrs\": [" RF(id) "]}"
#define FILE_OF(nodes)                                                                         \
    "{\"schema\": \"1.1.1-chakra.0.0.4\", \"pid\": 7, \"nodes\": [" nodes "], \"finish_ts\": " \
    "9}"
#define MM                                                                                \
    "{\"values\": "                                                                       \
    "[[3,4,0,8,4,\"cpu\"],[[5,6,0,8,4,\"cpu\"]],1,0.500000,[2,3],true,\"<None>\"],"       \
    "\"shapes\": [[2,4],[[4,2]],[],[],[[],[]],[],[]],"                                    \
    "\"types\": [\"Tensor(float)\",\"GenericList[Tensor(long int)]\",\"Int\",\"Double\"," \
    "\"GenericList[Int,Int]\",\"Bool\",\"None\"],"                                        \
    "\"strides\": [[4,1],[[2,1]],[],[],[[],[]],[],[]]}"

typedef struct {
    builder *b;
    execution_trace *et;
    execution_counts counts;
} read_case;

static read_case read_nodes(const char *text, size_t piece_bytes) {
    read_case c = {.b = builder_new()};
    source *s = NULL;
    ingest_options o = {.piece_bytes = piece_bytes};
    assert_int_equal(source_open_memory(str_of(text), &s, NULL), OK);
    assert_int_equal(execution_trace_read(s, &o, c.b, &c.et, NULL), OK);
    source_close(s);
    c.counts = execution_trace_counts(c.et);
    return c;
}

static void end_case(read_case *c) {
    execution_trace_free(c->et);
    builder_free(c->b);
}

static uint32_t id_of(const read_case *c, const char *text) {
    return intern_add(builder_strings(c->b), str_of(text));
}

static void check_text(const read_case *c, uint32_t id, const char *want) {
    assert_string_equal(intern_get(builder_strings(c->b), id).p, want);
}

static void inputs_are_spelled_as_kineto_does(void **state) {
    (void)state;
    read_case c = read_nodes(FILE_OF(NODE(9, "aten::mm", MM)), 0);
    const execution_node *n = execution_trace_find(c.et, 9, id_of(&c, "aten::mm"));
    assert_non_null(n);
    check_text(&c, n->shapes, "[[2, 4], [[4, 2]], [], [], [], [], []]");
    check_text(&c, n->strides, "[[4, 1], [[2, 1]], [], [], [], [], []]");
    check_text(&c, n->types,
               "[\"float\", \"TensorList\", \"Scalar\", \"Scalar\", \"ScalarList\", "
               "\"Scalar\", \"\"]");
    check_text(&c, n->inputs, "[\"\", \"\", \"1\", \"0.5\", \"[2, 3]\", \"True\", \"\"]");
    end_case(&c);
}

static void a_node_is_found_by_id_and_name(void **state) {
    (void)state;
    read_case c =
        read_nodes(FILE_OF(NODE(9, "a", MM) "," NODE(10, "b", MM) "," NODE(9, "c", MM)), 0);
    assert_int_equal(c.counts.nodes, 2); /* an id counts once */
    assert_null(execution_trace_find(c.et, 9, id_of(&c, "b")));
    assert_null(execution_trace_find(c.et, 11, id_of(&c, "a")));
    assert_int_equal(execution_trace_counts(c.et).joined, 0);
    assert_non_null(execution_trace_find(c.et, 9, id_of(&c, "a")));
    assert_non_null(execution_trace_find(c.et, 9, id_of(&c, "a")));
    assert_int_equal(execution_trace_counts(c.et).joined, 1);
    end_case(&c);
}

/* Before 1.1 the members of a node were flat. */
static void older_schemas_are_read(void **state) {
    (void)state;
    read_case c = read_nodes(
        "{\"schema\": \"1.0.1\", \"nodes\": [{\"name\": \"x\", \"id\": 3, \"rf_id\": 5,"
        "\"parent\": 1, \"inputs\": [[1,2,0,4,4,\"cpu\"]], \"input_shapes\": [[4]],"
        "\"input_types\": [\"Tensor(int)\"]}]}",
        0);
    const execution_node *n = execution_trace_find(c.et, 5, id_of(&c, "x"));
    assert_non_null(n);
    check_text(&c, n->shapes, "[[4]]");
    check_text(&c, n->types, "[\"int\"]");
    assert_int_equal(n->strides, 0);
    end_case(&c);
}

#define GROUPS                                                                             \
    NODE(1, "## process_group:init ##",                                                    \
         "{\"values\": [\"[{\\\"pg_name\\\": \\\"0\\\", \\\"ranks\\\": [], "               \
         "\\\"group_size\\\": 2},"                                                         \
         "{\\\"pg_name\\\": \\\"5\\\", \\\"ranks\\\": [1, 3], \\\"group_size\\\": 2}]\"]," \
         "\"types\": [\"String\"]}")
#define ATTRIBUTE(name, value) ",{\"name\": \"" name "\", \"type\": \"\", \"value\": " value "}"
#define COLLECTIVE(id, group)                                                         \
    "{\"name\": \"record_param_comms\", \"inputs\": {}, \"attrs\": [" RF(id)          \
        ATTRIBUTE("collective_name", "\"allreduce\"") ATTRIBUTE("dtype", "\"Float\"") \
            ATTRIBUTE("in_msg_nelems", "64") ATTRIBUTE("out_msg_nelems", "32")        \
                ATTRIBUTE("pg_name", "\"" group "\"") ATTRIBUTE("pg_desc", "\"dp\"")  \
                    ATTRIBUTE("pg_size", "2") ATTRIBUTE("global_rank_start", "4")     \
                        ATTRIBUTE("global_rank_stride", "2") "]}"

static void a_collective_has_its_group(void **state) {
    static const struct {
        int64_t id;
        const char *ranks;
    } cases[] = {{8, "[0, 1]"}, {9, "[1, 3]"}, {10, "[4, 6]"}};
    (void)state;
    read_case c = read_nodes(
        FILE_OF(GROUPS "," COLLECTIVE(8, "0") "," COLLECTIVE(9, "5") "," COLLECTIVE(10, "7")),
        0);
    assert_int_equal(c.counts.nodes, 3); /* the table of groups is not an operator */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const execution_node *n =
            execution_trace_find(c.et, cases[i].id, id_of(&c, "record_param_comms"));
        assert_non_null(n);
        const execution_comm *comm = execution_trace_comm(c.et, n);
        assert_non_null(comm);
        check_text(&c, comm->name, "allreduce");
        check_text(&c, comm->group_ranks, cases[i].ranks);
        assert_int_equal(comm->in_elements, 64);
        assert_int_equal(comm->out_elements, 32);
        assert_int_equal(comm->group_size, 2);
    }
    end_case(&c);
}

static void pieces_of_any_size_give_the_same(void **state) {
    static const char text[] =
        FILE_OF(GROUPS "," NODE(9, "aten::mm", MM) "," COLLECTIVE(8, "0"));
    (void)state;
    for (size_t n = 1; n < sizeof text; n += 13) {
        read_case c = read_nodes(text, n);
        assert_int_equal(c.counts.nodes, 2);
        assert_false(c.counts.damaged);
        assert_non_null(execution_trace_find(c.et, 9, id_of(&c, "aten::mm")));
        end_case(&c);
    }
}

/* What is complete counts; the missing part is reported. */
static void a_cut_file_says_so(void **state) {
    static const char text[] = FILE_OF(NODE(9, "a", MM) "," NODE(10, "b", MM));
    char cut[sizeof text];
    (void)state;
    for (size_t n = 0; n + 20 < sizeof text; n += 7) {
        memcpy(cut, text, n);
        cut[n] = 0;
        read_case c = read_nodes(cut, 64);
        assert_true(c.counts.damaged);
        assert_true(c.counts.nodes <= 2);
        end_case(&c);
    }
}

static void hostile_nodes_are_harmless(void **state) {
    static const char *const texts[] = {
        "{\"nodes\": [1, 2]}",
        "{\"nodes\": [{\"name\": 7, \"attrs\": {\"name\": \"rf_id\"}}]}",
        "{\"nodes\": [{\"name\": \"x\", \"rf_id\": -1}, {\"name\": \"x\", \"rf_id\": 1e99}]}",
        FILE_OF(NODE(18446744073709551615, "x", "{\"types\": [\"Tensor(\"]}")),
        FILE_OF(
            NODE(5, "x", "{\"types\": [\"Tensor(a\", 3, \"GenericList[\"], \"shapes\": 9}")),
        FILE_OF(NODE(1, "## process_group:init ##", "{\"values\": [\"[[{\"]}")),
        FILE_OF("{\"name\": \"x\", \"rf_id\": 5, \"id\": 5, \"ctrl_deps\": 5}")};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        read_case c = read_nodes(texts[i], 0);
        assert_true(c.counts.nodes <= 1);
        end_case(&c);
    }
}

static void its_first_bytes_tell_it(void **state) {
    (void)state;
    assert_true(execution_trace_head(STR(" {\"schema\": \"1.1.1-chakra.0.0.4\", \"pid\": 1")));
    assert_true(execution_trace_head(
        STR("{\"schema\": \"1.0.1\", \"nodes\": [{\"rf_id\": 3, \"parent\": 1")));
    assert_false(execution_trace_head(STR("{\"schemaVersion\": 1, \"traceEvents\": []}")));
    assert_false(execution_trace_head(STR("[{\"schema\": \"chakra\"}]")));
    assert_false(execution_trace_head(STR("")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_are_spelled_as_kineto_does),
        cmocka_unit_test(a_node_is_found_by_id_and_name),
        cmocka_unit_test(older_schemas_are_read),
        cmocka_unit_test(a_collective_has_its_group),
        cmocka_unit_test(pieces_of_any_size_give_the_same),
        cmocka_unit_test(a_cut_file_says_so),
        cmocka_unit_test(hostile_nodes_are_harmless),
        cmocka_unit_test(its_first_bytes_tell_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
