package pytorch

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

// TestConstruct calls the constructors of data with every form of arguments,
// and with arguments that they do not take: those calls stay inert objects.
func TestConstruct(t *testing.T) {
	call := func(global, args string) string {
		return "\x80\x02c" + strings.Replace(global, " ", "\n", 1) + "\n" + args + "R."
	}
	dtype := func(name, order string) string {
		return "cnumpy\ndtype\n(U" + string(rune(len(name))) + name + "K\x00K\x01tR(K\x03U\x01" + order + "NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
	}
	number := func(name, order, data string) string {
		return call("numpy.core.multiarray scalar", "("+dtype(name, order)+"C"+string(rune(len(data)))+data+"t")
	}
	array := func(shape, name, order, data string) string {
		return "\x80\x03cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\nK\x00\x85C\x01btR(K\x01" + shape + dtype(name, order) + "\x89" + data + "tb."
	}
	buffer := func(data, shape, order string) string {
		return call("numpy._core.numeric _frombuffer", "(C"+string(rune(len(data)))+data+dtype("i1", "|")+shape+"U"+string(rune(len(order)))+order+"t")
	}
	tensor := "(" + storageID + "K\x00K\x04\x85K\x01\x85\x89ccollections\nOrderedDict\n)Rt"
	for _, c := range []struct{ name, pickle, want string }{
		{"dictionary of nothing", call("__builtin__ dict", ")"), "{}"},
		{"dictionary of a dictionary", call("collections OrderedDict", "}K\x01K\x02s\x85"), "{1:2}"},
		{"dictionary of pairs", call("collections OrderedDict", "](]K\x01aK\x02aK\x03K\x04\x86e\x85"), "{1:2 3:4}"},
		{"dictionary of no pairs", call("collections OrderedDict", "]K\x01a\x85"), "collections.OrderedDict([1])"},
		{"dictionary of a number", call("collections OrderedDict", "K\x01\x85"), "collections.OrderedDict(1)"},
		{"dictionary of two", call("collections OrderedDict", "}}\x86"), "collections.OrderedDict({} {})"},
		{"factory only", call("collections defaultdict", "c__builtin__\nlist\n\x85"), "{}"},
		{"factory and entries", call("collections defaultdict", "c__builtin__\nlist\n}K\x01K\x02s\x86"), "{1:2}"},
		{"no factory", call("collections defaultdict", ")"), "{}"},
		{"list of nothing", call("__builtin__ list", ")"), "[]"},
		{"list of a tuple", call("__builtin__ list", "K\x01K\x02\x86\x85"), "[1 2]"},
		{"list of a number", call("__builtin__ list", "K\x01\x85"), "builtins.list(1)"},
		{"set of a set", call("__builtin__ frozenset", "c__builtin__\nset\n]K\x01a\x85R\x85"), "set(1)"},
		{"tuple", call("__builtin__ tuple", "]K\x01a\x85"), "(1)"},
		{"bytes of nothing", call("__builtin__ bytes", ")"), `b""`},
		{"bytes of bytes", call("builtins bytes", "C\x02ab\x85"), `b"ab"`},
		{"bytes of numbers", call("__builtin__ bytearray", "](K\x01K\xffe\x85"), `b"\x01\xff"`},
		{"bytes of large numbers", call("__builtin__ bytearray", "](M\x00\x01e\x85"), "builtins.bytearray([256])"},
		{"bytes of a number", call("__builtin__ bytearray", "K\x01\x85"), "builtins.bytearray(1)"},
		{"bytes of text alone", call("__builtin__ bytearray", "U\x01a\x85"), `builtins.bytearray("a")`},
		{"UTF-8", call("_codecs encode", "X\x02\x00\x00\x00\xc3\xa4U\x05utf-8\x86"), `b"ä"`},
		{"another encoding", call("_codecs encode", "U\x01aU\x05utf16\x86"), `_codecs.encode("a" "utf16")`},
		{"complex", call("__builtin__ complex", "G?\xf0\x00\x00\x00\x00\x00\x00G@\x00\x00\x00\x00\x00\x00\x00\x86"), "(1+2i)"},
		{"complex of one", call("__builtin__ complex", "G?\xf0\x00\x00\x00\x00\x00\x00\x85"), "builtins.complex(1)"},
		{"integer", call("__builtin__ int", "K\x05\x85"), "5"},
		{"integer of a list", call("__builtin__ int", "]\x85"), "builtins.int([])"},
		{"integer of two", call("__builtin__ int", "U\x01aK\x10\x86"), `builtins.int("a" 16)`},
		{"reconstructed list", call("copy_reg _reconstructor", "(cm\nL\nc__builtin__\nlist\n]K\x01at"), "m.L()[1]"},
		{"reconstructed integer", call("copy_reg _reconstructor", "(cm\nI\nc__builtin__\nint\nK\x07t"), "m.I(7)"},
		{"reconstructed data", call("copy_reg _reconstructor", "(ccollections\nOrderedDict\nc__builtin__\nobject\nNt"), "{}"},
		{"reconstructed of two", call("copy_reg _reconstructor", "K\x01K\x02\x86"), "copyreg._reconstructor(1 2)"},
		{"reconstructed of no class", call("copy_reg _reconstructor", "K\x01K\x02K\x03\x87"), "copyreg._reconstructor(1 2 3)"},
		{"new of nothing", call("copy_reg __newobj__", ")"), "copyreg.__newobj__()"},
		{"new of no class", call("copy_reg __newobj__", "K\x01\x85"), "copyreg.__newobj__(1)"},
		{"new data", call("copy_reg __newobj__", "c__builtin__\nset\n\x85"), "set()"},
		{"data with names", "\x80\x04ccollections\nOrderedDict\n)}U\x01aK\x01s\x92.", `collections.OrderedDict()kwargs{"a":1}`},
		{"attributes of a dictionary", "\x80\x02ccollections\nOrderedDict\n)R}U\x09_metadataK\x01sb.", "{}"},

		{"number, big-endian", number("i4", ">", "\xff\xff\xff\xfe"), "-2"},
		{"number, native", number("u2", "=", "\x01\x02"), "513"},
		{"boolean", number("b1", "|", "\x01"), "true"},
		{"byte", number("u1", "|", "\xff"), "255"},
		{"complex number", number("c8", "<", "\x00\x00\x80\x3f\x00\x00\x00\x40"), "(1+2i)"},
		{"text", number("U2", "<", "a\x00\x00\x00\xe4\x00\x00\x00"), `"aä"`},
		{"bytes", number("S2", "|", "ab"), `b"ab"`},
		{"number, Python 2", call("numpy.core.multiarray scalar", "("+dtype("i1", "|")+"U\x01at"), "97"},
		{"extended precision", number("f9", "<", "123456789"), `numpy.core.multiarray.scalar(numpy.dtype("f9" 0 1) b"123456789")`},
		{"number of no type", call("numpy.core.multiarray scalar", "K\x01C\x01a\x86"), `numpy.core.multiarray.scalar(1 b"a")`},
		{"number of one", call("numpy.core.multiarray scalar", "K\x01\x85"), `numpy.core.multiarray.scalar(1)`},
		{"type without size", call("numpy.core.multiarray scalar", "(cnumpy\ndtype\nU\x02fx\x85RC\x01at"), `numpy.core.multiarray.scalar(numpy.dtype("fx") b"a")`},
		{"array", array("K\x02\x85", "i2", "<", "C\x04abcd"), "<i2[2] fortran=false 61626364"},
		{"array, Python 2", array("K\x02\x85", "i1", "|", "U\x02ab"), "|i1[2] fortran=false 6162"},
		{"array of a class", call("numpy.core.multiarray _reconstruct", "(cm\nA\nK\x00\x85C\x01bt"), `numpy.core.multiarray._reconstruct(<m.A> (0) b"b")`},
		{"array of a buffer", buffer("abcd", "K\x02K\x02\x86", "F"), "|i1[2 2] fortran=true 61626364"},
		{"array of three", call("numpy._core.numeric _frombuffer", "K\x01K\x02K\x03\x87"), "numpy._core.numeric._frombuffer(1 2 3)"},

		{"tensor of a subclass", call("torch._tensor _rebuild_from_type_v2", "(ctorch._utils\n_rebuild_tensor_v2\ncm\nT\n"+tensor+"}t"), "float32 [4]"},
		{"tensor of a subclass, older", call("torch.tensor _rebuild_from_type", "(ctorch._utils\n_rebuild_tensor_v2\ncm\nT\n"+tensor+"}t"), "float32 [4]"},
		{"parameter of a subclass", call("torch._tensor _rebuild_from_type_v2", "(ctorch._utils\n_rebuild_parameter\ncm\nT\n("+rebuild+tensor+"R\x88Nt}t"), "float32 [4]"},
		{"another function of a subclass", call("torch._tensor _rebuild_from_type_v2", "(cm\nf\ncm\nT\n)}t"), "torch._tensor._rebuild_from_type_v2(<m.f> <m.T> () {})"},
		{"itself of a subclass", call("torch._tensor _rebuild_from_type_v2", "(ctorch._utils\n_rebuild_qtensor\ncm\nT\n)}t"), "torch._tensor._rebuild_from_type_v2(<torch._utils._rebuild_qtensor> <m.T> () {})"},
		{"too few of a subclass", call("torch._tensor _rebuild_from_type_v2", ")"), "torch._tensor._rebuild_from_type_v2()"},
		{"buffer", call("torch.nn.parameter Buffer", rebuild+tensor+"R\x85"), "float32 [4]"},
		{"buffer of nothing", call("torch.nn.parameter Buffer", ")"), "torch.nn.parameter.Buffer()"},
		{"parameter of nothing", call("torch._utils _rebuild_parameter", ")"), "torch._utils._rebuild_parameter()"},
		{"parameter of a number", call("torch._utils _rebuild_parameter", "K\x01\x85"), "torch._utils._rebuild_parameter(1)"},
		{"tensor, first version", call("torch._utils _rebuild_tensor", "("+storageID+"K\x01K\x03\x85K\x01\x85t"), "float32 [3]"},
		{"size", call("torch Size", "](K\x01K\x02e\x85"), "(1 2)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := openBytes(checkpointOf(t, c.pickle))
			if err != nil {
				t.Fatal(err)
			}
			if got := show(f.Root()); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
	for _, c := range []struct{ name, pickle, text string }{
		{"not Latin-1", call("_codecs encode", "X\x03\x00\x00\x00\xe2\x82\xacU\x06latin1\x86"), `a string that is not latin1: "€"`},
		{"number of another size", number("i4", "<", "abc"), `a NumPy scalar of 3 bytes, want 4 for "<i4"`},
		{"array of another size", array("K\x03\x85", "i2", "<", "C\x04abcd"), `a NumPy array of shape [3] and type "<i2" has 4 bytes`},
		{"array that overflows", array("\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x40K\x04\x86", "i2", "<", "C\x04abcd"), "has 4 bytes"},
		{"array of negative size", array("J\xff\xff\xff\xff\x85", "i2", "<", "C\x04abcd"), "dimension 0 or its stride is -1"},
		{"array of numbers", array("K\x02\x85", "i2", "<", "K\x01"), "the elements of a NumPy array are an integer, want bytes"},
		{"array of a short state", "\x80\x03cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\nK\x00\x85C\x01btR)b.", "the state of a NumPy array is a tuple of 0, want a tuple of 5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := openBytes(checkpointOf(t, c.pickle))
			wantError(t, err, corruptKind(), c.text)
		})
	}
}

// TestMetadata reads what is set on a dictionary rather than in it.
func TestMetadata(t *testing.T) {
	f, err := openBytes(checkpointOf(t, "\x80\x02ccollections\nOrderedDict\n)R}U\x09_metadata}K\x01K\x02ssb."))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := show(f.Root().(*Dict).Attributes), `{"_metadata":{1:2}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestDict looks keys up that Go compares otherwise than Python.
func TestDict(t *testing.T) {
	tuple := func(items ...any) *Tuple { return &Tuple{items} }
	g := &Global{"m", "n"}
	d := &Dict{}
	for i, key := range []any{"1", int64(1), 1.5, nil, g, tuple(), tuple("a", "b"), tuple("a,s1:b"), tuple(tuple("a"), "b"), tuple("a", tuple("b")), tuple(nil, 1.5, []byte("a"), g), "x"} {
		d.set(key, i)
	}
	for want, key := range []any{"1", true, 1.5, nil, g, tuple(), tuple("a", "b"), tuple("a,s1:b"), tuple(tuple("a"), "b"), tuple("a", tuple("b")), tuple(nil, 1.5, []byte("a"), g)} {
		if got, ok := d.Lookup(key); !ok || got != want {
			t.Errorf("key %s: got %v, want %d", show(key), got, want)
		}
	}
	for _, key := range []any{"2", int64(2), []byte("1"), tuple("b", "a"), tuple(int64(0)), &Global{"m", "n"}} {
		if got, ok := d.Lookup(key); ok {
			t.Errorf("key %s: got %v, want nothing", show(key), got)
		}
	}
	long := tuple(strings.Repeat("x", 5000))
	d.set(long, "long")
	if got, _ := d.Lookup(long); got != "long" {
		t.Errorf("a long tuple: got %v", got)
	}
	d.set(1.0, "again")
	if got, _ := d.Get("1"); got != 0 || d.Len() != 13 || len(d.Keys()) != 13 {
		t.Errorf("%d entries, %v for \"1\"", d.Len(), got)
	}
	if got, _ := d.Lookup(int64(1)); got != "again" {
		t.Errorf("1 is %v after 1.0 was set", got)
	}
	var none *Dict
	if _, ok := none.Get("a"); ok || none.Len() != 0 || none.Keys() != nil {
		t.Error("a nil dictionary is not empty")
	}
}

// failingReader fails from byte after on.
type failingReader struct {
	io.ReaderAt
	after int64
}

var errDisk = errors.New("the disk is gone")

func (r failingReader) ReadAt(b []byte, offset int64) (int, error) {
	if offset+int64(len(b)) > r.after {
		return 0, errDisk
	}
	return r.ReaderAt.ReadAt(b, offset)
}

// TestReadErrors checks that an error of the medium is passed on, and is not
// taken for a corrupt file.
func TestReadErrors(t *testing.T) {
	for _, name := range []string{"testdata/views.pt", "testdata/views-legacy.pt", "testdata/views-deflated.pt"} {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		info, err := file.Stat()
		if err != nil {
			t.Fatal(err)
		}
		for after := int64(0); after < info.Size(); after += 97 {
			_, err := NewFile(failingReader{file, after}, info.Size(), name)
			var corrupt *CorruptError
			if !errors.Is(err, errDisk) || errors.As(err, &corrupt) || !strings.Contains(err.Error(), name) {
				t.Fatalf("%s, %d bytes: error %v", name, after, err)
			}
		}
		f, err := NewFile(file, info.Size(), name)
		if err != nil {
			t.Fatal(err)
		}
		f.r = failingReader{file, 0}
		for _, w := range tensorsOf(f) {
			if w.tensor.Storage.offset < 0 { // read by the zip package, which has file
				continue
			}
			if _, err := io.ReadAll(w.tensor.Reader()); w.tensor.Bytes() > 0 && !errors.Is(err, errDisk) {
				t.Errorf("%s: %s: error %v", name, w.path, err)
			}
		}
	}
}
