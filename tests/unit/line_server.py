"""A tool server of the standard library alone, which starts fast, and misbehaves as its arguments say."""

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

MODE = sys.argv[1] if len(sys.argv) > 1 else ""
STARTS = os.environ.get("STARTS")
#: A file that outlives the server, as the database of most servers does.
STORE = os.environ.get("STORE")
ITEMS = json.loads(Path(STORE).read_text()) if STORE and Path(STORE).exists() else {"a": 1}


def text(value, *, error=False):
    return {"content": [{"type": "text", "text": value}], "isError": error}


def schema(**types):
    properties = {name: {"type": kind} for name, kind in types.items()}
    return {"type": "object", "properties": properties, "required": list(types)}


TOOLS = [
    {"name": "get", "description": "Get.", "inputSchema": schema(key="string"), "annotations": {"readOnlyHint": True}},
    {"name": "put", "description": "Put.", "inputSchema": schema(key="string", value="integer")},
    {"name": "crash", "description": "Crash.", "inputSchema": schema()},
    {"name": "hang", "description": "Hang.", "inputSchema": schema()},
    {"name": "has", "inputSchema": schema(key="string"), "annotations": {"readOnlyHint": True}},
    {"name": "dump", "inputSchema": schema(), "annotations": {"readOnlyHint": True}},
]


if STORE:
    TOOLS.append({"name": "reset", "inputSchema": schema()})


def with_ok(declared):
    return {"type": "object", "properties": {"ok": declared}}


#: By the name of a tool: the rest of a result, and the schema of results that it is declared with.
RESULTS = {
    "fits": ({"structuredContent": {"ok": True}}, schema(ok="boolean")),
    "differs": ({"structuredContent": {"ok": "nope"}}, schema(ok="boolean")),
    "lacks": ({}, schema(ok="boolean")),
    "refuses": ({"structuredContent": {"code": 1}, "isError": True}, schema(ok="boolean")),
    "elsewhere": ({"structuredContent": {"ok": True}}, with_ok({"$ref": "http://schemas.invalid/ok.json"})),
    "unknown": ({"structuredContent": {"ok": True}}, with_ok({"type": "bool"})),
}
if "results" in MODE:
    read = {"inputSchema": schema(), "annotations": {"readOnlyHint": True}}
    TOOLS += [{"name": name, **read, "outputSchema": declared} for name, (_, declared) in RESULTS.items()]


def put(key, value):
    ITEMS[key] = value
    if MODE == "random":
        ITEMS[str(uuid.uuid4())] = value
    if STORE:
        Path(STORE).write_text(json.dumps(ITEMS))
    return text("done")


def call(name, arguments):
    if name == "crash":
        print("the disk is full", file=sys.stderr, flush=True)
        os._exit(3)
    if name == "hang":
        time.sleep(600)
    if name == "get":
        key = arguments["key"]
        return text(json.dumps(ITEMS[key])) if key in ITEMS else text(f"no {key}", error=True)
    if name == "put":
        return put(**arguments)
    if name == "reset":
        if MODE == "read-only":
            return text("the store is read-only", error=True)
        ITEMS.clear()
        return put("a", 1)
    if name == "has":
        return text("", error=False) | {"structuredContent": {"result": arguments["key"] in ITEMS}}
    return text(json.dumps(ITEMS))


def answer(method, params):
    if method == "initialize":
        server = {"name": "line", "version": "1"}
        capabilities = {"tools": {}, "resources": {}}
        return {"protocolVersion": params["protocolVersion"], "capabilities": capabilities, "serverInfo": server}
    if method == "tools/list":
        begin = int(params.get("cursor") or 0)
        end = begin + 4 if "pages" in MODE else len(TOOLS)
        return {"tools": TOOLS[begin:end]} | ({"nextCursor": str(end)} if end < len(TOOLS) else {})
    if method == "tools/call":
        name = params["name"]
        return (text("its text") | RESULTS[name][0]) if name in RESULTS else call(name, params.get("arguments") or {})
    if method == "resources/read" and params["uri"] == "items://all":
        if MODE == "without state":
            return {"contents": []}
        state = MODE.removeprefix("state ") if MODE.startswith("state") else json.dumps(ITEMS)
        return {"contents": [{"uri": params["uri"], "text": state}]}
    return None


def main():
    if STARTS:
        with Path(STARTS).open("a") as file:
            file.write(f"{os.getpid()}\n")
    if MODE == "broken":
        raise SystemExit("no database at localhost")
    if MODE.startswith("printing"):
        print(MODE.removeprefix("printing "), flush=True)
    if MODE == "silent":
        time.sleep(600)
    if MODE == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        with Path(STARTS).open("a") as file:
            file.write(f"{child.pid}\n")
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        result = answer(request["method"], request.get("params") or {})
        body = {"result": result} if result is not None else {"error": {"code": -32601, "message": "no such thing"}}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **body}), flush=True)
    if MODE == "stubborn":
        time.sleep(600)


if __name__ == "__main__":
    main()
