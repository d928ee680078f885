// Package sdk asks language models by Anthropic's Messages API and by OpenAI's Chat
// Completions API, which many other servers speak.
//
// [New] creates a model from an endpoint's settings. It uses only one method of the vendor's
// own SDK. The settings that the SDKs would read from the environment (addresses, keys,
// headers, organisations, profiles, tracing) are not read, and the SDKs do not retry.
// docs/decisions/0013-model-sdks.md explains why. Requests go only to the endpoint's host,
// and redirects are not followed. At most 8 MiB of an uncompressed answer are read, and no
// more values than a real answer has. The context limits the time.
//
// A question that was refused, cut short or lost is not asked again here, with one exception.
// A server may answer 400 or 422 and say that it does not know max_completion_tokens or the
// form of the answer. It is asked once more without them, and the model remembers that as
// long as it lives.
//
// app/llm/llmtest has the server that stands in for both APIs in tests.
package sdk
