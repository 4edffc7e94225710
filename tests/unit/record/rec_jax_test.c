/* rec_jax_test.c: calls of compiled functions, in a fake Python (tests/fake/jax_python.c); the
 * real one is tested by tests/frameworks/run. */
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include "unit/record/record_helper.h"

typedef struct {
    int64_t references;
    void *type;
    void *attributes;
    void *(*call)(void *, void *const *, size_t, void *);
    int n_calls, raises;
    void *inner;
} function;
typedef struct {
    int64_t references;
    void *type;
    const char *word;
    int raises;
} listener;

static void *jit, *plain, *wild;
static char *told;
static const char **raised;
static void (*make)(function *, void *);
static int64_t (*answers)(void);

static int load(void **state) {
    char path[1024];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 64);
    if (n <= 0) return -1;
    path[n] = 0;
    *strrchr(path, '/') = 0;
    *strrchr(path, '/') = 0;
    strcat(path, "/fake/libjax_python.so");
    void *lib = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!lib) return -1;
    jit = dlsym(lib, "fake_jit");
    plain = dlsym(lib, "fake_plain");
    wild = dlsym(lib, "fake_wild");
    told = dlsym(lib, "fake_log");
    raised = dlsym(lib, "fake_error");
    *(void **)&make = dlsym(lib, "fake_new");
    *(void **)&answers = dlsym(lib, "fake_answers");
    return jit && plain && wild && told && raised && make && answers ? 0 : -1;
}

static listener begins = {1, NULL, "begin ", 0}, ends = {1, NULL, "end ", 0};

static int start_listening(void **state) {
    *told = 0;
    *raised = NULL;
    begins.raises = ends.raises = 0;
    tacho_jax_listen(&begins, &ends);
    return 0;
}

static void *call(function *f) {
    return f->call(f, NULL, 0, NULL);
}

static void calls_are_reported_before_and_after(void **state) {
    function f;
    make(&f, jit);
    int64_t before = answers();
    assert_int_equal(tacho_jax_watch(&f, 1), 1);
    assert_non_null(call(&f));
    assert_string_equal(told, "begin call end ");
    assert_int_equal(f.n_calls, 1);
    assert_int_equal(answers(),
                     before + 1); /* the caller's; those of the listeners were given back */
}

static void the_object_is_as_it_was_when_unwatched(void **state) {
    function f;
    make(&f, jit);
    void *(*own)(void *, void *const *, size_t, void *) = f.call;
    assert_int_equal(tacho_jax_watch(&f, 1), 1);
    assert_true(f.call != own);
    assert_int_equal(tacho_jax_watch(&f, 1), 0); /* it is watched already */
    assert_int_equal(tacho_jax_watch(&f, 0), 1);
    assert_true(f.call == own);
    assert_int_equal(tacho_jax_watch(&f, 0), 0);
}

/* What a function calls while it is traced does not run. */
static void only_outermost_calls_are_reported(void **state) {
    function outer, inner;
    make(&outer, jit);
    make(&inner, jit);
    outer.inner = &inner;
    assert_int_equal(tacho_jax_watch(&outer, 1), 1);
    assert_int_equal(tacho_jax_watch(&inner, 1), 1);
    assert_non_null(call(&outer));
    assert_string_equal(told, "begin call call end ");
}

static void an_error_of_the_function_reaches_the_program(void **state) {
    function f;
    make(&f, jit);
    f.raises = 1;
    assert_int_equal(tacho_jax_watch(&f, 1), 1);
    assert_null(call(&f));
    assert_string_equal(told, "begin call end ");
    assert_string_equal(*raised, "restored");
}

/* Ctrl-C while a listener runs. */
static void an_error_of_a_listener_reaches_the_program_too(void **state) {
    function f;
    make(&f, jit);
    assert_int_equal(tacho_jax_watch(&f, 1), 1);
    begins.raises = 1;
    assert_null(call(&f));
    assert_int_equal(f.n_calls, 0);
    assert_string_equal(*raised, "restored");
    begins.raises = 0;
    ends.raises = 1;
    *raised = NULL;
    assert_null(call(&f));
    assert_string_equal(*raised, "of the listener");
}

static void without_listeners_calls_pass(void **state) {
    function f;
    make(&f, jit);
    assert_int_equal(tacho_jax_watch(&f, 1), 1);
    tacho_jax_listen(NULL, NULL);
    assert_non_null(call(&f));
    assert_string_equal(told, "call ");
    assert_int_equal(begins.references, 1);
    assert_int_equal(ends.references, 1);
}

static void *unwatched_call(void *f, void *const *args, size_t n, void *names) {
    return f;
}

static void objects_of_other_kinds_are_left_alone(void **state) {
    function f;
    make(&f, plain); /* not called this way */
    assert_int_equal(tacho_jax_watch(&f, 1), 0);
    make(&f, wild); /* the pointer would lie outside of the object */
    assert_int_equal(tacho_jax_watch(&f, 1), 0);
    struct {
        int64_t words[9];
    } type = {{1, 0, 0, 0, sizeof f, 0, 0, offsetof(function, call), 1 << 11}};
    make(&f, &type);
    f.call = unwatched_call; /* not of jaxlib: it is in this program */
    assert_int_equal(tacho_jax_watch(&f, 1), 0);
    assert_int_equal(tacho_jax_watch(NULL, 1), 0);
}

int main(void) {
#define LISTENING(test) cmocka_unit_test_setup(test, start_listening)
    const struct CMUnitTest tests[] = {
        LISTENING(calls_are_reported_before_and_after),
        LISTENING(the_object_is_as_it_was_when_unwatched),
        LISTENING(only_outermost_calls_are_reported),
        LISTENING(an_error_of_the_function_reaches_the_program),
        LISTENING(an_error_of_a_listener_reaches_the_program_too),
        LISTENING(without_listeners_calls_pass),
        LISTENING(objects_of_other_kinds_are_left_alone),
    };
    return cmocka_run_group_tests(tests, load, NULL);
}
