"""Finishes what export.py wrote, with the package onnx:

half-external       from memsizer-op17: float initialisers become half precision
                    behind Casts, in an external file
transformer-op21    from transformer-op14, by onnx's version converter
lm-adaptive-op17    torch 1.13 exports the masked assignment of an adaptive
                    embedding without the mask's last dimension, which no
                    runtime executes; it gets its Unsqueeze
"""
import os
import shutil
import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper, version_converter
from onnx.external_data_helper import convert_model_to_external_data


def half_external(here):
    out = os.path.join(here, 'half-external')
    os.makedirs(out, exist_ok=True)
    m = onnx.load(os.path.join(here, 'memsizer-op17', 'model.onnx'))
    casts, inits = [], []
    for t in m.graph.initializer:
        a = numpy_helper.to_array(t)
        if a.dtype == np.float32:
            name = t.name + '_half'
            inits.append(numpy_helper.from_array(a.astype(np.float16), name))
            casts.append(helper.make_node('Cast', [name], [t.name], name=t.name + '_cast', to=onnx.TensorProto.FLOAT))
        else:
            inits.append(t)
    nodes = casts + list(m.graph.node)
    del m.graph.initializer[:], m.graph.node[:]
    m.graph.initializer.extend(inits)
    m.graph.node.extend(nodes)
    convert_model_to_external_data(m, location='weights.bin', size_threshold=64)
    for f in ('weights.bin', 'model.onnx'):
        if os.path.exists(os.path.join(out, f)):
            os.remove(os.path.join(out, f))
    onnx.save(m, os.path.join(out, 'model.onnx'))
    os.chmod(os.path.join(out, 'weights.bin'), 0o644)
    for f in ('args.json', 'dict.s.txt', 'dict.t.txt', 'model.safetensors'):
        shutil.copy(os.path.join(here, 'memsizer-op17', f), out)


def unsqueeze_masks(path):
    m = onnx.load(path)
    masks = {o for n in m.graph.node if n.op_type in ('Less', 'And', 'GreaterOrEqual') for o in n.output}
    nodes = []
    for n in m.graph.node:
        if n.op_type == 'Expand' and n.input[0] in masks:
            name = n.name + '_mask'
            nodes.append(helper.make_node('Unsqueeze', [n.input[0], 'last'], [name], name=name))
            n.input[0] = name
        nodes.append(n)
    del m.graph.node[:]
    m.graph.node.extend(nodes)
    m.graph.initializer.append(numpy_helper.from_array(np.array([-1], np.int64), 'last'))
    onnx.save(m, path)


def newer(here, source, target, opset):
    out = os.path.join(here, target)
    os.makedirs(out, exist_ok=True)
    m = version_converter.convert_version(onnx.load(os.path.join(here, source, 'model.onnx')), opset)
    onnx.save(m, os.path.join(out, 'model.onnx'))
    for f in ('args.json', 'dict.s.txt', 'dict.t.txt', 'model.safetensors', 'reference.safetensors'):
        shutil.copy(os.path.join(here, source, f), out)


half_external(sys.argv[1])
newer(sys.argv[1], 'transformer-op14', 'transformer-op21', 21)
unsqueeze_masks(os.path.join(sys.argv[1], 'lm-adaptive-op17', 'model.onnx'))
