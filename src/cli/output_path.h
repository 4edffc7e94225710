/* output_path.h: where a command writes its file. */
#ifndef CLI_OUTPUT_PATH_H
#define CLI_OUTPUT_PATH_H

#include "cli/options.h"

/* Does -o name a folder: one that exists, or a name that ends like one? */
bool output_is_folder(str given);
/* Makes the folder that -o names, and those above it. ERR_IO. */
status output_make_folder(str folder, error *err) MUST_USE;
/* FOLDER/NAME, the folder made. */
status output_in_folder(arena *a, str folder, str name, str *out, error *err) MUST_USE;

/* The file of -o. A folder gets a file named after the first trace, with this ending (".html");
 * without -o that file is in the current folder, and must not exist yet: the user did not name
 * it. */
status output_choose(arena *a, const options *o, str given, const char *ending, str *out,
                     error *err) MUST_USE;

#endif
