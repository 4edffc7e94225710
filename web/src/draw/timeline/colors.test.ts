import assert from "node:assert/strict";
import { test } from "node:test";
import { darkTextOn, fillOf, hashOf, KINDS, LEVELS, mix, pack, parseColor, readPalette, shadesOf } from "./colors.ts";

const palette = readPalette(
  (name) =>
    (({ surface: "#FFFFFF", kernel: "#2373D2", data_loader: "#CC4A0D", communication: "#9156A3" }) as Record<string, string>)[
      name
    ] ?? "#123456",
);

test("a token becomes the bytes of a pixel", () => {
  assert.deepEqual(parseColor(" #2373D2 "), [0x23, 0x73, 0xd2]);
  assert.deepEqual(parseColor("#fff"), [255, 255, 255]);
  assert.deepEqual([...new Uint8Array(Uint32Array.of(pack([1, 2, 3])).buffer)], [1, 2, 3, 255]);
});

test("the same name has the same tint, the data loader none", () => {
  const kernel = KINDS.indexOf("kernel");
  assert.deepEqual(fillOf(palette, "kind", "wgrad", kernel), fillOf(palette, "kind", "wgrad", kernel));
  const tints = new Set(["a", "b", "c", "d", "e", "f", "g", "h", "i"].map((n) => String(fillOf(palette, "kind", n, kernel))));
  assert.ok(tints.size > 1 && tints.size <= 4);
  for (const n of ["x", "y", "z"])
    assert.deepEqual(fillOf(palette, "kind", n, KINDS.indexOf("data_loading")), [0xcc, 0x4a, 0x0d]);
});

test("kernels of collectives have the color of communication", () => {
  for (const name of ["void vllm::cross_device_reduce_1stage<float, 8>", "multimem_all_reduce_kernel<float>", "hcom_allReduce_1"])
    assert.deepEqual(
      fillOf(palette, "kind", name, KINDS.indexOf("kernel")),
      fillOf(palette, "kind", name, KINDS.indexOf("collective")),
    );
  const fused = "triton_poi_fused_all_reduce_0";
  assert.notDeepEqual(
    fillOf(palette, "kind", fused, KINDS.indexOf("kernel")),
    fillOf(palette, "kind", fused, KINDS.indexOf("collective")),
  );
  const fill = fillOf(palette, "kind", "ncclDevKernel_AllReduce", KINDS.indexOf("kernel"));
  const base = parseColor("#9156A3");
  assert.ok([0, 0.14, 0.28, 0.4].some((share) => String(mix(base, [255, 255, 255], share)) === String(fill)));
});

test("shades go from 35 % to solid", () => {
  const table = shadesOf([[0, 0, 0]], [255, 255, 255]);
  assert.equal(table[0], pack(mix([255, 255, 255], [0, 0, 0], 0.35)));
  assert.equal(table[LEVELS - 1], pack([0, 0, 0]));
});

test("words on a fill are the darker or lighter, whichever reads better", () => {
  assert.ok(darkTextOn([0x48, 0x8e, 0x67]));
  assert.ok(!darkTextOn([0x17, 0x6c, 0x74]));
});

test("the hash is the same everywhere", () => {
  assert.equal(hashOf("aten::mm"), hashOf("aten::mm"));
  assert.notEqual(hashOf("aten::mm"), hashOf("aten::mv"));
});
