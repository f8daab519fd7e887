-- breaks older binaries: no

-- What the identity provider has ever called somebody, e-mail and user name, in lower case: whoever is named by a commit
-- is an author of it also under another name by now.
create table provider_names (
  user_id uuid not null references users on delete cascade,
  name text not null check (name <> ''),
  primary key (user_id, name)
);
create index provider_names_by_name on provider_names (name);

insert into provider_names (user_id, name) select id, lower(btrim(email)) from users
where issuer is not null and btrim(email) <> '';
