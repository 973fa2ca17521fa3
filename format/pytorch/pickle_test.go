package pytorch

import (
	"encoding/binary"
	"runtime"
	"strings"
	"testing"
)

// TestPickleErrors opens pickles that are not in order.
func TestPickleErrors(t *testing.T) {
	tensor := tensorPickle
	for _, c := range []struct {
		name, pickle string
		kind         any
		text         string
	}{
		{"no operation", "\x80\x02\xff.", corruptKind(), `("a/data.pkl" byte 2): corrupt: 0xff is not a pickle operation`},
		{"future protocol", "\x80\x06N.", unsupportedKind(), "pickle protocol 6, at most 5"},
		{"no stop", "\x80\x02N", corruptKind(), "byte 3): corrupt: the pickle is cut off"},
		{"nothing", "\x80\x02.", corruptKind(), "stops with 0 values"},
		{"two values", "\x80\x02NN.", corruptKind(), "stops with 2 values"},
		{"open mark", "\x80\x02N(.", corruptKind(), "1 marks"},
		{"empty stack", "\x80\x020.", corruptKind(), "stack is empty"},
		{"below the mark", "\x80\x02N(\x85.", corruptKind(), "stack is empty"},
		{"no mark", "\x80\x02t.", corruptKind(), "no mark"},
		{"memo never stored", "\x80\x02h\x07.", corruptKind(), "memo index 7 was never stored"},
		{"memo is negative", "p-1\n.", corruptKind(), "stack is empty"},
		{"memo index is text", "Npx\n.", corruptKind(), `memo index "x"`},
		{"long string", "\x80\x02X\xff\xff\xff\x7fabc.", corruptKind(), "a string of 2147483647 bytes, and 4 bytes are left"},
		{"very long string", "\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xffabc.", corruptKind(), "a string of 18446744073709551615 bytes"},
		{"very long bytes", "\x80\x05\x96\xff\xff\xff\xff\xff\xff\xff\x7fabc.", corruptKind(), "a string of 9223372036854775807 bytes"},
		{"long frame", "\x80\x04\x95\xff\xff\x00\x00\x00\x00\x00\x00N.", corruptKind(), "a frame of 65535 bytes"},
		{"no UTF-8", "\x80\x02X\x01\x00\x00\x00\xff.", corruptKind(), "not UTF-8"},
		{"long integer", "\x80\x02\x8b\xff\xff\xff\x7f.", corruptKind(), "an integer of 2147483647 bytes"},
		{"many digits", "L" + strings.Repeat("9", 5000) + "L\n.", corruptKind(), "a line of more than 4300 bytes"},
		{"no integer", "Ix1\n.", corruptKind(), `integer "x1"`},
		{"no float", "Fx1\n.", corruptKind(), `float "x1"`},
		{"no quotes", "Sabc\n.", corruptKind(), "without its quotes"},
		{"bad escape", "S'\\xg1'\n.", corruptKind(), "bad escape"},
		{"long global", "c" + strings.Repeat("m", 2000) + "\nn\n.", corruptKind(), "a line of more than 1024 bytes"},
		{"long global on the stack", "\x80\x04X\x00\x08\x00\x00" + strings.Repeat("m", 2048) + "\x8c\x01n\x93.", corruptKind(), "a global's name of 2048 bytes"},
		{"global of numbers", "\x80\x04K\x01K\x02\x93.", corruptKind(), "a global named by an integer and an integer"},
		{"a call of a number", "\x80\x02K\x01)R.", corruptKind(), "a call of an integer"},
		{"a call of a tensor", "\x80\x02" + tensor("K\x00", "K\x04\x85", "K\x01\x85")[2:len(tensor("K\x00", "K\x04\x85", "K\x01\x85"))-1] + ")R.", corruptKind(), "a call of a tensor"},
		{"arguments are a list", "\x80\x02cm\nf\n]R.", corruptKind(), "arguments are a list, want a tuple"},
		{"names are a list", "\x80\x04cm\nf\n)]\x92.", corruptKind(), "named arguments are a list"},
		{"append to a tuple", "\x80\x02)Na.", corruptKind(), "items appended to a tuple of 0"},
		{"entry in a list", "\x80\x02]NNs.", corruptKind(), "entries set in a list"},
		{"key without a value", "\x80\x02}(Nu.", corruptKind(), "a dictionary key without a value"},
		{"a list as a key", "\x80\x02}]Ns.", corruptKind(), "a list as a dictionary key"},
		{"state of a global", "\x80\x02cm\nf\n}b.", corruptKind(), `a state for the global "m.f"`},
		{"object without a class", "\x80\x02(o.", corruptKind(), "an object without a class"},
		{"extension", "\x80\x02\x82\x01.", unsupportedKind(), "Python's extension registry"},
		{"buffer", "\x80\x05\x97.", unsupportedKind(), "an out-of-band buffer"},
		{"persistent id as text", "Pabc\n.", unsupportedKind(), "a persistent id as text"},

		{"persistent id is a number", "\x80\x02K\x01Q.", corruptKind(), "a persistent id is an integer, want a tuple"},
		{"persistent id of something else", "\x80\x02(U\x01xNNNNtQ.", corruptKind(), `starts with "x"`},
		{"persistent id of wrong types", "\x80\x02(U\x07storageNNNNtQ.", corruptKind(), "a persistent id of None, None, None and None"},
		{"negative storage size", strings.Replace(tensor("K\x00", "K\x04\x85", "K\x01\x85"), "K\x04tQ", "J\xff\xff\xff\xfftQ", 1), corruptKind(), "a persistent id of"},
		{"huge storage", strings.Replace(tensor("K\x00", "K\x04\x85", "K\x01\x85"), "K\x04tQ", "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7ftQ", 1), corruptKind(), `storage "0" has 9223372036854775807 float32 elements`},
		{"storage of two sizes", "\x80\x02" + storageID + strings.Replace(storageID, "K\x04tQ", "K\x05tQ", 1) + "\x86.", corruptKind(), `storage "0" has 5 float32 elements, and elsewhere 4`},
		{"storage of two types", "\x80\x02" + storageID + strings.Replace(storageID, "Float", "Int", 1) + "\x86.", corruptKind(), `and elsewhere 4 float32`},

		{"tensor of nothing", "\x80\x02" + rebuild + ")R.", corruptKind(), "a tensor is made of 0 values"},
		{"tensor of a number", "\x80\x02" + rebuild + "(K\x01K\x00))tR.", corruptKind(), "a tensor is made of an integer, want a storage"},
		{"tensor of an object", "\x80\x02" + rebuild + "(cm\nf\n)RK\x00))tR.", corruptKind(), "want a storage"},
		{"too large", tensor("K\x00", "K\x05\x85", "K\x01\x85"), corruptKind(), `a tensor of shape [5], strides [1] and offset 0 leaves its storage "0" of 4 elements`},
		{"offset too large", tensor("K\x01", "K\x04\x85", "K\x01\x85"), corruptKind(), "leaves its storage"},
		{"empty and offset too large", tensor("K\x05", "K\x00\x85", "K\x01\x85"), corruptKind(), "starts after its storage"},
		{"negative offset", tensor("J\xff\xff\xff\xff", "K\x04\x85", "K\x01\x85"), corruptKind(), "storage offset -1"},
		{"offset is text", tensor("U\x01x", "K\x04\x85", "K\x01\x85"), corruptKind(), "storage offset x"},
		{"stride too large", tensor("K\x00", "K\x02\x85", "K\x04\x85"), corruptKind(), "leaves its storage"},
		{"negative size", tensor("K\x00", "J\xff\xff\xff\xff\x85", "K\x01\x85"), corruptKind(), "dimension 0 or its stride is -1"},
		{"negative stride", tensor("K\x03", "K\x04\x85", "J\xff\xff\xff\xff\x85"), corruptKind(), "dimension 0 or its stride is -1"},
		{"size is text", tensor("K\x00", "U\x01x\x85", "K\x01\x85"), corruptKind(), "dimension 0 is a string"},
		{"shape is a number", tensor("K\x00", "K\x04", "K\x01\x85"), corruptKind(), "a shape or strides are an integer"},
		{"fewer strides", tensor("K\x00", "K\x02K\x02\x86", "K\x01\x85"), corruptKind(), "a tensor of 2 dimensions has 1 strides"},
		{"sizes overflow", tensor("K\x00", strings.Repeat("\x8a\x05\x00\x00\x00\x00\x01", 3)+"\x87", "K\x00K\x00K\x00\x87"), corruptKind(), "has too many elements"},
		{"bytes overflow", tensor("K\x00", "\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x40\x85", "K\x00\x85"), corruptKind(), "has too many elements"},
		{"strides overflow", tensor("K\x00", "K\x03\x85", "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f\x85"), corruptKind(), "leaves its storage"},
		{"many dimensions", tensor("K\x00", "("+strings.Repeat("K\x01", 65)+"t", "("+strings.Repeat("K\x01", 65)+"t"), corruptKind(), "65 dimensions, at most 64"},
		{"state of a tensor", strings.Replace(tensor("K\x00", "K\x04\x85", "K\x01\x85"), "tR.", "tR}b.", 1), unsupportedKind(), "a tensor with a state of its own"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := openBytes(checkpointOf(t, c.pickle))
			wantError(t, err, c.kind, c.text)
		})
	}
}

