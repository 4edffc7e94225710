"""Under `tacho prove`: one change of a PyTorch program, made from outside, and how long its steps take with it.

    TACHO_PROVE          the socket of `tacho prove`, which says when steps run
    TACHO_PROVE_CHANGES  the changes, separated by commas; empty: the program as it is

A step ends with the first optimizer's step, in a program without one with a call of its model. The first steps warm
up; then steps run in blocks, whenever `tacho prove` says "go N": one that is not counted, and N that are. Between
blocks the process is stopped, so that another one can run. Each block is answered by one line:

    UNIT NS APPLIED LOSS,LOSS,…

NS is the time of N steps, APPLIED how often the changes had an effect so far, LOSS what backward() was called on, once
in each step since the last line. Nothing here needs the recorder.
"""
import functools
import gc
import os
import random
import socket
import sys
import time

WARM_UP, CALLS = 3, 8
MOST_LOSSES = 64

_changes = [c for c in os.environ.get("TACHO_PROVE_CHANGES", "").split(",") if c]
_applied = 0
_torch = None
_backward_seen = False
_in_call = False
_around = []   # functions of (module, args) that give a context manager, or None
_before = []   # functions of (module, args, words), called before the outermost module
_after = []    # functions of the result of the outermost module
_settings = []  # called when torch is there, and again after the first step: programs set the same


def _took_effect():
    global _applied
    _applied += 1


# ---- steps --------------------------------------------------------------------------------------

class _Gate:
    def __init__(self, path):
        self.path, self.socket, self.file = path, None, None
        self.unit, self.n, self.calls, self.first = None, 0, 0, None
        self.count = self.left = 0
        self.since = 0
        self.losses, self.open_loss = [], True

    def synchronize(self):
        if _torch.cuda.is_available() and _torch.cuda.is_initialized():
            _torch.cuda.synchronize()

    def talk(self, line):
        if self.socket is None:
            self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self.socket.connect(self.path)
            self.file = self.socket.makefile("r")
        self.socket.sendall((line + "\n").encode())
        words = self.file.readline().split()
        if not words or words[0] != "go":
            os._exit(0)
        self.count = int(words[1])
        self.left = self.count + 1

    def optimizer_stepped(self, optimizer):
        if self.first is None:
            self.first = id(optimizer)
        if self.first != id(optimizer):
            return
        if self.unit != "step":
            self.unit, self.n = "step", 0
        self.end_of_unit()

    def model_called(self):
        if self.unit == "step" or _backward_seen:
            return
        self.calls += 1
        if self.calls == CALLS:
            self.unit, self.n = "call", WARM_UP - 1
        if self.unit == "call":
            self.end_of_unit()

    def end_of_unit(self):
        self.open_loss = True
        self.n += 1
        if self.n == 1:
            for setting in _settings:
                setting()
        if self.n < WARM_UP:
            return
        if self.n == WARM_UP:
            self.synchronize()
            self.talk(f"{self.unit} 0 {_applied} {self.take_losses()}")
            return
        self.left -= 1
        if self.left == self.count:
            self.synchronize()
            self.since = time.perf_counter_ns()
        elif self.left <= 0:
            self.synchronize()
            took = time.perf_counter_ns() - self.since
            self.talk(f"{self.unit} {took} {_applied} {self.take_losses()}")

    def lost(self, tensor):
        if self.open_loss and tensor.numel() == 1 and len(self.losses) < MOST_LOSSES:
            self.open_loss = False
            self.losses.append(tensor.detach().clone())

    def take_losses(self):
        taken, self.losses = self.losses, []
        return ",".join(repr(float(v)) for v in taken) or "-"


_gate = None


def _hook(torch):
    from torch.optim import optimizer as optimizers
    optimizers.register_optimizer_step_post_hook(lambda o, _args, _words: _gate.optimizer_stepped(o))
    backward = torch.Tensor.backward

    @functools.wraps(backward)
    def watched(self, *args, **words):
        global _backward_seen
        _backward_seen = True
        _gate.lost(self)
        return backward(self, *args, **words)
    torch.Tensor.backward = watched
    _hook_modules(torch)


def _hook_modules(torch):
    call = torch.nn.Module.__call__
    is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", lambda: False)
    in_backward = getattr(torch._C, "_current_graph_task_id", lambda: -1)

    def wrapped(self, *args, **words):
        global _in_call
        if is_compiling() or _in_call or in_backward() != -1:
            return call(self, *args, **words)
        _in_call = True
        contexts = []
        try:
            for change in _before:
                args, words = change(self, args, words)
            for make in _around:
                context = make(self, args)
                if context is not None:
                    context.__enter__()
                    contexts.append(context)
            result = call(self, *args, **words)
        finally:
            while contexts:
                contexts.pop().__exit__(None, None, None)
            _in_call = False
        for change in _after:
            result = change(result)
        _gate.model_called()
        return result
    torch.nn.Module.__call__ = wrapped


