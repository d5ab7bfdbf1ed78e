"""`meshwright mcp` as agents talk to it: plain JSON-RPC lines, and PyPI's client `mcp` where it is installed."""
import asyncio
import contextlib
import importlib.util
import json
import pathlib
import subprocess
import tempfile
import unittest

from module import CONFIG, PROGRAM, QUESTION, SOURCE, printed, without_time, words

ESTIMATE = QUESTION | {"layout": "tp2.pp1.dp16"}
INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


def request(number, method, **params):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def call(number, tool, arguments):
    return request(number, "tools/call", name=tool, arguments=arguments)


def answers(messages, *flags):
    """The responses by id, after everything that was printed turned out to be JSON-RPC."""
    lines = "".join((text if isinstance(text, str) else json.dumps(text)) + "\n" for text in messages)
    done = subprocess.run([PROGRAM, "mcp", *flags], input=lines, capture_output=True, text=True, check=False,
                          timeout=100)
    assert done.returncode == 0, done.stderr
    read = [json.loads(line) for line in done.stdout.splitlines()]
    assert all(message["jsonrpc"] == "2.0" for message in read)
    return {message.get("id"): message for message in read}


def result(message, *flags):
    return answers([message], *flags)[1]["result"]


class Protocol(unittest.TestCase):
    def test_speaks_the_revision_that_is_asked_for_or_the_newest(self):
        for asked, spoken in (("2024-11-05", "2024-11-05"), ("1999-01-01", "2025-06-18")):
            started = result(request(1, "initialize", **INITIALIZE | {"protocolVersion": asked}))
            self.assertEqual(started["protocolVersion"], spoken)
            self.assertEqual(started["serverInfo"]["name"], "meshwright")

    def test_answers_every_request_and_no_notification(self):
        read = answers([request(1, "ping"), {"jsonrpc": "2.0", "method": "notifications/initialized"},
                        request(2, "resources/list"), request("three", "ping")])
        self.assertEqual(set(read), {1, 2, "three"})
        self.assertEqual(read[1]["result"], {})
        self.assertEqual(read[2]["error"]["code"], -32601)

    def test_refuses_lines_that_are_no_request(self):
        for line, code in (("{", -32700), ("[]", -32600), ('{"jsonrpc": "2.0", "id": [1], "method": "ping"}', -32600),
                           ('{"jsonrpc": "2.0", "id": 1}', -32600)):
            (message,) = answers([line]).values()
            self.assertEqual(message["error"]["code"], code, line)

    def test_goes_on_after_a_bad_line(self):
        self.assertEqual(answers(["{", request(2, "ping")])[2]["result"], {})