// TestUndescribed checks that a tensor that is valid and not described is no
// obstacle to reading the others.
func TestUndescribed(t *testing.T) {
	for _, c := range []struct{ name, pickle, note string }{
		{"expanded", tensorPickle("K\x00", "J\x00\x00\x00\x01\x85", "K\x00\x85"), "larger than its storage of 16 bytes"},
		{"unknown storage class", strings.Replace(tensorPickle("K\x00", "K\x04\x85", "K\x01\x85"), "FloatStorage", "OtherStorage", 1), "storage class torch.OtherStorage is not supported"},
		{"unknown element type", strings.Replace(tensorPickle("K\x00", "K\x04\x85", "K\x01\x85"), "tR.", "ctorch\nfloat3\ntR.", 1), "element type torch.float3 is not supported"},
		{"parameter", "\x80\x02ctorch._utils\n_rebuild_parameter\n(" + strings.TrimSuffix(tensorPickle("K\x00", "J\x00\x00\x00\x01\x85", "K\x00\x85")[2:], ".") + "\x88NtR.", "larger than its storage"},
	} {
		f, err := openBytes(checkpointOf(t, c.pickle))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if o, ok := f.Root().(*Object); !ok || !strings.Contains(o.Note, c.note) {
			t.Errorf("%s: got %s, want a note with %q", c.name, show(f.Root()), c.note)
		}
	}
}

