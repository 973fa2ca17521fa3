#!/usr/bin/env python3
"""Record what a fairseq model computes, for `convert verify`.

Run it where the model was trained: fairseq (0.10 to 0.12) and the plug-in that
defines the architecture must be importable; nothing else is needed. It runs
the model in float32 on given or random sentences and writes one safetensors
file with the inputs, the hidden states after every layer and the scores.

    python record_reference.py -o reference.safetensors --user-dir plugin \\
        --data data-bin checkpoint_best.pt

With --source (and --target) the sentences come from text files, one a line,
tokenised and split into pieces as they were for training. Without them random
words are used, which shows as much: every weight takes part.

Tensors (all little-endian; float32 and int64):
  translation models: src_tokens [N,S] padded on the left, prev_output_tokens
    [N,T] padded on the right, encoder_layer.i and encoder_out [N,S,D],
    decoder_inner.i [N,T,D], logits [N,T,V], step_logits.j [T_j,V] (sentence j
    alone, one step at a time)
  language models: tokens [N,T], decoder_inner.i, log_probs [N,T,V] (natural
    logarithms), and without an adaptive softmax logits and step_logits.j
"""

import argparse
import json
import os
import random
import struct
import sys

import torch


def write_safetensors(path, tensors, metadata):
    """The container: u64 length of a JSON header, the header, the bytes."""
    header, blobs, offset = {"__metadata__": metadata}, [], 0
    for name, t in tensors.items():
        kind = {torch.float32: "F32", torch.int64: "I64"}[t.dtype]
        blob = t.detach().cpu().contiguous().numpy().tobytes()
        if sys.byteorder == "big":
            size = t.element_size()
            blob = b"".join(blob[i : i + size][::-1] for i in range(0, len(blob), size))
        header[name] = {
            "dtype": kind,
            "shape": list(t.shape),
            "data_offsets": [offset, offset + len(blob)],
        }
        offset += len(blob)
        blobs.append(blob)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path + ".tmp", "wb") as f:
        f.write(struct.pack("<Q", len(text)))
        f.write(text)
        for blob in blobs:
            f.write(blob)
    os.replace(path + ".tmp", path)


def pad(rows, pad_id, left):
    width = max(len(r) for r in rows)
    out = torch.full((len(rows), width), pad_id, dtype=torch.int64)
    for i, r in enumerate(rows):
        at = width - len(r) if left else 0
        out[i, at : at + len(r)] = torch.tensor(r, dtype=torch.int64)
    return out


def first(x):
    """The hidden state in what a layer returns, whatever the version."""
    return x[0] if isinstance(x, (tuple, list)) else x


def encoder_states(out):
    """encoder_out [S,N,D] of a named tuple (0.10.0) or a dict (later)."""
    return first(out["encoder_out"] if isinstance(out, dict) else out.encoder_out)


def rows_first(x):
    return x.transpose(0, 1).float().clone()


def scores(model, output, adaptive):
    """Logits, or log-probabilities where the model has no logits."""
    if not adaptive:
        return output[0].float()
    return model.get_normalized_probs(output, log_probs=True).float()


def step_scores(decoder, prev, **encoded):
    """Decode one sentence step by step, as a search does."""
    state, rows = {}, []
    for t in range(prev.shape[1]):
        out = decoder(prev[:, : t + 1], incremental_state=state, **encoded)
        rows.append(out[0][0, -1].float())
    return torch.stack(rows)


def inner_states(tensors, output):
    states = output[1].get("inner_states") if isinstance(output[1], dict) else None
    for i, x in enumerate(states or []):
        tensors["decoder_inner.%d" % i] = rows_first(x)


def is_adaptive(decoder):
    return getattr(decoder, "adaptive_softmax", None) is not None


def record_translation(model, sources, targets, pad_id, eos, device):
    src = pad(sources, pad_id, left=True).to(device)
    lengths = torch.tensor([len(s) for s in sources], device=device)
    prevs = [[eos] + t[:-1] for t in targets]
    prev = pad(prevs, pad_id, left=False).to(device)
    tensors = {"src_tokens": src, "prev_output_tokens": prev}

    hooks = []
    for i, layer in enumerate(model.encoder.layers):
        def keep(module, inputs, output, name="encoder_layer.%d" % i):
            tensors[name] = rows_first(first(output))
        hooks.append(layer.register_forward_hook(keep))
    encoded = model.encoder(src, src_lengths=lengths)
    for h in hooks:
        h.remove()
    tensors["encoder_out"] = rows_first(encoder_states(encoded))
    for name in [n for n in tensors if n.startswith("encoder_layer.")]:
        if tensors[name].shape != tensors["encoder_out"].shape:
            del tensors[name]  # a fast path with a layout of its own

    output = model.decoder(prev, encoder_out=encoded)
    inner_states(tensors, output)
    adaptive = is_adaptive(model.decoder)
    tensors["log_probs" if adaptive else "logits"] = scores(model, output, adaptive)
    for j in range(len(sources) if not adaptive else 0):
        one = torch.tensor([sources[j]], device=device)
        enc = model.encoder(one, src_lengths=lengths[j : j + 1])
        step = torch.tensor([prevs[j]], device=device)
        tensors["step_logits.%d" % j] = step_scores(model.decoder, step, encoder_out=enc)
    return tensors


