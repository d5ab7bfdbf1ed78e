#!/usr/bin/env python3
"""The manifests of tools/share/kubernetes: that Kubernetes takes each of them, that they fit each other, and that the server's
command line is one. They need PyYAML, and the schemas of kubernetes-validate: `tools/setup --kubernetes` (exit code 77 where
python3 has neither).

Usage: manifests_test.py MESHWRIGHT [unittest's arguments]
"""
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import kubernetes_python

if __name__ == "__main__":
    kubernetes_python.use()
try:
    import yaml
except ImportError:
    yaml = None
try:
    import kubernetes_validate
except ImportError:
    kubernetes_validate = None

SKIPPED = 77
MESHWRIGHT = ""
FOLDER = pathlib.Path(__file__).resolve().parents[3] / "tools" / "share" / "kubernetes"
KUSTOMIZATION = FOLDER / "kustomization.yaml"
# What the server asks the API for.
RULES = {("jobset.x-k8s.io", "jobsets"): {"get", "list", "watch", "create", "patch", "delete"},
         ("", "pods"): {"get", "list", "watch"}}


def read(file: pathlib.Path) -> list[dict]:
    return [item for item in yaml.safe_load_all(file.read_text()) if item]


def expanded(text: str, variables: dict[str, str]) -> str:
    """As Kubernetes does it."""
    return re.sub(r"\$\((\w+)\)", lambda found: variables.get(found[1], found[0]), text)


