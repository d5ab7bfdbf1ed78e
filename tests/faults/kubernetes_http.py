"""How the fake Kubernetes answers: HTTP/1.1 in plain text or TLS, errors as Status objects, watches as chunks of JSON lines.

Who asks needs the bearer token, and the verbs that the test allows.
"""
import dataclasses
import http.server
import json
import socket
import struct
import sys
import threading
import time
import typing
import urllib.parse

import kubernetes_rules
from kubernetes_jobs import suspend_queued
from kubernetes_store import KINDS, ApiError, Selector, conflict, details_of, full_name

if typing.TYPE_CHECKING:
    from kubernetes_api import KubernetesApi

STEP_S = 0.02
RESET = struct.pack("ii", 1, 0)  # SO_LINGER: close() sends a reset
GROUP_PATHS = {"jobsets": "/apis/jobset.x-k8s.io/v1alpha2/namespaces/", "pods": "/api/v1/namespaces/"}
APPLY_TYPE = "application/apply-patch+yaml"
FIELDS = {"jobsets": {"metadata.name", "metadata.namespace"},
          "pods": {"metadata.name", "metadata.namespace", "spec.nodeName", "status.phase"}}
ACCOUNT = "meshwright"  # the service account whose token the server takes


@dataclasses.dataclass(frozen=True)
class Request:
    verb: str  # get, list, watch, patch, delete
    resource: str
    name: str
    query: dict[str, str]
    code: int


