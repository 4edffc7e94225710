import assert from "node:assert/strict";
import { test } from "node:test";
import { bottomUp, flameBoxes } from "./flame.ts";
import { type StackFile, stackTree } from "./stack-flame.ts";

const file: StackFile = {
  shared: {
    frames: [
      { name: "train", file: "a.py", line: 3 },
      { name: "aten::linear" },
      { name: "aten::mm" },
      { name: "nn.Module: Net_0" },
    ],
  },
  profiles: [
    { name: "host: thread 1", samples: [[0], [0, 3, 1], [0, 3, 1, 2]], weights: [5, 10, 20] },
    { name: "host: thread 2", samples: [[1, 2]], weights: [7] },
    { name: "device", samples: [[0, 1, 2]], weights: [100] },
  ],
};

test("stacks of all threads become one tree, the device's another", () => {
  const host = stackTree(file, "host", true);
  assert.equal(host.root.total, 42);
  assert.equal(host.root.children.get(0)?.total, 35);
  assert.equal(host.root.children.get(0)?.self, 5);
  assert.equal(host.root.children.get(1)?.total, 7);
  assert.equal(stackTree(file, "device", true).root.total, 100);
});

test("without Python frames threads meet in the same operators", () => {
  const { root, names, kinds } = stackTree(file, "host", false);
  assert.deepEqual([...root.children.keys()], [1]);
  assert.equal(root.children.get(1)?.total, 37);
  assert.equal(root.children.get(1)?.children.get(2)?.total, 27);
  assert.equal(names[0], "train (a.py:3)");
  assert.deepEqual([...kinds], [5, 11, 11, 5]);
});

test("bottom-up sums the own time of a name over all its stacks", () => {
  const up = bottomUp(stackTree(file, "host", false).root);
  assert.equal(up.children.get(2)?.total, 27);
  assert.equal(up.children.get(1)?.total, 10);
  assert.equal(flameBoxes(up).total, 37);
});
