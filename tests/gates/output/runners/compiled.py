"""Runners of compiled languages, and their build tools."""

# ruff: noqa: E501 - whole files as text
from __future__ import annotations

from tests.gates.output.runners.styles import Projects

GO = "package shop\n\nfunc Total(items []int) int {\n\tif len(items) == 0 {\n\t\treturn 0\n\t}\n\treturn items[0]\n}\n"
GO_TEST = 'package shop\n\nimport "testing"\n\nfunc TestAdds(t *testing.T) {\n\tif Total([]int{1}) != 1 {\n\t\tt.Error("one")\n\t}\n}\n\nfunc TestTotals(t *testing.T) {\n\tif got := Total([]int{1, 2}); got != 3 {\n\t\tt.Errorf("got %d, want 3", got)\n\t}\n}\n\nfunc TestEmpties(t *testing.T) {}\n'
RS = "pub fn total(items: &[i32]) -> i32 { items.first().copied().unwrap_or(0) }\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn adds() { assert_eq!(total(&[1]), 1); }\n    #[test]\n    fn totals() { assert_eq!(total(&[1, 2]), 3); }\n    #[test]\n    fn empties() { assert_eq!(total(&[]), 0); }\n}\n"
C = '#include <stdio.h>\n#include <string.h>\nint total(int a, int b) { return a - b; }\nint main(int n, char **v) {\n  if (n > 1 && !strcmp(v[1], "totals") && total(1, 2) != 3) { printf("cart.c:5: totals: got %d\\n", total(1, 2)); return 1; }\n  return 0;\n}\n'
CMAKE = "cmake_minimum_required(VERSION 3.10)\nproject(shop C)\nenable_testing()\nadd_executable(cart cart.c)\nadd_test(NAME adds COMMAND cart adds)\nadd_test(NAME totals COMMAND cart totals)\nadd_test(NAME empties COMMAND cart empties)\n"
JAVA_CART = "package shop;\n\npublic class Cart {\n    public static int total(int... items) {\n        return items.length == 0 ? 0 : items[0];\n    }\n}\n"
JUNIT = "package shop;\n\nimport static org.junit.Assert.assertEquals;\nimport org.junit.Test;\n\npublic class CartTest {\n    @Test public void adds() { assertEquals(1, Cart.total(1)); }\n    @Test public void totals() { assertEquals(3, Cart.total(1, 2)); }\n    @Test public void empties() { assertEquals(0, Cart.total()); }\n}\n"
GRADLE = "apply plugin: 'java'\nrepositories { flatDir { dirs '/usr/share/java' } }\ndependencies { testCompile name: 'junit4'; testCompile name: 'hamcrest' }\nif (project.hasProperty('all')) test.testLogging.events 'passed', 'failed', 'skipped'\n"
KOTLIN = 'package shop\n\nfun total(items: List<Int>): Int = totl(items)\n\nfun name(): Int = "cart"\n'
BAZEL = "bazel --output_user_root=$PWD/out test " + " ".join(
    f"--override_repository={name}=$PWD/stubs/{name}"
    for name in ("remote_coverage_tools", "rules_cc", "rules_java")
)
"""With stubs for what bazel would download."""
BAZEL_STUBS = {
    "remote_coverage_tools/BUILD": '[sh_binary(name=name, srcs=["x.sh"], visibility=["//visibility:public"]) for name in ("coverage_report_generator", "coverage_output_generator")]\n',
    "remote_coverage_tools/x.sh": "",
    **{
        f"rules_{language}/{language}/defs.bzl": "".join(
            f"{rule} = native.{rule}\n" for rule in rules.split()
        )
        for language, rules in (
            (
                "cc",
                "cc_binary cc_library cc_test cc_import cc_toolchain cc_toolchain_suite objc_library cc_proto_library fdo_profile fdo_prefetch_hints",
            ),
            (
                "java",
                "java_binary java_library java_test java_import java_plugin java_runtime java_toolchain java_package_configuration java_proto_library java_lite_proto_library",
            ),
        )
    },
    **dict.fromkeys(("rules_cc/cc/BUILD", "rules_java/java/BUILD"), ""),
    **dict.fromkeys(
        (f"{name}/WORKSPACE" for name in ("remote_coverage_tools", "rules_cc", "rules_java")), ""
    ),
}

