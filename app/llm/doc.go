// Package llm asks language models, by Anthropic's Messages API and by OpenAI's
// Chat Completions API, which many other servers speak. It knows nothing of
// reviews: what is asked, and what an answer is worth, is the caller's business.
//
// [New] makes a model of an endpoint's settings, over the vendor's own SDK, of
// which it takes the one method that it needs: what the SDKs would read from the
// environment (addresses, keys, headers, organisations, profiles, tracing) is not
// read, and they try nothing again. docs/decisions/0013-model-sdks.md says why.
// Requests go to the endpoint's host alone, no redirect is followed, and no more
// than 8 MiB of an answer are read, unpacked, nor more values than any has. How long
// to wait is ctx's business.
//
// A model has no tools. One question is answered once: what was refused, was cut
// short or got lost is not asked again here. The one thing that is: a server that
// answers 400 or 422 and names max_completion_tokens or the form of the answer as
// what it does not know is asked without, and that is remembered for as long as
// the model lives.
//
// An answer that a model did not end by itself is an [*Error], never an answer.
// Its text may be logged: it holds no key, nothing of the question and no more
// than a line of what a server said. It is not for a pull request, for it may name
// hosts. For that there is its Kind.
//
// app/llm/llmtest has the server that stands in for both APIs in tests.
package llm
