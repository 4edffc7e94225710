/* hcom.h: how HCCL, the collectives of an Ascend, names its operators and data types. */
#ifndef INGEST_HCOM_H
#define INGEST_HCOM_H

#include "base/str.h"

typedef struct {
    str op, group;
    int64_t sequence; /* ABSENT_I64: it does not tell */
} hcom_name;

/* hcom_allReduce__360_4_1: the 5th all-reduce of the group whose name ends in 360. False: it is
 * no such name. The parts are valid as long as the name. */
bool hcom_parse(str name, hcom_name *out);
/* HCCL's word for a data type in PyTorch's words, which the analyses know the sizes of. */
str hcom_type(str hccl);

#endif
