"""`python -m tacho` is the program tacho: the same arguments, exit status and signals."""
from . import _native, _program

_program.main(without=_native.OFFERED)
