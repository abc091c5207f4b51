"""How a real server begins, refuses, lets go and ends."""
import os
import subprocess
import unittest

import openai

from omni_server import TIMEOUT_S, Server

LONG = {"model": "default", "messages": [{"role": "user", "content": "Count."}], "temperature": 0, "stream": True}


def open_stream(client, tokens):
    """A stream of so many tokens, with its first piece of text read."""
    stream = client.chat.completions.create(**LONG, max_tokens=tokens, extra_body={"ignore_eos": True})
    for event in stream:
        if event.choices[0].delta.content:
            return stream
    raise AssertionError("the stream ended without text")


class Lifecycle(unittest.TestCase):
    def test_one_request_too_many_is_a_rate_limit_error_and_a_disconnect_frees_the_place(self):
        with Server("--max-num-queued-reqs", "1") as server:
            client = server.client()
            stream = open_stream(client, 4000)
            with self.assertRaises(openai.RateLimitError) as refused:
                client.chat.completions.create(**dict(LONG, stream=False), max_tokens=1)
            self.assertEqual(refused.exception.response.headers["retry-after"], "1")
            stream.close()
            while True:  # refused until the abort has gone through, then never again
                try:
                    answer = client.chat.completions.create(**dict(LONG, stream=False), max_tokens=1)
                    break
                except openai.RateLimitError:
                    pass
            self.assertEqual(answer.usage.completion_tokens, 1)

    def test_keys(self):
        with Server("--api-key", "secret", "--api-key", "other") as server:
            with self.assertRaises(openai.AuthenticationError):
                server.client().models.list()
            self.assertTrue(server.client("other").models.list().data)

    def test_sigterm_lets_a_stream_finish_and_refuses_new_ones(self):
        with Server() as server:
            client = server.client()
            stream = open_stream(client, 300)
            server.terminate()
            server.wait_for_log("Stopping")
            with self.assertRaises(openai.APIConnectionError):
                server.client().models.list()
            reason = [event.choices[0].finish_reason for event in stream][-1]
            self.assertEqual(reason, "length")
            client.close()
            self.assertEqual(server.wait(), 0)

    def test_a_second_sigterm_ends_at_once(self):
        with Server() as server:
            stream = open_stream(server.client(), 8000)
            server.terminate()
            server.wait_for_log("Stopping")
            server.terminate()
            self.assertEqual(server.wait(), 128 + 15)
            with self.assertRaises(Exception):
                for _ in stream:
                    pass

    def test_the_drain_timeout_ends_what_does_not_finish(self):
        with Server("--drain-timeout", "0") as server:
            stream = open_stream(server.client(), 8000)
            server.terminate()
            with self.assertRaises(openai.APIError) as cut:
                for _ in stream:
                    pass
            self.assertEqual(cut.exception.code, "shutting_down")
            self.assertEqual(server.wait(), 0)

    def run_to_its_end(self, *flags, **environment):
        return subprocess.run([os.environ["OMNI_SERVE"], *flags], capture_output=True, text=True, timeout=TIMEOUT_S, env={**os.environ, **environment})

    def test_wrong_use_is_one_sentence_and_status_2(self):
        ended = self.run_to_its_end("--prot", "1")
        self.assertEqual(ended.returncode, 2)
        self.assertEqual(ended.stderr.count("\n"), 1)
        self.assertIn("did you mean --port?", ended.stderr)

    def test_a_missing_model_says_what_fetches_it(self):
        ended = self.run_to_its_end(OMNI_MODELS_DIR="/nonexistent")
        self.assertEqual(ended.returncode, 1)
        self.assertIn("app/fetch_models.sh", ended.stderr)

    def test_a_taken_port_is_one_sentence(self):
        with Server() as server:
            ended = self.run_to_its_end("--port", str(server.port))
            self.assertEqual(ended.returncode, 1)
            self.assertIn(f"Cannot listen on 127.0.0.1:{server.port}", ended.stderr)

    def test_help_and_version(self):
        self.assertIn("--max-num-seqs", self.run_to_its_end("--help").stdout)
        self.assertRegex(self.run_to_its_end("--version").stdout, r"^omni-serve \d+\.\d+\.\d+\n$")


if __name__ == "__main__":
    unittest.main()
