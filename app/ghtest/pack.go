package ghtest

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/adler32"
	"hash/crc32"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// initRepository creates a bare repository like git init, without hooks and examples.
func initRepository(dir string) error {
	for _, below := range []string{"objects/info", "objects/pack", "refs/heads"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.FromSlash(below)), 0o700); err != nil {
			return err
		}
	}
	config := "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n"
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o600),
		os.WriteFile(filepath.Join(dir, "HEAD"), []byte("ref: refs/heads/main\n"), 0o600),
	)
}

// kinds are the numbers of the kinds of objects in packs.
var kinds = map[string]byte{"commit": 1, "tree": 2, "blob": 3}

// writePack writes objects as a pack with its index: two files for any number of objects.
// git's gitformat-pack describes both.
func writePack(dir string, objects map[string]gitObject) error {
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
		writeUncompressed(&pack, objects[name].data)
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
	path := filepath.Join(dir, "objects", "pack", "pack-"+hex.EncodeToString(sum[:]))
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

// writeUncompressed writes data in zlib's format, uncompressed, because time matters here and
// space does not.
func writeUncompressed(to *bytes.Buffer, data []byte) {
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
