/* rec_python.c: tacho's hooks in a Python program that is running already, for `tacho attach`.
 *
 * A program that `tacho record` starts gets its hooks when it imports a framework. One that was
 * only preloaded has none; when a client attaches, its interpreter is asked to import the
 * package and to set them, and loses them again when the recording has ended:
 *
 *     ask ─> main thread, between two instructions of Python ─> prepare ─> start() ─> begin
 *      └─ hurry: the main thread waits in a system call; a thread of ours takes the
 *         interpreter's lock
 *
 * The interpreter's own functions are looked up in the process: nothing is linked, and a
 * process without them has no Python. What goes wrong there is a note in the recording and
 * never reaches the program. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "record/rec_int.h"

enum { FILE_INPUT = 257, CODE_BYTES = 12288, PATH_BYTES = 4096 };

static struct {
    int (*is_initialized)(void);
    int (*add_pending_call)(int (*)(void *), void *);
    int (*lock)(void);
    void (*unlock)(int);
    void *(*run)(const char *, int, void *, void *, void *);
    void *(*new_dict)(void);
    void *(*builtins)(void);
    int (*set_item)(void *, const char *, void *);
    void (*drop)(void *);
    void (*clear_error)(void);
    void (*print_error)(void);
} python;

/* The thread that changes `asked` from WAITING to TAKEN does it. */
enum { NOTHING, WAITING, TAKEN, DONE };
static uint32_t asked;
static bool has_hooks, has_hurried; /* of the helper */
static bool failed;                 /* of who took it, until DONE */
static void (*to_start)(void);
static char prepare_code[CODE_BYTES];

static bool find_python(void) {
    const struct {
        void *to;
        const char *name;
    } ALL[] = {
        {&python.is_initialized, "Py_IsInitialized"},
        {&python.add_pending_call, "Py_AddPendingCall"},
        {&python.lock, "PyGILState_Ensure"},
        {&python.unlock, "PyGILState_Release"},
        {&python.run, "PyRun_StringFlags"},
        {&python.new_dict, "PyDict_New"},
        {&python.builtins, "PyEval_GetBuiltins"},
        {&python.set_item, "PyDict_SetItemString"},
        {&python.drop, "Py_DecRef"},
        {&python.clear_error, "PyErr_Clear"},
        {&python.print_error, "PyErr_Print"},
    };
    for (size_t i = 0; i < sizeof ALL / sizeof *ALL; i++) {
        void *at = dlsym(RTLD_DEFAULT, ALL[i].name);
        memcpy(ALL[i].to, &at, sizeof at);
        if (!at) return false;
    }
    return python.is_initialized() != 0;
}

/* In a separate namespace: the program's is left alone. */
static bool run_code(const char *code) {
    void *names = python.new_dict(), *builtins = python.builtins();
    void *result = NULL;
    if (names && builtins && python.set_item(names, "__builtins__", builtins) == 0)
        result = python.run(code, FILE_INPUT, names, names, NULL);
    if (!result && secure_getenv("TACHO_DEBUG"))
        python.print_error();
    else if (!result)
        python.clear_error();
    if (result) python.drop(result);
    if (names) python.drop(names);
    return result != NULL;
}

/* With the interpreter's lock, on one of its threads. */
static void set_hooks(void) {
    uint32_t waiting = WAITING;
    if (!__atomic_compare_exchange_n(&asked, &waiting, TAKEN, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED))
        return;
    failed = !run_code(prepare_code);
    to_start();
    if (failed)
        tacho_note(
            "attach: this Python cannot import the package tacho, its hooks are missing");
    else
        (void)run_code("from tacho.hooks import attach\nattach.begin()\n");
    __atomic_store_n(&asked, DONE, __ATOMIC_RELEASE);
    rec_helper_wake();
}

static int set_on_main_thread(void *unused) {
    (void)unused;
    set_hooks();
    return 0;
}

static int release_on_main_thread(void *unused) {
    (void)unused;
    (void)run_code("from tacho.hooks import attach\nattach.end()\n");
    return 0;
}

static void *set_on_own_thread(void *unused) {
    (void)unused;
    int state = python.lock();
    set_hooks();
    python.unlock(state);
    return NULL;
}

/* The folder goes through the interpreter as digits: no character of it needs care. */
static void write_code(const char *package, const char *words) {
    char hex[2 * PATH_BYTES + 1] = "";
    size_t n = strnlen(package, PATH_BYTES);
    for (size_t i = 0; i < n; i++)
        snprintf(hex + 2 * i, 3, "%02x", (unsigned)(unsigned char)package[i]);
    snprintf(prepare_code, sizeof prepare_code,
             "import sys\n"
             "place = bytes.fromhex('%s').decode('utf-8', 'surrogateescape')\n"
             "sys.path.append(place)\n"
             "try:\n"
             "    from tacho.hooks import attach\n"
             "finally:\n"
             "    sys.path.remove(place)\n"
             "attach.prepare('%s')\n",
             hex, words);
}

bool rec_python_ask(const char *package, const char *words, void (*start)(void)) {
    if (!find_python()) return false;
    write_code(package, words);
    to_start = start;
    has_hurried = false;
    has_hooks = true;
    __atomic_store_n(&asked, WAITING, __ATOMIC_RELEASE);
    if (python.add_pending_call(set_on_main_thread, NULL) != 0) rec_python_hurry();
    return true;
}

void rec_python_hurry(void) {
    pthread_t thread;
    if (has_hurried) return;
    has_hurried = true;
    if (pthread_create(&thread, NULL, set_on_own_thread, NULL) == 0) pthread_detach(thread);
}

bool rec_python_is_done(void) {
    return __atomic_load_n(&asked, __ATOMIC_ACQUIRE) == DONE;
}

bool rec_python_cancel(void) {
    uint32_t waiting = WAITING;
    return __atomic_compare_exchange_n(&asked, &waiting, NOTHING, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED);
}

void rec_python_release(void) {
    if (!has_hooks) return;
    has_hooks = false;
    if (rec_python_is_done() && !failed)
        (void)python.add_pending_call(release_on_main_thread, NULL);
}

/* A process without the package has nothing to do; the package is never imported for this. */
static int follow_on_main_thread(void *unused) {
    (void)unused;
    (void)run_code("import sys\n"
                   "hooks = sys.modules.get('tacho.hooks')\n"
                   "if hooks is not None:\n"
                   "    hooks.follow()\n");
    return 0;
}

void rec_python_follow(void) {
    static uint32_t is_found; /* before, it may not have been initialized */
    if (!__atomic_load_n(&is_found, __ATOMIC_ACQUIRE)) {
        if (!find_python()) return;
        __atomic_store_n(&is_found, 1, __ATOMIC_RELEASE);
    }
    if (python.is_initialized()) /* it may be ending */
        (void)python.add_pending_call(follow_on_main_thread, NULL);
}

void rec_python_forked(void) {
    asked = NOTHING;
    has_hooks = false;
}
