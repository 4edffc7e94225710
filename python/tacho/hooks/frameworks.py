"""The modules of src/cli/frameworks.def; made by tools/generate; do not edit."""

FRAMEWORKS = ("torch", "jax", "paddle", "megengine", "mindspore")
