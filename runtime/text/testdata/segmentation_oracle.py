"""Records how subword-nmt, fastBPE, sentencepiece and fairseq's encoders segment
awkward lines: the cases of TestSegmentationCases.

    python3 -m venv /tmp/seg
    /tmp/seg/bin/pip install subword-nmt==0.3.8 sentencepiece==0.1.99 protobuf regex fastBPE
    FAIRSEQ=…/fairseq /tmp/seg/bin/python testdata/segmentation_oracle.py testdata/segmentation

FAIRSEQ is a checkout of fairseq; of it only data/encoders/gpt2_bpe_utils.py and
byte_utils.py are run. sentencepiece gives the same from 0.1.94 to 0.2.1; since 0.2.2
equally likely segmentations and overlapping user-defined symbols may come out
differently. Each case is a folder with config.json, the files that the
segmentation needs (large ones gzipped) and cases.jsonl. Larger sets, which are not
kept in the repository: a seed, the lines per case and a text to train on, then

    SEGMENTATION_CASES=/tmp/cases go test -run Segmentation ./runtime/text
"""
import collections
import contextlib
import gzip
import importlib.util
import io
import json
import os
import random
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path = [p for p in sys.path if os.path.abspath(p or ".") != HERE]

os.environ["PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION"] = "python"
import fastBPE  # noqa: E402
import sentencepiece as spm  # noqa: E402
from subword_nmt import apply_bpe, learn_bpe  # noqa: E402

CORPUS = """
The lighthouse keeper counted seven ships before breakfast and nine after it.
She's sure that they'd've gone by 10:45, but we'll see; it isn't far.
A cat sat on the mat, and the mat didn't mind the cat at all.
In the old harbour the fishermen mended nets, sang songs and told lies.
Der Leuchtturmwärter zählte sieben Schiffe, größer als alle früheren.
Äpfel, Öl und Übermut: die Straße führt geradeaus zum Hafen.
Le gardien du phare n'a pas vu l'orage qui s'approchait à l'ouest.
Où est-ce que les pêcheurs naïfs ont caché leurs œufs ?
Смотритель маяка считал корабли до завтрака и после него.
灯台守は朝食の前に七隻の船を数えた。港は静かだった。
守塔人在早餐前数了七艘船。港口很安静。
등대지기는 아침 식사 전에 배 일곱 척을 세었다.
Prices rose from 1,200 to 3,450.50 within 12 months (see page 7).
unbelievable unbelievably believable believing believer believed
walking walked walker talks talking talked talker stalking stalked
low lower lowest slow slower slowest below bellow yellow yellower
aaaa aaa aaaaa aa aaaaaaa abababab ababab abcabcabc
"""
WORDS = CORPUS.split()
ODD = (
    "\u00a0\u3000\u2009\u200b\u2028\u0085\t\x0b\x0c\x1c\x1f\u1680 "
    "\u2581\u2581@@#&<>/\\'\"\u2019\u201c._-+*0123456789"
    "\ufb01\u00bd\u2116\uff21\uff42\uff11\u2460\u00c5\u212b\u0041\u030a\u1e9b\u0323\ufdfa\u3392"
    "\u0130\u0131\u00df\u1e9e\u03a3\u03c2\uac00\u1100\u1161\u11a8\u0301\u0308\u200d\ufe0f"
    "\u4e00\u3042\u30a2\uff76\uff9e\u05d0\u0627\u0644\u0e01\u0e33\u0f0b"
    "\U0001f642\U0001f469\U0001f1e9\U0001d400\U00020000\ufffd\x7f\x80\xad\xff\u0100\u01a0"
)
SYMBOLS = ["<ent>", "[NAME]", "walk", "\u2581tok", "7", "U.S.A."]


def lines(rng, count, words):
    """Lines of words, parts of words and odd characters."""
    out = ["", " ", "  a  b  ", "\u2581", "\u2581\u2581a \u2581", "a", "\u3000", "x\u00a0y", "\t\t", "\u00a8 \u00b4"]
    while len(out) < count:
        parts = []
        for _ in range(rng.randint(1, 12)):
            kind = rng.random()
            word = rng.choice(words)
            if kind < 0.5:
                parts.append(word)
            elif kind < 0.6:
                i = rng.randrange(len(word))
                parts.append(word[i:] + rng.choice(words)[: rng.randint(0, 4)])
            elif kind < 0.75:
                parts.append("".join(rng.choice(ODD) for _ in range(rng.randint(1, 6))))
            elif kind < 0.85:
                parts.append(rng.choice(SYMBOLS) + rng.choice(["", word, rng.choice(SYMBOLS)]))
            elif kind < 0.9:
                parts.append(rng.choice("abelw") * rng.randint(1, 40))
            elif kind < 0.95:
                parts.append(chr(rng.choice([rng.randint(1, 0x2FF), rng.randint(0x300, 0xD7FF), rng.randint(0xE000, 0x1FFFF)])))
            else:
                parts.append(word.upper())
            parts.append(rng.choice([" ", " ", " ", "", "  ", rng.choice(ODD)]))
        line = "".join(parts)
        if "\n" not in line and "\r" not in line and "\0" not in line:
            out.append(line)
    return out


