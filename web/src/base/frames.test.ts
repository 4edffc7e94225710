import assert from "node:assert/strict";
import { test } from "node:test";
import { inRoot, isBuiltIn, lineIn, parseFrame } from "./frames.ts";

test("a frame is read with its line", () => {
  assert.deepEqual(parseFrame("train.py(33): forward"), { file: "train.py", line: 33, name: "forward" });
  assert.equal(parseFrame("nn.Module: Linear_3"), undefined);
});

test("relative paths belong to the source root", () => {
  assert.equal(inRoot("model/net.py", "/home/me/project/"), "/home/me/project/model/net.py");
  assert.equal(inRoot("./net.py", "/p"), "/p/net.py");
  assert.equal(inRoot("/usr/lib/x.py", "/p"), "/usr/lib/x.py");
  assert.equal(inRoot("C:\\x.py", "/p"), "C:\\x.py");
  assert.equal(inRoot("net.py", ""), "net.py");
});

test("built-ins have no line", () => {
  assert.equal(isBuiltIn("<built-in method conv2d of type object at 0x7f>"), true);
  assert.equal(isBuiltIn("<string>(1): <module>"), false);
});

test("the line that a sentence names is found, and a time or a host is none", () => {
  assert.deepEqual(lineIn("train.py:88 save takes 78 % of the step"), { file: "train.py", line: 88 });
  assert.deepEqual(lineIn("慢在 /a/b-c/my_model.py:7：等待"), { file: "/a/b-c/my_model.py", line: 7 });
  assert.equal(lineIn("at 12:30 on host.example:8080"), undefined);
  assert.equal(lineIn("use torch.save(x) of torch.py"), undefined);
});
