"""What must hold of the callbacks of trainers, with stand-ins for their packages: trainers.py [NAME…]

The stand-ins call the hooks in the order of the real packages, which tests/frameworks/trainers_test.py uses.
"""
import contextlib
import io
import os
import pickle
import sys
import types
from pathlib import Path

import tacho
from tacho import hooks
from tacho.callbacks import recorder
from cases import equal, main, script


def module(name, **contents):
    made = types.ModuleType(name)
    made.__dict__.update(contents)
    sys.modules[name] = made
    return made


class Base:
    """What the classes of all packages have in common: hooks that do nothing."""

    def __getattr__(self, name):
        if name.startswith("on_"):
            return lambda *args, **words: None
        raise AttributeError(name)


class Tracker:
    def __init__(self):
        for name in ("name", "requires_logging_directory", "tracker"):
            getattr(self, name)


pl = module("lightning.pytorch", Callback=type("Callback", (Base,), {}))
module("lightning", pytorch=pl)
module("transformers", TrainerCallback=type("TrainerCallback", (Base,), {}))
module("keras", callbacks=module("keras.callbacks", Callback=type("Callback", (Base,), {})))
module("accelerate", tracking=module("accelerate.tracking", GeneralTracker=Tracker))


class Optimizer:
    """A framework's optimizer, as its hooks tell of it."""

    def step(self):
        with tacho.record_function("update"):
            pass
        hooks.steps.optimizer_stepped(self)

    def zero_grad(self):
        pass


def batch():
    with tacho.record_function("batch"):
        sum(range(2000))


# ---- trainers ----

def lightning(callback, batches, accumulate=1, validate_every=0, is_main=True):
    trainer = types.SimpleNamespace(global_step=0, is_global_zero=is_main, current_epoch=3)
    callback.on_validation_start(trainer, None)  # the sanity check, before the training
    callback.on_validation_end(trainer, None)
    callback.on_train_start(trainer, None)
    callback.on_train_epoch_start(trainer, None)
    for i in range(batches):
        batch()
        trainer.global_step += (i + 1) % accumulate == 0
        callback.on_train_batch_end(trainer, None, None, None, i)
        if validate_every and (i + 1) % validate_every == 0:
            callback.on_validation_start(trainer, None)
            batch()
            callback.on_validation_end(trainer, None)
    callback.on_train_end(trainer, None)


def transformers(callback, steps, evaluate_every=0, save_every=0, is_main=True):
    state = types.SimpleNamespace(is_world_process_zero=is_main, epoch=0.0)
    callback.on_train_begin(None, state, None)
    callback.on_epoch_begin(None, state, None)
    for i in range(1, steps + 1):
        batch()
        control = types.SimpleNamespace(should_evaluate=bool(evaluate_every and i % evaluate_every == 0),
                                        should_save=bool(save_every and i % save_every == 0))
        callback.on_step_end(None, state, control)
        if control.should_evaluate:
            batch()
            callback.on_evaluate(None, state, control, metrics={})
        if control.should_save:
            callback.on_save(None, state, control)
    callback.on_epoch_end(None, state, types.SimpleNamespace(should_evaluate=False, should_save=False))
    callback.on_train_end(None, state, control)
    callback.on_evaluate(None, state, types.SimpleNamespace(should_save=False))  # trainer.evaluate() afterwards


def keras(callback, batches):
    callback.on_train_begin()
    callback.on_epoch_begin(0)
    for i in range(batches):
        batch()
        callback.on_train_batch_end(i, {})
    callback.on_test_begin()
    callback.on_test_end()
    callback.on_train_end()


def accelerate(tracker, steps):
    optimizer = Optimizer()
    tracker.start()
    tracker.store_init_configuration({"lr": 1})
    for i in range(steps):
        batch()
        optimizer.step()
        tracker.log({"loss": 0.5 * i, "phase": "train", "done": False}, step=i)
    tracker.finish()


# ---- what a page of the docs uses ----

class Model:
    """For all trainers at once."""

    def __call__(self, _batch):
        batch()
        return self

    def sum(self):
        return self

    def fit(self, _x, _y, callbacks, **_more):
        for callback in callbacks:
            keras(callback, 20)


class LightningTrainer:
    def __init__(self, callbacks, max_epochs):
        self.callbacks = callbacks

    def fit(self, _module, _loader):
        for callback in self.callbacks:
            lightning(callback, 20)


