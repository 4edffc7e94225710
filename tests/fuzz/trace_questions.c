/* trace_questions.c: every analysis and every export of a trace file made by an enemy: what file_open
 * and trace_require let through must be harmless. The reader itself: store_file.c. */
#include <fcntl.h>

#include "analyse/registry.h"
#include "export/export.h"
#include "fuzz/fuzz_file.h"

static void export_all(trace *t) {
    int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    for (uint32_t i = 0; export_form_name(i); i++)
        (void)!export_trace(t, &(export_options){.form = str_of(export_form_name(i))}, fd,
                            NULL);
    close(fd);
}

static void ask_all(trace *t) {
    analysis_trace one = {.trace = t};
    params p = PARAMS_WHOLE;
    for (uint32_t i = 0; registry_analysis(i); i++) {
        arena a;
        answer out;
        arena_init(&a, 256 << 20);
        (void)!registry_analysis(i)->run(&(analysis_input){&one, 1}, &p, &a, &out, NULL);
        arena_fini(&a);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    trace *t = open_hostile(data, size);
    if (!t) return 0;
    export_all(t);
    ask_all(t);
    trace_release(t);
    return 0;
}
