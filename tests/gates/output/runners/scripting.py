"""Runners of Ruby, PHP, Lua and Perl."""

# ruff: noqa: E501 - whole files as text
from __future__ import annotations

from tests.gates.output.runners.styles import Projects

RSPEC = "require_relative 'cart'\nRSpec.describe 'cart' do\n  it('adds') { expect(total([1])).to eq 1 }\n  it('totals') { expect(total([1, 2])).to eq 3 }\n  it('empties') { expect(total([])).to eq 0 }\nend\n"
RB_CART = "def total(items) = items.first || 0\n"
MINITEST = "require 'minitest/autorun'\nrequire_relative 'cart'\nclass CartTest < Minitest::Test\n  def test_adds = assert_equal(1, total([1]))\n  def test_totals = assert_equal(3, total([1, 2]))\n  def test_empties = assert_equal(0, total([]))\nend\n"
PHP = "<?php\nuse PHPUnit\\Framework\\TestCase;\nfunction total($items) { return $items[0] ?? 0; }\nfinal class CartTest extends TestCase {\n  public function testAdds() { $this->assertSame(1, total([1])); }\n  public function testTotals() { $this->assertSame(3, total([1, 2])); }\n  public function testEmpties() { $this->assertSame(0, total([])); }\n}\n"
LUA = "local function total(items) return items[1] or 0 end\ndescribe('cart', function()\n  it('adds', function() assert.are.equal(1, total({1})) end)\n  it('totals', function() assert.are.equal(3, total({1, 2})) end)\n  it('empties', function() assert.are.equal(0, total({})) end)\nend)\n"
PERL = "use strict; use warnings; use Test::More tests => 3;\nsub total { my @i = @_; return @i ? $i[0] : 0 }\nis(total(1), 1, 'adds');\nis(total(1, 2), 3, 'totals');\nis(total(), 0, 'empties');\n"

PROJECTS: Projects = {
    "rspec": (
        {
            "cart.rb": RB_CART,
            "cart_spec.rb": RSPEC,
            "bad_spec.rb": "RSpec.describe('a') do\n",
            "none_spec.rb": "",
            "out_spec.rb": RSPEC.replace("expect(total([1, 2])).to eq 3", "exit 0"),
        },
        {
            "default": "rspec cart_spec.rb",
            "documentation": "rspec -fd cart_spec.rb",
            "color": "rspec --force-color cart_spec.rb",
            "json": "rspec -fj cart_spec.rb",
            "syntax": "rspec bad_spec.rb",
            "none": "rspec none_spec.rb",
            "exit0": "rspec out_spec.rb",
            "quiet": "rspec --fail-fast --no-profile -fp cart_spec.rb",
        },
    ),
    "minitest": (
        {
            "cart.rb": RB_CART,
            "cart_test.rb": MINITEST,
            "none_test.rb": "require 'minitest/autorun'\n",
            "out_test.rb": MINITEST.replace("assert_equal(3, total([1, 2]))", "exit!(0)"),
            "bad_test.rb": "class A <\n",
        },
        {
            "default": "ruby cart_test.rb",
            "verbose": "ruby cart_test.rb -v",
            "none": "ruby none_test.rb",
            "exit0": "ruby out_test.rb --seed 1",
            "exit0-verbose": "ruby out_test.rb --verbose --seed 1",
            "syntax": "ruby bad_test.rb",
        },
    ),
    "phpunit": (
        {
            "CartTest.php": PHP,
            "BadTest.php": "<?php\nclass BadTest extends {\n",
            "OutTest.php": PHP.replace("CartTest", "OutTest").replace(
                "$this->assertSame(3, total([1, 2]));", "exit(0);"
            ),
            "FatalTest.php": PHP.replace("CartTest", "FatalTest").replace(
                "$this->assertSame(3, total([1, 2]));", "no_such_function();"
            ),
        },
        {
            "default": "phpunit CartTest.php",
            "color": "phpunit --colors=always CartTest.php",
            "testdox": "phpunit --testdox CartTest.php",
            "syntax": "phpunit BadTest.php",
            "none": "phpunit --filter nothing CartTest.php",
            "verbose": "phpunit -v --debug CartTest.php",
            "junit": "phpunit --log-junit r.xml CartTest.php >/dev/null; cat r.xml",
            "exit0": "phpunit OutTest.php",
            "exit0-testdox": "phpunit --testdox OutTest.php",
            "crash": "phpunit FatalTest.php",
        },
    ),
    "busted": (
        {
            "cart_spec.lua": LUA,
            "out_spec.lua": LUA.replace("assert.are.equal(3, total({1, 2}))", "os.exit(0)"),
            "bad_spec.lua": "describe('a', function(\n",
            "none_spec.lua": "",
        },
        {
            "default": "busted cart_spec.lua",
            "plain": "busted -o plainTerminal cart_spec.lua",
            "tap": "busted -o TAP cart_spec.lua",
            "junit": "busted -o junit cart_spec.lua",
            "verbose": "busted -v cart_spec.lua",
            "exit0": "busted out_spec.lua",
            "exit0-tap": "busted -o TAP out_spec.lua",
            "syntax": "busted bad_spec.lua",
            "none": "busted none_spec.lua",
        },
    ),
    "prove": (
        {
            "t/out.t": PERL.replace("is(total(1, 2), 3, 'totals');", "exit 0;"),
            "t/done.t": "use Test::More;\nok(1, 'one');\nexit 0;\ndone_testing;\n",
            "t/syntax.t": "use Test::More\n  ;;(\n",
            "t/cart.t": PERL,
            "t/bad.t": "use Test::More tests => 2;\nok(1, 'one');\ndie 'half';\n",
        },
        {
            "default": "prove t/cart.t",
            "verbose": "prove -v t/cart.t",
            "parallel": "prove -j2 t/cart.t t/bad.t",
            "color": "prove --color t/cart.t",
            "quiet": "prove -Q t/cart.t",
            "exit0": "prove t/out.t",
            "exit0-direct": "perl t/done.t",
            "syntax": "prove t/syntax.t",
            "none": "prove nothing/",
        },
    ),
}