// TestText reads the text operations of protocol 0.
func TestText(t *testing.T) {
	for pickle, want := range map[string]string{
		"I42\n.": "42", "I01\n.": "true", "I00\n.": "false", "I-7\n.": "-7", "L-5L\n.": "-5", "L99999999999999999999L\n.": "big99999999999999999999", "F1.5\n.": "1.5", "Finf\n.": "+Inf",
		"S'a\\n\\x41\\'\\101\\\\'\n.": `"a\nA'A\\"`, "S\"q\"\n.": `"q"`, "S'\\xff'\n.": `b"\xff"`, "V\\u00e4\\U0001F600\xe4\\n\n.": `"ä😀ä\\n"`,
		"(lp0\nI1\nag0\na.": "[1 ...]", "(dp7\nS'k'\nI1\ns.": `{"k":1}`, "(I1\nI2\nt.": "(1 2)", "N2\x86.": "(None None)", "(I1\n1N.": "None", "(0N.": "None",
		"\x80\x02U\x01\xff.": `b"\xff"`, "\x80\x02T\x02\x00\x00\x00ab.": `"ab"`, "\x80\x02J\xfe\xff\xff\xff.": "-2", "\x80\x02\x8a\x00.": "0", "\x80\x02\x8a\x01\x80.": "-128", "\x80\x02\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x00.": "big18446744073709551615", "\x80\x02\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\xff.": "-1",
	} {
		f, err := openBytes(checkpointOf(t, pickle))
		if err != nil {
			t.Errorf("%q: %v", pickle, err)
		} else if got := show(f.Root()); got != want {
			t.Errorf("%q: got %s, want %s", pickle, got, want)
		}
	}
}

