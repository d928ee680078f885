package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// exporter posts spans as OTLP/HTTP in JSON, see
// https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding. The SDK's own
// exporter brings gRPC along: docs/decisions/0011-traces.md.
type exporter struct {
	Tracing
	log    zerolog.Logger
	client *http.Client
}

var _ sdk.SpanExporter = (*exporter)(nil)

// exportTimeout is OpenTelemetry's default.
const exportTimeout = 10 * time.Second

func newExporter(t Tracing, log zerolog.Logger) *exporter {
	return &exporter{Tracing: t, log: log, client: &http.Client{
		Timeout: exportTimeout,
		// The headers may hold a key, which is for this host alone.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// ExportSpans sends spans once. If the collector doesn't accept them, they are lost: a
// trace must not cost a review's time.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := e.export(ctx, spans)
	if err != nil {
		e.log.Warn().Err(err).Int("spans", len(spans)).Msg("spans not sent")
	}
	return nil // the SDK would print it
}

func (e *exporter) export(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	text, err := json.Marshal(traces(spans))
	if err != nil {
		return fmt.Errorf("write spans: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.Endpoint, bytes.NewReader(text))
	if err != nil {
		return errors.New("the endpoint is not a URL") // err holds the URL, which may have a password
	}
	req.Header.Set("Content-Type", "application/json")
	for k, v := range e.Headers {
		req.Header.Set(k, v)
	}
	resp, err := e.client.Do(req)
	if err != nil {
		return fmt.Errorf("send spans to %s: %w", req.URL.Host, errors.Unwrap(err)) // the rest of the URL may hold a key
	}
	defer resp.Body.Close()
	if _, err := io.CopyN(io.Discard, resp.Body, 64<<10); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the collector's answer: %w", err)
	}
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("send spans to %s: the collector answers %s", req.URL.Host, resp.Status)
	}
	return nil
}

// Shutdown implements sdk.SpanExporter.
func (e *exporter) Shutdown(context.Context) error {
	e.client.CloseIdleConnections()
	return nil
}

// The fields of OTLP's ExportTraceServiceRequest that are used.
type (
	otlpTraces struct {
		ResourceSpans []otlpResource `json:"resourceSpans"`
	}
	otlpResource struct {
		Resource   otlpAttributes `json:"resource"`
		ScopeSpans []otlpScope    `json:"scopeSpans"`
	}
	otlpAttributes struct {
		Attributes []otlpAttribute `json:"attributes"`
	}
	otlpScope struct {
		Scope struct {
			Name string `json:"name"`
		} `json:"scope"`
		Spans []otlpSpan `json:"spans"`
	}
	otlpSpan struct {
		TraceID      string          `json:"traceId"`
		SpanID       string          `json:"spanId"`
		ParentSpanID string          `json:"parentSpanId,omitempty"`
		Name         string          `json:"name"`
		Kind         int             `json:"kind"`
		Start        string          `json:"startTimeUnixNano"`
		End          string          `json:"endTimeUnixNano"`
		Attributes   []otlpAttribute `json:"attributes"`
		Status       otlpStatus      `json:"status"`
	}
	otlpStatus struct {
		Message string `json:"message,omitempty"`
		Code    int    `json:"code,omitempty"`
	}
	otlpAttribute struct {
		Key   string         `json:"key"`
		Value map[string]any `json:"value"`
	}
)

// traces encodes spans in OTLP. All spans have the same resource and scope.
func traces(spans []sdk.ReadOnlySpan) otlpTraces {
	var r otlpResource
	var s otlpScope
	for _, span := range spans {
		r.Resource.Attributes = otlpValues(span.Resource().Attributes())
		s.Scope.Name = span.InstrumentationScope().Name
		out := otlpSpan{
			TraceID: span.SpanContext().TraceID().String(), SpanID: span.SpanContext().SpanID().String(),
			Name: span.Name(), Kind: int(span.SpanKind()),
			Start: nanoseconds(span.StartTime()), End: nanoseconds(span.EndTime()),
			Attributes: otlpValues(span.Attributes()),
		}
		if p := span.Parent(); p.SpanID().IsValid() {
			out.ParentSpanID = p.SpanID().String()
		}
		if st := span.Status(); st.Code == codes.Error {
			out.Status = otlpStatus{Message: st.Description, Code: 2} // STATUS_CODE_ERROR; Go's are numbered otherwise
		}
		s.Spans = append(s.Spans, out)
	}
	r.ScopeSpans = []otlpScope{s}
	return otlpTraces{ResourceSpans: []otlpResource{r}}
}

// nanoseconds returns a time as a string, as protobuf's JSON encodes 64-bit numbers.
func nanoseconds(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

func otlpValues(kvs []attribute.KeyValue) []otlpAttribute {
	out := []otlpAttribute{}
	for _, kv := range kvs {
		v := map[string]any{}
		switch kv.Value.Type() {
		case attribute.BOOL:
			v["boolValue"] = kv.Value.AsBool()
		case attribute.INT64:
			v["intValue"] = strconv.FormatInt(kv.Value.AsInt64(), 10)
		case attribute.FLOAT64:
			v["doubleValue"] = kv.Value.AsFloat64()
		default:
			v["stringValue"] = kv.Value.String()
		}
		out = append(out, otlpAttribute{Key: string(kv.Key), Value: v})
	}
	return out
}
