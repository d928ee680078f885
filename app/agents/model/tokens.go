package model

// Tokens estimates what a text takes, and rather too much than too little: a
// token for three bytes of ASCII, of which code has three to four to a token and
// prose four to five, and one for each other character. Digests and random keys
// take more, about one for two bytes, for which a tenth of what the model reads is
// left free.
func Tokens(s string) int {
	ascii, others := 0, 0
	for i := range len(s) {
		switch c := s[i]; {
		case c < 0x80:
			ascii++
		case c >= 0xc0: // the first byte of a character
			others++
		}
	}
	return (ascii+2)/3 + others
}
