-- breaks older binaries: yes

-- A selector's keys say whom they trust: `muster/…` is what operators set, `identity/…` what a workload is made of,
-- anything else what agents report. The keys of push groups meant trusted labels without saying so.
update push_groups
set selector = jsonb_set(selector, '{match_labels}', (
  select jsonb_object_agg('muster/' || label.key, label.value) from jsonb_each(selector -> 'match_labels') as label
))
where selector -> 'match_labels' <> '{}'::jsonb;
