"""Makes half-external from memsizer-op17: float initialisers become half
precision behind Casts, in an external file. Needs the package onnx."""
import os
import shutil
import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.external_data_helper import convert_model_to_external_data

here = sys.argv[1]
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
for f in ('args.json', 'dict.s.txt', 'dict.t.txt', 'model.safetensors'):
    shutil.copy(os.path.join(here, 'memsizer-op17', f), out)
