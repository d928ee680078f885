package sdk

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"github.com/reviewgate/reviewgate/app/llm"
)

// chat asks a model by OpenAI's Chat Completions API.
type chat struct {
	endpoint
	service openai.ChatCompletionService
	manners manners
}

var _ llm.Model = (*chat)(nil)

// newChat creates only the SDK's service. A client of the SDK would look for addresses, keys,
// organisations and headers in the environment.
func newChat(model, key string, api *url.URL, transport http.RoundTripper) llm.Model {
	options := []option.RequestOption{
		option.WithBaseURL(api.String()),
		option.WithHTTPClient(client(api, "application/json", transport)),
		option.WithMaxRetries(0),
	}
	if key != "" {
		options = append(options, option.WithAPIKey(key))
	}
	return &chat{endpoint: endpoint{model: model, key: key}, service: openai.NewChatCompletionService(options...)}
}

// Ask asks once. If the server says that it does not know a parameter, Ask asks again without
// it, at most three times, until the server accepts a form.
func (m *chat) Ask(ctx context.Context, q llm.Question) (llm.Answer, error) {
	schema, err := reduced(q)
	if err != nil {
		return llm.Answer{}, &llm.Error{Kind: llm.Invalid, Err: err}
	}
	f := m.manners.get()
	answer, err := m.ask(ctx, q, schema, f)
	for {
		var refused *refusal
		if !errors.As(err, &refused) {
			break
		}
		next := f.without(refused)
		if next == f {
			break
		}
		f = next
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
func (m *chat) ask(ctx context.Context, q llm.Question, schema json.RawMessage, f form) (llm.Answer, error) {
	params := openai.ChatCompletionNewParams{Model: m.model}
	if f.oldLimit {
		params.MaxTokens = param.NewOpt(int64(q.MaxTokens))
	} else {
		params.MaxCompletionTokens = param.NewOpt(int64(q.MaxTokens))
	}
	system := q.System
	switch f.hold {
	case holdSchema:
		params.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
			JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: q.Schema.Name, Strict: param.NewOpt(true), Schema: schema},
		}
	case holdObject:
		params.ResponseFormat.OfJSONObject = &shared.ResponseFormatJSONObjectParam{}
		fallthrough
	case holdNone:
		system = spelled(system, q.Schema.JSON)
	}
	if system != "" {
		params.Messages = append(params.Messages, openai.SystemMessage(system))
	}
	params.Messages = append(params.Messages, openai.UserMessage(q.Shared+q.Text))
	completion, err := m.service.New(ctx, params)
	if err != nil {
		return llm.Answer{}, err
	}
	return readCompletion(completion)
}

// readCompletion accepts an answer that the model finished, and no other.
func readCompletion(c *openai.ChatCompletion) (llm.Answer, error) {
	if c == nil { // the SDK's, of a body that is null
		return llm.Answer{}, &fault{kind: llm.Malformed, status: http.StatusOK, err: errors.New("the answer is null")}
	}
	u := c.Usage
	answer := llm.Answer{Use: use(u.PromptTokens, u.PromptTokensDetails.CachedTokens, 0, u.CompletionTokens)}
	if len(c.Choices) != 1 {
		return answer, &fault{kind: llm.Malformed, status: http.StatusOK, err: errors.New("the answer has not one choice")}
	}
	choice := c.Choices[0]
	answer.Text = choice.Message.Content
	switch {
	case choice.FinishReason == "content_filter":
		return answer, &fault{kind: llm.Refused, status: http.StatusOK, err: errors.New("finish_reason content_filter")}
	case choice.FinishReason == "length":
		return answer, &fault{kind: llm.CutOff, status: http.StatusOK, err: errors.New("finish_reason length")}
	case choice.Message.Refusal != "":
		return answer, &fault{kind: llm.Refused, status: http.StatusOK, err: errors.New("the message is a refusal")}
	case choice.FinishReason != "stop", len(choice.Message.ToolCalls) > 0:
		return answer, &fault{kind: llm.Malformed, status: http.StatusOK, err: errStopped, word: choice.FinishReason}
	}
	if err := isString(answer.Text, choice.Message.JSON.Content.Raw()); err != nil {
		return answer, err
	}
	return answer, whole(answer.Text)
}
