// Package llmtest is an in-process server of a language model: a stand-in for tests of code
// that asks models.
//
// It speaks Anthropic's Messages API (POST /v1/messages, as JSON and as a stream) and
// OpenAI's Chat Completions API (POST /v1/chat/completions). It enforces their rules for
// headers, keys, models, roles, limits and schemas. It refuses other requests in their words,
// and records them for [Server.Mistakes]. It accepts no tools, because nothing here has any.
//
// A function answers every question:
//
//	models := llmtest.Start(t, llmtest.Options{}, func(r *llmtest.Request) llmtest.Reply {
//		if r.N == 1 {
//			return llmtest.Limited(2 * time.Second)
//		}
//		return llmtest.Text(`{"findings": []}`)
//	})
//	model, err := sdk.New(models.Endpoint(config.APIAnthropic), models.Key())
//
// Every received byte is recorded, including headers, so that a test can look for secrets
// that should not have left: [Server.Sent].
package llmtest
