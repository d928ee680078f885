// Package api is the HTTP API of the server, below /api/v1: coding agents report events and read
// the state of their pull requests, and remote reviewers answer requests. It authenticates,
// bounds, decodes, calls a use case, and renders what that returns. It decides nothing about pull
// requests.
//
// Who calls is found out in this order:
//
//  1. The number of requests that are not authenticated is limited, for each client address and
//     for all together. Only a token that was valid before passes this limit. So nobody can guess
//     tokens, and a flood of wrong ones does not reach the database.
//  2. The token is looked up, or verified by the keys of GitHub Actions. What was valid counts for
//     [trustFor] without another look, so a revoked token stops working after that time at most.
//  3. The number of requests of each token is limited, and so is the number of requests that use
//     the database at the same time.
//
// Every answer is JSON: the result, or a problem as RFC 9457 describes it. The document of the API
// is config/schemas/openapi.json. The tests hold the two against each other, in both directions.
package api
