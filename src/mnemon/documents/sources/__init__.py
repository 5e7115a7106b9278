"""Sources: folders and buckets whose files become documents, and stay as they are there.

A look at a source lists it in the order of its names and compares each stretch with what is known of it: what is new or
changed is fetched and taken in like an upload, under the address that it has there, so that another content is another
version of the same document; what is gone is no longer served, and nothing of it is deleted; what is back is served
again.

`places` says what a source must be able to do, `folder_place` and `bucket_place` do it; `filters` chooses among names.
`known_objects` is what is known of each, `comparing` finds what changed, `taking` fetches it, `syncing` is the job.
`watching` begins a look when a folder of the settings changes. `sealed_keys` keeps credentials, `operations` is what
users may do.
"""