# ---- changes ------------------------------------------------------------------------------------

def _map_tensors(torch, value, change):
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(_map_tensors(torch, v, change) for v in value)
    if isinstance(value, list):
        return [_map_tensors(torch, v, change) for v in value]
    if isinstance(value, dict):  # also what transformers return
        for key in list(value):
            value[key] = _map_tensors(torch, value[key], change)
    return value


def _processors():
    return len(os.sched_getaffinity(0))


def _change_loader(torch, change):
    from torch.utils.data import DataLoader, IterableDataset
    make = DataLoader.__init__

    @functools.wraps(make)
    def wrapped(self, dataset, *args, **words):
        if not isinstance(dataset, IterableDataset):  # its samples would come once from each worker
            args, words = change(args, words)
        make(self, dataset, *args, **words)
    DataLoader.__init__ = wrapped


def _loader_workers(torch):
    def change(args, words):
        if len(args) > 4:
            return args, words
        if words.get("num_workers", 0) == 0:
            words.update(num_workers=max(2, min(8, _processors())), persistent_workers=True, prefetch_factor=4)
            words.pop("timeout", None)
            _took_effect()
        return args, words
    _change_loader(torch, change)


def _pin_memory(torch):
    def change(args, words):
        if len(args) <= 5 and not words.get("pin_memory") and torch.cuda.is_available():
            words["pin_memory"] = True
            _took_effect()
        return args, words
    _change_loader(torch, change)
    for name in ("to", "cuda"):
        _copy_early(torch, name)


def _copy_early(torch, name):
    original = getattr(torch.Tensor, name)

    @functools.wraps(original)
    def wrapped(self, *args, **words):
        if self.device.type == "cpu" and "non_blocking" not in words and self.is_pinned():
            _took_effect()
            words["non_blocking"] = True
        return original(self, *args, **words)
    setattr(torch.Tensor, name, wrapped)


def _fused_optimizer(torch):
    for kind in ("Adam", "AdamW", "SGD", "Adagrad"):
        _fuse(getattr(torch.optim, kind))


def _fuse(kind):
    make = kind.__init__

    @functools.wraps(make)
    def wrapped(self, params, *args, **words):
        params = list(params)
        if type(self) is kind and words.get("fused") is not True and not words.get("capturable"):
            try:
                make(self, [dict(p) if isinstance(p, dict) else p for p in params], *args,
                     **{**words, "foreach": None, "fused": True})
                _took_effect()
                return
            except (RuntimeError, TypeError):
                pass  # parameters that no fused optimizer takes
        make(self, params, *args, **words)
    kind.__init__ = wrapped


def _tf32(torch):
    def allow():
        if torch.cuda.is_available():
            if not torch.backends.cudnn.allow_tf32 or not torch.backends.cuda.matmul.allow_tf32:
                _took_effect()
            torch.backends.cudnn.allow_tf32 = True
            torch.backends.cuda.matmul.allow_tf32 = True
    _settings.append(allow)


def _bf16(torch):
    def make(_module, args):
        devices = [a.device.type for a in args if isinstance(a, torch.Tensor)]
        device = devices[0] if devices else "cuda" if torch.cuda.is_available() else "cpu"
        if torch.is_autocast_enabled() or torch.is_autocast_cpu_enabled():
            return None
        _took_effect()
        return torch.autocast(device, torch.bfloat16)

    def widen(result):
        return _map_tensors(torch, result, lambda t: t.float() if t.dtype == torch.bfloat16 else t)
    _around.append(make)
    _after.append(widen)


def _float32(torch):
    """All of float64 becomes float32: parameters when the model is called first, inputs each time."""
    def change(module, args, words):
        for tensor in [*module.parameters(), *module.buffers()]:
            if tensor.dtype == torch.float64:
                _took_effect()
                tensor.data = tensor.data.float()

        def narrow(t):
            return t.float() if t.dtype == torch.float64 else t
        return _map_tensors(torch, args, narrow), _map_tensors(torch, words, narrow)
    _before.append(change)


def _sdpa(torch):
    def change(module, args, words):
        for part in module.modules():
            config = getattr(part, "config", None)
            if getattr(config, "_attn_implementation", None) == "eager":
                config._attn_implementation = "sdpa"
                _took_effect()
        return args, words
    _before.append(change)


def _channels_last(torch):
    seen = set()

    def turn(t):
        return t.contiguous(memory_format=torch.channels_last) if t.dim() == 4 else t

    def change(module, args, words):
        if id(module) not in seen:
            seen.add(id(module))
            if any(isinstance(m, torch.nn.Conv2d) for m in module.modules()):
                module.to(memory_format=torch.channels_last)
                _took_effect()
        return _map_tensors(torch, args, turn), words
    _before.append(change)


