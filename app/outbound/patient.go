package outbound

import (
	"net"
	"sync"
)

// patient is a connection that reads nothing before the first write. Otherwise net/http would log what
// a receiver sends before it is asked, and our logs must not quote receivers.
type patient struct {
	net.Conn
	once sync.Once
	open chan struct{} // closed by the first write, or when the connection is closed
}

func newPatient(c net.Conn) *patient { return &patient{Conn: c, open: make(chan struct{})} }

func (p *patient) Read(b []byte) (int, error) {
	<-p.open
	return p.Conn.Read(b)
}

func (p *patient) Write(b []byte) (int, error) {
	p.once.Do(func() { close(p.open) })
	return p.Conn.Write(b)
}

func (p *patient) Close() error {
	p.once.Do(func() { close(p.open) })
	return p.Conn.Close()
}
