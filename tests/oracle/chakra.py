"""Chakra graphs (.et) decoded without our code: length, message, length, message, … of et_def.proto 0.0.4."""

# Field numbers and their contents: (name, kind); kind: a number, text, or the fields of a message.
ATTRIBUTE = {1: ('name', 'text'), 3: ('double', 'fixed'), 7: ('int32', 'int'), 9: ('int64', 'int'),
             13: ('uint64', 'uint'), 27: ('bool', 'uint'), 29: ('string', 'text')}
HEAD = {1: ('version', 'text'), 2: ('attr', ATTRIBUTE)}
NODE = {1: ('id', 'uint'), 2: ('name', 'text'), 3: ('type', 'uint'), 4: ('ctrl_deps', 'uint'),
        5: ('data_deps', 'uint'), 6: ('start_time_micros', 'uint'), 7: ('duration_micros', 'uint'),
        8: ('inputs', {1: ('values', 'text'), 2: ('shapes', 'text'), 3: ('types', 'text')}), 10: ('attr', ATTRIBUTE)}
LOAD, STORE, COMP, SEND, RECEIVE, COLLECTIVE = 2, 3, 4, 5, 6, 7


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & (1 << 64) - 1, at
        shift += 7


def message(data, fields):
    """Each field as a list of its values, by name."""
    out, at = {name: [] for name, _ in fields.values()}, 0
    while at < len(data):
        tag, at = varint(data, at)
        name, kind = fields[tag >> 3]
        if tag & 7 == 0:
            value, at = varint(data, at)
            out[name].append(value - (1 << 64) if kind == 'int' and value >> 63 else value)
        else:
            assert tag & 7 == 2, tag
            size, at = varint(data, at)
            part, at = data[at:at + size], at + size
            assert len(part) == size
            out[name].append(part.decode() if kind == 'text' else message(part, kind))
    return out


def attributes(parts):
    out = {}
    for part in parts:
        (name,) = part.pop('name')
        ((kind, values),) = [(k, v) for k, v in part.items() if v]
        out[name] = (kind, values[0])
    return out


def read(path):
    """The head and the nodes in their order; a node as a dictionary, attributes as (type, value) by name."""
    data, at, parts = open(path, 'rb').read(), 0, []
    while at < len(data):
        size, at = varint(data, at)
        assert at + size <= len(data), 'cut'
        parts.append(data[at:at + size])
        at += size
    head = message(parts[0], HEAD)
    head['attr'] = attributes(head['attr'])
    nodes = []
    for part in parts[1:]:
        node = message(part, NODE)
        node['attr'] = attributes(node['attr'])
        for one in ('id', 'name', 'type', 'start_time_micros', 'duration_micros'):
            (node[one],) = node[one]
        nodes.append(node)
    return head, nodes
