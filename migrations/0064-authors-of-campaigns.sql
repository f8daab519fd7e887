-- breaks older binaries: no

-- Whoever made, changed or requested a campaign is an author of the text that it carries, wherever else that is asked for.
create index campaigns_by_text on campaigns ((change->>'hash')) where change->>'hash' is not null;
-- The same of a version that it carries.
create index campaigns_by_version on campaigns ((change->>'fleet_config_id'), (change->>'number')) where change->>'number' is not null;
