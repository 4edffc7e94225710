/* flight_recorder.c: a dump of the flight recorder made by an enemy, pickle or JSON: read, sealed, and asked
 * what hangs. */
#include "ingest/pytorch/flight_recorder.h"
#include "fuzz/fuzz_ask.h"
#include "fuzz/fuzz_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    trace *t = fuzz_read(ingest_flight_recorder, str_n((const char *)data, size), NULL, 0);
    if (!t) return 0;
    check_trace(t);
    ask(t, STR("hang"));
    ask(t, STR("distributed"));
    trace_release(t);
    return 0;
}
