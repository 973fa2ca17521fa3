"""A Transformer of the paper's translation size in CTranslate2, float32 or
int8, with random weights."""

import os

import ctranslate2
import numpy as np

import peer


class Random(ctranslate2.converters.Converter):
    """Makes the specification's weights up."""

    def _load(self):
        specs = ctranslate2.specs
        spec = specs.TransformerSpec.from_config(peer.LAYERS, peer.HEADS, pre_norm=False)
        rng = np.random.default_rng(1)
        d, f = peer.DIM, peer.FFN
        uniform = lambda bound, *shape: rng.uniform(-bound, bound, shape).astype(np.float32)

        def linear(s, out, cols):
            s.weight, s.bias = uniform((6 / (out + cols)) ** 0.5, out, cols), uniform(0.1, out)

        def norm(s):
            s.gamma, s.beta = 1 + uniform(0.1, d), uniform(0.1, d)

        def block(s, cross):
            attentions = [(s.self_attention, [3 * d, d])]
            if cross:
                attentions.append((s.attention, [d, 2 * d, d]))
            for a, outs in attentions:
                norm(a.layer_norm)
                for l, out in zip(a.linear, outs):
                    linear(l, out, d)
            norm(s.ffn.layer_norm)
            linear(s.ffn.linear_0, f, d)
            linear(s.ffn.linear_1, d, f)

        table = uniform((3 / d) ** 0.5, peer.VOCAB, d)
        spec.encoder.embeddings[0].weight = table
        spec.decoder.embeddings.weight = table
        spec.decoder.projection.weight = table
        for s in (spec.encoder, spec.decoder):
            s.scale_embeddings = True
            s.position_encodings.encodings = np.array([peer.sinusoid(i) for i in range(256)], np.float32)
            for l in s.layer:
                block(l, s is spec.decoder)
        words = ["<s>", "<blank>", "</s>", "<unk>"] + ["w%d" % i for i in range(4, peer.VOCAB)]
        spec.register_source_vocabulary(words)
        spec.register_target_vocabulary(words)
        spec.config.add_source_eos = False
        return spec


def folder(o):
    return os.path.join(o.work, "ctranslate2-" + ("int8" if o.int8 else "float32"))


def main():
    o = peer.options(__doc__)
    if o.build:
        for o.int8 in (False, True):
            if not os.path.exists(os.path.join(folder(o), "model.bin")):
                Random().convert(folder(o), quantization="int8" if o.int8 else None, force=True)
        return
    rng = np.random.default_rng(2)
    translators = {}

    def translator(batch):
        """Threads split one sentence's products; batches have a thread each."""
        inter = o.threads if batch > 1 else 1
        if inter not in translators:
            translators[inter] = ctranslate2.Translator(
                folder(o), compute_type="int8" if o.int8 else "float32",
                inter_threads=inter, intra_threads=o.threads // inter)
        return translators[inter]

    def run(beam, batch):
        source = [["w%d" % i for i in rng.integers(4, peer.VOCAB, peer.LENGTH)] for _ in range(batch)]
        t = translator(batch)
        out = t.translate_batch(
            source, beam_size=beam, min_decoding_length=peer.LENGTH, max_decoding_length=peer.LENGTH,
            max_batch_size=-(-batch // t.num_translators) if batch > 1 else 0)
        lengths = {len(r.hypotheses[0]) for r in out}
        if lengths != {peer.LENGTH}:
            raise SystemExit("lengths %s, want %d" % (lengths, peer.LENGTH))

    peer.serve("CTranslate2 %s" % ctranslate2.__version__, run)


if __name__ == "__main__":
    main()
