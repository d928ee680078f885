// Package api is the HTTP API of the server, below /api/v1: coding agents report events and read
// the state of their pull requests, and remote reviewers answer requests. It authenticates, limits
// and decodes requests, calls a use case, and renders the result. It decides nothing about pull
// requests.
//
// A request is authenticated in this order:
//
//  1. The number of unauthenticated requests is limited, for each client address and in total. Only
//     a token that was valid before is exempt. So nobody can guess tokens, and a flood of wrong
//     ones does not reach the database.
//  2. The token is looked up, or verified with the keys of GitHub Actions. A valid token is trusted
//     for [trustFor] without another look, so a revoked token stops working within that time.
//  3. The number of requests of each token is limited, and so is the number of requests that use
//     the database at the same time.
//
// Every answer is JSON: the result, or a problem in the form of RFC 9457. The API is described in
// config/schemas/openapi.json. The tests compare the API with it, in both directions.
package api
