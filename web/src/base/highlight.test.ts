import assert from "node:assert/strict";
import { test } from "node:test";
import { linesOf, type Token, tokensOf } from "./highlight.ts";

const inks = (text: string): string[][] =>
  tokensOf(linesOf(text)).map((line) => line.filter((p) => p.ink !== "plain").map((p) => `${p.ink}:${p.text}`));

const joined = (tokens: Token[][]) => tokens.map((line) => line.map((p) => p.text).join(""));

test("keywords, definitions, strings, comments and numbers are told apart", () => {
  assert.deepEqual(inks('def train(cfg):  # begins\n    return cfg["lr"] * 1e-3'), [
    ["keyword:def", "definition:train", "comment:# begins"],
    ["keyword:return", 'string:"lr"', "number:1e-3"],
  ]);
  assert.deepEqual(inks("class Net(nn.Module): pass"), [["keyword:class", "definition:Net", "keyword:pass"]]);
  assert.deepEqual(inks("@torch.no_grad()\nx = a @ b"), [["decorator:@torch.no_grad"], []]);
  assert.deepEqual(inks("n = 0xff + 1_000 + .5 + 2j"), [["number:0xff", "number:1_000", "number:.5", "number:2j"]]);
});

test("a name that ends like the beginning of a string, or has a keyword inside, is a name", () => {
  assert.deepEqual(inks("bar = information + x1"), [[]]);
  assert.deepEqual(inks("f'{x}' rb\"a\" # '"), [["string:f'{x}'", 'string:rb"a"', "comment:# '"]]);
});

test("a long string goes over lines, and a mark inside a string is no comment", () => {
  assert.deepEqual(inks('"""a # b\nif\n"""; x = 1'), [['string:"""a # b'], ["string:if"], ['string:"""', "number:1"]]);
  assert.deepEqual(inks("'''one'''\nif x: pass"), [["string:'''one'''"], ["keyword:if", "keyword:pass"]]);
  assert.deepEqual(inks('"a\\\nb" if x else y'), [['string:"a\\'], ['string:b"', "keyword:if", "keyword:else"]]);
  assert.deepEqual(inks('"a\\\\"\nif'), [['string:"a\\\\"'], ["keyword:if"]]);
});

test("a string that is not closed ends with its line", () => {
  assert.deepEqual(inks("x = 'abc\nif y"), [["string:'abc"], ["keyword:if"]]);
});

test("the parts of a line are the line, whatever it is", () => {
  const texts = [
    "def f(x):\n\treturn \"é\" + '\\x' # 中文\n\n",
    "\\ $ ? \u{1f600} '''",
    '"""\\"""\n"""',
    "0x 1.e 1__ '\\",
    "变量 = 1",
  ];
  for (const text of texts) assert.deepEqual(joined(tokensOf(linesOf(text))), linesOf(text));
});

test("ends of lines of all systems end a line, and the last one begins none", () => {
  assert.deepEqual(linesOf("a\r\nb\rc\n"), ["a", "b", "c"]);
  assert.deepEqual(linesOf("a\n\n"), ["a", ""]);
  assert.deepEqual(linesOf(""), []);
});
