-- Who writes under several addresses is found by the name that these share, and not by a walk through all messages.
CREATE INDEX mail_messages_by_name ON mnemon.mail_messages (tenant_id, sender_key) WHERE sender_key <> '';
