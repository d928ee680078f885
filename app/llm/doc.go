// Package llm defines what the agents need of language models: a question, its answer, and
// the reason if there is no answer. It knows nothing about reviews. The caller decides what
// to ask and how to judge an answer. Package sdk asks the models.
//
// A model has no tools.
//
// An answer that a model did not finish by itself is an [*Error], never an answer. The
// error's text may be logged: it holds no key, nothing of the question, and at most a line of
// the server's message. It must not be shown in a pull request, because it may name hosts.
// Show its Kind there.
package llm
