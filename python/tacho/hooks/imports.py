"""Modules that are imported while something watches: it is called when their import is done.

A finder before all others lets them find the module and adds one thing to its loader. This file imports nothing of the
package: programs without the recorder load it by its path (inject/tacho_prove.py).
"""
import sys
from typing import Any, Callable, Container, Optional


class Finder:
    """One of sys.meta_path."""

    def __init__(self, on_import: Callable[[], Any], names: Container[str]) -> None:
        self._on_import = on_import
        self._names = names
        self._is_asking = False  # the finders after it, of which one may be another of our own

    def begin(self) -> None:
        sys.meta_path.insert(0, self)

    def end(self) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Optional[Any]:
        if name not in self._names or self._is_asking:
            return None
        self._is_asking = True
        try:
            return self._ask(name, path, target)
        finally:
            self._is_asking = False

    def _ask(self, name: str, path: Any, target: Any) -> Optional[Any]:
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None and spec.loader is not None:
                self._extend(spec.loader)
                return spec
        return None

    def _extend(self, loader: Any) -> None:
        original = loader.exec_module

        def exec_module(module: Any) -> None:
            original(module)
            module.__spec__._initializing = False  # it is complete, as far as hooks are concerned
            self._on_import()

        loader.exec_module = exec_module
