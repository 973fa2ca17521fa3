package pytorch

import "strings"

// forbiddenModules are refused whole, with everything below them: what they
// offer runs commands or code, reaches files, the network or the interpreter,
// or unpickles more. A model's class never lives there. Both Python 2's and 3's
// names are here.
var forbiddenModules = wordSet(`
	os posix nt _posixsubprocess subprocess commands popen2 pty tty
	sys _sys runpy pkgutil importlib imp zipimport site sitecustomize usercustomize
	socket _socket socketserver SocketServer ssl select selectors asyncio
	http urllib urllib2 urllib3 httplib requests aiohttp httpx ftplib smtplib poplib imaplib telnetlib xmlrpc
	webbrowser antigravity cgi cgitb pip ensurepip venv virtualenv setuptools distutils conda pkg_resources
	shutil _shutil tempfile fileinput glob zipfile tarfile
	ctypes _ctypes cffi _cffi_backend mmap multiprocessing _multiprocessing concurrent threading _thread thread signal
	pickle _pickle cPickle pickletools dill _dill cloudpickle joblib marshal shelve dbm
	code codeop pdb bdb trace timeit profile cProfile pstats doctest pydoc idlelib lib2to3
	compileall py_compile atexit
	sqlite3 _sqlite3 readline rlcompleter winreg _winreg _winapi msvcrt resource crypt spwd
	paramiko fabric pexpect IPython ipykernel
`)

// forbiddenNames are refused whatever module they are asked of: a module may
// have imported them.
var forbiddenNames = wordSet(`
	eval exec execfile compile __import__ import_module run_module run_path
	system popen popen2 popen3 popen4 spawn spawnl spawnle spawnlp spawnv spawnve spawnvp posix_spawn
	execl execle execlp execv execve execvp startfile check_call check_output getoutput getstatusoutput
	getattr setattr delattr __getattribute__ __getattr__ __subclasses__ __globals__ __builtins__ __code__
	__reduce__ __reduce_ex__ __init_subclass__ __loader__ __spec__
`)

// forbiddenBuiltins are refused in the module of built-in names, besides
// forbiddenNames.
var forbiddenBuiltins = wordSet(`
	open file input raw_input apply globals locals vars dir breakpoint help exit quit reload
`)

// forbiddenPaths are refused as they are, with everything below them.
var forbiddenPaths = wordSet(`
	functools.partial functools.partialmethod functools.reduce functools.singledispatch
	operator.attrgetter operator.methodcaller operator.call _operator.attrgetter _operator.methodcaller _operator.call
	itertools.starmap types.CodeType types.FunctionType types.LambdaType types.MethodType types.ModuleType
	io.open io.open_code io.FileIO _io.open _io.open_code _io.FileIO _io.TextIOWrapper codecs.open
	pathlib.Path.open logging.config platform.popen
	torch.load torch.serialization.load torch.storage._load_from_bytes torch.hub torch.jit torch.package torch.ops torch.classes
	torch.multiprocessing torch.distributed.launch torch.distributed.run
	torch.utils.cpp_extension torch.utils.model_zoo torch.utils.collect_env torch.utils.bottleneck
	torch.fx.graph_module.reduce_graph_module torch.fx.graph_module.reduce_package_graph_module torch.fx.graph_module._exec_with_source
	torchvision.datasets.utils torchaudio.utils.download
	numpy.load numpy.loads numpy.fromfile numpy.savetxt numpy.save numpy.loadtxt numpy.genfromtxt
	numpy.testing numpy.f2py numpy.distutils numpy.ctypeslib numpy.lib.npyio numpy.lib._npyio_impl
	pandas.read_pickle pandas.eval pandas.io.pickle
	hydra.utils.instantiate hydra.utils.call hydra.utils.get_class hydra.utils.get_method hydra.utils.get_object hydra._internal.instantiate
`)

func wordSet(words string) map[string]bool {
	set := make(map[string]bool)
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// forbidden reports whether the global name of module, both possibly dotted, is
// one by which a pickle does harm. A dotted name is looked up attribute by
// attribute in Python, so every part of it is held to be a module or a name.
func forbidden(module, name string) bool {
	path := module + "." + name
	top, _, _ := strings.Cut(module, ".")
	if forbiddenModules[top] {
		return true
	}
	for i, c := range path + "." {
		if c == '.' && forbiddenPaths[path[:i]] {
			return true
		}
	}
	parts := strings.Split(name, ".")
	for _, part := range parts {
		if forbiddenNames[part] {
			return true
		}
	}
	// A module reached through another, "torch" "os": only for names that
	// no class or function of a model would have.
	for _, part := range append(strings.Split(module, ".")[1:], parts...) {
		switch part {
		case "os", "posix", "nt", "sys", "subprocess", "importlib", "runpy", "shutil", "socket", "ctypes", "builtins", "__builtin__", "pickle", "_pickle", "cPickle", "_posixsubprocess":
			return true
		}
	}
	if top == "builtins" || top == "__builtin__" {
		return forbiddenBuiltins[parts[0]]
	}
	return false
}
