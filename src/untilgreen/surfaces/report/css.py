"""The style of the HTML report, light and dark: what it shares with the page of `serve`, and its own."""

from __future__ import annotations

import base64
from hashlib import sha256
from pathlib import Path

LOOK = Path(__file__).with_name("look.css")
"""The palette and everything that the page has, too; `serve` sends this very file."""
_OWN = """
.matrix td.broke .cell { outline: 2px solid var(--bad); outline-offset: -2px; }
.matrix td .cell { width: 100%; height: 1.9rem; }
.matrix table { min-width: 0; }
.matrix th.best::after {
  content: ""; display: block; width: 1.1rem; height: 3px; margin: 1px auto 0; border-radius: 2px;
  background: var(--live);
}
.matrix.fine th:first-child { font: .82rem/1.5 var(--mono); max-width: 30rem; white-space: normal; }
figure p { font-size: .84rem; color: var(--faint); }
figure svg { display: block; width: 100%; height: auto; }
svg .grid { stroke: var(--hair); stroke-width: 1; }
svg .tick { fill: var(--faint); font: 13px system-ui, "DejaVu Sans", sans-serif; }
svg .line { fill: none; stroke: var(--line-1); stroke-width: 2.5; stroke-linejoin: round; }
svg .area { fill: var(--line-fill); }
svg .dot { fill: var(--line-1); }
svg .dot.best { fill: var(--card); stroke: var(--line-1); stroke-width: 3; }
svg .bar { fill: var(--bad); opacity: .65; }
svg .bar.best { fill: var(--line-1); opacity: 1; }
svg .limit { stroke: var(--odd); stroke-width: 2; stroke-dasharray: 6 5; }
.meter svg .used, .meter svg .near, .meter svg .groove { opacity: 1; }
.patch .add { color: var(--good); background: var(--good-bg); }
.patch .cut { color: var(--bad); background: var(--bad-bg); }
.patch .at { color: var(--blue); }
.patch .file { font-weight: 700; }
.patch span { display: inline-block; min-width: 100%; }
ul { margin: .3rem 0; padding-left: 1.3rem; }
dl.steps code { padding-right: .5rem; }
@media print { details { break-inside: avoid; } pre { max-height: none; } html { overflow: visible; } }
"""

STYLE = LOOK.read_text(encoding="utf-8") + _OWN
_HASH = base64.b64encode(sha256(STYLE.encode()).digest()).decode()
POLICY = f"default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; form-action 'none'"
"""Nothing is loaded, nothing runs, nothing is sent; only this very style applies."""
