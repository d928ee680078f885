package app_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
)

func anotherKey(t *testing.T) []byte {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
}

// A server with a wrong App ID or key stops at the start and reports GitHub's answer. While
// GitHub can't answer, the server starts and stores webhooks.
func TestWrongCredentialsStopTheStart(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*app.Settings, *ghtest.Server)
		fails  string // part of the error; empty if the server starts
		logs   string
	}{
		{"another App's key", func(s *app.Settings, _ *ghtest.Server) { s.PrivateKey = anotherKey(t) }, "A JSON web token could not be decoded", ""},
		{"another App's ID", func(s *app.Settings, _ *ghtest.Server) { s.AppID++ }, "GITHUB_APP_INTEGRATION_ID", ""},
		{"a URL that is not GitHub's API", func(s *app.Settings, _ *ghtest.Server) { s.V3URL += "elsewhere/" }, "404", ""},
		{"GitHub is down", func(_ *app.Settings, gh *ghtest.Server) {
			gh.On("GET /app", func(x *ghtest.Exchange) { x.Fail(http.StatusBadGateway, "Bad Gateway") })
		}, "", "GitHub did not say"},
		{"good credentials", func(*app.Settings, *ghtest.Server) {}, "", "serving"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := &apptest.World{T: t, GH: ghtest.Start(t, ghtest.Options{WebhookSecret: apptest.Secret}), DB: apptest.Database(t)}
			settings := w.Settings()
			test.change(&settings, w.GH)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			log := &logUntil{word: "serving", then: cancel}
			a, err := app.New(ctx, settings, app.Options{Log: zerolog.New(log), Version: "test", Unsynced: true})
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			err = a.Run(ctx)
			switch {
			case test.fails == "" && err != nil:
				t.Errorf("the server did not start: %v", err)
			case test.fails != "" && (err == nil || !strings.Contains(err.Error(), test.fails)):
				t.Errorf("the start ended with error %v", err)
			}
			if !strings.Contains(log.String(), test.logs) {
				t.Errorf("the log says %s", log)
			}
		})
	}
}

// logUntil collects a log, and calls then once the log contains a word.
type logUntil struct {
	bytes.Buffer
	word string
	then func()
}

func (l *logUntil) Write(line []byte) (int, error) {
	n, err := l.Buffer.Write(line)
	if bytes.Contains(line, []byte(l.word)) {
		l.then()
	}
	return n, err
}
