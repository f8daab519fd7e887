-- breaks older binaries: no

-- An author of a commit as the commit names him, for whoever decides about its text: a name and an address are one person.
-- Null of those that were noted before.
alter table commit_authors add column said text;
