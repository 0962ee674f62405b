"""The page's files: known by name when the server starts, so that no request ever names a path."""

from __future__ import annotations

import base64
from functools import cache
from hashlib import sha256
from pathlib import Path

import msgspec

from untilgreen.surfaces.report.css import LOOK

FOLDER = Path(__file__).parent / "page"
_MEDIA = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_IMPORTS = {
    "preact": "/assets/vendor/preact.js",
    "preact/hooks": "/assets/vendor/preact-hooks.js",
    "@preact/signals": "/assets/vendor/signals.js",
    "@preact/signals-core": "/assets/vendor/signals-core.js",
    "htm": "/assets/vendor/htm.js",
}


def asset(name: str) -> tuple[bytes, str] | None:
    """The file of that name and its media type; None if the page has none."""
    return _assets().get(name)


@cache
def page() -> tuple[bytes, str]:
    """The HTML of the page, and the policy that it is served with."""
    imports = msgspec.json.encode({"imports": _IMPORTS}).decode()
    digest = base64.b64encode(sha256(imports.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'self' 'sha256-{digest}'; style-src 'self'; connect-src 'self'; "
        "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )
    html = (FOLDER / "index.html").read_text(encoding="utf-8").replace("{{imports}}", imports)
    return html.encode(), policy


@cache
def _assets() -> dict[str, tuple[bytes, str]]:
    own = {
        path.relative_to(FOLDER).as_posix(): (path.read_bytes(), _MEDIA[path.suffix])
        for path in sorted(FOLDER.rglob("*"))
        if path.suffix in _MEDIA
    }
    return {LOOK.name: (LOOK.read_bytes(), _MEDIA[LOOK.suffix]), **own}
