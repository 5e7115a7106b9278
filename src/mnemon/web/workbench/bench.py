"""Which operations lie on the workbench, in the order of who looks for them."""

from collections.abc import Mapping, Sequence
from typing import Any

from mnemon.documents import operations as documents
from mnemon.log_operations import (
    archives,
    entities,
    erasures,
    event_types,
    events,
    integrity,
    lenses,
    periods,
    subscriptions,
    witness,
)
from mnemon.memory.operations import graph, many, meaning, objects, upkeep
from mnemon.operations import Operation
from mnemon.reports import stored_operations as reports
from mnemon.semantics import operations as semantics
from mnemon.semantics.corrections import operations as corrections

Group = Sequence[Operation[Any, Any]]
WORKBENCH: Mapping[str, Group] = {
    "Published reports": (
        reports.reports, reports.show, reports.summaries, reports.summary, reports.publish,
    ),
    "Memory": (
        meaning.similar, meaning.similar_facets, meaning.similar_rationales, graph.neighbours, graph.lineage,
        graph.path, graph.integrity, meaning.status, objects.set_facet, objects.remove_facet, many.create_many,
        many.forget, upkeep.compact, upkeep.replay,
    ),
    "Reading anew": (
        corrections.corrected, corrections.export_corrected, semantics.reextract, documents.rebuild,
    ),
    "The log": (
        events.append, events.process, entities.state, entities.version, event_types.listed, event_types.get,
        event_types.register, periods.listed, periods.define, periods.change, lenses.listed, lenses.verify,
        lenses.rebuild, archives.listed, archives.archive, archives.restore, archives.job,
    ),
    "Followers of the log": (
        subscriptions.add, subscriptions.reset, subscriptions.remove,
    ),
    "Proof": (
        integrity.verify, integrity.verification, integrity.answer_receipt, integrity.consistency, erasures.get,
        witness.last, witness.kept,
    ),
}  # fmt: skip
