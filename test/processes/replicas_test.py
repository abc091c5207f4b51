"""Replicas in processes of their own that join a head, leave, die and come back while it serves. Default models."""
import concurrent.futures
import os
import queue
import random
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import unittest

from omni_server import TIMEOUT_S, Server
from replica_processes import PROMPTS, Head, Replicas, many


class LateReplicas(unittest.TestCase):
    def test_a_late_replica_of_a_running_stage(self):
        """The report that this behaviour was made for: 8 requests, a replica joins, 64 requests, statistics on."""
        with Head("--stage-id", "0", statistics=True) as head:
            first = [head.chat(prompt) for prompt in PROMPTS[:8]]
            counted = head.metric("vllm:generation_tokens_total", stage="0")
            self.assertEqual(counted, {0: 64})
            with Replicas(head.join_port, 0).joined():
                rest = many(head, [PROMPTS[at % 16] for at in range(64)], 8)
                total = lambda: head.metric("vllm:generation_tokens_total", stage="0")
                after = total()  # who has its answer finds it counted
            answers = first + rest
            self.assertEqual(len([text for text, problem in answers if text and problem is None]), 72)
            self.assertGreaterEqual(after[0], 64)
            self.assertGreater(after[1], 0)
            self.assertEqual(sum(after.values()), 72 * 8)
            for at, (text, _) in enumerate(rest):
                self.assertEqual(text, rest[at % 16][0], "the same words from both replicas")

    def test_zero_initial_replicas_sparse_ids_repeats_and_conflicts(self):
        with Head("--stage-overrides", '{"0": {"num_replicas": 0}, "1": {"num_replicas": 0}, "2": {"num_replicas": 0}}',
                  "--omni-dispatch-timeout", "0") as head:
            self.assertEqual(head.ask("GET", "/ready")[0], 503)
            self.assertEqual(head.ask("GET", "/health")[0], 200)
            _, problem = head.chat(PROMPTS[0])
            self.assertEqual(problem["code"], "no_replica")
            self.assertIn("Stage 0 (thinker)", problem["message"])
            with Replicas(head.join_port, 0, "--replica-id", "5").joined(), Replicas(head.join_port, 0).joined():
                head.until(lambda: head.replicas() == {(0, 0): "serving", (0, 5): "serving"})
                self.assertIsNone(head.chat(PROMPTS[0])[1])
                with Replicas(head.join_port, 0, "--replica-id", "5") as again:
                    self.assertEqual(again.wait(), 2)
                    self.assertIn("The id of replica 5 of stage 0 is taken", again.lines[-1])
                with Replicas(head.join_port, 0, "--replica-id", "4", "--omni-dp-size-local", "2") as half:
                    self.assertEqual(half.wait(), 2)
                    head.until(lambda: head.replicas() == {(0, 0): "serving", (0, 5): "serving"})  # no trace of the one let in
                with Replicas(head.join_port, 0, "--dtype", "float32") as other:
                    self.assertEqual(other.wait(), 2)
                    self.assertRegex(other.lines[-1], "^omni-serve: .*the head's.*start .*with the same")
                self.assertEqual(head.replicas(), {(0, 0): "serving", (0, 5): "serving"})

    def test_every_stage_elsewhere_gives_the_same_words_and_sound(self):
        with Server() as alone:
            expected = Head.say(alone, PROMPTS[1])
        with Head("--stage-id", "0") as head, Replicas(head.join_port, 1).joined(), Replicas(head.join_port, 2).joined():
            head.until(lambda: head.ask("GET", "/ready")[0] == 200)
            self.assertEqual(head.say(PROMPTS[1]), expected)


