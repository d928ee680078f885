package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
)

// maxStatements bounds what one connection keeps prepared. The store and River
// together have about 120 statements, besides those that create the tables.
const maxStatements = 250

// openStatements is sql.Open for SQLite, with connections that keep their statements
// prepared: to parse one takes about as long as to run it, and River parses the query
// for its next jobs anew several times a second.
func openStatements(dsn string) (*sql.DB, error) {
	plain, err := sql.Open("sqlite", dsn) // connects to nothing
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
		return nil, errors.Join(fmt.Errorf("a connection of SQLite is a %T, which lacks methods", opened), opened.Close())
	}
	return &keepingConn{conn, map[string]sqliteStmt{}}, nil
}

// sqliteConn is what database/sql uses of a connection. It has no QueryContext and no
// ExecContext, so that database/sql prepares each statement.
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

// keepingConn keeps the statements that are not in use. database/sql uses a
// connection and its statements from one goroutine at a time.
type keepingConn struct {
	sqliteConn
	kept map[string]sqliteStmt
}

func (c *keepingConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	if s, ok := c.kept[query]; ok {
		delete(c.kept, query)
		return &keptStmt{s, c, query}, nil
	}
	prepared, err := c.sqliteConn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	s, ok := prepared.(sqliteStmt)
	if !ok {
		return prepared, nil
	}
	return &keptStmt{s, c, query}, nil
}

func (c *keepingConn) Close() error {
	var errs []error
	for _, s := range c.kept {
		errs = append(errs, s.Close())
	}
	c.kept = nil
	return errors.Join(append(errs, c.sqliteConn.Close())...)
}

// keptStmt goes back to its connection when it is closed.
type keptStmt struct {
	sqliteStmt
	conn  *keepingConn
	query string
}

func (s *keptStmt) Close() error {
	c := s.conn
	if _, twice := c.kept[s.query]; twice || c.kept == nil {
		return s.sqliteStmt.Close()
	}
	var err error
	if len(c.kept) >= maxStatements { // any other makes room: those in use come back
		for query, other := range c.kept {
			delete(c.kept, query)
			err = other.Close()
			break
		}
	}
	c.kept[s.query] = s.sqliteStmt
	return err
}
