// What the device and its parts are called by those who make it.
import { sum } from "../base/aggregate.ts";
import { wordOr } from "./language.ts";
import { info, type Row, rowsOf } from "./trace.ts";

interface DeviceWords {
  /** GPU, NPU, XPU, CPU …; empty when nothing was recorded of a device. */
  type: string;
  /** Its compute units: SM, CU, Xe core, AI Core. */
  unit: string;
  /** Its units for matrix products: Tensor Core, Matrix Core, XMX, Cube. */
  matrix: string;
}

type Fact = Row<"info", "trace">;
type Device = Pick<Row<"info", "devices">, "unit" | "matrix_unit">;
type Kernel = Pick<Row<"kernels", "kernels">, "total" | "tensor_core">;

/** Names of a maker stay; those of any device are words of the language. */
const common = (name: string): string => wordOr(`device_${name.replace(" ", "_")}`, name);

export function wordsOf(trace: readonly Fact[], devices: readonly Device[]): DeviceWords {
  const said = trace.find((r) => r.key === "device_type")?.value;
  const first = devices[0];
  return {
    type: said || (first ? "GPU" : ""),
    unit: common(first?.unit || "SM"),
    matrix: common(first?.matrix_unit || "Tensor Core"),
  };
}

export function deviceWords(): DeviceWords {
  const answer = info().value;
  return wordsOf(rowsOf(answer?.tables.trace), rowsOf(answer?.tables.devices));
}

interface MatrixShare {
  used: number;
  unsure: number;
  total: number;
}

/** Time on matrix units, and time of kernels of which that is not known. */
export function matrixShare(kernels: readonly Kernel[]): MatrixShare {
  return {
    used: sum(kernels, (r) => (r.tensor_core === true ? r.total : 0)),
    unsure: sum(kernels, (r) => (r.tensor_core === null ? r.total : 0)),
    total: sum(kernels, (r) => r.total),
  };
}
