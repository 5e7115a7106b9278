"""The peer of the log's benchmark: pyeventsourcing's PostgreSQL recorder, in an environment of its own.

    log_peer.py HOST PORT DBNAME USER STATE_BYTES

Reads one JSON order per line, {"do": "batch", "batches": 20, "size": 100} or
{"do": "concurrent", "callers": 64, "events": 640}, and answers each with {"seconds": …}.
"""

import json
import sys
import threading
import time
import uuid

from eventsourcing.persistence import StoredEvent
from eventsourcing.postgres import PostgresApplicationRecorder, PostgresDatastore


def events(count, state):
    return [StoredEvent(uuid.uuid4(), 1, "bench.order:placed", state) for _ in range(count)]


def run_batches(recorder, state, batches, size):
    work = [events(size, state) for _ in range(batches)]
    began = time.perf_counter()
    for batch in work:
        recorder.insert_events(batch)
    return time.perf_counter() - began


def run_concurrent(recorder, state, callers, count):
    """Each caller is a thread that appends single events, one after the other."""
    shares = [[[event] for event in events(count // callers, state)] for _ in range(callers)]
    ready = threading.Barrier(callers + 1)

    def call(share):
        ready.wait()
        for one in share:
            recorder.insert_events(one)

    threads = [threading.Thread(target=call, args=(share,)) for share in shares]
    for thread in threads:
        thread.start()
    ready.wait()
    began = time.perf_counter()
    for thread in threads:
        thread.join()
    return time.perf_counter() - began


def main():
    host, port, dbname, user, size = sys.argv[1:]
    store = PostgresDatastore(
        dbname, host, port, user, "", pool_size=16, max_waiting=1000, schema="peer", enable_db_functions=True
    )
    recorder = PostgresApplicationRecorder(store)
    recorder.create_table()
    state = b"x" * int(size)
    for line in sys.stdin:
        order = json.loads(line)
        if order["do"] == "batch":
            seconds = run_batches(recorder, state, order["batches"], order["size"])
        else:
            seconds = run_concurrent(recorder, state, order["callers"], order["events"])
        print(json.dumps({"seconds": seconds}), flush=True)
    store.close()


if __name__ == "__main__":
    main()
