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
SELECT 'table', relname, format('%s security %s%s persistence %s owner %s options %s checks %s grants %s',
       relkind, relrowsecurity, relforcerowsecurity, relpersistence, relowner = owner.id, reloptions, relchecks,
       {GRANTS.format(acl="coalesce(owner.relacl, acldefault('r', owner.id))")})
  FROM relation AS owner WHERE relkind IN ('r', 'p', 'v', 'm', 'f')
UNION ALL
SELECT 'sequence', relname, format('owner %s from %s by %s to %s cycle %s grants %s', relowner = owner.id, seqstart,
       seqincrement, seqmax, seqcycle, {GRANTS.format(acl="coalesce(owner.relacl, acldefault('s', owner.id))")})
  FROM relation AS owner JOIN pg_sequence ON seqrelid = owner.oid
UNION ALL
SELECT 'part', i.inhrelid::regclass::text, format('of %s %s', owner.relname, pg_get_expr(c.relpartbound, c.oid))
  FROM pg_inherits i JOIN relation AS owner ON owner.oid = i.inhparent JOIN pg_class c ON c.oid = i.inhrelid
 WHERE owner.relkind IN ('r', 'p')
UNION ALL
SELECT 'column', owner.relname || '.' || a.attname, format('%s %s%s%s%s default %s %s collation %s grants %s',
       format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, a.attgenerated, a.attstorage, a.atthasdef,
       pg_get_expr(d.adbin, d.adrelid), a.attcollation::regcollation, {GRANTS.format(acl="a.attacl")})
  FROM relation AS owner JOIN pg_attribute a ON a.attrelid = owner.oid AND a.attnum > 0 AND NOT a.attisdropped
  LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
 WHERE owner.relkind IN ('r', 'p', 'v', 'm', 'f')
UNION ALL
SELECT 'constraint', r.relname || '.' || c.conname, format('%s %s', pg_get_constraintdef(c.oid), c.convalidated)
  FROM pg_constraint c JOIN relation r ON r.oid = c.conrelid
 WHERE c.contype <> 'n' AND (c.conparentid = 0 OR c.contype <> 'f')
UNION ALL
SELECT 'index', relname,
       format('%s valid %s ready %s live %s at once %s', pg_get_indexdef(oid), indisvalid, indisready, indislive,
              indimmediate)
  FROM relation JOIN pg_index ON indexrelid = oid
UNION ALL
SELECT 'trigger', r.relname || '.' || t.tgname,
       format('%s fires %s %s', t.tgenabled, r.relhastriggers, pg_get_triggerdef(t.oid))
  FROM pg_trigger t JOIN relation r ON r.oid = t.tgrelid WHERE NOT t.tgisinternal
UNION ALL
SELECT 'reference check', r.relname,
       string_agg(one, ' ' ORDER BY one COLLATE "C")
  FROM pg_trigger t JOIN relation r ON r.oid = t.tgrelid
 CROSS JOIN format('%s:%s:%s:%s', t.tgenabled, t.tgtype, t.tgfoid::regproc, r.relhastriggers) AS one
 WHERE t.tgisinternal GROUP BY r.relname
UNION ALL
SELECT 'policy', r.relname || '.' || p.polname, format('%s %s %s using %s check %s', p.polcmd, p.polpermissive,
       p.polroles::regrole[], pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid))
  FROM pg_policy p JOIN relation r ON r.oid = p.polrelid
UNION ALL
SELECT 'rule', r.relname || '.' || w.rulename,
       format('%s heeded %s %s', w.ev_enabled, r.relhasrules, pg_get_ruledef(w.oid))
  FROM pg_rewrite w JOIN relation r ON r.oid = w.ev_class
UNION ALL
SELECT 'function', p.oid::regprocedure::text, format('owner %s grants %s %s', p.proowner = owner.id,
       {GRANTS.format(acl="coalesce(p.proacl, acldefault('f', owner.id))")}, pg_get_functiondef(p.oid))
  FROM pg_proc p JOIN owner ON p.pronamespace = owner.space WHERE p.prokind <> 'a'
