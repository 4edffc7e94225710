/* check_report.h: the answer of `check` for those who read it without a terminal: test reports,
 * job summaries, annotations. */
#ifndef CLI_CHECK_REPORT_H
#define CLI_CHECK_REPORT_H

#include "cli/cli.h"

/* All take an answer of `check` whose sentences are words already (present_resolve). With
 * `strict` what is inconclusive counts as a failure. */

/* JUnit XML: one case for each limit; what is inconclusive is skipped. */
void check_junit(buf *out, const options *o, const answer *a);
/* Markdown: the verdict, the limits, the causes. */
status check_markdown(buf *out, const options *o, const answer *a, arena *scratch,
                      error *err) MUST_USE;
/* Workflow commands of GitHub: a line for each limit that is exceeded or cannot be judged. */
void check_annotations(buf *out, const options *o, const answer *a);

/* The first table with this name; NULL. */
const table *check_table(const answer *a, const char *name);

#endif
