"""The binary files of a wheel: libtacho.so, the program tacho, the extension."""
