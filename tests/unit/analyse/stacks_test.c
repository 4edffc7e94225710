/* stacks_test.c: call stacks as numbers. */
#include "fake_trace.h"

#include "analyse/operators/stacks.h"

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

/* Frames a, a;b and a;b;c as rows 1, 2, 3; a;x as row 4. */
static const trace *frames_of(fake *f) {
    static const char *const names[] = {"a", "b", "c", "x"};
    fake_init(f);
    f->t.frame.n = 5;
    for (uint32_t i = 0; i < 4; i++) FAKE_SET(f, frame, name, i + 1, fake_str(f, names[i]));
    FAKE_SET(f, frame, parent, 2, 1);
    FAKE_SET(f, frame, parent, 3, 2);
    FAKE_SET(f, frame, parent, 4, 1);
    int op = -1;
    int thread = fake_thread(f);
    for (uint32_t i = 0; i < 4; i++) {
        op = fake_add(f, thread, KIND_OP, "op", i * 10, 5);
        f->slices[op].frame = i + 1;
    }
    return fake_seal(f);
}

static void a_path_puts_ops_between_the_frames(void **state) {
    fake f;
    stacks s;
    const trace *t = frames_of(&f);
    uint32_t outer_name = fake_str(&f, "outer"), inner_name = fake_str(&f, "inner");
    assert_int_equal(stacks_init(&s, t, &f.arena, NULL), OK);
    uint32_t a = stacks_of(&s, 1, 0), b = stacks_of(&s, 2, 0), c = stacks_of(&s, 3, 0),
             x = stacks_of(&s, 4, 0);
    stack_place none = {0}, outer = {b, stacks_path(&s, none, b, outer_name)};
    assert_text(stacks_text(&s, outer.path, &f.arena), "outer;b;a");
    /* called from where the outer one was, from deeper, from further out, from elsewhere */
    uint32_t id = stacks_path(&s, outer, b, inner_name);
    assert_text(stacks_text(&s, id, &f.arena), "inner;outer;b;a");
    assert_int_equal(stacks_path(&s, outer, b, inner_name), id);
    id = stacks_path(&s, outer, c, inner_name);
    assert_text(stacks_text(&s, id, &f.arena), "inner;c;outer;b;a");
    id = stacks_path(&s, outer, a, inner_name);
    assert_text(stacks_text(&s, id, &f.arena), "inner;outer;b;a");
    id = stacks_path(&s, outer, 0, inner_name);
    assert_text(stacks_text(&s, id, &f.arena), "inner;outer;b;a");
    id = stacks_path(&s, outer, x, inner_name);
    assert_text(stacks_text(&s, id, &f.arena), "inner;x;a");
    /* around nothing, with frames inside */
    outer = (stack_place){0, stacks_path(&s, none, 0, outer_name)};
    id = stacks_path(&s, outer, b, inner_name);
    assert_text(stacks_text(&s, id, &f.arena), "inner;b;a;outer");
    fake_fini(&f);
}

static void an_op_directly_inside_the_same_op_has_its_path(void **state) {
    fake f;
    stacks s;
    const trace *t = frames_of(&f);
    uint32_t name = fake_str(&f, "op");
    assert_int_equal(stacks_init(&s, t, &f.arena, NULL), OK);
    uint32_t b = stacks_of(&s, 2, 0), c = stacks_of(&s, 3, 0);
    stack_place none = {0}, outer = {b, stacks_path(&s, none, b, name)};
    assert_int_equal(stacks_path(&s, outer, b, name), outer.path);
    uint32_t id = stacks_path(&s, outer, c, name); /* a frame is in between */
    assert_text(stacks_text(&s, id, &f.arena), "op;c;op;b;a");
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_paths_get_equal_ids),
        cmocka_unit_test(a_stack_the_producer_wrote_is_used),
        cmocka_unit_test(a_path_puts_ops_between_the_frames),
        cmocka_unit_test(an_op_directly_inside_the_same_op_has_its_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
