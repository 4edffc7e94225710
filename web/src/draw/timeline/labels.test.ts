import assert from "node:assert/strict";
import { test } from "node:test";
import { fitText, remembered, shortName } from "./labels.ts";

const ten = (text: string) => text.length * 10;

test("prefixes and namespaces that many names share are dropped", () => {
  assert.equal(shortName("aten::convolution"), "convolution");
  assert.equal(shortName("autograd::engine::evaluate_function: ConvolutionBackward0"), "ConvolutionBackward0");
  assert.equal(
    shortName("void at::native::vectorized_elementwise_kernel<4, at::native::Add>(int)"),
    "vectorized_elementwise_kernel<4, at::native::Add>(int)",
  );
  assert.equal(shortName("(anonymous namespace)::elementwise_kernel<int>(int)"), "elementwise_kernel<int>(int)");
  assert.equal(shortName("void at::native::(anonymous namespace)::fill<4>(int)"), "fill<4>(int)");
  assert.equal(shortName("sm90_xmma_wgrad"), "sm90_xmma_wgrad");
  assert.equal(shortName("torch/nn/modules/module.py(1784): _call_impl"), "torch/nn/modules/module.py(1784): _call_impl");
  assert.equal(shortName("aten::"), "aten::");
});

test("a text that fits stays whole, one that does not is cut with dots", () => {
  assert.equal(fitText("convolution", 200, ten), "convolution");
  assert.equal(fitText("convolution", 70, ten), "convol…");
});

test("a step that does not fit is its number", () => {
  assert.equal(fitText("ProfilerStep#12", 200, ten), "ProfilerStep#12");
  assert.equal(fitText("ProfilerStep#12", 100, ten), "12");
  assert.equal(fitText("Step 12", 20, ten), "12");
  assert.equal(fitText("Step 12", 19, ten), "");
});

test("fewer than three letters are not worth a word", () => {
  assert.equal(fitText("convolution", 39, ten), "");
  assert.equal(fitText("convolution", 40, ten), "con…");
  assert.equal(fitText("cat", 29, ten), "");
});

test("a width is measured once", () => {
  let n = 0;
  const w = remembered((t) => {
    n++;
    return t.length;
  });
  assert.equal(w("abc") + w("abc"), 6);
  assert.equal(n, 1);
});
