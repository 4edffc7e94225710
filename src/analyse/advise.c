/* advise.c: what to change first: every rule of advice_rules.def asked, sorted by what it saves.
 *
 * (being written) */
#include "analyse/analysis.h"
