#!/usr/bin/env python3
"""Measures our binary and its peers in turn, on models of the paper's
translation size with random weights, and prints one table of medians and
ratios.

    python3 testdata/peers/compare.py

It takes at most ten minutes, and needs Go, a Python with PyTorch (Debian: apt
install python3-torch libopenblas0-pthread) and one with the packages
onnxruntime, onnx and ctranslate2 (python3 -m venv venv && venv/bin/pip install
onnxruntime onnx ctranslate2). A peer that is missing is left out, and said so.

Every program is one process per number of threads that waits for requests;
they are asked in turn, round after round, so that all see the same machine.
Sources and outputs have 30 tokens. PyTorch and ONNX Runtime run the MemSizer
decoder: compared by the decoder's tokens per second. CTranslate2 runs a
Transformer: compared by whole translations.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
GREEDY = [(1, 1), (1, 8), (1, 64)]
BEAM = [(5, 1), (5, 32)]


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--work", default=os.path.join(os.environ.get("TMPDIR", "/tmp"), "memsizer-peers"),
                   help="folder for binaries and models, kept for the next time (about 2.5 GB)")
    p.add_argument("--torch-python", default="/usr/bin/python3", help="Python that has PyTorch")
    p.add_argument("--python", default=sys.executable, help="Python that has onnxruntime, onnx and ctranslate2")
    p.add_argument("--threads", default="1,2", help="numbers of threads")
    p.add_argument("--rounds", type=int, default=5, help="rounds, at most")
    p.add_argument("--minutes", type=float, default=8, help="start no request after this time")
    p.add_argument("--peers", default="torch,onnx,ctranslate2", help="which ones")
    p.add_argument("--dtypes", default="f16,i8", help="of our models")
    p.add_argument("--quick", action="store_true", help="greedy with batch 1 and 8, beam 5 with batch 1, one thread, one round")
    p.add_argument("--json", help="write every measurement to this file")
    return p.parse_args()


def environment(threads):
    """Without settings that change a peer's kernels, and with its threads."""
    e = {k: v for k, v in os.environ.items()
         if k not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE") and not k.startswith(("OMP_", "MKL_", "GOMP_", "MEMSIZER_"))}
    for k in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        e[k] = str(threads)
    e["PYTHONDONTWRITEBYTECODE"] = "1"
    return e


def say(text):
    print(text, file=sys.stderr, flush=True)


class Program:
    """A process that measures on request. name is a column of the table."""

    def __init__(self, name, command, threads, ours=False):
        self.name, self.threads, self.ours = name, threads, ours
        self.version = name
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            stderr=subprocess.DEVNULL, env=None if ours else environment(threads))
        if not ours:
            self.version = self.answer()["name"]
        if "reference BLAS" in self.version:
            self.close()
            sys.exit("PyTorch multiplies with the reference BLAS, ten times too slow: apt install libopenblas0-pthread")

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise EOFError("%s ended with status %s" % (self.name, self.process.wait()))
        return json.loads(line)

    def ask(self, beam, batch):
        """Tokens per second of whole translations and of the decoder alone."""
        if self.ours:
            print(self.threads, beam, batch, file=self.process.stdin, flush=True)
            a = self.answer()
            return a["tokens_per_second"], a["decoder"]["tokens_per_second"]
        print(beam, batch, 1, file=self.process.stdin, flush=True)
        a = self.answer()
        return tuple(a["tokens"] / a[k][0] if a[k] else None for k in ("seconds", "decoder"))

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def run(command, **more):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, **more)


def has(python, *modules):
    code = "; ".join("import " + m for m in modules)
    return subprocess.run([python, "-c", code], stderr=subprocess.DEVNULL).returncode == 0


def build_ours(work, dtypes):
    for name in ("convert", "run"):
        run(["go", "build", "-o", os.path.join(work, name), "./cmd/" + name], cwd=ROOT)
    for d in dtypes:
        run([os.path.join(work, "convert"), "synth", "-o", os.path.join(work, "mt-%s.msz" % d), "--preset", "mt", "--dtype", d])


def plan(o):
    """The programs: (column, command without threads, ours), built if need be."""
    script = lambda python, name, *more: [python, os.path.join(HERE, name), "--work", o.work, *more]
    build = lambda *command: run(list(command) + ["--build"], env=environment(os.cpu_count()), stderr=subprocess.DEVNULL)
    programs = []
    for d in o.dtypes.split(","):
        programs.append((d, [os.path.join(o.work, "run"), "bench", "--points", "-m", os.path.join(o.work, "mt-%s.msz" % d)], True))
    wanted = o.peers.split(",")
    if "torch" in wanted:
        if has(o.torch_python, "torch"):
            programs.append(("PyTorch f32", script(o.torch_python, "torch_memsizer.py"), False))
        else:
            say("%s has no torch: left out" % o.torch_python)
    if "onnx" in wanted:
        if has(o.python, "onnxruntime", "onnx") and has(o.torch_python, "torch"):
            if not os.path.exists(os.path.join(o.work, "decoder.onnx")):
                say("exporting the decoder step")
                run(script(o.torch_python, "onnx_export.py"), env=environment(os.cpu_count()), stderr=subprocess.DEVNULL)
            build(*script(o.python, "onnx_memsizer.py"))
            programs.append(("ONNX f32", script(o.python, "onnx_memsizer.py"), False))
            programs.append(("ONNX int8", script(o.python, "onnx_memsizer.py", "--int8"), False))
        else:
            say("%s has no onnxruntime and onnx, or there is no torch to export with: left out" % o.python)
    if "ctranslate2" in wanted:
        if has(o.python, "ctranslate2"):
            build(*script(o.python, "ctranslate2_transformer.py"))
            programs.append(("CT2 f32", script(o.python, "ctranslate2_transformer.py"), False))
            programs.append(("CT2 int8", script(o.python, "ctranslate2_transformer.py", "--int8"), False))
        else:
            say("%s has no ctranslate2: left out" % o.python)
    return programs


