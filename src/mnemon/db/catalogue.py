"""The catalogue: every guard of the schema as one line of text, as it is and as this program would make it.

Tables, columns, constraints, indexes, triggers, policies, rules, functions and grants are read from PostgreSQL's own
catalogue. What should be there is found by making the schema once more, in a transaction that is rolled back: no list
has to be kept anywhere, so there is none that could be changed.
"""

import re
from collections.abc import Mapping
from typing import LiteralString

from mnemon.db.database import Connection
from mnemon.db.embedded import APP_ROLE
from mnemon.db.migrate import Schema, packaged_schema, upgrade

# Grants without who gave them; the owner of the schema under one name, since databases differ in it.
GRANTS = """(SELECT string_agg(format('%s:%s%s', coalesce(nullif(g.who, owner.name), '@owner'), g.what, g.more), ' '
                    ORDER BY g.who, g.what)
               FROM (SELECT coalesce(r.rolname, 'PUBLIC') AS who, a.privilege_type AS what,
                            CASE WHEN a.is_grantable THEN '*' ELSE '' END AS more
                       FROM aclexplode({acl}) a LEFT JOIN pg_roles r ON r.oid = a.grantee) AS g)"""
LISTING = f"""
WITH owner AS (
    SELECT n.oid AS space, n.nspacl AS acl, n.nspowner AS id, r.rolname AS name
      FROM pg_namespace n JOIN pg_roles r ON r.oid = n.nspowner WHERE n.nspname = 'mnemon'
), relation AS (
    SELECT c.*, owner.name, owner.id FROM pg_class c JOIN owner ON c.relnamespace = owner.space
)
SELECT 'schema' AS kind, 'mnemon' AS name, {GRANTS.format(acl="coalesce(owner.acl, acldefault('n', owner.id))")} AS says
  FROM owner
UNION ALL
SELECT 'table', relname, format('%s security %s%s persistence %s owner %s options %s grants %s',
       relkind, relrowsecurity, relforcerowsecurity, relpersistence, relowner = owner.id, reloptions,
       {GRANTS.format(acl="coalesce(owner.relacl, acldefault('r', owner.id))")})
  FROM relation AS owner WHERE relkind IN ('r', 'p', 'v', 'm', 'f')
UNION ALL
SELECT 'sequence', relname, {GRANTS.format(acl="coalesce(owner.relacl, acldefault('s', owner.id))")}
  FROM relation AS owner WHERE relkind = 'S'
UNION ALL
SELECT 'column', owner.relname || '.' || a.attname, format('%s %s%s%s%s default %s collation %s grants %s',
       format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, a.attgenerated, a.attstorage,
       pg_get_expr(d.adbin, d.adrelid), a.attcollation::regcollation, {GRANTS.format(acl="a.attacl")})
  FROM relation AS owner JOIN pg_attribute a ON a.attrelid = owner.oid AND a.attnum > 0 AND NOT a.attisdropped
  LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
 WHERE owner.relkind IN ('r', 'p', 'v', 'm', 'f')
UNION ALL
SELECT 'constraint', r.relname || '.' || c.conname, format('%s %s', pg_get_constraintdef(c.oid), c.convalidated)
  FROM pg_constraint c JOIN relation r ON r.oid = c.conrelid
 WHERE c.contype <> 'n' AND (c.conparentid = 0 OR c.contype <> 'f')
UNION ALL
SELECT 'index', relname, pg_get_indexdef(oid) FROM relation WHERE relkind IN ('i', 'I')
UNION ALL
SELECT 'trigger', r.relname || '.' || t.tgname, format('%s %s', t.tgenabled, pg_get_triggerdef(t.oid))
  FROM pg_trigger t JOIN relation r ON r.oid = t.tgrelid WHERE NOT t.tgisinternal
UNION ALL
SELECT 'reference check', r.relname,
       string_agg(t.tgenabled::text || ':' || t.tgtype, ' ' ORDER BY t.tgenabled::text, t.tgtype)
  FROM pg_trigger t JOIN relation r ON r.oid = t.tgrelid WHERE t.tgisinternal GROUP BY r.relname
UNION ALL
SELECT 'policy', r.relname || '.' || p.polname, format('%s %s %s using %s check %s', p.polcmd, p.polpermissive,
       p.polroles::regrole[], pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid))
  FROM pg_policy p JOIN relation r ON r.oid = p.polrelid
UNION ALL
SELECT 'rule', r.relname || '.' || w.rulename, format('%s %s', w.ev_enabled, pg_get_ruledef(w.oid))
  FROM pg_rewrite w JOIN relation r ON r.oid = w.ev_class
UNION ALL
SELECT 'function', p.oid::regprocedure::text, format('owner %s grants %s %s', p.proowner = owner.id,
       {GRANTS.format(acl="coalesce(p.proacl, acldefault('f', owner.id))")}, pg_get_functiondef(p.oid))
  FROM pg_proc p JOIN owner ON p.pronamespace = owner.space WHERE p.prokind <> 'a'
"""
# Settings that would switch a guard off for everyone who connects, and roles that no guard holds.
OUTSIDE = f"""
SELECT 'setting' AS kind, format('%s of %s', setting, coalesce(r.rolname, 'the database')) AS name, 'set' AS says
  FROM pg_db_role_setting s LEFT JOIN pg_roles r ON r.oid = s.setrole CROSS JOIN unnest(s.setconfig) AS setting
 WHERE setting ~ '^(session_replication_role|row_security|search_path|role|session_preload_libraries|mnemon\\.)'
   AND s.setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
   AND (r.rolname IS NULL OR r.rolname IN ('{APP_ROLE}', current_user))
UNION ALL
SELECT 'event trigger', evtname, evtenabled::text FROM pg_event_trigger e
 WHERE NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = e.oid AND d.deptype = 'e')
UNION ALL
SELECT 'role', rolname, 'super, bypassing, creating or replicating' FROM pg_roles
 WHERE rolname = '{APP_ROLE}' AND (rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb OR rolreplication)
UNION ALL
SELECT 'role', format('%s in %s', m.member::regrole, m.roleid::regrole), 'member' FROM pg_auth_members m
 WHERE m.member = '{APP_ROLE}'::regrole
"""
SET_ASIDE = "ALTER SCHEMA mnemon RENAME TO mnemon_as_it_is"
# Partitions are made as tenants come; each looks like the one that is made for comparison.
PARTITION = re.compile(r"\b(events|event_payloads)_\d+(?=\b|_)")
BOUND = re.compile(r"\(partition_id = \d+\)|FOR VALUES IN \('?\d+'?\)")
# Made and dropped with the models that come into use.
OF_A_MODEL = re.compile(r"\w+_near_[0-9a-f]{10}")