// TestHostile opens small files that would be large, deep or slow.
func TestHostile(t *testing.T) {
	laughs := "\x80\x02]q\x00"
	for i := range 30 {
		n := string(rune(i))
		laughs += "0](" + strings.Repeat("h"+n, 10) + "eq" + string(rune(i+1))
	}
	const long = 1 << 18
	key := "X" + string(binary.LittleEndian.AppendUint32(nil, long)) + strings.Repeat("k", long) + "q\x000"
	tuples := ")q\x000"
	for i := range 100 {
		tuples += "h" + string([]byte{byte(i)}) + "2\x86q" + string([]byte{byte(i + 1)}) + "0"
	}
	for _, c := range []struct{ name, pickle, text string }{
		{"a billion laughs", laughs + ".", ""},
		{"deep lists", "\x80\x02" + strings.Repeat("]", 3000) + strings.Repeat("a", 2999) + ".", "nested more than 2000 deep"},
		{"deep tuples", "\x80\x02)" + strings.Repeat("\x85", 200_000) + ".", "nested more than 2000 deep"},
		{"deep states", "\x80\x02" + strings.Repeat("cm\nC\n)\x81", 3000) + strings.Repeat("b", 2999) + ".", "nested more than 2000 deep"},
		{"deep in any order", "\x80\x02]" + chain(3000) + ".", "nested more than 2000 deep"},
		{"a high stack", "\x80\x02" + strings.Repeat("N", 1<<20+1) + ".", "more than 1048576 values on the pickle's stack"},
		{"copies of a string", "\x80\x02" + key + "](" + strings.Repeat("c_codecs\nencode\nh\x00U\x06latin1\x86R", 3000) + "e.", "makes values of more than"},
		{"one long key", "\x80\x02" + key + "}(" + strings.Repeat("h\x00N", 100_000) + "u.", "makes values of more than"},
		{"copies of a list", "\x80\x02](" + strings.Repeat("N", 100_000) + "e\x85q\x000](" + strings.Repeat("c__builtin__\nset\nh\x00R", 5000) + "e.", "makes values of more than"},
		{"tuples of tuples as keys", "\x80\x02" + tuples + "}h\x64Ns.", ""},
		{"a state many times", "\x80\x02}(" + strings.Repeat("K\x01N", 10) + "uq\x000cm\nC\n)\x81" + strings.Repeat("h\x00b", 100_000) + ".", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := checkpointOf(t, c.pickle)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := openBytes(b)
			runtime.ReadMemStats(&after)
			if c.text != "" {
				wantError(t, err, corruptKind(), c.text)
			} else if err != nil {
				t.Error(err)
			}
			if got, limit := after.TotalAlloc-before.TotalAlloc, uint64(256<<20+256*len(b)); got > limit {
				t.Errorf("allocated %d bytes in all for a file of %d, want at most %d", got, len(b), limit)
			}
		})
	}
}

// chain returns operations that fill a list with n lists, each of which is in
// the one after it, and none of which is deep before all are made.
func chain(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("]r")
		b.Write(binary.LittleEndian.AppendUint32(nil, uint32(i)))
		b.WriteString("a")
	}
	for i := range n - 1 {
		b.WriteString("j")
		b.Write(binary.LittleEndian.AppendUint32(nil, uint32(i+1)))
		b.WriteString("j")
		b.Write(binary.LittleEndian.AppendUint32(nil, uint32(i)))
		b.WriteString("a0")
	}
	return b.String()
}
