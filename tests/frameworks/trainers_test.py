"""The callbacks with the real trainers, on the CPU: trainers_test.py

Lightning, transformers, Keras (with PyTorch) and Accelerate train a layer of 16 numbers. One that is not installed is
skipped; the blocks of docs/PYTHON.md run with the real packages, and transformers also with two ranks.
"""
import contextlib
import io
import logging
import os
import re
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

os.environ["KERAS_BACKEND"] = "torch"
os.environ["HF_HUB_OFFLINE"] = "1"
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
import torch  # noqa: E402
from checks import Checks  # noqa: E402

import tacho  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGES = {"LightningCallback": "lightning", "HFTrainerCallback": "transformers", "KerasCallback": "keras",
            "AccelerateTracker": "accelerate"}


class Layer(torch.nn.Module):
    """What transformers trains: the loss is the model's own."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(16, 2)

    def forward(self, x=None, labels=None):
        y = self.layer(x)
        if labels is None:
            return y
        return {"loss": torch.nn.functional.cross_entropy(y, labels), "logits": y}


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 128

    def __getitem__(self, i):
        return {"x": torch.full((16,), float(i)), "labels": torch.tensor(i % 2)}


def arguments(folder, steps=18):
    from transformers import TrainingArguments
    return TrainingArguments(str(folder), max_steps=steps, per_device_train_batch_size=4, eval_strategy="steps",
                             eval_steps=6, save_steps=12, report_to=[], use_cpu=True, disable_tqdm=True)


def lightning_model():
    import lightning.pytorch as pl

    class Module(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(16, 2)

        def training_step(self, batch, _i):
            return self.layer(batch[0] if isinstance(batch, (list, tuple)) else batch).pow(2).sum()

        def validation_step(self, batch, i):
            self.training_step(batch, i)

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.001)
    return Module()


def keras_model():
    import keras
    model = keras.Sequential([keras.layers.Dense(4, activation="relu"), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    return model


def loader():
    return torch.utils.data.DataLoader(torch.randn(128, 16), batch_size=4)


def train(name, callback, folder):
    """A training of at least 18 steps."""
    if name == "LightningCallback":
        import lightning.pytorch as pl
        trainer = pl.Trainer(max_epochs=1, accelerator="cpu", callbacks=[callback], logger=False, barebones=False,
                             enable_progress_bar=False, enable_checkpointing=False, val_check_interval=6,
                             enable_model_summary=False)
        trainer.fit(lightning_model(), loader(), loader())
    elif name == "HFTrainerCallback":
        from transformers import Trainer
        Trainer(Layer(), arguments(folder / "out"), train_dataset=Rows(), eval_dataset=Rows(), callbacks=[callback]).train()
    elif name == "KerasCallback":
        x = torch.randn(80, 16).numpy()
        keras_model().fit(x, x[:, :1], batch_size=4, validation_split=0.1, verbose=0, callbacks=[callback])
    else:
        from accelerate import Accelerator
        accelerator = Accelerator(cpu=True, log_with=callback, gradient_accumulation_steps=2)
        model = torch.nn.Linear(16, 2)
        model, optimizer, batches = accelerator.prepare(model, torch.optim.AdamW(model.parameters()), loader())
        accelerator.init_trackers("test")
        for _ in range(2):
            for batch in batches:
                with accelerator.accumulate(model):
                    accelerator.backward(model(batch).sum())
                    optimizer.step()
                    optimizer.zero_grad()
        accelerator.end_training()


def quiet(function, *args):
    """What it prints: trainers print a lot."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        function(*args)
    return out.getvalue()


def a_trainer(c, name, folder):
    callback = getattr(tacho, name)(str(folder / "run"), wait=2, warmup=1, active=10, record_shapes=True)
    text = quiet(train, name, callback, folder)
    trace = callback.trace()
    c.equal(f"{name}: said", f"tacho: {trace}\ntacho: recorded steps 3 to 12 in {folder}/run;" in text, True)
    kinds = {row["kind"]: row["count"] for row in trace.info()["events"]}
    ranges = {row["name"] for row in trace.overview()["user_events"]}
    c.equal(f"{name}: steps", trace.steps()["step"], list(range(3, 13)))
    c.true(f"{name}: operators, modules and passes", kinds["op"] > 100 and kinds["module"] >= 10 and kinds["backward"] >= 10, kinds)
    c.equal(f"{name}: damage", trace.overview().quality["events_dropped"], [])
    if name in ("LightningCallback", "HFTrainerCallback"):
        c.true(f"{name}: validation", "validation" in ranges, ranges)
    if name == "HFTrainerCallback":
        c.true(f"{name}: checkpoint", "checkpoint" in ranges, ranges)
    if name != "AccelerateTracker":
        c.equal(f"{name}: epoch", trace.query("select name from instant")["name"], ["epoch 0"])


def two_ranks(c, folder):
    program = (f"import sys\nsys.path.insert(0, {str(Path(__file__).parent)!r})\nimport pathlib, tacho, trainers_test as t\n"
               f"folder = pathlib.Path({str(folder)!r})\n"
               "t.train('HFTrainerCallback', tacho.HFTrainerCallback(str(folder / 'ranks')), folder)\n")
    (folder / "program.py").write_text(program)
    line = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2", str(folder / "program.py")]
    done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, timeout=300, check=False)
    if done.returncode:
        c.true("two ranks: training", False, done.stdout[-2000:])
        return
    c.equal("two ranks: verdicts said", done.stdout.count("tacho: recorded steps 5 to 14"), 1)
    trace = tacho.load(folder / "ranks")
    c.equal("two ranks: workers", [w.split(".")[0] for w in trace.workers], ["rank0", "rank1"])
    joined = trace.operators(all_workers=True)
    c.equal("two ranks: device times nobody recorded", set(joined["device_total"]) | set(joined["device_self"]), {None})


def blocks_of_the_docs(c, folder):
    """With the names that the program around them has."""
    page = (ROOT / "docs/PYTHON.md").read_text(encoding="utf-8")
    for block in re.findall(r"^```python\n(.*?)^```", page, re.M | re.S):
        name = next((name for name in PACKAGES if name in block), None)
        if name is None or not find_spec(PACKAGES[name]):
            continue
        x = torch.randn(80, 16).numpy()
        linear = torch.nn.Linear(16, 2)
        scope = {"loader": loader(), "x": x, "y": x[:, :1], "dataset": Rows(), "optimizer": torch.optim.SGD(linear.parameters()),
                 "model": {"KerasCallback": keras_model, "HFTrainerCallback": Layer}.get(name, lambda: linear)()}
        if name == "LightningCallback":
            scope["lightning_module"] = lightning_model()
        if name == "HFTrainerCallback":
            scope["args"] = arguments(folder / "docs_out")
            block = block.replace("train_dataset=dataset", "train_dataset=dataset, eval_dataset=dataset")
        os.chdir(folder)
        try:
            text = quiet(exec, compile(block, name, "exec"), scope)
            c.true(f"docs: {name}", "tacho: recorded steps 5 to 14 in runs/" in text)
        except Exception as problem:
            c.true(f"docs: {name}", False, f"{type(problem).__name__}: {problem}")


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        for name, package in PACKAGES.items():
            if find_spec(package):
                (Path(folder) / name).mkdir()
                checks.run(a_trainer, name, Path(folder) / name)
            else:
                checks.skip(f"{name}: {package} is not installed")
        if find_spec("transformers"):
            checks.run(two_ranks, Path(folder))
        checks.run(blocks_of_the_docs, Path(folder))
        os.chdir("/")
    checks.finish()


if __name__ == "__main__":
    main()
