"""deno, bun, ava, jasmine and node-tap."""

# ruff: noqa: E501 - whole files as text
from __future__ import annotations

from tests.gates.output.runners.javascript import EXPECT, JS_CART, JS_TESTS, js
from tests.gates.output.runners.styles import Projects

ESM = "export const total = items => items[0] || 0;\n"
DENO = "import { total } from './cart.js';\nconst is = (a, b) => { if (a !== b) throw new Error(`${a} is not ${b}`); };\nDeno.test('adds', () => is(total([1]), 1));\nDeno.test('totals', () => is(total([1, 2]), 3));\nDeno.test('empties', () => is(total([]), 0));\n"
DENO_STEPS = "Deno.test('cart', async t => {\n  await t.step('adds', () => {});\n  await t.step('totals', () => { throw new Error('no'); });\n});\n"
BUN = (
    "import { describe, expect, it } from 'bun:test';\nimport { total } from './cart.js';\nconst is = (a, b) => expect(a).toBe(b);\ndescribe('cart', () => {\n"
    + JS_TESTS.format(it="it", **{"is": "is"})
    + "});\n"
)
AVA = "import test from 'ava';\nimport { total } from './cart.js';\ntest('adds', t => { t.is(total([1]), 1); });\ntest('totals', t => { t.is(total([1, 2]), 3); });\ntest('empties', t => { t.is(total([]), 0); });\n"
TAP = "const t = require('tap');\nconst { total } = require('../cart.js');\nt.test('adds', t => { t.equal(total([1]), 1); t.end(); });\nt.test('totals', t => { t.equal(total([1, 2]), 3, 'the sum'); t.end(); });\nt.test('empties', t => { t.equal(total([]), 0); t.end(); });\n"

