"""What the peers have in common: the sizes of the paper's translation model,
the protocol with compare.py, and the sinusoids.

A peer is a process that measures on request. It reads lines of three numbers
from stdin, beam, batch and passes, and answers each with a line of JSON:
seconds of each pass for the whole and for the decoder alone, and the tokens
of a pass.
"""

import argparse
import json
import math
import os
import sys
import time

LAYERS, DIM, FFN, HEADS, VOCAB = 6, 1024, 4096, 16, 32768
CAUSAL, CROSS = 4, 32  # memory slots
LENGTH = 30  # tokens of every source and every output


def options(about):
    p = argparse.ArgumentParser(description=about)
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--work", default=".", help="folder of the models that were built")
    p.add_argument("--int8", action="store_true")
    p.add_argument("--build", action="store_true", help="write the model and end")
    return p.parse_args()


def sinusoid(position):
    """The position embedding of a token index, [sin | cos] of DIM/2 frequencies each."""
    half = DIM // 2
    freqs = [math.exp(-i * math.log(10000) / (half - 1)) for i in range(half)]
    return [math.sin((position + 2) * f) for f in freqs] + [math.cos((position + 2) * f) for f in freqs]


def serve(name, measure):
    """Answers requests until stdin ends. measure(beam, batch) runs one pass and
    returns the seconds of the decoder alone (or None) when it is over."""
    reply = sys.stdout
    sys.stdout = sys.stderr  # what libraries print
    print(json.dumps({"name": name, "pid": os.getpid()}), file=reply, flush=True)
    measure(1, 1)  # warms up
    for line in sys.stdin:
        beam, batch, passes = map(int, line.split())
        seconds, decoder = [], []
        for _ in range(passes):
            start = time.perf_counter()
            alone = measure(beam, batch)
            seconds.append(time.perf_counter() - start)
            if alone is not None:
                decoder.append(alone)
        print(json.dumps({"tokens": batch * LENGTH, "seconds": seconds, "decoder": decoder}), file=reply, flush=True)