class Out:
    """One case folder."""

    def __init__(self, root, name, **config):
        self.path = os.path.join(root, name)
        shutil.rmtree(self.path, ignore_errors=True)
        os.makedirs(self.path)
        self.json("config.json", config)
        self.cases = open(os.path.join(self.path, "cases.jsonl"), "w", encoding="utf8")

    def json(self, name, value):
        with open(os.path.join(self.path, name), "w", encoding="utf8") as f:
            json.dump(value, f)

    def file(self, name, data):
        if len(data) > 20000:
            with open(os.path.join(self.path, name + ".gz"), "wb") as f:
                f.write(gzip.compress(data, 9, mtime=0))
        else:
            with open(os.path.join(self.path, name), "wb") as f:
                f.write(data)

    def add(self, **case):
        self.cases.write(json.dumps(case) + "\n")


def damaged(rng, tokens):
    """Some of the tokens, in an order that no encoder writes."""
    return [t for t in tokens if rng.random() < 0.8] if rng.random() < 0.7 else rng.sample(tokens, len(tokens))


# sentencepiece

SP = {
    "sp-unigram": dict(model_type="unigram", vocab_size=400, normalization_rule_name="identity"),
    "sp-unigram-nmt-nfkc-cf": dict(model_type="unigram", vocab_size=350, normalization_rule_name="nmt_nfkc_cf", user_defined_symbols=SYMBOLS),
    "sp-unigram-bytes": dict(model_type="unigram", vocab_size=600, byte_fallback=True, normalization_rule_name="identity", split_digits=True),
    "sp-unigram-suffix": dict(model_type="unigram", vocab_size=380, treat_whitespace_as_suffix=True, normalization_rule_name="identity", user_defined_symbols=SYMBOLS[:3], character_coverage=0.98),
    "sp-unigram-as-is": dict(model_type="unigram", vocab_size=380, add_dummy_prefix=False, remove_extra_whitespaces=False, normalization_rule_name="identity", split_by_whitespace=False, allow_whitespace_only_pieces=True, unk_surface="<?>"),
    "sp-bpe": dict(model_type="bpe", vocab_size=420, normalization_rule_name="identity", user_defined_symbols=SYMBOLS),
    "sp-bpe-bytes": dict(model_type="bpe", vocab_size=650, byte_fallback=True, normalization_rule_name="identity", control_symbols=["<ctl>"], unk_piece="[unk]", unk_surface=" ?? "),
    "sp-bpe-suffix": dict(model_type="bpe", vocab_size=380, treat_whitespace_as_suffix=True, remove_extra_whitespaces=False, normalization_rule_name="identity", character_coverage=0.98),
    "sp-bpe-rules": dict(model_type="bpe", vocab_size=380, character_coverage=0.98),
    "sp-char": dict(model_type="char", vocab_size=120, normalization_rule_name="identity", user_defined_symbols=SYMBOLS),
    "sp-word": dict(model_type="word", vocab_size=100, normalization_rule_name="identity", user_defined_symbols=SYMBOLS[:2], pad_id=3),
}
# Left sides and right sides of the rules of sp-bpe-rules, hexadecimal.
RULES = "61 62 63\t58 59\n61 62\t20\n41 30A\tC5\nE4\t61 65\nDF\t73 73\n3000\t20\n2581\t5F\n77\t\n1F642\t3A 29\n"


def train(options, corpus, rules):
    model = io.BytesIO()
    if rules:
        options = dict(options, normalization_rule_tsv=rules)
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(corpus), model_writer=model, hard_vocab_limit=False, minloglevel=2, num_threads=1, **options
    )
    return model.getvalue()


def record_sentencepiece(root, name, model, rng, count, words):
    sp = spm.SentencePieceProcessor(model_proto=model)
    out = Out(root, name, kind="sentencepiece")
    out.file("model", model)
    for line in lines(rng, count, words):
        pieces, ids = sp.encode(line, out_type=str), sp.encode(line)
        out.add(**{"in": line, "pieces": pieces, "ids": ids, "decoded": sp.decode(pieces), "decoded_ids": sp.decode(ids)})
        ids = damaged(rng, ids) + [rng.randrange(sp.get_piece_size()) for _ in range(rng.randint(0, 3))]
        out.add(ids=ids, decoded_ids=sp.decode(ids))


