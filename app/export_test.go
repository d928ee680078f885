package app

import (
	stdlog "log"
	"net/http"
)

// Unexported functions that the tests of package app_test call.
var (
	Keys        = keys
	SocketOf    = socketOf
	DialControl = dialControl
)

const MaxControl = maxControl

func (c *controlClient) Close()             { c.close() }
func (c *controlClient) HTTP() *http.Client { return c.http }

func (a *App) Waits() int { return a.api.Waiting() }

func (a *App) ErrorLog() *stdlog.Logger { return a.server.ErrorLog }
