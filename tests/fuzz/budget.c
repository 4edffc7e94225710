/* budget.c: the text of limits. Whatever it is, it is refused with a place inside it, or every rule
 * names what the registry has; a rule that is read is read again as the same from its own words. */
#include "analyse/check/budget.h"

#include <math.h>

#include "fuzz/fuzz.h"
#include "text/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static status read_rules(str text, arena *a, budget *out, error *err) {
    *out = (budget){.arena = a};
    budget_text from = {.text = text, .name = STR("budget"), .wrong = ERR_FORMAT};
    return budget_add(out, &from, err);
}

static void check_rule(const budget_rule *r, str text, arena *a) {
    budget again;
    CHECK(r->text.n && r->subject.n && r->line >= 1);
    CHECK(r->text.p >= text.p && r->text.p + r->text.n <= text.p + text.n);
    CHECK(isfinite(r->limit) && (r->relative || r->limit >= 0));
    CHECK(r->measure < N_MEASURES || (r->analysis && r->table));
    CHECK(r->rows != SELECT_EQUAL || r->key.n);
    CHECK(read_rules(r->text, a, &again, NULL) == OK && again.n == 1);
    const budget_rule *same = &again.v[0];
    CHECK(same->measure == r->measure && same->analysis == r->analysis &&
          same->table == r->table && same->field == r->field && same->side == r->side);
    CHECK(str_eq(same->value, r->value) && same->row == r->row && same->limit <= r->limit &&
          same->limit >= r->limit);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    arena a;
    budget rules;
    error err = {0};
    str text = str_n((const char *)bytes, n);
    arena_init(&a, (size_t)64 << 20);
    status st = read_rules(text, &a, &rules, &err);
    for (uint32_t i = 0; st == OK && i < rules.n && i < 100; i++)
        check_rule(&rules.v[i], text, &a);
    if (st != OK && st != ERR_MEMORY) {
        buf said = {0};
        CHECK(st == ERR_FORMAT);
        text_error(&said, LANG_EN, &err);
        CHECK(buf_ok(&said) && said.n);
        buf_fini(&said);
    }
    double share;
    if (budget_share(text, &share)) CHECK(share >= 0 && isfinite(share));
    arena_fini(&a);
    return 0;
}
