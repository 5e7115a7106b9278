"""Tampers with what PostgreSQL itself brings, and with what a verification waits for or goes by outside of it."""

from mnemon.log.project.lens import lock_key

from .guard_tampers import on_database
from .tampers import Tamper
from .world import World


def hold_a_lens(world: World) -> None:
    """Its rows are changed, and nobody can compare them while somebody says that they replay it."""
    world.sql("UPDATE mnemon.documents SET title = 'Other' WHERE tenant_id = %(tenant)s")
    world.sql("SELECT pg_advisory_lock(hashtextextended(%(key)s, 1))", key=lock_key("documents", world.tenant))


def replace_session_key(world: World) -> None:
    (world.home / "keys" / "session.key").write_text("a key that whoever put it there knows as well as anyone\n")


ENGINE = [
    Tamper("a function of PostgreSQL's own replaced",
           "CREATE OR REPLACE FUNCTION pg_catalog.starts_with(text, text) RETURNS bool STRICT IMMUTABLE LEAKPROOF "
           "LANGUAGE sql AS 'SELECT true'", r"guards function starts_with\(text,text\) It takes"),
    Tamper("what an operator of PostgreSQL's own does",
           "UPDATE pg_operator SET oprcode = 'pg_catalog.texteq'::regproc WHERE oid = '<>(text,text)'::regoperator",
           r"guards operator <>\(text,text\) It takes", alone=True),
    Tamper("a cast of PostgreSQL's own",
           "UPDATE pg_cast SET castmethod = 'b', castfunc = 0 WHERE castsource = 'bool'::regtype",
           "guards cast from boolean to"),
    Tamper("who may write functions in C",
           "UPDATE pg_language SET lanpltrusted = true, lanacl = '{=U/postgres}' WHERE lanname = 'c'",
           "guards language c It takes"),
    Tamper("which words are searched",
           "ALTER TEXT SEARCH CONFIGURATION pg_catalog.english ALTER MAPPING FOR asciiword WITH simple",
           "guards text search english"),
    Tamper("a function of the vectors",
           "UPDATE pg_proc SET prosrc = 'l2_distance' WHERE proname = 'cosine_distance'",
           "guards function .*cosine_distance"),
    Tamper("how functions read their names",
           on_database("ALTER DATABASE {} SET plpgsql.variable_conflict = 'use_variable'"),
           "guards setting plpgsql.variable_conflict", alone=True),
    Tamper("how lists are read", on_database("ALTER DATABASE {} SET array_nulls = off"), "guards setting array_nulls",
           alone=True),
    Tamper("rows that another server sends",
           ["CREATE SUBSCRIPTION forged CONNECTION 'dbname=x' PUBLICATION p "
            "WITH (connect = false, slot_name = NONE, enabled = false)"],
           "guards subscription forged", alone=True, undo="DROP SUBSCRIPTION forged"),
    Tamper("a lens that is said to be replayed all the time", hold_a_lens, "lenses lens documents It was not compared",
           alone=True),
    Tamper("the reference of an erasure",
           "UPDATE mnemon.erasures SET reference = 'DSR-99' WHERE tenant_id = %(tenant)s",
           "log_rows erasure .*do not agree", alone=True),
    Tamper("what an erasure has done",
           "UPDATE mnemon.erasures SET events_affected = 0, lenses_rebuilt = '{}' WHERE tenant_id = %(tenant)s",
           "log_rows erasure .*do not agree", alone=True),
    Tamper("the key that signs sessions", replace_session_key, "keys key session.key It is another one"),
]  # fmt: skip
