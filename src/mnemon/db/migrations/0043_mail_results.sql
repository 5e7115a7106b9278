-- What tells the result of a vote belongs to the vote's thread too, wherever its own headers put it.
CREATE INDEX mail_messages_by_result ON mnemon.mail_messages (tenant_id, result_of) WHERE result_of IS NOT NULL;