def measure(o, programs, points, begun):
    """{(threads, beam, batch, column): [(whole, decoder), ...]} and the versions."""
    results, versions = {}, {}
    for round_ in range(o.rounds):
        for threads in [int(n) for n in o.threads.split(",")]:
            started = []
            for name, command, ours in programs:
                more = [] if ours else ["--threads", str(threads)]
                started.append(o.running.setdefault((name, threads), None) or Program(name, command + more, threads, ours))
                o.running[name, threads] = started[-1]
                versions[name] = started[-1].version
            for beam, batch in points:
                for p in started:
                    if time.time() - begun > 60 * o.minutes and round_ > 0:
                        say("time is up after %d rounds" % round_)
                        return results, versions
                    at = time.time()
                    r = p.ask(beam, batch)
                    results.setdefault((threads, beam, batch, p.name), []).append(r)
                    say("round %d: %d threads, beam %d, batch %d: %s %.1f tokens/s (%.1f s)" % (
                        round_ + 1, threads, beam, batch, p.name, r[1] or r[0], time.time() - at))
    return results, versions


def processor():
    try:
        with open("/proc/cpuinfo") as f:
            names = [line.split(":")[1].strip() for line in f if line.startswith("model name")]
        return "%s, %d cores" % (names[0], len(names))
    except (OSError, IndexError):
        return "%d cores" % os.cpu_count()


def table(results, dtypes, columns):
    """A row per point: medians, and in brackets our median over the peer's."""
    def middle(point, column, part):
        values = [r[part] for r in results.get(point + (column,), []) if r[part]]
        return statistics.median(values) if values else None

    whole = [c for c in columns if c.startswith("CT2")]
    alone = [c for c in columns if not c.startswith("CT2")]
    heads = ["threads", "beam", "batch"]
    heads += ["decoder " + d for d in dtypes] + [c + " decoder" for c in alone]
    if whole:
        heads += ["whole " + d for d in dtypes] + [c + " whole" for c in whole]
    print("| " + " | ".join(heads) + " |")
    print("|" + "---:|" * len(heads))
    for point in sorted({k[:3] for k in results}):
        cells = [str(n) for n in point]
        for group, part in ((alone, 1), (whole, 0)):
            if not group and part == 0:
                continue
            ours = [middle(point, d, part) for d in dtypes]
            cells += ["%.1f" % v if v else "" for v in ours]
            for c in group:
                v = middle(point, c, part)
                times = ["%.2f×" % (x / v) for x in ours if x and v]
                cells.append("%.1f (%s)" % (v, ", ".join(times)) if v else "")
        print("| " + " | ".join(cells) + " |")


def main():
    o = arguments()
    points = GREEDY + BEAM
    if o.quick:
        points, o.rounds, o.threads = [(1, 1), (1, 8), (5, 1)], 1, "1"
    os.makedirs(o.work, exist_ok=True)
    if not shutil.which("go"):
        sys.exit("go is not in PATH")
    begun = time.time()
    dtypes = o.dtypes.split(",")
    build_ours(o.work, dtypes)
    programs = plan(o)
    o.running = {}
    load = os.getloadavg()[0]
    try:
        results, versions = measure(o, programs, points, begun)
    finally:
        for p in o.running.values():
            p.close()
    peers = [name for name, _, ours in programs if not ours]
    rounds = "-".join(str(n) for n in sorted({min(map(len, results.values())), max(map(len, results.values()))}))
    print("Tokens per second, medians of %s rounds; in brackets how many times as fast ours is (%s)." % (rounds, ", ".join(dtypes)))
    print("%s; load average %.1f before, %.1f after; %s; %.0f s in all.\n" % (
        processor(), load, os.getloadavg()[0], ", ".join(sorted({versions[p] for p in peers})) or "no peers", time.time() - begun))
    table(results, dtypes, peers)
    if o.json:
        with open(o.json, "w") as f:
            json.dump([{"threads": k[0], "beam": k[1], "batch": k[2], "program": k[3],
                        "whole": [r[0] for r in v], "decoder": [r[1] for r in v]} for k, v in results.items()], f, indent=1)


if __name__ == "__main__":
    main()
