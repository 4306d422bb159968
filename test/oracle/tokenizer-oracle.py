"""The Rust crate `tokenizers` as an oracle: one JSON request a line, one answer a line, ids without added special tokens.

{"model": DIR, "texts": [...]} -> {"version", "ids": [[...]], "decoded": [...]}   decoded with special tokens kept
{"model": DIR, "ids": [[...]]} -> {"version", "decoded": [...]}
{"model": DIR, "time": [...], "rounds": N} -> {"version", "ms": [...]}            one encode call a text, the fastest of each round
"""

import json
import sys
import time

import tokenizers

loaded = {}


def load(directory):
    if directory not in loaded:
        loaded.clear()
        loaded[directory] = tokenizers.Tokenizer.from_file(f"{directory}/tokenizer.json")
    return loaded[directory]


for line in sys.stdin:
    request = json.loads(line)
    tokenizer = load(request["model"])
    answer = {"version": tokenizers.__version__}
    if "time" in request:
        answer["ms"] = []
        for _ in range(request["rounds"]):
            start = time.perf_counter()
            for text in request["time"]:
                tokenizer.encode(text, add_special_tokens=False)
            answer["ms"].append((time.perf_counter() - start) * 1000)
    elif "texts" in request:
        answer["ids"] = [tokenizer.encode(text, add_special_tokens=False).ids for text in request["texts"]]
        answer["decoded"] = [tokenizer.decode(ids, skip_special_tokens=False) for ids in answer["ids"]]
    else:
        answer["decoded"] = [tokenizer.decode(ids, skip_special_tokens=False) for ids in request["ids"]]
    print(json.dumps(answer), flush=True)
