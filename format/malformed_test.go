package format

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// forge assembles a file around any header, with a valid checksum, and any
// bytes after it.
func forge(header string, data ...byte) []byte {
	p := preamble{version: 1, headerLength: uint64(len(header)), fileLength: uint64(preambleSize + len(header) + len(data))}
	return append(append(p.appendTo(nil, []byte(header)), header...), data...)
}

// forgeAt pads the header to the first boundary before the data.
func forgeAt(header string, data ...byte) []byte {
	pad := make([]byte, align(preambleSize+int64(len(header)))-preambleSize-int64(len(header)))
	return forge(header, append(pad, data...)...)
}

// headerOf is the JSON of smallHeader with the given lists.
func headerOf(sections, tensors string) string {
	d := directory{header: smallHeader()}
	d.header.Container, d.header.Architecture, d.header.Quantization = 1, 1, 1
	b, err := d.encode()
	if err != nil {
		panic(err)
	}
	s := strings.Replace(string(b), `"sections":[]`, `"sections":[`+sections+`]`, 1)
	return strings.Replace(s, `"tensors":[]`, `"tensors":[`+tensors+`]`, 1)
}

func tensorEntry(name, dtype, shape string, data []byte, stored int) string {
	s := fmt.Sprintf(`{"name":%q,"dtype":%q,"shape":%s`, name, dtype, shape)
	if stored != 0 {
		s += fmt.Sprintf(`,"stored":%d`, stored)
	}
	return s + fmt.Sprintf(`,"crc":"%08x"}`, crc32.Checksum(data, castagnoli))
}

