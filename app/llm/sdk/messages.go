package sdk

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"

	"github.com/reviewgate/reviewgate/app/llm"
)

// messages asks a model by Anthropic's Messages API.
type messages struct {
	endpoint
	service anthropic.MessageService
	manners manners
}

var _ llm.Model = (*messages)(nil)

// newMessages creates only the SDK's service. A client of the SDK would look for addresses,
// keys, headers and profiles in the environment and in files.
func newMessages(model, key string, api *url.URL, transport http.RoundTripper) llm.Model {
	// The SDK's path begins with v1.
	base := *api
	base.Path = strings.TrimSuffix(strings.TrimRight(base.Path, "/"), "/v1") + "/"
	options := []option.RequestOption{
		option.WithBaseURL(base.String()),
		option.WithHTTPClient(client(&base, eventStream, transport)),
		option.WithMaxRetries(0),
		// Spans could contain the question, and headers would name our spans to others.
		option.WithoutOpenTelemetry(),
	}
	if key != "" {
		options = append(options, option.WithAPIKey(key))
	}
	return &messages{endpoint: endpoint{model: model, key: key}, service: anthropic.NewMessageService(options...)}
}

// Ask asks once, and once more if the server does not know structured output.
func (m *messages) Ask(ctx context.Context, q llm.Question) (llm.Answer, error) {
	schema, err := reduced(q)
	if err != nil {
		return llm.Answer{}, &llm.Error{Kind: llm.Invalid, Err: err}
	}
	f := m.manners.get()
	answer, err := m.ask(ctx, q, schema, f)
	var refused *refusal
	if f.hold == holdSchema && errors.As(err, &refused) && refused.lacks("output_config", "output_format", "output format", "structured output", "json_schema") {
		f.hold = holdNone
		answer, err = m.ask(ctx, q, schema, f)
	}
	if err != nil {
		return llm.Answer{}, m.failure(ctx, q, answer.Use, err)
	}
	m.manners.learn(f)
	if f.hold != holdSchema {
		answer.Text = bare(answer.Text)
	}
	return answer, nil
}

// ask sends one request. With an error, the answer has the question's use.
func (m *messages) ask(ctx context.Context, q llm.Question, schema json.RawMessage, f form) (llm.Answer, error) {
	params := anthropic.MessageNewParams{
		Model:     m.model,
		MaxTokens: int64(q.MaxTokens),
		Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(blocks(q)...)},
	}
	system := q.System
	if f.hold == holdSchema {
		var format map[string]any
		if err := keepOrder(schema, &format); err != nil {
			return llm.Answer{}, err
		}
		params.OutputConfig = anthropic.OutputConfigParam{Format: anthropic.JSONOutputFormatParam{Schema: format}}
	} else {
		system = spelled(system, q.Schema.JSON)
	}
	if system != "" {
		params.System = []anthropic.TextBlockParam{{Text: system, CacheControl: anthropic.NewCacheControlEphemeralParam()}}
	}
	// Always use a stream. The SDK refuses to wait for a long answer in one piece, proxies
	// give up on a connection that is silent for minutes, and the use of a question is known
	// from the start.
	stream := m.service.NewStreaming(ctx, params)
	defer stream.Close()
	return readStream(stream, q.Begun)
}

// blocks are the text of a question. The part that other questions share is a separate block,
// because the API caches whole blocks.
func blocks(q llm.Question) []anthropic.ContentBlockParamUnion {
	if q.Shared == "" {
		return []anthropic.ContentBlockParamUnion{anthropic.NewTextBlock(q.Text)}
	}
	shared := anthropic.TextBlockParam{Text: q.Shared, CacheControl: anthropic.NewCacheControlEphemeralParam()}
	return []anthropic.ContentBlockParamUnion{{OfText: &shared}, anthropic.NewTextBlock(q.Text)}
}