class Relay:
    """Stands between a process of replicas and its head, and keeps from the head that a replica serves: it stays in its joining."""
    SERVING = 5  # the kind of that frame (actors/net/wire_messages.hpp)

    def __init__(self, head_port):
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._listening.settimeout(TIMEOUT_S)
        self.port = self._listening.getsockname()[1]
        self._threads = [threading.Thread(target=self._to_head, args=[head_port])]
        self._threads[0].start()

    def _to_head(self, head_port):
        self._replica = self._listening.accept()[0]
        self._head = socket.create_connection(("127.0.0.1", head_port), TIMEOUT_S)
        self._threads.append(threading.Thread(target=self._to_replica))
        self._threads[1].start()
        with self._replica.makefile("rb") as frames:
            while length := frames.read(4):
                frame = frames.read(struct.unpack("<I", length)[0])
                if frame[0] != self.SERVING:
                    self._head.sendall(length + frame)
        self._head.shutdown(socket.SHUT_WR)

    def _to_replica(self):
        while some := self._head.recv(65536):
            self._replica.sendall(some)
        self._replica.shutdown(socket.SHUT_WR)

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        for thread in self._threads:
            thread.join(TIMEOUT_S)
        for one in self._listening, self._replica, self._head:
            one.close()


class Departures(unittest.TestCase):
    def kill_at_some_moment(self, head, victim, round_, dice):
        """16 streams and a kill among them. Their answers by prompt, and how many were surely placed again."""
        heard = queue.SimpleQueue()
        stopped_first = round_ % 4 == 3  # can deliver nothing, so whatever it has got must be placed again
        if stopped_first:
            victim.send(signal.SIGSTOP)
        waits = 0
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            running = [pool.submit(head.chat, prompt, heard=heard) for prompt in PROMPTS]
            if stopped_first:
                def load():
                    line = head.line(0, 1)
                    return line["running"] + line["waiting"]
                head.until(lambda: load() > 0 or head.replicas()[(0, 1)] == "lost")
                waits = load()
            else:
                for _ in range(dice.randrange(64)):  # at a moment that no clock decides
                    heard.get(timeout=TIMEOUT_S)
            victim.send(signal.SIGKILL)
            return dict(zip(PROMPTS, [one.result(TIMEOUT_S) for one in running])), waits

    def test_kill_under_streams_again_and_again(self):
        """Only what had begun on the killed replica fails; all else says what it says without the kill."""
        dice = random.Random(4)
        hit = placed_again = 0
        with Head("--stage-id", "0") as head:
            expected = dict(zip(PROMPTS, many(head, PROMPTS, 16)))
            for round_ in range(20):
                with Replicas(head.join_port, 0, "--replica-id", "1", "--threads", "1").joined() as victim:
                    head.until(lambda: head.replicas().get((0, 1)) == "serving")
                    answers, waits = self.kill_at_some_moment(head, victim, round_, dice)
                for prompt, (text, problem) in answers.items():
                    if problem:
                        self.assertEqual(problem["code"], "replica_lost")
                        self.assertTrue(expected[prompt][0].startswith(text) and text)
                    else:
                        self.assertEqual(text, expected[prompt][0])
                failed = sum(problem is not None for _, problem in answers.values())
                if waits:
                    self.assertEqual(failed, 0)
                hit += failed
                placed_again += waits
                head.until(lambda: head.replicas()[(0, 1)] == "lost")
                if round_ == 4:
                    files, resident = head.open_files(), head.resident_bytes()
            self.assertGreater(hit, 0)
            self.assertGreater(placed_again, 0)
            head.until(lambda: head.open_files() <= files + 2)
            self.assertLess(head.resident_bytes(), resident * 1.03)

    def test_answers_that_are_not_streamed_survive_a_kill(self):
        """Their clients have nothing before the end, so what had begun on the killed replica is made anew."""
        with Head("--stage-id", "0", statistics=True) as head:
            answers = lambda pool: [pool.submit(head.whole, prompt, 150) for prompt in PROMPTS[:8]]
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                expected = [one.result(TIMEOUT_S) for one in answers(pool)]
            with Replicas(head.join_port, 0, "--threads", "1").joined() as victim, concurrent.futures.ThreadPoolExecutor(8) as pool:
                head.until(lambda: head.replicas().get((0, 1)) == "serving")
                running = answers(pool)
                begun = lambda: head.metric("vllm:generation_tokens_total").get(1, 0)
                head.until(lambda: begun() > 0)  # it has given output
                victim.send(signal.SIGKILL)
                self.assertEqual([one.result(TIMEOUT_S) for one in running], expected)
            head.wait_for_log("Replica 1 of stage 0 was lost")
            head.until(lambda: head.metric("vllm:request_success_total", finished_reason="error").get(1, 0) > 0)

    def test_silence_is_noticed_and_the_silent_one_comes_back(self):
        with Head("--stage-id", "0") as head, Replicas(head.join_port, 0).joined() as silent:
            head.until(lambda: head.replicas().get((0, 1)) == "serving")
            silent.send(signal.SIGSTOP)
            head.wait_for_log("was silent for 2 seconds")
            self.assertEqual(head.replicas()[(0, 1)], "lost")
            self.assertIsNone(head.chat(PROMPTS[0])[1])
            silent.send(signal.SIGCONT)
            silent.wait_for_log("serves the head", 2)
            head.until(lambda: head.replicas()[(0, 1)] == "serving")

    def test_a_restarted_head_finds_its_replicas_again(self):
        with Head("--stage-id", "1") as head:
            port = head.join_port
            there = Replicas(port, 0).joined()
            with there:
                expected = head.chat(PROMPTS[2])
                head.process.kill()
                there.wait_for_log("trying again until it answers")
                with Head("--stage-id", "1", join_port=port) as second:
                    there.wait_for_log("serves the head", 2)
                    self.assertEqual(second.chat(PROMPTS[2]), expected)

    def test_sigterm_drains_and_a_join_during_the_drain_is_used(self):
        with Head("--stage-id", "1") as head, Replicas(head.join_port, 0).joined() as leaving:
            with concurrent.futures.ThreadPoolExecutor(1) as pool:
                running = pool.submit(head.chat, PROMPTS[3], 200)
                head.until(lambda: head.ask("GET", "/v1/omni/replicas")[1]["data"][0]["running"] == 1)
                leaving.send(signal.SIGTERM)
                head.until(lambda: head.replicas().get((0, 0)) != "serving")
                with Replicas(head.join_port, 0).joined():
                    self.assertIsNone(head.chat(PROMPTS[4])[1])
                    self.assertIsNone(running.result(TIMEOUT_S)[1])
                    self.assertEqual(leaving.wait(), 0)
                    self.assertEqual([state for (stage, _), state in head.replicas().items() if stage == 0], ["serving"])

    def test_a_drain_while_it_joins(self):
        """By the operator and by SIGTERM, before the replica serves: its process ends, its id is free again, nothing else changes."""
        with Head("--stage-id", "0") as head:
            drains = {"operator": lambda _: self.assertEqual(head.ask("POST", "/v1/omni/replicas/0/1/drain")[0], 202),
                      "SIGTERM": lambda joining: joining.send(signal.SIGTERM)}
            for name, drain in drains.items():
                with self.subTest(name), Relay(head.join_port) as relay, Replicas(relay.port, 0) as joining:
                    joining.joined()
                    self.assertEqual(head.replicas(), {(0, 0): "serving", (0, 1): "starting"})
                    drain(joining)
                    self.assertIsNone(head.chat(PROMPTS[0])[1])
                    self.assertEqual(joining.wait(), 0)
                    self.assertEqual(head.replicas(), {(0, 0): "serving"})
            with Replicas(head.join_port, 0).joined():
                head.until(lambda: head.replicas() == {(0, 0): "serving", (0, 1): "serving"})

    def test_fifty_joins_and_leaves(self):
        """The one replica of the last stage comes, speaks and goes; the head keeps nothing of it."""
        with Head("--stage-overrides", '{"2": {"num_replicas": 0}}') as head:
            for cycle in range(50):
                with Replicas(head.join_port, 2) as there:
                    sound = head.speak("Hi.")  # waits for it
                    there.send(signal.SIGTERM)
                    self.assertEqual(there.wait(), 0)
                if cycle == 0:
                    expected = sound
                self.assertEqual(sound, expected)
                self.assertNotIn((2, 0), head.replicas())
                if cycle == 9:
                    files, resident = head.open_files(), head.resident_bytes()
            head.until(lambda: head.open_files() <= files + 2)
            self.assertLess(head.resident_bytes(), resident * 1.03)

    def test_the_drain_timeout_bounds_a_drain(self):
        with Head("--stage-id", "1", "--omni-dispatch-timeout", "0") as head, \
                Replicas(head.join_port, 0, "--drain-timeout", "0").joined() as leaving:
            with concurrent.futures.ThreadPoolExecutor(1) as pool:
                running = pool.submit(head.chat, PROMPTS[3], 1500)
                head.until(lambda: head.ask("GET", "/v1/omni/replicas")[1]["data"][0]["running"] == 1)
                leaving.send(signal.SIGTERM)
                self.assertEqual(leaving.wait(), 0)
                self.assertIsNotNone(running.result(TIMEOUT_S)[1])


