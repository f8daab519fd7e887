-- breaks older binaries: no

-- What proves to the other members what a row says, by a key that only processes with the fleet's JWT_SECRET know. Null
-- for a process that is too old to prove it, which the others take for no member.
alter table members add column proof text;
