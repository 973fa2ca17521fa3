"""Records what ONNX Runtime computes, for the tests of format/onnx/eval.

    python onnxruntime_eval.py ../../format/onnx [../../../shared/reference]

Needs onnx, onnxruntime and numpy. Writes, under format/onnx/eval/testdata:

operators-opN.onnx         one graph per operator set with every operator that
                           the evaluator knows, on constants; one output each
operators-opN.safetensors  ONNX Runtime's outputs
models.safetensors         its logits for the models of format/onnx/testdata
                           and the reference cases, on their own inputs
"""
import json
import os
import struct
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

KINDS = {'float32': 'F32', 'int64': 'I64', 'bool': 'I64', 'int32': 'I64', 'float16': 'F32', 'uint8': 'I64'}


def write_tensors(path, tensors):
    header, blobs, at = {}, [], 0
    for name, a in tensors.items():
        kind = KINDS[str(a.dtype)]
        shape = list(a.shape)
        b = np.ascontiguousarray(a.astype('<f4' if kind == 'F32' else '<i8')).tobytes()
        header[name] = {'dtype': kind, 'shape': shape, 'data_offsets': [at, at + len(b)]}
        at += len(b)
        blobs.append(b)
    j = json.dumps(header).encode()
    j += b' ' * (-len(j) % 8)
    with open(path, 'wb') as f:
        f.write(struct.pack('<Q', len(j)) + j + b''.join(blobs))


def read_tensors(path):
    with open(path, 'rb') as f:
        n, = struct.unpack('<Q', f.read(8))
        header, data = json.loads(f.read(n)), f.read()
    out = {}
    for name, h in header.items():
        if name != '__metadata__':
            a, b = h['data_offsets']
            out[name] = np.frombuffer(data[a:b], {'F32': '<f4', 'I64': '<i8'}[h['dtype']]).reshape(h['shape'])
    return out


def session(model):
    o = onnxruntime.SessionOptions()
    o.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    o.log_severity_level = 3
    return onnxruntime.InferenceSession(model, o, providers=['CPUExecutionProvider'])


class Graph:
    """Collects applications of operators to constants."""

    def __init__(self, opset):
        self.opset, self.nodes, self.inits, self.outputs = opset, [], [], []
        self.rand = np.random.default_rng(opset)

    def const(self, a):
        if a is None:
            return ''
        name = 'c%d' % len(self.inits)
        self.inits.append(numpy_helper.from_array(np.asarray(a), name))
        return name

    def op(self, op, *inputs, outputs=1, **attributes):
        names = ['%s.%d.%d' % (op, len(self.nodes), i) for i in range(outputs)]
        self.nodes.append(helper.make_node(op, [self.const(a) for a in inputs], names, name='n%d' % len(self.nodes), **attributes))
        self.outputs += [helper.make_empty_tensor_value_info(n) for n in names]

    def f(self, *shape):
        return self.rand.standard_normal(shape).astype(np.float32)

    def model(self):
        g = helper.make_graph(self.nodes, 'operators', [], self.outputs, self.inits)
        m = helper.make_model(g, opset_imports=[helper.make_opsetid('', self.opset)])
        m.ir_version = 8
        return m


def i64(*v):
    return np.array(v, np.int64)