def unused(model):
    """The same model with every third piece marked as not used."""
    from sentencepiece import sentencepiece_model_pb2 as pb

    m = pb.ModelProto.FromString(model)
    for i, p in enumerate(m.pieces):
        if p.type == p.NORMAL and len(p.piece) > 1 and i % 3 == 0:
            p.type = p.UNUSED
    return m.SerializeToString()


def sentencepiece_cases(root, rng, count, corpus, words):
    rules = os.path.join(root, "rules.tsv")
    for name, options in SP.items():
        with open(rules, "w") as f:
            f.write(RULES)
        model = train(options, corpus, rules if name == "sp-bpe-rules" else None)
        record_sentencepiece(root, name, model, rng, count, words)
        if name in ("sp-unigram", "sp-bpe"):
            with contextlib.suppress(ImportError):  # needs protobuf
                record_sentencepiece(root, name + "-unused", unused(model), rng, count, words)
    os.remove(rules)


# subword-nmt and fastBPE


def learn(corpus, merges, marked):
    """BPE by counting; marked gives the symbols of a word before merging."""
    counts = collections.Counter(w for line in corpus for w in line.split())
    table = {w: marked(w) for w in counts}
    codes = []
    while len(codes) < merges:
        pairs = collections.Counter()
        for w, s in table.items():
            for p in zip(s, s[1:]):
                pairs[p] += counts[w]
        if not pairs:
            break
        best = max(pairs, key=lambda p: (pairs[p], p))
        codes.append((best, pairs[best]))
        for w, s in table.items():
            i, new = 0, []
            while i < len(s):
                if tuple(s[i : i + 2]) == best:
                    new.append(s[i] + s[i + 1])
                    i += 2
                else:
                    new.append(s[i])
                    i += 1
            table[w] = new
    return codes


def subword_nmt_cases(root, rng, count, corpus, words):
    text = io.StringIO("\n".join(corpus))
    codes02 = io.StringIO()
    with contextlib.redirect_stderr(io.StringIO()):
        learn_bpe.learn_bpe(text, codes02, 300, min_frequency=1)
    codes02 = codes02.getvalue()
    body = codes02.split("\n")[1:-1]
    # Repeated lines and other ways to make the same symbol.
    odd = "#version: 0.2\n" + "\n".join(rng.sample(body, len(body)) + ["l ow", "lo w", "l ow</w>", "lo w</w>"] + body[:40]) + "\n\n"
    codes01 = "".join("%s %s\n" % p for p, _ in learn(corpus, 300, lambda w: list(w) + ["</w>"]))
    variants = {
        "bpe-02": (codes02, {}),
        "bpe-01": (codes01, {}),
        "bpe-02-odd": (odd.replace("\n", "\r\n"), {}),
        "bpe-02-merges": (codes02, dict(merges=50)),
        "bpe-02-separator": (codes02, dict(separator="\uffed ~")),
        "bpe-02-vocabulary": (codes02, dict(threshold=4, vocabulary=True)),
        "bpe-01-vocabulary": (codes01, dict(threshold=5, vocabulary=True)),
        "bpe-02-odd-vocabulary": (odd, dict(threshold=3, vocabulary=True)),
        "bpe-02-glossaries": (codes02, dict(glossaries=["<ent>", r"\[NAME\]", r"wal[kl]", r"\d+", r"\w{,2}-(a|b)?", "U.S.A."], vocabulary=True, threshold=2)),
        "bpe-01-glossaries": (codes01, dict(glossaries=["aa|b", r"[^\s\w]+", r"\u4e00", "(l)(o)w"])),
    }
    for name, (codes, o) in variants.items():
        out = Out(root, name, kind="subword_nmt", **o)
        out.file("codes", codes.encode())
        # As in fairseq, the codes are read in Python's text mode.
        open_codes = lambda: io.TextIOWrapper(io.BytesIO(codes.encode()), encoding="utf8")  # noqa: E731
        separator = o.get("separator", "@@")
        vocabulary = None
        if "vocabulary" in o:
            plain = apply_bpe.BPE(open_codes(), separator=separator)
            counts = collections.Counter(p for line in corpus for p in plain.process_line(line).split())
            vocab = "".join("%s %d\n" % p for p in counts.most_common())
            out.file("vocab", vocab.encode())
            vocabulary = apply_bpe.read_vocabulary(io.StringIO(vocab), o["threshold"])
        bpe = apply_bpe.BPE(open_codes(), o.get("merges", -1), separator, vocabulary, o.get("glossaries"))
        for line in lines(rng, count, words):
            encoded = bpe.process_line(line)
            out.add(**{"in": line, "out": encoded, "decoded": (encoded + " ").replace(separator + " ", "").rstrip()})


