import assert from "node:assert/strict";
import { test } from "node:test";
import { matrixShare, wordsOf } from "./device.ts";

test("parts are called what the makers call them", () => {
  const amd = wordsOf([{ key: "device_type", value: "GPU" }], [{ unit: "CU", matrix_unit: "Matrix Core" }]);
  assert.deepEqual(amd, { type: "GPU", unit: "CU", matrix: "Matrix Core" });
});

test("a device that is not described still has its type, and none is none", () => {
  assert.equal(wordsOf([{ key: "device_type", value: "MTIA" }], []).type, "MTIA");
  assert.equal(wordsOf([], []).type, "");
});

test("what is not known of a kernel is neither used nor unused", () => {
  const share = matrixShare([
    { total: 60, tensor_core: true },
    { total: 30, tensor_core: false },
    { total: 10, tensor_core: null },
  ]);
  assert.deepEqual(share, { used: 60, unsure: 10, total: 100 });
});
