// Package ghtest is a GitHub that lives in the process: a stateful stand-in
// for tests, and for the demo, which has no account to work on.
//
// It speaks the part of GitHub that a review App meets. REST answers come from
// repositories backed by real git, under the rules GitHub applies: App JWTs and
// installation tokens are verified and narrowed, permissions looked at per
// route, bodies held against their schema, lists paged, limits counted, ETags
// bound to the token. Whatever changes the state sends the webhook that GitHub
// would send, signed, and keeps it in a delivery log from which it can be sent
// again.
//
// A test reads as a conversation:
//
//	gh := ghtest.Start(t, ghtest.Options{WebhookURL: hook, WebhookSecret: secret})
//	repo := gh.Repo("acme/shop")
//	repo.Commit("main", ghtest.Files{"main.go": "package main\n"}, "start")
//	pr := repo.OpenPR(ghtest.PR{Title: "Add tax", Author: "alice", Files: ghtest.Files{"tax.go": "..."}})
//	err := gh.WaitFor(ctx, func() bool { return len(pr.CheckRuns()) == 1 && pr.CheckRuns()[0].Completed() })
//	pr.Push(ghtest.Files{"tax.go": "..."}, "fix")
//	pr.Comment("alice", "/review")
//
// Methods that change the state deliver their webhook before they return; so
// what the App answered to it is in [Webhook.Deliveries]. Events that the App's
// own writes cause go out in the background, as they would, and
// [Webhook.Settle] waits for them.
//
// Trouble is made with [Server.On], which puts a function around every request
// of a route: it can hold the request, refuse it, answer it and lose the
// answer, cut it short or drop the connection. [Trouble] makes it by chance, the
// same for the same seed. Rate limits that it or [Server.Refuse] imposes hold
// until they end, and [CallLog.EarlyRetries] lists the requests of clients that did not wait.
//
// What holds for all of an account's repositories is in its repository
// ".github", which is made like any other.
//
// Repositories move as they do on GitHub: [Settings.Rename],
// [Settings.RenameDefaultBranch], [Settings.Transfer], [Settings.Delete],
// [Settings.SetArchived], [Settings.SetInstalled]; [Repo.Forget] removes a commit.
// What the App has left behind is judged by [PullRequest.Faults], and how long a
// review took in round trips by [Depth].
//
// Fetches by git are answered too, over HTTP with an installation token. [Repo.PushGit] takes in
// commits that git made elsewhere.
//
// The stand-in answers the GraphQL that threads of comments on lines need, by GitHub's schema.
//
// What is not here: the rest of GraphQL, pushes by git, OAuth, user tokens, pending reviews.
// Events are sent whether or not the installation may read what they are about.
// A request to any other route is answered 404 and kept in
// [CallLog.Unexpected], which a test should find empty.
package ghtest
