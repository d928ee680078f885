// Package llm is what the agents know of language models: a question, its answer,
// and why there may be none. It knows nothing of reviews: what is asked, and what an
// answer is worth, is the caller's business. Package sdk asks the models.
//
// A model has no tools.
//
// An answer that a model did not end by itself is an [*Error], never an answer.
// Its text may be logged: it holds no key, nothing of the question and no more
// than a line of what a server said. It is not for a pull request, for it may name
// hosts. For that there is its Kind.
package llm
