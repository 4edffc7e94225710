/* backward_owner_test.c: which module a piece of backward work belongs to. */
#include "example_trace.h"

#include "analyse/operators/backward_owner.h"

static backward_nodes find(const trace *t, arena *a) {
    params p = fake_params();
    selection s;
    backward_nodes nodes;
    select_init(&s, t, &p);
    assert_int_equal(backward_find(t, &s, a, &nodes, NULL), OK);
    return nodes;
}

static void nodes_belong_to_the_innermost_module_of_their_forward_op(void **state) {
    fake f;
    example e;
    const trace *t = example_make(&f, &e);
    backward_nodes n = find(t, &f.arena);
    assert_int_equal(n.n, 3);
    assert_int_equal(n.v[0].slice, f.id[e.relu_node]);
    assert_int_equal(n.v[0].module_call, trace_module_call_of(t, f.id[e.net]));
    assert_int_equal(n.v[0].ns, 20);
    assert_int_equal(n.v[1].module_call, trace_module_call_of(t, f.id[e.linear]));
    assert_int_equal(n.v[1].device, 50);
    assert_int_equal(n.v[2].module_call,
                     n.v[1].module_call); /* accumulation follows its node */
    fake_fini(&f);
}

static void accumulation_that_comes_first_has_no_owner(void **state) {
    fake f;
    fake_init(&f);
    int host = fake_thread(&f), autograd = fake_thread(&f);
    example_module(&f, host, "nn.Module: Net_0", 0, 50);
    int forward = example_op(&f, host, "aten::mm", 10, 5);
    fake_add(&f, autograd, KIND_OP,
             "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", 100, 10);
    int node = fake_add(&f, autograd, KIND_OP,
                        "autograd::engine::evaluate_function: MmBackward0", 120, 10);
    example_module(&f, host, "nn.Module: Late_0", 55, 20);
    int second = example_op(&f, host, "aten::relu", 60, 5);
    const trace *t = fake_seal(&f);
    example_flow(&f, forward, node);
    example_flow(&f, second, node); /* two forward ops, one node: the first owns it */
    backward_nodes n = find(t, &f.arena);
    assert_int_equal(n.n, 2);
    assert_int_equal(n.v[0].module_call, 0);
    assert_int_equal(n.v[1].module_call, 1);
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_belong_to_the_innermost_module_of_their_forward_op),
        cmocka_unit_test(accumulation_that_comes_first_has_no_owner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
