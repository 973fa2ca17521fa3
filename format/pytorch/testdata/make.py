#!/usr/bin/env python3
"""Makes the checkpoints of this folder and golden.json, what torch reads from them.

    python3 make.py                     # the fixtures (torch 1.13, NumPy)
    python3 make.py --reference FOLDER  # reference.json, of the checkpoints in FOLDER

golden.json has for every file and tensor the dtype, shape and SHA-256 of its
elements as torch.load gives them, row-major and little-endian; reference.json
has one SHA-256 of all of that for each checkpoint. Files of the older container
differ from run to run in their storages' keys, which are addresses.
"""
import argparse
import collections
import datetime
import enum
import hashlib
import io
import json
import pathlib
import pickle
import struct
import sys
import zipfile

import numpy
import torch

HERE = pathlib.Path(__file__).resolve().parent


class Colour(enum.Enum):
    RED = 1

    def __reduce_ex__(self, protocol):  # as every Python but 3.11, which pickles a call of getattr
        return Colour, (self.value,)


class Point:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y


class Words(dict):
    pass


class Stack(list):
    pass


def tensors():
    """A tensor of each element type, with the values that are easily lost."""
    g = torch.Generator().manual_seed(1)
    floats = torch.randn(3, 5, generator=g)
    floats[0, :4] = torch.tensor([float("nan"), float("inf"), -float("inf"), -0.0])
    ints = torch.randint(-100, 100, (2, 7), generator=g)
    return collections.OrderedDict(
        float32=floats, float16=floats.half(), bfloat16=floats.bfloat16(), float64=floats.double() / 3,
        int64=ints * (1 << 40), int32=(ints * (1 << 20)).int(), int16=(ints * 300).short(), int8=ints.char(),
        uint8=(ints + 100).byte(), bool=ints > 0, complex64=torch.complex(floats, floats + 1),
    )


def views():
    """Tensors that are not simply all of their storage."""
    base = torch.arange(2 * 3 * 4 * 5, dtype=torch.float32)
    cube = base.view(2, 3, 4, 5)
    matrix = torch.arange(35, dtype=torch.int16).view(5, 7)
    half = torch.arange(24).half().view(4, 6)
    double = torch.arange(30, dtype=torch.float64).view(5, 6)
    return {
        "whole": cube, "transposed": matrix.t(), "rows": matrix[1:4], "columns": matrix[:, 2:5], "column": matrix[:, 3],
        "every other": base[1::2], "both strided": matrix[::2, ::3], "permuted": cube.permute(3, 1, 0, 2),
        "inner swapped": cube.transpose(2, 3), "expanded": base[3:4].expand(4, 3), "expanded rows": matrix[2].expand(3, 7),
        "unfolded": base[:10].unfold(0, 4, 2), "scalar": base[17], "zero-dimensional": torch.tensor(2.5), "empty": base[:0],
        "empty matrix": torch.zeros(3, 0, 2), "one row": matrix[2:3].t(), "half transposed": half.t()[1:], "double sliced": double[1:, ::2],
        "parameter": torch.nn.Parameter(torch.arange(6.0).view(2, 3)), "parameter without gradient": torch.nn.Parameter(torch.ones(2), requires_grad=False),
        "parameter transposed": torch.nn.Parameter(half.t()), "gradient": torch.ones(2, requires_grad=True), "shared": cube[1], "storage": matrix.storage(),
    }


