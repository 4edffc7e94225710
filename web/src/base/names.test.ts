import assert from "node:assert/strict";
import { test } from "node:test";
import { cutMiddle, foldKernel, shapesLabel, unmangled } from "./names.ts";

test("a wrapper gives way to what it wraps", () => {
  assert.equal(foldKernel("void cutlass::Kernel2<cutlass_75_align1>(cutlass_75_align1::Params)"), "cutlass_75_align1");
});

test("scopes go, two arguments stay, the rest is an ellipsis", () => {
  const name =
    "void at::native::unrolled_elementwise_kernel<at::native::copy_cuda(at::T&)::{lambda()#3}, std::array<char*, 2ul>, 4>(int)";
  assert.equal(foldKernel(name), "unrolled_elementwise_kernel<copy_cuda, array, …>");
  assert.equal(foldKernel("(anonymous namespace)::f<4, float, int>(int)"), "f<4, float, …>");
  assert.equal(foldKernel("nvjet_sm90_tst"), "nvjet_sm90_tst");
});

test("a cut name keeps both ends", () => {
  assert.equal(cutMiddle("abcdefghij", 5), "ab…ij");
  assert.equal(cutMiddle("abc", 5), "abc");
});

test("shapes read as a product", () => {
  assert.equal(shapesLabel("[[4096, 768], [768, 50257], []]"), "[4096, 768] × [768, 50257]");
  assert.equal(shapesLabel("odd"), "odd");
});

test("a mangled name is folded to what it says", () => {
  assert.equal(foldKernel("_ZN7cutlass13device_kernelIN5flash20FlashAttnFwdSm90BodyILi3EEEEEvT_"), "FlashAttnFwdSm90Body");
  assert.equal(foldKernel("_ZN2at6native13reduce_kernelILi512EEEvT_"), "reduce_kernel<…>");
  const shared = "_ZN17cutlass__5x_cudnn6KernelINS_4conv6kernel23ImplicitGemmConvolutionINS1_11threadblock";
  assert.equal(foldKernel(shared), "ImplicitGemmConvolution");
  assert.equal(foldKernel("_ZN7cutlass6KernelILi4EEEvT_"), "Kernel<…>");
  assert.equal(foldKernel("_Z9my_kernelPfS_i"), "my_kernel");
  assert.equal(foldKernel("_ZN12_GLOBAL__N_13addEv"), "add");
  assert.equal(foldKernel("_Zoom"), "_Zoom");
});

test("a sentence has mangled names as people write them, also where it shortens them", () => {
  const kernel = "_ZN2at6native29vectorized_elementwise_kernelILi4EfEEvi";
  const said = unmangled("_ZN2at6native29vectorized…EfEEvi takes 50.0 % of the kernel time", { kernel, share: 0.5 });
  assert.ok(/^vectorized_elementwise_kernel\S* takes 50.0 %/.test(said), said);
  assert.equal(unmangled("gemm takes 50.0 %", { kernel: "gemm" }), "gemm takes 50.0 %");
});
