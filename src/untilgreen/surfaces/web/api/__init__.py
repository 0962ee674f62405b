"""The contract of the HTTP API: the table of operations, what they take and answer, and its OpenAPI document.

operations  The one table of operations: the routes and the OpenAPI document are both made from it.
requests    What requests carry, and the two short answers.
values      What the API answers, as types.
openapi     The OpenAPI 3.1 document, made from the table of operations and our own types.

Used by: the application, the handlers and the Python client. Uses: core values; nothing here reads a run.
"""
