package webhook

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// The signature proves the sender only after the whole body has been read. Without a
// limit, anyone could fill the memory with connections of 25 MB each.
const (
	// smallBody is larger than most of GitHub's payloads. Such bodies have a room of
	// their own. Of a larger body, only the beginning is in that room.
	smallBody = 64 << 10
	// firstBuffer is what a body takes before its first byte arrives.
	firstBuffer = 16 << 10
	// maxSmall is what the beginnings of bodies may take together: 1,000 of them, or
	// 4,000 connections that send next to nothing.
	maxSmall = 1000 * smallBody
	// maxReading is what the rest of larger bodies may take together: four of the
	// largest.
	maxReading = 4 * MaxBody
	// maxWait is how long a body waits for that memory. It leaves half of the 10 s in
	// which GitHub wants an answer.
	maxWait = 5 * time.Second
)

// rooms are the memory for the bodies of a handler.
type rooms struct{ small, large *room }

// body is a request's body, and its share of the memory.
type body struct {
	text         []byte
	rooms        rooms
	small, large *guest
	ending       sync.WaitGroup // of endRead, which must not use the response once the handler has returned
}

// read reads the body, which may have at most max bytes. The error is errBusy if the body
// waited too long for memory, errSlow if it was closed to make room, and a
// *http.MaxBytesError if it is too large.
func (b *body) read(w http.ResponseWriter, r *http.Request, max int64) error {
	closing := func() { b.ending.Go(func() { endRead(w, r) }) }
	b.small, b.large = b.rooms.small.enter(closing), b.rooms.large.enter(closing)
	from := http.MaxBytesReader(w, r.Body, max)
	for {
		if len(b.text) == cap(b.text) {
			if err := b.grow(r, max); err != nil {
				return err
			}
		}
		n, err := from.Read(b.text[len(b.text):cap(b.text)])
		b.text = b.text[:len(b.text)+n]
		b.rooms.small.came(b.small, n)
		b.rooms.large.came(b.large, n)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err == nil:
		case b.rooms.small.closed(b.small) || b.rooms.large.closed(b.large):
			return errSlow
		default:
			return err
		}
	}
}

// endRead interrupts a read of the body. It sets a deadline if there is a connection, and
// closes the body otherwise.
func endRead(w http.ResponseWriter, r *http.Request) {
	if http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0)) != nil {
		r.Body.Close()
	}
}

// grow doubles the buffer, up to the length that the request promises. One byte more lets
// read see the end of the body without growing again.
func (b *body) grow(r *http.Request, max int64) error {
	have := int64(cap(b.text))
	want := min(2*have, max+1)
	if have == 0 {
		want = firstBuffer
	}
	if r.ContentLength >= have {
		want = min(want, r.ContentLength+1)
	}
	if want <= have {
		want = have + 1 // the body is longer than promised; the server rejects that
	}
	room, guest := b.rooms.small, b.small
	if want > smallBody {
		room, guest = b.rooms.large, b.large
	}
	if err := room.take(r.Context(), guest, want-have); err != nil {
		return err
	}
	all := make([]byte, len(b.text), want)
	copy(all, b.text)
	b.text = all
	return nil
}

// release gives the share back. The text must not be used after.
func (b *body) release() {
	if b.small != nil {
		b.rooms.small.leave(b.small)
		b.rooms.large.leave(b.large)
		b.ending.Wait() // after that nobody closes the body
	}
	b.text = nil
}
