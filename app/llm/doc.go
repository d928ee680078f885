// Package llm asks language models, by Anthropic's Messages API and by OpenAI's
// Chat Completions API, which many other servers speak. It knows nothing of
// reviews: what is asked, and what an answer is worth, is the caller's business.
//
// A model has no tools. One question is one request: nothing is tried again
// here, and what an API adds by itself (retries, proxies' pages, thinking) is
// bounded. An answer that a model did not end by itself is an [*Error], never an
// answer.
package llm
