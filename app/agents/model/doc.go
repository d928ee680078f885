// Package model is the agent of kind llm: it asks a language model what is wrong
// with a change, and takes of the answer what can be proved.
//
// # The question
//
// A question has three parts: what holds for every agent (contract.md), the change, and the
// agent's task, which is its prompt and the rules of its checklist. In this order, all that
// is asked about the same files of a change begins with the same bytes, which APIs keep
// where they are asked to: the second question costs a fraction of the first. It waits until
// the first has been read ([Round]).
//
// The change is data. It stands between two lines that begin with a code of 80 random bits,
// drawn for the review and known to nobody who wrote the change; every heading in between
// begins with the code too, and every line of the change with a sign that no heading begins
// with. Nothing that the change says can end it, then, or be taken for another file or for
// instructions by its place.
//
// Characters that nobody sees are shown by number, a run of them by its first and
// their count, so that they carry no text. HTML comments are left out of titles,
// descriptions, messages and issues, where people don't see them; in the diff
// they are shown as what they are there: lines of a file. All of it passes the
// detector for secrets.
//
// Agents of the quality stage see code and nothing said about it, since praise
// makes models miss mistakes. Those of the spec stage see the title, the
// description, the commits' messages and the linked issues as well, after the change.
//
// Notes on the services of the files that are shown come last: their rules, which people wrote in
// the config, and the records of memory about them. The notes are data in a fence of their own,
// because a record quotes a model and a person. Without notes, not a byte of the question changes,
// so recorded answers stay valid.
//
// # What fits
//
// Tokens are estimated by [Tokens]. A question takes what the agent may still
// spend, at most nine tenths of what the model reads, less the answer. Of a
// larger change whole files come first, by risk; then parts of the others; what is
// left out is named to the model and in the agent's note. Files that tools made or
// others wrote, by their paths, are left out. So are lines beyond their first
// 2,000 characters.
//
// # The answer
//
// The answer can do nothing but make findings. It is read strictly, whatever the
// API promised. A finding counts only if it names a file that was shown, and
// quotes lines of it that stand there after the change; it is put where the quote
// stands, whatever line it names. Who found it, whether it blocks and whether it
// can be fixed without a person is not the model's to say. What is dropped is
// counted in the note. An answer that is refused, cut off or unreadable is an
// error: never an answer without findings.
//
// # Documents
//
// [Documents] is an agent with "output": "report". It asks about each specification or
// plan in its scope by itself, shows all of it or asks nothing, and the answer is that of
// a reviewer: code writes a review report from it, as
// [github.com/reviewgate/reviewgate/policies/reviewreport.Write] does, and judges it as one in a file. Who
// reviewed, what and when is code's to say; nothing in the answer's texts can end the
// report's section or add another.
//
// # Gaps
//
// [Gaps] asks another question by the same means: which agents should have been
// sent to which files of the change, and were not. The agents and who was chosen are
// shown as the change is, as data. What is proposed is checked by
// [github.com/reviewgate/reviewgate/pipeline/gapdetect.Detector.Propose].
package model
