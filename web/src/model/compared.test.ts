import assert from "node:assert/strict";
import { test } from "node:test";
import { mostChanged, tellingSide } from "./compared.ts";

const part = (category: string, time: number) => ({ category, time });

test("the category that changed most, also one that only one run has", () => {
  assert.equal(mostChanged([part("kernel", 5), part("memcpy", 9)], [part("kernel", 7), part("memcpy", 8)])?.category, "kernel");
  assert.equal(mostChanged([part("kernel", 5), part("memcpy", 9)], [part("kernel", 5)])?.change, -9);
  assert.equal(mostChanged([], [part("runtime", 1)])?.at[0], undefined);
  assert.equal(mostChanged([part("kernel", 5)], [part("kernel", 5)]), undefined);
});

test("B shows a quantity, A where B has nothing, nobody where it has no event", () => {
  const both = [{ id: "A" }, { id: "B" }] as unknown as Parameters<typeof tellingSide>[1];
  assert.equal(tellingSide({ metric: "device", b: 3 }, both)?.id, "B");
  assert.equal(tellingSide({ metric: "memory_peak", b: null }, both)?.id, "A");
  assert.equal(tellingSide({ metric: "something_new", b: 3 }, both), undefined);
});
