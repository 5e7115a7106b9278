"""Every kind of job of the documents, so that a worker that imports this one module offers them all."""

from mnemon.documents.failures import RECORD_FAILURE
from mnemon.documents.ingest import INGEST

KINDS = (INGEST, RECORD_FAILURE)
