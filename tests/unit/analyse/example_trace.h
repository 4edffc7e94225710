/* example_trace.h: one step of a small network with forward, backward and optimizer on two
 * threads: the worked example that several tests share. Times are in ns. */
#ifndef TESTS_EXAMPLE_TRACE_H
#define TESTS_EXAMPLE_TRACE_H

#include "fake_trace.h"

typedef struct {
    int net, linear, addmm, relu, relu_node, addmm_node, accumulate_node;
} example;

static inline void example_flow(fake *f, int from, int to) {
    uint32_t row = f->t.flow.n++;
    FAKE_SET(f, flow, from, row, f->id[from]);
    FAKE_SET(f, flow, to, row, f->id[to]);
    FAKE_SET(f, flow, kind, row, FLOW_FORWARD_BACKWARD);
}

static inline int example_op(fake *f, int track, const char *name, int64_t start, int64_t dur) {
    int h = fake_add(f, track, KIND_OP, name, start, dur);
    f->slices[h].has_op_row = true;
    f->slices[h].sequence = start;
    return h;
}

static inline int example_module(fake *f, int track, const char *name, int64_t start,
                                 int64_t dur) {
    int h = fake_add(f, track, KIND_MODULE, name, start, dur);
    f->slices[h].module = name;
    f->slices[h].module_id = start; /* any number that differs */
    return h;
}

/* Sealed: arrows and the modules' parents are in it. */
static inline const trace *example_make(fake *f, example *e) {
    fake_init(f);
    int main_thread = fake_thread(f), autograd = fake_thread(f), gpu = fake_stream(f, 0);
    fake_step(f, 1, 0, 400);
    fake_add(f, main_thread, KIND_STEP, "ProfilerStep#1", 0, 400);
    fake_add(f, main_thread, KIND_DATA, "enumerate(DataLoader)#X.__next__", 1, 5);
    fake_add(f, main_thread, KIND_PYTHON, "train.py(1): main", 9, 380);
    e->net = example_module(f, main_thread, "nn.Module: Net_0", 10, 100);
    e->linear = example_module(f, main_thread, "nn.Module: Linear_0", 20, 40);
    example_op(f, main_thread, "aten::linear", 22, 30);
    e->addmm = example_op(f, main_thread, "aten::addmm", 24, 20);
    int call = fake_add(f, main_thread, KIND_RUNTIME, "cudaLaunchKernel", 26, 2);
    fake_work(f, gpu, KIND_KERNEL, "gemm", 40, 30, call);
    e->relu = example_op(f, main_thread, "aten::relu", 70, 10);
    fake_add(f, main_thread, KIND_OPTIMIZER, "Optimizer.step#SGD.step", 300, 50);
    e->relu_node = fake_add(f, autograd, KIND_OP,
                            "autograd::engine::evaluate_function: ReluBackward0", 150, 20);
    int relu_op = fake_add(f, autograd, KIND_OP, "ReluBackward0", 152, 15);
    e->addmm_node = fake_add(f, autograd, KIND_OP,
                             "autograd::engine::evaluate_function: AddmmBackward0", 180, 30);
    int addmm_op = fake_add(f, autograd, KIND_OP, "AddmmBackward0", 182, 25);
    call = fake_add(f, autograd, KIND_RUNTIME, "cudaLaunchKernel", 185, 2);
    fake_work(f, gpu, KIND_KERNEL, "gemm", 200, 50, call);
    e->accumulate_node = fake_add(
        f, autograd, KIND_OP,
        "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", 215, 10);
    const trace *t = fake_seal(f);
    example_flow(f, e->relu, relu_op);
    example_flow(f, e->addmm, addmm_op);
    FAKE_SET(f, module, parent, 2, 1);
    return t;
}

#endif