// frame is data as a zstd frame with the given options.
func frame(t testing.TB, data []byte, opts ...zstd.EOption) []byte {
	t.Helper()
	e, err := zstd.NewWriter(nil, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return e.EncodeAll(data, nil)
}

type malformed struct {
	name string
	b    []byte
	want string // part of the error
}

// malformedFiles has one file for each thing that can be wrong with the
// structure: NewReader refuses them.
func malformedFiles(t testing.TB) []malformed {
	good, _ := small(t)
	change := func(at int, v ...byte) []byte {
		b := bytes.Clone(good)
		copy(b[at:], v)
		return b
	}
	plain := headerOf("", "")
	edit := func(old, new string) []byte {
		if !strings.Contains(plain, old) {
			t.Fatalf("header has no %s", old)
		}
		return forge(strings.Replace(plain, old, new, 1))
	}
	four := []byte{1, 2, 3, 4}
	entry := tensorEntry("x", "f32", "[1]", four, 0)
	name := func(s string) string { return strings.Replace(entry, `"x"`, s, 1) }
	one := func(e string) []byte { return forgeAt(headerOf("", e), four...) }
	huge := binary.LittleEndian.AppendUint64(nil, 1<<63)
	big := binary.LittleEndian.AppendUint64(nil, maxHeader+1)
	return []malformed{
		{"empty", nil, "file of 0 bytes, want at least 32"},
		{"web page", []byte("<!DOCTYPE html><html><body>not found</body></html>"), "not a .msz file"},
		{"magic only", good[:8], "file of 8 bytes, want at least 32"},
		{"text mode", bytes.Replace(good, []byte("\r\n"), []byte("\n"), 1), "not a .msz file"},
		{"version 0", change(8, 0), "container version 0"},
		{"cut", good[:len(good)-1], "its header says"},
		{"longer", append(bytes.Clone(good), 0), "its header says"},
		{"cut to the preamble", good[:32], "its header says"},
		{"header length over the file", change(16, 0xff, 0xff, 0xff), "header of 16777215 bytes in a file of"},
		{"header length of 2^63", change(16, huge...), "header of 9223372036854775808 bytes"},
		{"header length over the cap", change(16, big...), "header of 104857601 bytes"},
		{"file length of 2^63", change(24, huge...), "its header says 9223372036854775808"},
		{"header checksum", change(12, good[12]^1), "header's checksum is"},
		{"header byte", change(40, good[40]^1), "header's checksum is"},
		{"padding", change(paddingOf(good), 7), "padding before it has the byte 0x07"},

		{"no header", forge(""), "header: unexpected end of JSON input"},
		{"not JSON", forge("{]"), "header: invalid character"},
		{"deep JSON", forge(strings.Repeat("[", 100000)), "exceeded max depth"},
		{"not an object", forge("[]"), "header: json: cannot unmarshal array"},
		{"empty object", forge("{}"), "header: architecture revision 0, want at least 1"},
		{"quantization 0", edit(`"quantization":1`, `"quantization":0`), "header: quantization revision 0"},
		{"no config", edit(`"config":{`, `"konfig":{`), "header: config of 0 bytes"},
		{"wrong type", edit(`"layers":1`, `"layers":"1"`), "header: config: json: cannot unmarshal string"},
		{"fraction", edit(`"layers":1`, `"layers":1.5`), "cannot unmarshal number 1.5"},
		{"invalid config", edit(`"layers":1`, `"layers":0`), "header: config: decoder.layers is 0"},
		{"large config", edit(`"layers":1`, `"layers":1,"bands":[`+strings.Repeat("{},", 1<<19)+"{}]"), "header: config of "},
		{"path in the source", edit(`"a.pt"`, `"/a.pt"`), "want a file's base name"},
		{"sha256", edit(`0f0f`, `0F0F`), "want 64 lower-case hexadecimal digits"},
		{"null config", edit(plain[strings.Index(plain, `"config":`)+9:strings.Index(plain, `,"tokenization"`)], "null"), "not in its canonical form"},
		{"space", edit(`,`, `, `), "not in its canonical form"},
		{"space after", forge(plain + "\n"), "not in its canonical form"},
		{"unknown key", edit(`"sections"`, `"more":1,"sections"`), "not in its canonical form"},
		{"key twice", edit(`"architecture":1`, `"architecture":1,"architecture":1`), "not in its canonical form"},
		{"key case", edit(`"architecture":1`, `"Architecture":1`), "not in its canonical form"},
		{"key order", edit(`"architecture":1,"quantization":1`, `"quantization":1,"architecture":1`), "not in its canonical form"},
		{"zero that is left out", edit(`"kind":"memsizer"`, `"kind":"memsizer","slots":0`), "not in its canonical form"},
		{"long number", edit(`"embed_scale":2`, `"embed_scale":2.0`), "not in its canonical form"},
		{"escape", edit(`moses`, `mose\u0073`), "not in its canonical form"},
		{"not UTF-8", edit(`moses`, "mose\xff"), "not in its canonical form"},
		{"null list", edit(`"tensors":[]`, `"tensors":null`), "not in its canonical form"},

		{"null entry", one("null"), "tensor name of 0 bytes"},
		{"name with a space", one(name(`"x y"`)), "has the byte 0x20"},
		{"name beyond ASCII", one(name(`"é"`)), "has the byte 0xc3"},
		{"long name", one(name(`"` + strings.Repeat("x", 256) + `"`)), "tensor name of 256 bytes, want 1 to 255"},
		{"long entry", one(name(`"` + strings.Repeat("x", 1024) + `"`)), "tensor entry of 1078 bytes, want at most 1024"},
		{"element type", one(strings.Replace(entry, "f32", "f64", 1)), `element type "f64"`},
		{"no dimension", one(strings.Replace(entry, "[1]", "[]", 1)), "shape of 0 dimensions, want 1 to 8"},
		{"nine dimensions", one(strings.Replace(entry, "[1]", "[1,1,1,1,1,1,1,1,1]", 1)), "shape of 9 dimensions, want 1 to 8"},
		{"zero dimension", one(strings.Replace(entry, "[1]", "[1,0]", 1)), "shape [1 0] has a dimension below 1"},
		{"negative dimensions", one(strings.Replace(entry, "[1]", "[-1,-1]", 1)), "shape [-1 -1] has a dimension below 1"},
		{"overflowing shape", one(strings.Replace(entry, "[1]", "[4294967296,4294967296]", 1)), "is beyond any file"},
		{"shape over the file", one(strings.Replace(entry, "[1]", "[1000000000]", 1)), "sections end at byte 4000001"},
		{"i8 vector", one(tensorEntry("x", "i8", "[4]", four, 0)), "i8 tensor of shape [4], want a matrix"},
		{"checksum form", one(entry[:strings.Index(entry, `"crc"`)] + `"crc":"1234"}`), `checksum "\"1234\"", want eight hexadecimal digits`},
		{"checksum case", one(entry[:strings.Index(entry, `"crc"`)] + `"crc":"ABCDEF01"}`), "not in its canonical form"},
		{"tensor twice", forgeAt(headerOf("", entry+","+entry), four...), `tensor "x" is there twice`},
		{"section twice", forge(headerOf(section("a", 0, 0)+","+section("a", 0, 0), "")), `section "a" is there twice`},
		{"section entry", forge(headerOf(`{"name":""}`, "")), "section name of 0 bytes"},
		{"negative section", forge(headerOf(section("a", -1, 0), "")), `section "a": size -1`},
		{"section over the file", forgeAt(headerOf(section("a", 1<<40, 0), ""), 1), "sections end at byte 109951"},
		{"endless sections", forge(headerOf(section("a", 1<<62, 0)+","+section("b", 1<<62, 0), "")), `"b": its end is beyond any file`},
		{"section of 2^63", forge(headerOf(section("a", 1<<62+1, 0), "")), `section "a": size`},
		{"compressed to nothing", forge(headerOf(section("a", 10, -1), "")), "compressed to -1 bytes, want fewer than its 10"},
		{"compressed to more", forge(headerOf(section("a", 10, 10), "")), "compressed to 10 bytes, want fewer than its 10"},
		{"bomb by its sizes", forge(headerOf(section("a", 1<<40, 1<<20), "")), "1099511627776 bytes compressed to 1048576, want at most 256 times less"},
		{"tensor bomb by its sizes", forge(headerOf("", tensorEntry("x", "f32", "[1000000]", four, 4))), "4000000 bytes compressed to 4, want"},
		{"hole at the end", forgeAt(headerOf("", entry), append(bytes.Clone(four), 0)...), "the file has"},
	}
}

func section(name string, size, stored int64) string {
	s := fmt.Sprintf(`{"name":%q,"size":%d`, name, size)
	if stored != 0 {
		s += fmt.Sprintf(`,"stored":%d`, stored)
	}
	return s + `,"crc":"00000000"}`
}

// paddingOf is the offset of the byte before the last tensor.
func paddingOf(b []byte) int {
	r, err := NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		panic(err)
	}
	return int(r.dir.tensors[len(r.dir.tensors)-1].Offset) - 1
}

