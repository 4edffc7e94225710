/* made_database.h: the bytes of an SQLite file, made from statements. */
#ifndef TESTS_MADE_DATABASE_H
#define TESTS_MADE_DATABASE_H

#include "base/buf.h"

/* To be freed with buf_fini; the test fails when a statement is wrong. */
buf make_database(const char *sql);

#endif
