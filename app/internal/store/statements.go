package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
)

// maxStatements bounds the prepared statements that a connection keeps. The store and
// River together have about 120, besides those that create the tables.
const maxStatements = 250

// openStatements is sql.Open for SQLite, with connections that keep prepared
// statements: parsing a statement takes about as long as running it, and River would
// parse its query for the next jobs several times a second.
func openStatements(dsn string) (*sql.DB, error) {
	plain, err := sql.Open("sqlite", dsn) // only to get the driver; it opens no connection
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector{dsn, plain.Driver()}), plain.Close()
}

type connector struct {
	dsn    string
	sqlite driver.Driver
}

func (c connector) Driver() driver.Driver { return c.sqlite }

func (c connector) Connect(context.Context) (driver.Conn, error) {
	opened, err := c.sqlite.Open(c.dsn)
	if err != nil {
		return nil, err
	}
	conn, ok := opened.(sqliteConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("SQLite's connection has type %T, which lacks methods", opened), opened.Close())
	}
	return &cachingConn{conn, map[string]sqliteStmt{}}, nil
}

// sqliteConn has the methods that database/sql uses. QueryContext and ExecContext are
// left out, so that database/sql prepares each statement.
type sqliteConn interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ConnBeginTx
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

type sqliteStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// cachingConn keeps its prepared statements while they are not in use. It needs no lock:
// database/sql uses a connection and its statements from one goroutine at a time.
type cachingConn struct {
	sqliteConn
	idle map[string]sqliteStmt
}

func (c *cachingConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	if s, ok := c.idle[query]; ok {
		delete(c.idle, query)
		return &cachedStmt{s, c, query}, nil
	}
	prepared, err := c.sqliteConn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	s, ok := prepared.(sqliteStmt)
	if !ok {
		return prepared, nil
	}
	return &cachedStmt{s, c, query}, nil
}

func (c *cachingConn) Close() error {
	var errs []error
	for _, s := range c.idle {
		errs = append(errs, s.Close())
	}
	c.idle = nil
	return errors.Join(append(errs, c.sqliteConn.Close())...)
}

// cachedStmt gives its statement back to the connection when it is closed.
type cachedStmt struct {
	sqliteStmt
	conn  *cachingConn
	query string
}

func (s *cachedStmt) Close() error {
	c := s.conn
	if _, twice := c.idle[s.query]; twice || c.idle == nil {
		return s.sqliteStmt.Close()
	}
	var err error
	if len(c.idle) >= maxStatements { // drop any other; none of them is in use
		for query, other := range c.idle {
			delete(c.idle, query)
			err = other.Close()
			break
		}
	}
	c.idle[s.query] = s.sqliteStmt
	return err
}
