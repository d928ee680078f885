package ghtest

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/adler32"
	"hash/crc32"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// gitObject is an object as git knows it.
type gitObject struct {
	kind string
	data []byte
}

// put adds an object to the store and returns its SHA. The object is written to disk only
// before git runs, because most tests never run git.
func (g *git) put(kind string, data []byte) string {
	hash := sha1.New()
	fmt.Fprintf(hash, "%s %d\x00", kind, len(data))
	hash.Write(data)
	sha := hex.EncodeToString(hash.Sum(nil))
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, there := g.objects[sha]; !there {
		g.objects[sha] = gitObject{kind: kind, data: data}
		g.unwritten = append(g.unwritten, sha)
	}
	return sha
}

// object returns an object that was put here.
func (g *git) object(sha string) (gitObject, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	o, there := g.objects[sha]
	return o, there
}

// elsewhere fails unless git may have an object that was not put here.
func (g *git) elsewhere(sha string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.outside {
		return fmt.Errorf("there is no object %s", sha)
	}
	return nil
}

// lookOutside makes git look for objects that were not put here.
func (g *git) lookOutside() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.outside = true
}

// sync writes the objects that git has not seen yet.
func (g *git) sync() error {
	g.disk.Lock()
	defer g.disk.Unlock()
	if !g.there {
		if err := g.lay(); err != nil {
			return fmt.Errorf("make the repository's directory: %w", err)
		}
		g.there = true
	}
	g.mu.Lock()
	names := g.unwritten
	g.unwritten = nil
	objects := make(map[string]gitObject, len(names))
	for _, sha := range names {
		objects[sha] = g.objects[sha]
	}
	g.mu.Unlock()
	if len(names) == 0 {
		return nil
	}
	if err := g.writePack(objects); err != nil {
		return fmt.Errorf("write a pack of objects: %w", err)
	}
	return nil
}

// lay creates a bare repository like git init, without hooks and examples.
func (g *git) lay() error {
	for _, dir := range []string{"objects/info", "objects/pack", "refs/heads"} {
		if err := os.MkdirAll(filepath.Join(g.dir, filepath.FromSlash(dir)), 0o700); err != nil {
			return err
		}
	}
	config := "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n"
	return errors.Join(
		os.WriteFile(filepath.Join(g.dir, "config"), []byte(config), 0o600),
		os.WriteFile(filepath.Join(g.dir, "HEAD"), []byte("ref: refs/heads/main\n"), 0o600),
	)
}

// kinds are the numbers of the kinds of objects in packs.
var kinds = map[string]byte{"commit": 1, "tree": 2, "blob": 3}

// writePack writes objects as a pack with its index: two files for any number of objects.
// git's gitformat-pack describes both.
func (g *git) writePack(objects map[string]gitObject) error {
	names := slices.Sorted(maps.Keys(objects))
	var pack bytes.Buffer
	pack.WriteString("PACK")
	pack.Write(be32(2))
	pack.Write(be32(len(names)))
	var fanout [256]int
	var shas, sums, offsets []byte
	for _, name := range names {
		start := pack.Len()
		pack.Write(packHeader(objects[name]))
		stored(&pack, objects[name].data)
		raw, err := hex.DecodeString(name)
		if err != nil {
			return err
		}
		fanout[raw[0]]++
		shas = append(shas, raw...)
		sums = binary.BigEndian.AppendUint32(sums, crc32.ChecksumIEEE(pack.Bytes()[start:]))
		offsets = append(offsets, be32(start)...)
	}
	if pack.Len() >= 1<<31 {
		return errors.New("packs of 2 GiB and more are not written")
	}
	sum := sha1.Sum(pack.Bytes())
	pack.Write(sum[:])

	index := []byte("\xfftOc\x00\x00\x00\x02")
	n := 0
	for _, count := range fanout {
		n += count
		index = append(index, be32(n)...)
	}
	index = slices.Concat(index, shas, sums, offsets, sum[:])
	end := sha1.Sum(index)
	index = append(index, end[:]...)

	// git looks for indexes, so the pack must exist before its index.
	path := filepath.Join(g.dir, "objects", "pack", "pack-"+hex.EncodeToString(sum[:]))
	for _, file := range []struct {
		suffix string
		data   []byte
	}{{".pack", pack.Bytes()}, {".idx", index}} {
		if err := os.WriteFile(path+file.suffix+".new", file.data, 0o400); err != nil {
			return err
		}
		if err := os.Rename(path+file.suffix+".new", path+file.suffix); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// packHeader is the kind and the size before an object in a pack: seven bits a byte, except
// for four in the first, least significant first.
func packHeader(o gitObject) []byte {
	size := len(o.data)
	b := kinds[o.kind]<<4 | byte(size&15)
	var header []byte
	for size >>= 4; size > 0; size >>= 7 {
		header = append(header, b|0x80)
		b = byte(size & 0x7f)
	}
	return append(header, b)
}

// stored writes data uncompressed in zlib's format, because time matters here and space does
// not.
func stored(to *bytes.Buffer, data []byte) {
	to.WriteString("\x78\x01")
	for rest, last := data, false; !last; {
		block := rest[:min(len(rest), 1<<16-1)]
		rest = rest[len(block):]
		last = len(rest) == 0
		n := uint16(len(block))
		to.WriteByte(map[bool]byte{last: 1}[true])
		to.Write(binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(nil, n), ^n))
		to.Write(block)
	}
	to.Write(binary.BigEndian.AppendUint32(nil, adler32.Checksum(data)))
}

func be32(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }
