import assert from "node:assert/strict";
import { test } from "node:test";
import { versionWord } from "./version.ts";

test("a version in one number is written with dots", () => {
  assert.equal(versionWord("cuda_runtime_version", "13000"), "13.0");
  assert.equal(versionWord("cuda_driver_version", "12040"), "12.4");
  assert.equal(versionWord("cupti_version", "130001"), "13.0.1");
  assert.equal(versionWord("cuda_runtime_version", "60443483"), "6.4.43483");
  assert.equal(versionWord("cupti_version", "24"), "24");
  assert.equal(versionWord("torch_version", "2.11.0"), "2.11.0");
  assert.equal(versionWord("workers", "13000"), "13000");
});
