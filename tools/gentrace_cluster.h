/* gentrace_cluster.h: gentrace cluster: the traces of all ranks of one training job. */
#ifndef GENTRACE_CLUSTER_H
#define GENTRACE_CLUSTER_H

int gentrace_cluster(int argc, char **argv);

#endif
