#!/usr/bin/env python3
"""The demo of quickstart.sh: waits for the server, asks one question, prints the text as it streams, saves the speech."""
import argparse
import base64
import http.client
import json
import os
import sys
import time
import urllib.parse
import wave

QUESTION = "What is the capital of France? Answer in two sentences."


def wait_until_ready(host, port, pid, seconds=60):
    for _ in range(seconds * 10):
        try:
            connection = http.client.HTTPConnection(host, port, timeout=5)
            connection.request("GET", "/ready")
            if connection.getresponse().status == 200:
                return
        except OSError:
            pass
        if pid and not os.path.exists(f"/proc/{pid}"):
            sys.exit("The server ended before it was ready: its last lines are above.")
        time.sleep(0.1)
    sys.exit(f"The server was not ready within {seconds} s.")


def ask(host, port):
    """Yields (text, sound bytes) pieces of one streamed chat answer; the sound bytes together are one WAV file."""
    body = {
        "model": "default",
        "modalities": ["text", "audio"],
        "audio": {"voice": "default", "format": "wav"},
        "stream": True,
        "max_tokens": 60,
        "temperature": 0,
        "messages": [{"role": "user", "content": QUESTION}],
    }
    connection = http.client.HTTPConnection(host, port, timeout=120)
    connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})
    response = connection.getresponse()
    if response.status != 200:
        sys.exit(f"The server answered {response.status}: {response.read().decode(errors='replace')}")
    for line in response:
        if not line.startswith(b"data: ") or line.strip() == b"data: [DONE]":
            continue
        event = json.loads(line[6:])
        if "error" in event:
            sys.exit(f"The stream ended with an error: {event['error']['message']}")
        for choice in event.get("choices", []):
            delta = choice.get("delta") or {}
            yield delta.get("content") or "", base64.b64decode((delta.get("audio") or {}).get("data") or "")


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--url", required=True)
    arguments.add_argument("--wav", required=True)
    arguments.add_argument("--server-pid", type=int)
    chosen = arguments.parse_args()
    url = urllib.parse.urlparse(chosen.url)
    wait_until_ready(url.hostname, url.port, chosen.server_pid)

    print(f"\nYou:  {QUESTION}\nomni: ", end="", flush=True)
    start = time.monotonic()
    first_sound = None
    sound = bytearray()
    for text, piece in ask(url.hostname, url.port):
        print(text, end="", flush=True)
        if piece and first_sound is None:
            first_sound = time.monotonic() - start
        sound += piece
    if not sound:
        sys.exit("\nThe answer came without sound.")
    # A streamed WAV cannot know its length: its samples follow the 44-byte header, which holds the true rate.
    rate = int.from_bytes(sound[24:28], "little")
    samples = bytes(sound[44:])
    with wave.open(chosen.wav, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(rate)
        out.writeframes(samples)
    print(f"\n\nSpeech: {os.path.abspath(chosen.wav)} ({len(samples) / 2 / rate:.1f} s, first sound after {first_sound:.2f} s)")
    print(f"""
Three things to try next:

1. curl -s {chosen.url}/v1/audio/speech -H 'Content-Type: application/json' \\
     -d '{{"input": "Good morning! This is speech from a single binary.", "response_format": "wav"}}' -o speech.wav

2. The OpenAI Python SDK (pip install openai):
     from openai import OpenAI
     client = OpenAI(base_url="{chosen.url}/v1", api_key="none")
     stream = client.chat.completions.create(model="default", stream=True,
         messages=[{{"role": "user", "content": "Tell me about the sea."}}])
     for event in stream:
         print(event.choices[0].delta.content or "", end="", flush=True)

3. {chosen.url}/metrics
""")


if __name__ == "__main__":
    main()
