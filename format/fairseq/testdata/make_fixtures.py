"""Makes the checkpoints of this folder, and what fairseq computes for them.

Needs fairseq 0.10.0 and the MemSizer authors' plug-in (as the package "src")
on PYTHONPATH, with torch:

    python make_fixtures.py FOLDER

Every parameter is random, so that each of them matters in the outputs.
"""
import argparse
import collections
import copy
import json
import os
import struct
import sys

import torch
from torch import nn

from fairseq.data import Dictionary
from fairseq.models import ARCH_CONFIG_REGISTRY, ARCH_MODEL_REGISTRY
import src  # noqa: F401, registers the architectures

FOLDER = sys.argv[1]

TRANSLATION = dict(
    task="translation", source_lang="s", target_lang="t", max_source_positions=40, max_target_positions=30,
    encoder_layers_to_keep=None, decoder_layers_to_keep=None, encoder_layerdrop=0, decoder_layerdrop=0,
    quant_noise_pq=0, quant_noise_pq_block_size=8,
    encoder_embed_dim=8, decoder_embed_dim=8, encoder_ffn_embed_dim=12, decoder_ffn_embed_dim=10,
    encoder_layers=1, decoder_layers=2, encoder_attention_heads=2, decoder_attention_heads=4,
    causal_proj_dim=3, cross_proj_dim=5,
)
LANGUAGE = dict(
    task="language_modeling", tokens_per_sample=25, max_target_positions=None, decoder_layers_to_keep=None,
    decoder_embed_dim=8, decoder_ffn_embed_dim=12, decoder_layers=2, decoder_attention_heads=2, causal_proj_dim=3,
)


def write_safetensors(path, tensors):
    header, blobs, at = {}, [], 0
    for name, t in tensors.items():
        data = t.detach().contiguous().numpy().tobytes()
        header[name] = {"dtype": {torch.float32: "F32", torch.int64: "I64"}[t.dtype], "shape": list(t.shape),
                        "data_offsets": [at, at + len(data)]}
        blobs.append(data)
        at += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))


def dictionary(path, letter, size):
    with open(path, "w") as f:
        for i in range(size - 4):
            print(f"{letter}{i} {100 - i}", file=f)
    return Dictionary.load(path)


def randomize(model, generator):
    for name, p in sorted(model.named_parameters()):
        noise = torch.randn(p.shape, generator=generator)
        if "layer_norm" in name:
            p.data = (1.0 if name.endswith("weight") else 0.0) + 0.2 * noise
        else:
            p.data = noise * (1.2 * p.shape[-1] ** -0.5 if p.dim() > 1 else 0.1)


class Task:
    pass


def build(name, arch, seed, source=0, target=0, **settings):
    folder = os.path.join(FOLDER, name)
    os.makedirs(folder, exist_ok=True)
    task = Task()
    if source:
        task.source_dictionary = dictionary(folder + "/dict.s.txt", "s", source)
        task.target_dictionary = dictionary(folder + "/dict.t.txt", "t" if source != target else "s", target)
    else:
        task.source_dictionary = task.target_dictionary = dictionary(folder + "/dict.txt", "w", target)
    args = argparse.Namespace(arch=arch, dropout=0.0, **{**(TRANSLATION if source else LANGUAGE), **settings})
    ARCH_CONFIG_REGISTRY[arch](args)
    saved = copy.deepcopy(args)
    model = ARCH_MODEL_REGISTRY[arch].build_model(args, task)
    generator = torch.Generator().manual_seed(seed)
    randomize(model, generator)
    return folder, saved, model.eval(), generator


def record(folder, model, generator, source=0, target=0):
    out = collections.OrderedDict()
    with torch.no_grad():
        if not source:
            tokens = torch.randint(4, target, (2, 7), generator=generator)
            tokens[:, 0] = 2
            out["tokens"] = tokens
            result = model(tokens)
        else:
            out["src_tokens"] = torch.randint(4, source, (2, 6), generator=generator)
            out["src_tokens"][:, -1] = 2
            out["prev_output_tokens"] = torch.randint(4, target, (2, 5), generator=generator)
            out["prev_output_tokens"][:, 0] = 2
            result = model(out["src_tokens"], torch.tensor([6, 6]), out["prev_output_tokens"])
        if model.decoder.adaptive_softmax is None:
            out["logits"] = result[0]
        else:
            out["log_probs"] = model.get_normalized_probs(result, log_probs=True)
    write_safetensors(folder + "/reference.safetensors", out)


HISTORY = [{"criterion_name": "CrossEntropyCriterion", "optimizer_name": "FairseqAdam", "lr_scheduler_state": {}, "num_updates": 7}]


def save(folder, file="checkpoint.pt", legacy=False, **parts):
    torch.save({"optimizer_history": HISTORY, "extra_state": {"train_iterator": {"epoch": 3}}, **parts}, f"{folder}/{file}",
               _use_new_zipfile_serialization=not legacy)


def half():
    """A MemSizer translation model as 0.10 writes it, in half precision, pre-norm."""
    size = dict(source=14, target=17)
    folder, args, model, generator = build("half", "memsizer", 1, encoder_normalize_before=True, decoder_normalize_before=True, **size)
    model = model.half().float()
    record(folder, model, generator, **size)
    save(folder, args=args, model={k: v.half() if v.is_floating_point() else v for k, v in model.state_dict().items()})


