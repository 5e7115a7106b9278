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


INTO_EXTENSION = "ALTER EXTENSION vector ADD "
ENGINE = [
    Tamper("triggers that are not looked for",
           "UPDATE pg_class SET relhastriggers = false WHERE oid = 'mnemon.event_labels'::regclass",
           "guards trigger event_labels.only_grows It was changed", alone=True),
    Tamper("checks that are not looked for",
           "UPDATE pg_class SET relchecks = 0 WHERE oid = 'mnemon.users'::regclass",
           "guards table users It was changed", alone=True),
    Tamper("rules that are not heeded",
           "UPDATE pg_class SET relhasrules = false WHERE oid = 'mnemon.emo_active'::regclass",
           "guards rule emo_active._RETURN It was changed", alone=True),
    Tamper("an index that is not asked",
           "UPDATE pg_index SET indislive = false WHERE indexrelid = 'mnemon.users_by_email'::regclass",
           "guards index users_by_email It was changed", alone=True),
    Tamper("a unique index that looks later",
           "UPDATE pg_index SET indimmediate = false WHERE indexrelid = 'mnemon.users_by_email'::regclass",
           "guards index users_by_email It was changed", alone=True),
    Tamper("a default that is not taken",
           "UPDATE pg_attribute SET atthasdef = false WHERE attrelid = 'mnemon.jobs'::regclass AND attname = 'status'",
           "guards column jobs.status It was changed", alone=True),
    Tamper("what a reference checks",
           "UPDATE pg_trigger SET tgfoid = (SELECT oid FROM pg_proc WHERE proname = 'RI_FKey_noaction_del') "
           "WHERE tgisinternal AND tgrelid = 'mnemon.access_tokens'::regclass",
           "guards reference check access_tokens It was changed", alone=True),
    Tamper("a function put into an extension",
           ["CREATE FUNCTION public.peek() RETURNS SETOF text LANGUAGE sql SECURITY DEFINER "
            "AS 'SELECT payload FROM mnemon.event_payloads'",
            "GRANT EXECUTE ON FUNCTION public.peek() TO PUBLIC", INTO_EXTENSION + "FUNCTION public.peek()"],
           r"guards function peek\(\)", alone=True),
    Tamper("a cast put into an extension",
           ["CREATE FUNCTION public.any_id(text) RETURNS uuid LANGUAGE sql AS 'SELECT gen_random_uuid()'",
            "CREATE CAST (text AS uuid) WITH FUNCTION public.any_id(text) AS IMPLICIT",
            INTO_EXTENSION + "CAST (text AS uuid)"],
           "guards cast from text to uuid", alone=True),
    Tamper("an event trigger put into an extension",
           ["CREATE FUNCTION public.on_ddl() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END'",
            "CREATE EVENT TRIGGER forged ON ddl_command_end EXECUTE FUNCTION public.on_ddl()",
            INTO_EXTENSION + "EVENT TRIGGER forged"],
           "guards event trigger forged", alone=True),
    Tamper("a table put into an extension",
           ["CREATE TABLE public.of_vectors (x int)", INTO_EXTENSION + "TABLE public.of_vectors"],
           "guards part of extension vector: table of_vectors"),
    Tamper("an aggregate of PostgreSQL's own",
           "UPDATE pg_aggregate SET agginitval = '5' WHERE aggfnoid = 'count(\"any\")'::regprocedure",
           r"guards aggregate count\(.any.\)"),
    Tamper("a view of PostgreSQL's own",
           "CREATE OR REPLACE VIEW pg_catalog.pg_group AS SELECT rolname AS groname, oid AS grosysid, "
           "ARRAY[]::oid[] AS grolist FROM pg_authid WHERE false", "guards rule _RETURN of pg_group"),
    Tamper("a dictionary of PostgreSQL's own",
           "ALTER TEXT SEARCH DICTIONARY pg_catalog.english_stem (StopWords = '')",
           "guards text search dictionary english_stem"),
    Tamper("how an index of PostgreSQL's own compares",
           "UPDATE pg_amproc SET amproc = 'btint4cmp'::regproc WHERE amproc = 'btoidcmp'::regproc",
           "guards function of an index btint4cmp", alone=True),
    Tamper("a setting of ours in other letters",
           on_database("""ALTER DATABASE {} SET "Mnemon.Tenant" = '00000000-0000-0000-0000-000000000000'"""),
           "guards setting (?i:mnemon.tenant)", alone=True),
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
