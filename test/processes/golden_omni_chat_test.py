"""Chat with sounds and pictures through the official OpenAI client, on the tiny checkpoints of the golden data."""
import array
import base64
import io
import json
import math
import os
import pathlib
import struct
import tempfile
import unittest
import wave
import zlib

import openai

from omni_server import Server

GOLDEN = pathlib.Path(os.environ.get("OMNI_GOLDEN_DIR") or pathlib.Path(__file__).parents[3] / "shared" / "golden")


def checkpoints(family):
    found = [str(config.parent) for config in sorted(GOLDEN.glob("*/*/config.json"))
             if json.loads(config.read_text()).get("model_type") == family]
    assert found, f"no checkpoint of {family} below {GOLDEN}: set OMNI_GOLDEN_DIR"
    return found


def wav(seconds, hertz=440.0, rate=16000):
    samples = array.array("h", (int(9000 * math.sin(2 * math.pi * hertz * i / rate)) for i in range(int(seconds * rate))))
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(rate)
        out.writeframes(samples.tobytes())
    return file.getvalue()


def png(height, width, grey):
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    rows = b"".join(b"\0" + b"".join(bytes([(grey + 3 * x) % 256, y % 256, grey]) for x in range(width)) for y in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def base64_of(data):
    return base64.b64encode(data).decode()


def sound_part(data):
    return {"type": "input_audio", "input_audio": {"data": base64_of(data), "format": "wav"}}


def picture_part(data):
    return {"type": "image_url", "image_url": {"url": "data:image/png;base64," + base64_of(data)}}


class OmniChat(unittest.TestCase):
    def serve(self, *flags):
        server = Server("--threads", "1", *flags)
        self.addCleanup(server.__exit__)
        return server

    def ask(self, server, *parts, **more):
        return server.client().chat.completions.create(
            model="default", messages=[{"role": "user", "content": [*parts, {"type": "text", "text": "hi"}]}],
            temperature=0, max_tokens=6, **more)

    def test_text_answers_depend_on_what_was_heard_and_seen(self):
        for model in checkpoints("qwen3_omni_moe"):
            with self.subTest(model):
                server = self.serve("--model", model)
                said = [self.ask(server, part, modalities=["text"], logprobs=True)
                        for part in (sound_part(wav(1)), sound_part(wav(1, 3000)), picture_part(png(64, 96, 0)),
                                     picture_part(png(64, 96, 200)))]
                again = self.ask(server, sound_part(wav(1)), modalities=["text"], logprobs=True)
                seen = [[(token.token, token.logprob) for token in one.choices[0].logprobs.content] for one in said]
                self.assertEqual([(token.token, token.logprob) for token in again.choices[0].logprobs.content], seen[0])
                self.assertNotEqual(seen[0], seen[1])
                self.assertNotEqual(seen[2], seen[3])
                longer = self.ask(server, sound_part(wav(3)), modalities=["text"])
                self.assertEqual(longer.usage.prompt_tokens - said[0].usage.prompt_tokens, 2 * 13)

    def test_sound_in_and_sound_out(self):
        for model in checkpoints("qwen3_omni_moe"):
            with self.subTest(model):
                server = self.serve("--model", model)
                answer = self.ask(server, sound_part(wav(1)), modalities=["text", "audio"],
                                  audio={"voice": "default", "format": "wav"})
                with wave.open(io.BytesIO(base64.b64decode(answer.choices[0].message.audio.data))) as sound:
                    self.assertEqual(sound.getframerate(), 24000)
                    self.assertGreater(sound.getnframes(), 0)
                with self.assertRaises(openai.BadRequestError) as refused:
                    self.ask(server, sound_part(wav(1)), modalities=["text", "audio"],
                             audio={"voice": "nobody", "format": "wav"})
                self.assertIn("default", refused.exception.body["message"])

    def test_files_below_the_allowed_folder(self):
        for model in checkpoints("qwen3_omni_moe"):
            with self.subTest(model), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder).resolve() / "sound.wav"
                path.write_bytes(wav(1))
                server = self.serve("--model", model, "--allowed-local-media-path", folder)

                def part(url):
                    return {"type": "audio_url", "audio_url": {"url": url}}

                self.assertGreater(self.ask(server, part(path.as_uri()), modalities=["text"]).usage.prompt_tokens, 13)
                for url in ("file:///etc/passwd", "http://127.0.0.1:1/x.wav"):
                    with self.assertRaises(openai.BadRequestError) as refused:
                        self.ask(server, part(url), modalities=["text"])
                    self.assertEqual(refused.exception.param, "messages[0].content[0].audio_url")


if __name__ == "__main__":
    unittest.main()
