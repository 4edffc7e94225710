"""What a wheel carries beside the Python files: libtacho.so, the program tacho, the extension."""
