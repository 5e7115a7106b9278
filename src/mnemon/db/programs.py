"""PostgreSQL's own client programs: which ones to run, and how to tell them where the database is."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict

from mnemon.db.cluster import shipped_binaries

# In the environment, not on the command line, where every user of the machine could read the password.
VARIABLES = {
    "host": "PGHOST",
    "hostaddr": "PGHOSTADDR",
    "port": "PGPORT",
    "user": "PGUSER",
    "password": "PGPASSWORD",
    "dbname": "PGDATABASE",
    "options": "PGOPTIONS",
    "sslmode": "PGSSLMODE",
    "sslrootcert": "PGSSLROOTCERT",
    "sslcert": "PGSSLCERT",
    "sslkey": "PGSSLKEY",
}


def program(name: str, server_major: int) -> Path:
    """The machine's own pg_dump, pg_restore or psql if it is new enough for the server, else the one shipped with us.

    The shipped ones come without TLS, so for a remote server the machine's own are better.
    """
    own = shutil.which(name)
    if own and _major(own) >= server_major:
        return Path(own)
    return shipped_binaries() / name


def environment_for(conninfo: str) -> dict[str, str]:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    given = {key: str(value) for key, value in conninfo_to_dict(conninfo).items() if value is not None}
    return plain | {VARIABLES[key]: value for key, value in given.items() if key in VARIABLES}


def _major(path: str) -> int:
    said = subprocess.run([path, "--version"], capture_output=True, text=True).stdout
    found = re.search(r"(\d+)\.", said)
    return int(found[1]) if found else 0
