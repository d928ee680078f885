package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/api"
	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/app/ports"
)

// NewToken describes the token to create.
type NewToken struct {
	Owner, Name string
	Agent       string
	ValidFor    time.Duration
}

// CreateToken creates a token for the API. If a server uses the SQLite file, that server stores it. Only
// the token's hash is stored. CreateToken looks up the repository on GitHub. The error is an *InputError
// if the App is not installed there, or if there are too many tokens.
func CreateToken(ctx context.Context, settings Settings, n NewToken, log zerolog.Logger) (token string, t ports.APIToken, err error) {
	client, err := newCommandReader(settings, log).client()
	if err != nil {
		return "", t, err
	}
	defer client.Close()
	repo, err := findRepository(ctx, client, n.Owner, n.Name)
	if err != nil {
		return "", t, err
	}
	now := time.Now().UTC().Truncate(time.Second)
	token, hash := api.NewToken()
	t = ports.APIToken{Hash: hash, Repository: repo, Agent: n.Agent, CreatedAt: now, ExpiresAt: now.Add(n.ValidFor)}
	answer, err := changeTokens(ctx, settings.DatabaseURL, tokenAsk{Create: &t}, log)
	if err != nil {
		return "", ports.APIToken{}, err
	}
	t.ID = answer.ID
	return token, t, nil
}

// ListTokens lists the tokens for the API in the order of their ids, without their hashes. It lists those
// of one repository, which is owner/name in any case, or all if that is empty.
func ListTokens(ctx context.Context, databaseURL, repository string, log zerolog.Logger) ([]ports.APIToken, error) {
	answer, err := changeTokens(ctx, databaseURL, tokenAsk{List: true, Repository: repository}, log)
	return answer.Tokens, err
}

// RevokeToken revokes a token for the API. The error is an *InputError if no token has this id.
func RevokeToken(ctx context.Context, databaseURL string, id int64, log zerolog.Logger) error {
	_, err := changeTokens(ctx, databaseURL, tokenAsk{Revoke: id}, log)
	return err
}

// pathTokens accepts a tokenAsk.
const pathTokens = "/tokens"

// tokenAsk asks for one of three things.
type tokenAsk struct {
	Create     *ports.APIToken // to be stored
	Revoke     int64           // an id
	List       bool
	Repository string // for List
}

// tokenAnswer is the answer to a tokenAsk. Error is the reason for a failure. Refused means that asking
// again does not help.
type tokenAnswer struct {
	ID      int64
	Tokens  []ports.APIToken
	Error   string
	Refused bool
}

// changeTokens has the server answer if one uses the SQLite file. Otherwise this process answers.
func changeTokens(ctx context.Context, databaseURL string, ask tokenAsk, log zerolog.Logger) (answer tokenAnswer, err error) {
	if path, ok := socketOf(databaseURL); ok {
		server, runs, err := dialControl(ctx, path)
		if err != nil {
			return answer, err
		}
		if runs {
			defer server.close()
			if err := server.ask(ctx, pathTokens, ask, &answer); err != nil {
				return answer, err
			}
			return answer, answer.failure()
		}
	}
	if err := store.CheckTables(ctx, databaseURL); err != nil {
		return answer, &InputError{err}
	}
	db, err := store.Open(ctx, databaseURL, store.Options{Process: processName(), Log: log})
	if err != nil {
		return answer, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	answer = answerTokens(ctx, db.APITokens, ask)
	return answer, answer.failure()
}

// failure returns the error of an answer.
func (t *tokenAnswer) failure() error {
	switch {
	case t.Error == "":
		return nil
	case t.Refused:
		return &InputError{errors.New(t.Error)}
	}
	return errors.New(t.Error)
}

// changeTokens answers one tokenAsk.
func (a *App) changeTokens(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), controlTimeout)
	defer cancel()
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxControl))
	dec.DisallowUnknownFields()
	var ask tokenAsk
	if err := dec.Decode(&ask); err != nil {
		a.tell(w, tokenAnswer{Error: fmt.Sprintf("read the request, which may come from another version of reviewgate: %v", err)})
		return
	}
	a.tell(w, answerTokens(ctx, a.store.APITokens, ask))
}

// answerTokens does what a command asks for.
func answerTokens(ctx context.Context, tokens ports.APITokens, ask tokenAsk) (answer tokenAnswer) {
	var err error
	switch {
	case ask.Create != nil:
		answer.ID, err = tokens.AddToken(ctx, *ask.Create)
	case ask.Revoke != 0:
		err = tokens.RevokeToken(ctx, ask.Revoke)
	case ask.List:
		answer.Tokens, err = listTokens(ctx, tokens, ask.Repository)
	default:
		err = errors.New("the request asks for nothing: it may come from another version of reviewgate")
	}
	switch {
	case err == nil:
	case errors.Is(err, ports.ErrManyTokens):
		answer.Refused, answer.Error = true, fmt.Sprintf("the repository already has %d valid tokens: revoke some first", ports.MaxAPITokens)
	case errors.Is(err, ports.ErrNotFound) && ask.Revoke != 0:
		answer.Refused, answer.Error = true, fmt.Sprintf("there is no token %d: run reviewgate token list to see those that exist", ask.Revoke)
	case errors.Is(err, ports.ErrNotFound):
		answer.Refused, answer.Error = true, "the App was removed from the repository's account: install it there first"
	default:
		answer.Error = err.Error()
	}
	return answer
}

func listTokens(ctx context.Context, tokens ports.APITokens, repository string) ([]ports.APIToken, error) {
	all, err := tokens.ListTokens(ctx)
	out := make([]ports.APIToken, 0, len(all))
	for _, t := range all {
		if name := t.Repository.Owner + "/" + t.Repository.Name; repository == "" || strings.EqualFold(name, repository) {
			t.Hash = nil
			out = append(out, t)
		}
	}
	return out, err
}
