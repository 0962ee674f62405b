"""Valid inputs for parsers that are mostly C or one regular expression, where the fuzzer sees no branches."""

from __future__ import annotations

REPORTS = {
    ".xml": (
        b'<?xml version="1.0"?><testsuites><testsuite name="s"><testcase classname="a.b" name="t[1]" '
        b'file="a.py" line="3" time="0.1"><failure type="E" message="1 != 2">long\n&amp; &#10; text</failure>'
        b"</testcase><testcase name='u'><skipped/></testcase></testsuite></testsuites>",
        b'<testsuite><testcase name="t"><error message="x"><![CDATA[y]]></error></testcase></testsuite>',
        b'<!DOCTYPE a [<!ENTITY b "b">]><testsuite><testcase name="&b;"/></testsuite>',
    ),
    ".json": (
        b'{"results":{"tool":{"name":"jest"},"summary":{"tests":2,"failed":1},"tests":[{"name":"a","status":"failed",'
        b'"message":"m","suite":["s"],"filePath":"a.js","line":3},{"name":"b","status":"passed"}]}}',
    ),
    ".sarif": (
        b'{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t","rules":[{"id":"r"}]}},"results":[{"ruleId":"r",'
        b'"ruleIndex":0,"level":"error","message":{"text":"m"},"locations":[{"physicalLocation":{"artifactLocation":'
        b'{"uri":"file:///a%20b.c"},"region":{"startLine":3}}}],"suppressions":[]}]}]}',
    ),
    ".tap": (
        b"TAP version 14\n1..2\nok 1 - a\nnot ok 2 - b # TODO c\n  ---\n  message: 'x'\n  ...\nBail out! d\n",
    ),
}
DOCUMENT = (
    b'[{"filePath":"/a.js","messages":[{"ruleId":"r","severity":2,"message":"m","line":1,"column":2}],'
    b'"errorCount":1}]',
    b'[{"code":"E1","filename":"a.py","location":{"row":1,"column":2},"message":"m"}]',
    b'{"type":"suite","event":"started"}\n{"Action":"fail","Package":"p","Test":"t"}\n',
)
TROUBLE = (
    b"Error 429: rate limit reached. Please try again in 1h 5m 3.5s.",
    b"You've hit your usage limit. Your limit will reset at 3pm (Europe/Berlin).",
    b'{"error":{"type":"authentication_error","message":"invalid x-api-key"}} status code: 401',
    b"quota resets at 2026-07-26T10:00:00Z; retry-after: 120; ECONNRESET, socket hang up",
    b"resets Jul 26, 10am (UTC) in 3 days 4 hours",
)
PAYLOADS = (
    b'{"session_id":"s","transcript_path":"/t","cwd":"/","hook_event_name":"Stop","stop_hook_active":true,'
    b'"last_assistant_message":"m","background_tasks":[{"id":"1","status":"running","description":"d"}]}',
    b'{"sessionId":"s","timestamp":7,"cwd":"/","prompt":"p","transcriptPath":"/t"}',
    b'{"sessionID":"s","directory":"/","text":"t","error":{"name":"MessageAbortedError","data":{"message":"m"}}}',
    b'{"session_id":"s","prompt":"half a character: \xc3"}',
    b'\xef\xbb\xbf{"user_prompt":"p","error":"e","prompt_response":"r"}',
)
LETTERS = (
    b'{"type":"Answer","at":1.0,"by":"me","choice":"allow","argument":"a.py","note":"n"}',
    b'{"type":"Steer","at":1.0,"id":"1","note":"n"}',
    b'{"type":"Cancel","at":1e308,"reason":"r"}',
)
HALVES = (b'{"session":"\xc3"}', b'{"run":"\xc3"}', b'{"pid":1,"marker":"\xc3"}', b'{"host":"\xc3"}')
"""Half a character inside a string, for which decoders raise a different error."""
