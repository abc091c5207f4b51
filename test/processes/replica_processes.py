"""A head and processes of replicas for it, as the tests of replicas start them."""
import concurrent.futures
import json
import os
import subprocess
import threading
import urllib.error
import urllib.request

from omni_server import TIMEOUT_S, Server

PROMPTS = [f"Tell me about {number}." for number in range(16)]
BRIEF = {"role": "system", "content": "Be brief."}  # less to compute than the model's own system message


class Replicas:
    """A headless process with replicas of one stage. Use it as a context manager."""

    def __init__(self, head_port, stage, *flags, prefix=()):
        self.process = subprocess.Popen(
            [*prefix, os.environ["OMNI_SERVE"], "--headless", "--stage-id", str(stage), "--omni-master-port", str(head_port), *flags],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.lines = []
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read_log, daemon=True)
        self._reader.start()

    def _read_log(self):
        for line in self.process.stderr:
            with self._changed:
                self.lines.append(line)
                self._changed.notify_all()

    def wait_for_log(self, text, times=1):
        with self._changed:
            heard = lambda: sum(text in line for line in self.lines) >= times
            assert self._changed.wait_for(heard, TIMEOUT_S), f"no line with {text!r}: {self.lines}"
        return self

    def joined(self):
        return self.wait_for_log("serves the head")

    def send(self, what):
        self.process.send_signal(what)

    def wait(self):
        status = self.process.wait(TIMEOUT_S)
        self._reader.join(TIMEOUT_S)
        return status

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        if self.process.poll() is None:
            self.process.kill()
        self.wait()
        self.process.stderr.close()


class Head(Server):
    def __init__(self, *flags, join_port=0, statistics=False):
        super().__init__("--omni-master-port", str(join_port), *flags, statistics=statistics)
        self.wait_for_log("Replicas may join at")
        line = next(line for line in self.lines if "Replicas may join at" in line)
        self.join_port = int(line.rstrip().rstrip(".").rsplit(":", 1)[1])

    def ask(self, method, path, key=None):
        """Status and JSON of an answer."""
        request = urllib.request.Request(self.url + path, method=method)
        if key:
            request.add_header("Authorization", f"Bearer {key}")
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as refused:
            return refused.code, json.load(refused)

    def replicas(self):
        return {(one["stage"], one["replica"]): one["state"] for one in self.ask("GET", "/v1/omni/replicas")[1]["data"]}

    def line(self, stage, replica):
        """What the operator sees of a replica; nothing if it is not there."""
        listed = self.ask("GET", "/v1/omni/replicas")[1]["data"]
        return next((one for one in listed if (one["stage"], one["replica"]) == (stage, replica)), None)

    def metric(self, name, **labels):
        """The value of a series, by replica."""
        found = {}
        with urllib.request.urlopen(self.url + "/metrics", timeout=TIMEOUT_S) as page:
            for line in page.read().decode().splitlines():
                if line.startswith(name + "{") and all(f'{key}="{value}"' in line for key, value in labels.items()):
                    replica = int(line.split('replica="')[1].split('"')[0])
                    found[replica] = found.get(replica, 0) + float(line.rsplit(" ", 1)[1])
        return found

    def until(self, reached):
        """Asks until it is so; ctest's time limit is the deadline."""
        while not reached():
            pass

    def chat(self, prompt, tokens=8, heard=None):
        """The text of a streamed answer and the error that ended it, if one did. Each piece is put into `heard` as well."""
        body = {"messages": [BRIEF, {"role": "user", "content": prompt}], "temperature": 0, "max_tokens": tokens, "stream": True,
                "modalities": ["text"], "ignore_eos": True}
        request = urllib.request.Request(self.url + "/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
        text = ""
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
                for line in answer:
                    if line.startswith(b"data: {"):
                        event = json.loads(line[6:])
                        if "error" in event:
                            return text, event["error"]
                        piece = event["choices"][0]["delta"].get("content") or ""
                        text += piece
                        if heard and piece:
                            heard.put(piece)
        except urllib.error.HTTPError as refused:
            return text, json.load(refused)["error"]
        return text, None

    def whole(self, prompt, tokens=8):
        """The text of an answer that is not streamed."""
        body = {"messages": [BRIEF, {"role": "user", "content": prompt}], "temperature": 0, "max_tokens": tokens, "modalities": ["text"],
                "ignore_eos": True}
        request = urllib.request.Request(self.url + "/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
            return json.load(answer)["choices"][0]["message"]["content"]

    def say(self, prompt):
        """Sound of a spoken answer, whole."""
        body = {"messages": [{"role": "user", "content": prompt}], "temperature": 0, "max_tokens": 12, "modalities": ["text", "audio"],
                "audio": {"voice": "default", "format": "wav"}}
        request = urllib.request.Request(self.url + "/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
            message = json.load(answer)["choices"][0]["message"]
        return message["content"], message["audio"]["data"]

    def speak(self, text):
        """The sound of a text."""
        request = urllib.request.Request(self.url + "/v1/audio/speech", json.dumps({"input": text, "response_format": "wav"}).encode(),
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
            return answer.read()

    def open_files(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def resident_bytes(self):
        with open(f"/proc/{self.process.pid}/statm") as pages:
            return int(pages.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def many(head, prompts, workers):
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        return list(pool.map(head.chat, prompts))
