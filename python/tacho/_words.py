"""Constants of the recorder's header files (include/tacho): kinds of ranges, results, what to record from
PyTorch, data types, how the work of an operator is given."""

PLAIN, OP, MODULE, DATA, FORWARD, BACKWARD, OPTIMIZER, COMMUNICATION, PYTHON, RUNTIME = range(10)
GARBAGE, COMPILE, IMPORT = 14, 15, 16
OK, BUSY, FAILED, OFF = 0, -1, -2, -3
COST_OP, COST_MODULE, COST_FRAME, COST_START = 1, 2, 3, 5
TORCH_OPS, TORCH_SHAPES, TORCH_MEMORY, TORCH_LINKS, TORCH_STEPS, TORCH_FLOPS = 1, 2, 4, 8, 16, 32
WORK_NONE, WORK_GIVEN = range(2)
TYPES = {"float64": 1, "float32": 2, "float16": 3, "bfloat16": 4, "int64": 5, "int32": 6, "int16": 7,
         "int8": 8, "uint8": 9, "bool": 10}
