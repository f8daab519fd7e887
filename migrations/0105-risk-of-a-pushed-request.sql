-- breaks older binaries: no

-- How risky a request was when it was pushed: afterwards the config that it replaced may not be known any more. Null of
-- those from before, and of older binaries.
alter table approvals add column risk jsonb;
