"""Runs one Harbor agent class for evsys.

Lines of JSON over the standard streams: the first line read says which class and which task; what the agent asks of its
environment goes out as calls and comes back as replies; the last line written says how it ended. The model is reached over HTTP,
at the address in OPENAI_BASE_URL or ANTHROPIC_BASE_URL. Standard library alone; Harbor itself is used where it is installed.
"""

import asyncio
import importlib
import inspect
import json
import logging
import os
import shlex
import sys
import threading
import traceback
import types
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# What the agent prints must not mix with the lines: they get a stream of their own.
_out = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)
_lock = threading.Lock()


def send(message: dict) -> None:
    with _lock:
        _out.write(json.dumps(message) + "\n")
        _out.flush()


class Calls:
    """Calls of ours that evsys answers."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._open: dict[int, asyncio.Future] = {}
        self._next = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in sys.stdin:
            message = json.loads(line)
            self._loop.call_soon_threadsafe(self._settle, message)
        os._exit(1)  # nobody is left to answer

    def _settle(self, message: dict) -> None:
        future = self._open.pop(message["id"], None)
        if future is None or future.done():
            return
        if "error" in message:
            future.set_exception(RuntimeError(message["error"]))
        else:
            future.set_result(message.get("result"))

    async def call(self, method: str, **args: Any) -> Any:
        self._next += 1
        future = self._loop.create_future()
        self._open[self._next] = future
        send({"t": "call", "id": self._next, "method": method, "args": args})
        return await future


@dataclass
class ExecResult:
    stdout: str | None
    stderr: str | None
    return_code: int


@dataclass
class AgentContext:
    n_input_tokens: int | None = None
    n_cache_tokens: int | None = None
    n_output_tokens: int | None = None
    cost_usd: float | None = None
    rollout_details: Any = None
    metadata: dict | None = field(default=None)

    def is_empty(self) -> bool:
        return all(value is None for value in vars(self).values())


class BaseEnvironment:
    """Stands for Harbor's class where Harbor is not installed."""


class BaseAgent:
    """Stands for Harbor's class where Harbor is not installed."""

    SUPPORTS_ATIF = False

    def __init__(self, logs_dir, model_name=None, logger=None, mcp_servers=None, skills_dir=None, *args, extra_env=None, **kwargs):
        self.logs_dir = Path(logs_dir)
        self.model_name = model_name
        self.logger = logger or logging.getLogger("agent")
        self.mcp_servers = mcp_servers or []
        self.skills_dir = skills_dir
        self.extra_env = dict(extra_env or {})

    @staticmethod
    def name() -> str:
        return "agent"

    def version(self) -> str | None:
        return None

    async def setup(self, environment) -> None:
        pass


def stand_in() -> None:
    """The few modules that agent classes import, where Harbor is not installed."""
    contents = {
        "harbor": {},
        "harbor.agents": {},
        "harbor.agents.base": {"BaseAgent": BaseAgent},
        "harbor.environments": {},
        "harbor.environments.base": {"BaseEnvironment": BaseEnvironment, "ExecResult": ExecResult},
        "harbor.models": {},
        "harbor.models.agent": {},
        "harbor.models.agent.context": {"AgentContext": AgentContext},
    }
    for name, values in contents.items():
        module = types.ModuleType(name)
        module.__path__ = []
        module.__dict__.update(values)
        sys.modules[name] = module


def environment_class() -> type:
    base = sys.modules["harbor.environments.base"].BaseEnvironment

    class Environment(base):
        def __init__(self, calls: Calls, workdir: str, session_id: str) -> None:
            self._calls = calls
            self.workdir = workdir
            self.session_id = session_id
            self.default_user = None
            self.logger = logging.getLogger("environment")

        async def exec(self, command, cwd=None, env=None, timeout_sec=None, user=None, **_):
            given = await self._calls.call("exec", command=command, cwd=cwd, env=env, timeout_sec=timeout_sec, user=user)
            result = sys.modules["harbor.environments.base"].ExecResult
            return result(stdout=given["stdout"], stderr=given["stderr"], return_code=given["return_code"])

        async def upload_file(self, source_path, target_path):
            await self._calls.call("upload", source=str(Path(source_path).resolve()), target=str(target_path))

        async def upload_dir(self, source_dir, target_dir):
            await self._calls.call("upload", source=str(Path(source_dir).resolve()), target=str(target_dir))

        async def download_file(self, source_path, target_path):
            await self._calls.call("download", source=str(source_path), target=str(Path(target_path).resolve()))

        async def download_dir(self, source_dir, target_dir):
            await self._calls.call("download", source=str(source_dir), target=str(Path(target_dir).resolve()))

        async def is_dir(self, path, user=None):
            return (await self.exec(f"test -d {shlex.quote(str(path))}")).return_code == 0

        async def is_file(self, path, user=None):
            return (await self.exec(f"test -f {shlex.quote(str(path))}")).return_code == 0

        async def start(self, force_build=False):
            pass

        async def stop(self, delete=False):
            pass

    Environment.__abstractmethods__ = frozenset()
    return Environment


def agent_class(import_path: str) -> type:
    module_name, _, class_name = import_path.partition(":")
    module = importlib.import_module(module_name)
    found = getattr(module, class_name, None)
    if not inspect.isclass(found):
        raise ImportError(f"module {module_name} has no class {class_name}")
    return found


async def main(start: dict) -> None:
    sys.path[:0] = start["path"]
    try:
        try:
            importlib.import_module("harbor.agents.base")
        except ModuleNotFoundError:
            stand_in()
        cls = agent_class(start["import_path"])
    except BaseException as error:
        send({"t": "failed", "phase": "load", "name": type(error).__name__, "message": str(error)})
        return
    try:
        context = sys.modules.get("harbor.models.agent.context") or importlib.import_module("harbor.models.agent.context")
        context = context.AgentContext()
        agent = cls(logs_dir=Path(start["logs_dir"]), model_name=start["model_name"], **start["kwargs"])
        environment = environment_class()(Calls(), start["workdir"], start["session_id"])
        await agent.setup(environment)
        await agent.run(start["instruction"], environment, context)
        metadata = getattr(context, "metadata", None)
        send({"t": "done", "metadata": json.loads(json.dumps(metadata, default=str))})
    except BaseException as error:
        traceback.print_exc()
        send({"t": "failed", "phase": "run", "name": type(error).__name__, "message": str(error)})


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.stdin.readline())))
    _out.flush()
    os._exit(0)  # threads of the agent do not keep it alive