UNION ALL
SELECT DISTINCT o.type, o.identity, 'there'
  FROM pg_depend d JOIN owner ON d.refclassid = 'pg_namespace'::regclass AND d.refobjid = owner.space
 CROSS JOIN pg_identify_object(d.classid, d.objid, d.objsubid) AS o
 WHERE d.classid <> 'pg_class'::regclass
   AND NOT EXISTS (SELECT FROM pg_proc p WHERE d.classid = 'pg_proc'::regclass AND p.oid = d.objid AND p.prokind <> 'a')
"""
# What was put into an extension after it was made is not of it.
OF_EXTENSIONS = """pg_depend d JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND e.oid = d.refobjid
                   AND d.deptype = 'e'"""
NOT_OF_AN_EXTENSION = (
    f"NOT EXISTS (SELECT FROM {OF_EXTENSIONS} WHERE age(d.xmin) >= age(e.xmin) "
    "AND d.classid = {catalogue}::regclass AND d.objid = {oid})"
)
FIRST_OWN_OID = 16384  # PostgreSQL's own objects have lower numbers
OF_POSTGRESQL = "{oid} < 16384 AND " + NOT_OF_AN_EXTENSION
# Its own rows are as old as the empty database that every server is made with last of all.
REWRITTEN = "age({row}.xmin) < (SELECT age(t.xmin) FROM pg_database t WHERE t.datname = 'template0')"
# Of these nothing is granted: catalogue, the number of the row, what says whose it is, its kind and name.
NEVER_REWRITTEN = (
    ("pg_aggregate", "aggfnoid", "pg_proc", "aggfnoid", "aggregate", "x.aggfnoid::regprocedure"),
    ("pg_rewrite", "oid", "pg_class", "ev_class", "rule", "format('%s of %s', x.rulename, x.ev_class::regclass)"),
    ("pg_ts_dict", "oid", "pg_ts_dict", "oid", "text search dictionary", "x.dictname"),
    ("pg_am", "oid", "pg_am", "oid", "access method", "x.amname"),
    ("pg_opclass", "oid", "pg_opclass", "oid", "operator class", "x.opcname"),
    ("pg_amop", "oid", "pg_opfamily", "amopfamily", "operator of an index", "x.amopopr::regoperator"),
    ("pg_amproc", "oid", "pg_opfamily", "amprocfamily", "function of an index", "x.amproc::regprocedure"),
)
REWRITTEN_ROWS = "".join(
    f"""
UNION ALL
SELECT '{kind}', ({name})::text, 'of PostgreSQL, changed' FROM {catalogue} x
 WHERE x.{number} < {FIRST_OWN_OID} AND {REWRITTEN.format(row="x")}
   AND {NOT_OF_AN_EXTENSION.format(catalogue=f"'{whose}'", oid=f"x.{whose_number}")}"""
    for catalogue, number, whose, whose_number, kind, name in NEVER_REWRITTEN
)
# What beside the schema takes its guards away: settings for everyone who connects, roles that no guard holds, grants
# that are to come, ways around the policies, and whatever would change how the statements of this program are read.
OUTSIDE = f"""
SELECT 'setting' AS kind, format('%s of %s', setting, coalesce(r.rolname, 'the database')) AS name, 'set' AS says
  FROM pg_db_role_setting s LEFT JOIN pg_roles r ON r.oid = s.setrole CROSS JOIN unnest(s.setconfig) AS setting
 WHERE setting ~* '^(session_replication_role|row_security|search_path|role|session_preload_libraries|mnemon\\.'
                 '|local_preload_libraries|synchronous_commit|transform_null_equals|array_nulls|plpgsql\\.'
                 '|default_transaction_|standard_conforming_strings|dynamic_library_path|event_triggers)'
   AND s.setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
   AND (r.rolname IS NULL OR r.rolname IN ('{APP_ROLE}', current_user))
UNION ALL
SELECT 'setting', format('%s of the server', name), reset_val FROM pg_settings
 WHERE (name, reset_val) IN (('session_replication_role', 'replica'), ('session_replication_role', 'local'),
                             ('row_security', 'off'), ('synchronous_commit', 'off'), ('transform_null_equals', 'on'))