// keepOrder decodes an object and keeps its members in their order.
func keepOrder(object json.RawMessage, into *map[string]any) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(object, &all); err != nil {
		return err
	}
	*into = make(map[string]any, len(all))
	for key, value := range all {
		(*into)[key] = value
	}
	return nil
}

// streamedAnswer is the received part of an answer. The SDK's own type copies the text with
// every piece, and an answer has thousands of pieces.
type streamedAnswer struct {
	text   strings.Builder
	input  int64 // not cached
	cached int64 // read from the cache
	stored int64 // written to it
	output int64
	stop   anthropic.StopReason
	ended  bool
}

func readStream(stream *ssestream.Stream[anthropic.MessageStreamEventUnion], begun func()) (llm.Answer, error) {
	var a streamedAnswer
	for !a.ended && stream.Next() {
		if begun != nil {
			begun()
			begun = nil
		}
		if err := a.add(stream.Current()); err != nil {
			return llm.Answer{Use: a.use()}, err
		}
	}
	answer := llm.Answer{Text: a.text.String(), Use: a.use()}
	var apiErr *anthropic.Error
	switch err := stream.Err(); {
	case errors.As(err, &apiErr):
		return answer, streamed(readAPIError([]byte(apiErr.RawJSON())))
	case err != nil:
		return answer, err
	case !a.ended:
		return answer, &fault{kind: llm.Unreachable, status: http.StatusOK, err: errors.New("the answer broke off in the middle")}
	}
	return answer, a.judge(answer.Text)
}

func (a *streamedAnswer) use() llm.Use {
	return use(int64(tokens(a.input)+tokens(a.cached)+tokens(a.stored)), a.cached, a.stored, a.output)
}

// add adds one event. Its counts are totals of the answer so far. Counts that an event omits
// keep their values.
func (a *streamedAnswer) add(event anthropic.MessageStreamEventUnion) error {
	switch event.Type {
	case "message_start":
		u := event.Message.Usage
		a.input, a.cached, a.stored, a.output = u.InputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens, u.OutputTokens
	case "content_block_start":
		switch block := event.ContentBlock; block.Type {
		case "text":
			return a.write(block.Text, block.JSON.Text.Raw())
		case "thinking", "redacted_thinking":
		default:
			return &fault{kind: llm.Malformed, status: http.StatusOK, err: errors.New("the answer has more than text, though the model has no tools")}
		}
	case "content_block_delta":
		if event.Delta.Type == "text_delta" {
			return a.write(event.Delta.Text, event.Delta.JSON.Text.Raw())
		}
	case "message_delta":
		a.stop = event.Delta.StopReason
		u := event.Usage
		if u.JSON.OutputTokens.Valid() {
			a.output = u.OutputTokens
		}
		if u.JSON.InputTokens.Valid() {
			a.input = u.InputTokens
		}
		if u.JSON.CacheReadInputTokens.Valid() {
			a.cached = u.CacheReadInputTokens
		}
		if u.JSON.CacheCreationInputTokens.Valid() {
			a.stored = u.CacheCreationInputTokens
		}
	case "message_stop":
		a.ended = true
	}
	return nil
}

func (a *streamedAnswer) write(text, raw string) error {
	a.text.WriteString(text)
	return isString(text, raw)
}

// judge accepts an answer that the model finished, and no other.
func (a *streamedAnswer) judge(text string) error {
	switch a.stop {
	case anthropic.StopReasonEndTurn:
		return whole(text)
	case anthropic.StopReasonRefusal:
		return &fault{kind: llm.Refused, status: http.StatusOK, err: errors.New("stop_reason refusal")}
	case anthropic.StopReasonMaxTokens:
		return &fault{kind: llm.CutOff, status: http.StatusOK, err: errors.New("stop_reason max_tokens")}
	case anthropic.StopReasonModelContextWindowExceeded:
		return &fault{kind: llm.TooLong, status: http.StatusOK, err: errors.New("stop_reason model_context_window_exceeded")}
	}
	return &fault{kind: llm.Malformed, status: http.StatusOK, err: errStopped, word: string(a.stop)}
}
