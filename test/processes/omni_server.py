"""A real omni-serve for the tests of this folder. $OMNI_SERVE names the binary; models come from its usual cache."""
import os
import re
import signal
import subprocess
import threading

import openai

TIMEOUT_S = 120


class Server:
    """Starts the server on a free port and waits until it is ready. Use it as a context manager."""

    def __init__(self, *flags, statistics=False):
        switch = [] if statistics else ["--disable-log-stats"]
        self.process = subprocess.Popen(
            [os.environ["OMNI_SERVE"], "--port", "0", *switch, *flags],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.lines = []
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read_log, daemon=True)
        self._reader.start()
        ready = self.process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)", ready)
        if not found:
            self._reader.join()
            raise RuntimeError("omni-serve did not start: " + "".join(self.lines))
        self.port = int(found.group(1))
        self.url = f"http://127.0.0.1:{self.port}"

    def _read_log(self):
        for line in self.process.stderr:
            with self._changed:
                self.lines.append(line)
                self._changed.notify_all()

    def wait_for_log(self, text):
        with self._changed:
            assert self._changed.wait_for(lambda: any(text in line for line in self.lines), TIMEOUT_S), f"no line with {text!r}"

    def client(self, key="none"):
        return openai.OpenAI(base_url=self.url + "/v1", api_key=key, max_retries=0, timeout=TIMEOUT_S)

    def async_client(self, key="none"):
        return openai.AsyncOpenAI(base_url=self.url + "/v1", api_key=key, max_retries=0, timeout=TIMEOUT_S)

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)

    def wait(self):
        return self.process.wait(TIMEOUT_S)

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(TIMEOUT_S)
        self._reader.join()
        self.process.stdout.close()
        self.process.stderr.close()
