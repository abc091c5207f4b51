"""A server that starts from a config.json alone."""
import json
import pathlib
import tempfile
import unittest

from omni_server import Server

QWEN3 = {
    "model_type": "qwen3", "vocab_size": 512, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "max_position_embeddings": 256,
    "rms_norm_eps": 1e-6, "rope_theta": 1e6, "tie_word_embeddings": True, "eos_token_id": 510}


class DummyWeights(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        pathlib.Path(self.folder.name, "config.json").write_text(json.dumps(QWEN3))

    def test_answers_without_weights_and_tokenizer(self):
        with Server("--model", self.folder.name, "--load-format", "dummy", "--served-model-name", "tiny") as server:
            answer = server.client().chat.completions.create(
                model="tiny", messages=[{"role": "user", "content": "hello"}], max_tokens=16, temperature=0,
                extra_body={"ignore_eos": True})
        self.assertEqual(answer.usage.completion_tokens, 16)
        self.assertGreater(len(answer.choices[0].message.content), 0)

    def test_needs_the_weights_otherwise(self):
        with self.assertRaisesRegex(RuntimeError, "tokenizer.json|safetensors"):
            Server("--model", self.folder.name)


if __name__ == "__main__":
    unittest.main()