def values():
    """Values that are not tensors."""
    cycle = [1]
    cycle.append(cycle)
    shared = {"a": 1}
    v = {
        "none": None, "booleans": [True, False], "integers": [0, 1, -1, 255, 256, -129, 65535, 65536, 2**31 - 1, -2**31, 2**31, 2**63 - 1, -2**63, 2**63, -2**63 - 1, 2**200, -2**200],
        "floats": [0.1, -0.0, float("inf"), 1e-310], "strings": ["", "a", "äß→😀", "line\nbreak", "'\"\\", "x" * 300], "surrogate": "\ud800",
        "bytes": [b"", b"\x00\xff\x80", b"y" * 300], "bytearray": bytearray(b"\x00\xfe"),
        "tuples": [(), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)], "nested": [[[]], {"k": {}}, ((),)],
        "keys": {1: "int", (1, "a"): "tuple", 2.5: "float", None: "none", b"b": "bytes", "s": "string", False: "false"}, "large": {i: str(i) for i in range(1001)}, "list": list(range(1001)),
        "set": {7}, "frozenset": frozenset({8}), "complex": 1 + 2j, "cycle": cycle, "shared": [shared, shared],
        "ordered": collections.OrderedDict([("b", 1), ("a", 2)]), "default": collections.defaultdict(list, {"k": [1]}), "counter": collections.Counter("aab"), "deque": collections.deque([1, 2], 5),
        "namespace": argparse.Namespace(arch="memsizer", lr=[0.1], nested=argparse.Namespace(x=1)), "enum": Colour.RED, "slots": Point(1, 2), "dict subclass": Words(a=1), "list subclass": Stack([1, 2]),
        "path": pathlib.PurePosixPath("/a/b"), "date": datetime.date(2022, 3, 24), "class": argparse.Namespace, "slice": slice(1, None, 2), "range": range(3),
        "size": torch.Size([2, 3]), "device": torch.device("cuda", 1), "dtype": torch.float16,
        "numpy": [numpy.float64(0.1), numpy.float32(0.5), numpy.float16(1.5), numpy.int64(-7), numpy.int8(-8), numpy.uint64(2**63), numpy.bool_(True), numpy.str_("ä"), numpy.bytes_(b"b"), numpy.complex128(1 + 2j)],
        "array": numpy.array([[1, 2, 3], [4, 5, 6]], dtype=">i2"), "fortran": numpy.asfortranarray(numpy.arange(6.0).reshape(2, 3)), "objects": numpy.array([None, "a"], dtype=object),
        "tensor": torch.arange(4.0),
    }
    return v


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.LayerNorm(2))
        self.register_buffer("steps", torch.tensor([5]))
        for i, p in enumerate(self.parameters()):
            p.data = torch.arange(p.numel(), dtype=torch.float32).view_as(p) + i


def no_torch_source(cls, real=torch.serialization.get_source_lines_and_file):
    """Keeps torch's source text, and where this file is, out of legacy files, which have the source of every module class."""
    if cls is not Model:
        raise OSError
    return *real(cls)[:2], "make.py"


def legacy_views():
    """A legacy file whose storages are views of another, as old versions of torch wrote."""
    root = torch.arange(10.0)

    class Id:
        def __init__(self, *fields):
            self.fields = fields

    class Pickler(pickle.Pickler):
        def persistent_id(self, o):
            return o.fields if isinstance(o, Id) else None

    class Rebuild:
        def __init__(self, *args):
            self.args = args

        def __reduce__(self):
            return torch._utils._rebuild_tensor_v2, self.args + (False, collections.OrderedDict())

    def storage(view):
        return Id("storage", torch.FloatStorage, "94", "cpu", 10, view)

    b = io.BytesIO()
    for v in (0x1950A86A20F9469CFC6C, 1001, {"protocol_version": 1001, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}):
        pickle.dump(v, b, 2)
    p = Pickler(b, 2)
    p.dump({"root": Rebuild(storage(None), 0, (10,), (1,)), "view": Rebuild(storage(("95", 3, 6)), 0, (6,), (1,)), "part": Rebuild(storage(("95", 3, 6)), 1, (2, 2), (1, 2))})
    pickle.dump(["94"], b, 2)
    b.write(struct.pack("<q", 10) + root.numpy().tobytes())
    (HERE / "legacy-views.pt").write_bytes(b.getvalue())


def untyped():
    """An archive as torch 2 writes it for types without a storage class: an untyped storage and _rebuild_tensor_v3."""
    with zipfile.ZipFile(HERE / "untyped.pt", "w") as z:
        g = lambda m, n: b"c%s\n%s\n" % (m, n)
        s = lambda t: b"\x8c" + bytes([len(t)]) + t
        pid = b"(" + s(b"storage") + g(b"torch.storage", b"UntypedStorage") + s(b"0") + s(b"cpu") + b"K\x0ctQ"
        pkl = b"\x80\x04}(" + s(b"w") + g(b"torch._utils", b"_rebuild_tensor_v3") + b"(" + pid + b"K\x01K\x02K\x02\x86K\x01K\x02\x86\x89" + g(b"collections", b"OrderedDict") + b")R" + g(b"torch", b"uint16") + b"tRu."
        for name, data in [("data.pkl", pkl), (".format_version", b"1"), ("byteorder", b"little"), ("data/0", bytes(range(12))), ("version", b"3\n"), (".data/serialization_id", b"0" * 40)]:
            z.writestr(zipfile.ZipInfo("untyped/" + name), data)


