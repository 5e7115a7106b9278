"""Every table's key and every foreign key begins with the tenant, so that a database can be cut by tenant."""

import pytest

from mnemon.db.database import Connection, Database

# Keys that do not begin with the tenant, and why. Add none without a reason.
EXCEPTED = {
    "migrations_pkey": "steps of the whole database",
    "functions_pkey": "functions of the whole database",
    "workers_pkey": "workers serve all tenants",
    "schedules_pkey": "schedules are the system's",
    "wrapping_keys_pkey": "keys that wrap those of all tenants: a copy on every shard",
    "subject_keys_key_id_fkey": "to the wrapping keys, which are on every shard",
    "erasure_lists_pkey": "which list of erasures the database was brought up to",
    "login_attempts_pkey": "by a digest of account or address, before anyone is known",
    "login_links_pkey": "by a digest of the secret, which alone says whose it is",
    "access_tokens_secret_hash_key": "by a digest of the secret, which alone says whose it is",
    "tenants_slug_key": "the directory of tenants itself",
    "users_user_id_key": "the id of a user says whose session it is; random, so that shards never meet in one",
    "partitions_partition_id_key": "the number of a partition, drawn from one sequence",
}
KEYS = """
SELECT t.relname AS table, c.contype AS kind, c.conname AS name,
       (SELECT attname FROM pg_attribute WHERE attrelid = c.conrelid AND attnum = c.conkey[1]) AS first,
       (SELECT attname FROM pg_attribute WHERE attrelid = c.confrelid AND attnum = c.confkey[1]) AS referred
  FROM pg_constraint c
  JOIN pg_class t ON t.oid = c.conrelid AND NOT t.relispartition
  JOIN pg_namespace n ON n.oid = t.relnamespace AND n.nspname = 'mnemon'
 WHERE c.contype IN ('p', 'f', 'u')
"""
# Unique indexes that are no constraints bind as keys do.
INDEXES = """
SELECT t.relname AS table, i.relname AS name,
       (SELECT attname FROM pg_attribute WHERE attrelid = x.indrelid AND attnum = x.indkey[0]) AS first
  FROM pg_index x
  JOIN pg_class i ON i.oid = x.indexrelid
  JOIN pg_class t ON t.oid = x.indrelid AND NOT t.relispartition
  JOIN pg_namespace n ON n.oid = t.relnamespace AND n.nspname = 'mnemon'
 WHERE x.indisunique AND NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = i.oid)
"""
TABLES = """
SELECT t.relname AS table FROM pg_class t JOIN pg_namespace n ON n.oid = t.relnamespace
 WHERE n.nspname = 'mnemon' AND t.relkind IN ('r', 'p') AND NOT t.relispartition
   AND NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conrelid = t.oid AND c.contype = 'p')
"""


async def apart_from_tenants(owner: Connection) -> set[str]:
    """Keys, unique indexes and foreign keys that do not begin with the tenant, on both sides."""
    keys = await (await owner.execute(KEYS)).fetchall()
    indexes = await (await owner.execute(INDEXES)).fetchall()
    assert len(keys) > 90 and len(indexes) > 9, "the catalogue was read"
    return {
        key["name"]
        for key in keys
        if key["first"] != "tenant_id" or (key["kind"] == "f" and key["referred"] != "tenant_id")
    } | {index["name"] for index in indexes if index["first"] != "tenant_id"}


async def test_every_key_and_foreign_key_begins_with_the_tenant(database: Database) -> None:
    async with database.owner() as owner:
        apart = await apart_from_tenants(owner)
        bare = await (await owner.execute(TABLES)).fetchall()
    assert sorted(apart - EXCEPTED.keys()) == []
    assert sorted(EXCEPTED.keys() - apart) == [], "no longer an exception: take it out"
    assert [row["table"] for row in bare] == [], "every table has a key"


@pytest.mark.parametrize(
    ("planted", "name"),
    [
        ("CREATE TABLE mnemon.planted (tenant_id uuid, id int CONSTRAINT planted_key PRIMARY KEY)", "planted_key"),
        ("CREATE UNIQUE INDEX planted_index ON mnemon.documents (source_uri) WHERE false", "planted_index"),
        ("CREATE UNIQUE INDEX planted_index ON mnemon.documents (lower(source_uri), tenant_id) WHERE false",
         "planted_index"),
        ("CREATE TABLE mnemon.planted (tenant_id uuid, id uuid, PRIMARY KEY (tenant_id, id), CONSTRAINT planted_way "
         "FOREIGN KEY (id, tenant_id) REFERENCES mnemon.users (user_id, tenant_id))", "planted_way"),
    ],
)  # fmt: skip
async def test_what_does_not_begin_with_the_tenant_is_found(database: Database, planted: str, name: str) -> None:
    async with database.owner() as owner, owner.transaction(force_rollback=True):
        before = await apart_from_tenants(owner)
        await owner.execute(planted)
        assert await apart_from_tenants(owner) - before == {name}
