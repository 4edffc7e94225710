import assert from "node:assert/strict";
import { test } from "node:test";
import { groupName } from "./lane-names.ts";

const group = (name: string) => groupName({ id: 1, kind: "device", name, device: 0, closed: false });

test("a device keeps its own name", () => {
  assert.equal(group("GPU0"), "GPU 0");
  assert.equal(group("NPU7"), "NPU 7");
  assert.equal(group("custom_cpu:0"), "custom_cpu:0");
});
