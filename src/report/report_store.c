/* report_store.c: bytes to parts of an HTML file. */
#include "report/report_store_int.h"

#include <stdio.h>

#include "base/intern.h"
#include "io/gzip.h"

void report_store_fini(report_store *s) {
    buf *all[] = {&s->parts, &s->index, &s->tiles, &s->slices, &s->scratch};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) buf_fini(all[i]);
    map_fini(&s->stored);
}

void report_put_base64(buf *out, str bytes) {
    static const char signs[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint8_t *p = (const uint8_t *)bytes.p;
    if (!buf_reserve(out, (bytes.n + 2) / 3 * 4)) return;
    char *to = out->p + out->n;
    for (size_t i = 0; i < bytes.n; i += 3) {
        size_t left = bytes.n - i;
        uint32_t v = (uint32_t)p[i] << 16;
        if (left > 1) v |= (uint32_t)p[i + 1] << 8;
        if (left > 2) v |= p[i + 2];
        *to++ = signs[v >> 18];
        *to++ = signs[v >> 12 & 63];
        *to++ = left > 1 ? signs[v >> 6 & 63] : '=';
        *to++ = left > 2 ? signs[v & 63] : '=';
    }
    out->n = (size_t)(to - out->p);
}

void report_put_html(buf *out, str text) {
    for (size_t i = 0; i < text.n; i++) {
        switch (text.p[i]) {
        case '&': buf_add_cstr(out, "&amp;"); break;
        case '<': buf_add_cstr(out, "&lt;"); break;
        case '>': buf_add_cstr(out, "&gt;"); break;
        case '"': buf_add_cstr(out, "&quot;"); break;
        default: buf_add_byte(out, text.p[i]);
        }
    }
}

void report_put_part(buf *out, const char *id, str packed) {
    buf_printf(out, "<script type=\"text/plain\" id=\"tacho-%s\">", id);
    report_put_base64(out, packed);
    buf_add_cstr(out, "</script>\n");
}

status report_store_add(report_store *s, str bytes, uint32_t *number, error *err) {
    char id[16];
    buf_clear(&s->scratch);
    TRY(gzip_pack(bytes, &s->scratch, err));
    *number = s->n_parts++;
    snprintf(id, sizeof id, "%u", *number);
    report_put_part(&s->parts, id, buf_str(&s->scratch));
    if (!buf_ok(&s->parts)) FAIL_MEMORY(err);
    return OK;
}

static status add_once(report_store *s, str bytes, uint32_t *number, error *err) {
    uint32_t *at = map_at(&s->stored, hash_pair(intern_hash(bytes), bytes.n));
    if (!at) FAIL_MEMORY(err);
    if (*at == MAP_NONE) TRY(report_store_add(s, bytes, at, err));
    *number = *at;
    return OK;
}

status report_store_answer(report_store *s, str key, str bytes, error *err) {
    uint32_t number = 0;
    TRY(add_once(s, bytes, &number, err));
    if (s->index.n) buf_add_byte(&s->index, ',');
    buf_add_json(&s->index, key);
    buf_printf(&s->index, ":%u", number);
    s->n_answers++;
    if (!buf_ok(&s->index)) FAIL_MEMORY(err);
    return OK;
}
