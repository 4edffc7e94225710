/* cgroup.h: what the control group of this process may use. In a container that is less than
 * the machine has, and who uses more is killed. */
#ifndef BASE_CGROUP_H
#define BASE_CGROUP_H

#include <stdint.h>

/* The smallest limit of memory of the group and those around it, of either version of control
 * groups; UINT64_MAX: none, or none that can be read. `mount` is /sys/fs/cgroup, `membership`
 * /proc/self/cgroup. */
uint64_t cgroup_memory_bytes(const char *mount, const char *membership);

#endif
