"""Collects what agents produced: lease finished sessions, convert their rows, acknowledge. Standard library only."""

import json
import os
import urllib.request

GATEWAY = os.environ.get("GATEWAY_URL", "http://127.0.0.1:8080")
TOKEN = os.environ.get("ROLLOUT_GATEWAY_ADMIN_TOKEN", "")


def call(method, path, body=None):
    headers = {"content-type": "application/json"}
    if TOKEN:
        headers["authorization"] = f"Bearer {TOKEN}"
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(GATEWAY + path, data, headers, method=method)) as reply:
        return json.load(reply)


def convert(row):
    """A row with mask and logprobs as long as its tokens."""
    prompt = row["prompt_length"]
    return {
        "token_ids": row["token_ids"],
        "loss_mask": [0] * prompt + row["loss_mask"],
        "logprobs": [0.0] * prompt + row["logprobs"],
        "rollout": row["rollout_id"],
        "group": row["group_id"],
        "reward": row["reward"],
    }


def batches(sessions=64):
    while True:
        lease = call("GET", f"/traces?max={sessions}&wait_ms=30000")
        rows = [row for session in lease["sessions"] for row in session["traces"] if row["trainable"]]
        if rows:
            yield [convert(row) for row in rows]
        if lease["lease_id"]:  # Asked for the next batch, so this one is stored.
            call("POST", "/traces/ack", {"lease_id": lease["lease_id"]})


if __name__ == "__main__":
    for batch in batches():
        trained = sum(sum(row["loss_mask"]) for row in batch)
        print(f"{len(batch)} rows, {trained} tokens to train", flush=True)