def old():
    """A Transformer as 0.6 wrote it: fused projections, numbered norms, embed_out, no final norms."""
    size = dict(source=14, target=17)
    folder, args, model, generator = build("old", "transformer", 2, encoder_normalize_before=True, decoder_normalize_before=True, **size)
    model.encoder.layer_norm = model.decoder.layer_norm = None
    record(folder, model, generator, **size)
    state, numbers = collections.OrderedDict(), {
        "encoder": {"self_attn_layer_norm": "0", "final_layer_norm": "1"},
        "decoder": {"self_attn_layer_norm": "0", "encoder_attn_layer_norm": "1", "final_layer_norm": "2"},
    }
    weights = model.state_dict()
    for name, value in weights.items():
        head, _, kind = name.rpartition(".")
        module, _, last = head.rpartition(".")
        if last in ("k_proj", "v_proj"):
            continue
        if last == "q_proj":
            name = f"{module}.in_proj_{kind}"
            value = torch.cat([weights[f"{module}.{p}_proj.{kind}"] for p in "qkv"])
        elif last.endswith("layer_norm"):
            name = f"{module}.layer_norms.{numbers[name[:7]][last]}.{kind}"
        state[name] = value
    state["decoder.embed_out"] = state.pop("decoder.output_projection.weight")
    state["encoder.version"], state["decoder.version"] = torch.Tensor([1]), torch.Tensor([1])
    state["encoder.embed_positions._float_tensor"] = torch.tensor([float("nan")])
    args.max_sentences = None
    save(folder, legacy=True, args=args, model=state)


def adaptive():
    """A language model with everything tied, saved from a GPU: each copy stored."""
    folder, args, model, generator = build(
        "adaptive", "memsizer_lm_wiki103", 3, target=25, decoder_normalize_before=True, decoder_input_dim=8, decoder_output_dim=8,
        adaptive_input_cutoff="9,16", adaptive_softmax_cutoff="9,16", adaptive_input_factor=2, adaptive_softmax_factor=2)
    record(folder, model, generator, target=25)
    save(folder, args=args, model=collections.OrderedDict((k, v.clone()) for k, v in model.state_dict().items()))


def config():
    """A shared-vocabulary model in the container of 0.12, with nested settings and tokenisation."""
    size = dict(source=14, target=14)
    folder, args, model, generator = build("config", "memsizer", 4, share_all_embeddings=True, **size)
    record(folder, model, generator, **size)
    flat, nested = vars(args), {"_name": "memsizer", "encoder": {}, "decoder": {}}
    for name, value in flat.items():
        side, _, rest = name.partition("_")
        if side in ("encoder", "decoder") and "memsizer" not in name:
            nested[side][rest] = value
        elif name not in ("arch", "task", "source_lang", "target_lang"):
            nested[name] = value
    nested["max_source_positions"] = "${task.max_source_positions}"
    save(folder, args=None, model=model.state_dict(), cfg={
        "_name": None, "common": {"fp16": False},
        "task": {"_name": "translation", "data": "/data", "source_lang": "s", "target_lang": "t", "max_source_positions": 40},
        "bpe": {"_name": "subword_nmt", "bpe_codes": "/data/codes", "bpe_separator": "@@"},
        "tokenizer": {"_name": "moses", "source_lang": "en", "target_lang": "de", "moses_no_dash_splits": True, "moses_no_escape": False},
        "model": nested,
    })
    with open(folder + "/codes", "w") as f:
        print("#version: 0.2\ns 1", file=f)


def others():
    """Containers of other shapes around small tensors."""
    folder = os.path.join(FOLDER, "containers")
    os.makedirs(folder, exist_ok=True)
    w = {"decoder.layers.0.fc1.bias": torch.arange(3.0)}
    save(folder, "fsdp.pt", model=w, fsdp_metadata={"shard": 0})
    save(folder, "ensemble.pt", model=[w, w])
    save(folder, "ema.pt", args=argparse.Namespace(arch="memsizer"), model=w, extra_state={"ema": w, "epoch": 5})
    torch.save({"ema": w}, folder + "/only-ema.pt")
    torch.save([w, w], folder + "/list.pt")
    torch.save(torch.zeros(2), folder + "/tensor.pt")
    torch.save({"epoch": 3, "state_dict": {"module." + k: v for k, v in w.items()}}, folder + "/state-dict.pt")
    torch.save({"decoder": {"layers.0.fc1.bias": torch.arange(3.0)}}, folder + "/nested.pt")
    torch.save({"args": None, "note": "nothing"}, folder + "/empty.pt")
    save(folder, "expanded.pt", model={"decoder.layers.0.fc1.bias": torch.zeros(1).expand(1000)})
    save(folder, "quantized.pt", model={"decoder.layers.0.fc1.bias": torch.zeros(3, dtype=torch.int8)})
    module = nn.Module()
    module.decoder = nn.Module()
    module.decoder.fc = nn.Linear(2, 3)
    module.decoder.register_buffer("version", torch.Tensor([3]))
    module.args = argparse.Namespace(arch="memsizer")
    torch.save({"model": module}, folder + "/module.pt")


for make in (half, old, adaptive, config, others):
    make()
