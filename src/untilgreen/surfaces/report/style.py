"""The look of the HTML report, by day and by night."""

from __future__ import annotations

import base64
from hashlib import sha256

STYLE = """
:root {
  color-scheme: light dark;
  --page: #ffffff; --card: #f6f8fa; --ink: #1f2328; --faint: #59636e; --edge: #d1d9e0;
  --good: #116329; --good-bg: #dafbe1; --bad: #a40e26; --bad-bg: #ffebe9;
  --odd: #7d4e00; --odd-bg: #fff8c5; --blue: #0550ae; --blue-bg: #ddf4ff;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0d1117; --card: #161b22; --ink: #e6edf3; --faint: #9198a1; --edge: #30363d;
    --good: #56d364; --good-bg: #12261e; --bad: #ff7b72; --bad-bg: #2d1417;
    --odd: #e3b341; --odd-bg: #2b2211; --blue: #79c0ff; --blue-bg: #10233c;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 76rem; background: var(--page); color: var(--ink);
  overflow-wrap: anywhere;
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
}
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .75rem; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 .75rem; }
h3 { font-size: 1rem; margin: 1.25rem 0 .4rem; }
p { margin: .4rem 0; }
ul { margin: .3rem 0; padding-left: 1.3rem; }
code, pre { font: .85rem/1.45 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
pre {
  background: var(--card); border: 1px solid var(--edge); border-radius: 6px; padding: .75rem;
  overflow-x: auto; margin: .5rem 0; max-height: 40rem;
}
pre.text { white-space: pre-wrap; }
.faint { color: var(--faint); }
.badge {
  display: inline-block; padding: .1rem .7rem; border-radius: 1rem; font-weight: 600;
  border: 1px solid currentColor;
}
.good { color: var(--good); background: var(--good-bg); }
.bad { color: var(--bad); background: var(--bad-bg); }
.odd { color: var(--odd); background: var(--odd-bg); }
.cards {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .75rem; margin: 1.25rem 0;
}
.cards div {
  background: var(--card); border: 1px solid var(--edge); border-radius: 6px; padding: .6rem .8rem;
}
.cards b { display: block; font-size: 1.25rem; font-variant-numeric: tabular-nums; }
.wide { position: relative; overflow-x: auto; border: 1px solid var(--edge); border-radius: 6px; }
table { border-collapse: separate; border-spacing: 0; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .6rem; text-align: left; border-bottom: 1px solid var(--edge); }
tr:last-child > * { border-bottom: 0; }
thead th { background: var(--card); font-weight: 600; }
.matrix td, .matrix thead th + th { text-align: center; min-width: 2.6rem; white-space: nowrap; }
.matrix th:first-child {
  position: sticky; left: 0; background: var(--card); min-width: 6rem; max-width: 24rem;
  overflow-wrap: break-word; font-weight: 600;
}
.matrix.fine th:first-child {
  font: .85rem/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  max-width: 42rem;
}
.matrix td.broke { outline: 2px solid var(--bad); outline-offset: -3px; }
.matrix .kept { box-shadow: inset 0 -3px 0 var(--blue); }
.key { font-size: .85rem; color: var(--faint); }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(20rem, 1fr)); gap: 1rem; }
figure {
  margin: 0; background: var(--card); border: 1px solid var(--edge); border-radius: 6px; padding: .75rem;
}
figcaption { font-weight: 600; margin-bottom: .4rem; }
figure p { font-size: .85rem; color: var(--faint); }
svg { display: block; width: 100%; height: auto; }
svg .grid { stroke: var(--edge); stroke-width: 1; }
svg .tick { fill: var(--faint); font: 13px system-ui, "DejaVu Sans", sans-serif; }
svg .line { fill: none; stroke: var(--blue); stroke-width: 2.5; stroke-linejoin: round; }
svg .area { fill: var(--blue-bg); opacity: .7; }
svg .dot { fill: var(--blue); }
svg .dot.best { fill: var(--page); stroke: var(--blue); stroke-width: 3; }
svg .bar { fill: var(--bad); opacity: .65; }
svg .bar.best { fill: var(--blue); opacity: 1; }
svg .limit { stroke: var(--odd); stroke-width: 2; stroke-dasharray: 6 5; }
details { border: 1px solid var(--edge); border-radius: 6px; margin: .5rem 0; padding: 0 .9rem; }
details[open] { padding-bottom: .8rem; }
summary { cursor: pointer; padding: .5rem 0; }
figure details { border: 0; padding: 0; margin: .3rem 0 0; font-size: .85rem; }
.diff .add { color: var(--good); background: var(--good-bg); }
.diff .cut { color: var(--bad); background: var(--bad-bg); }
.diff .at { color: var(--blue); }
.diff .file { font-weight: 700; }
.diff span { display: inline-block; min-width: 100%; }
.ways dt { margin-top: .5rem; }
.ways dd { margin: 0; }
dl.facts { display: grid; grid-template-columns: fit-content(12rem) 1fr; gap: .2rem 1rem; }
dl.facts dt { color: var(--faint); }
dl.facts dd { margin: 0; }
footer { margin-top: 3rem; border-top: 1px solid var(--edge); padding-top: 1rem; }
.unseen {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap;
}
@media print { details { break-inside: avoid; } pre { max-height: none; } }
"""

_HASH = base64.b64encode(sha256(STYLE.encode()).digest()).decode()
POLICY = f"default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; form-action 'none'"
"""Nothing is loaded, nothing runs, nothing is sent; only this very style applies."""
