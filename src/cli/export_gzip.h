/* export_gzip.h: an export through gzip into a file. */
#ifndef CLI_EXPORT_GZIP_H
#define CLI_EXPORT_GZIP_H

#include "export/export.h"

/* As export_file, compressed; written under a temporary name and renamed. */
status export_gzip(const trace *t, const export_options *o, const char *path,
                   error *err) MUST_USE;

#endif
