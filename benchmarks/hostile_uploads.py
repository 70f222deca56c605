"""How long twenty visitors wait for an answer while another uploads hostile files, beside how long they wait without.

    python -m benchmarks.hostile_uploads

The visitors are sessions of the app without a browser: each asks for the page Explore with another sentence, thinks
for ten seconds on average, and asks again. The attacker uploads, one after the other and without a pause, a small
GPT-2 with each of the odd tokenizers of the tests, and a zip that unpacks to more than an upload may hold. Rounds with
and without the attacker take turns.

Goal: the 95th percentile at most doubles. It prints; it fails where a visitor gets an exception or no answer.
"""

import argparse
import asyncio
import contextlib
import io
import random
import statistics
import tempfile
import time
import urllib.request
import zipfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from tqdm import tqdm
from websockets.asyncio.client import ClientConnection, connect

from benchmarks.trace import machine
from model.loading.checkpoint_files import CONFIG, TOKENIZER
from model.loading.headers import WEIGHTS
from tests import reference, tiny
from tests.kinds import GPT2
from tests.model.loading.foreign_tokenizers.odd_files import ODD_FILES
from tests.running import running_app

VISITORS, THINKING = 20, 10.0  # seconds
PATIENCE = 60.0  # seconds
LOUD = 40_000_000  # bytes that a small zip unpacks to
Files = Mapping[str, bytes]


class Session:
    """A visitor's connection to the app, as a browser has it."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.id = self.uploader = ""
        self.exceptions = self.refusals = 0

    async def receive(self) -> Any:
        """The next message."""
        message = ForwardMsg()
        message.ParseFromString(await asyncio.wait_for(self.socket.recv(), PATIENCE))
        if message.WhichOneof("type") == "new_session":
            self.id = message.new_session.initialize.session_id
        if message.WhichOneof("type") == "delta":
            element = message.delta.new_element
            self.exceptions += element.WhichOneof("type") == "exception"
            self.refusals += element.WhichOneof("type") == "alert" and element.alert.format == Alert.ERROR
            if element.WhichOneof("type") == "file_uploader":
                self.uploader = element.file_uploader.id
        return message

    async def run(self, query: str = "", page: str = "", widgets: Any = None) -> float:
        """Have the server run a page, and wait until it has; the seconds that it took."""
        start, request = time.perf_counter(), BackMsg()
        request.rerun_script.query_string = query
        request.rerun_script.page_name = page
        if widgets is not None:
            request.rerun_script.widget_states.widgets.append(widgets)
        await self.socket.send(request.SerializeToString())
        while (message := await self.receive()).script_finished != ForwardMsg.FINISHED_SUCCESSFULLY or (
            message.WhichOneof("type") != "script_finished"
        ):
            pass
        return time.perf_counter() - start

    async def upload(self, files: Files, address: str) -> None:
        """Give these files to the page's uploader."""
        request = BackMsg()
        request.file_urls_request.request_id = "files"
        request.file_urls_request.session_id = self.id
        request.file_urls_request.file_names.extend(files)
        await self.socket.send(request.SerializeToString())
        while (message := await self.receive()).WhichOneof("type") != "file_urls_response":
            pass
        widgets = BackMsg().rerun_script.widget_states.widgets.add()
        widgets.id = self.uploader
        for urls, (name, content) in zip(message.file_urls_response.file_urls, files.items(), strict=True):
            await asyncio.to_thread(put, f"{address}{urls.upload_url}", name, content)
            info = widgets.file_uploader_state_value.uploaded_file_info.add()
            info.file_id, info.name, info.size = urls.file_id, name, len(content)
            info.file_urls.CopyFrom(urls)
        await self.run(page="checkpoints", widgets=widgets)


@contextlib.asynccontextmanager
async def session(address: str) -> AsyncIterator[Session]:
    """A new visitor."""
    url = address.replace("http", "ws", 1) + "/_stcore/stream"
    async with connect(url, subprotocols=["streamlit"], max_size=None, ping_interval=None) as socket:  # type: ignore[list-item]
        yield Session(socket)


