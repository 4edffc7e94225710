/* stacks_test.c: call stacks as numbers. */
#include "fake_trace.h"

#include "analyse/stacks.h"

static void equal_paths_get_equal_ids(void **state) {
    fake f;
    fake_init(&f);
    int host = fake_thread(&f);
    int frames[4];
    frames[0] = fake_add(&f, host, KIND_PYTHON, "main", 0, 100);
    frames[1] = fake_add(&f, host, KIND_PYTHON, "forward", 10, 20);
    frames[2] = fake_add(&f, host, KIND_PYTHON, "forward", 40, 20);
    frames[3] = fake_add(&f, host, KIND_PYTHON, "over the end", 90, 30); /* a sibling of main */
    const trace *t = fake_seal(&f);
    stacks s;
    assert_int_equal(stacks_init(&s, t, &f.arena, NULL), OK);
    stacks_new_track(&s);
    uint32_t id[4];
    for (int i = 0; i < 4; i++) {
        assert_int_equal(stacks_enter(&s, f.id[frames[i]], NULL), OK);
        id[i] = stacks_of(&s, 0, t->slice.start[f.id[frames[i]]]);
    }
    assert_int_equal(id[1], id[2]);
    assert_int_not_equal(id[0], id[1]);
    assert_text(stacks_text(&s, id[1], &f.arena), "forward;main");
    assert_text(stacks_text(&s, id[3], &f.arena), "over the end");
    assert_int_equal(stacks_of(&s, 0, 200), 0); /* all frames have ended */
    assert_text(stacks_text(&s, 0, &f.arena), "");
    fake_fini(&f);
}

static void a_stack_the_producer_wrote_is_used(void **state) {
    fake f;
    fake_init(&f);
    f.t.frame.n = 3;
    FAKE_SET(&f, frame, name, 1, fake_str(&f, "train.py(3): main"));
    FAKE_SET(&f, frame, name, 2, fake_str(&f, "net.py(7): forward"));
    FAKE_SET(&f, frame, parent, 2, 1);
    int op = fake_add(&f, fake_thread(&f), KIND_OP, "aten::mm", 0, 10);
    f.slices[op].frame = 2;
    const trace *t = fake_seal(&f);
    stacks s;
    assert_int_equal(stacks_init(&s, t, &f.arena, NULL), OK);
    uint32_t id = stacks_of(&s, 1, 0);
    assert_text(stacks_text(&s, id, &f.arena), "net.py(7): forward;train.py(3): main");
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_paths_get_equal_ids),
        cmocka_unit_test(a_stack_the_producer_wrote_is_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
