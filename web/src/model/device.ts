// What the device and its parts are called by those who make it.
import { info, num, type Row, rowsOf } from "./trace.ts";

export interface DeviceWords {
  /** GPU, NPU, XPU, CPU …; empty when nothing was recorded of a device. */
  type: string;
  /** Its compute units: SM, CU, Xe core, AI Core. */
  unit: string;
  /** Its units for matrix products: Tensor Core, Matrix Core, XMX, Cube. */
  matrix: string;
}

export function wordsOf(trace: readonly Row[], devices: readonly Row[]): DeviceWords {
  const said = trace.find((r) => r.key === "device_type")?.value;
  const first = devices[0];
  return {
    type: said ? String(said) : first ? "GPU" : "",
    unit: first?.unit ? String(first.unit) : "SM",
    matrix: first?.matrix_unit ? String(first.matrix_unit) : "Tensor Core",
  };
}

export function deviceWords(): DeviceWords {
  const answer = info().value;
  return wordsOf(rowsOf(answer?.tables.trace), rowsOf(answer?.tables.devices));
}

export interface MatrixShare {
  used: number;
  unsure: number;
  total: number;
}

/** Time on matrix units, and time of kernels of which that is not known. */
export function matrixShare(kernels: readonly Row[]): MatrixShare {
  const sums = { used: 0, unsure: 0, total: 0 };
  for (const r of kernels) {
    sums.total += num(r.total);
    if (r.tensor_core === true) sums.used += num(r.total);
    if (typeof r.tensor_core !== "boolean") sums.unsure += num(r.total);
  }
  return sums;
}
