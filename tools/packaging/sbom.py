"""What the packages contain that others wrote, as a CycloneDX document: names, versions, licenses, checksums.

Made from the pins of fetch.py and from web/package-lock.json, so it cannot say anything else than what is built.
"""
import base64
import json
import re
import uuid

import fetch
from portable import ROOT, backend

LICENSES = {"zlib": "Zlib", "zstd": "BSD-3-Clause", "xxhash": "BSD-2-Clause", "isa-l": "BSD-3-Clause",
            "libmicrohttpd": "LGPL-2.1-or-later", "sqlite": "blessing"}
# The archive of SQLite is inside another package, whose version is not its own.
VERSIONS = {"sqlite": "3.53.4"}
NOT_INSIDE = ("curl",)  # headers alone: the library is loaded on use


def _license(name):
    return [{"license": {"id": name}}]


def _libraries():
    for name, (mirrors, where, digest, folder) in fetch.LIBRARIES.items():
        if name in NOT_INSIDE:
            continue
        version = VERSIONS.get(name) or re.search(r"(\d[\d.]*)$", folder).group(1)
        yield {"type": "library", "name": name, "version": version, "licenses": _license(LICENSES[name]),
               "bom-ref": f"{name}@{version}", "purl": f"pkg:generic/{name}@{version}",
               "hashes": [{"alg": "SHA-256", "content": digest}],
               "externalReferences": [{"type": "distribution", "url": mirrors[0] + where}]}


def _page():
    """The packages whose code is in the page; tools that only make it are not."""
    locked = json.loads((ROOT / "web/package-lock.json").read_text(encoding="utf-8"))["packages"]
    for path, about in sorted(locked.items()):
        if not path or about.get("dev") or about.get("optional"):
            continue
        name = path.removeprefix("node_modules/")
        algorithm, _, digest = about["integrity"].partition("-")
        yield {"type": "library", "name": name, "version": about["version"], "licenses": _license(about["license"]),
               "bom-ref": f"{name}@{about['version']}", "purl": f"pkg:npm/{name.replace('@', '%40')}@{about['version']}",
               "hashes": [{"alg": algorithm.upper().replace("SHA", "SHA-"),
                           "content": base64.b64decode(digest).hex()}]}


def document():
    version = backend.package_version()
    parts = [*_libraries(), *_page()]
    named = json.dumps(parts, sort_keys=True) + version
    program = {"type": "application", "name": "tacho", "version": version, "bom-ref": "tacho",
               "licenses": _license("Apache-2.0"), "supplier": {"name": backend.AUTHOR}}
    if backend.home_page():
        program["externalReferences"] = [{"type": "website", "url": backend.home_page()}]
    return {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
            "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, named)}",
            "metadata": {"component": program}, "components": parts,
            "dependencies": [{"ref": "tacho", "dependsOn": [p["bom-ref"] for p in parts]}]}


def write(folder):
    path = folder / f"tacho-{backend.package_version()}.cdx.json"
    path.write_text(json.dumps(document(), indent=2) + "\n", encoding="utf-8")
    return path
