-- breaks older binaries: no

-- Why an operator resolved an alert; empty where nobody said, and while it is open.
alter table alerts add column resolve_reason text not null default '';