@dataclasses.dataclass
class Failure:
    """Answers that the next applies get in place of their own."""
    left: int
    error: ApiError


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64
    timeout = STEP_S

    def __init__(self, api: "KubernetesApi", address: tuple[str, int]):
        self.api = api
        self.accepts = threading.Event()
        self.accepts.set()
        self.refuses = threading.Event()
        super().__init__(address, Handler)

    def serve(self) -> None:
        while not self.api.closing:
            if self.accepts.is_set():
                self.handle_request()
            else:
                self._refuse()

    def _refuse(self) -> None:
        """A socket that is bound and does not listen keeps the port."""
        self.socket.close()
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.refuses.set()
        while not self.accepts.wait(STEP_S) and not self.api.closing:
            pass
        self.socket.listen(self.request_queue_size)
        self.refuses.clear()

    def get_request(self):
        connection, address = super().get_request()
        if self.api.tls:  # the handshake is the handler's: a peer that says nothing holds up nobody
            connection = self.api.tls.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        return connection, address

    def handle_error(self, request, client_address) -> None:
        """Clients may go at any time."""
        error = sys.exc_info()[1]
        if not isinstance(error, (OSError, ValueError)):
            self.api.errors.append(error)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def setup(self) -> None:
        if self.server.api.tls:
            self.request.do_handshake()
        super().setup()

    def log_message(self, *_) -> None:
        pass

    def do_GET(self) -> None:
        self._handle(b"")

    def do_PATCH(self) -> None:
        self._handle(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    do_DELETE = do_POST = do_PUT = do_PATCH

    def _handle(self, body: bytes) -> None:
        api = self.server.api
        time.sleep(api.answer_delay_s)
        while api.silent and not api.closing:
            time.sleep(STEP_S)
        path, _, query = self.path.partition("?")
        asked = Asked(api, self, path, dict(urllib.parse.parse_qsl(query, keep_blank_values=True)), body)
        try:
            code, answer = asked.answer()
        except ApiError as error:
            asked.note(error.code)
            return self._send(error.code, error.status, error.headers)
        if answer is not None:
            asked.note(code)
            self._send(code, answer)
        return None

    def _send(self, code: int, answer: dict | str, headers: dict[str, str] | None = None) -> None:
        text = (answer if isinstance(answer, str) else json.dumps(answer)).encode()
        self.send_response(code)
        self.send_header("Content-Type", "text/plain" if isinstance(answer, str) else "application/json")
        self.send_header("Content-Length", str(len(text)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)

    # A watch: chunks of JSON lines.

    def begin_watch(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def send_line(self, kind: str, item: dict) -> bool:
        """Whether the connection is still whole."""
        api = self.server.api
        line = json.dumps({"type": kind, "object": item}).encode() + b"\n"
        truncated = api.truncate_lines > 0
        if truncated:
            api.truncate_lines -= 1
            line = line[:len(line) // 2]
        size = api.chunk_bytes or len(line)
        for start in range(0, len(line), size):
            chunk = line[start:start + size]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        if truncated:
            self.cut()
        return not truncated

    def end_watch(self) -> None:
        self.wfile.write(b"0\r\n\r\n")

    def cut(self) -> None:
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        self.connection.shutdown(socket.SHUT_RDWR)


class Asked:
    """One request: what it wants of which resource."""

    def __init__(self, api: "KubernetesApi", handler: Handler, path: str, query: dict[str, str], body: bytes):
        self.api = api
        self.store = api.store
        self.handler = handler
        self.path = path
        self.query = query
        self.body = body
        self.resource = next((name for name, prefix in GROUP_PATHS.items() if path.startswith(prefix)), "")
        self.namespace, _, rest = path.removeprefix(GROUP_PATHS.get(self.resource, "")).partition("/")
        of, _, self.name = rest.partition("/")
        if of != self.resource or "/" in self.name:
            self.resource = ""
        self.verb = self._verb()

    def _verb(self) -> str:
        if self.handler.command != "GET":
            return self.handler.command.lower()
        if self.name:
            return "get"
        return "watch" if self.query.get("watch") in ("1", "true") else "list"

    def note(self, code: int) -> None:
        self.api.requests.append(Request(self.verb, self.resource, self.name, self.query, code))

    def answer(self) -> tuple[int, dict | str | None]:
        """Nothing where a watch has answered for itself."""
        if self.handler.headers.get("Authorization") != f"Bearer {self.api.token}":
            raise ApiError(401, "Unauthorized", "Unauthorized")
        if self.path in (known := discovery(self.api.has_job_sets)):
            return 200, known[self.path]
        if not self.resource or (self.resource == "jobsets" and not self.api.has_job_sets):
            return 404, "404 page not found\n"
        self._authorize(self.verb)
        actions = {"get": self._get, "list": self._list, "watch": self._watch, "patch": self._apply, "delete": self._delete}
        if self.verb not in actions or (self.verb in ("patch", "delete") and self.resource != "jobsets"):
            raise ApiError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")
        return actions[self.verb]()

    def _authorize(self, verb: str) -> None:
        if (self.resource, verb) in self.api.allowed:
            return
        named = f' "{self.name}"' if self.name else ""
        group = "jobset.x-k8s.io" if self.resource == "jobsets" else ""
        user = f"system:serviceaccount:{self.namespace}:{ACCOUNT}"
        raise ApiError(403, "Forbidden", f'{full_name(self.resource)}{named} is forbidden: User "{user}" cannot {verb} resource '
                       f'"{self.resource}" in API group "{group}" in the namespace "{self.namespace}"',
                       details_of(self.resource, self.name))

    def _selector(self) -> Selector:
        fields = self._terms("fieldSelector")
        for field in fields:
            if field not in FIELDS[self.resource]:
                raise ApiError(400, "BadRequest", f'field label not supported: "{field}"')
        return Selector(self._terms("labelSelector"), fields)

    def _terms(self, name: str) -> dict[str, str]:
        terms = [term for term in self.query.get(name, "").split(",") if term]
        if not all("=" in term and "!=" not in term for term in terms):
            raise ApiError(400, "BadRequest", f"unable to parse requirement: {self.query[name]}")
        return {key.strip(): value.lstrip("=").strip() for key, _, value in (term.partition("=") for term in terms)}

    def _get(self) -> tuple[int, dict]:
        return 200, self.store.get(self.resource, self.namespace, self.name)

    def _version(self) -> int:
        text = self.query.get("resourceVersion") or "0"
        if not text.isdecimal():
            raise ApiError(400, "BadRequest", f'Invalid value: "{text}": a resourceVersion is a number')
        return int(text)

    def _list(self) -> tuple[int, dict]:
        self._version()
        return 200, self.store.page(self.resource, self.namespace, self._selector(), self.query)

    def _bool(self, name: str) -> bool:
        return self.query.get(name) in ("1", "true")

    # Apply and delete.

    def _apply(self) -> tuple[int, dict]:
        content = self.handler.headers.get("Content-Type", "").split(";")[0]
        if content != APPLY_TYPE:
            raise ApiError(415, "UnsupportedMediaType", f"the body of the request was in an unknown format - accepted media types "
                           f"include: {APPLY_TYPE}; this server takes no {content}")
        manager = self.query.get("fieldManager", "")
        if not manager:
            raise ApiError(400, "BadRequest", "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required "
                           "for apply patch")
        self._fail_if_asked_to()
        body = self._read_object()
        with self.store.changed:
            if not any(item["metadata"]["name"] == self.name for item in self.store.items(self.resource, self.namespace)):
                self._authorize("create")
                if self.namespace not in self.api.namespaces:
                    raise ApiError(404, "NotFound", f'namespaces "{self.namespace}" not found',
                                   {"name": self.namespace, "kind": "namespaces"})
            item, new = self.store.apply(self.resource, body, manager, force=self._bool("force"), admit=admit,
                                         dry_run=self.query.get("dryRun") == "All")
        return (201 if new else 200), item

    def _fail_if_asked_to(self) -> None:
        while self.api.failures:
            failure = self.api.failures[0]
            if failure.left > 0:
                failure.left -= 1
                raise failure.error
            self.api.failures.pop(0)

    def _read_object(self) -> dict:
        def refuse(message: str) -> typing.NoReturn:
            raise ApiError(400, "BadRequest", message)
        try:
            body = json.loads(self.body)
        except ValueError as error:
            refuse(f"error decoding YAML: {error}")
        if not isinstance(body, dict) or (body.get("apiVersion"), body.get("kind")) != KINDS[self.resource]:
            refuse(f"invalid object type: the apiVersion and kind of {self.path} are {' and '.join(KINDS[self.resource])}")
        metadata = body.setdefault("metadata", {})
        if metadata.setdefault("name", self.name) != self.name:
            refuse(f"the name of the object ({metadata['name']}) does not match the name on the URL ({self.name})")
        if metadata.setdefault("namespace", self.namespace) != self.namespace:
            refuse("the namespace of the provided object does not match the namespace sent on the request")
        if metadata.get("managedFields"):
            refuse("metadata.managedFields must be nil")
        return body

    def _delete(self) -> tuple[int, dict]:
        try:
            options = json.loads(self.body) if self.body else {}
        except ValueError as error:
            raise ApiError(400, "BadRequest", f"error decoding DeleteOptions: {error}") from None
        policy = self.query.get("propagationPolicy") or options.get("propagationPolicy") or "Background"
        with self.store.changed:
            item = self.store.get(self.resource, self.namespace, self.name)
            for field, wanted in options.get("preconditions", {}).items():
                if item["metadata"][field] != wanted:
                    raise conflict(self.resource, self.name, f"Precondition failed: {field} in precondition: {wanted}, {field} in "
                                   f"object meta: {item['metadata'][field]}")
            if self.query.get("dryRun") != "All" and options.get("dryRun") != ["All"]:
                item = self.api.controller.delete(item, policy)
        if policy == "Foreground":
            return 200, item
        return 200, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success",
                     "details": details_of(self.resource, self.name, uid=item["metadata"]["uid"])}

    # Watch.

    def _watch(self) -> tuple[int, None]:
        api, selector = self.api, self._selector()
        generation = api.watch_generation
        end = time.monotonic() + float(self.query.get("timeoutSeconds") or 3600)
        with self.store.changed:
            version = self._version()
            first = [("ADDED", item) for item in self.store.items(self.resource, self.namespace, selector)] if not version else []
            version = version or self.store.version
        if not api.expires_by_event:
            self.store.events_after(version, self.resource, self.namespace, selector)  # is it too old?
        self.note(200)
        self.handler.begin_watch()
        if all(self.handler.send_line(*line) for line in first):
            self._follow(version, selector, end, generation)
        return 200, None

    def _follow(self, version: int, selector: Selector, end: float, generation: int) -> None:
        api, handler = self.api, self.handler
        bookmark_at = time.monotonic() + api.bookmark_s
        while time.monotonic() < end:
            if generation != api.watch_generation:
                return handler.cut()
            if api.silent:
                time.sleep(STEP_S)
                continue
            try:
                lines, version = self.store.events_after(version, self.resource, self.namespace, selector)
            except ApiError as error:
                handler.send_line("ERROR", error.status)
                break
            if self._bool("allowWatchBookmarks") and time.monotonic() >= bookmark_at:
                lines.append(("BOOKMARK", self._bookmark(version)))
            if lines:
                bookmark_at = time.monotonic() + api.bookmark_s
            if not all(handler.send_line(*line) for line in lines):
                return None
            with self.store.changed:
                if self.store.version == version and generation == api.watch_generation:
                    self.store.changed.wait(min(max(end - time.monotonic(), 0.0), max(bookmark_at - time.monotonic(), STEP_S)))
        return handler.end_watch()

    def _bookmark(self, version: int) -> dict:
        api_version, kind = KINDS[self.resource]
        return {"kind": kind, "apiVersion": api_version, "metadata": {"resourceVersion": str(version), "creationTimestamp": None}}


def discovery(has_job_sets: bool) -> dict[str, dict]:
    """What there is, by the paths at which clients ask for it."""
    groups = []
    answers = {"/version": {"major": "1", "minor": "33", "gitVersion": "v1.33.0"},
               "/api": {"kind": "APIVersions", "versions": ["v1"]}, "/api/v1": resource_list("pods", ["get", "list", "watch"])}
    if has_job_sets:
        api_version = KINDS["jobsets"][0]
        group, _, version = api_version.partition("/")
        found = {"groupVersion": api_version, "version": version}
        groups.append({"name": group, "versions": [found], "preferredVersion": found})
        answers[f"/apis/{api_version}"] = resource_list("jobsets", ["create", "delete", "get", "list", "patch", "watch"])
    return {**answers, "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}}


def resource_list(resource: str, verbs: list[str]) -> dict:
    api_version, kind = KINDS[resource]
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": api_version, "resources": [
        {"name": resource, "singularName": kind.lower(), "namespaced": True, "kind": kind, "verbs": verbs}]}


def admit(item: dict, before: dict | None) -> None:
    """What the webhooks do to a JobSet, and whether it is taken."""
    kubernetes_rules.set_defaults(item)
    if not before:
        suspend_queued(item)
    kubernetes_rules.check(item, before)
