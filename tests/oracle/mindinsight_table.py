"""The conditions every table of MindInsight understands: filter, then sort, then page (spec 0.4)."""


def holds(value, tests):
    for name, wanted in tests.items():
        if name == 'in':
            ok = value in wanted
        elif name == 'not_in':
            ok = value not in wanted
        elif name == 'partial_match_str_in':
            ok = any(str(w).lower() in str(value).lower() for w in wanted)
        else:
            ok = False
        if not ok:
            return False
    return True


def keep(rows, condition):
    """Rows that pass all tests; an unknown column and a condition that is not an object are ignored."""
    tests = {k: v for k, v in (condition or {}).items() if isinstance(v, dict)}
    return [r for r in rows if all(holds(r[c], t) for c, t in tests.items() if c in r)]


def order(rows, condition):
    """Stable in both directions, null below everything."""
    name = (condition or {}).get('name')
    if not name:
        return rows
    down = condition.get('type', 'descending') == 'descending'
    out = list(enumerate(rows))
    out.sort(key=lambda p: (p[1][name] is not None, p[1][name] if p[1][name] is not None else 0), reverse=down)
    if down:  # equal keys keep the order of the file
        out.sort(key=lambda p: p[0])
        out.sort(key=lambda p: (p[1][name] is not None, p[1][name] if p[1][name] is not None else 0), reverse=True)
    return [row for _, row in out]


def page(rows, condition):
    if not condition:
        return rows
    limit, offset = condition.get('limit', 10), condition.get('offset', 0)
    return rows[limit * offset:limit * (offset + 1)]