class HFTrainer:
    def __init__(self, _model, _args, train_dataset, callbacks):
        self.callbacks = callbacks

    def train(self):
        for callback in self.callbacks:
            transformers(callback, 20)


class Accelerator:
    def __init__(self, log_with):
        self.tracker = log_with

    def prepare(self, *what):
        return what

    def backward(self, _loss):
        batch()

    def init_trackers(self, _project):
        self.tracker.start()

    def end_training(self):
        self.tracker.finish()


sys.modules["lightning.pytorch"].Trainer = LightningTrainer
sys.modules["transformers"].Trainer = HFTrainer
sys.modules["accelerate"].Accelerator = Accelerator
lightning_module = args = dataset = x = y = None
model, optimizer, loader = Model(), Optimizer(), [None] * 20


def train(_batch):
    batch()


def said(function, *args, **words):
    """What it prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        function(*args, **words)
    return out.getvalue()


def kinds_of(trace):
    return {row["kind"]: row["count"] for row in trace.info()["events"]}


# ---- what must hold ----

def each_callback_records_its_window_and_says_the_verdict(folder):
    for name, trainer in (("LightningCallback", lightning), ("HFTrainerCallback", transformers), ("KerasCallback", keras),
                          ("AccelerateTracker", accelerate)):
        path = str(folder / name)
        callback = getattr(tacho, name)(path, wait=2, warmup=1, active=4, profile_memory=True)
        text = said(trainer, callback, 12)
        trace = callback.trace()
        equal(trace.steps()["step"], [3, 4, 5, 6], name)
        equal(text.splitlines(), [f"tacho: {trace}", f"tacho: recorded steps 3 to 6 in {path}; for more: tacho overview {path}"])
        equal(os.listdir(path), [os.path.basename(trace.path)])
    equal(kinds_of(trace)["counter"], 4)  # of Accelerate's: what was logged in these steps


def epochs_validation_and_checkpoints_are_named(folder):
    callback = tacho.HFTrainerCallback(str(folder), wait=1, warmup=1, active=6)
    said(transformers, callback, 12, evaluate_every=4, save_every=8)
    trace = callback.trace()
    ranges = {row["name"]: row["calls"] for row in trace.overview()["user_events"]}
    equal((ranges["validation"], ranges.get("checkpoint")), (1, None))
    equal(trace.query("select name from instant")["name"], ["epoch 0"])
    total = trace.query("select sum(dur) as all_steps from step")["all_steps"][0]
    validation = next(r for r in trace.overview()["user_events"] if r["name"] == "validation")
    equal(total + validation["host_total"] <= trace.info().trace["duration_ns"], True)  # no part of a step
    callback = tacho.HFTrainerCallback(str(folder / "b"), wait=0, warmup=1, active=30)
    said(transformers, callback, 12, evaluate_every=4, save_every=4)
    ranges = {row["name"]: row["calls"] for row in callback.trace().overview()["user_events"]}
    equal((ranges["validation"], ranges["checkpoint"]), (3, 3))


def a_step_is_a_step_of_the_optimizer(folder):
    callback = tacho.LightningCallback(str(folder), wait=0, warmup=1, active=3)
    said(lightning, callback, 12, accumulate=2, validate_every=6)
    equal(callback.trace().steps()["step"], [1, 2, 3])
    ranges = {row["name"]: row["calls"] for row in callback.trace().overview()["user_events"]}
    equal(ranges, {"batch": 7, "validation": 1})


def only_the_first_rank_prints(folder):
    for rank, trainer, name in ((True, lightning, "LightningCallback"), (False, transformers, "HFTrainerCallback")):
        callback = getattr(tacho, name)(str(folder / name), wait=0, warmup=1, active=2)
        equal(bool(said(trainer, callback, 5, is_main=rank)), rank)
        equal(len(callback.trace().steps()), 2)
    kept = {name: os.environ.pop(name, None) for name in recorder.RANKS}
    try:
        equal(recorder.is_first_rank(), True)
        os.environ["RANK"] = "3"
        equal(recorder.is_first_rank(), False)
    finally:
        os.environ.pop("RANK", None)
        os.environ.update({name: value for name, value in kept.items() if value is not None})


def a_training_that_is_too_short_says_so(folder):
    text = said(keras, tacho.KerasCallback(str(folder)), 3)
    equal("ended after 3 steps, and the first 5 steps are not recorded; pass a smaller wait=" in text, True, text)
    text = said(keras, tacho.KerasCallback(str(folder)), 7)  # shorter than its window: what there was is kept
    equal("recorded steps 5 to 6" in text, True, text)


def wrong_parameters_are_refused_where_they_are_written(folder):
    for words, kind in (({"recrod_shapes": True}, TypeError), ({"active": 0}, ValueError), ({"wait": "x"}, TypeError)):
        try:
            tacho.KerasCallback(str(folder), **words)
        except kind:
            continue
        raise AssertionError(words)
    pair = tacho.KerasCallback(str(folder), schedule=(2, 4))
    said(keras, pair, 8)
    equal(pair.trace().steps()["step"], [2, 3])


def an_exception_ends_the_recording(folder):
    callback = tacho.LightningCallback(str(folder), wait=0, warmup=1, active=20)
    trainer = types.SimpleNamespace(global_step=0, is_global_zero=True, current_epoch=0)
    callback.on_train_start(trainer, None)
    for i in range(3):
        trainer.global_step += 1
        callback.on_train_batch_end(trainer, None, None, None, i)
    said(callback.on_exception, trainer, None, KeyboardInterrupt())
    equal((tacho.is_recording(), len(callback.trace().steps())), (False, 2))
    equal(hooks.steps._followers, [])


def callbacks_can_be_copied_to_other_processes(folder):
    callback = pickle.loads(pickle.dumps(tacho.LightningCallback(str(folder), wait=0, warmup=1, active=2)))
    said(lightning, callback, 5)
    equal(len(callback.trace().steps()), 2)


def packages_are_imported_only_when_they_are_used(folder):
    text = """
