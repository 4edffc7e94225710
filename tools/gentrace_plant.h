/* gentrace_plant.h: gentrace plant: a training or inference run with one planted cause. */
#ifndef GENTRACE_PLANT_H
#define GENTRACE_PLANT_H

int gentrace_plant(int argc, char **argv);

#endif
