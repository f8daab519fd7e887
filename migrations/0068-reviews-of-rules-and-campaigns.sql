-- breaks older binaries: no

-- What waits for a second person may be about no single workload: a label rule by which approvals of newcomers ask
-- less, or a campaign that somebody took back.
alter table reviews alter column workload_id drop not null;
alter table reviews add column campaign_id text references campaigns (id) on delete cascade;
alter table reviews drop constraint reviews_kind_check;
alter table reviews add constraint reviews_kind_check
  check (kind in ('break_glass', 'rollback', 'known_good', 'labels', 'label_rule', 'campaign_rollback'));
alter table reviews add constraint reviews_about
  check ((workload_id is null) = (kind in ('label_rule', 'campaign_rollback'))
    and (campaign_id is null) = (kind <> 'campaign_rollback'));
create index reviews_of_rules on reviews (done_at) where kind = 'label_rule';
create index reviews_by_campaign on reviews (campaign_id) where campaign_id is not null;