@unittest.skipIf(yaml is None, "python3 has no PyYAML")
class ManifestsTest(unittest.TestCase):
    def setUp(self):
        self.kustomization = read(KUSTOMIZATION)[0]
        self.items = {item["kind"]: item for name in self.kustomization["resources"] for item in read(FOLDER / name)}
        self.pod = self.items["Deployment"]["spec"]["template"]
        self.container, = self.pod["spec"]["containers"]
        self.settings = dict(line.split("=", 1) for line in (FOLDER / "settings.env").read_text().splitlines()
                             if not line.startswith("#"))

    def args(self) -> list[str]:
        namespace = self.kustomization["namespace"]
        return [expanded(word, {**self.settings, "NAMESPACE": namespace}) for word in self.container["args"]]

    def flag(self, name: str) -> str:
        return next(word.partition("=")[2] for word in self.args() if word.startswith(f"{name}="))

    def test_every_file_is_one_of_its_resources(self):
        files = {file.name for file in FOLDER.iterdir()} - {"kustomization.yaml", "settings.env"}
        self.assertEqual(files, set(self.kustomization["resources"]))
        self.assertEqual(self.kustomization["configMapGenerator"], [{"name": "meshwright-settings", "envs": ["settings.env"]}])

    def test_the_server_may_do_what_it_does_and_no_more(self):
        rules = {(group, resource): set(rule["verbs"]) for rule in self.items["Role"]["rules"]
                 for group in rule["apiGroups"] for resource in rule["resources"]}
        self.assertEqual(rules, RULES)
        account = self.items["ServiceAccount"]["metadata"]["name"]
        self.assertEqual(self.items["RoleBinding"]["subjects"], [{"kind": "ServiceAccount", "name": account}])
        self.assertEqual(self.items["RoleBinding"]["roleRef"]["name"], self.items["Role"]["metadata"]["name"])
        self.assertEqual(self.pod["spec"]["serviceAccountName"], account)
        security = self.container["securityContext"]
        self.assertTrue(self.pod["spec"]["securityContext"]["runAsNonRoot"])
        self.assertTrue(security["readOnlyRootFilesystem"])
        self.assertEqual((security["allowPrivilegeEscalation"], security["capabilities"]), (False, {"drop": ["ALL"]}))

    def test_one_process_has_the_database(self):
        spec = self.items["Deployment"]["spec"]
        self.assertEqual((spec["replicas"], spec["strategy"]["type"]), (1, "Recreate"))
        self.assertEqual(self.container["resources"]["requests"], self.container["resources"]["limits"])
        volumes = {volume["name"]: volume for volume in self.pod["spec"]["volumes"]}
        mounts = {mount["mountPath"]: mount["name"] for mount in self.container["volumeMounts"]}
        database = volumes[mounts[str(pathlib.PurePath(self.flag("--db")).parent)]]
        self.assertEqual(database["persistentVolumeClaim"]["claimName"],
                         self.items["PersistentVolumeClaim"]["metadata"]["name"])
        self.assertEqual(set(mounts.values()), set(volumes))
        for name in ("--tls-cert", "--tls-key", "--tls-client-ca", "--agent-tls-ca", "--agent-tls-cert", "--agent-tls-key"):
            self.assertIn("secret", volumes[mounts[str(pathlib.PurePath(self.flag(name)).parent)]], name)
        # Agents' pods have the same files at the same paths.
        agents = volumes[mounts["/etc/meshwright"]]
        self.assertEqual(agents["secret"]["secretName"], self.flag("--secret"))

    def test_the_service_leads_to_the_server(self):
        service = self.items["Service"]
        labels = self.pod["metadata"]["labels"]
        self.assertEqual(self.items["Deployment"]["spec"]["selector"]["matchLabels"], labels)
        self.assertEqual(service["spec"]["selector"], labels)
        port, = service["spec"]["ports"]
        named = {each["name"]: each["containerPort"] for each in self.container["ports"]}
        self.assertEqual(self.flag("--listen"), f"0.0.0.0:{named[port['targetPort']]}")
        address = f"{service['metadata']['name']}.{self.kustomization['namespace']}.svc:{port['port']}"
        self.assertEqual(self.flag("--agent-server"), address)
        for probe in ("startupProbe", "readinessProbe"):
            self.assertIn(self.container[probe]["tcpSocket"]["port"], named)

    def test_the_settings_are_those_that_the_command_line_has(self):
        used = {name for word in self.container["args"] for name in re.findall(r"\$\((\w+)\)", word)}
        self.assertEqual(used, {*self.settings, "NAMESPACE"})
        self.assertEqual([entry["configMapRef"]["name"] for entry in self.container["envFrom"]], ["meshwright-settings"])

    def test_the_command_line_is_one(self):
        # Help checks values, and not whether there are such flags.
        done = subprocess.run([MESHWRIGHT, *self.args(), "--help"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        known = set(re.findall(r"^ +(--[a-z-]+)", done.stdout, re.MULTILINE))
        self.assertEqual({word.partition("=")[0] for word in self.args()[1:]} - known, set())
        self.assertEqual((self.container["command"], self.args()[0]), (["meshwright"], "serve"))

    def rendered(self) -> list[dict]:
        done = subprocess.run(["kubectl", "kustomize", FOLDER], capture_output=True, text=True, check=True)
        return list(yaml.safe_load_all(done.stdout))

    @unittest.skipIf(shutil.which("kubectl") is None, "there is no kubectl here")
    def test_kustomize_puts_all_into_the_namespace(self):
        items = self.rendered()
        self.assertEqual({item["kind"] for item in items}, {*self.items, "ConfigMap"})
        self.assertEqual({item["metadata"]["namespace"] for item in items}, {self.kustomization["namespace"]})
        binding, = [item for item in items if item["kind"] == "RoleBinding"]
        self.assertEqual(binding["subjects"][0]["namespace"], self.kustomization["namespace"])

    @unittest.skipIf(kubernetes_validate is None, "python3 has no kubernetes-validate")
    def test_kubernetes_takes_each_of_them(self):
        for kind, item in self.items.items():
            with self.subTest(kind):
                kubernetes_validate.validate(item, kubernetes_validate.latest_version(), strict=True)

    @unittest.skipIf(kubernetes_validate is None, "python3 has no kubernetes-validate")
    def test_the_check_finds_a_key_that_is_wrong(self):
        self.container["resource"] = self.container.pop("resources")
        with self.assertRaises(kubernetes_validate.ValidationError):
            kubernetes_validate.validate(self.items["Deployment"], kubernetes_validate.latest_version(), strict=True)


def main() -> None:
    global MESHWRIGHT
    MESHWRIGHT = sys.argv.pop(1)
    result = unittest.main(exit=False, verbosity=2).result
    if result.wasSuccessful() and result.testsRun == len(result.skipped):
        sys.exit(SKIPPED)
    sys.exit(0 if result.wasSuccessful() else 1)


if __name__ == "__main__":
    main()
