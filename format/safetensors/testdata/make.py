#!/usr/bin/env python3
"""Makes official.safetensors and unsigned.safetensors with the safetensors library (PyPI: safetensors 0.8, numpy), and
golden.json, what the library reads from them.

    python3 make.py                       # makes the files
    python3 make.py --check F.safetensors # prints what the library reads from F: name, type, shape, SHA-256
"""
import hashlib
import json
import pathlib
import sys

import numpy
import safetensors

HERE = pathlib.Path(__file__).resolve().parent


def describe(path):
    """name: [dtype, shape, SHA-256 of the bytes], as the library reads them."""
    tensors = safetensors.deserialize(pathlib.Path(path).read_bytes())
    return {name: [t["dtype"], list(t["shape"]), hashlib.sha256(bytes(t["data"])).hexdigest()] for name, t in tensors}


def write(name, tensors, random):
    data = {t: numpy.frombuffer(random.bytes(n), numpy.uint8) for t, (_, _, n) in tensors.items()}
    specs = {t: safetensors.TensorSpec(dtype=d, shape=s, data_ptr=data[t].ctypes.data, data_len=n) for t, (d, s, n) in tensors.items()}
    (HERE / name).write_bytes(safetensors.serialize(specs, {"format": "pt"}))


def main():
    if sys.argv[1:2] == ["--check"]:
        print(json.dumps(describe(sys.argv[2]), indent=1, ensure_ascii=False))
        return
    random = numpy.random.default_rng(1)
    official = {
        "f64": ("float64", [2, 3], 48), "f32": ("float32", [3, 5], 60), "f16": ("float16", [7], 14), "bf16": ("bfloat16", [1, 2, 3], 12),
        "i64": ("int64", [3], 24), "i32": ("int32", [2, 2], 16), "i16": ("int16", [5], 10), "i8": ("int8", [5], 5), "u8": ("uint8", [2, 1], 2), "bool": ("bool", [3], 3),
        "scalar": ("float32", [], 4), "empty": ("float32", [0, 4], 0), 'name "with" äöü <&> / and \\': ("float32", [1], 4),
    }
    unsigned = {"u64": ("uint64", [1], 8), "u32": ("uint32", [1], 4), "u16": ("uint16", [1], 2), "f32": ("float32", [1], 4)}
    write("official.safetensors", official, random)
    write("unsigned.safetensors", unsigned, random)
    lines = []
    for name in "official.safetensors", "unsigned.safetensors":
        tensors = describe(HERE / name)
        lines.append(json.dumps(name) + ": {\n" + ",\n".join(f" {json.dumps(t, ensure_ascii=False)}: {json.dumps(tensors[t])}" for t in sorted(tensors)) + "\n}")
    (HERE / "golden.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


main()
