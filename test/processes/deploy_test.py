"""The files of docs/deploy: they are what they claim to be, and every flag in them exists."""
import os
import pathlib
import re
import subprocess
import unittest

import yaml

FOLDER = pathlib.Path(__file__).resolve().parent.parent.parent / "docs" / "deploy"


class DeployFiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.help = subprocess.run([os.environ["OMNI_SERVE"], "--help"], capture_output=True, text=True, timeout=60).stdout

    def test_every_flag_exists(self):
        files = [path for path in FOLDER.iterdir() if path.is_file()]
        self.assertGreater(len(files), 4)
        for path in files:
            text = re.sub(r"(?m)^(openssl|\s*#).*$|docker compose.*$", "", path.read_text())
            for flag in set(re.findall(r"--[a-z][a-z0-9-]+", text)):
                if path.name == "README.md" and flag in ("--scale",):
                    continue
                self.assertRegex(self.help, re.escape(flag) + r"\b", f"{path.name} names {flag}")

    def test_the_commands_of_containers_are_accepted(self):
        """Each is run with a last flag that ends it: what comes before must be right."""
        compose = yaml.safe_load((FOLDER / "compose.yaml").read_text())
        commands = [service["command"] for service in compose["services"].values()]
        for one in yaml.safe_load_all((FOLDER / "kubernetes.yaml").read_text()):
            if one["kind"] == "StatefulSet":
                commands += [container["args"] for container in one["spec"]["template"]["spec"]["containers"]]
        self.assertEqual(len(commands), 6)
        for command in commands:
            ended = subprocess.run([os.environ["OMNI_SERVE"], *command, "--deploy-config", "/nonexistent.yaml"], capture_output=True, text=True, timeout=60)
            self.assertIn("There is no pipeline '/nonexistent.yaml'", ended.stderr)

    def test_kubernetes_objects_fit_together(self):
        objects = list(yaml.safe_load_all((FOLDER / "kubernetes.yaml").read_text()))
        sets = {one["metadata"]["name"]: one["spec"] for one in objects if one["kind"] == "StatefulSet"}
        self.assertEqual(set(sets), {"omni-head", "omni-stage-1", "omni-stage-2"})
        for spec in sets.values():
            labels = spec["template"]["metadata"]["labels"]
            self.assertEqual(spec["selector"]["matchLabels"], labels)
            pod = spec["template"]["spec"]
            mounts = {mount["name"] for container in pod["containers"] for mount in container["volumeMounts"]}
            self.assertEqual(mounts, {volume["name"] for volume in pod["volumes"]})
            args = pod["containers"][0]["args"]
            self.assertGreater(pod["terminationGracePeriodSeconds"], int(args[args.index("--drain-timeout") + 1]))
        for service in (one for one in objects if one["kind"] == "Service"):
            self.assertIn(service["spec"]["selector"]["app"], sets)
        scaler = next(one for one in objects if one["kind"] == "ScaledObject")
        self.assertIn(scaler["spec"]["scaleTargetRef"]["name"], sets)

    def test_the_autoscaler_asks_for_series_that_exist(self):
        page = (FOLDER.parent / "metrics.md").read_text()
        for name in re.findall(r"vllm:[a-z_]+", (FOLDER / "kubernetes.yaml").read_text()):
            self.assertIn(name, page)


if __name__ == "__main__":
    unittest.main()