UNION ALL
SELECT 'event trigger', evtname, evtenabled::text FROM pg_event_trigger e
 WHERE {NOT_OF_AN_EXTENSION.format(catalogue="'pg_event_trigger'", oid="e.oid")}
UNION ALL
SELECT 'default grants', format('of %s', a.defaclrole::regrole), a.defaclacl::text
  FROM pg_default_acl a JOIN pg_namespace n ON n.nspname = 'mnemon' AND n.nspowner = a.defaclrole
 WHERE a.defaclnamespace = 0
UNION ALL
SELECT 'view', v.oid::regclass::text, 'open to {APP_ROLE}' FROM pg_class v
 WHERE v.relkind IN ('v', 'm') AND v.relnamespace <> 'mnemon'::regnamespace
   AND has_table_privilege('{APP_ROLE}', v.oid, 'SELECT') AND EXISTS (
       SELECT FROM pg_rewrite w JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid
         JOIN pg_class t ON d.refclassid = 'pg_class'::regclass AND t.oid = d.refobjid
        WHERE w.ev_class = v.oid AND t.relnamespace = 'mnemon'::regnamespace)
UNION ALL
SELECT 'function', p.oid::regprocedure::text, 'runs as another and is open to {APP_ROLE}' FROM pg_proc p
 WHERE p.prosecdef AND p.oid >= {FIRST_OWN_OID} AND p.pronamespace <> 'mnemon'::regnamespace
   AND has_function_privilege('{APP_ROLE}', p.oid, 'EXECUTE')
   AND has_schema_privilege(p.proowner, 'mnemon', 'USAGE')
   AND {NOT_OF_AN_EXTENSION.format(catalogue="'pg_proc'", oid="p.oid")}
UNION ALL
SELECT 'function', p.oid::regprocedure::text, 'among those of PostgreSQL' FROM pg_proc p
 WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.oid >= {FIRST_OWN_OID}
   AND {NOT_OF_AN_EXTENSION.format(catalogue="'pg_proc'", oid="p.oid")}
UNION ALL
SELECT 'function', p.oid::regprocedure::text, 'of PostgreSQL, granted to {APP_ROLE}' FROM pg_proc p
 CROSS JOIN aclexplode(p.proacl) AS a
 WHERE p.oid < {FIRST_OWN_OID} AND (a.grantee = '{APP_ROLE}'::regrole OR a.grantee = 0 AND EXISTS (
       SELECT FROM pg_init_privs i WHERE i.classoid = 'pg_proc'::regclass AND i.objoid = p.oid
          AND NOT EXISTS (SELECT FROM aclexplode(i.initprivs) AS b WHERE b.grantee = 0)))
UNION ALL
SELECT 'function', p.oid::regprocedure::text, 'of PostgreSQL, replaced' FROM pg_proc p JOIN pg_language l
    ON l.oid = p.prolang
 WHERE {OF_POSTGRESQL.format(catalogue="'pg_proc'", oid="p.oid")} AND {REWRITTEN.format(row="p")}
   -- Whoever runs the server may have granted or taken away the use of what is compiled in.
   AND (p.proacl IS NULL OR l.lanname NOT IN ('internal', 'c'))
UNION ALL
SELECT 'operator', o.oid::regoperator::text, 'of PostgreSQL, changed' FROM pg_operator o
 WHERE {OF_POSTGRESQL.format(catalogue="'pg_operator'", oid="o.oid")} AND {REWRITTEN.format(row="o")}
UNION ALL
SELECT 'cast', format('from %s to %s', c.castsource::regtype, c.casttarget::regtype), 'of PostgreSQL, changed'
  FROM pg_cast c WHERE {OF_POSTGRESQL.format(catalogue="'pg_cast'", oid="c.oid")} AND {REWRITTEN.format(row="c")}
UNION ALL
SELECT 'language', l.lanname, 'changed' FROM pg_language l WHERE l.lanpltrusted AND l.lanname IN ('internal', 'c')
UNION ALL
SELECT 'text search', m.mapcfg::regconfig::text, 'changed' FROM pg_ts_config_map m
 WHERE m.mapcfg < {FIRST_OWN_OID} AND {REWRITTEN.format(row="m")}
