package pytorch

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	maxDigits = 4300     // of an integer as text, Python's own limit
	maxLong   = 64 << 10 // bytes of an integer
)

// indexText reads a memo index written in decimal.
func (m *machine) indexText() (int64, error) {
	line, err := m.in.line(20)
	if err != nil {
		return 0, err
	}
	i, err := strconv.ParseInt(string(line), 10, 64)
	if err != nil {
		return 0, m.corrupt("memo index %q", line)
	}
	return i, nil
}

// intText reads an integer in decimal, or a boolean written 00 or 01.
func (m *machine) intText() error {
	line, err := m.in.line(maxDigits)
	if err != nil {
		return err
	}
	switch s := string(line); s {
	case "00":
		return m.push(false, 0)
	case "01":
		return m.push(true, 0)
	default:
		return m.decimal(s)
	}
}

// longText reads an integer in decimal, with or without Python 2's L.
func (m *machine) longText() error {
	line, err := m.in.line(maxDigits)
	if err != nil {
		return err
	}
	return m.decimal(strings.TrimSuffix(string(line), "L"))
}

func (m *machine) decimal(s string) error {
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return m.push(i, 8)
	}
	b, ok := new(big.Int).SetString(s, 10)
	if !ok {
		return m.corrupt("integer %.40q", s)
	}
	return m.push(b, 32+len(s))
}

func (m *machine) int32() error {
	u, err := m.in.uint(4)
	if err != nil {
		return err
	}
	return m.push(int64(int32(u)), 8)
}

func (m *machine) uint(width int) error {
	u, err := m.in.uint(width)
	if err != nil {
		return err
	}
	return m.push(int64(u), 8)
}

// long reads an integer as little-endian two's complement, after its length in
// bytes.
func (m *machine) long(width int) error {
	n, err := m.in.uint(width)
	if err != nil {
		return err
	}
	if n > maxLong {
		return m.corrupt("an integer of %d bytes, at most %d", n, maxLong)
	}
	b, err := m.in.bytes(n)
	if err != nil {
		return err
	}
	if n <= 8 {
		var u uint64
		for i, c := range b {
			u |= uint64(c) << (8 * i)
		}
		if n > 0 && n < 8 && b[n-1] >= 0x80 {
			u |= math.MaxUint64 << (8 * n)
		}
		return m.push(int64(u), 8)
	}
	negative := b[n-1] >= 0x80
	slices.Reverse(b)
	v := new(big.Int).SetBytes(b)
	if negative {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*n)))
	}
	if v.IsInt64() {
		return m.push(v.Int64(), 8)
	}
	return m.push(v, 32+len(b))
}

func (m *machine) floatText() error {
	line, err := m.in.line(400)
	if err != nil {
		return err
	}
	f, err := strconv.ParseFloat(string(line), 64)
	if err != nil && !math.IsInf(f, 0) {
		return m.corrupt("float %.40q", line)
	}
	return m.push(f, 8)
}

// float64 reads the one big-endian number that pickles have.
func (m *machine) float64() error {
	u, err := m.in.uint(8)
	if err != nil {
		return err
	}
	var swapped uint64
	for i := range 8 {
		swapped |= u >> (8 * i) & 0xff << (56 - 8*i)
	}
	return m.push(math.Float64frombits(swapped), 8)
}

// run of bytes after its length of width bytes.
func (m *machine) counted(width int) ([]byte, error) {
	n, err := m.in.uint(width)
	if err != nil {
		return nil, err
	}
	return m.in.bytes(n)
}

func (m *machine) bytes(width int) error {
	b, err := m.counted(width)
	if err != nil {
		return err
	}
	return m.push(b, 24+len(b))
}

func (m *machine) unicode(width int) error {
	b, err := m.counted(width)
	if err != nil {
		return err
	}
	if !validText(b) {
		return m.corrupt("a string that is not UTF-8: %.40q", b)
	}
	return m.push(string(b), 16+2*len(b))
}

// python2String pushes what Python 2 called a string: text if it is UTF-8 (as
// torch.load takes it), else bytes.
func (m *machine) python2String(width int) error {
	b, err := m.counted(width)
	if err != nil {
		return err
	}
	return m.pushPython2(b)
}

func (m *machine) pushPython2(b []byte) error {
	if utf8.Valid(b) {
		return m.push(string(b), 16+2*len(b))
	}
	return m.push(b, 24+len(b))
}

// stringText reads a string as Python 2's repr wrote it.
func (m *machine) stringText() error {
	line, err := m.in.line(int(min(m.in.left(), math.MaxInt32)))
	if err != nil {
		return err
	}
	n := len(line)
	if n < 2 || line[0] != line[n-1] || line[0] != '\'' && line[0] != '"' {
		return m.corrupt("a string without its quotes: %.40q", line)
	}
	b, ok := unescape(line[1 : n-1])
	if !ok {
		return m.corrupt("a string with a bad escape: %.40q", line)
	}
	return m.pushPython2(b)
}

// unescape undoes Python's string escapes, in place.
func unescape(s []byte) ([]byte, bool) {
	out := s[:0]
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			out = append(out, s[i])
			continue
		}
		if i++; i == len(s) {
			return nil, false
		}
		if j := strings.IndexByte("abfnrtv\\'\"", s[i]); j >= 0 {
			out = append(out, "\a\b\f\n\r\t\v\\'\""[j])
			continue
		}
		base, digits := 8, 3
		if s[i] == 'x' {
			base, digits = 16, 2
			i++
		}
		end := min(i+digits, len(s))
		for base == 8 && end > i && (s[end-1] < '0' || s[end-1] > '7') {
			end--
		}
		v, err := strconv.ParseUint(string(s[i:end]), base, 8)
		if err != nil || base == 16 && end-i != 2 {
			return nil, false
		}
		out = append(out, byte(v))
		i = end - 1
	}
	return out, true
}

// unicodeText reads a string in Python's raw-unicode-escape: Latin-1, with
// \uXXXX and \UXXXXXXXX.
func (m *machine) unicodeText() error {
	line, err := m.in.line(int(min(m.in.left(), math.MaxInt32)))
	if err != nil {
		return err
	}
	var b strings.Builder
	for i := 0; i < len(line); i++ {
		digits := 0
		if line[i] == '\\' && i+1 < len(line) {
			switch line[i+1] {
			case 'u':
				digits = 4
			case 'U':
				digits = 8
			}
		}
		if digits == 0 {
			b.WriteRune(rune(line[i]))
			continue
		}
		if i+2+digits > len(line) {
			return m.corrupt("a string with a bad escape: %.40q", line)
		}
		v, err := strconv.ParseUint(string(line[i+2:i+2+digits]), 16, 32)
		if err != nil || v > utf8.MaxRune {
			return m.corrupt("a string with a bad escape: %.40q", line)
		}
		b.WriteRune(rune(v))
		i += 1 + digits
	}
	return m.push(b.String(), 16+2*b.Len())
}

// validText reports whether b is UTF-8, or UTF-8 with single surrogates, which
// Python strings may contain and pickles pass on.
func validText(b []byte) bool {
	if utf8.Valid(b) {
		return true
	}
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			if len(b)-i < 3 || b[i] != 0xed || b[i+1] < 0xa0 || b[i+1] > 0xbf || b[i+2]&0xc0 != 0x80 {
				return false
			}
			n = 3
		}
		i += n
	}
	return true
}