def fastbpe_cases(root, rng, count, corpus, words):
    codes = learn(corpus, 300, lambda w: list(w[:-1]) + [w[-1] + "</w>"])
    seen, unique = set(), []
    for (a, b), n in codes:
        if a + b not in seen:
            seen.add(a + b)
            unique.append("%s %s %d\n" % (a, b, n))
    for name in ("fastbpe", "fastbpe-vocabulary"):
        out = Out(root, name, kind="fastbpe", vocabulary=name != "fastbpe")
        out.file("codes", "".join(unique).encode())
        path = os.path.join(out.path, "codes")
        bpe = fastBPE.fastBPE(path)
        if name != "fastbpe":
            counts = collections.Counter(p for line in corpus for p in bpe.apply([line])[0].split(" ") if p)
            out.file("vocab", "".join("%s %d\n" % p for p in counts.most_common() if p[1] > 1).encode())
            bpe = fastBPE.fastBPE(path, os.path.join(out.path, "vocab"))
        for line in lines(rng, count, words):
            encoded = bpe.apply([line])[0]
            out.add(**{"in": line, "out": encoded, "decoded": (encoded + " ").replace("@@ ", "").rstrip()})


# fairseq's own


def fairseq_module(name):
    path = os.path.join(os.environ["FAIRSEQ"], "fairseq/data/encoders", name + ".py")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def gpt2_cases(root, rng, count, corpus, words):
    utils = fairseq_module("gpt2_bpe_utils")
    out = Out(root, "gpt2", kind="gpt2")
    to_unicode = utils.bytes_to_unicode()
    marked = ["".join(to_unicode[b] for b in (" " + w).encode()) for line in corpus for w in line.split()]
    codes = [p for p, _ in learn([" ".join(marked)], 300, list)]
    pieces = list(to_unicode.values()) + [a + b for a, b in codes]
    encoder = {p: i * 3 + 1 for i, p in enumerate(dict.fromkeys(pieces))}
    out.json("encoder.json", encoder)
    out.file("vocab.bpe", ("#version: 0.2\n" + "".join("%s %s\n" % p for p in codes)).encode())
    bpe = utils.get_encoder(os.path.join(out.path, "encoder.json"), os.path.join(out.path, "vocab.bpe"))
    for line in lines(rng, count, words):
        ids = bpe.encode(line)
        out.add(**{"in": line, "out": " ".join(map(str, ids)), "decoded": bpe.decode(ids)})
        ids = damaged(rng, ids) + rng.choice([[], ["<unk>"], ["<mask>", encoder["a"]]])
        out.add(symbols=" ".join(map(str, ids)), decoded=bpe.decode(ids))


def byte_cases(root, rng, count, corpus, words):
    utils = fairseq_module("byte_utils")

    def encode_bytes(x):
        return " ".join(utils.byte_encode(x).replace(" ", "\u2581"))

    def decode_bytes(x):
        return utils.smart_byte_decode(x.replace(" ", "").replace("\u2581", " "))

    encoded = [utils.byte_encode(line) for line in corpus]
    model = train(dict(model_type="bpe", vocab_size=300, normalization_rule_name="identity"), encoded, None)
    sp = spm.SentencePieceProcessor(model_proto=model)
    for kind, encode, decode in (
        ("bytes", encode_bytes, decode_bytes),
        ("byte_bpe", lambda x: " ".join(sp.encode(utils.byte_encode(x), out_type=str)), decode_bytes),
        ("characters", lambda x: " ".join(x.replace(" ", "\u2581")), lambda x: x.replace(" ", "").replace("\u2581", " ")),
    ):
        out = Out(root, kind, kind=kind)
        if kind == "byte_bpe":
            out.file("model", model)
        for line in lines(rng, count, words):
            symbols = encode(line)
            out.add(**{"in": line, "out": symbols, "decoded": decode(symbols)})
            symbols = " ".join(damaged(rng, symbols.split(" ")))
            out.add(symbols=symbols, decoded=decode(symbols))


def main():
    root = sys.argv[1]
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 40
    corpus, words = CORPUS.strip().split("\n"), WORDS
    if len(sys.argv) > 4:
        with open(sys.argv[4], encoding="utf8") as f:
            corpus = [line.strip() for line in f if line.strip()]
        words = sorted(set(WORDS + [w for line in corpus for w in line.split()]))
    os.makedirs(root, exist_ok=True)
    for make in (sentencepiece_cases, subword_nmt_cases, fastbpe_cases, gpt2_cases, byte_cases):
        make(root, random.Random(seed), count, corpus, words)


main()
