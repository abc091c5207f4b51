"""The official OpenAI client, unchanged, against a real server with real models."""
import array
import asyncio
import base64
import io
import json
import unittest
import urllib.request
import wave

import openai

from omni_server import Server

MESSAGES = [{"role": "user", "content": "Say hello to the listeners of a small radio station in one sentence."}]
GREEDY = {"model": "default", "messages": MESSAGES, "temperature": 0, "max_tokens": 24}
SPEECH = {"model": "default", "voice": "default", "input": "Good morning. The train leaves at nine."}


def samples_of(pcm):
    values = array.array("h")
    values.frombytes(pcm)
    return values


def open_wav(data):
    with wave.open(io.BytesIO(data)) as file:
        return file.getframerate(), file.getnchannels(), file.getsampwidth(), file.readframes(file.getnframes())


class OpenAIClient(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server().__enter__()
        cls.client = cls.server.client()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def same_sound(self, one, other):
        one, other = samples_of(one), samples_of(other)
        self.assertEqual(len(one), len(other))
        self.assertGreater(len(one), 1000)
        self.assertGreater(max(one), 1000)
        self.assertLessEqual(max(abs(a - b) for a, b in zip(one, other)), 1)

    def stream_chat(self, **more):
        """Joins the deltas of a stream: text, sound, transcript, last finish reason, usage."""
        text = sound = transcript = ""
        reason = usage = None
        for event in self.client.chat.completions.create(**GREEDY, stream=True, stream_options={"include_usage": True}, **more):
            usage = event.usage or usage
            for choice in event.choices:
                text += choice.delta.content or ""
                audio = choice.delta.model_dump(exclude_none=True).get("audio", {})  # typed only in newer clients
                sound += audio.get("data", "")
                transcript += audio.get("transcript", "")
                reason = choice.finish_reason or reason
        return text, sound, transcript, reason, usage

    def test_text_streamed_is_text_whole(self):
        whole = self.client.chat.completions.create(**GREEDY)
        self.assertEqual(whole.object, "chat.completion")
        self.assertEqual(whole.choices[0].message.role, "assistant")
        text, _, _, reason, usage = self.stream_chat()
        self.assertEqual(text, whole.choices[0].message.content)
        self.assertTrue(text)
        self.assertEqual(reason, whole.choices[0].finish_reason)
        self.assertEqual(usage.prompt_tokens, whole.usage.prompt_tokens)
        self.assertEqual(usage.completion_tokens, whole.usage.completion_tokens)
        self.assertEqual(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens)
        self.assertLess(usage.prompt_tokens_details.cached_tokens, usage.prompt_tokens)

    def test_async_streams_side_by_side_are_all_the_same(self):
        async def one(client):
            text = ""
            async for event in await client.chat.completions.create(**GREEDY, stream=True):
                text += event.choices[0].delta.content or ""
            return text

        async def all_of_them():
            async with self.server.async_client() as client:
                whole = await client.chat.completions.create(**GREEDY)
                return whole.choices[0].message.content, await asyncio.gather(*(one(client) for _ in range(6)))

        whole, streamed = asyncio.run(all_of_them())
        self.assertEqual(streamed, [whole] * 6)

    def test_text_and_sound_whole_and_streamed(self):
        asked = {"modalities": ["text", "audio"]}
        whole = self.client.chat.completions.create(**GREEDY, **asked, audio={"voice": "default", "format": "wav"}).choices[0].message
        rate, channels, width, pcm = open_wav(base64.b64decode(whole.audio.data))
        self.assertEqual((rate, channels, width), (22050, 1, 2))
        self.assertEqual(whole.audio.transcript, whole.content)
        self.assertGreater(whole.audio.expires_at, 0)
        text, sound, transcript, reason, _ = self.stream_chat(**asked, audio={"voice": "default", "format": "pcm16"})
        self.assertEqual(text, whole.content)
        self.assertEqual(transcript, whole.content)
        self.assertIn(reason, ("stop", "length"))
        self.same_sound(base64.b64decode(sound, validate=True), pcm)

    def test_the_clients_own_stream_helper_puts_sound_together(self):
        with self.client.chat.completions.stream(**GREEDY, modalities=["text", "audio"], audio={"voice": "default", "format": "pcm16"}) as stream:
            for _ in stream:
                pass
            final = stream.get_final_completion()
        self.assertTrue(final.choices[0].message.content)
        self.assertTrue(final.choices[0].message.audio.id.startswith("audio-"))
        self.assertGreater(len(base64.b64decode(final.choices[0].message.audio.data, validate=True)), 1000)

    def test_omni_events_carry_modality_and_a_wav_file_each(self):
        body = dict(GREEDY, modalities=["text", "audio"], stream=True,
                    stream_options={"include_usage": True, "continuous_usage_stats": True})
        request = urllib.request.Request(self.server.url + "/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
        counts, kinds, pcm = [], set(), b""
        with urllib.request.urlopen(request) as answer:
            for line in answer:
                if not line.startswith(b"data: {"):
                    continue
                event = json.loads(line[6:])
                kinds.add(event.get("modality"))
                if event.get("modality") == "text":
                    counts.append(event["usage"]["completion_tokens"])
                if event.get("modality") == "audio" and event["choices"][0]["delta"]["content"]:
                    pcm += open_wav(base64.b64decode(event["choices"][0]["delta"]["content"]))[3]
        self.assertEqual(kinds, {"text", "audio", None})
        self.assertEqual(counts, sorted(counts))
        self.assertGreater(counts[-1], 1)
        self.assertGreater(len(pcm), 1000)

    def test_choices_probabilities_and_stop_strings(self):
        answer = self.client.chat.completions.create(**GREEDY, n=2, logprobs=True, top_logprobs=2, seed=5)
        self.assertEqual([choice.index for choice in answer.choices], [0, 1])
        self.assertEqual(answer.choices[0].message.content, answer.choices[1].message.content)
        tokens = answer.choices[0].logprobs.content
        self.assertEqual(b"".join(bytes(token.bytes) for token in tokens if not token.token.startswith("<|")).decode(), answer.choices[0].message.content)
        self.assertTrue(all(len(token.top_logprobs) == 2 and token.logprob <= 0 for token in tokens))
        word = answer.choices[0].message.content.split()[2]
        stopped = self.client.chat.completions.create(**GREEDY, stop=[word])
        self.assertNotIn(word, stopped.choices[0].message.content)
        self.assertEqual(stopped.choices[0].finish_reason, "stop")

    def test_speech_whole_streamed_and_in_events(self):
        rate, channels, width, pcm = open_wav(self.client.audio.speech.create(**SPEECH, response_format="wav").read())
        self.assertEqual((rate, channels, width), (22050, 1, 2))
        with self.client.audio.speech.with_streaming_response.create(**SPEECH, response_format="pcm", stream_format="audio") as answer:
            streamed = b"".join(answer.iter_bytes())
        self.same_sound(streamed, pcm)
        with self.client.audio.speech.with_streaming_response.create(**SPEECH, response_format="pcm", stream_format="sse") as answer:
            events = [json.loads(line[6:]) for line in answer.iter_lines() if line.startswith("data: ")]
        self.assertEqual({event["type"] for event in events[:-1]}, {"speech.audio.delta"})
        self.assertEqual(events[-1]["type"], "speech.audio.done")
        self.same_sound(b"".join(base64.b64decode(event["audio"]) for event in events[:-1]), pcm)

    def test_async_speech(self):
        async def say():
            async with self.server.async_client() as client:
                return (await client.audio.speech.create(**SPEECH, response_format="wav")).read()

        self.assertEqual(asyncio.run(say())[:4], b"RIFF")

    def test_models(self):
        names = [model.id for model in self.client.models.list()]
        self.assertEqual(names, ["smollm2-piper"])
        self.assertEqual(self.client.models.retrieve("smollm2-piper").id, "smollm2-piper")
        self.assertEqual(self.client.chat.completions.create(**dict(GREEDY, model="smollm2-piper", max_tokens=1)).model, "smollm2-piper")

    def test_errors_are_the_clients_exceptions(self):
        with self.assertRaises(openai.BadRequestError) as wrong:
            self.client.chat.completions.create(**dict(GREEDY, temperature=7))
        self.assertEqual(wrong.exception.param, "temperature")
        self.assertEqual(wrong.exception.type, "invalid_request_error")
        with self.assertRaises(openai.BadRequestError) as wrong:
            self.client.chat.completions.create(model="default", messages=[{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}])
        self.assertEqual(wrong.exception.param, "messages[0].content[0].type")
        with self.assertRaises(openai.BadRequestError) as wrong:
            self.client.chat.completions.create(**dict(GREEDY, max_tokens=10**6), stream=True)
        self.assertEqual(wrong.exception.code, "context_length_exceeded")
        with self.assertRaises(openai.BadRequestError) as wrong:
            self.client.audio.speech.create(**dict(SPEECH, voice="nobody"))
        self.assertEqual(wrong.exception.param, "voice")
        with self.assertRaises(openai.NotFoundError) as missing:
            self.client.chat.completions.create(**dict(GREEDY, model="gpt-9"))
        self.assertEqual(missing.exception.code, "model_not_found")


if __name__ == "__main__":
    unittest.main()