PROJECTS: Projects = {
    "go": (
        {
            "go.mod": "module example.org/shop\n\ngo 1.19\n",
            "cart.go": GO,
            "cart_test.go": GO_TEST,
            "bad/bad.go": 'package bad\n\nfunc A() int { return "x" }\n',
            "bad/bad_test.go": 'package bad\n\nimport "testing"\n\nfunc TestA(t *testing.T) { A() }\n',
            "none/none.go": "package none\n",
            "exits/e_test.go": 'package exits\n\nimport (\n\t"os"\n\t"testing"\n)\n\nfunc TestOk(t *testing.T) {}\n\nfunc TestLeaves(t *testing.T) { os.Exit(0) }\n',
            "slow/s_test.go": 'package slow\n\nimport (\n\t"testing"\n\t"time"\n)\n\nfunc TestSlow(t *testing.T) { time.Sleep(5 * time.Second) }\n',
            "panics/p_test.go": 'package panics\n\nimport "testing"\n\nfunc TestOk(t *testing.T) {}\n\nfunc TestPanics(t *testing.T) {\n\tvar m map[string]int\n\tm["a"] = 1\n}\n',
        },
        {
            "default": "go test .",
            "verbose": "go test -v .",
            "json": "go test -json .",
            "short": "go test -short -count=1 .",
            "cover": "go test -cover .",
            "parallel": "go test -parallel 2 -race=false ./ ./none",
            "compile": "go test ./bad",
            "panic": "go test ./panics",
            "panic-verbose": "go test -v ./panics",
            "panic-json": "go test -json ./panics",
            "exit0": "go test -v ./exits",
            "timeout": "go test -timeout 200ms ./slow",
            "none": "go test ./none",
            "vet": "go vet ./bad",
        },
    ),
    "cargo": (
        {
            "Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n',
            "src/lib.rs": RS,
            "tests/api.rs": "#[test]\nfn fine() {}\n",
            "other/Cargo.toml": '[workspace]\n[package]\nname = "other"\nversion = "0.1.0"\nedition = "2021"\n',
            "other/src/lib.rs": "#[test]\nfn ok() {}\n\n#[test]\nfn leaves() { std::process::exit(0) }\n",
        },
        {
            "default": "cargo test --offline",
            "color": "cargo test --offline --color=always -- --color=always",
            "quiet": "cargo test --offline -q",
            "nofailfast": "cargo test --offline --no-fail-fast",
            "threads": "cargo test --offline -- --test-threads=1 --nocapture",
            "terse": "cargo test --offline -- --format terse",
            "none": "cargo test --offline no_such_test",
            "exit0": "cargo test --offline --manifest-path other/Cargo.toml -- --test-threads=1",
            "compile": "sed -i 's/unwrap_or(0)/unwrap_or(\"x\")/' src/lib.rs; cargo test --offline",
        },
    ),
    "ctest": (
        {
            "CMakeLists.txt": CMAKE,
            "cart.c": C,
            "crashes/CMakeLists.txt": CMAKE,
            "crashes/cart.c": "#include <signal.h>\nint main(int n, char **v) { return v[1][0] == 't' ? raise(SIGSEGV) : 0; }\n",
        },
        {
            "default": "cmake -S . -B b >/dev/null && cmake --build b >/dev/null && ctest --test-dir b",
            "verbose": "ctest --test-dir b -V",
            "failure": "ctest --test-dir b --output-on-failure",
            "parallel": "ctest --test-dir b -j 2 --output-on-failure",
            "make": "make -C b test",
            "none": "ctest --test-dir b -R no_such_test",
            "quiet": "ctest --test-dir b --quiet; ctest --test-dir b --progress",
            "junit": "ctest --test-dir b --quiet --output-junit r.xml; cat b/r.xml",
            "segfault": "cmake -S crashes -B b3 >/dev/null && cmake --build b3 >/dev/null && ctest --test-dir b3",
            "compile": "sed -i 's/return a - b/return c/' cart.c; cmake --build b",
            "configure": "sed -i 's/^project/find_package(Nowhere REQUIRED)\\nproject/' CMakeLists.txt;"
            " cmake -S . -B b2",
        },
    ),
    "gradle": (
        {
            "build.gradle": GRADLE,
            "src/main/java/shop/Cart.java": JAVA_CART,
            "src/test/java/shop/CartTest.java": JUNIT,
            "leaves/settings.gradle": "",
            "leaves/build.gradle": GRADLE,
            "leaves/src/main/java/shop/Cart.java": JAVA_CART,
            "leaves/src/test/java/shop/CartTest.java": JUNIT.replace(
                "assertEquals(3, Cart.total(1, 2))", "System.exit(0)"
            ),
        },
        {
            "default": "gradle --offline --no-daemon test",
            "all": "gradle --offline --no-daemon -Pall test",
            "plain": "gradle --offline --no-daemon --console=plain --continue test",
            "exit0": "gradle --offline --no-daemon -p leaves test",
            "color": "gradle --offline --no-daemon --console=rich cleanTest test",
            "none": "gradle --offline --no-daemon test --tests '*Nothing*'",
            "configure": "echo \"nothing('x')\" > broken.gradle; gradle --offline --no-daemon -b broken.gradle test",
            "compile": "sed -i 's/return items/return itms/' src/main/java/shop/Cart.java;"
            " gradle --offline --no-daemon test",
        },
    ),
    "kotlinc": (
        {"Cart.kt": KOTLIN, "Warns.kt": "fun main() { val unused = 1 }\n"},
        {"default": "kotlinc Cart.kt -d out.jar", "warning": "kotlinc -Werror Warns.kt -d out.jar"},
    ),
    "bazel": (
        {
            **{f"stubs/{name}": text for name, text in BAZEL_STUBS.items()},
            ".bazelignore": "out\nstubs\n",
            "WORKSPACE": 'workspace(name = "shop")\n',
            "cart/BUILD": '[sh_test(name = name + "_test", size = "small", srcs = [name + "_test.sh"]) for name in ("adds", "totals", "empties")]\n',
            "cart/adds_test.sh": "#!/bin/sh\n",
            "cart/empties_test.sh": "#!/bin/sh\n",
            "cart/totals_test.sh": '#!/bin/sh\necho "expected 3, got 1"\nexit 1\n',
            "none/BUILD": "",
            "broken/BUILD": 'sh_test(name = "broken_test", srcs = ["no_such_file.sh"])\n',
        },
        {
            "default": f"chmod +x cart/*.sh; {BAZEL} //cart/...",
            "cached": f"{BAZEL} //cart/...",
            "errors": f"{BAZEL} --spawn_strategy=local --test_output=errors //cart/...",
            "color": f"{BAZEL} --color=yes //cart/...",
            "none": f"{BAZEL} //none/...",
            "build": f"{BAZEL} //broken/...",
        },
    ),
}