class Tools(unittest.TestCase):
    def names(self, *flags):
        return [tool["name"] for tool in result(request(1, "tools/list"), *flags)["tools"]]

    def test_tools_of_a_server_need_one_and_changes_are_allowed_apart(self):
        readers = ["recommend", "estimate", "compare", "fit"]
        self.assertEqual(self.names(), readers)
        server = ("--server", "127.0.0.1:1")
        self.assertEqual(self.names(*server), [*readers, "history", "sweep_show"])
        self.assertEqual(self.names(*server, "--allow-sweeps"),
                         [*readers, "history", "sweep_show", "sweep_start", "sweep_cancel"])

    def test_a_tool_that_is_not_offered_can_not_be_called(self):
        read = answers([call(1, "sweep_cancel", {"name": "x"})], "--server", "127.0.0.1:1")
        self.assertEqual(read[1]["error"]["code"], -32602)

    def test_sweeps_need_a_server(self):
        done = subprocess.run([PROGRAM, "mcp", "--allow-sweeps"], input="", capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("needs --server", done.stderr)

    def test_listings_say_what_goes_in_and_what_comes_out(self):
        tools = {tool["name"]: tool for tool in result(request(1, "tools/list"))["tools"]}
        taken = tools["recommend"]["inputSchema"]
        self.assertEqual(taken["required"], ["model", "cluster", "seq_len"])
        self.assertEqual(taken["properties"]["gpus"]["type"], "integer")
        self.assertIn("in place of global_batch;", taken["properties"]["global_batch_tokens"]["description"])
        for hidden in ("plot", "server", "token_file", "tls_ca", "format", "wide"):
            self.assertNotIn(hidden, taken["properties"])
        for name, tool in tools.items():
            written = json.loads((SOURCE / f"docs/schema/{name}.json").read_text())
            self.assertEqual(tool["outputSchema"]["required"], written["required"])
            self.assertNotIn("parts.json", json.dumps(tool["outputSchema"]))

    def test_answers_are_those_of_the_command(self):
        read = result(call(1, "estimate", ESTIMATE))
        self.assertFalse(read["isError"])
        self.assertEqual(without_time(read["structuredContent"]), printed("estimate", *words(ESTIMATE)))
        self.assertEqual(json.loads(read["content"][0]["text"]), read["structuredContent"])

    def test_errors_are_for_the_model_to_read(self):
        for changes, said in (({"seq_len": -1}, "seq_len -1"), ({"gpu": 3}, "nearest: gpus"),
                              ({"gpus": "8..64"}, "must be a whole number"),
                              ({"plot": "/tmp/x.svg"}, "not an argument"), ({"server": "other:1"}, "not an argument")):
            read = result(call(1, "recommend", QUESTION | changes))
            self.assertTrue(read["isError"], changes)
            self.assertIn(said, read["content"][0]["text"])

    def test_several_calls_are_all_answered(self):
        read = answers([call(number, "estimate", ESTIMATE) for number in range(8)])
        self.assertEqual(set(read), set(range(8)))
        self.assertEqual(len({read[n]["result"]["structuredContent"]["time"]["step_s"] for n in read}), 1)

    def test_a_cancelled_call_ends_without_an_answer(self):
        long = QUESTION | {"model": "llama-3-405b", "cluster": "h100", "gpus": 16384, "global_batch": 2048,
                           "offload": "act:1,act:2,act:4,act:8,opt"}
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
        self.assertEqual(set(answers([call(1, "recommend", long), cancel, request(2, "ping")])), {2})


class Files(unittest.TestCase):
    """What a stranger behind the agent may read and write."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.root = self.folder / "root"
        (self.root / "model").mkdir(parents=True)
        for path in (self.root / "model/config.json", self.folder / "outside.json"):
            path.write_text(json.dumps(CONFIG))
        (self.root / "link.json").symlink_to(self.folder / "outside.json")

    def estimate(self, model, **further):
        return result(call(1, "estimate", ESTIMATE | {"model": model} | further), "--root", str(self.root))

    def test_reads_below_its_root(self):
        for model in ("model", "model/config.json", str(self.root / "model"), CONFIG):
            self.assertFalse(self.estimate(model)["isError"], model)

    def test_reads_nothing_else(self):
        for model in ("../outside.json", str(self.folder / "outside.json"), "link.json", "model/../../outside.json"):
            read = self.estimate(model)
            self.assertTrue(read["isError"], model)
            self.assertIn("must lie below the folder", read["content"][0]["text"])
        self.assertTrue(self.estimate("model", measured=[str(self.folder / "outside.json")])["isError"])

    def test_does_not_read_the_agents_messages_as_a_model(self):
        self.assertTrue(self.estimate("-")["isError"])

    def test_writes_nothing(self):
        before = sorted(self.folder.rglob("*"))
        self.estimate("model")
        self.assertEqual(sorted(self.folder.rglob("*")), before)


@unittest.skipUnless(importlib.util.find_spec("mcp"), "PyPI's client mcp is not installed in this Python")
class Client(unittest.TestCase):
    """PyPI's client, which checks answers against the schemas that the server gives."""

    def run_client(self, act):
        from mcp import ClientSession, StdioServerParameters
        from mcp.client.stdio import stdio_client

        async def run():
            async with contextlib.AsyncExitStack() as stack:
                streams = await stack.enter_async_context(
                    stdio_client(StdioServerParameters(command=str(PROGRAM), args=["mcp"])))
                session = await stack.enter_async_context(ClientSession(*streams))
                await session.initialize()
                return await act(session)
        return asyncio.run(run())

    def test_lists_and_calls_tools(self):
        async def act(session):
            tools = await session.list_tools()
            answer = await session.call_tool("recommend", QUESTION | {"top": 2})
            refused = await session.call_tool("recommend", QUESTION | {"seq_len": -1})
            return [tool.name for tool in tools.tools], answer, refused
        names, answer, refused = self.run_client(act)
        self.assertEqual(names, ["recommend", "estimate", "compare", "fit"])
        self.assertIn("layouts", answer.content[0].text)
        self.assertIn("seq_len", refused.content[0].text)


if __name__ == "__main__":
    unittest.main()
