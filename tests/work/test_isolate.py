"""A function in a subprocess may crash, hang or leak: the caller gets an error that says so."""

import asyncio
import json
import os
import platform
import socket
import sys
from functools import partial
from pathlib import Path

import pytest

from mnemon.errors import NotFound
from mnemon.work.enqueue import enqueue
from mnemon.work.errors import MemoryLimitExceeded, ProcessDied, SubprocessFailed, TimeLimitExceeded
from mnemon.work.fork_client import Preparation
from mnemon.work.isolate import run_isolated as run_in_a_process

sys.path.insert(0, str(Path(__file__).parent))

import foreign
from foreign import Text

# Calls begin at once, however long a busy machine takes to import what they need.
run_isolated = partial(run_in_a_process, prepared=Preparation(foreign.count, Text(text="")))


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(") ", 1)[1][0] not in "ZX"
    except FileNotFoundError:
        return False


async def test_a_result_comes_back_from_another_process_whatever_the_function_prints() -> None:
    counted = await run_isolated(foreign.count, Text(text="four"))
    assert counted.letters == 4
    assert counted.process != os.getpid()


async def test_a_leak_ends_at_the_memory_limit() -> None:
    with pytest.raises(MemoryLimitExceeded, match="more than 512 MB"):
        await run_isolated(foreign.leak, Text(text=""), memory_mb=512)


async def test_a_hang_ends_at_the_time_limit_with_all_its_processes(tmp_path, eventually) -> None:
    note = tmp_path / "processes"
    await run_isolated(foreign.count, Text(text=""))
    with pytest.raises(TimeLimitExceeded, match="stopped after 4 s"):
        await run_isolated(foreign.hang, Text(text=str(note)), seconds=4)
    await _all_gone(note, eventually)


async def test_a_cancelled_call_leaves_no_process_behind(tmp_path, eventually) -> None:
    note = tmp_path / "processes"
    call = asyncio.create_task(run_isolated(foreign.hang, Text(text=str(note))))

    async def begun() -> bool:
        return note.exists() and note.read_text() != ""

    await eventually(begun)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await _all_gone(note, eventually)


async def _all_gone(note: Path, eventually) -> None:
    async def gone() -> bool:
        # On a machine that was too slow there is none that could have been left.
        begun = note.read_text().split() if note.exists() else []
        return not any(map(alive, map(int, begun)))

    await eventually(gone)


async def test_a_crash_is_named_by_its_signal() -> None:
    with pytest.raises(ProcessDied, match="killed by SIGSEGV"):
        await run_isolated(foreign.crash, Text(text=""))


async def test_a_silent_exit_is_an_error() -> None:
    with pytest.raises(ProcessDied, match="status 3 and no answer"):
        await run_isolated(foreign.leave, Text(text=""))


async def test_our_own_errors_come_back_as_themselves() -> None:
    with pytest.raises(NotFound, match="No unicorn") as caught:
        await run_isolated(foreign.miss, Text(text="unicorn"))
    assert caught.value.details == {"name": "unicorn"}


async def test_other_errors_come_back_with_their_words() -> None:
    with pytest.raises(SubprocessFailed, match="ValueError: stumbled"):
        await run_isolated(foreign.stumble, Text(text=""))


async def test_a_wrong_answer_is_an_error() -> None:
    with pytest.raises((ProcessDied, SubprocessFailed)):
        await run_isolated(foreign.lie, Text(text=""))


@pytest.mark.parametrize("forged", ["E", "E[]", 'E{"code": 5}', 'E{"code": "X", "details": []}', "R", "nonsense"])
async def test_a_forged_answer_is_an_error(forged: str) -> None:
    with pytest.raises(ProcessDied):
        await run_isolated(foreign.forge, Text(text=forged))


async def test_a_forged_error_cannot_pass_for_one_with_other_fields() -> None:
    with pytest.raises(NotFound) as caught:
        told = {"code": "NOT_FOUND", "message": "m", "details": {"self": 1, "message": 2}}
        await run_isolated(foreign.forge, Text(text="E" + json.dumps(told)))
    assert caught.value.details == {"self": 1, "message": 2}


async def test_the_subprocess_sees_no_secret_of_ours(monkeypatch) -> None:
    hidden = {"MNEMON_JWT_SECRET": "x" * 40, "OPENAI_API_KEY": "k", "DATABASE_URL": "d", "AWS_SECRET_ACCESS_KEY": "a"}
    for name, value in (hidden | {"PGPASSWORD": "p", "LC_ALL": "C.UTF-8"}).items():
        monkeypatch.setenv(name, value)
    seen = await run_isolated(foreign.secrets, Text(text=""))
    assert seen.keys().isdisjoint(hidden.keys() | {"PGPASSWORD"})
    assert seen["LC_ALL"] == "C.UTF-8"
    assert (await run_isolated(foreign.secrets, Text(text=""), database_access=True))["PGPASSWORD"] == "p"


