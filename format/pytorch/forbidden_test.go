package pytorch

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestForbidden opens pickles that ask for what does harm, in every way that a
// pickle can ask. Each must be refused with the name and the byte.
func TestForbidden(t *testing.T) {
	text := func(s string) string { return "\x8c" + string(rune(len(s))) + s }
	stack := func(module, name string) string { return text(module) + text(name) + "\x93" }
	for _, c := range []struct{ name, pickle, global string }{
		{"called", "\x80\x02cposix\nsystem\nU\x02ls\x85R.", "posix.system"},
		{"never called", "\x80\x02}U\x01ncos\nsystem\ns.", "os.system"},
		{"dropped", "\x80\x02cos\nsystem\n0N.", "os.system"},
		{"in the memo only", "\x80\x02cos\nsystem\nq\x000N.", "os.system"},
		{"deep in containers", "\x80\x02](((((cos\npopen\nttttte.", "os.popen"},
		{"after a tensor", "\x80\x02(" + storageID + "0cnt\nsystem\nt.", "nt.system"},
		{"as a key", "\x80\x02}cos\nsystem\nNs.", "os.system"},
		{"from the stack", "\x80\x04" + stack("os", "system") + ".", "os.system"},
		{"from the memo to the stack", "\x80\x04" + text("os") + "\x940" + text("system") + "\x940h\x00h\x01\x93.", "os.system"},
		{"in a frame", "\x80\x04\x95\x0e\x00\x00\x00\x00\x00\x00\x00" + stack("os", "system") + ".", "os.system"},
		{"as an instance", "\x80\x02(U\x02lsios\nsystem\n.", "os.system"},
		{"as a class on the stack", "\x80\x02(cos\nsystem\nU\x02lso.", "os.system"},
		{"as a new object", "\x80\x02csubprocess\nPopen\n(U\x02lst\x81.", "subprocess.Popen"},
		{"as a new object with names", "\x80\x04" + stack("subprocess", "Popen") + ")}\x92.", "subprocess.Popen"},
		{"as the state", "\x80\x02cargparse\nNamespace\n)\x81}U\x01acos\nsystem\nsb.", "os.system"},
		{"as a persistent id", "\x80\x02(U\x06modulecos\nsystem\nNNtQ.", "os.system"},
		{"as a factory", "\x80\x02ccollections\ndefaultdict\ncos\nsystem\n\x85R.", "os.system"},
		{"as a constructor's class", "\x80\x02ccopy_reg\n_reconstructor\n(csubprocess\nPopen\nc__builtin__\nobject\nNtR.", "subprocess.Popen"},
		{"protocol 0", "cos\nsystem\n(S'ls'\ntR.", "os.system"},
		{"dotted name", "\x80\x04" + stack("torch", "serialization.os.system") + ".", "torch.serialization.os.system"},
		{"module of a module", "\x80\x02ctorch.serialization\nos\n.", "torch.serialization.os"},
		{"dotted module", "\x80\x02cos.path\nos\n.", "os.path.os"},
		{"after the first error of a call", "\x80\x02(N(ios\nsystem\n.", "os.system"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := checkpointOf(t, c.pickle)
			_, err := openBytes(b)
			wantError(t, err, forbiddenKind(), "asks for \""+c.global+"\"")
			var f *ForbiddenGlobalError
			if errors.As(err, &f) {
				want := int64(strings.Index(string(b), c.pickle)) + f.MemberOffset
				if f.Global != c.global || f.Offset != want || f.MemberOffset <= 0 && c.name != "protocol 0" || f.Member != "a/data.pkl" {
					t.Errorf("global %q at byte %d (member %q byte %d), want %q at byte %d", f.Global, f.Offset, f.Member, f.MemberOffset, c.global, want)
				}
			}
		})
	}
}