def operators(n):
    g = Graph(n)
    f, op = g.f, g.op
    for name in 'Abs Neg Exp Sin Cos Tan Tanh Erf Floor Ceil Round Sigmoid Reciprocal Relu Softplus Softsign Sign LeakyRelu Elu HardSigmoid'.split():
        op(name, f(3, 4))
    op('Round', np.array([0.5, 1.5, -0.5, 2.5, 2.4], np.float32))
    op('Log', np.abs(f(4)) + 0.1)
    op('Sqrt', np.abs(f(4)))
    op('Neg', i64(3, -4))
    op('Abs', i64(3, -4))
    if n >= 14:
        op('HardSwish', f(5))
        op('Trilu', f(3, 4))
        op('Trilu', f(2, 4, 4), i64(1)[0], upper=0)
        op('Trilu', np.arange(12, dtype=np.int64).reshape(3, 4), i64(-1)[0])
    if n >= 18:
        op('Mish', f(5))
    if n >= 20:
        op('Gelu', f(6))
        op('Gelu', f(6), approximate='tanh')
    for name in 'Add Sub Mul Div'.split():
        op(name, f(2, 3, 4), f(3, 1))
        op(name, f(1), f(2, 2))
        op(name, i64(7, -7, 9), i64(2, 2, -4))
    op('Pow', np.abs(f(3, 4)), f(4))
    op('Pow', f(3), np.array(2.0, np.float32))
    op('Pow', f(3), i64(2, 3, 2))
    op('Mod', i64(7, -7, 7, -7), i64(3, 3, -3, -3))
    op('Mod', np.array([7.5, -7.5], np.float32), np.array([2, 2], np.float32), fmod=1)
    for name in 'Min Max'.split():
        op(name, f(3, 4), f(4), f(1))
        op(name, i64(1, 5), i64(3, 3))
    op('Sum', f(3), f(3), f(1))
    op('PRelu', f(3, 4), f(4))
    for name in 'Equal Less LessOrEqual Greater GreaterOrEqual'.split():
        op(name, i64(1, 2, 3), i64(2, 2, 2))
        op(name, np.array([1, 2, 3], np.float32), np.array([2], np.float32))
    t, u = np.array([True, True, False, False]), np.array([True, False, True, False])
    for name in 'And Or Xor'.split():
        op(name, t, u)
    op('Not', t)
    op('Where', np.array([[True], [False]]), f(2, 3), f(3))
    op('Where', t, i64(1, 2, 3, 4), i64(9))
    op('IsNaN', np.array([1, np.nan], np.float32))
    op('IsInf', np.array([1, np.inf, -np.inf], np.float32), detect_negative=0)
    op('Clip', f(6), np.array(-0.5, np.float32), np.array(0.5, np.float32))
    op('Clip', f(6), None, np.array(0.1, np.float32))
    op('Clip', i64(-5, 0, 5), np.array(-1), np.array(3))
    x = f(2, 3, 4)
    for name in 'ReduceMean ReduceSum ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceSumSquare ReduceLogSum ReduceLogSumExp'.split():
        y = np.abs(x) if 'Log' in name else x
        if n >= 18 or name == 'ReduceSum':
            op(name, y, i64(-1))
            op(name, y, i64(0, 2), keepdims=0)
        else:
            op(name, y, axes=[-1])
            op(name, y, axes=[0, 2], keepdims=0)
        op(name, y)
    op('ReduceSum', x, i64(), noop_with_empty_axes=1)
    op('ReduceSum', np.arange(6, dtype=np.int64).reshape(2, 3), i64(1), keepdims=0)
    op('CumSum', x, np.array(1, np.int64))
    op('CumSum', x, np.array(-1, np.int64), exclusive=1, reverse=1)
    op('CumSum', i64(1, 2, 3), np.array(0, np.int32))
    for name in 'ArgMax ArgMin'.split():
        op(name, x, axis=1)
        op(name, i64(3, 1, 3, 1), axis=-1, keepdims=0, select_last_index=1)
    op('Softmax', x)
    op('Softmax', x, axis=1)
    op('LogSoftmax', x, axis=0)
    if n >= 17:
        op('LayerNormalization', x, f(4), f(4))
        op('LayerNormalization', x, f(3, 4), f(3, 4), axis=1, epsilon=1e-3)
        op('LayerNormalization', x, f(4))
    op('MatMul', f(3, 4), f(4, 5))
    op('MatMul', f(2, 1, 3, 4), f(5, 4, 2))
    op('MatMul', f(4), f(4, 5))
    op('MatMul', f(2, 3, 4), f(4))
    op('Gemm', f(3, 4), f(4, 5), f(5))
    op('Gemm', f(4, 3), f(5, 4), f(3, 1), transA=1, transB=1, alpha=0.5, beta=2.0)
    op('Gemm', f(3, 4), f(4, 5))
    for eq, shapes in [('sbk,sbd->sbkd', [(2, 3, 4), (2, 3, 5)]), ('ts,sbkd->tbkd', [(3, 2), (2, 3, 4, 5)]), ('tbk,tbkd->tbd', [(2, 3, 4), (2, 3, 4, 5)]),
                       ('ij,jk', [(2, 3), (3, 4)]), ('ij->ji', [(2, 3)]), ('i,i->', [(4,), (4,)]), ('ab,bc,cd->ad', [(2, 3), (3, 4), (4, 5)])]:
        op('Einsum', *[f(*s) for s in shapes], equation=eq)
    op('Constant', value=numpy_helper.from_array(f(2, 2)))
    op('Constant', value_float=1.5)
    op('Constant', value_ints=[1, 2])
    op('ConstantOfShape', i64(2, 3))
    op('ConstantOfShape', i64(2), value=numpy_helper.from_array(i64(7)))
    op('Range', np.array(2), np.array(9), np.array(3))
    op('Range', np.array(9), np.array(2), np.array(-3))
    op('Range', np.array(1.0, np.float32), np.array(2.1, np.float32), np.array(0.25, np.float32))
    op('EyeLike', f(3, 4), k=1)
    op('Identity', f(2))
    op('Dropout', f(3))
    op('Cast', np.array([1.7, -1.7, 0], np.float32), to=TensorProto.INT64)
    op('Cast', np.array([1.7, -1.7, 0], np.float32), to=TensorProto.BOOL)
    op('Cast', i64(0, 1, 300), to=TensorProto.UINT8)
    op('Cast', i64(1 << 32, 5), to=TensorProto.INT32)
    op('Cast', np.array([1.0001, 1e-9, 65519], np.float32), to=TensorProto.FLOAT16)
    op('Cast', t, to=TensorProto.FLOAT)
    if n >= 15:
        op('CastLike', i64(1, 2), f(1))
        op('Shape', x, start=1)
        op('Shape', x, start=-2, end=-1)
    op('Shape', x)
    op('Size', x)
    op('Reshape', x, i64(0, -1))
    op('Reshape', x, i64(4, 3, 2))
    op('Flatten', x)
    op('Flatten', x, axis=-1)
    op('Transpose', x)
    op('Transpose', x, perm=[1, 2, 0])
    op('Unsqueeze', x, i64(0, -1))
    op('Squeeze', f(1, 3, 1), i64(-1))
    op('Squeeze', f(1, 3, 1))
    op('Expand', f(3, 1), i64(2, 1, 4))
    op('Tile', f(2, 3), i64(2, 1))
    op('Concat', f(2, 3), f(2, 1), axis=-1)
    op('Concat', i64(1), i64(2, 3), axis=0)
    op('Split', f(2, 6), i64(1, 3, 2), outputs=3, axis=1)
    if n >= 18:
        op('Split', f(5, 2), outputs=2, num_outputs=2)
        op('Pad', f(2, 3), i64(1, 2), np.array(0.5, np.float32), i64(-1))
    else:
        op('Split', f(4, 2), outputs=2)
    op('Pad', f(2, 3), i64(0, 1, 2, 0), np.array(0.5, np.float32))
    op('Slice', f(4, 5), i64(1, 0), i64(3, 4))
    op('Slice', f(4, 5), i64(-1), i64(-10), i64(1), i64(-2))
    op('Slice', np.arange(6), i64(0), i64(np.iinfo(np.int64).max), i64(0), i64(2))
    op('Slice', np.arange(6), i64(np.iinfo(np.int64).max), i64(np.iinfo(np.int64).min), i64(0), i64(-1))
    op('Gather', f(4, 3), i64(0, -1, 2))
    op('Gather', f(2, 4, 3), np.array([[1, 2], [3, 0]]), axis=1)
    op('Gather', i64(5, 6, 7), np.array(1))
    op('GatherElements', f(3, 3), np.array([[1, -2, 0], [2, 0, 0]]), axis=0)
    op('GatherND', f(2, 3, 4), np.array([[0, 1], [1, 2]]))
    op('GatherND', f(2, 3, 4), np.array([[1], [2]]), batch_dims=1)
    op('ScatterND', f(4, 3), np.array([[1], [3]]), f(2, 3))
    op('ScatterElements', f(3, 3), np.array([[1, 0, 2]]), f(1, 3), axis=0)
    op('NonZero', np.array([[1, 0, 2], [0, 0, 3]], np.float32))
    op('NonZero', t)
    op('OneHot', i64(1, -1, 5), np.array(3), np.array([0, 2], np.float32))
    op('OneHot', np.array([[1, 0]]), np.array([3]), np.array([5, 9]), axis=0)
    then = helper.make_graph([helper.make_node('Neg', ['c0'], ['then_out'])], 'then', [], [helper.make_empty_tensor_value_info('then_out')])
    other = helper.make_graph([helper.make_node('Abs', ['c0'], ['else_out'])], 'else', [], [helper.make_empty_tensor_value_info('else_out')])
    op('If', np.array(True), then_branch=then, else_branch=other)
    op('If', np.array(False), then_branch=then, else_branch=other)
    return g.model()


def main():
    root = sys.argv[1]
    out = os.path.join(root, 'eval', 'testdata')
    os.makedirs(out, exist_ok=True)
    for n in (13, 17, 21):
        m = operators(n)
        path = os.path.join(out, 'operators-op%d' % n)
        onnx.save(m, path + '.onnx')
        s = session(m.SerializeToString())
        names = [o.name for o in s.get_outputs()]
        write_tensors(path + '.safetensors', dict(zip(names, s.run(names, {}))))
        print(path, len(m.graph.node), 'nodes')
    logits = {}
    for folder in [os.path.join(root, 'testdata')] + sys.argv[2:]:
        for case in sorted(os.listdir(folder)):
            model, ref = os.path.join(folder, case, 'model.onnx'), os.path.join(folder, case, 'reference.safetensors')
            if not (os.path.exists(model) and os.path.exists(ref)):
                continue
            s = session(model)
            inputs = read_tensors(ref)
            logits[case] = s.run(None, {i.name: inputs[i.name] for i in s.get_inputs()})[0]
            print(case, 'differs from the reference by', float(np.abs(logits[case] - inputs['logits']).max()))
    write_tensors(os.path.join(out, 'models.safetensors'), logits)


main()