async def test_the_subprocess_lets_others_go_first() -> None:
    own = os.getpriority(os.PRIO_PROCESS, 0)
    assert await run_isolated(foreign.niceness, Text(text="")) == max(10, own)


async def test_a_crash_a_leak_and_a_loop_between_good_calls_harm_none_of_them() -> None:
    """As files come: one after the other, and several at once."""

    async def good(number: int) -> int:
        return (await run_isolated(foreign.count, Text(text="x" * number))).letters

    for bad in (foreign.crash, foreign.leak, foreign.spin, foreign.leave):
        assert await good(3) == 3
        with pytest.raises((ProcessDied, MemoryLimitExceeded, TimeLimitExceeded)):
            await run_isolated(bad, Text(text=""), memory_mb=512, seconds=3)
    bad_ones = (
        run_isolated(bad, Text(text=""), memory_mb=512, seconds=3)
        for bad in (foreign.crash, foreign.leak, foreign.spin)
    )
    found = await asyncio.gather(good(1), *bad_ones, *(good(number) for number in range(2, 6)), return_exceptions=True)
    assert [one for one in found if isinstance(one, int)] == [1, 2, 3, 4, 5]
    assert len([one for one in found if isinstance(one, ProcessDied | MemoryLimitExceeded | TimeLimitExceeded)]) == 3


async def test_a_call_finds_nothing_that_an_earlier_one_left() -> None:
    for text in ("the first tenant's", "the second's", "the third's"):
        assert await run_isolated(foreign.remember, Text(text=text)) == []


async def test_a_call_has_a_process_of_its_own_that_is_forked_not_started() -> None:
    one, other = [(await run_isolated(foreign.count, Text(text=""))).process for _ in range(2)]
    assert one != other
    parents = {await run_isolated(foreign.parent, Text(text="")) for _ in range(2)}
    assert len(parents) == 1
    assert os.getpid() not in parents


@pytest.mark.skipif(platform.system() != "Linux", reason="the filter of system calls is Linux's")
async def test_the_process_reaches_neither_the_network_nor_another_process() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = str(listener.getsockname()[1])
        assert await run_isolated(foreign.reach_out, Text(text=port)) == "refused"
        assert await run_isolated(foreign.reach_out, Text(text=port), database_access=True) == "reached"


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="there is no /proc")
async def test_the_process_has_nothing_open_but_its_own_lines() -> None:
    assert await run_isolated(foreign.open_places, Text(text="")) == [0, 1, 2, 3]


async def test_a_fork_server_that_dies_is_replaced() -> None:
    with pytest.raises(ProcessDied):
        await run_isolated(foreign.kill_parent, Text(text=""))
    assert (await run_isolated(foreign.count, Text(text="four"))).letters == 4


async def test_a_worker_that_is_killed_takes_its_readers_along(tmp_path, eventually) -> None:
    note = tmp_path / "processes"
    worker = await asyncio.create_subprocess_exec(sys.executable, foreign.__file__, str(note))

    async def begun() -> bool:
        return note.exists() and note.read_text() != ""

    await eventually(begun)
    worker.kill()
    await worker.wait()

    await _all_gone(note, eventually)


async def test_a_job_in_a_subprocess_can_put_itself_off(database, tenant, run_worker, job_reaches, tmp_path) -> None:
    await run_worker(foreign.ISOLATED)
    async with database.transaction(tenant) as tx:
        job = await enqueue(tx, foreign.ISOLATED, Text(text="wait", note=str(tmp_path / "waited")))
    row = await job_reaches(job.job_id, "DONE", "FAILED")
    assert (row["status"], row["attempts"], row["errors"]) == ("DONE", 1, [])


@pytest.mark.parametrize(("text", "attempts"), [("fine", 1), ("die", 2), ("twice", 1)])
async def test_a_whole_job_runs_in_a_subprocess_and_survives_its_death(
    database, tenant, run_worker, job_reaches, text, attempts
) -> None:
    await run_worker(foreign.ISOLATED)
    async with database.transaction(tenant) as tx:
        job = await enqueue(tx, foreign.ISOLATED, Text(text=text))
    row = await job_reaches(job.job_id, "DONE", "FAILED")
    assert (row["status"], row["attempts"]) == ("DONE", attempts)
    assert row["result"]["process"] not in (0, os.getpid())


async def test_a_job_that_leaks_is_dead_at_once_and_its_worker_lives(database, tenant, run_worker, job_reaches) -> None:
    await run_worker(foreign.ISOLATED)
    async with database.transaction(tenant) as tx:
        leaky = await enqueue(tx, foreign.ISOLATED, Text(text="leak"))
        fine = await enqueue(tx, foreign.ISOLATED, Text(text="fine"))
    row = await job_reaches(leaky.job_id, "FAILED")
    assert (row["last_error_code"], row["attempts"]) == ("MEMORY_LIMIT", 1)
    await job_reaches(fine.job_id, "DONE")