// TestForbiddenNames is a table of globals that are refused and of those that
// look like it and are not.
func TestForbiddenNames(t *testing.T) {
	for name, want := range map[string]bool{
		"os system": true, "posix system": true, "nt system": true, "os popen": true, "subprocess check_output": true, "commands getoutput": true, "pty spawn": true,
		"sys exit": true, "sys modules": true, "runpy run_path": true, "socket socket": true, "shutil rmtree": true, "importlib import_module": true, "importlib.machinery SourceFileLoader": true,
		"ctypes CDLL": true, "multiprocessing Process": true, "multiprocessing.pool Pool": true, "pickle loads": true, "_pickle loads": true, "cPickle loads": true, "dill loads": true, "dill._dill _create_function": true,
		"cloudpickle.cloudpickle _make_function": true, "joblib load": true, "marshal loads": true, "code InteractiveInterpreter": true, "codeop compile_command": true, "timeit timeit": true, "pdb run": true,
		"cProfile run": true, "bdb Bdb": true, "webbrowser open": true, "requests get": true, "urllib.request urlopen": true, "http.client HTTPConnection": true, "pip main": true, "pip._internal main": true, "asyncio create_subprocess_shell": true,
		"builtins eval": true, "builtins exec": true, "builtins compile": true, "builtins open": true, "builtins getattr": true, "builtins setattr": true, "builtins __import__": true, "builtins input": true, "builtins globals": true,
		"__builtin__ eval": true, "__builtin__ execfile": true, "__builtin__ file": true, "__builtin__ apply": true, "__builtins__ eval": true, "builtins breakpoint": true, "builtins delattr": true,
		"operator attrgetter": true, "operator methodcaller": true, "_operator methodcaller": true, "functools partial": true, "functools reduce": true, "itertools starmap": true, "types FunctionType": true, "types CodeType": true,
		"torch load": true, "torch.serialization load": true, "torch.hub load": true, "torch.jit load": true, "torch.jit._script unpackage_script_module": true, "torch.storage _load_from_bytes": true, "torch.utils.cpp_extension load": true, "torch.ops load_library": true,
		"torch.multiprocessing Process": true, "numpy load": true, "numpy.testing._private.utils runstring": true, "numpy.f2py.diagnose run_command": true, "pandas read_pickle": true, "io open": true, "_io FileIO": true, "pathlib Path.open": true, "hydra.utils instantiate": true,
		"anything eval": true, "my.module system": true, "my.module Class.__init_subclass__": true, "torch._utils os": true, "fairseq.utils subprocess.Popen": true, "collections OrderedDict.__reduce__": true, "__main__ sys.modules": true,

		"collections OrderedDict": false, "argparse Namespace": false, "torch FloatStorage": false, "torch._utils _rebuild_tensor_v2": false, "numpy.core.multiarray scalar": false, "numpy dtype": false, "_codecs encode": false,
		"fairseq.meters AverageMeter": false, "omegaconf.dictconfig DictConfig": false, "omegaconf.base Metadata": false, "typing Any": false, "builtins dict": false, "builtins set": false, "__builtin__ object": false, "builtins slice": false,
		"__main__ Net": false, "torch.nn.modules.linear Linear": false, "pathlib PosixPath": false, "pathlib._local PosixPath": false, "datetime datetime": false, "enum Enum": false, "uuid UUID": false, "copy_reg _reconstructor": false, "copyreg __newobj__": false, "operator getitem": false,
		"fairseq.models.transformer TransformerModel": false, "fairseq.data.dictionary Dictionary": false, "torch device": false, "torch Size": false, "torch float16": false, "functools lru_cache": false, "systems Config": false, "oscillator Wave": false, "mypackage.codec Code": false,
		"torch.optim.adam Adam": false, "torch.cuda HalfStorage": false, "logging getLogger": false, "decimal Decimal": false, "fractions Fraction": false, "random Random": false,
	} {
		module, n, _ := strings.Cut(name, " ")
		if got := forbidden(module, n); got != want {
			t.Errorf("%s: forbidden is %v, want %v", name, got, want)
		}
	}
}

// TestInert checks that any other class or function becomes an object that says
// what was asked for.
func TestInert(t *testing.T) {
	for _, c := range []struct{ pickle, want string }{
		{"\x80\x02cmy.module\nClass\n(K\x01U\x01atR.", `my.module.Class(1 "a")`},
		{"\x80\x02cmy.module\nClass\n)\x81}U\x01aK\x01sb.", `my.module.Class(){"a":1}`},
		{"\x80\x02cmy.module\nClass\n)\x81K\x05b.", `my.module.Class()`},
		{"\x80\x02cmy.module\nClass\n)\x81N}U\x01sK\x01s\x86b.", `my.module.Class(){"s":1}`},
		{"\x80\x02cmy.module\nClass\n)\x81}U\x01aK\x01s}U\x01sK\x02s\x86b.", `my.module.Class(){"a":1 "s":2}`},
		{"\x80\x04cmy.module\nClass\n)}U\x01kK\x01s\x92.", `my.module.Class()kwargs{"k":1}`},
		{"\x80\x02cmy.module\nf\n)R)R)R.", `my.module.f()()`},
		{"\x80\x02(K\x01imy.module\nClass\n.", `my.module.Class(1)`},
		{"\x80\x02(cmy.module\nClass\nK\x01o.", `my.module.Class(1)`},
		{"\x80\x02ctorch._utils\n_rebuild_qtensor\n(K\x01tR.", `torch._utils._rebuild_qtensor(1)`},
		{"\x80\x02ctorch._utils\n_rebuild_sparse_tensor\n(K\x01tR.", `torch._utils._rebuild_sparse_tensor(1)`},
		{"\x80\x02ccopy_reg\n_reconstructor\n(cmy.module\nClass\nc__builtin__\nobject\nNtR}U\x01aK\x01sb.", `my.module.Class(){"a":1}`},
		{"\x80\x02ccopy_reg\n_reconstructor\n(cmy.module\nClass\nc__builtin__\ndict\n}U\x01aK\x01stR.", `my.module.Class()+{"a":1}`},
		{"\x80\x02ccopy_reg\n__newobj__\n(cmy.module\nClass\nK\x01tR.", `my.module.Class(1)`},
		{"\x80\x02c__builtin__\nset\n](K\x01K\x02e\x85R.", `set(1 2)`},
		{"\x80\x02c__builtin__\nbytearray\nX\x02\x00\x00\x00\xc3\xbfX\x07\x00\x00\x00latin-1\x86R.", `b"\xff"`},
	} {
		f, err := openBytes(checkpointOf(t, c.pickle))
		if err != nil {
			t.Errorf("%q: %v", c.pickle, err)
		} else if got := show(f.Root()); got != c.want {
			t.Errorf("%q: got %s, want %s", c.pickle, got, c.want)
		}
	}
}

// TestRefuse opens the reference files that are to be refused here, where they
// are.
func TestRefuse(t *testing.T) {
	folder := filepath.Join("..", "..", "..", "shared", "reference", "refuse")
	if _, err := os.Stat(folder); err != nil {
		t.Skip("no reference files beside the repository")
	}
	for name, text := range map[string]string{
		"empty.pt":     "byte 0: corrupt: the file is empty",
		"text.pt":      "byte 0: unsupported: this is a web page, not a checkpoint",
		"truncated.pt": "byte 88149: corrupt: the zip archive is cut off",
		"os-system.pt": `byte 13312 ("os-system/data.pkl" byte 13248): refused: the pickle asks for "posix.system"`,
	} {
		path := filepath.Join(folder, name)
		_, err := Open(path)
		if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: error %v, want %q in it", name, err, text)
		}
	}
}
