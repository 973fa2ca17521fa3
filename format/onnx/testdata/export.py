"""Makes the models of this folder: MemSizer and Transformer models with random
weights, exported by torch.onnx.export.

Needs torch 1.13, fairseq 0.10.0 and the MemSizer authors' code (as the
package `src`) on PYTHONPATH. That fairseq wants a Python before 3.11, or one
whose dataclasses are patched to take mutable defaults.

Every folder has what a fairseq checkpoint beside it would have: the weights by
fairseq's names (model.safetensors), args.json, dictionaries, and logits for an
input with pads (reference.safetensors).
"""
import argparse
import json
import os
import struct

import torch
from fairseq.data import Dictionary
from fairseq.models import ARCH_CONFIG_REGISTRY, ARCH_MODEL_REGISTRY
from fairseq.models.fairseq_encoder import EncoderOut
from torch import nn
import fairseq.models
import src  # registers the architectures

BASE = dict(
    encoder_embed_dim=8, decoder_embed_dim=8, encoder_ffn_embed_dim=12, decoder_ffn_embed_dim=12,
    encoder_layers=1, decoder_layers=2, encoder_attention_heads=2, decoder_attention_heads=2,
    causal_proj_dim=3, cross_proj_dim=5, dropout=0.0, max_source_positions=20, max_target_positions=20,
    source_lang='s', target_lang='t', quant_noise_pq=0, quant_noise_pq_block_size=8,
    encoder_layerdrop=0, decoder_layerdrop=0, encoder_layers_to_keep=None, decoder_layers_to_keep=None,
)


def write_tensors(path, tensors):
    header, blobs, at = {}, [], 0
    for name, t in tensors.items():
        a = t.detach().contiguous().numpy()
        b = a.astype('<f4' if t.is_floating_point() else '<i8').tobytes()
        header[name] = {'dtype': 'F32' if t.is_floating_point() else 'I64', 'shape': list(t.shape), 'data_offsets': [at, at + len(b)]}
        at += len(b)
        blobs.append(b)
    j = json.dumps(header).encode()
    j += b' ' * (-len(j) % 8)
    with open(path, 'wb') as f:
        f.write(struct.pack('<Q', len(j)) + j + b''.join(blobs))


def dictionary(folder, name, letter, words):
    path = os.path.join(folder, name)
    with open(path, 'w') as f:
        for i in range(words):
            f.write('%s%d %d\n' % (letter, i, 100 - i))
    return Dictionary.load(path)


class Task:
    pass


def make(folder, arch, lm=False, shared=True, seed=1, **settings):
    os.makedirs(folder, exist_ok=True)
    d = dict(BASE, arch=arch, task='language_modeling' if lm else 'translation')
    if shared and not lm:
        d.update(share_all_embeddings=True, share_decoder_input_output_embed=True)
    if lm:
        d.update(tokens_per_sample=20)
    d.update(settings)
    args = argparse.Namespace(**d)
    ARCH_CONFIG_REGISTRY[arch](args)
    task = Task()
    if lm:
        task.source_dictionary = task.target_dictionary = task.dictionary = task.output_dictionary = dictionary(folder, 'dict.txt', 't', 13)
    else:
        task.source_dictionary = dictionary(folder, 'dict.s.txt', 't' if shared else 's', 13)
        task.target_dictionary = dictionary(folder, 'dict.t.txt', 't', 13 if shared else 17)
    model = ARCH_MODEL_REGISTRY[arch].build_model(args, task).eval()
    g = torch.Generator().manual_seed(seed)
    for name, p in sorted(model.named_parameters()):
        if 'norm' in name:
            p.data = (1 if name.endswith('weight') else 0) + 0.2 * torch.randn(p.shape, generator=g)
        elif p.dim() >= 2:
            p.data = torch.randn(p.shape, generator=g) * p.shape[-1] ** -0.5
        else:
            p.data = 0.1 * torch.randn(p.shape, generator=g)
    plain = {k: v for k, v in sorted(vars(args).items()) if v is None or isinstance(v, (bool, int, float, str))}
    with open(os.path.join(folder, 'args.json'), 'w') as f:
        json.dump(plain, f, indent=0)
        f.write('\n')
    write_tensors(os.path.join(folder, 'model.safetensors'), {k: v for k, v in model.state_dict().items()
                                                                 if v.is_floating_point() and not k.endswith('_float_tensor')})
    return model, task


def tokens(words, batch, length, seed, left):
    g = torch.Generator().manual_seed(seed)
    t = torch.randint(4, words, (batch, length), generator=g)
    if left:
        t[:, -1] = 2
        t[0, :2] = 1
    else:
        t[:, 0] = 2
        t[1, -2:] = 1
    return t


