/* device_properties.h: what a GPU is, from the object that Kineto writes for it and our recorder, too. */
#ifndef INGEST_DEVICE_PROPERTIES_H
#define INGEST_DEVICE_PROPERTIES_H

#include "store/builder.h"

/* Its numbers; the caller adds name and properties as strings. `i`: its number when it has none. */
raw_device device_properties(str object, int32_t i);

#endif
