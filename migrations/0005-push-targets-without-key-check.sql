-- breaks older binaries: no

-- A push to 10,000 instances inserts 10,000 rows of one push. A foreign key looks each of them up, which was half of
-- the statement that an operator waits for. The statements that add rows lock the workload or the push instead, and
-- the rows go with their push as before.
alter table push_targets drop constraint push_targets_push_id_fkey;

create function delete_targets_of_pushes() returns trigger language plpgsql as $$
begin
  delete from push_targets where push_id in (select push_id from gone);
  return null;
end $$;

create trigger pushes_delete_targets after delete on pushes
  referencing old table as gone for each statement execute function delete_targets_of_pushes();
