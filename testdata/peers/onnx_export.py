"""Writes the decoder step of torch_memsizer.py as decoder.onnx: the states
are inputs and outputs; it ends with the best candidates of each row."""

import os

import torch

import peer
import torch_memsizer

CANDIDATES = 10


class Step(torch.nn.Module):
    def __init__(self, decoder):
        super().__init__()
        self.decoder = decoder

    def forward(self, ids, position, scale, memory, cross):
        scores, memory = self.decoder(ids, position, scale, memory, cross)
        values, best = torch.topk(torch.log_softmax(scores, -1), CANDIDATES)
        return values, best, memory


def main():
    o = peer.options(__doc__)
    m = torch_memsizer.Model()
    rows = 3
    inputs = {
        "ids": torch.zeros(rows, dtype=torch.int64), "position": m.positions[0], "scale": torch.ones(1),
        "memory": torch.zeros(peer.LAYERS, rows, peer.CAUSAL, peer.DIM),
        "cross": torch.zeros(peer.LAYERS, rows, peer.CROSS, peer.DIM),
    }
    outputs = ["values", "best", "memory_after"]
    path = os.path.join(o.work, "decoder.onnx")
    torch.onnx.export(
        Step(m.decoder), tuple(inputs.values()), path + ".part", input_names=list(inputs), output_names=outputs,
        opset_version=13, do_constant_folding=True,
        dynamic_axes={"ids": {0: "R"}, "memory": {1: "R"}, "cross": {1: "R"},
                      "values": {0: "R"}, "best": {0: "R"}, "memory_after": {1: "R"}})
    os.rename(path + ".part", path)


if __name__ == "__main__":
    main()
