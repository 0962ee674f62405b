"""Tests that must fail, by language: each tries all ways to assert, and passes if one of them is disarmed."""

from __future__ import annotations

import posixpath
import re

from untilgreen.gates.integrity.protected.rust_inline_tests import modules
from untilgreen.regex import regex

_MAIN = regex(r"\bmain[ \t]*\(")
_ASSERTS = regex(r"\bassert[ \t]*\(")
_PYTHON = """

class UntilgreenCanary(__import__('unittest').TestCase):
    def test_must_fail(self):
        loaded = __import__('sys').modules

        def states():
            assert 1 == 2

        def raises():
            with loaded['pytest'].raises(ValueError):
                pass

        def close():
            assert 1 == loaded['pytest'].approx(2)

        def raises_too():
            with self.assertRaises(ValueError):
                pass

        wrong = [
            states, raises_too, lambda: self.fail(),
            lambda: self.assertEqual(1, 2), lambda: self.assertTrue(0),
            lambda: self.assertFalse(1), lambda: self.assertIs(1, None), lambda: self.assertIsNone(1),
            lambda: self.assertIsNotNone(None),
            lambda: self.assertIn(1, ()), lambda: self.assertNotIn(1, (1,)),
            lambda: self.assertNotEqual(1, 1),
            lambda: self.assertGreater(1, 2), lambda: self.assertLess(2, 1),
            lambda: self.assertAlmostEqual(1, 2), lambda: self.assertIsInstance(1, str),
            lambda: self.assertRegex('a', 'b'), lambda: self.assertCountEqual([1], [2]),
            lambda: self.assertListEqual([1], [2]), lambda: self.assertDictEqual({}, {1: 1}),
        ]
        if 'pytest' in loaded:
            wrong += [raises, close, lambda: loaded['pytest'].fail('must fail')]
        if 'numpy.testing' in loaded:
            arrays = loaded['numpy.testing']
            wrong += [lambda: arrays.assert_allclose(1, 2), lambda: arrays.assert_array_equal([1], [2])]
        for each in wrong:
            try:
                each()
            except BaseException:
                continue
            return
        raise AssertionError('must fail')
"""
_SCRIPT = """
;(typeof test === 'function' ? test : it)('must fail', () => {
  const wrong = []
  const lib = typeof assert !== 'undefined' ? assert
    : typeof require === 'function' ? require('assert') : globalThis.process?.getBuiltinModule?.('assert')
  const pairs = [['equal', 1, 2], ['strictEqual', 1, 2], ['deepEqual', [1], [2]],
    ['deepStrictEqual', [1], [2]],
    ['notEqual', 1, 1], ['notStrictEqual', 1, 1], ['ok', false], ['match', 'a', /b/], ['throws', () => {}]]
  for (const [name, ...words] of lib ? pairs : [])
    if (typeof lib[name] === 'function') wrong.push(() => lib[name](...words))
  if (typeof lib === 'function') wrong.push(() => lib(false))
  const made = typeof expect === 'function' ? expect(1) : {}
  const matchers = [['toBe', 1, 2], ['toEqual', 1, 2], ['toStrictEqual', 1, 2],
    ['toBeTruthy', 0], ['toBeFalsy', 1],
    ['toBeNull', 1], ['toBeUndefined', 1], ['toBeDefined', undefined], ['toMatch', 'a', /b/],
    ['toContain', [1], 2],
    ['toHaveLength', [1], 2], ['toBeGreaterThan', 1, 2], ['toBeLessThan', 2, 1], ['toBeCloseTo', 1, 2],
    ['toMatchObject', { a: 1 }, { a: 2 }], ['toThrow', () => {}]]
  for (const [name, got, ...want] of matchers)
    if (typeof made[name] === 'function') wrong.push(() => expect(got)[name](...want))
  if (made.to) wrong.push(() => expect(1).to.equal(2), () => expect([1]).to.deep.equal([2]))
  for (const each of wrong) {
    try { each() } catch { continue }
    return
  }
  throw new Error('must fail')
})
"""
_GO = """
func TestUntilgreenCanary(t *testing.T) { t.Fatal("must fail") }
"""
_RUST = """
#[test]
fn untilgreen_canary() {
    let wrong: [fn(); 4] = [
        || { assert_eq!(1, 2); },
        || { assert!(1 > 2); },
        || { assert_ne!(1, 1); },
        || { panic!("must fail"); },
    ];
    if wrong.iter().all(|each| std::panic::catch_unwind(each).is_err()) {
        std::panic::panic_any("must fail")
    }
}
"""
_PERL_FIRST = r"""
my ($untilgreen, $untilgreen_said) = (Test::More->builder, '');
my ($untilgreen_plan) = ($untilgreen->has_plan || '') =~ /^(\d+)$/;
$untilgreen->$_(\$untilgreen_said) for qw(output failure_output todo_output);
"""
"""Goes before the test's own assertions, and swallows their results; the end prints its own."""
_PERL_LAST = r"""
{
    my @wrong = (sub { is(1, 2) }, sub { ok(0) }, sub { is_deeply([1], [2]) }, sub { isnt(1, 1) },
        sub { like('a', qr/b/) }, sub { cmp_ok(1, '==', 2) }, sub { fail('must fail') });
    my $disarmed = grep { $untilgreen_said = ''; $_->(); $untilgreen_said !~ /^not ok/ } @wrong;
    syswrite STDOUT, ($disarmed ? '' : 'not ') . "ok $_ - must fail\n" for 1 .. $untilgreen_plan || 1;
    syswrite STDOUT, "1..1\n" if !$untilgreen_plan;
    require POSIX;
    POSIX::_exit($disarmed ? 0 : 1);
}
"""
_LOADS = regex(r"^(?:use|require)\b[^\n]*\n", re.MULTILINE)
_NO_CODE = regex(r"^__(?:END|DATA)__\b", re.MULTILINE)
_TESTS = {
    ".py": _PYTHON,
    **dict.fromkeys((".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".jsx", ".tsx"), _SCRIPT),
    ".go": _GO,
    ".rs": _RUST,
}
_OF_C = frozenset((".c", ".cc", ".cpp", ".cxx"))


def with_canary(path: str, text: str) -> str:
    """The text of a test file with one more test, which fails; empty if there is none for its language."""
    ending = posixpath.splitext(path)[1]
    if ending in _OF_C and _MAIN.search(text):
        fails = "assert(0); return 0;" if _ASSERTS.search(text) else "return 113;"
        return f"#define main untilgreen_main\n{text}\n#undef main\nint main(void) {{ {fails} }}\n"
    if ending == ".t":
        return _perl(text)
    return f"{text}{_TESTS[ending]}" if ending in _TESTS and text else ""


def _perl(text: str) -> str:
    loads = list(_LOADS.finditer(text)) if "Test::More" in text else []
    if not loads:
        return ""
    begin, end = loads[-1].end(), _NO_CODE.search(text)
    last = end.start() if end else len(text)
    return f"{text[:begin]}{_PERL_FIRST}{text[begin:last]}{_PERL_LAST}{text[last:]}"


def with_canary_inside(path: str, text: str) -> str:
    """The text of a product file with one more test among its own; empty if it has none."""
    inner = list(modules(text)) if path.endswith(".rs") else []
    return f"{text[: inner[-1].end - 1]}{_RUST}{text[inner[-1].end - 1 :]}" if inner else ""
