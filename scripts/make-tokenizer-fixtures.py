"""Trains the small tokenizers of test/fixtures/tokenizers and records what the Rust crate makes of texts and ids.

usage: python scripts/make-tokenizer-fixtures.py      (with tokenizers==0.23.2, see scripts/prepare-tokenizers.mjs)

Each folder is a model directory of one structure: byte-level BPE with the split patterns of well-known families, BPE with byte
fallback, Unigram with Metaspace (whose training is not deterministic). `expected.json` holds ids of texts (no special tokens added) and texts of ids (special tokens kept).
"""

import json
import random
from pathlib import Path

import tokenizers
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "test/fixtures/tokenizers"

QWEN = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
LLAMA = QWEN.replace(r"\p{N}| ?", r"\p{N}{1,3}| ?")
UPPER, LOWER = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}", r"\p{Ll}\p{Lm}\p{Lo}\p{M}"
CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
O200K = "|".join([
    rf"[^\r\n\p{{L}}\p{{N}}]?[{UPPER}]*[{LOWER}]+{CONTRACTION}", rf"[^\r\n\p{{L}}\p{{N}}]?[{UPPER}]+[{LOWER}]*{CONTRACTION}",
    r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n/]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+",
])
DEEPSEEK = [
    r"\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+",
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
]

PROSE = [
    "The quick brown fox jumps over the lazy dog. Don't we'll they've I'm it's you're he'd.",
    "Hello, world! What is the weather in Paris today? It is 21 degrees; 1234567 people agree.",
    "def main(argv):\n    for i in range(10):\n        print(i, argv[i])\n    return None\n\n\n",
    'const f = (x) => { return x ** 2; };\n\nif (a !== b) {\n\tthrow new Error("no");\n}\n',
    '{"name": "search", "arguments": {"query": "cats", "limit": 10}}',
    "你好，世界。今天天气很好。中文分词没有空格。", "こんにちは世界。カタカナとひらがな。", "안녕하세요 세계", "Привет, мир! Как дела?",
    "naïve café résumé über straße", "e\u0301 a\u0323 combining", "👍 👩‍👩‍👧 🎉🎉", "    indented    text\n\n\twith\ttabs",
]
TEXTS = [
    "", " ", "\n", "a", "Hello, world!", "don't WE'LL I'M they'Ve it'S 'tis '", "x = a . b ;  ", "\r\n\r\n\n \n", "    four spaces",
    "12345678 3.14 1,000 ٣٤٥ ⅷ²", "aAbB camelCase HTMLParser2 ÀÉ àé", "你好，世界 hello 世界1", "こんにちは カタカナ", "안녕 세계",
    "e\u0301 n\u0303 a\u0323\u0307 \u0301x", "ſ 'ſ 'K K Å ﬁ", "👩‍👩‍👧🏳️‍🌈👍🏽", "𝒳𝔶 𠮷", "\u0000\u0007\u001b\u0085\ufeff\u00a0\u3000\u2028",
    "<|im_start|>user\nHi<|im_end|>\n", "<|im_start|>", "<|im_", "<|im_start|><|im_start|>", "a<|im_end|>b <|im_end|> c\n<|im_end|>\n\nd",
    "<think>\n\n</think>", "<tool_call>{\"a\": 1}</tool_call>", "[INST] x [/INST]", "</s><s><unk>", "▁a ▁▁", "<0x41><0xE4>", "éclair Éclair",
    "=" * 50, "a" * 200, " " * 100, "\n" * 70, "ab" * 100, "漢" * 90, "1" * 100, "\u0301" * 60, "👍" * 40, "a  lstrip  b  rstrip  c",
    "word sword words word. (word) wordé", "x<pad>y <pad> z", "İ\u0130i NORMALIZED normalized Normalized",
]
FRAGMENTS = TEXTS + PROSE + ["\u00e9", " x", "\ud7ff", "\ue000", "\uffff", "'", "\t", "\U0001f600", "\U000e0041", "0", "-", "/"]
SPECIALS = [
    AddedToken("<|im_start|>", special=True), AddedToken("<|im_end|>", special=True), AddedToken("<|im_end|>\n", special=True),
    AddedToken("<think>", special=False, normalized=False), AddedToken("</think>", special=False, normalized=False),
    AddedToken("<tool_call>", special=False, normalized=False), AddedToken("</tool_call>", special=False, normalized=False),
]


def byte_level(name, stages, normalizer=None, ignore_merges=False, added=SPECIALS, final=None):
    tokenizer = Tokenizer(models.BPE(ignore_merges=ignore_merges))
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    final = final or pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([*stages, final])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=700, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(PROSE * 3, trainer)
    tokenizer.add_tokens(added)
    return name, tokenizer


def split(pattern, behavior="isolated", invert=False):
    return pre_tokenizers.Split(Regex(pattern), behavior=behavior, invert=invert)


