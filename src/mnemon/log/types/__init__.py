"""Event types: what each kind of event must look like, how old data becomes new, and what it does to entities.

A type is declared in code, next to the capability that owns it (`declare`), or by a tenant (`EventLog.register_type`,
which records the declaration as an event too). To read in this order:

1. `event_type`     `EventType`: schema, entities, personal fields, business key, state rules, migration
2. `paths`          paths into JSON, as declarations use them: `$.lines[*].name`
3. `transformation` new data as a template that is filled from the old
4. `state_rules`    what an event does to the state of the entities it names
5. `compatibility`  whether a declaration may replace another, or follow it as the next version
6. `schema_work`    how much work a schema can make of one value, so that none asks for more than is bearable
7. `registry`       finds the declaration for an event, checks data against it, lifts old data to the newest version
8. `builtin`        the types that the log itself records

What holds:

- A version only grows: a change that old events or old readers would not survive needs the next version, and that one
  needs a way from the data before it.
- Data is lifted when it is read, never rewritten: an event's payload stays as it was recorded.
- Schemas and rules come from tenants. They run no code, fetch nothing, take linear time, and a state rule never fails.
- A type of Mnemon's own is recorded by Mnemon alone, unless it says `open_to_callers`: no client can make the log say
  that Mnemon did something.
- What is personal cannot be part of a business key, whose digest would outlive the person's erasure.

`append` asks the registry before it writes, `read` for the lifting, `privacy` for the personal fields, `project` for
the state rules.
"""
