/* megengine_shared.c: a fake libmegengine_shared: allocators called through functions that can
 * be replaced from outside, as those of the real one are. */
#include <stddef.h>
#include <stdint.h>

#define SHOW __attribute__((visibility("default")))

typedef struct {
    int kind;
} node;

SHOW void *_ZNK3mgb8CompNode12alloc_deviceEm(const node *n, size_t bytes);
SHOW void _ZNK3mgb8CompNode11free_deviceEPv(const node *n, void *address);
SHOW int _ZNK3mgb8CompNode11device_typeEv(const node *n);
SHOW void *fake_allocate(int kind, size_t bytes);
SHOW void fake_free(int kind, void *address);
SHOW int fake_live;

static char memory[4096];
static size_t used;

void *_ZNK3mgb8CompNode12alloc_deviceEm(const node *n, size_t bytes) {
    (void)n;
    if (bytes > sizeof memory - used) return NULL;
    used += bytes;
    fake_live++;
    return memory + used - bytes;
}

void _ZNK3mgb8CompNode11free_deviceEPv(const node *n, void *address) {
    (void)n, (void)address;
    fake_live--;
}

int _ZNK3mgb8CompNode11device_typeEv(const node *n) {
    return n->kind;
}

void *fake_allocate(int kind, size_t bytes) {
    node n = {kind};
    return _ZNK3mgb8CompNode12alloc_deviceEm(&n, bytes);
}

void fake_free(int kind, void *address) {
    node n = {kind};
    _ZNK3mgb8CompNode11free_deviceEPv(&n, address);
}
