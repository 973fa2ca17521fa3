"""The decoder step of onnx_export.py in ONNX Runtime, float32 or dynamically
quantised to int8; the search around it in numpy. The cross memories are
random: there is no encoder."""

import os
import time

import numpy as np
import onnxruntime as ort

import peer


def build(work):
    from onnxruntime.quantization import QuantType, quantize_dynamic
    path = os.path.join(work, "decoder.int8.onnx")
    if not os.path.exists(path):
        quantize_dynamic(os.path.join(work, "decoder.onnx"), path + ".part", weight_type=QuantType.QInt8)
        os.rename(path + ".part", path)


class Decoder:
    def __init__(self, path, threads):
        so = ort.SessionOptions()
        so.intra_op_num_threads, so.inter_op_num_threads = threads, 1
        so.log_severity_level = 3
        self.session = ort.InferenceSession(path, so, providers=["CPUExecutionProvider"])
        self.positions = np.array([peer.sinusoid(i) for i in range(peer.LENGTH)], np.float32)
        self.rng = np.random.default_rng(1)
        self.cross = {}

    def run(self, beam, batch):
        rows = batch * beam
        if rows not in self.cross:
            self.cross[rows] = self.rng.standard_normal((peer.LAYERS, rows, peer.CROSS, peer.DIM), np.float32)
        cross = self.cross[rows]
        start = time.perf_counter()
        memory = np.zeros((peer.LAYERS, rows, peer.CAUSAL, peer.DIM), np.float32)
        ids = np.full(rows, 2, np.int64)
        sums = np.full((batch, beam), -np.inf, np.float32)
        sums[:, 0] = 0
        base = np.arange(batch)[:, None] * beam
        for t in range(peer.LENGTH):
            values, best, memory = self.session.run(None, {
                "ids": ids, "position": self.positions[t], "scale": np.array([(t + 1) ** -0.5], np.float32),
                "memory": memory, "cross": cross})
            if beam == 1:
                ids = best[:, 0]
                continue
            n = values.shape[1]
            scores = (values.reshape(batch, beam, n) + sums[:, :, None]).reshape(batch, -1)
            top = np.argsort(-scores, 1)[:, :beam]
            sums = np.take_along_axis(scores, top, 1)
            ids = np.take_along_axis(best.reshape(batch, -1), top, 1).reshape(-1)
            memory = memory[:, (base + top // n).reshape(-1)]
        return time.perf_counter() - start


def main():
    o = peer.options(__doc__)
    if o.build:
        build(o.work)
        return
    d = Decoder(os.path.join(o.work, "decoder.int8.onnx" if o.int8 else "decoder.onnx"), o.threads)
    peer.serve("ONNX Runtime %s" % ort.__version__, d.run)


if __name__ == "__main__":
    main()