import sys
import tacho
used = ("lightning", "pytorch_lightning", "transformers", "keras", "accelerate", "IPython")
assert not [name for name in used if name in sys.modules]
assert "KerasCallback" in dir(tacho) and "KerasCallback" in dir(tacho.callbacks)
for name in used:
    sys.modules[name] = None
for name in tacho.callbacks.LAZY:
    try:
        getattr(tacho, name)
    except ImportError as why:
        assert "tacho." + name + " needs the package" in str(why), why
    else:
        raise AssertionError(name)
try:
    tacho.NoSuchThing
except AttributeError:
    print("good")
"""
    equal(script(folder, text), "good\n")


def under_tacho_record_steps_are_marked_and_nothing_is_said(folder):
    text = (f"import sys\nsys.path.insert(0, {str(Path(__file__).parent)!r})\nimport trainers, tacho\n"
            "callback = tacho.KerasCallback(wait=1, warmup=1, active=2)\n"
            "print(repr(trainers.said(trainers.keras, callback, 6)))\n")
    (folder / "train.py").write_text(text)
    from tacho import _program
    out = _program.run(["record", "-q", "-o", str(folder / "run"), "--", sys.executable, str(folder / "train.py")])
    equal(out.splitlines()[0], "''")
    equal(len(tacho.load(folder / "run").steps()), 6)


def steps_follow_the_first_optimizer(folder):
    first, second = Optimizer(), Optimizer()
    with tacho.profile(str(folder), auto_step=True, schedule=tacho.schedule(wait=1, warmup=1, active=3, repeat=1)) as prof:
        for _ in range(8):
            first.step()
            second.step()
    equal((prof.step_num, prof.trace().steps()["step"]), (8, [2, 3, 4]))
    with tacho.profile(str(folder), auto_step=True) as prof:
        for _ in range(4):
            prof.step()  # the program marks its own
            first.step()
    equal((prof.step_num, len(prof.trace().steps())), (4, 4))
    first.step()  # nothing follows any more
    equal(prof.step_num, 4)


def a_framework_that_is_imported_meanwhile_is_hooked(folder):
    (folder / "paddle").mkdir()
    (folder / "paddle/__init__.py").write_text("ready = True\n")
    text = f"""
import sys
sys.path.insert(0, {str(folder)!r})
import tacho
from tacho import hooks
with tacho.profile({str(folder / "run")!r}):
    assert "paddle" not in hooks._installed
    import paddle
    assert paddle.ready and "paddle" in hooks._installed
    inside = list(sys.meta_path)
assert len(sys.meta_path) == len(inside) - 1 and "paddle" not in hooks._installed
print("good")
"""
    equal(script(folder, text), "good\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], globals()))