class Whole(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.m = model

    def forward(self, src_tokens, prev_output_tokens):
        return self.m(src_tokens, None, prev_output_tokens)[0]


class Language(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.m = model

    def forward(self, tokens):
        return self.m(tokens)[0]


class LogProbabilities(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.m = model

    def forward(self, tokens):
        return self.m.get_normalized_probs(self.m(tokens), log_probs=True)


class Encoder(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.e = model.encoder

    def forward(self, src_tokens):
        o = self.e(src_tokens, None)
        return o.encoder_out, o.encoder_padding_mask


class Step(nn.Module):
    """One step of a MemSizer decoder: the tokens so far, the encoder's output, and a state and a count per layer."""

    def __init__(self, model):
        super().__init__()
        self.d = model.decoder

    def forward(self, prev_output_tokens, encoder_out, encoder_padding_mask, *states):
        inc = {}
        for i, layer in enumerate(self.d.layers):
            layer.self_attn._set_input_buffer(inc, {'prev_s': states[2 * i], 'prev_prefix_len': states[2 * i + 1]})
        out = EncoderOut(encoder_out, encoder_padding_mask, None, None, None, None)
        results = [self.d(prev_output_tokens, encoder_out=out, incremental_state=inc)[0]]
        for layer in self.d.layers:
            b = layer.self_attn._get_input_buffer(inc)
            results += [b['prev_s'], b['prev_prefix_len']]
        return tuple(results)


def export(module, inputs, path, names, outputs, axes, opset, fold):
    if opset < 14:  # without Trilu: the decoder keeps its mask and exports it as a constant
        module(*inputs)
    torch.onnx.export(module, inputs, path, input_names=names, output_names=outputs, dynamic_axes=axes,
                      opset_version=opset, do_constant_folding=fold)


def whole(folder, opset, fold, arch, **settings):
    model, task = make(folder, arch, **settings)
    src = tokens(len(task.source_dictionary), 2, 6, 3, True)
    prev = tokens(len(task.target_dictionary), 2, 5, 4, False)
    m = Whole(model)
    axes = {'src_tokens': {0: 'batch', 1: 'src'}, 'prev_output_tokens': {0: 'batch', 1: 'tgt'}, 'logits': {0: 'batch', 1: 'tgt'}}
    export(m, (src, prev), folder + '/model.onnx', ['src_tokens', 'prev_output_tokens'], ['logits'], axes, opset, fold)
    write_tensors(folder + '/reference.safetensors', {'src_tokens': src, 'prev_output_tokens': prev, 'logits': m(src, prev)})


def language(folder, opset, fold, arch, log_probs=False, **settings):
    model, task = make(folder, arch, lm=True, **settings)
    t = tokens(len(task.dictionary), 2, 5, 4, False)
    if log_probs:
        t[0, 1:5] = torch.tensor([5, 9, 16, 10])  # two words of each band: the tracer follows what is there
        t[1, 1:3] = torch.tensor([14, 6])
    m = LogProbabilities(model) if log_probs else Language(model)
    export(m, (t,), folder + '/model.onnx', ['tokens'], ['logits'], {'tokens': {0: 'batch', 1: 'len'}, 'logits': {0: 'batch', 1: 'len'}}, opset, fold)
    write_tensors(folder + '/reference.safetensors', {'tokens': t, 'logits': m(t)})


def steps(folder, opset, fold, arch, **settings):
    model, task = make(folder, arch, **settings)
    src = tokens(len(task.source_dictionary), 2, 6, 3, True)
    prev = tokens(len(task.target_dictionary), 2, 3, 4, False)
    enc = Encoder(model)
    out, mask = enc(src)
    axes = {'src_tokens': {0: 'batch', 1: 'src'}, 'encoder_out': {0: 'src', 1: 'batch'}, 'encoder_padding_mask': {0: 'batch', 1: 'src'}}
    export(enc, (src,), folder + '/encoder.onnx', ['src_tokens'], ['encoder_out', 'encoder_padding_mask'], axes, opset, fold)
    states, names, outputs = [], ['prev_output_tokens', 'encoder_out', 'encoder_padding_mask'], ['logits']
    axes = {'prev_output_tokens': {0: 'batch', 1: 'len'}, 'encoder_out': {0: 'src', 1: 'batch'},
            'encoder_padding_mask': {0: 'batch', 1: 'src'}, 'logits': {0: 'batch'}}
    for i, layer in enumerate(model.decoder.layers):
        a = layer.self_attn
        states += [torch.zeros(2, a.k_dim, a.embed_dim), torch.zeros(2)]
        names += ['state.%d' % i, 'count.%d' % i]
        outputs += ['new_state.%d' % i, 'new_count.%d' % i]
        for n in names[-2:] + outputs[-2:]:
            axes[n] = {0: 'batch'}
    export(Step(model), (prev, out, mask, *states), folder + '/decoder.onnx', names, outputs, axes, opset, fold)


if __name__ == '__main__':
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('out', help='the folder to write to')
    o = p.parse_args().out
    whole(o + '/memsizer-op17', 17, True, 'memsizer')
    whole(o + '/full-memsizer-op13-unfolded', 13, False, 'memsizer', shared=False, encoder_use_memsizer=True, activation_fn='gelu',
          encoder_normalize_before=True, decoder_normalize_before=True, share_decoder_input_output_embed=True, decoder_layers=1)
    whole(o + '/transformer-op14', 14, True, 'transformer', encoder_learned_pos=True, decoder_learned_pos=True, layernorm_embedding=True,
          decoder_layers=1, no_scale_embedding=True)
    language(o + '/lm-op15', 15, True, 'memsizer_lm', activation_fn='gelu_accurate', decoder_normalize_before=True)
    adaptive = dict(adaptive_softmax_cutoff='8,12', adaptive_softmax_factor=2, log_probs=True, decoder_layers=1)
    language(o + '/lm-adaptive-softmax-op17', 17, True, 'memsizer_lm', **adaptive)
    # Its export of an adaptive embedding lacks an Unsqueeze; derive.py adds it.
    language(o + '/lm-adaptive-op17', 17, True, 'memsizer_lm', adaptive_input=True, adaptive_input_cutoff='8,12', adaptive_input_factor=2,
             tie_adaptive_weights=True, tie_adaptive_proj=True, **adaptive)
    steps(o + '/step-op14', 14, True, 'memsizer', seed=2)