func TestMalformed(t *testing.T) {
	for _, c := range malformedFiles(t) {
		t.Run(c.name, func(t *testing.T) {
			_, err := NewReader(bytes.NewReader(c.b), int64(len(c.b)))
			var corrupt *CorruptError
			if !errors.As(err, &corrupt) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error is %v (%T), want corrupt: %q", err, err, c.want)
			}
			path := filepath.Join(t.TempDir(), "m.msz")
			if err := os.WriteFile(path, c.b, 0o666); err != nil {
				t.Fatal(err)
			}
			if _, err := Open(path); !errors.As(err, &corrupt) || !strings.HasPrefix(err.Error(), "format: "+path+": ") {
				t.Errorf("opened by name, error is %v", err)
			}
		})
	}
}

// TestMalformedContent has what shows only when a section is asked for.
func TestMalformedContent(t *testing.T) {
	text := []byte(strings.Repeat("abcd efgh ", 100))
	good := frame(t, text)
	zeros := make([]byte, 20<<20)
	matrix := func(scales string, values ...byte) []byte {
		b := make([]byte, 256, 260)
		copy(b, scales)
		return append(b, values...)
	}
	ones := "\x00\x00\x80\x3f\x00\x00\x80\x3f"
	tensor := func(dtype, shape string, content, stored []byte) []byte {
		n := 0
		if content == nil {
			n = len(stored)
		}
		return forgeAt(headerOf("", tensorEntry("x", dtype, shape, stored, n)), stored...)
	}
	compressed := func(stored []byte) []byte { return tensor("f16", "[500]", nil, stored) }
	i8 := func(b []byte) []byte { return tensor("i8", "[2,2]", b, b) }
	flipped := tensor("f16", "[500]", text, text)
	flipped[len(flipped)-3] ^= 4
	for _, c := range []malformed{
		{"checksum", flipped, `"x": checksum is `},
		{"not zstd", compressed([]byte("0123456789")), "zstd: "},
		{"cut frame", compressed(good[:len(good)-6]), "unexpected EOF"},
		{"bytes after the frame", compressed(append(bytes.Clone(good), 0)), "zstd: frame of"},
		{"two frames", compressed(append(bytes.Clone(good), frame(t, nil, zstd.WithZeroFrames(true))...)), "zstd: frame of"},
		{"skippable frame", compressed([]byte("\x50\x2a\x4d\x18\x02\x00\x00\x00ab")), "zstd: skippable frame"},
		{"dictionary", compressed(frame(t, text, zstd.WithEncoderDictRaw(77, text))), "zstd: frame needs the dictionary 77"},
		{"content size", compressed(frame(t, text[1:])), "zstd: frame declares 999 bytes of content, want 1000"},
		{"damaged frame", compressed(append(good[:len(good)-20:len(good)-20], bytes.Repeat([]byte{0xff}, 20)...)), "zstd: "},
		{"more than declared", compressed(moreThanDeclared(t)), "zstd: "},
		{"less than declared", compressed(lessThanDeclared(t)), "zstd: "},
		{"large window", tensor("f16", "[10485760]", nil, largeWindow(zeros)), "zstd: window of 20971520 bytes, want at most 8388608"},
		{"zero scale", i8(matrix(ones[:4]+"\x00\x00\x00\x00", 1, 2, 3, 4)), "scale of row 1 is 0, want it positive"},
		{"NaN scale", i8(matrix("\x00\x00\xc0\x7f"+ones[:4], 1, 2, 3, 4)), "scale of row 0 is NaN"},
		{"negative scale", i8(matrix(ones[:4]+"\x00\x00\x80\xbf", 1, 2, 3, 4)), "scale of row 1 is -1"},
		{"padding after scales", i8(matrix(ones+"\x00\x01", 1, 2, 3, 4)), "padding after the scales has the byte 0x01 at 9"},
		{"-128", i8(matrix(ones, 1, 2, 0x80, 4)), "element 2 is -128, want -127 to 127"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := NewReader(bytes.NewReader(c.b), int64(len(c.b)))
			if err != nil {
				t.Fatal(err)
			}
			_, err = r.Tensor("x")
			var corrupt *CorruptError
			if !errors.As(err, &corrupt) || !strings.Contains(err.Error(), c.want) || corrupt.Tensor != "x" || corrupt.Offset%256 != 0 {
				t.Errorf("error is %#v, want corrupt: %q", err, c.want)
			}
			if verr := r.Verify(); verr == nil || verr.Error() != err.Error() {
				t.Errorf("Verify gave %v, want %v", verr, err)
			}
		})
	}
}

