/* cgroup.h: what the control group of this process may use. In a container that is less than
 * the machine has, and who uses more is killed. */
#ifndef BASE_CGROUP_H
#define BASE_CGROUP_H

#include <stdint.h>

/* The smallest limit of memory of the group and those around it, of either version of control
 * groups; UINT64_MAX: none, or none that can be read. `mount` is /sys/fs/cgroup, `membership`
 * /proc/self/cgroup. */
uint64_t cgroup_memory_bytes(const char *mount, const char *membership);
/* The same of processors: the share of time that the group may run, rounded up. Who runs more
 * threads than that is stopped for a part of the time. */
uint64_t cgroup_cpus(const char *mount, const char *membership);

#endif