def record_language(model, rows, pad_id, device):
    tokens = pad(rows, pad_id, left=False).to(device)
    tensors = {"tokens": tokens}
    output = model.decoder(tokens)
    inner_states(tensors, output)
    adaptive = is_adaptive(model.decoder)
    tensors["log_probs"] = model.get_normalized_probs(output, log_probs=True).float()
    if not adaptive:
        tensors["logits"] = scores(model, output, False)
        for j, r in enumerate(rows):
            one = torch.tensor([r], device=device)
            tensors["step_logits.%d" % j] = step_scores(model.decoder, one)
    return tensors


def random_rows(rng, dictionary, n, longest):
    words = range(dictionary.nspecial, len(dictionary))
    lengths = [longest] + [rng.randint(1, longest) for _ in range(n - 1)]
    return [[rng.choice(words) for _ in range(k - 1)] + [dictionary.eos()] for k in lengths]


def text_rows(dictionary, path, n, longest):
    rows = []
    with open(path, encoding="utf-8") as f:
        for line in f:
            if len(rows) == n:
                break
            ids = dictionary.encode_line(line, add_if_not_exist=False, append_eos=True).tolist()
            if len(ids) > longest:
                ids = ids[: longest - 1] + [dictionary.eos()]
            rows.append(ids)
    if not rows:
        sys.exit("record_reference: error: %s: no lines" % path)
    return rows


def load(args):
    from fairseq import checkpoint_utils, utils

    if args.user_dir:
        utils.import_user_module(argparse.Namespace(user_dir=args.user_dir))
    overrides = {"data": args.data or os.path.dirname(os.path.abspath(args.checkpoint))}
    models, _, task = checkpoint_utils.load_model_ensemble_and_task(
        [args.checkpoint], arg_overrides=overrides
    )
    return models[0], task


def main():
    p = argparse.ArgumentParser(
        description=__doc__.split("\n\n")[0],
        epilog="The file is for: convert verify m.msz --reference reference.safetensors",
    )
    p.add_argument("checkpoint", help="checkpoint.pt of one model")
    p.add_argument("-o", "--output", required=True, help="safetensors file to write")
    p.add_argument("--data", help="folder of the dictionaries (default: the checkpoint's)")
    p.add_argument("--user-dir", help="fairseq plug-in that defines the architecture")
    p.add_argument("--source", help="source text (language model: the text), tokenised as for training")
    p.add_argument("--target", help="target text, tokenised as for training (default: random words)")
    p.add_argument("--sentences", type=int, default=4, metavar="N", help="number of sentences (default 4)")
    p.add_argument("--max-tokens", type=int, default=24, metavar="N",
                   help="longest sentence, end of sentence included (default 24)")
    p.add_argument("--seed", type=int, default=1, help="of the random words (default 1)")
    p.add_argument("--device", default="cpu", help="torch device (default cpu)")
    args = p.parse_args()
    if args.sentences < 1 or args.max_tokens < 2:
        p.error("--sentences must be at least 1, --max-tokens at least 2")
    if args.target and not args.source:
        p.error("--target needs --source")

    model, task = load(args)
    model.eval().float().to(args.device)
    rng = random.Random(args.seed)
    translation = hasattr(model, "encoder")
    target_dict = task.target_dictionary
    source_dict = task.source_dictionary if translation else target_dict

    if args.source:
        sources = text_rows(source_dict, args.source, args.sentences, args.max_tokens)
    else:
        sources = random_rows(rng, source_dict, args.sentences, args.max_tokens)
    with torch.no_grad():
        if translation:
            if args.target:
                targets = text_rows(target_dict, args.target, len(sources), args.max_tokens)
                if len(targets) != len(sources):
                    p.error("%d source lines, %d target lines" % (len(sources), len(targets)))
            else:
                targets = random_rows(rng, target_dict, len(sources), args.max_tokens)
            tensors = record_translation(
                model, sources, targets, target_dict.pad(), target_dict.eos(), args.device
            )
        else:
            # The decoder reads an end of sentence first, then the text.
            rows = [[target_dict.eos()] + s[:-1] for s in sources]
            tensors = record_language(model, rows, target_dict.pad(), args.device)

    import fairseq

    metadata = {
        "source": "fairseq %s, torch %s" % (getattr(fairseq, "__version__", "?"), torch.__version__),
        "checkpoint": os.path.basename(args.checkpoint),
    }
    write_safetensors(args.output, tensors, metadata)
    for name, t in tensors.items():
        print("%-20s %s" % (name, list(t.shape)))


if __name__ == "__main__":
    main()
