-- When each version of a document was the active one. A version can be so more than once; `activated_at` and
-- `deactivated_at` tell the last time only.

ALTER TABLE mnemon.document_versions ADD COLUMN served tstzmultirange NOT NULL DEFAULT '{}';
UPDATE mnemon.document_versions SET served = tstzmultirange(tstzrange(activated_at, deactivated_at));
