/* gentrace_worst.h: traces of the shapes that are worst for readers and analyses. */
#ifndef GENTRACE_WORST_H
#define GENTRACE_WORST_H

/* gentrace worst SHAPE N > trace.json; the exit status. */
int gentrace_worst(int argc, char **argv);

#endif
