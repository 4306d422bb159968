"""Reads NDJSON {"messages", "tools"} and writes NDJSON {"ids"}: what transformers' apply_chat_template gives for a model directory.

Usage: apply_chat_template.py MODEL_DIR    (needs transformers and jinja2; the engine's own venv has them)
"""
import json
import sys

from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
for line in sys.stdin:
    request = json.loads(line)
    for message in request["messages"]:
        # Clients say "no text" by null, which this template refuses; "" is the spelling that it takes.
        if message.get("content") is None:
            message["content"] = ""
        for call in message.get("tool_calls") or []:
            arguments = call["function"]["arguments"]
            if isinstance(arguments, str):
                call["function"]["arguments"] = json.loads(arguments)
    ids = tokenizer.apply_chat_template(
        request["messages"], tools=request.get("tools"), add_generation_prompt=True, tokenize=True, return_dict=False
    )
    print(json.dumps({"ids": list(ids)}), flush=True)
