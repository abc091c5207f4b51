"""Qwen3-Omni over HTTP: the golden conversations, as a user of OpenAI's client sends them. Cases are found by listing the folder."""
import base64
import json
import os
import pathlib
import struct
import unittest
import urllib.request

from omni_server import TIMEOUT_S, Server

GOLDEN = pathlib.Path(os.environ.get("OMNI_GOLDEN_DIR") or pathlib.Path(__file__).resolve().parents[3] / "shared" / "golden") / "qwen3_omni"


def floats(path, name):
    """A tensor of F32 values of a safetensors file."""
    data = path.read_bytes()
    header_bytes = struct.unpack("<Q", data[:8])[0]
    entry = json.loads(data[8:8 + header_bytes])[name]
    assert entry["dtype"] == "F32"
    first, end = entry["data_offsets"]
    return struct.unpack(f"<{(end - first) // 4}f", data[8 + header_bytes + first:8 + header_bytes + end])


def wav(samples, rate=16000):
    """A WAV file of 32-bit float samples, mono: nothing is rounded."""
    content = struct.pack(f"<{len(samples)}f", *samples)
    head = struct.pack("<4sIHHIIHH", b"fmt ", 16, 3, 1, rate, rate * 4, 4, 32)
    return struct.pack("<4sI4s", b"RIFF", 4 + len(head) + 8 + len(content), b"WAVE") + head + struct.pack("<4sI", b"data", len(content)) + content


def pcm(data):
    """Samples of a WAV file of 16-bit sound."""
    body = data[data.index(b"data") + 8:]
    return [value / 32768 for value in struct.unpack(f"<{len(body) // 2}h", body[:len(body) // 2 * 2])]


def cases():
    """Conversations whose media are sounds: of pictures only the model's own pixel values are kept."""
    found = []
    for path in sorted(GOLDEN.glob("e2e_*.json")):
        case = json.loads(path.read_text())
        parts = [part for message in case["messages"] for part in message["content"] if not isinstance(message["content"], str)]
        if all(part["type"] in ("text", "audio") for part in parts):
            found.append((path, case))
    return found


def messages_of(path, case):
    """The messages with each sound in its place."""
    sounds = 0
    made = json.loads(json.dumps(case["messages"]))
    for message in made:
        for part in [] if isinstance(message["content"], str) else message["content"]:
            if part["type"] == "audio":
                data = wav(floats(path.with_suffix(".safetensors"), f"audio.{sounds}.wave"))
                part.update({"type": "input_audio", "input_audio": {"data": base64.b64encode(data).decode(), "format": "wav"}})
                sounds += 1
    return made, sounds


def ask(client, path, case, **more):
    options = case["options"]
    talker = {"temperature": 0, "repetition_penalty": options["talker_repetition_penalty"], "max_tokens": options["talker_max_new_tokens"]}
    extra = {"top_k": 0, "repetition_penalty": 1.0, "return_token_ids": True, "sampling_params_list": [None, talker, None]}
    return client.chat.completions.create(
        model=client.models.list().data[0].id, messages=messages_of(path, case)[0], modalities=["text", "audio"],
        audio={"voice": options["speaker"].upper(), "format": "wav"}, temperature=0, max_tokens=options["thinker_max_new_tokens"],
        extra_body=extra, **more)


class GoldenOmni(unittest.TestCase):
    def check(self, folder, *flags, only):
        heard = 0
        with Server("--model", str(GOLDEN / folder), *flags, statistics=True) as server:
            client = server.client()
            for path, case in cases():
                if only(path.stem):
                    with self.subTest(path.stem):
                        answer = ask(client, path, case).choices[0]
                        self.assertEqual(answer.token_ids, case["generated_ids"])
                        expected = floats(path.with_suffix(".safetensors"), "wav")
                        sound = pcm(base64.b64decode(answer.message.audio.data))
                        self.assertEqual(len(sound), len(expected))
                        self.assertLess(max(abs(a - b) for a, b in zip(sound, expected)), 2 / 32768)
                        heard += messages_of(path, case)[1]
        return heard

    def setUp(self):
        self.assertTrue(GOLDEN.is_dir(), f"No golden data at {GOLDEN}: set OMNI_GOLDEN_DIR to the folder of reference outputs.")

    def test_answers_as_the_reference(self):
        self.assertGreater(self.check("model", only=lambda name: not name.startswith("e2e_bf16")), 0, "no sound was sent")

    def test_rounded_weights_in_float32_answer_as_the_reference(self):
        self.check("model_bf16", "--dtype", "float32", only=lambda name: name.startswith("e2e_bf16"))

    def test_text_only_never_runs_the_talker(self):
        path, case = next(one for one in cases() if not one[0].stem.startswith("e2e_bf16"))
        with Server("--model", str(GOLDEN / "model"), statistics=True) as server:
            client = server.client()
            answer = client.chat.completions.create(model=client.models.list().data[0].id, messages=messages_of(path, case)[0], modalities=["text"],
                                                    temperature=0, max_tokens=4)
            self.assertIsNone(answer.choices[0].message.audio)
            with urllib.request.urlopen(server.url + "/metrics", timeout=TIMEOUT_S) as answered:
                page = answered.read().decode()
            made = [line for line in page.splitlines() if line.startswith("vllm:generation_tokens_total{")]
            of_stage = {int(line.split('stage="')[1].split('"')[0]): float(line.rsplit(" ", 1)[1]) for line in made}
            self.assertEqual(of_stage[0], 4)
            self.assertEqual(of_stage[1], 0)

    def test_sound_streams_while_the_rest_is_made(self):
        path, case = next(one for one in cases() if messages_of(*one)[1] > 0)
        with Server("--model", str(GOLDEN / "model")) as server:
            text, sound = "", b""
            for event in ask(server.client(), path, case, stream=True):
                for choice in event.choices:
                    text += choice.delta.content or ""
                    audio = getattr(choice.delta, "audio", None)
                    if audio and audio.data:
                        sound += base64.b64decode(audio.data)
            self.assertTrue(sound)

    def test_an_unknown_voice_is_refused_with_the_known_ones(self):
        path, case = cases()[0]
        case["options"]["speaker"] = "nobody"
        with Server("--model", str(GOLDEN / "model")) as server:
            with self.assertRaises(Exception) as refused:
                ask(server.client(), path, case)
            config = json.loads((GOLDEN / "model" / "config.json").read_text())
            self.assertEqual(refused.exception.status_code, 400)
            for name in config["talker_config"]["speaker_id"]:
                self.assertIn(name, str(refused.exception))


if __name__ == "__main__":
    unittest.main()