class Strangers(unittest.TestCase):
    def test_who_connects_and_falls_silent_is_closed(self):
        """Without a word, within a hello, after it, and within the message that follows it: the head goes on."""
        text = b"9.9"
        hello = struct.pack("<BQII3sBQQIH", 0, 0x31494E4D4F5652, 1, len(text), text, 0, 0, 77, 0, 0)
        frame = struct.pack("<I", len(hello)) + hello
        with Head("--stage-id", "0") as head:
            before, files = head.chat(PROMPTS[0]), head.open_files()
            silent = [socket.create_connection(("127.0.0.1", head.join_port), TIMEOUT_S) for _ in range(4)]
            others = [frame[:9], frame, frame + struct.pack("<IB", 1000, 3)]
            for connection, words in zip(silent[1:], others):
                connection.sendall(words.replace(struct.pack("<Q", 77), struct.pack("<Q", connection.fileno())))
            self.assertEqual(head.chat(PROMPTS[0]), before)
            heard = []
            for connection in silent:
                with connection, connection.makefile("rb") as answer:
                    heard.append(answer.read())  # until the head closes it
            self.assertEqual(heard[:2], [b"", b""])
            for words in heard[2:]:
                self.assertEqual(words[4:5], b"\x02", "a welcome")
            head.until(lambda: head.open_files() <= files)
            self.assertEqual(head.chat(PROMPTS[0]), before)
            self.assertEqual(head.replicas(), {(0, 0): "serving"})


