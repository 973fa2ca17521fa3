"""The paper's translation model in plain PyTorch, with random weights: a
softmax encoder and a MemSizer decoder, one token at a time, greedy or beam.

Its projections of q, k and v are one product, the cross memory is computed
once per sentence: it does no more than it has to.
"""

import time

import torch
import torch.nn.functional as F

import peer


def linear(out, cols):
    return torch.nn.Linear(cols, out)


class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        d = peer.DIM
        self.layers = torch.nn.ModuleList()
        for _ in range(peer.LAYERS):
            self.layers.append(torch.nn.ModuleDict({
                "qkv": linear(3 * d, d), "out": linear(d, d), "fc1": linear(peer.FFN, d), "fc2": linear(d, peer.FFN),
                "norm1": torch.nn.LayerNorm(d), "norm2": torch.nn.LayerNorm(d),
            }))

    def forward(self, x):  # [B, S, D]
        b, s, d = x.shape
        heads = peer.HEADS
        for l in self.layers:
            q, k, v = l["qkv"](x).view(b, s, 3, heads, d // heads).permute(2, 0, 3, 1, 4)
            a = torch.softmax(q @ k.transpose(2, 3) * (d // heads) ** -0.5, -1) @ v
            x = l["norm1"](x + l["out"](a.transpose(1, 2).reshape(b, s, d)))
            x = l["norm2"](x + l["fc2"](F.relu(l["fc1"](x))))
        return x


class Decoder(torch.nn.Module):
    """One step. State: M [layers, R, K, D] of self-attention, read and
    returned; cross memories [layers, R, K, D], read only."""

    def __init__(self, embed):
        super().__init__()
        d, h = peer.DIM, peer.HEADS
        self.embed = embed
        self.layers = torch.nn.ModuleList()
        for _ in range(peer.LAYERS):
            self.layers.append(torch.nn.ModuleDict({
                "qkv": linear(h * peer.CAUSAL + peer.CAUSAL + d, d),
                "key_norm": torch.nn.LayerNorm(peer.CAUSAL), "value_norm": torch.nn.LayerNorm(d),
                "cross_q": linear(h * peer.CROSS, d), "cross_kv": linear(peer.CROSS + d, d),
                "cross_key_norm": torch.nn.LayerNorm(peer.CROSS), "cross_value_norm": torch.nn.LayerNorm(d),
                "fc1": linear(peer.FFN, d), "fc2": linear(d, peer.FFN),
                "norm1": torch.nn.LayerNorm(d), "norm2": torch.nn.LayerNorm(d), "norm3": torch.nn.LayerNorm(d),
            }))

    def sources(self, out):
        """Cross memories [layers, B, K, D] of encoder output [B, S, D]."""
        k = peer.CROSS
        memories = []
        for l in self.layers:
            kv = l["cross_kv"](out)
            keys, values = l["cross_key_norm"](kv[..., :k]), l["cross_value_norm"](kv[..., k:])
            memories.append(keys.transpose(1, 2) @ values * out.shape[1] ** -0.5)
        return torch.stack(memories)

    def forward(self, ids, position, scale, memory, cross):
        """ids [R], position [D], scale = t^-1/2 [1] -> scores [R, V], memory."""
        h, k = peer.HEADS, peer.CAUSAL
        x = self.embed[ids] * peer.DIM ** 0.5 + position
        after = []
        for i, l in enumerate(self.layers):
            qkv = l["qkv"](x)
            alpha = torch.softmax(qkv[:, :h * k].view(-1, h, k), -1).mean(1)
            key, value = l["key_norm"](qkv[:, h * k:h * k + k]), l["value_norm"](qkv[:, h * k + k:])
            m = memory[i] + key.unsqueeze(2) * value.unsqueeze(1)
            after.append(m)
            x = l["norm1"](x + (alpha.unsqueeze(1) @ m).squeeze(1) * scale)
            alpha = torch.softmax(l["cross_q"](x).view(-1, h, peer.CROSS), -1).mean(1)
            x = l["norm2"](x + (alpha.unsqueeze(1) @ cross[i]).squeeze(1))
            x = l["norm3"](x + l["fc2"](F.relu(l["fc1"](x))))
        return F.linear(x, self.embed), torch.stack(after)


class Model:
    def __init__(self):
        torch.manual_seed(1)
        self.embed = torch.nn.Parameter(torch.randn(peer.VOCAB, peer.DIM) * peer.DIM ** -0.5)
        self.encoder, self.decoder = Encoder().eval(), Decoder(self.embed).eval()
        self.positions = torch.tensor([peer.sinusoid(i) for i in range(peer.LENGTH)])

    def parameters(self):
        seen = {id(p): p.numel() for m in (self.encoder, self.decoder) for p in m.parameters()}
        return sum(seen.values())

    def translate(self, beam, batch):
        """Translates random sources; returns the seconds of the decoder."""
        source = torch.randint(4, peer.VOCAB, (batch, peer.LENGTH))
        x = self.embed[source] * peer.DIM ** 0.5 + self.positions
        out = self.encoder(x)
        cross = self.decoder.sources(out)
        start = time.perf_counter()
        if beam == 1:
            self.greedy(batch, cross)
        else:
            self.search(beam, batch, cross.repeat_interleave(beam, 1))
        return time.perf_counter() - start

    def step(self, t, ids, memory, cross):
        scale = torch.tensor([(t + 1) ** -0.5])
        scores, memory = self.decoder(ids, self.positions[t], scale, memory, cross)
        scores[:, :4] = -float("inf")  # outputs of one length: no eos
        return scores, memory

    def greedy(self, batch, cross):
        memory = torch.zeros(peer.LAYERS, batch, peer.CAUSAL, peer.DIM)
        ids = torch.full((batch,), 2)
        for t in range(peer.LENGTH):
            scores, memory = self.step(t, ids, memory, cross)
            ids = scores.argmax(-1)

    def search(self, beam, batch, cross):
        memory = torch.zeros(peer.LAYERS, batch * beam, peer.CAUSAL, peer.DIM)
        ids = torch.full((batch * beam,), 2)
        sums = torch.full((batch, beam), -float("inf"))
        sums[:, 0] = 0  # all beams are alike at first
        base = torch.arange(batch).unsqueeze(1) * beam
        for t in range(peer.LENGTH):
            scores, memory = self.step(t, ids, memory, cross)
            scores = torch.log_softmax(scores, -1).view(batch, beam, -1) + sums.unsqueeze(2)
            sums, best = scores.view(batch, -1).topk(beam)
            rows = (base + torch.div(best, peer.VOCAB, rounding_mode="floor")).view(-1)
            ids = (best % peer.VOCAB).view(-1)
            memory = memory[:, rows]


def blas():
    """The library that PyTorch multiplies with, from what is mapped."""
    try:
        with open("/proc/self/maps") as f:
            maps = f.read()
    except OSError:
        return "unknown BLAS"
    for name in ("openblas", "mkl_rt", "libmkl", "blis"):
        if name in maps:
            return name
    return "reference BLAS" if "libblas" in maps else "own kernels"


def main():
    o = peer.options(__doc__)
    torch.set_num_threads(o.threads)
    m = Model()
    with torch.no_grad():
        peer.serve("PyTorch %s with %s" % (torch.__version__, blas()), m.translate)


if __name__ == "__main__":
    main()
