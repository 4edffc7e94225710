/* device_properties.h: what a GPU is, from the object that Kineto writes for it and our
 * recorder, too. */
#ifndef INGEST_DEVICE_PROPERTIES_H
#define INGEST_DEVICE_PROPERTIES_H

#include "store/builder.h"

/* Its numbers; the caller adds name and properties as strings. `i`: its number when it has
 * none. */
raw_device device_properties(str object, int32_t i);

/* The names of devices that have no number of their own (TRACE_DEVICE_WORDS): a JSON list, the
 * first is that of DEVICE_NAMED. */
status device_words_add(builder *b, str list, error *err) MUST_USE;

#endif
