/* parity.h: is it the same program on the same machine? What differs between two runs before
 * anything is measured. */
#ifndef ANALYSE_PARITY_H
#define ANALYSE_PARITY_H

#include "analyse/compare/causes.h"

/* Rows of table `parity`. */
status parity_write(const compared_side sides[N_SIDES], const change_causes *causes, table *out,
                    error *err) MUST_USE;

/* Are the shapes of most calls others, so that it is not the same work? */
bool parity_is_other_work(const change_causes *causes);

#endif