Listing = dict[tuple[str, str], str]
_expected: dict[tuple[str, int], Listing] = {}


class _Undone(Exception):
    """Rolls the transaction back."""


async def listing(connection: Connection) -> Listing:
    """The schema as it is."""
    rows = await (await connection.execute(LISTING)).fetchall()
    return {
        (row["kind"], row["name"]): row["says"] or ""
        for row in rows
        if not (row["kind"] == "index" and OF_A_MODEL.fullmatch(row["name"]))
    }


async def outside(connection: Connection) -> Listing:
    """What beside the schema takes its guards away; nothing in a database that is as it should be."""
    rows = await (await connection.execute(OUTSIDE)).fetchall()
    return {(row["kind"], row["name"]): row["says"] for row in rows}


async def expected_listing(owner: Connection, make_more: LiteralString, schema: Schema | None = None) -> Listing:
    """The schema as this program makes it, with what a statement makes beside it.

    Readers and writers go on; only new partitions wait, for about a second.
    """
    wanted = schema or packaged_schema()
    key = f"{wanted.steps!r}{wanted.definitions!r}", owner.info.server_version
    if key not in _expected:
        try:
            async with owner.transaction():
                await owner.execute(SET_ASIDE)
                await upgrade(owner, wanted)
                await owner.execute(make_more)
                _expected[key] = await listing(owner)
                raise _Undone
        except _Undone:
            pass
    return _expected[key]


def differences(actual: Mapping[tuple[str, str], str], expected: Mapping[tuple[str, str], str]) -> dict[str, str]:
    """What is missing, new or changed, as `kind name` and what happened to it."""
    models = {_general(key): _general_text(says) for key, says in expected.items()}
    found: dict[str, str] = {}
    seen = set()
    for key, says in actual.items():
        general = _general(key)
        seen.add(general)
        if general not in models:
            found[" ".join(key)] = "should not be there"
        elif models[general] != _general_text(says):
            found[" ".join(key)] = "was changed"
    numbers = {one[1] for name in actual if name[0] == "table" and (one := PARTITION.fullmatch(name[1]))}
    for key in models.keys() - seen:
        if not PARTITION.search(key[1]) and "#" not in key[1]:
            found[" ".join(key)] = "is missing"
    found |= _missing_of_partitions(actual, models) if numbers else {}
    return dict(sorted(found.items()))


def _missing_of_partitions(
    actual: Mapping[tuple[str, str], str], models: Mapping[tuple[str, str], str]
) -> dict[str, str]:
    """A partition must have all that the one which was made for comparison has."""
    found = {}
    tables = [name for kind, name in actual if kind == "table" and PARTITION.fullmatch(name)]
    for table in tables:
        parent = table.rpartition("_")[0]
        for kind, name in models:
            if f"{parent}_#" in name:
                own = (kind, name.replace(f"{parent}_#", table))
                if own not in actual:
                    found[" ".join(own)] = "is missing"
    return found


def _general(key: tuple[str, str]) -> tuple[str, str]:
    return key[0], PARTITION.sub(r"\1_#", key[1])


def _general_text(says: str) -> str:
    return BOUND.sub("#", PARTITION.sub(r"\1_#", says))
