// Package sdk asks language models by Anthropic's Messages API and by OpenAI's Chat
// Completions API, which many other servers speak.
//
// [New] makes a model of an endpoint's settings, over the vendor's own SDK, of
// which it takes the one method that it needs: what the SDKs would read from the
// environment (addresses, keys, headers, organisations, profiles, tracing) is not
// read, and they try nothing again. docs/decisions/0013-model-sdks.md says why.
// Requests go to the endpoint's host alone, no redirect is followed, and no more
// than 8 MiB of an answer are read, unpacked, nor more values than any has. How long
// to wait is ctx's business.
//
// A question that was refused, was cut short or got lost is not asked again here, with
// one exception. A server may answer 400 or 422 and name max_completion_tokens, or
// the form of the answer, as what it does not know. It is asked once more without, and
// that is remembered for as long as the model lives.
//
// app/llm/llmtest has the server that stands in for both APIs in tests.
package sdk
