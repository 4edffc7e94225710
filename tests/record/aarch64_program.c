/* aarch64_program.c: a program for tests/record/aarch64: operators of a fake libtorch
 * (tests/fake/torch_cpu.c), blocks of its allocator, its own ranges. Prints what libtorch
 * serves. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <tacho/tacho.h>

enum { OP = 0, BACKWARD = 1, USER = 7, ROUNDS = 1000 };
static void (*run_op)(const char *, int, int64_t, uint64_t, void (*)(void));
static void (*run_cat)(int64_t);
static void (*allocate)(uint64_t, int64_t, uint64_t, int8_t);

static void inner(void) {
    run_op("aten::addmm", OP, 5, 0, NULL);
}
static void node(void) {
    run_op("AddmmBackward0", BACKWARD, 5, 7, NULL);
}

static int find(const char *folder) {
    char path[2][1024];
    snprintf(path[0], sizeof path[0], "%s/libtorch_cpu.so", folder);
    snprintf(path[1], sizeof path[1], "%s/libc10.so", folder);
    void *torch = dlopen(path[0], RTLD_NOW | RTLD_GLOBAL);
    void *c10 = dlopen(path[1], RTLD_NOW | RTLD_GLOBAL);
    if (!torch || !c10) return -1;
    *(void **)&run_op = dlsym(torch, "fake_op");
    *(void **)&run_cat = dlsym(torch, "fake_cat");
    *(void **)&allocate = dlsym(c10, "fake_allocate");
    return run_op && run_cat && allocate ? 0 : -1;
}

static void train(void) {
    for (int i = 0; i < ROUNDS; i++) {
        TACHO_SCOPE("round");
        run_op("aten::linear", OP, 5, 0, inner);
        run_op("autograd::engine::evaluate_function: AddmmBackward0", BACKWARD, 5, 7, node);
        run_op("Optimizer.step#SGD.step", USER, -1, 0, NULL);
    }
    run_cat(2);
    allocate(0x1000, 512, 512, 0);
    allocate(0x2000, 256, 768, 1);
    allocate(0x1000, -512, 256, 0);
}

int main(int argc, char **argv) {
    if (argc != 3 || find(argv[1]) != 0) return 2;
    unsigned want =
        TACHO_TORCH_OPS | TACHO_TORCH_LINKS | TACHO_TORCH_SHAPES | TACHO_TORCH_MEMORY;
    for (int shapes = 0; shapes < 2;
         shapes++) { /* one callback for all scopes, then one each */
        tacho_options o = {.size = sizeof o,
                           .path = argv[2],
                           .worker = shapes ? "shapes" : "plain",
                           .shapes = shapes,
                           .memory = 1};
        printf("%u\n", tacho_torch(shapes ? want : want & ~(unsigned)TACHO_TORCH_SHAPES));
        if (tacho_start(&o) != TACHO_OK) return 3;
        train();
        if (tacho_stop() != TACHO_OK) return 4;
    }
    return tacho_torch(0) == 0 ? 0 : 5;
}
