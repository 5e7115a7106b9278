-- The objects of each branch that are not deleted, with their links.
CREATE OR REPLACE VIEW mnemon.emo_active WITH (security_invoker = true) AS
SELECT c.tenant_id, c.world_id, c.branch, c.emo_id, c.emo_type, c.emo_version, c.mime_type, c.content, c.tags, c.facets,
       c.updated_at, c.source_kind, c.source_uri, c.content_hash,
       coalesce((SELECT jsonb_agg(jsonb_build_object('rel', l.rel, 'target_emo_id', l.target_emo_id,
                                                     'target_uri', l.target_uri) ORDER BY l.link_id)
                   FROM mnemon.emo_links l
                  WHERE l.tenant_id = c.tenant_id AND l.world_id = c.world_id AND l.branch = c.branch
                    AND l.emo_id = c.emo_id), '[]') AS links
  FROM mnemon.emo_current c WHERE NOT c.deleted;
GRANT SELECT ON mnemon.emo_active TO mnemon_app;
