-- Whoever moves a tenant writes `opening` right before it opens in the other database: from then on only that database
-- knows whether it did. Until then the tenant is open here again as soon as nobody moves it any more.
ALTER TABLE mnemon.tenant_moves
    DROP CONSTRAINT tenant_moves_state_check,
    ADD CONSTRAINT tenant_moves_state_check CHECK (state IN ('leaving', 'closed', 'opening', 'moved', 'arriving'));
-- What an earlier version left closed may be open in the other database.
UPDATE mnemon.tenant_moves SET state = 'opening' WHERE state = 'closed';
