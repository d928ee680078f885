package gh

import "bytes"

// binaryProbe is how much of a text git looks at for a NUL byte, by which it
// takes it for binary.
const binaryProbe = 8000

func isBinary(text []byte) bool {
	return bytes.IndexByte(text[:min(len(text), binaryProbe)], 0) >= 0
}
