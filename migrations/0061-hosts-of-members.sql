-- breaks older binaries: no

-- On which machine a member runs, and as which process there: its address alone does not say which one to look at.
-- Null for members of older versions.
alter table members add column host text, add column pid integer;
