-- breaks older binaries: no

-- What was stopped long ago ends a week from now, and people are told of it as of any other: until 0081 it stayed.
update auto_applies set updated_at = now() - interval '23 days'
where status in ('paused', 'held') and updated_at < now() - interval '23 days';
