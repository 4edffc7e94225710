/* triton_requests.h: request traces of the Triton inference server. */
#ifndef INGEST_TRITON_REQUESTS_H
#define INGEST_TRITON_REQUESTS_H

#include "ingest/ingest.h"

bool triton_requests_head(str head);
ingest_function ingest_triton_requests;

#endif
