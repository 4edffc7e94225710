/* ascend_db.c: databases of CANN's profiler from any bytes to a sealed trace. */
#include "ingest/ascend/ascend_db.h"
#include "fuzz/fuzz_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    str bytes = {(const char *)data, size};
    (void)ascend_db_head(bytes);
    fuzz_read_twice(ingest_ascend_db, bytes, NULL, 1 + size % 997);
    return 0;
}
