"""What runs in the subprocess in place of the real reader: it does what hostile files make parsers do."""

import os
import signal
import time

from mnemon.documents.ingest.reading import FileToRead, ReadFile, read_file

HOARD: list[bytearray] = []


def read_hostile(wanted: FileToRead) -> ReadFile:
    """A file that says so kills its reader; any other is read."""
    content = wanted.path.read_bytes()
    if b"KILL" in content:
        os.kill(os.getpid(), signal.SIGSEGV)
    if b"HANG" in content:
        time.sleep(3600)
    while b"LOOP" in content:
        pass
    while b"HOG" in content:
        HOARD.append(bytearray(16 << 20))
    return read_file(wanted)
