"""One module for each tool whose printed output is understood.

findings      What the parsers share: findings about places and tests, results of runners and linters.
json_block    A JSON list or object in the middle of other output, such as a wrapper's.
pytest        pytest: its summary names what failed, its blocks explain it, its last line counts.
pytest_lines  The single lines that pytest prints, each read by its structure alone.
unittest      unittest, and Django's runner on top of it: headers name failures, `Ran N tests` ends a run.
jest          jest: a header for each file, a bullet for each failure, counts at the end.
vitest        vitest: ` FAIL  file > suite > test` below a ruler, two lines of counts at the end.
mocha         mocha: `3 passing`, `1 failing`, then a numbered list of titles.
node          node's own test runner in its `spec` form: `✖ name (1.2ms)`, counts at the end.
deno          deno test: `totals ... FAILED (1ms)`, errors with their place, a line of counts.
bun           bun test: `(fail) cart > totals` below its error, counts, `Ran 3 tests across 1 file.`
ava           ava: `✘ [fail]: totals`, each failure explained below a ruler, a count.
jasmine       jasmine: dots, numbered failures, `3 specs, 1 failure`.
tap           TAP: `not ok 2 - name`, subtests four spaces further in, a plan.
gotest        go test: `--- FAIL: TestX` and a line for each package, or `-json` events.
cargotest     cargo test: `test name ... FAILED`, a block for each failure, counts for each target.
ctest         ctest: `2/3 Test #2: name ....***Failed`, a percentage at the end.
maven         maven, and surefire in it: `[ERROR] a.BTest.c ... <<< FAILURE!`, `[ERROR] A.java:[3,4] message`.
phpunit       PHPUnit: `There were 3 failures:`, numbered tests, a line of counts.
rspec         rspec: numbered failures, a line of counts, the commands that run each failure again.
prove         prove, Perl's harness: a report of the files that failed, `Files=3, Tests=5`.
busted        busted: `2 successes / 1 failure`, then `Failure -> file @ line` and a name.
minitest      minitest: `1) Failure:`, a test and its place below it, a line of counts.
gradle        gradle: `ATest > adds() FAILED`, `5 tests completed, 1 failed`; and Kotlin's compiler.
dotnet        dotnet test: `Failed Name [12 ms]`, its message, a line of counts; and MSBuild's errors.
swift         swift test: `Test Case 'A.testB' failed`, or `✘ Test "x" failed` of Swift Testing.
bazel         bazel test: `//pkg:name  FAILED in 1.2s`, and errors where it does not build.
json_reports  Test runners whose output is JSON: mocha, jest and vitest, rspec; and cargo's messages.
coverage      Coverage below its threshold, as reported by jest, c8, nyc, vitest and coverage.py.
cmake         CMake's own errors, before anything is built.
eslint        eslint: a file, rows of `3:4  error  message  rule` below it, a count; or JSON.
tsc           The TypeScript compiler: `a.ts(3,4): error TS2304: message`, or the pretty form.
ruff          ruff: `a.py:3:4: F401 message`, the same with an arrow below, or JSON.
mypy          mypy: `a.py:3: error: message  [code]`.
gcc           gcc and clang: `a.c:3:4: error: message`, and symbols that the linker can't find.
file_line     Places in files, from any tool: `file:line: message`, arrows, rows, tracebacks.

Used by: `recognize`, which calls each module's `read` with an output's lines; `reports/tap` shares `tap`.
Returns a ToolResult, or None if the tool did not print these lines. Parsers don't know each other.
"""
