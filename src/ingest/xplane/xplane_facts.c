/* xplane_facts.c: what a profile says of the program, the machine and its devices. */
#include "base/num.h"
#include "ingest/xplane/xplane_int.h"

/* A fact by its name, as JSON text. */
static status put_fact(reader *r, uint32_t key, const stat_value *v, error *err) {
    buf text = {0};
    if (v->type == STAT_TEXT) buf_add_json(&text, v->s);
    if (v->type == STAT_INT) buf_add_i64(&text, v->i);
    if (v->type == STAT_REAL) buf_add_f64(&text, v->f);
    r->failed |= !buf_ok(&text);
    uint32_t id = text.n && !r->failed ? xplane_string(r, buf_str(&text)) : 0;
    buf_fini(&text);
    if (r->failed) FAIL_MEMORY(err);
    return id && key ? builder_add_meta(r->b, key, id, err) : OK;
}

static status put_text(reader *r, const char *key, str value, error *err) {
    stat_value v = {.type = STAT_TEXT, .s = value};
    return put_fact(r, xplane_string(r, str_of(key)), &v, err);
}

/* The stats of a plane, one by one as facts. */
static status put_plane(reader *r, error *err) {
    const stat_set *s = &r->set;
    for (size_t i = 0; i < s->n_args; i++) {
        stat_value v = {.type = STAT_INT, .i = s->args[i].v};
        if (s->args[i].tag == VALUE_STRING)
            v = (stat_value){.type = STAT_TEXT,
                             .s = intern_get(r->strings, (uint32_t)s->args[i].v)};
        if (s->args[i].tag != VALUE_RAW) TRY(put_fact(r, s->keys[i], &v, err));
    }
    return OK;
}

/* "jit_train_step(17)" → 17 */
static bool program_of(str name, uint64_t *out) {
    uint64_t v = 0;
    size_t open = str_rfind_byte(name, '(');
    if (open == SIZE_MAX || name.n < open + 3 || name.p[name.n - 1] != ')') return false;
    for (size_t i = open + 1; i + 1 < name.n; i++) {
        if (name.p[i] < '0' || name.p[i] > '9') return false;
        v = v * 10 + (uint64_t)(name.p[i] - '0');
    }
    *out = v;
    return true;
}

status facts_programs(reader *r, plane *p, error *err) {
    for (size_t i = 0; i < p->events.n; i++) {
        const event_meta *m = &VEC(&p->events, event_meta)[i];
        str name = intern_get(r->strings, m->name);
        uint64_t program;
        if (message_stats(r, p, m->message, 5) != OK) FAIL_MEMORY(err);
        stat_id which = stat_has(&r->set, STAT_HLO_PROTO) ? STAT_HLO_PROTO : STAT_HLO_PROTO_OLD;
        bool numbered = program_of(name, &program);
        if (!numbered && stat_has(&r->set, STAT_PROGRAM)) {
            program = (uint64_t)stat_int(&r->set, STAT_PROGRAM, 0);
            numbered = true;
        }
        if (!numbered || !stat_has(&r->set, which) || r->set.v[which].type != STAT_BYTES)
            continue;
        if (hlo_add_program(r, program, r->set.v[which].s) != OK) FAIL_MEMORY(err);
    }
    if (plane_stats(r, p) != OK) FAIL_MEMORY(err);
    str version = stat_text(&r->set, STAT_JAX_VERSION);
    r->is_jax |= version.n > 0;
    if (r->in) return OK; /* the recording has its own */
    if (version.n) TRY(put_text(r, "version", version, err));
    return put_plane(r, err);
}

status facts_task(reader *r, plane *p, error *err) {
    if (plane_stats(r, p) != OK) FAIL_MEMORY(err);
    int64_t start = stat_int(&r->set, STAT_PROFILE_START, ABSENT_I64);
    if (start > 0) {
        r->zero_ns = start;
        if (!r->in) builder_set_base_unix_ns(r->b, start);
    }
    return OK;
}

