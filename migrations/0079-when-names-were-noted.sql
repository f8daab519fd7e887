-- breaks older binaries: no

-- When the provider first called somebody so; null where that was before this was kept. Of too many the first ones stay.
alter table provider_names add column noted_at timestamptz(3);