// moreThanDeclared is a frame that declares 1,000 bytes and has one block of
// 100,000.
func moreThanDeclared(t testing.TB) []byte { return declared(1000, rle(100_000, true)) }

func lessThanDeclared(t testing.TB) []byte { return declared(1000, rle(999, true)) }

// declared is a frame header for n bytes with a window of 1 MiB, and blocks.
func declared(n uint64, blocks []byte) []byte {
	b := []byte{0x28, 0xb5, 0x2f, 0xfd, 0b1100_0000, 10 << 3}
	return append(binary.LittleEndian.AppendUint64(b, n), blocks...)
}

// rle is a block of n times the same byte.
func rle(n int, last bool) []byte {
	v := n<<3 | 1<<1
	if last {
		v |= 1
	}
	return []byte{byte(v), byte(v >> 8), byte(v >> 16), 'a'}
}

// largeWindow is a single-segment frame of raw blocks, as long as its content
// would be if it were not limited: the stored size must be plausible.
func largeWindow(content []byte) []byte {
	b := []byte{0x28, 0xb5, 0x2f, 0xfd, 0b1110_0000}
	b = binary.LittleEndian.AppendUint64(b, uint64(len(content)))
	for len(content) > 0 {
		n := min(len(content), 128<<10)
		v := n<<3 | 1<<1
		if n == len(content) {
			v |= 1
		}
		b = append(b, byte(v), byte(v>>8), byte(v>>16), content[0])
		content = content[n:]
	}
	// Blocks of no bytes make it long enough to be plausible.
	last := b[len(b)-4:]
	last[0] &^= 1
	for len(b) < 20<<20/maxRatio {
		b = append(b, 0, 0, 0)
	}
	return append(b, 1, 0, 0)
}

// TestBomb: a frame that unpacks to far more than it declares must not be
// unpacked, nor one whose declared size is far beyond the file.
func TestBomb(t *testing.T) {
	var blocks []byte
	for range 5000 {
		blocks = append(blocks, rle(128<<10, false)...)
	}
	f := declared(20000*4, append(blocks, rle(128<<10, true)...)) // 655 MB
	b := forgeAt(headerOf("", tensorEntry("x", "f32", "[20000]", f, len(f))), f...)
	r, err := NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = r.Tensor("x")
	runtime.ReadMemStats(&after)
	var corrupt *CorruptError
	if !errors.As(err, &corrupt) {
		t.Errorf("error is %v, want corrupt", err)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 64<<20 {
		t.Errorf("allocated %d bytes for a file of %d", got, len(b))
	}
}

func TestUnsupported(t *testing.T) {
	good, _ := small(t)
	good[8] = 2
	plain := headerOf("", "")
	for _, c := range []malformed{
		{"container", good, "format: container version 2, this program reads 1"},
		{"architecture", forge(strings.Replace(plain, `"architecture":1,`, `"architecture":3,"new":{},`, 1)),
			"format: newer revision: architecture revision 3, this program reads up to 1"},
		{"quantization", forge(strings.Replace(plain, `"quantization":1`, `"quantization":2`, 1)),
			"format: newer revision: quantization revision 2, this program reads up to 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := NewReader(bytes.NewReader(c.b), int64(len(c.b)))
			var unsupported *UnsupportedError
			if !errors.As(err, &unsupported) || err.Error() != c.want {
				t.Errorf("error is %v (%T), want unsupported: %q", err, err, c.want)
			}
		})
	}
}

// TestShortSource: a source with fewer bytes than promised gives an error.
func TestShortSource(t *testing.T) {
	b, _ := small(t)
	if _, err := NewReader(bytes.NewReader(b[:10]), int64(len(b))); err == nil || !strings.Contains(err.Error(), "unexpected EOF") {
		t.Errorf("error is %v, want unexpected EOF", err)
	}
	if _, err := NewReader(bytes.NewReader(b), -1); err == nil {
		t.Error("negative size: no error")
	}
}
