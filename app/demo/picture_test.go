package demo

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
)

var update = flag.Bool("update", false, "take docs/comment.png anew, in a browser")

// footer is what differs between two runs: the version, the digest of the config, the time taken and
// the run's id.
var footer = regexp.MustCompile(`(?s)<br/?>\s*reviewgate .*?</sub>`)

// docs/comment.png shows the comment as the App writes it now. The picture holds a digest of the comment
// and the style, so that this test needs no browser.
func TestPictureOfTheComment(t *testing.T) {
	d := started(t)
	if err := d.play(t.Context(), story[0], patience); err != nil {
		t.Fatal(err)
	}
	page, err := d.view(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	style, err := static.ReadFile("static/style.css")
	if err != nil {
		t.Fatal(err)
	}
	comment := []byte(page.Pull.Comments[0].Text)
	if n := len(footer.FindAll(comment, -1)); n != 1 {
		t.Fatalf("the comment has %d footers:\n%s", n, comment)
	}
	shown := fmt.Appendf(nil, "comment %x", sha256.Sum256(append(footer.ReplaceAll(comment, nil), style...)))
	file := filepath.FromSlash("../../docs/comment.png")
	if *update {
		v := visit(t, d, 900)
		shot, err := chromedp.Run(v.ctx, chromedp.Screenshot(chromedp.CSS(".bot")))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, labelled(t, shot, shown), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	picture, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(picture, shown) {
		t.Error("docs/comment.png shows an older comment or style: run make picture")
	}
	if len(picture) > 200_000 {
		t.Errorf("docs/comment.png has %d bytes; keep it below 200,000", len(picture))
	}
}

// fewColours reduces a picture to its 256 most frequent colours, which halves its size.
func fewColours(m image.Image) image.Image {
	frequent := map[color.RGBA]int{}
	for y := m.Bounds().Min.Y; y < m.Bounds().Max.Y; y++ {
		for x := m.Bounds().Min.X; x < m.Bounds().Max.X; x++ {
			frequent[color.RGBAModel.Convert(m.At(x, y)).(color.RGBA)]++
		}
	}
	colours := slices.SortedFunc(maps.Keys(frequent), func(a, b color.RGBA) int { return cmp.Compare(frequent[b], frequent[a]) })
	var palette color.Palette
	for _, c := range colours[:min(256, len(colours))] {
		palette = append(palette, c)
	}
	few := image.NewPaletted(m.Bounds(), palette)
	draw.Draw(few, m.Bounds(), m, m.Bounds().Min, draw.Src)
	return few
}

// labelled compresses a picture well and adds a text chunk to it.
func labelled(t *testing.T, shot, text []byte) []byte {
	t.Helper()
	m, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, fewColours(m)); err != nil {
		t.Fatal(err)
	}
	const end = 12 // bytes of the last chunk, IEND
	chunk := append([]byte("tEXtComment\x00"), text...)
	out := bytes.Clone(b.Bytes()[:b.Len()-end])
	out = binary.BigEndian.AppendUint32(out, uint32(len(chunk)-len("tEXt")))
	out = append(out, chunk...)
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(chunk))
	return append(out, b.Bytes()[b.Len()-end:]...)
}
