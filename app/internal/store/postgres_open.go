package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
)

const (
	// maxConnections is how many connections a process opens at most, unless
	// the URL says pool_max_conns. One connection listens; eight reviews and eight
	// publish jobs share the others, and seldom need them at the same time. A server
	// allows 100 by default, which is enough for six processes.
	maxConnections = 16
	// leastConnections counts one connection that listens, one that holds the
	// migration lock, one that migrates, and one more.
	leastConnections = 4
	// connectTimeout bounds each attempt to connect, unless the URL says
	// connect_timeout.
	connectTimeout = 10 * time.Second
	// idleInTransaction is the time after which the server ends an idle transaction,
	// since others may wait for its rows: its process may hang, or have lost the network.
	idleInTransaction = 30 * time.Second
	// oldestServer is the oldest release of PostgreSQL that River and pgx are
	// tested with.
	oldestServer = 14
)

// postgresConfig reads the URL. Its errors don't repeat it, since it may hold
// a password.
func postgresConfig(rawURL string) (*pgxpool.Config, error) {
	cfg, err := pgxpool.ParseConfig(rawURL)
	if err == nil && cfg.ConnConfig.Database == "" {
		return nil, errors.New("it names no database; write postgres://USER:PASSWORD@HOST:5432/DATABASE")
	}
	if err == nil && cfg.MaxConns < leastConnections && strings.Contains(rawURL, "pool_max_conns") {
		return nil, fmt.Errorf("pool_max_conns is %d; at least %d are needed", cfg.MaxConns, leastConnections)
	}
	if err != nil {
		return nil, errors.New("it can't be parsed; write postgres://USER:PASSWORD@HOST:5432/DATABASE, with all but letters and digits of the password written as %XX, and only parameters that PostgreSQL has, such as ?sslmode=require")
	}
	if !strings.Contains(rawURL, "pool_max_conns") {
		cfg.MaxConns = maxConnections
	}
	c := cfg.ConnConfig
	if !strings.Contains(rawURL, "connect_timeout") {
		c.ConnectTimeout = connectTimeout
	}
	for name, value := range map[string]string{
		"application_name":                    "reviewgate",
		"idle_in_transaction_session_timeout": strconv.FormatInt(idleInTransaction.Milliseconds(), 10),
	} {
		if c.RuntimeParams[name] == "" {
			c.RuntimeParams[name] = value
		}
	}
	return cfg, nil
}

// checkServer returns an error if the store can't work with the server.
func checkServer(ctx context.Context, pool *pgxpool.Pool) error {
	var number int
	var version, encoding string
	var standby bool
	err := pool.QueryRow(ctx, `SELECT current_setting('server_version_num')::int, current_setting('server_version'), current_setting('server_encoding'), pg_is_in_recovery()`).
		Scan(&number, &version, &encoding, &standby)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	return judgeServer(number, version, encoding, standby)
}

func judgeServer(number int, version, encoding string, standby bool) error {
	switch {
	case number < oldestServer*10000:
		return fmt.Errorf("the server is PostgreSQL %s; reviewgate needs version %d or newer", version, oldestServer)
	case encoding != "UTF8":
		return fmt.Errorf("the database's encoding is %s; create a database with CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0", encoding)
	case standby:
		return errors.New("the server is a read-only standby; name the primary")
	}
	return nil
}

// migrationLock is the number of the advisory lock that processes hold while they
// migrate, so that only one does so at a time: "reviewga" in ASCII.
const migrationLock = 0x7265766965776761

// migratePostgres brings our own tables and River's up to date.
func migratePostgres(ctx context.Context, pool *pgxpool.Pool, jobs *riverJobs[pgx.Tx], log *slog.Logger) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer conn.Release()
	if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock($1)`, int64(migrationLock)); err != nil {
		return fmt.Errorf("wait until another process has prepared the tables: %w", err)
	}
	db := stdlib.OpenDBFromPool(pool)
	defer db.Close()
	err = migrateOurs(ctx, postgresTables, db, log)
	if err == nil {
		err = jobs.migrate(ctx, log)
	}
	if _, uerr := conn.Exec(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, int64(migrationLock)); uerr != nil {
		err = errors.Join(err, fmt.Errorf("let other processes prepare the tables: %w", uerr))
	}
	return err
}

// explainPostgres adds the database's address to an error, and a remedy to the more
// common errors.
func explainPostgres(c *pgx.ConnConfig, err error) error {
	where := fmt.Sprintf("%s on %s", c.Database, net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))))
	if remedy := remedy(c, err); remedy != "" {
		return fmt.Errorf("open database %s: %s: %w", where, remedy, err)
	}
	return fmt.Errorf("open database %s: %w", where, err)
}

func remedy(c *pgx.ConnConfig, err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		switch pg.Code {
		case "28P01":
			return fmt.Sprintf("the password of user %s is wrong", c.User)
		case "28000":
			return fmt.Sprintf("the server does not let user %s in from here; see its pg_hba.conf", c.User)
		case "3D000":
			return "there is no such database; create it with CREATE DATABASE " + c.Database
		case "42501":
			return fmt.Sprintf("user %s may not create tables there; GRANT CREATE ON SCHEMA public TO %s, or make it the owner of the database", c.User, c.User)
		case "53300":
			return fmt.Sprintf("the server has no connection left; raise its max_connections, or lower pool_max_conns in the URL (default %d)", maxConnections)
		case "57P03":
			return "the server is starting or ending; try again in a moment"
		}
		return ""
	}
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns):
		return "there is no host of that name"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens there; start the server, or correct host and port"
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer; see whether a firewall is in between"
	}
	return ""
}
