#!/usr/bin/python3
"""Makes the models under testdata/ from the full set of reference cases.

    python3 testdata/make_testdata.py REFERENCE_FOLDER

Needs torch (Debian's python3-torch 1.13 was used). The reference cases were written by the MemSizer authors' code
(github.com/jcyk/memsizer on fairseq 0.10.0): checkpoints, and what that code computes for them. This script keeps

- multi30k-en-de: the trained English-German model, its optimizer state and history dropped (18 MB become 6 MB), the
  first 40 sentences of Multi30k's test_2016_flickr (Elliott, Frank, Sima'an, Specia: Multi30K, 2016) with their
  translations and what the authors' code translates;
- a handful of the synthetic cases, as they are, with random weights and a vocabulary of letters.
"""
import json
import os
import shutil
import sys
import types

import torch

SENTENCES = 40
SYNTHETIC = ["mt-shared", "mt-separate-prenorm", "mt-full-memsizer", "mt-one-head-learned-pos", "mt-half", "mt-odd-dims",
             "transformer", "lm-adaptive-tied", "lm-gelu"]
REFUSED = ["os-system.pt", "truncated.pt", "nan-weight.pt", "missing-tensor.pt", "text.pt"]


def strip(source, target):
    saved = torch.load(source, map_location="cpu")
    for key in ("last_optimizer_state", "optimizer_history"):
        saved.pop(key, None)
    saved["extra_state"] = {"epoch": saved["extra_state"].get("train_iterator", {}).get("epoch")}
    torch.save(saved, target)


def trained(source, target):
    os.makedirs(target, exist_ok=True)
    strip(os.path.join(source, "checkpoint_best.pt"), os.path.join(target, "checkpoint_best.pt"))
    for name in ("dict.en.txt", "dict.de.txt", "bpe.codes"):
        shutil.copyfile(os.path.join(source, name), os.path.join(target, name))
    for ending in ("en", "de", "hypotheses.jsonl"):
        name = "test_2016_flickr." + ending
        with open(os.path.join(source, name), encoding="utf-8", newline="\n") as f:
            lines = [next(f) for _ in range(SENTENCES)]
        with open(os.path.join(target, name), "w", encoding="utf-8", newline="\n") as f:
            f.writelines(lines)
    with open(os.path.join(source, "search.jsonl"), encoding="utf-8") as f:
        kept = [line for line in f if json.loads(line)["sentence"] < 4]
    with open(os.path.join(target, "search.jsonl"), "w", encoding="utf-8") as f:
        f.writelines(kept)


def main(reference):
    here = os.path.dirname(os.path.abspath(__file__))
    trained(os.path.join(reference, "multi30k-en-de"), os.path.join(here, "multi30k-en-de"))
    for name in SYNTHETIC:
        target = os.path.join(here, name)
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(os.path.join(reference, name), target, copy_function=shutil.copyfile)
    os.makedirs(os.path.join(here, "refuse"), exist_ok=True)
    for name in REFUSED:
        shutil.copyfile(os.path.join(reference, "refuse", name), os.path.join(here, "refuse", name))


if __name__ == "__main__":
    # unpickling fairseq's settings needs only the class
    sys.modules.setdefault("fairseq", types.ModuleType("fairseq"))
    main(sys.argv[1])