def byte_fallback(name, normalizer, decoder, pre_tokenizer=None):
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.decoder = decoder
    if pre_tokenizer is not None:
        tokenizer.pre_tokenizer = pre_tokenizer
    first = ["<unk>", "<s>", "</s>", *[f"<0x{byte:02X}>" for byte in range(256)]]
    tokenizer.train_from_iterator(
        [w for text in PROSE[:5] * 3 for w in text.split("\n")],
        trainers.BpeTrainer(vocab_size=700, show_progress=False, special_tokens=first, max_token_length=16),
    )
    tokenizer.add_special_tokens(["<unk>", "<s>", "</s>"])
    tokenizer.add_tokens([AddedToken("\n\n", normalized=False), AddedToken("<tool_call>", normalized=False)])
    return name, tokenizer


def unigram(name):
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="always")
    trainer = trainers.UnigramTrainer(vocab_size=400, show_progress=False, special_tokens=["<unk>", "<s>", "</s>"], unk_token="<unk>")
    tokenizer.train_from_iterator(PROSE[:5] * 3, trainer)
    return name, tokenizer


def space(scheme, split):
    return pre_tokenizers.Metaspace(prepend_scheme=scheme, split=split)


FLAGS = SPECIALS + [
    AddedToken("lstrip", lstrip=True, normalized=False), AddedToken("rstrip", rstrip=True, normalized=False),
    AddedToken("word", single_word=True, normalized=False), AddedToken("<pad>", lstrip=True, rstrip=True, special=True),
    AddedToken("Normalized", normalized=True), AddedToken("e\u0301clair", normalized=True),
]
METASPACE = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]

TOKENIZERS = [
    byte_level("qwen-style", [split(QWEN)], normalizers.NFC()),
    byte_level("llama-style", [split(LLAMA)], ignore_merges=True),
    byte_level("deepseek-style", [split(p) for p in DEEPSEEK], normalizers.Sequence([])),
    byte_level("o200k-style", [split(O200K)]),
    byte_level("gpt2-style", [pre_tokenizers.Digits(individual_digits=True)], final=pre_tokenizers.ByteLevel(add_prefix_space=False)),
    byte_level("removed-inverted-style", [split(QWEN, "removed", True)], normalizers.NFKC()),
    byte_level("token-flags", [split(QWEN)], normalizers.NFC(), added=FLAGS),
    byte_fallback(
        "gemma-style", normalizers.Replace(" ", "▁"), decoders.Sequence(METASPACE), pre_tokenizers.Split(" ", "merged_with_previous")
    ),
    byte_fallback(
        "llama2-style",
        normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]),
        decoders.Sequence([*METASPACE, decoders.Strip(" ", 1, 0)]),
    ),
    byte_fallback("metaspace-style", None, decoders.Sequence([*METASPACE, decoders.Strip(" ", 1, 0)]), space("first", False)),
    byte_fallback("metaspace-split-style", None, decoders.Sequence(METASPACE), space("always", True)),
    unigram("unigram-style"),
]

for name, tokenizer in TOKENIZERS:
    folder = OUT / name
    folder.mkdir(parents=True, exist_ok=True)
    definition = json.loads(tokenizer.to_str())
    # The trainer makes byte tokens added ones; in real tokenizers they are not.
    definition["added_tokens"] = [token for token in definition["added_tokens"] if not token["content"].startswith("<0x")]
    (folder / "tokenizer.json").write_text(json.dumps(definition, ensure_ascii=False) + "\n")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    pick = random.Random(11)
    texts = TEXTS + ["".join(pick.choice(FRAGMENTS) for _ in range(pick.randint(2, 6))) for _ in range(80)]
    size = tokenizer.get_vocab_size()
    sequences = [[pick.randrange(size) for _ in range(pick.randint(1, 10))] for _ in range(60)]
    sequences += [[pick.randrange(min(size, 270)) for _ in range(pick.randint(1, 8))] for _ in range(60)] + [[size + 5, 40], [40, size + 5, 300]]
    encoded = [tokenizer.encode(text, add_special_tokens=False).ids for text in texts]
    config = {"eos_token": "<|im_end|>" if "<|im_end|>" in tokenizer.get_vocab() else "</s>", "clean_up_tokenization_spaces": True}
    (folder / "tokenizer_config.json").write_text(json.dumps(config) + "\n")
    expected = {
        "made_by": "scripts/make-tokenizer-fixtures.py",
        "tokenizers": tokenizers.__version__,
        "texts": [
            {"text": text, "ids": ids, "decoded": tokenizer.decode(ids, skip_special_tokens=False)} for text, ids in zip(texts, encoded)
        ],
        "sequences": [{"ids": ids, "decoded": tokenizer.decode(ids, skip_special_tokens=False)} for ids in sequences],
    }
    (folder / "expected.json").write_text(json.dumps(expected) + "\n")
    print(name, size, len(texts), "texts", len(sequences), "sequences")