def repack(source, target, compression, change=lambda name, data: data):
    """Copies an archive with Python's zipfile."""
    with zipfile.ZipFile(HERE / source) as a, zipfile.ZipFile(HERE / target, "w", compression) as b:
        for i in a.infolist():
            b.writestr(zipfile.ZipInfo(i.filename), change(i.filename, a.read(i)), compression)


class Stub:
    """Stands for any class that is not installed."""

    def __init__(self, *args, **kwargs):
        pass

    def __setstate__(self, state):
        if isinstance(state, tuple):
            state = {k: v for d in state if d for k, v in d.items()}
        if isinstance(state, dict):
            self.__dict__.update(state)


class Lenient:
    """Takes pickle's place in torch.load, whose pickle_module torch 1.13 ignores: makes stubs of what it cannot import."""

    class Unpickler(pickle.Unpickler):
        def find_class(self, module, name):
            if module.split(".")[0] in ("fairseq", "omegaconf"):
                return type(name, (Stub,), {"__module__": module})
            return super().find_class(module, name)

    @classmethod
    def load(cls, f, **options):
        return cls.Unpickler(f, **options).load()


def walk(v, path, found, seen):
    """Collects the tensors below v by path, in the file's order."""
    if isinstance(v, torch.Tensor):
        t = v.detach().contiguous()
        if t.dtype == torch.bfloat16:
            t = t.view(torch.int16)
        found[path] = [str(v.dtype).split(".")[1], list(v.shape), hashlib.sha256(t.numpy().tobytes()).hexdigest()]
        return
    if isinstance(v, (int, float, str, bytes, type(None))) or id(v) in seen:
        return
    seen[id(v)] = v
    if isinstance(v, dict):
        for k, x in v.items():
            walk(x, f"{path}/{k}", found, seen)
    elif isinstance(v, (list, tuple)):
        for i, x in enumerate(v):
            walk(x, f"{path}/{i}", found, seen)
    elif hasattr(v, "__dict__") and not isinstance(v, (type, torch.dtype, enum.Enum)):
        walk(v.__dict__, path, found, seen)


def golden(path):
    found = {}
    torch.serialization.pickle = Lenient
    walk(torch.load(path, map_location="cpu"), "", found, {})
    torch.serialization.pickle = pickle
    return found


def reference(folder):
    out = {}
    for path in sorted(pathlib.Path(folder).glob("*/checkpoint*.pt")):
        found = golden(path)
        lines = "".join(f"{p} {d} {s} {h}\n" for p, (d, s, h) in found.items())
        out[f"{path.parent.name}/{path.name}"] = [len(found), hashlib.sha256(lines.encode()).hexdigest()]
    (HERE / "reference.json").write_text(json.dumps(out, indent=1) + "\n")


def main():
    if sys.argv[1:2] == ["--reference"]:
        return reference(sys.argv[2])
    numpy.seterr(all="ignore")
    torch.save(tensors(), HERE / "dtypes.pt")
    torch.save(tensors(), HERE / "dtypes-legacy.pt", _use_new_zipfile_serialization=False)
    torch.save(views(), HERE / "views.pt")
    torch.save(views(), HERE / "views-legacy.pt", _use_new_zipfile_serialization=False)
    for p in 2, 3, 4, 5:
        torch.save(values(), HERE / f"values-protocol{p}.pt", pickle_protocol=p)
    torch.save(values(), HERE / "values-legacy.pt", _use_new_zipfile_serialization=False)
    old = {k: v for k, v in values().items() if k != "slots"}  # which protocol 1 cannot save
    torch.save(old, HERE / "values-legacy-protocol1.pt", pickle_protocol=1, _use_new_zipfile_serialization=False)
    torch.save(Model(), HERE / "module.pt")
    torch.serialization.get_source_lines_and_file = no_torch_source
    torch.save(Model(), HERE / "module-legacy.pt", _use_new_zipfile_serialization=False)
    legacy_views()
    untyped()
    repack("views.pt", "views-deflated.pt", zipfile.ZIP_DEFLATED)
    repack("dtypes.pt", "dtypes-repacked.pt", zipfile.ZIP_STORED)
    out = {}
    for path in sorted(HERE.glob("*.pt")):
        if path.name == "untyped.pt":  # torch 1.13 cannot read it
            continue
        out[path.name] = golden(path)
    lines = []
    for name, found in out.items():
        lines.append(json.dumps(name) + ": {\n" + ",\n".join(f" {json.dumps(p)}: {json.dumps(v)}" for p, v in found.items()) + "\n}")
    (HERE / "golden.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


main()
