import assert from "node:assert/strict";
import { test } from "node:test";
import { type Block, dense } from "./address-map.tsx";

const block = (address: number, bytes: number): Block => ({ from: 0, to: 1, address, bytes, color: 0 });

test("gaps between regions are left out, and a place leads back to its address", () => {
  const map = dense([block(1000, 100), block(1050, 100), block(9000, 50)]);
  assert.equal(map.size, 200);
  assert.equal(map.at(1000), 0);
  assert.equal(map.at(1100), 100);
  assert.equal(map.at(9000), 150);
  for (const address of [1000, 1149, 9000, 9049]) assert.equal(map.back(map.at(address)), address);
});
