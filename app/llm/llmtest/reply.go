package llmtest

import (
	"bytes"
	"compress/gzip"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/reviewgate/reviewgate/app/llm"
	"github.com/reviewgate/reviewgate/config"
)

// Reply is the server's reaction to a question.
type Reply struct {
	blocks []Block
	stop   string // in the words of Anthropic's API
	why    string // reason of a refusal
	use    *llm.Use
	fault  *Fault
	broken *Fault // sent in the middle of a stream
	header http.Header
	raw    *output

	drop, slow, half, stall, drip bool
}

// Block is a part of an answer. OpenAI's API knows only text, and omits other blocks.
type Block struct {
	Type string // text, thinking or tool_use
	Text string
}

// Fault is an API's error. Anthropic's API only has Type and Message.
type Fault struct {
	Status                     int
	Type, Code, Param, Message string
}

// Text is an answer with this text.
func Text(text string) Reply { return Blocks(Block{Type: "text", Text: text}) }

// Blocks is an answer with these parts.
func Blocks(blocks ...Block) Reply { return Reply{blocks: blocks, stop: "end_turn"} }

// Refusal is a model that will not answer.
func Refusal(why string) Reply { return Reply{stop: "refusal", why: why} }

// Filtered is an answer that a filter stopped. Anthropic's API treats it as a refusal.
func Filtered(part string) Reply { return Text(part).Stopped("content_filter") }

// CutOff is an answer that exceeded its limit.
func CutOff(part string) Reply { return Text(part).Stopped("max_tokens") }

// Stopped sets a reply's stop reason, in the words of Anthropic's API. For a question by
// OpenAI's API it is translated if OpenAI has a word for it.
func (r Reply) Stopped(reason string) Reply {
	r.stop = reason
	return r
}

// Took sets the question's use. The default is a token for four bytes, and the common start
// of questions with the same system text counts as cached. OpenAI's API does not report what
// it stores.
func (r Reply) Took(use llm.Use) Reply {
	r.use = &use
	return r
}

// Fail is a refusal.
func Fail(f Fault) Reply { return Reply{fault: &f, header: http.Header{}} }

// With sets a header of a refusal, or of a raw answer.
func (r Reply) With(key, value string) Reply {
	if r.raw != nil {
		r.raw.header.Set(key, value)
		return r
	}
	r.header.Set(key, value)
	return r
}

// Status is a refusal in the APIs' usual words for a status.
func Status(status int) Reply {
	types := map[int]string{
		400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
		413: "request_too_large", 429: "rate_limit_error", 529: "overloaded_error",
	}
	kind := types[status]
	if kind == "" {
		kind = "api_error"
	}
	return Fail(Fault{Status: status, Type: kind, Message: "The stand-in was told to answer so."})
}

// Limited is a refusal of more questions for a while.
func Limited(after time.Duration) Reply {
	return Status(http.StatusTooManyRequests).With("Retry-After", strconv.Itoa(int(math.Ceil(after.Seconds()))))
}

// Overloaded is Anthropic's answer while its API is overloaded.
func Overloaded() Reply { return Status(529) }

// Broken is an answer by Anthropic's API that ends in f. By OpenAI's API it is f alone.
func Broken(part string, f Fault) Reply {
	r := Text(part)
	r.broken = &f
	return r
}

// Slow never answers.
func Slow() Reply { return Reply{slow: true} }

// Stalled sends half of r and then nothing more.
func Stalled(r Reply) Reply {
	r.stall = true
	return r
}

// Dripping starts an answer and then sends only an empty line every few milliseconds, like
// servers that keep a connection alive.
func Dripping() Reply { return Reply{drip: true} }

// Dropped ends the connection.
func Dropped() Reply { return Reply{drop: true} }

// Half sends half of r, and then ends the connection.
func Half(r Reply) Reply {
	r.half = true
	return r
}

// Raw answers with any bytes.
func Raw(status int, contentType string, body []byte) Reply {
	header := http.Header{}
	header.Set("Content-Type", contentType)
	return Reply{raw: &output{status: status, header: header, body: body}}
}

// Packed is Raw with a body that gzip has compressed and a header that says so.
func Packed(status int, contentType string, body []byte) Reply {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(body) // writing to a buffer never fails
	_ = z.Close()
	return Raw(status, contentType, packed.Bytes()).With("Content-Encoding", "gzip")
}

// counted is the question's use.
func (r Reply) counted(q *Request) llm.Use {
	if r.use != nil {
		return *r.use
	}
	use := llm.Use{Input: (len(q.System) + len(q.Text) + 3) / 4}
	use.Cached = q.cached / 4
	if q.Caches && q.API == config.APIAnthropic {
		use.Stored = (len(q.System) + len(q.Shared) - q.cached) / 4
	}
	for _, b := range r.blocks {
		use.Output += (len(b.Text) + 3) / 4
	}
	return use
}