/* All stats of a device as one object. */
static uint32_t properties_of(reader *r) {
    const stat_set *s = &r->set;
    buf text = {0};
    buf_add_byte(&text, '{');
    for (size_t i = 0; i < s->n_args; i++) {
        if (i) buf_add_cstr(&text, ", ");
        buf_add_json(&text, intern_get(r->strings, s->keys[i]));
        buf_add_cstr(&text, ": ");
        str value = intern_get(r->strings, (uint32_t)s->args[i].v);
        if (s->args[i].tag == VALUE_STRING) buf_add_json(&text, value);
        if (s->args[i].tag == VALUE_RAW) buf_add_str(&text, value);
        if (s->args[i].tag == VALUE_INT) buf_add_i64(&text, s->args[i].v);
    }
    buf_add_byte(&text, '}');
    r->failed |= !buf_ok(&text);
    uint32_t id = r->failed ? 0 : xplane_string(r, buf_str(&text));
    buf_fini(&text);
    return id;
}

static int32_t small(const stat_set *s, stat_id id) {
    int64_t v = stat_int(s, id, ABSENT_I64);
    return v == ABSENT_I64 ? ABSENT_I32 : sat_i32(v);
}

status facts_device(reader *r, plane *p, error *err) {
    const stat_set *s = &r->set;
    raw_device d = RAW_DEVICE_NONE;
    if (plane_stats(r, p) != OK) FAIL_MEMORY(err);
    str vendor = stat_text(s, STAT_DEVICE_VENDOR);
    r->is_amd |= str_eq(vendor, STR("AMD"));
    r->has_tpu |= p->role == PLANE_TPU;
    d.id = p->device;
    d.type = p->role == PLANE_TPU         ? (uint8_t)DEVICE_NAMED
             : str_eq(vendor, STR("AMD")) ? DEVICE_HIP
                                          : DEVICE_CUDA;
    d.name = stat_string(r, p->role == PLANE_TPU ? STAT_DEVICE_TYPE : STAT_DEVICE_NAME);
    d.memory = stat_int(s, STAT_MEMORY_SIZE, ABSENT_I64);
    d.sm_count = small(s, STAT_CORE_COUNT);
    d.compute_major = small(s, STAT_COMPUTE_MAJOR);
    d.compute_minor = small(s, STAT_COMPUTE_MINOR);
    d.properties = properties_of(r);
    if (r->failed) FAIL_MEMORY(err);
    /* GPUs that the program can see and does not use say nothing of themselves. */
    bool known = d.name || d.memory != ABSENT_I64 || d.sm_count != ABSENT_I32;
    bool is_described = r->in && d.id >= 0 && d.id < 64 && r->in->described >> d.id & 1;
    return known && !is_described ? builder_add_device(r->b, &d, err) : OK;
}

status facts_finish(reader *r, error *err) {
    walker w = walk_open(buf_str(&r->file));
    pb_field f;
    bool host = false;
    while (walk_next(&w, &f)) {
        if (f.tag == PB_BYTES(4) && !host && !w.cut && !r->in) {
            TRY(put_text(r, "host_name", pb_bytes(&f), err));
            host = true;
        }
        if (f.tag == PB_BYTES(2)) TRY(put_text(r, "error", pb_bytes(&f), err));
        if (f.tag == PB_BYTES(3)) TRY(put_text(r, "warning", pb_bytes(&f), err));
    }
    if (r->has_tpu || r->is_cpu) {
        str name = r->has_tpu ? STR("TPU") : STR("CPU");
        row_device_word word = {.type = DEVICE_NAMED, .name = xplane_string(r, name)};
        TRY(builder_put_device_word(r->b, &word, err));
    }
    if (r->in) return OK;
    if (r->is_jax) TRY(put_text(r, "framework", STR("JAX"), err));
    if (!r->is_jax && r->is_tensorflow) TRY(put_text(r, "framework", STR("TensorFlow"), err));
    builder_set_format(r->b, r->is_jax          ? "xplane_jax"
                             : r->is_tensorflow ? "xplane_tensorflow"
                                                : "xplane");
    return OK;
}
