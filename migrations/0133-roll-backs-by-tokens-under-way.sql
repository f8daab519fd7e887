-- breaks older binaries: no
--
-- By which token a roll-back was begun that is under way (0128): the audit trail says so, after the name of its account. It
-- went on as a person's.

update campaigns c set closed_by_token = substring(e.email from ' \(token (.*)\)$')
from (select distinct on (resource_id) resource_id, email from audit_events
  where action = 'campaign.roll_back_all' and resource = 'campaign' order by resource_id, seq desc) e
where c.id = e.resource_id and c.status = 'rolling_back' and c.closed_by_token is null;
