/* advice.h: the rules of `advise`: one entry each in advice_rules.def. (being written) */
#ifndef ANALYSE_ADVICE_H
#define ANALYSE_ADVICE_H
#endif
