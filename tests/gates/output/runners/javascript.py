"""jest, vitest, mocha, node's own runner and tape."""

# ruff: noqa: E501 - whole files as text
from __future__ import annotations

from tests.gates.output.runners.styles import Projects

JS_CART = "module.exports = { total: items => items[0] || 0 };\n"
JS_TESTS = "  {it}('adds', () => {{ {is}(total([1]), 1); }});\n  {it}('totals', () => {{ {is}(total([1, 2]), 3); }});\n  {it}('empties', () => {{ {is}(total([]), 0); }});\n"
EXPECT = "const is = (a, b) => expect(a).toBe(b);\n"
ASSERT = "const is = require('node:assert').strictEqual;\n"


def js(head: str, it: str = "it") -> str:
    body = JS_TESTS.format(it=it, **{"is": "is"})
    return f"{head}const {{ total }} = require('./cart.js');\ndescribe('cart', () => {{\n{body}}});\n"


TAPE = "const test = require('tape');\nconst { total } = require('./cart.js');\ntest('adds', t => { t.equal(total([1]), 1); t.end(); });\ntest('totals', t => { t.equal(total([1, 2]), 3, 'the sum'); t.end(); });\ntest('empties', t => { t.equal(total([]), 0); t.end(); });\n"
VITEST = (
    "import { describe, expect, it } from 'vitest';\nimport { total } from './cart.js';\nconst is = (a, b) => expect(a).toBe(b);\ndescribe('cart', () => {\n"
    + JS_TESTS.format(it="it", **{"is": "is"})
    + "});\n"
)
LEAVES = "it('ok', () => {}); it('ok too', () => {}); it('leaves', () => { process.exit(0); }); it('after', () => {});\n"

PROJECTS: Projects = {
    "jest": (
        {
            "package.json": "{}",
            "cart.js": JS_CART,
            "cart.test.js": js(EXPECT),
            "more/ok.test.js": "test('fine', () => {});\n",
            "syntax/bad.test.js": "test('a', () => {\n",
            "zero/out.test.js": LEAVES,
            "exits/out.test.js": "test('ok', () => {}); test('leaves', () => { process.exit(3); });\n",
        },
        {
            "default": "jest cart more",
            "color": "jest --color cart more",
            "silent": "jest --silent cart more",
            "verbose": "jest --verbose cart",
            "band": "jest -i cart more",
            "json": "jest --json cart",
            "ci": "jest --ci --bail cart",
            "syntax": "jest syntax",
            "none": "jest nothing-here",
            "exit": "jest -i exits",
            "exit0": "jest -i zero",
            "parallel": "jest -w 2 cart more",
            "coverage": 'jest cart -t adds --coverage --coverageThreshold \'{"global":{"branches":100}}\'',
        },
    ),
    "vitest": (
        {
            "package.json": '{"type":"module"}',
            "cart.js": "export const total = items => items[0] || 0;\n",
            "cart.test.js": VITEST,
            "syntax/bad.test.js": "it('a', () => {\n",
            "zero/out.test.js": "import { it } from 'vitest';\n" + LEAVES,
            "exits/out.test.js": "import { it } from 'vitest';\nit('leaves', () => { process.exit(3); });\n",
        },
        {
            **{
                style: f"vitest run --reporter={style} cart"
                for style in ("default", "verbose", "dot", "basic", "tap", "tap-flat", "junit", "json")
            },
            "color": "FORCE_COLOR=1 vitest run cart",
            "threads": "vitest run --pool=threads cart",
            "syntax": "vitest run syntax",
            "none": "vitest run nothing-here",
            "exit": "vitest run exits",
            "exit0": "vitest run zero",
            "coverage": "vitest run cart -t adds --coverage --coverage.thresholds.branches=100",
        },
    ),
    "mocha": (
        {
            "cart.js": JS_CART,
            "cart.spec.js": js(ASSERT),
            "out.js": "it('ok', () => {}); it('leaves', () => { process.exit(3); });\n",
            "zero.js": LEAVES,
            "price.js": "exports.net = x => x;\nexports.gross = x => x * 2;\n",
            "price.spec.js": "const { net } = require('./price.js');\nit('nets', () => { net(1); });\n",
            "bad.js": "it('a', () => {\n",
            "none.js": "",
        },
        {
            **{
                style: f"mocha --reporter {style} cart.spec.js"
                for style in ("spec", "dot", "list", "min", "tap", "json", "xunit", "progress", "landing")
            },
            "color": "mocha --color cart.spec.js",
            "parallel": "mocha --parallel cart.spec.js",
            "exit": "mocha out.js",
            "exit0": "mocha zero.js",
            "exit0-tap": "mocha --reporter tap zero.js",
            "syntax": "mocha bad.js",
            "coverage": "c8 --check-coverage --functions 100 mocha price.spec.js",
            "nyc": "nyc --check-coverage --functions 100 mocha price.spec.js",
            "none": "mocha none.js",
        },
    ),
    "node": (
        {
            "cart.js": JS_CART,
            "bad.test.js": "it('a', () => {\n",
            "none.js": "",
            "cart.test.js": js("const { describe, it } = require('node:test');\n" + ASSERT),
            "more.test.js": "require('node:test')('fine', () => {});\n",
            "price.js": "exports.net = x => x;\nexports.gross = x => x * 2;\n",
            "price.test.js": "require('node:test')('nets', () => { require('./price.js').net(1); });\n",
            "out.test.js": "require('node:test')('leaves', () => { process.exit(3); });\n",
        },
        {
            **{
                style: f"node --test --test-reporter={style} cart.test.js" for style in ("spec", "tap", "dot")
            },
            "junit": "node --test --test-reporter=junit cart.test.js",
            "color": "FORCE_COLOR=1 node --test --test-reporter=spec cart.test.js",
            "syntax": "node --test bad.test.js",
            "exit": "node --test out.test.js",
            "direct": "node cart.test.js",
            "missing": "node --test nothing.test.js",
            "parallel": "node --test --test-concurrency=2 cart.test.js more.test.js",
            "coverage": "c8 --check-coverage --functions 100 node --test price.test.js",
        },
    ),
    "tape": (
        {
            "cart.js": JS_CART,
            "cart.test.js": TAPE,
            "zero.test.js": TAPE.replace("t.equal(total([1, 2]), 3, 'the sum')", "process.exit(0)"),
            "bad.test.js": "test(",
            "none.test.js": "require('tape');\n",
            "crash.test.js": TAPE.replace("t.equal(total([1, 2]), 3, 'the sum')", "undefined.sum()"),
        },
        {
            "default": "tape cart.test.js",
            "direct": "node cart.test.js",
            "crash": "tape crash.test.js",
            "exit0": "tape zero.test.js",
            "syntax": "tape bad.test.js",
            "none": "tape none.test.js",
        },
    ),
}