def put(url: str, name: str, content: bytes) -> None:
    """Send a file as a browser's form does."""
    line = "headlight-benchmark"
    head = f'--{line}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    body = head.encode() + content + f"\r\n--{line}--\r\n".encode()
    kind = {"Content-Type": f"multipart/form-data; boundary={line}"}
    with urllib.request.urlopen(urllib.request.Request(url, body, kind, method="PUT"), timeout=PATIENCE):
        pass


def hostile_uploads(folder: Path) -> list[Files]:
    """A sound small model with each odd tokenizer, and a zip that unpacks to too much."""
    reference.make("GPT2LMHeadModel", folder, **GPT2)
    tiny.tokenizer().save(folder / TOKENIZER)
    sound = {name: (folder / name).read_bytes() for name in (CONFIG, WEIGHTS)}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(WEIGHTS, bytes(LOUD))
        archive.writestr(CONFIG, sound[CONFIG])
    return [{"loud.zip": packed.getvalue()}, *({**sound, TOKENIZER: content} for content in ODD_FILES.values())]


async def visit(address: str, number: int, seconds: float) -> list[float]:
    """One visitor's waits."""
    chance, waits, end = random.Random(number), [], time.perf_counter() + seconds
    await asyncio.sleep(chance.uniform(0, THINKING))
    async with session(address) as one:
        await one.run()
        while time.perf_counter() < end:
            await asyncio.sleep(chance.uniform(0.5, 1.5) * THINKING)
            waits.append(await one.run(f"text=Visitor+{number}+said+it+{chance.randrange(10**6)}+times."))
        assert not one.exceptions, "a visitor got an exception"
    return waits


async def attack(address: str, uploads: Sequence[Files], is_over: Callable[[], bool]) -> str:
    """Upload until it is over; how many uploads that were, and how many were refused."""
    count = 0
    async with session(address) as one:
        await one.run(page="checkpoints")
        for files in cycle(uploads):
            if is_over():
                break
            await one.upload(files, address)
            count += 1
        return f"{count} hostile uploads, {one.refusals} of them refused,"


async def one_round(address: str, uploads: Sequence[Files], seconds: float) -> tuple[list[float], str]:
    """The waits of all visitors, with an attacker if there are uploads, and what came of those."""
    end = time.perf_counter() + seconds
    hostile = asyncio.create_task(attack(address, uploads, lambda: time.perf_counter() > end)) if uploads else None
    waits = await asyncio.gather(*(visit(address, number, seconds) for number in range(VISITORS)))
    return [wait for one in waits for wait in one], await hostile if hostile else ""


def main() -> None:
    """A line for every pair of rounds, and the median of their ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=60, help="of a round")
    options = parser.parse_args()
    print(machine())
    ratios = []
    # The attacker has no browser, which would bring the token that belongs to its cookie.
    unguarded = {"STREAMLIT_SERVER_ENABLE_XSRF_PROTECTION": "false"}
    with tempfile.TemporaryDirectory() as folder, running_app(variables=unguarded) as (address, _):
        uploads = hostile_uploads(Path(folder))
        asyncio.run(one_round(address, [], 5))  # the models are loaded
        for _ in tqdm(range(options.rounds)):
            quiet, _ = asyncio.run(one_round(address, [], options.seconds))
            loud, uploaded = asyncio.run(one_round(address, uploads, options.seconds))
            before, after = p95(quiet), p95(loud)
            ratios.append(after / before)
            tqdm.write(
                f"p95 of {len(quiet)} answers {before * 1000:.0f} ms; of {len(loud)} beside {uploaded} "
                f"{after * 1000:.0f} ms: {after / before:.2f}"
            )
    print(f"median of {len(ratios)} ratios: {statistics.median(ratios):.2f} (goal 2)")


def p95(waits: Sequence[float]) -> float:
    """The 95th percentile, in seconds."""
    return sorted(waits)[min(len(waits) - 1, int(0.95 * len(waits)))]


if __name__ == "__main__":
    main()
