/* rec_arrow_test.c: what a consumer of Arrow's C structures sees, and that nothing is left of it;
 * the address sanitizer finds what is freed twice, too early or never. */
#include "unit/record/record_helper.h"

#include <pthread.h>
#include <string.h>
#include <tacho/arrow.h>

static const char METADATA[] = "\1\0\0\0\4\0\0\0unit\2\0\0\0ns";
static const int64_t TIMES[3] = {1, 2, 3};
static const uint32_t POSITIONS[4] = {0, 1, 1, 3};

/* Three rows of a time with one null and a text. */
static tacho_arrow_table *make(void) {
    char *memory = tacho_arrow_memory(64);
    assert_non_null(memory);
    assert_int_equal((uintptr_t)memory % 64, 0);
    memcpy(memory, TIMES, sizeof TIMES);
    memcpy(memory + 24, POSITIONS, sizeof POSITIONS);
    memcpy(memory + 40, "abc", 3);
    memory[48] = 5;
    tacho_arrow_column columns[2] = {
        {sizeof *columns, "time", "l", METADATA, 1, memory + 48, memory, NULL},
        {sizeof *columns, "name", "u", NULL, 0, NULL, memory + 24, memory + 40}};
    tacho_arrow_table *table = tacho_arrow_table_new(memory, 3, NULL, columns, 2);
    tacho_arrow_memory_drop(memory);
    assert_non_null(table);
    return table;
}

static void a_stream_is_one_batch_with_its_schema(void **state) {
    (void)state;
    tacho_arrow_table *table = make();
    struct ArrowArrayStream *stream = tacho_arrow_stream(table);
    tacho_arrow_table_drop(table);
    struct ArrowSchema schema, again;
    assert_int_equal(stream->get_schema(stream, &schema), 0);
    assert_int_equal(stream->get_schema(stream, &again), 0);
    assert_string_equal(schema.format, "+s");
    assert_int_equal(schema.n_children, 2);
    assert_string_equal(schema.children[0]->name, "time");
    assert_string_equal(schema.children[1]->format, "u");
    assert_memory_equal(schema.children[0]->metadata, METADATA, sizeof METADATA - 1);
    assert_null(schema.children[1]->metadata);
    schema.release(&schema);
    assert_null(schema.release);
    again.release(&again);
    struct ArrowArray array, end;
    assert_int_equal(stream->get_next(stream, &array), 0);
    assert_int_equal(stream->get_next(stream, &end), 0);
    assert_null(end.release);
    assert_null(stream->get_last_error(stream));
    assert_int_equal(array.length, 3);
    assert_int_equal(array.children[0]->null_count, 1);
    assert_int_equal(array.children[0]->n_buffers, 2);
    assert_int_equal(array.children[1]->n_buffers, 3);
    tacho_arrow_stream_drop(stream); /* the array stays */
    assert_memory_equal(array.children[0]->buffers[1], TIMES, sizeof TIMES);
    assert_memory_equal(array.children[1]->buffers[2], "abc", 3);
    array.release(&array);
    assert_null(array.release);
}

static void a_child_that_was_moved_outlives_its_parent(void **state) {
    (void)state;
    tacho_arrow_table *table = make();
    struct ArrowArrayStream *stream = tacho_arrow_stream(table);
    struct ArrowArray array;
    assert_int_equal(stream->get_next(stream, &array), 0);
    struct ArrowArray child = *array.children[1];
    array.children[1]->release = NULL;
    array.release(&array);
    tacho_arrow_stream_drop(stream);
    struct ArrowSchema *schema = tacho_arrow_schema(table);
    tacho_arrow_table_drop(table);
    struct ArrowSchema name = *schema->children[1];
    schema->children[1]->release = NULL;
    tacho_arrow_schema_drop(schema);
    assert_string_equal(name.name, "name");
    name.release(&name);
    assert_memory_equal(child.buffers[1], POSITIONS, sizeof POSITIONS);
    child.release(&child);
}

static void what_was_not_taken_is_freed_too(void **state) {
    (void)state;
    tacho_arrow_table *table = make();
    struct ArrowArrayStream *stream = tacho_arrow_stream(table);
    struct ArrowArrayStream moved = *stream;
    stream->release = NULL;
    tacho_arrow_stream_drop(stream);
    tacho_arrow_stream_drop(tacho_arrow_stream(table));
    tacho_arrow_stream_drop(NULL);
    tacho_arrow_schema_drop(NULL);
    tacho_arrow_table_drop(table);
    moved.release(&moved);
    assert_null(tacho_arrow_memory(SIZE_MAX));
}

static void *release_all(void *given) {
    struct ArrowArray *arrays = given;
    for (int i = 0; i < 100; i++) arrays[i].release(&arrays[i]);
    return NULL;
}

static void threads_release_at_the_same_time(void **state) {
    (void)state;
    static struct ArrowArray arrays[4][100];
    tacho_arrow_table *table = make();
    for (int i = 0; i < 400; i++) {
        struct ArrowArrayStream *stream = tacho_arrow_stream(table);
        assert_int_equal(stream->get_next(stream, &arrays[i / 100][i % 100]), 0);
        tacho_arrow_stream_drop(stream);
    }
    tacho_arrow_table_drop(table);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, release_all, arrays[i]), 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_is_one_batch_with_its_schema),
        cmocka_unit_test(a_child_that_was_moved_outlives_its_parent),
        cmocka_unit_test(what_was_not_taken_is_freed_too),
        cmocka_unit_test(threads_release_at_the_same_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
