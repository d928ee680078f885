package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/rs/zerolog"
)

// Tracing says where spans go. The zero value means nowhere.
type Tracing struct {
	Endpoint string            // the URL that takes OTLP in JSON by POST; "" for none
	Headers  map[string]string // sent with each request
	Service  string            // service.name
}

// Tracer makes the spans of one server. Without an endpoint it makes none, and
// has no goroutine.
type Tracer struct {
	tracer   trace.Tracer
	provider *sdk.TracerProvider // nil if nothing is traced
}

// NewTracer returns a tracer. The SDK's own variables (OTEL_TRACES_SAMPLER, OTEL_BSP_...)
// decide which traces are kept. The SDK has one error handler for all tracers: its errors
// go to the log of the tracer that was made last.
func NewTracer(t Tracing, version string, log zerolog.Logger) *Tracer {
	if t.Endpoint == "" {
		return &Tracer{tracer: noop.NewTracerProvider().Tracer("")}
	}
	// By default the SDK prints errors.
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn().Err(err).Msg("OpenTelemetry trouble") }))
	p := sdk.NewTracerProvider(
		sdk.WithBatcher(newExporter(t, log)),
		sdk.WithResource(resource.NewSchemaless(
			attribute.String("service.name", t.Service), attribute.String("service.version", version))),
	)
	return &Tracer{tracer: p.Tracer("github.com/reviewgate/reviewgate"), provider: p}
}

// Close sends the remaining spans, until ctx ends.
func (t *Tracer) Close(ctx context.Context) error {
	if t.provider == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}

// Begin starts a span. Spans that start in the returned context are its children. end
// takes the description of an error, or "".
func (t *Tracer) Begin(ctx context.Context, name string, ids ...attribute.KeyValue) (_ context.Context, end func(trouble string, more ...attribute.KeyValue)) {
	ctx, span := t.tracer.Start(ctx, name, trace.WithAttributes(ids...))
	return ctx, func(trouble string, more ...attribute.KeyValue) {
		span.SetAttributes(more...)
		if trouble != "" {
			span.SetStatus(codes.Error, trouble)
		}
		span.End()
	}
}

// Past makes the span of an operation that has already ended.
func (t *Tracer) Past(ctx context.Context, name string, begun time.Time, took time.Duration, trouble string, ids ...attribute.KeyValue) {
	_, span := t.tracer.Start(ctx, name, trace.WithTimestamp(begun), trace.WithAttributes(ids...))
	if trouble != "" {
		span.SetStatus(codes.Error, trouble)
	}
	span.End(trace.WithTimestamp(begun.Add(took)))
}