PROJECTS: Projects = {
    "deno": (
        {
            "cart.js": ESM,
            "cart_test.js": DENO,
            "more_test.js": "Deno.test('fine', () => {});\nDeno.test.ignore('later', () => {});\n",
            "steps_test.js": DENO_STEPS,
            "bad_test.js": "Deno.test('a', () => {\n",
            "types_test.ts": "const a: number = 'x';\nDeno.test('a', () => { a; });\n",
            "out_test.js": "Deno.test('ok', () => {});\nDeno.test('leaves', () => { Deno.exit(0); });\n",
            "throws_test.js": "Deno.test('ok', () => {});\nthrow new Error('while loading');\n",
            "none.js": "",
        },
        {
            "default": "NO_COLOR=1 deno test cart_test.js",
            "color": "deno test cart_test.js",
            "quiet": "deno test --quiet cart_test.js",
            **{style: f"deno test --reporter={style} cart_test.js" for style in ("dot", "tap", "junit")},
            "parallel": "deno test --parallel cart_test.js more_test.js",
            "green": "deno test more_test.js",
            "steps": "deno test steps_test.js",
            "syntax": "deno test bad_test.js",
            "types": "deno test types_test.ts",
            "exit0": "deno test out_test.js",
            "crash": "deno test throws_test.js",
            "none": "deno test none.js",
            "filtered": "deno test --filter nothing-here cart_test.js",
        },
    ),
    "bun": (
        {
            "package.json": "{}",
            "cart.js": ESM,
            "cart.test.ts": BUN,
            "more.test.ts": "import { it } from 'bun:test';\nit('fine', () => {}); it.skip('later', () => {}); it.todo('some day');\n",
            "bad.test.ts": "import { it } from 'bun:test';\nit('a', () => {\n",
            "throws.test.ts": "import { it } from 'bun:test';\nit('ok', () => {});\nthrow new Error('while loading');\n",
            "out.test.ts": "import { it } from 'bun:test';\nit('ok', () => {}); it('leaves', () => { process.exit(0); });\n",
            "none.test.ts": "",
            "low/bunfig.toml": "[test]\ncoverageThreshold = 0.9\n",
            "low/price.js": "export const net = x => x;\nexport const gross = x => {\n  const y = x * 2;\n  return y;\n};\n",
            "low/price.test.ts": "import { it } from 'bun:test';\nimport { net } from './price.js';\nit('nets', () => { net(1); });\n",
        },
        {
            "default": "bun test ./cart.test.ts ./more.test.ts",
            "color": "FORCE_COLOR=1 bun test ./cart.test.ts",
            "dots": "bun test --dots ./cart.test.ts",
            "failures": "bun test --only-failures ./cart.test.ts",
            "bail": "bun test --bail ./cart.test.ts",
            "actions": "GITHUB_ACTIONS=true bun test ./cart.test.ts",
            "junit": "bun test --reporter=junit --reporter-outfile=r.xml ./cart.test.ts >/dev/null 2>&1; cat r.xml",
            "green": "bun test ./more.test.ts",
            "syntax": "bun test ./bad.test.ts",
            "crash": "bun test ./throws.test.ts",
            "exit0": "bun test ./out.test.ts",
            "exit0-dots": "bun test --dots ./out.test.ts",
            "coverage": "cd low && bun test --coverage",
            "none": "bun test ./none.test.ts",
            "missing": "bun test nothing-here",
        },
    ),
    "ava": (
        {
            "package.json": '{"type":"module"}',
            "cart.js": ESM,
            "cart.test.js": AVA,
            "more.test.js": "import test from 'ava';\ntest('fine', t => t.pass()); test.skip('later', t => t.pass()); test.todo('some day');\n",
            "bad.test.js": "import test from 'ava';\ntest('a', () => {\n",
            "empty.test.js": "import test from 'ava';\ntest('asserts nothing', () => {});\n",
            "out.test.js": "import test from 'ava';\ntest.serial('ok', t => t.pass()); test.serial('leaves', () => { process.exit(0); });\n",
            "none.test.js": "import test from 'ava';\n",
        },
        {
            "default": "ava cart.test.js",
            "color": "FORCE_COLOR=1 ava cart.test.js",
            "verbose": "ava -v -s cart.test.js",
            "parallel": "ava cart.test.js more.test.js",
            "tap": "ava --tap cart.test.js",
            "green": "ava more.test.js",
            "syntax": "ava bad.test.js",
            "message": "ava empty.test.js",
            "exit0": "ava out.test.js",
            "none": "ava none.test.js",
            "filtered": "ava --match nothing-here more.test.js",
        },
    ),
    "jasmine": (
        {
            "package.json": "{}",
            "cart.js": JS_CART,
            "cart.spec.js": js(EXPECT),
            "more.spec.js": "it('fine', () => { expect(1).toBe(1); }); xit('later', () => {});\n",
            "focused.spec.js": "fit('only', () => { expect(1).toBe(1); }); it('other', () => {});\n",
            "out.spec.js": "it('ok', () => {}); it('leaves', () => { process.exit(0); });\n",
            "bad.spec.js": "it('a', () => {\n",
            "none.spec.js": "",
        },
        {
            "default": "jasmine --random=false cart.spec.js",
            "color": "jasmine --color --seed=7 cart.spec.js",
            "parallel": "jasmine --parallel=2 cart.spec.js more.spec.js",
            "green": "jasmine --random=false more.spec.js",
            "focused": "jasmine --random=false focused.spec.js",
            "exit0": "jasmine --random=false out.spec.js",
            "syntax": "jasmine bad.spec.js",
            "none": "jasmine --random=false none.spec.js",
        },
    ),
    "nodetap": (
        {
            "package.json": "{}",
            "cart.js": JS_CART,
            "test/cart.js": TAP,
            "test/more.js": "const t = require('tap'); t.ok(1, 'fine');\n",
            "bad/bad.js": "const t = require('tap'); t.test('a', t => {\n",
            "exits/out.js": "const t = require('tap');\nt.test('ok', t => { t.ok(1); t.end(); }); t.test('leaves', () => { process.exit(0); });\n",
        },
        {
            "default": "tap run --disable-coverage test/cart.js",
            "tap": "tap run -R tap --disable-coverage test/cart.js test/more.js",
            "direct": "node test/cart.js",
            "syntax": "tap run --disable-coverage bad/bad.js",
            "exit0": "tap run --disable-coverage exits/out.js",
        },
    ),
}
