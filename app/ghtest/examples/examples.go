// Package examples holds one example payload of every webhook event that GitHub
// has, and one per action of those that a review App handles: real ones, as
// GitHub publishes them. It is a package of its own so that only tests carry
// them.
//
// They are the longest example of each action in npm's
// @octokit/webhooks-examples 7.6.1, api.github.com; see payloads/NOTICE.
package examples

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

//go:embed payloads
var files embed.FS

// Payload is one example.
type Payload struct {
	Event  string // as in X-GitHub-Event
	Action string // empty for events without actions
	Body   []byte // JSON
}

// String names the example, such as "pull_request/opened".
func (p Payload) String() string {
	if p.Action == "" {
		return p.Event
	}
	return p.Event + "/" + p.Action
}

// Payloads returns all examples, by event and then by action.
func Payloads() []Payload {
	var all []Payload
	err := fs.WalkDir(files, "payloads", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".json" {
			return err
		}
		body, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		p := Payload{Event: path.Base(path.Dir(name)), Body: body}
		// Events without actions have one file, event.json.
		if action := strings.TrimSuffix(path.Base(name), ".json"); action != "event" {
			p.Action = action
		}
		all = append(all, p)
		return nil
	})
	if err != nil {
		// The files are part of the program.
		panic(fmt.Sprintf("read embedded examples: %v", err))
	}
	return all
}