def _cudnn_benchmark(torch):
    def allow():
        if torch.cuda.is_available() and not torch.backends.cudnn.benchmark:
            torch.backends.cudnn.benchmark = True
            _took_effect()
    _settings.append(allow)


def _compile_with(torch, **how):
    seen = set()

    def change(module, args, words):
        if id(module) not in seen and getattr(module, "_compiled_call_impl", None) is None:
            seen.add(id(module))
            if next(module.parameters(), None) is not None:
                module.compile(**how)
                _took_effect()
        return args, words
    _before.append(change)


def _compile(torch):
    _compile_with(torch)


def _cuda_graphs(torch):
    if torch.cuda.is_available():
        _compile_with(torch, mode="reduce-overhead")


def _gc_freeze(_torch_module):
    def freeze():
        if _gate.n:
            gc.collect()
            gc.freeze()
            _took_effect()
    _settings.append(freeze)


def _no_collect(_torch_module):
    def collect(*_args, **_words):
        if sys._getframe(1).f_globals.get("__name__", "").split(".")[0] not in ("torch", "gc"):
            _took_effect()
        return 0
    gc.collect = collect


def _no_empty_cache(torch):
    torch.cuda.empty_cache = torch.cuda.memory.empty_cache = _took_effect


def _no_anomaly(torch):
    def off():
        if torch.is_anomaly_enabled():
            torch._C._set_anomaly_enabled(False, True)
            _took_effect()

    def never(*_args, **_words):
        _took_effect()
    torch.autograd.set_detect_anomaly = torch.autograd.anomaly_mode.set_detect_anomaly = never
    make = torch.autograd.anomaly_mode.detect_anomaly.__enter__

    def enter(self):
        result = make(self)
        off()
        return result
    torch.autograd.anomaly_mode.detect_anomaly.__enter__ = enter
    _settings.append(off)


def _threads(torch):
    choose = torch.set_num_threads

    def all_of_them():
        if torch.get_num_threads() != _processors():
            choose(_processors())
            _took_effect()
    torch.set_num_threads = lambda _n: all_of_them()
    _settings.append(all_of_them)


def _flush_denormal(torch):
    """There is no way to ask; set_flush_denormal says whether the processor can."""
    flush = torch.set_flush_denormal

    def on():
        if flush(True):
            _took_effect()
    torch.set_flush_denormal = lambda _on: flush(True)
    _settings.append(on)


def _no_grad(torch):
    """For programs that never call backward()."""
    def make(_module, _args):
        if _backward_seen or not torch.is_grad_enabled():
            return None
        _took_effect()
        return torch.no_grad()
    _around.append(make)


def _environment(_torch_module):
    _took_effect()  # `tacho prove` has set it before the program began


_CHANGES = {name[1:]: value for name, value in globals().items()
            if name in ("_loader_workers", "_pin_memory", "_fused_optimizer", "_tf32", "_bf16", "_float32", "_sdpa",
                        "_channels_last", "_cudnn_benchmark", "_compile", "_cuda_graphs", "_gc_freeze", "_no_collect",
                        "_no_empty_cache", "_no_anomaly", "_threads", "_flush_denormal", "_no_grad")}


# ---- the beginning ------------------------------------------------------------------------------

def _seed(torch):
    """Both programs begin with the same seed, unless they seed themselves."""
    torch.manual_seed(0)
    random.seed(0)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(0)


def _torch_is_there():
    global _torch
    if _torch is not None:
        return
    _torch = sys.modules["torch"]
    for name in _changes:
        _CHANGES.get(name, _environment)(_torch)
    for setting in _settings:
        setting()
    _seed(_torch)
    if os.environ.get("RANK", "0") == "0":
        _hook(_torch)
    elif _before or _around or _after:
        _hook_modules(_torch)


class _Finder:
    """Called before all others: torch is found by them, and we are called when its import is done. The recorder has such
    a finder, too (hooks/imports.py), which asks this one."""
    is_asking = False

    def find_spec(self, name, path=None, target=None):
        if name != "torch" or self.is_asking:
            return None
        self.is_asking = True
        try:
            specs = (f.find_spec(name, path, target) for f in sys.meta_path if f is not self and hasattr(f, "find_spec"))
            spec = next((s for s in specs if s is not None and s.loader is not None), None)
        finally:
            self.is_asking = False
        if spec is not None:
            original = spec.loader.exec_module

            def exec_module(module):
                original(module)
                _torch_is_there()
            spec.loader.exec_module = exec_module
        return spec


def begin():
    global _gate
    _gate = _Gate(os.environ["TACHO_PROVE"])
    sys.meta_path.insert(0, _Finder())
