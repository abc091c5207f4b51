"""A real Prometheus scrapes a real server: every query of the dashboards and every alert rule is answered."""
import glob
import json
import os
import re
import signal
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

from omni_server import TIMEOUT_S, Server

GRAFANA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "grafana")
CONFIG = """
global: {{scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}}
rule_files: ['{rules}']
scrape_configs:
  - job_name: omni-serve
    static_configs: [{{targets: ['127.0.0.1:{port}']}}]
"""


class Prometheus:
    """Debian's prometheus with a database of its own, on a free port."""

    def __init__(self, folder, target_port):
        config = os.path.join(folder, "prometheus.yml")
        with open(config, "w") as file:
            file.write(CONFIG.format(rules=os.path.join(GRAFANA, "*.yaml"), port=target_port))
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder}/data", "--web.listen-address=127.0.0.1:0"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        lines = []
        for line in self.process.stderr:
            lines.append(line)
            found = re.search(r'"Listening on" address=127\.0\.0\.1:(\d+)', line)
            if found:
                self.url = f"http://127.0.0.1:{found.group(1)}"
            if "Server is ready" in line:
                break
        else:
            raise RuntimeError("prometheus did not start: " + "".join(lines))
        self._reader = threading.Thread(target=self.process.stderr.read, daemon=True)  # or it would block on a full pipe
        self._reader.start()

    def get(self, path, **parameters):
        with urllib.request.urlopen(f"{self.url}{path}?{urllib.parse.urlencode(parameters, doseq=True)}", timeout=TIMEOUT_S) as answer:
            return json.load(answer)

    def query(self, expression):
        """The series that a query finds; a refusal is an AssertionError that names the query."""
        try:
            answer = self.get("/api/v1/query", query=expression)
        except urllib.error.HTTPError as refused:
            raise AssertionError(f"{expression}: {refused.read().decode()}") from refused
        assert answer["status"] == "success" and not answer.get("warnings"), f"{expression}: {answer}"
        return answer["data"]["result"]

    def wait_for(self, what, reached):
        """Asks until it is so: Prometheus tells nobody of a scrape by itself."""
        deadline = time.monotonic() + TIMEOUT_S
        while not reached():
            assert time.monotonic() < deadline, f"{what} did not happen"

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(TIMEOUT_S)
        self._reader.join()
        self.process.stderr.close()


def dashboards():
    for path in sorted(glob.glob(os.path.join(GRAFANA, "*.json"))):
        with open(path) as file:
            yield json.load(file)


def expressions(panels):
    for panel in panels:
        for target in panel.get("targets", []):
            yield target["expr"]
        yield from expressions(panel.get("panels", []))


def with_variables(expression, model):
    """As Grafana sends it."""
    for name, value in {"$model_name": model, "$stage": ".*", "$__rate_interval": "1m", "$__interval": "15s"}.items():
        expression = expression.replace(name, value)
    assert "$" not in expression, f"a variable that the test does not know: {expression}"
    return expression


class PrometheusScrapes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server(statistics=True).__enter__()
        cls.addClassCleanup(cls.server.__exit__)
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.prometheus = Prometheus(cls.folder.name, cls.server.port).__enter__()
        cls.addClassCleanup(cls.prometheus.__exit__)
        cls.prometheus.wait_for("a first scrape", lambda: cls.prometheus.query("vllm:num_requests_running"))
        cls.use_the_server()
        # Twice scraped since, so that every rate has something to say.
        for _ in range(2):
            scraped = cls.scrapes()
            cls.prometheus.wait_for("a scrape", lambda: cls.scrapes() > scraped)

    @classmethod
    def scrapes(cls):
        return float(cls.prometheus.query("count_over_time(up[1h])")[0]["value"][1])

    @classmethod
    def use_the_server(cls):
        client = cls.server.client()
        asked = {"model": "default", "messages": [{"role": "user", "content": "Say hello to the listeners in one sentence."}], "max_tokens": 16}
        client.chat.completions.create(**asked)
        client.chat.completions.create(**asked, modalities=["text", "audio"], audio={"voice": "default", "format": "wav"})
        client.audio.speech.create(model="default", voice="default", input="Good morning.", response_format="wav").read()
        client.close()

    def value_of(self, expression):
        found = self.prometheus.query(expression)
        self.assertEqual(len(found), 1, expression)
        return float(found[0]["value"][1])

    def test_what_clients_did_is_in_the_database(self):
        self.assertEqual(self.value_of("up"), 1)
        self.assertEqual(self.value_of('sum(vllm:request_success_total{stage="0"})'), 2)
        self.assertEqual(self.value_of("sum(vllm_omni:requests_success_total)"), 3)
        self.assertEqual(self.value_of("vllm_omni:speech_stream_completed_total"), 1)
        self.assertGreater(self.value_of('sum(vllm:generation_tokens_total{stage="0"})'), 1)
        self.assertGreater(self.value_of("sum(vllm_omni:audio_frames_total)"), 1000)
        self.assertEqual(self.value_of("sum(vllm:engine_healthy)"), 3)
        self.assertEqual(self.value_of("sum(omni_serve:bad_values_total)"), 0)

    def test_every_query_of_the_dashboards_is_answered(self):
        model = self.prometheus.query("vllm_omni:num_requests_running")[0]["metric"]["model_name"]
        asked = [with_variables(expression, model) for dashboard in dashboards() for expression in expressions(dashboard["panels"])]
        self.assertGreater(len(asked), 50)
        silent = [expression for expression in asked if not self.prometheus.query(expression)]
        # Nothing has failed or was aborted, so those series do not exist yet.
        unexpected = [expression for expression in silent if not re.search(r"requests_failed|aborted|skipped", expression)]
        self.assertEqual(unexpected, [])

    def test_the_variables_of_the_dashboards_have_values(self):
        for dashboard in dashboards():
            for variable in dashboard["templating"]["list"]:
                found = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["query"])
                if not found:
                    continue
                series = self.prometheus.get("/api/v1/series", **{"match[]": found.group(1)})["data"]
                self.assertTrue({one[found.group(2)] for one in series}, variable["name"])

    def test_every_alert_rule_is_evaluated_and_none_fires(self):
        def groups():
            return self.prometheus.get("/api/v1/rules")["data"]["groups"]

        self.prometheus.wait_for("an evaluation", lambda: groups() and all(rule["health"] != "unknown" for group in groups() for rule in group["rules"]))
        rules = [rule for group in groups() for rule in group["rules"]]
        self.assertGreater(len(rules), 10)
        for rule in rules:
            self.assertEqual(rule["health"], "ok", rule)
            self.assertNotEqual(rule["state"], "firing", rule)
            self.prometheus.query(rule["query"])


if __name__ == "__main__":
    unittest.main()