UNION ALL
SELECT 'function', p.oid::regprocedure::text, 'of an extension, replaced'
  FROM {OF_EXTENSIONS} JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid AND p.proacl IS NULL
 WHERE age(p.xmin) < age(e.xmin)
UNION ALL
SELECT 'part of extension', format('%s: %s', e.extname, pg_describe_object(d.classid, d.objid, d.objsubid)), 'put there'
  FROM {OF_EXTENSIONS} WHERE age(d.xmin) < age(e.xmin)
UNION ALL
SELECT 'subscription', subname, 'writes here, past the triggers' FROM pg_subscription
 WHERE subdbid = (SELECT oid FROM pg_database WHERE datname = current_database())
UNION ALL
SELECT 'operator', o.oid::regoperator::text, 'among those of PostgreSQL' FROM pg_operator o
 WHERE o.oprnamespace = 'pg_catalog'::regnamespace AND o.oid >= {FIRST_OWN_OID}
   AND {NOT_OF_AN_EXTENSION.format(catalogue="'pg_operator'", oid="o.oid")}
UNION ALL
SELECT 'cast', format('from %s to %s', c.castsource::regtype, c.casttarget::regtype), 'unknown' FROM pg_cast c
 WHERE c.oid >= {FIRST_OWN_OID} AND {NOT_OF_AN_EXTENSION.format(catalogue="'pg_cast'", oid="c.oid")}
UNION ALL
SELECT 'grant', format('CREATE on schema %s', nspname), 'to {APP_ROLE}' FROM pg_namespace
 WHERE nspname <> 'mnemon' AND has_schema_privilege('{APP_ROLE}', oid, 'CREATE')
UNION ALL
SELECT 'grant', 'CREATE on the database', 'to {APP_ROLE}'
 WHERE has_database_privilege('{APP_ROLE}', current_database(), 'CREATE')
UNION ALL
SELECT 'grant', format('%s of setting %s', a.privilege_type, p.parname), 'to {APP_ROLE}'
  FROM pg_parameter_acl p CROSS JOIN aclexplode(p.paracl) AS a WHERE a.grantee IN (0, '{APP_ROLE}'::regrole)
UNION ALL
SELECT 'role', rolname, 'super, bypassing, creating or replicating' FROM pg_roles
 WHERE rolname = '{APP_ROLE}' AND (rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb OR rolreplication)
UNION ALL
SELECT 'role', format('%s in %s', m.member::regrole, m.roleid::regrole), 'member'
  FROM pg_auth_members m JOIN pg_roles r ON r.oid = m.member
  JOIN pg_namespace n ON n.nspname = 'mnemon'
 WHERE m.member = '{APP_ROLE}'::regrole
    OR m.roleid IN (n.nspowner, '{APP_ROLE}'::regrole) AND m.member <> n.nspowner AND NOT r.rolsuper
       AND (coalesce(to_jsonb(m) ->> 'inherit_option', 'true') = 'true'
            OR coalesce(to_jsonb(m) ->> 'set_option', 'true') = 'true')
{REWRITTEN_ROWS}
"""
SET_ASIDE = "ALTER SCHEMA mnemon RENAME TO mnemon_as_it_is"
# Partitions are made as tenants come; each looks like the one that is made for comparison.
PARTITION = re.compile(r"\b(events|event_payloads)_\d+(?=\b|_)")
BOUND = re.compile(r"\(partition_id = \d+\)|FOR VALUES IN \('?\d+'?\)")
# Made and dropped with the models that come into use.
OF_A_MODEL = re.compile(
    r"CREATE INDEX (\w+_vectors)_near_[0-9a-f]{10} ON mnemon\.\1 USING hnsw "
    r"\(\(\(embedding\)::(\w+\.)?halfvec\(\d+\)\) (\w+\.)?halfvec_cosine_ops\) "
    r"WHERE \(model_id = '[^']*'::text\) valid \w ready \w live \w at once \w"
)

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
        if not (row["kind"] == "index" and OF_A_MODEL.fullmatch(row["says"]))
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
