-- breaks older binaries: no

-- Under which ids a person of an identity provider is or was a user here. It outlives the user: whoever is removed and
-- signs in again is the same person, with everything that was done under the id, and gets the newest of them again.
create table external_ids (
  user_id uuid primary key,
  issuer text not null,
  subject text not null,
  noted_at timestamptz(3) not null
);
create index external_ids_by_person on external_ids (issuer, subject, noted_at);

insert into external_ids (user_id, issuer, subject, noted_at)
select id, issuer, subject, created_at from users where issuer is not null;

-- A commit names its author also while that person is no user.
alter table provider_names drop constraint provider_names_user_id_fkey;
