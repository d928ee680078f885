// Package llmtest is the server of a language model that lives in the process: a
// stand-in for tests of whatever asks models.
//
// It speaks Anthropic's Messages API (POST /v1/messages, as JSON and as a stream)
// and OpenAI's Chat Completions API (POST /v1/chat/completions), and takes
// requests by their rules: headers, keys, models, roles, limits, what a schema may
// hold. What it does not take it answers as they do, and keeps for
// [Server.Mistakes]. It takes no tools: nobody here has any.
//
// A function answers, as often as the server is asked:
//
//	models := llmtest.Start(t, llmtest.Options{}, func(r *llmtest.Request) llmtest.Reply {
//		if r.N == 1 {
//			return llmtest.Limited(2 * time.Second)
//		}
//		return llmtest.Text(`{"findings": []}`)
//	})
//	model, err := sdk.New(models.Endpoint(config.APIAnthropic), models.Key())
//
// Every byte that came is kept, headers and all, so that a test can look for
// secrets that should not have left: [Server.Sent].
package llmtest
