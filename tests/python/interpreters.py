"""The CPythons of this machine: python3.X on the path, and pyenv's."""
import os
import shutil
import subprocess
from pathlib import Path


def works(path):
    try:
        done = subprocess.run([path, "-c", "import sys; print(sys.version_info[:2] >= (3, 8), sys.implementation.name)"],
                              capture_output=True, text=True, timeout=30, check=False)
    except OSError:
        return False
    return done.stdout.strip() == "True cpython"


def interpreters():
    found = {}
    folder = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    for minor in range(8, 16):
        places = [*sorted(folder.glob(f"3.{minor}.*/bin/python3.{minor}")), shutil.which(f"python3.{minor}")]
        for place in places:
            if place and works(str(place)):
                found[f"3.{minor}"] = str(place)
                break
    return found
