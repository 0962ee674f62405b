// The types of the API, for `make check-page`; made from the OpenAPI document, and empty at run time.
/** @typedef {import("untilgreen-api").components["schemas"]} Schemas */
export {};
