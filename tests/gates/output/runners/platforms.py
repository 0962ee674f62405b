"""Maven with surefire, and Swift's own runner: Debian has both, and they can be unpacked into a folder."""

# ruff: noqa: E501 - whole files as text
from __future__ import annotations

from tests.gates.output.runners.compiled import JAVA_CART, JUNIT
from tests.gates.output.runners.styles import Projects

POM = "<project>\n  <modelVersion>4.0.0</modelVersion>\n  <groupId>shop</groupId>\n  <artifactId>shop</artifactId>\n  <version>1</version>\n  <properties>\n    <maven.compiler.source>11</maven.compiler.source>\n    <maven.compiler.target>11</maven.compiler.target>\n    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>\n  </properties>\n  <dependencies>\n    <dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.x</version><scope>test</scope></dependency>\n  </dependencies>\n</project>\n"
UNVERSIONED = POM.replace("<version>4.x</version>", "")
"""A project with a dependency that has no version."""
JUPITER_POM = POM.replace(
    "<groupId>junit</groupId><artifactId>junit</artifactId><version>4.x</version>",
    "<groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId><version>debian</version>",
)
JUPITER = JUNIT.replace("org.junit.Assert.", "org.junit.jupiter.api.Assertions.").replace(
    "org.junit.Test", "org.junit.jupiter.api.Test"
)
EXITS = JUNIT.replace("assertEquals(3, Cart.total(1, 2))", "System.exit(0)")
MAVEN = "mvn -B -o -Dmaven.repo.local=${MAVEN_REPO:-/usr/share/maven-repo}"

PACKAGE = '// swift-tools-version:5.5\nimport PackageDescription\n\nlet package = Package(\n    name: "Shop",\n    targets: [.target(name: "Shop"), .testTarget(name: "ShopTests", dependencies: ["Shop"])]\n)\n'
SWIFT = "public func total(_ items: [Int]) -> Int { items.first ?? 0 }\n"
XCTEST = "import XCTest\n@testable import Shop\n\nfinal class CartTests: XCTestCase {\n    func testAdds() { XCTAssertEqual(total([1]), 1) }\n    func testTotals() { XCTAssertEqual(total([1, 2]), 3) }\n    func testEmpties() { XCTAssertEqual(total([]), 0) }\n}\n"
TESTING = 'import Testing\n@testable import Shop\n\n@Test func adds() { #expect(total([1]) == 1) }\n@Test("sums up") func totals() { #expect(total([1, 2]) == 3) }\n@Test(arguments: [0, 7]) func same(item: Int) { #expect(total([item]) == 0) }\n'


def _package(folder: str, tests: str) -> dict[str, str]:
    """A Swift package with these tests."""
    return {
        f"{folder}Package.swift": PACKAGE,
        f"{folder}Sources/Shop/Cart.swift": SWIFT,
        f"{folder}Tests/ShopTests/CartTests.swift": tests,
    }


def _maven(folder: str, pom: str, tests: str) -> dict[str, str]:
    """A Maven project with these tests."""
    return {
        f"{folder}pom.xml": pom,
        f"{folder}src/main/java/shop/Cart.java": JAVA_CART,
        f"{folder}src/test/java/shop/CartTest.java": tests,
    }


PROJECTS: Projects = {
    "maven": (
        {
            **_maven("", POM, JUNIT),
            **_maven("jupiter/", JUPITER_POM, JUPITER),
            **_maven("exits/", POM, EXITS),
            **_maven("unversioned/", UNVERSIONED, JUNIT),
        },
        {
            "default": f"{MAVEN} test",
            "color": f"{MAVEN} -Dstyle.color=always test",
            "quiet": f"{MAVEN} -q test",
            "parallel": f"{MAVEN} -T 2 test",
            "junit": f"{MAVEN} -q test >log; cat target/surefire-reports/TEST-*.xml",
            "jupiter": f"cd jupiter && {MAVEN} test",
            "green": f"{MAVEN} -Dtest=CartTest#adds test",
            "none": f"{MAVEN} -Dtest=Nothing test",
            "exit0": f"cd exits && {MAVEN} test",
            "configure": f"cd unversioned && {MAVEN} test",
            "compile": f"sed -i 's/return items/return itms/' src/main/java/shop/Cart.java; {MAVEN} test",
        },
    ),
    "swift": (
        {
            **_package("", XCTEST),
            **_package("crashes/", XCTEST.replace("XCTAssertEqual(total([1, 2]), 3)", 'fatalError("lost")')),
            **_package("exits/", XCTEST.replace("XCTAssertEqual(total([1, 2]), 3)", "exit(0)")),
            **_package("testing/", TESTING),
            **_package(
                "ends/",
                TESTING.replace("#expect(total([1, 2]) == 3)", "exit(0)").replace(
                    "import Testing", "import Foundation\nimport Testing"
                ),
            ),
        },
        {
            "default": "swift test",
            "parallel": "swift test --parallel",
            "xunit": "swift test --parallel --xunit-output r.xml >log; cat r.xml",
            "green": "swift test --filter testAdds",
            "parallel-green": "swift test --parallel --filter 'testAdds|testEmpties'",
            "none": "swift test --filter noSuchTest",
            "crash": "cd crashes && swift test",
            "exit0": "cd exits && swift test",
            "testing": "cd testing && swift test",
            "testing-green": "cd testing && swift test --filter adds",
            "testing-exit0": "cd ends && swift test",
            "compile": "sed -i 's/items.first/itms.first/' Sources/Shop/Cart.swift; swift test",
        },
    ),
}