class Authority:
    """A certificate authority in a folder of its own, and what it signed."""

    def __init__(self, folder, name):
        self.base = os.path.join(folder, name)
        curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        self._openssl("req", "-x509", *curve, "-days", "2", "-subj", f"/CN={name}", "-keyout", self.base + ".key", "-out", self.base + ".pem")
        self._openssl("req", *curve, "-subj", "/CN=host", "-keyout", self.base + "-host.key", "-out", self.base + "-host.csr")
        self._openssl("x509", "-req", "-in", self.base + "-host.csr", "-CA", self.base + ".pem", "-CAkey", self.base + ".key",
                      "-CAcreateserial", "-days", "2", "-out", self.base + "-host.pem")

    @staticmethod
    def _openssl(*arguments):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True)

    def flags(self):
        return ["--omni-tls-cert", self.base + "-host.pem", "--omni-tls-key", self.base + "-host.key", "--omni-tls-ca", self.base + ".pem"]


class Secured(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.ours = Authority(folder.name, "ours")
        self.others = Authority(folder.name, "others")

    def test_only_certificates_of_the_authority_take_part(self):
        with Head("--stage-id", "1", *self.ours.flags()) as head:
            with Replicas(head.join_port, 0) as plain, Replicas(head.join_port, 0, *self.others.flags()) as stranger:
                plain.wait_for_log("trying again")
                stranger.wait_for_log("certificate is not accepted")
                mixed = [*self.others.flags()[:4], *self.ours.flags()[4:]]
                with Replicas(head.join_port, 0, *mixed) as impostor:
                    impostor.wait_for_log("(TLS: ")  # the head says that it does not know the authority
                self.assertNotIn((0, 0), head.replicas())
                with Replicas(head.join_port, 0, *self.ours.flags()).joined():
                    self.assertIsNone(head.chat(PROMPTS[0])[1])
                    self.assertEqual([state for (stage, _), state in head.replicas().items() if stage == 0], ["serving"])

    def test_two_network_namespaces(self):
        space, here = f"omni{os.getpid()}", f"om{os.getpid()}"
        script = f"""ip netns add {space} && ip link add {here} type veth peer name eth7 netns {space} && ip addr add 10.231.7.1/30 dev {here} &&
            ip link set {here} up && ip -n {space} addr add 10.231.7.2/30 dev eth7 && ip -n {space} link set eth7 up"""
        self.addCleanup(lambda: subprocess.run(["ip", "netns", "del", space], capture_output=True) if shutil.which("ip") else None)
        made = subprocess.run(["sh", "-c", script], capture_output=True, text=True)
        if made.returncode != 0:
            self.skipTest("network namespaces are not permitted here: " + made.stderr.strip())
        address = ["--omni-master-address", "10.231.7.1"]
        with Head("--stage-id", "1", *address, *self.ours.flags()) as head:
            with Replicas(head.join_port, 0, *address, *self.ours.flags(), prefix=["ip", "netns", "exec", space]).joined():
                self.assertIsNone(head.chat(PROMPTS[0])[1])
                self.assertEqual(head.ask("GET", "/v1/omni/replicas")[1]["data"][0]["address"], "10.231.7.2")


class Operators(unittest.TestCase):
    def test_drain_by_the_operator_and_local_scaling(self):
        with Head("--stage-id", "0", "--api-key", "secret") as head, Replicas(head.join_port, 0).joined() as there:
            self.assertEqual(head.ask("GET", "/v1/omni/replicas")[0], 401)
            line = head.ask("GET", "/v1/omni/replicas", "secret")[1]["data"][1]
            self.assertEqual((line["stage"], line["replica"], line["address"]), (0, 1, "127.0.0.1"))
            status, problem = head.ask("DELETE", "/v1/omni/stages/0/replicas?replica_id=1", "secret")
            self.assertEqual(status, 404)
            self.assertIn("POST /v1/omni/replicas/0/1/drain", problem["error"]["message"])
            self.assertEqual(head.ask("POST", "/v1/omni/replicas/0/1/drain", "secret")[0], 202)
            self.assertEqual(there.wait(), 0)
            head.wait_for_log("Replica 1 of stage 0 has left.")
            self.assertEqual(head.ask("POST", "/v1/omni/replicas/0/1/drain", "secret")[0], 404)
            status, made = head.ask("POST", "/v1/omni/stages/0/replicas", "secret")
            self.assertEqual((status, made["replica"]), (201, 1))
            self.assertEqual(head.ask("POST", "/v1/omni/stages/9/replicas", "secret")[0], 404)
            status, gone = head.ask("DELETE", "/v1/omni/stages/0/replicas", "secret")
            self.assertEqual((status, gone["replica"]), (202, 1))

    def test_wrong_use(self):
        for flags, sentence in [(["--headless"], "--headless needs --stage-id"),
                                (["--headless", "--stage-id", "0"], "--headless needs --omni-master-port"),
                                (["--stage-id", "0"], "--stage-id needs --omni-master-port"),
                                (["--replica-id", "1"], "are for --headless"),
                                (["--omni-master-address", "0.0.0.0"], "can be reached from other machines"),
                                (["--stage-id", "9", "--omni-master-port", "1"], "the pipeline has stages 0 to 2"),
                                (["--omni-master-port", "1", "--omni-tls-ca", "x.pem"], "belong together"),
                                (["--headless", "--stage-id", "0", "--omni-master-port", "1", "--omni-replica-address", "0.0.0.0"],
                                 "can be reached from other machines")]:
            ended = subprocess.run([os.environ["OMNI_SERVE"], *flags], capture_output=True, text=True, timeout=TIMEOUT_S)
            self.assertEqual(ended.returncode, 2)
            self.assertIn(sentence, ended.stderr)
            self.assertNotIn("omni-serve: ", ended.stderr.split("omni-serve: ", 1)[1], "one sentence")


if __name__ == "__main__":
    unittest.main()
