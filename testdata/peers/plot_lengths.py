#!/usr/bin/env python3
"""Plots generation speed and memory by length, for MemSizer and softmax
attention.

    run bench --lengths -m lm.msz -m lm-softmax.msz --json > lengths.json
    python3 -m venv venv && venv/bin/pip install matplotlib
    venv/bin/python testdata/peers/plot_lengths.py lengths.json lengths.svg
"""

import json
import sys

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.hashsalt": "lengths", "svg.fonttype": "none", "font.size": 9})
import matplotlib.pyplot as plt


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1]) as f:
        report = json.load(f)
    figure, (speed, memory) = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
    x = []
    for length in report["lengths"]:
        points = [p for p in length["points"] if not p.get("skipped")]
        model = length["model"]
        label = "%s, %s" % ({"memsizer": "MemSizer", "softmax": "softmax"}[model["decoder_attention"]], model["dtype"])
        lengths = [p["length"] for p in points]
        x = sorted(set(x) | set(lengths))
        speed.plot(lengths, [p["tokens_per_second"] for p in points], "o-", label=label, markersize=3)
        memory.plot(lengths, [p["resident_bytes"] / 1e9 for p in points], "o-", label=label, markersize=3)
    for axes, what in ((speed, "tokens per second"), (memory, "resident memory, GB")):
        axes.set_xscale("log", base=2)
        axes.set_xticks(x, ["{:,}".format(n) for n in x])
        axes.set_ylim(bottom=0)
        axes.set_xlabel("length, tokens")
        axes.set_title(what, loc="left", fontsize=9)
        axes.grid(alpha=0.3)
    speed.legend(frameon=False)
    figure.savefig(sys.argv[2], metadata={"Date": None})


if __name__ == "__main__":
    main()
