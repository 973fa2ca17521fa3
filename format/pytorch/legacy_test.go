package pytorch

import (
	"bytes"
	"encoding/binary"
	"os"
	"strings"
	"testing"
)

const (
	legacyStart   = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."
	legacyNumber  = "\x80\x02M\xe9\x03."
	legacySystem  = "\x80\x02}X\x0d\x00\x00\x00little_endian\x88s."
	legacyKeys    = "\x80\x02]X\x01\x00\x00\x000a."
	legacyCount   = "\x04\x00\x00\x00\x00\x00\x00\x00"
	legacyContent = "0123456789abcdef"
)

// legacyPickle is a tensor of storage "0", four floats, with the view.
func legacyPickle(view string) string {
	id := strings.Replace(storageID, "tQ", view+"tQ", 1)
	return "\x80\x02" + rebuild + "(" + id + "K\x00K\x02\x85K\x01\x85" + hooks + "."
}

// TestLegacyErrors opens legacy files that are not in order.
func TestLegacyErrors(t *testing.T) {
	head := legacyStart + legacyNumber + legacySystem
	good := legacyPickle("N")
	for _, c := range []struct {
		name, file string
		kind       any
		text       string
	}{
		{"only the magic number", legacyStart, corruptKind(), "cut off"},
		{"other version", legacyStart + "\x80\x02M\xea\x03.", unsupportedKind(), "protocol version 1002 of the legacy container, want 1001"},
		{"version is text", legacyStart + "\x80\x02U\x01x.", unsupportedKind(), "protocol version x"},
		{"system is a number", legacyStart + legacyNumber + "K\x01.", corruptKind(), "the system information is an integer, want a dictionary"},
		{"big-endian", legacyStart + legacyNumber + strings.Replace(legacySystem, "\x88", "\x89", 1), unsupportedKind(), "a big-endian file"},
		{"no object", head, corruptKind(), "cut off"},
		{"no keys", head + good, corruptKind(), "cut off"},
		{"keys are a number", head + good + "K\x01.", corruptKind(), "the keys of storages are an integer, want a list"},
		{"another key", head + good + strings.Replace(legacyKeys, "0a.", "1a.", 1), corruptKind(), `storage key 0 of 1, "1", is not one of the 1`},
		{"a key twice", head + good + "\x80\x02](X\x01\x00\x00\x000X\x01\x00\x00\x000e." + legacyCount + legacyContent, corruptKind(), `storage key 1 of 2, "0"`},
		{"no key", head + good + "].", corruptKind(), "0 storages follow the pickle, which names 1"},
		{"no count", head + good + legacyKeys + "\x04", corruptKind(), `cut off before storage "0"`},
		{"another count", head + good + legacyKeys + "\x05\x00\x00\x00\x00\x00\x00\x00" + legacyContent, corruptKind(), `storage "0" has 5 elements, and 4 in the pickle`},
		{"cut in a storage", head + good + legacyKeys + legacyCount + legacyContent[:15], corruptKind(), `cut off in storage "0"`},
		{"too long", head + good + legacyKeys + legacyCount + legacyContent + "x", corruptKind(), "1 bytes after the last storage"},
		{"view leaves the storage", head + legacyPickle("(X\x01\x00\x00\x00vK\x01K\x04t"), corruptKind(), `a view of storage "0" of 4 elements`},
		{"tensor leaves the view", head + legacyPickle("(X\x01\x00\x00\x00vK\x01K\x01t"), corruptKind(), `leaves its storage "0" of 1 elements`},
		{"view is a number", head + legacyPickle("K\x01"), corruptKind(), "a view of a storage is an integer"},
		{"storage larger than the file", head + strings.Replace(good, "K\x04t", "J\x00\x00\x00\x7ft", 1), corruptKind(), `storage "0" of 4 float32 elements, in a file`},
		{"unknown storage class", head + strings.Replace(good, "FloatStorage", "OtherStorage", 1), unsupportedKind(), "storage class torch.OtherStorage"},
		{"forbidden in the header", legacyStart + "cos\nsystem\n.", forbiddenKind(), `"os.system"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "storage larger than the file" {
				c.file = strings.Replace(c.file, "K\x04NtQ", "J\xff\xff\xff\x7fNtQ", 1)
				c.text = `storage "0" of 2147483647 float32 elements, in a file`
			}
			_, err := openBytes([]byte(c.file))
			wantError(t, err, c.kind, c.text)
		})
	}
	f, err := openBytes([]byte(head + legacyPickle("(X\x01\x00\x00\x00vK\x01K\x03t") + legacyKeys + legacyCount + legacyContent))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(readAll(t, f.Root().(*Tensor))), "456789ab"; got != want {
		t.Errorf("a tensor of a view has elements %q, want %q", got, want)
	}
}

// TestLegacyCutOff opens every beginning of a legacy file.
func TestLegacyCutOff(t *testing.T) {
	b, err := os.ReadFile("testdata/dtypes-legacy.pt")
	if err != nil {
		t.Fatal(err)
	}
	for n := 15; n < len(b); n++ {
		_, err := openBytes(b[:n])
		if err == nil {
			t.Fatalf("no error with %d of %d bytes", n, len(b))
		}
		if !strings.Contains(err.Error(), "cut off") && !strings.Contains(err.Error(), "bytes are left") && !strings.Contains(err.Error(), "in a file of") {
			t.Errorf("%d of %d bytes: %v", n, len(b), err)
		}
	}
	at := bytes.LastIndex(b, binary.LittleEndian.AppendUint64(nil, 15))
	b[at]++
	_, err = openBytes(b)
	wantError(t, err, corruptKind(), "has 16 elements, and 15 in the pickle")
}
